"""Files into Papers. One small module a format; this one finds the files and picks the reader.

A reader yields, in file order, a Paper for every good record and a Rejected for every other one, naming file and place. It
never raises for what is in a file, never guesses an abstract, and never changes a character of one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Iterator

from ..papers import Paper, Rejected, as_text
from . import json_records, paragraphs
from .records import checked

__all__ = ["FORMATS", "READERS", "checked", "read"]
READERS = {
    ".txt": paragraphs.read,
    ".jsonl": json_records.read,
    ".ndjson": json_records.read,
    ".json": json_records.read,
}
FORMATS = "a .txt file (a heading, then one abstract a paragraph) or a .jsonl or .json file of paper records"
_OF_PAPERS = {".pdf", ".bib", ".ris", ".nbib", ".enw", ".csv", ".tsv", ".xml", ".docx", ".gz", ".zip"}
_NOT_TEXT = {b"%PDF": "a PDF", b"PK\x03\x04": "a zip archive or office document", b"\x1f\x8b": "a gzip archive", b"SQLite f": "a database"}


def read(path: str | Path) -> Iterator[Paper | Rejected]:
    """Every record of a file, or of all files of known formats in a folder and its sub-folders."""
    path = Path(path)
    try:
        path = path.expanduser()
    except RuntimeError:  # «~draft.txt» is a file, not somebody's home
        pass
    try:
        for record in _folder(path) if path.is_dir() else _file(path):
            yield _printable(record)
    except OSError as error:
        yield _printable(Rejected(str(path), _os_reason(error)))


def _folder(folder: Path) -> Iterator[Paper | Rejected]:
    inside = (p for p in sorted(folder.rglob("*")) if not any(part.startswith(".") for part in p.relative_to(folder).parts))
    inside = [p for p in inside if p.is_file()]
    files = [p for p in inside if p.suffix.lower() in READERS]
    for other in (p for p in inside if p.suffix.lower() in _OF_PAPERS):
        yield from _file(other)  # a reader who drops a folder of PDFs must not think that they went in
    if not files:
        yield Rejected(str(folder), f"no file in this folder can be read; expected {FORMATS}")
    for file in files:
        if not paragraphs.is_sidecar(file):
            yield from read(file)


def _file(path: Path) -> Iterator[Paper | Rejected]:
    reader = READERS.get(path.suffix.lower())
    if not path.is_file():
        yield Rejected(str(path), "this is not a file that can be read" if path.exists() else "there is no such file")
        return
    with open(path, "rb") as file:
        data = file.read() if reader else file.read(16)
    kind = next((name for magic, name in _NOT_TEXT.items() if data.startswith(magic)), None)
    if kind or reader is None:
        unknown = f"files ending in '{path.suffix}' can't be read yet" if path.suffix else "its name has no ending"
        yield Rejected(str(path), f"{f'this is {kind}' if kind else unknown}; expected {FORMATS}")
    elif not data.strip(b"\xef\xbb\xbf\xff\xfe \t\r\n"):
        yield Rejected(str(path), "the file is empty")
    else:
        yield from reader(path, _as_utf8(data))


def _as_utf8(data: bytes) -> bytes:
    """UTF-8 without a byte-order mark; UTF-16 with one is converted. Other encodings pass, and fail record by record."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16").encode()
        except UnicodeDecodeError:
            return data
    return data.removeprefix(b"\xef\xbb\xbf")


def _printable(record: Paper | Rejected) -> Paper | Rejected:
    """A file's name may hold bytes that are no text; they can neither be stored nor printed."""
    if isinstance(record, Paper):
        return replace(record, source=as_text(record.source))
    return Rejected(as_text(record.where), as_text(record.why))


def _os_reason(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return "you have no permission to read it"
    return f"it can't be read: {error.strerror or error}"
