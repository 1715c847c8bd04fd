"""Whether a record on its way in is new, a change to a paper we have, or one we have already.

Pure but for look-ups in the store. Never drops a record silently: each ends as added, updated, unchanged or rejected.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from .papers import Paper, Rejected, fold
from .readers.records import title_from
from .schema import content_key
from .store import Store

SAME_WORK = 0.4
"""Share of common words (Jaccard) above which two abstracts under one title are one abstract, corrected, and not two papers.
Corrections keep most words; the nearest two of 2,260 different ones reach .30."""
_SHARED_IDS = ("title:", "url:")
"""Ids that we made, of something that two papers may have in common: a title, or the address of a page that lists both."""


@dataclass
class Plan:
    """What is to be stored, by paper id, and what is not."""

    papers: dict[str, Paper] = field(default_factory=dict)
    updates: set[str] = field(default_factory=set)
    unchanged: list[str] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _met: set[str] = field(default_factory=set)
    _by_content: dict[str, list[str]] = field(default_factory=dict)

    def take(self, record: Paper | Rejected, store: Store) -> None:
        """Files one record under its outcome, knowing the store and the records taken before."""
        if isinstance(record, Rejected):
            self.rejected.append(record)
            return
        known = self._known(record.id, store)
        if known and known.abstract != record.abstract:
            apart = replace(record, id=f"{record.id}~{content_key(record.abstract)[:6]}")
            if self._known(apart.id, store) or not self._same_work(known, record):
                if not record.id.startswith(_SHARED_IDS):
                    why = f"the id '{record.id}' belongs to “{known.title}” ({known.source}); give it another id, or remove that paper first"
                    self.rejected.append(Rejected(record.source, why))
                    return
                record, known = apart, self._known(apart.id, store)
        if known:
            merged = _merge(known, record)
        elif known := self._twin(record, store):
            # Ids made from titles differ as soon as a year or an author is corrected.
            merged = _merge(known, record, only_missing=not (known.id.startswith("title:") and record.id.startswith("title:")))
        else:
            merged = record
        if known and known.id in self.papers and merged.abstract != known.abstract:
            self.notes.append(f"{record.source} replaces another version of the same paper ({known.source})")
        self._stage(merged, store)

    def _known(self, paper_id: str, store: Store) -> Paper | None:
        return self.papers.get(paper_id) or store.paper(paper_id)

    def _stage(self, paper: Paper, store: Store) -> None:
        self._met.add(paper.id)
        stored = store.paper(paper.id)
        if paper in (stored, self.papers.get(paper.id)):
            self.unchanged.append(paper.id)
            if paper == stored:  # though an earlier record of this addition may have had it otherwise
                self.papers.pop(paper.id, None)
                self.updates.discard(paper.id)
            return
        self.papers[paper.id] = paper
        if stored:
            self.updates.add(paper.id)
        self._by_content.setdefault(content_key(paper.abstract), []).append(paper.id)

    def _same_work(self, known: Paper, record: Paper) -> bool:
        """Whether two different abstracts under one id are versions of one. An id that was made from the title needs more:
        within one addition, or without authors, only a similar text counts."""
        same_title = fold(known.title) == fold(record.title)
        if record.id.startswith("title:") and (known.id in self._met or not record.authors):
            same_title = False
        return same_title or _similarity(known.abstract, record.abstract) >= SAME_WORK

    def _twin(self, record: Paper, store: Store) -> Paper | None:
        """The same abstract under another id, if the titles agree or one of the two has none."""
        key = content_key(record.abstract)
        staged = [self.papers[paper_id] for paper_id in self._by_content.get(key, ()) if paper_id in self.papers]
        stored = [paper for paper in store.by_content(record.abstract) if paper.id not in self.papers]
        for other in (*staged, *stored):
            untitled = _is_untitled(other) or _is_untitled(record)
            if content_key(other.abstract) == key and (untitled or fold(other.title) == fold(record.title)):
                return other
        return None


def _similarity(one: str, other: str) -> float:
    a, b = set(fold(one).split()), set(fold(other).split())
    return len(a & b) / len(a | b) if a | b else 1.0


def _is_untitled(paper: Paper) -> bool:
    """Whether the title is only the abstract's first words."""
    return paper.title == title_from(paper.abstract)


def _merge(known: Paper, record: Paper, only_missing: bool = False) -> Paper:
    """The record's fields where it has them, else what was known: a poorer export takes nothing away. `only_missing`: what is
    known stays, and the record only adds to it."""
    given = {f.name: getattr(record, f.name) for f in fields(Paper) if getattr(record, f.name)}
    if _is_untitled(record) and not _is_untitled(known):
        del given["title"]
    if only_missing:
        given = {name: value for name, value in given.items() if not getattr(known, name) or (name == "title" and _is_untitled(known))}
    return replace(known, **{**given, "source": known.source, "id": known.id})
