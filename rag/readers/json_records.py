"""JSON Lines (one record a line) and JSON (a list of records, or one) into Papers.

Decodes line by line, so that one broken line costs one record. Never stops at a bad record.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Iterator

from ..papers import Paper, Rejected
from .records import RecordError, to_paper

_WRAPPERS = ("papers", "records", "data", "items", "results")


def read(path: Path, data: bytes) -> Iterator[Paper | Rejected]:
    """Records of a .json or .jsonl file; the content decides which of the two it is, the name does not."""
    whole = None
    if path.suffix.lower() == ".json" or data.lstrip()[:1] == b"[":
        try:
            whole = json.loads(data)
        except (ValueError, RecursionError) as error:
            if len(data.strip().splitlines()) < 2 or not _first_line_is_record(data):
                yield Rejected(_where(path, data, error), f"this is not valid JSON: {_reason(error)}")
                return
    if whole is None:
        yield from _lines(path, data)
        return
    if isinstance(whole, dict) and "abstract" not in whole:
        whole = next((whole[key] for key in _WRAPPERS if isinstance(whole.get(key), list)), whole)
    records = whole if isinstance(whole, list) else [whole]
    if not records:
        yield Rejected(str(path), "the list in it is empty")
    for number, record in enumerate(records, 1):
        yield _record(record, path, f"record {number}")


def _lines(path: Path, data: bytes) -> Iterator[Paper | Rejected]:
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            yield _record(json.loads(line.decode()), path, place)
        except UnicodeDecodeError as error:
            yield Rejected(f"{path}, {place}", f"not UTF-8 (byte {error.object[error.start]:#04x} at {error.start + 1}); save it as UTF-8")
        except (ValueError, RecursionError) as error:
            yield Rejected(f"{path}, {place}", f"this line is not valid JSON: {_reason(error)}")


def _record(record: Any, path: Path, place: str) -> Paper | Rejected:
    if not isinstance(record, dict):
        return Rejected(f"{path}, {place}", "this is not a paper record; expected {\"title\": …, \"abstract\": …}")
    if "abstract" not in record and {"file", "paragraph"} <= record.keys():
        return Rejected(f"{path}, {place}", f"this describes a paragraph of {record['file']}; add that file instead")
    try:
        return to_paper(record, f"{path.name}, {place}")
    except RecordError as error:
        return Rejected(f"{path}, {place}", str(error))


def _first_line_is_record(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data.strip().splitlines()[0]), dict)
    except (ValueError, RecursionError):
        return False


def _where(path: Path, data: bytes, error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        line = data.count(b"\n", 0, error.start) + 1
    elif isinstance(error, json.JSONDecodeError):
        line = error.lineno
    else:
        return str(path)
    return f"{path}, line {line}"


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8; save it as UTF-8"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
