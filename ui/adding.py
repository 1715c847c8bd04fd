"""Files of papers that a reader sends: into the library by the engine's own readers, with a report of what went in.

A file is judged by what is in it, at most by its name second. It is kept in a temporary folder only, and only while it is read; of its
name no more is used than a report needs.
"""

from __future__ import annotations

import logging
import re
import secrets
import shutil
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rag.errors import AskPapersError
from rag.papers import AddReport
from rag.readers import READERS
from ui.session import went_wrong

log = logging.getLogger(__name__)

KEEP = 600.0
"""Seconds that a finished report can still be fetched."""


@dataclass
class Adding:
    """One file on its way in. `report` or `error` when it is `over`, and `told` when its reader has had that; `before` is how many
    papers there were."""

    owner: str
    name: str
    before: int
    report: AddReport | None = None
    error: str = ""
    over: float = 0.0
    told: bool = False


class Intake:
    """Takes files in, one after the other, each in a thread of its own, and remembers how that went."""

    def __init__(self, library: Any):
        self._library = library
        self._turn = threading.Lock()
        self._all: dict[str, Adding] = {}

    def begin(self, owner: str, name: str, data: bytes) -> str:
        """Starts adding a file and returns the name of the work, for `look`."""
        for old in [key for key, each in self._all.items() if each.over and time.monotonic() - each.over > KEEP]:
            self._all.pop(old, None)
        key = secrets.token_urlsafe(16)
        adding = self._all[key] = Adding(owner, shown(name), len(self._library))
        threading.Thread(target=self._work, args=(adding, data), name="adding", daemon=True).start()
        return key

    def look(self, owner: str, key: str) -> Adding | None:
        found = self._all.get(key)
        return found if found and found.owner == owner else None

    def untold(self, owner: str) -> list[str]:
        """The works that this reader has not heard the end of, in order."""
        return [key for key, each in list(self._all.items()) if each.owner == owner and not each.told]

    def _work(self, adding: Adding, data: bytes) -> None:
        place = Path(tempfile.mkdtemp(prefix="askpapers-"))
        try:
            with self._turn:
                file = place / _name(adding.name, data)
                file.write_bytes(data)
                adding.before = len(self._library)
                adding.report = _without(self._library.add(file), f"{place}/")
        except AskPapersError as error:
            adding.error = str(error)
        except Exception as error:
            log.exception("A file could not be added")
            adding.error = went_wrong(error)
        finally:
            shutil.rmtree(place, ignore_errors=True)
            adding.over = time.monotonic()


def shown(name: str) -> str:
    """The last part of a file's name, harmless as the name of a file here."""
    last = re.split(r"[/\\]", name)[-1]
    clean = re.sub(r"[\x00-\x1f\x7f<>:\"|?*\ud800-\udfff]", "_", last).strip(". ")
    return clean[-120:] or "file"


def _name(name: str, data: bytes) -> str:
    """The name to read it under: JSON is read as such whatever it is called."""
    ending = Path(name).suffix.lower()
    begun = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if ending in READERS and not (ending == ".txt" and re.match(rb'\{\s*"', begun)):
        return name
    if re.match(rb'\{\s*"[^"]*"\s*:', begun) or re.match(rb'\[\s*(?:\{\s*"|\])', begun):
        return f"{name}.jsonl"
    return name


def _without(report: AddReport, place: str) -> AddReport:
    """The report without the temporary folder, which tells a reader nothing."""
    return replace(
        report,
        rejected=tuple((where.replace(place, ""), why.replace(place, "")) for where, why in report.rejected),
        notes=tuple(note.replace(place, "") for note in report.notes),
    )
