"""Whether answers were right, as readers say: one line of JSON each, in a file beside the papers.

Holds the question as it was searched, what was cited and the reader's own words; no text of an abstract and nothing that tells who
it was. `askpapers eval questions --from-feedback` makes a question file of it. The last line about a turn counts.
"""

from __future__ import annotations

import hashlib
import json
import threading
from datetime import datetime, timezone
from pathlib import Path

from rag.errors import StorageFailed
from rag.papers import as_text
from rag.history import Turn

FILE = "feedback.jsonl"
VOTES = ("right", "wrong")
LONGEST_WORDS = 1_000
LARGEST = 50_000_000
"""Bytes of the file, past which nothing is taken down."""
_writing = threading.Lock()


def shortened(words: str) -> str:
    """A reader's words as they are kept."""
    return " ".join(words.split())[:LONGEST_WORDS]


def note(folder: Path | None, conversation: str, turn: Turn, vote: str, words: str = "") -> None:
    """Takes one opinion down. Raises StorageFailed."""
    if folder is None:
        raise StorageFailed("This can't be noted: the library has no folder.")
    answer = turn.answer
    line = {
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "turn": hashlib.sha256(f"{conversation} {turn.number} {turn.question}".encode(errors="replace")).hexdigest()[:16],
        "question": turn.question,
        "searched": (answer.query if answer else "") or turn.question,
        "vote": vote,
        "words": shortened(words),
        "outcome": answer.status if answer else turn.outcome,
        "mode": answer.mode if answer else "",
        "papers": [citation.paper.id for citation in answer.citations] if answer else [],
        "scope": turn.scope,
    }
    place = folder / FILE
    try:
        with _writing, open(place, "a", encoding="utf-8") as file:
            if file.tell() > LARGEST:
                raise StorageFailed(f"{place.name} is full: move it away, and a new one is begun.")
            file.write(as_text(json.dumps(line, ensure_ascii=False)) + "\n")
    except OSError as error:
        raise StorageFailed(f"This could not be noted in {place.name}: {error.strerror or error}.") from error
