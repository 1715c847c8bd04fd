"""The library as a list: finding papers by their words, and saying which of them a question is asked of.

Values in, values out; the HTML is ui.sheets'. Never holds a paper's text but folded, for finding.
"""

from __future__ import annotations

import threading
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rag.papers import Paper

ON_A_PAGE = 50
MOST_CHOSEN = 1_000
"""Papers that one question can be asked of by choosing them one by one."""
SORTS = {"added": "Recently added first", "year": "Recently published first", "title": "By title"}
_LONGEST_WORDS = 200


class Row(NamedTuple):
    """One paper of the list. `words`: title, authors, venue and year, folded for searching; `text`: its abstract, the same."""

    id: str
    title: str
    byline: str
    year: int | None
    venue: str
    link: str
    words: str
    text: str = ""


@dataclass(frozen=True)
class Scope:
    """Which papers: those chosen by id, or those that the filters let through. With nothing set, all."""

    ids: tuple[str, ...] = ()
    find: str = ""
    first: int | None = None
    last: int | None = None
    venue: str = ""

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Scope:
        """From what a browser sent, which may be anything: what makes no sense is left out."""
        chosen = data.get("ids")
        ids = tuple(dict.fromkeys(i for i in chosen if isinstance(i, str) and i)) if isinstance(chosen, list) else ()
        return cls(ids[:MOST_CHOSEN], _text(data.get("find")), _year(data.get("first")), _year(data.get("last")), _text(data.get("venue")))

    def __bool__(self) -> bool:
        return self != Scope()

    def takes(self, row: Row) -> bool:
        if self.ids:
            return row.id in self.ids
        if (self.first or self.last) and row.year is None:
            return False
        return (
            (not self.first or (row.year or 0) >= self.first)
            and (not self.last or (row.year or 0) <= self.last)
            and (not self.venue or row.venue == self.venue)
            and all(word in row.words or word in row.text for word in folded(self.find).split())
        )

    def of(self, rows: Sequence[Row]) -> list[Row]:
        if self.ids:
            chosen = set(self.ids)
            return [row for row in rows if row.id in chosen]
        return [row for row in rows if self.takes(row)] if self else list(rows)

    def says(self, found: Sequence[Row]) -> str:
        """The scope in words, given what it takes: “3 chosen papers”, “214 papers: ICLR 2024, 2020 to 2022”. Chosen papers that have
        been removed since are told."""
        count = f"{len(found):,} paper{'s' * (len(found) != 1)}"
        if self.ids:
            gone = len(self.ids) - len(found)
            if not found:
                return f"{'a paper that is' if gone == 1 else 'papers that are'} no longer in the library"
            missing = f" ({gone:,} more {'is' if gone == 1 else 'are'} no longer in the library)" if gone else ""
            return (f"“{found[0].title}”" if len(found) == 1 else count.replace(" paper", " chosen paper")) + missing
        years = f"{self.first} to {self.last}" if self.first and self.last and self.first != self.last else ""
        years = years or (f"{self.first}" if self.first and self.last else f"since {self.first}" if self.first else f"until {self.last}" if self.last else "")
        parts = [part for part in (self.venue, years, f"with “{self.find}”" if self.find else "") if part]
        return f"{count}: {', '.join(parts)}" if parts else f"all {count}"

    def to_dict(self) -> dict[str, Any]:
        whole = {"ids": list(self.ids), "find": self.find, "first": self.first, "last": self.last, "venue": self.venue}
        return {name: value for name, value in whole.items() if value}


@dataclass
class Shelf:
    """The rows of one library, made anew when its papers have changed."""

    library: Any
    _state: object = None
    _rows: list[Row] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def rows(self) -> list[Row]:
        """All papers, in the order in which they were added."""
        len(self.library)  # a new library begins with the sample papers
        store = getattr(self.library, "store", None)
        with self._lock:
            state = store.state() if store else None
            if state is None or state != self._state:
                self._rows, self._state = [_row(paper) for paper in self.library.papers()], state
            return self._rows

    def venues(self) -> list[tuple[str, int]]:
        """The venues, the most common first, with their number of papers."""
        return Counter(row.venue for row in self.rows() if row.venue).most_common(200)


def arranged(rows: Sequence[Row], sort: str, find: str = "") -> list[Row]:
    """In the order asked for; those with all the words of `find` in their title or record before those with some in the abstract."""
    words = folded(find).split()
    if words:
        return sorted(arranged(rows, sort), key=lambda row: not all(word in row.words for word in words))
    if sort == "title":
        return sorted(rows, key=lambda row: folded(row.title))
    if sort == "year":
        return sorted(rows, key=lambda row: (-(row.year or 0), folded(row.title)))
    return list(reversed(rows))


def folded(text: str) -> str:
    """Lower case, without accents."""
    if text.isascii():
        return text.lower()
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))


def _row(paper: Paper) -> Row:
    words = folded(" ".join((paper.title, *paper.authors, paper.venue, str(paper.year or ""), *paper.keywords)))
    return Row(paper.id, paper.title or f"Untitled paper ({paper.id})", paper.byline or paper.source, paper.year, paper.venue, paper.link, words, folded(paper.abstract))


def _text(value: Any) -> str:
    return " ".join(value.split())[:_LONGEST_WORDS] if isinstance(value, str) else ""


def _year(value: Any) -> int | None:
    text = str(value).strip() if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    return int(text) if text.isascii() and text.isdigit() and 0 < int(text) < 10_000 else None
