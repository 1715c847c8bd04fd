"""One record of any format (a mapping of named fields) into a Paper: field forms, identity, and what is refused.

Pure. Never invents a field: what can't be understood is left empty with a note, and only a missing abstract refuses a record.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Mapping

from ..papers import Paper, Rejected, as_text, fold

MAX_ABSTRACT = 50_000
"""Characters. The longest of 103,000 real abstracts has under 10,000; a text above this is a whole paper or several."""


class RecordError(ValueError):
    """The record can't become a Paper; the text says why, for the report."""


def to_paper(record: Mapping[str, Any], source: str) -> Paper:
    """Reads title, abstract, authors, year, venue, url, doi, id, keywords; other fields are ignored.

    Accepts the forms met in real exports: authors as names, as {"name": …} or as one string; year as a number or a date;
    a DOI as an address. Raises RecordError.
    """
    record = {str(key).lower(): value for key, value in record.items()}
    abstract = record.get("abstract")
    if abstract is None or (isinstance(abstract, str) and not abstract.strip()):
        raise RecordError("it has no abstract")
    if not isinstance(abstract, str):
        raise RecordError(f"its abstract is not text but {_json_kind(abstract)}")
    if not fold(abstract):
        raise RecordError("its abstract holds no words")
    if len(abstract) > MAX_ABSTRACT:
        raise RecordError(f"its abstract has {len(abstract):,} characters; the limit is {MAX_ABSTRACT:,}. Is it a whole paper?")
    title = _text(record.get("title")) or title_from(abstract)
    url, doi = _text(record.get("url")), _doi(_text(record.get("doi")))
    authors, year = _names(record.get("authors")), _year(record.get("year"))
    given = record.get("id") if isinstance(record.get("id"), (str, int)) else ""
    paper = Paper(
        id=_text(given) or _identity(url, doi, title, authors, year, "" if _text(record.get("title")) else abstract),
        title=title,
        abstract=abstract,
        authors=authors,
        year=year,
        venue=_text(record.get("venue")),
        url=url,
        doi=doi,
        keywords=_names(record.get("keywords")),
        source=source,
    )
    try:
        "".join((paper.id, title, abstract, *authors, paper.venue, url, doi, *paper.keywords)).encode()
    except UnicodeEncodeError as error:
        raise RecordError("it holds half of a surrogate pair, which is no character; export the file again as UTF-8") from error
    return paper


def checked(paper: Paper) -> Paper | Rejected:
    """A Paper that a program made, held to what is asked of one from a file."""
    source = as_text(paper.source or f"Paper(id={paper.id!r})")
    try:
        return to_paper(vars(paper), source)
    except RecordError as error:
        return Rejected(source, str(error))


def _identity(url: str, doi: str, title: str, authors: tuple[str, ...], year: int | None, untitled: str) -> str:
    """The same work gets the same id from any file that names it: by OpenReview or arXiv number, DOI, address, or title."""
    for pattern, scheme in (
        (r"openreview\.net/(?:forum|pdf)\?(?:.*&)?id=([\w-]+)", "openreview"),
        (r"arxiv\.org/(?:abs|pdf)/([\w.-]+/\d{7}|\d{4}\.\d{4,5})", "arxiv"),
        (r"doi\.org/(10\.\d{4,9}/\S+)", "doi"),
    ):
        if match := re.search(pattern, url, re.IGNORECASE):
            return f"{scheme}:{match.group(1).lower() if scheme == 'doi' else match.group(1)}"
    if doi:
        return f"doi:{doi.lower()}"
    if url:
        return f"url:{url}"
    key = "\0".join((untitled or fold(title), *map(fold, authors), str(year or "")))
    return f"{'text' if untitled else 'title'}:{hashlib.sha256(key.encode(errors='replace')).hexdigest()[:12]}"


def title_from(abstract: str) -> str:
    """What a paper without a title is called: the abstract's first words."""
    words = abstract.split()
    return " ".join(words[:10]) + ("…" if len(words) > 10 else "")


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return " ".join(str(value).split())


def _doi(text: str) -> str:
    match = re.search(r"10\.\d{4,9}/\S+", text)
    return match.group() if match else ""


def _year(value: Any) -> int | None:
    match = re.match(r"\s*(\d{4})(?:\D|$)", str(value)) if not isinstance(value, bool) else None
    return int(match.group(1)) if match and 1000 <= int(match.group(1)) <= 2999 else None


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, Mapping):
        value = [value]
    if isinstance(value, str):
        value = _split_names(value)
    if not isinstance(value, (list, tuple)):
        return ()
    names = (_text(v.get("name") or v.get("display_name")) if isinstance(v, Mapping) else _text(v) for v in value)
    return tuple(name for name in names if name)


def _split_names(text: str) -> list[str]:
    """«A; B», «A and B», «Ann Lee, Bo Chen»; a string in another form is one name («Lee, A.»)."""
    text = _text(text)
    if ";" in text:
        return text.split(";")
    if " and " in text:
        return [name for part in text.split(" and ") for name in _split_names(part.strip(" ,"))]
    parts = text.split(",")
    return parts if len(parts) > 1 and all(" " in part.strip() for part in parts) else [text]


def _json_kind(value: Any) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return kinds.get(type(value), "something else")
