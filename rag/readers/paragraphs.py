"""A text file of abstracts into Papers: a heading, then one abstract a paragraph, paragraphs parted by a blank line.

`papers.jsonl` beside the file, if there is one, gives title, authors, venue, year and url by file name and paragraph (counted
from 1 after the heading). Without it a paper is called by its first words. Never joins or re-wraps a paragraph.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Iterator

from ..papers import Paper, Rejected
from .records import RecordError, to_paper

SIDECAR = "papers.jsonl"
MAX_HEADING = 200
_BLANK_LINES = re.compile(rb"(?:\r?\n[ \t]*){2,}")


def read(path: Path, data: bytes) -> Iterator[Paper | Rejected]:
    facts = {record["paragraph"]: record for record in _sidecar(path) if record["file"] == path.name}
    number = 0
    for position, piece in enumerate(_BLANK_LINES.split(data.strip(b"\r\n"))):
        try:
            text = piece.decode()
        except UnicodeDecodeError as error:
            number += 1
            yield Rejected(f"{path}, paragraph {number}", f"not UTF-8 (byte {piece[error.start]:#04x}); save the file as UTF-8")
            continue
        if not text.strip():
            continue
        if is_heading(text):
            if position:  # the first is the file's own heading; one further down might be meant as an abstract
                why = f"“{text.strip()[:60]}” was read as a heading; end it with a full stop if it is an abstract"
                yield Rejected(f"{path}, after paragraph {number}", why)
            continue
        number += 1
        place = f"paragraph {number}"
        try:
            yield to_paper({**facts.get(number, {}), "abstract": text}, f"{path.name}, {place}")
        except RecordError as error:
            yield Rejected(f"{path}, {place}", str(error))
    if number == 0:
        yield Rejected(str(path), "there is no abstract in it: expected one abstract a paragraph, with a blank line between two")


def is_heading(paragraph: str) -> bool:
    """A short line that doesn't end as a sentence does."""
    line = paragraph.strip()
    return len(line) <= MAX_HEADING and "\n" not in line and not re.search(r"[.!?。！？][\"'”’»)\]*_]*$", line)


def is_sidecar(path: Path) -> bool:
    """Whether the file only describes paragraphs of text files beside it."""
    return path.name == SIDECAR and bool(_sidecar(path))


def _sidecar(path: Path) -> list[dict[str, Any]]:
    """The usable rows; a damaged row costs its paragraph the title, not the abstract."""
    try:
        lines = (path.parent / SIDECAR).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError):
        return []
    rows = []
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and "abstract" not in row and isinstance(row.get("file"), str) and isinstance(row.get("paragraph"), int):
            rows.append(row)
    return rows
