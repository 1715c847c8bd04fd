"""One writer at a time: an operating-system lock on the library's folder, and a note of who holds it.

The system lets go of the lock when its process ends, however it ends, so no stale lock is ever left. Readers take no lock.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from filelock import FileLock, Timeout

from .errors import LibraryBusy, StorageFailed

WAIT = 5.0
"""Seconds that a writer waits for another before it gives up."""


@contextmanager
def writing(folder: Path, wait: float = WAIT) -> Iterator[None]:
    """Holds the writer lock. Raises LibraryBusy, naming the holder, if it isn't free within `wait` seconds."""
    note = folder / "writer.json"
    try:
        lock = FileLock(str(folder / "writer.lock"), timeout=wait)
        lock.acquire()
    except Timeout as error:
        raise LibraryBusy(f"{folder} is being written by {_holder(note)}. Try again when it has finished.") from error
    except OSError as error:
        raise StorageFailed(f"{folder} can't be written: {error.strerror or error}.") from error
    try:
        try:
            note.write_text(json.dumps(_self()), encoding="utf-8")
        except OSError:
            pass  # a full disk must not stop a removal; the lock holds without its note
        yield
    finally:
        try:
            note.unlink(missing_ok=True)
        except OSError:
            pass
        lock.release()


def _self() -> dict[str, object]:
    command = " ".join([Path(sys.argv[0] or "python").name, *sys.argv[1:2]])
    return {"pid": os.getpid(), "host": socket.gethostname(), "command": command, "since": time.strftime("%H:%M:%S")}


def _holder(note: Path) -> str:
    try:
        who = json.loads(note.read_text(encoding="utf-8"))
        return f"process {who['pid']} on {who['host']} ('{who['command']}', since {who['since']})"
    except (OSError, ValueError, KeyError):
        return "another process"
