"""Whether a record on its way in is new, a change to a paper we have, or one we have already.

Pure but for look-ups in the store. Never drops a record silently: each ends as added, updated, unchanged or rejected.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from .papers import Paper, Rejected, fold
from .store import Store, content_key

SAME_WORK = 0.4
"""Share of common words (Jaccard) above which two abstracts under one title are one abstract, corrected, and not two papers.
Corrections keep most words; the nearest two of 2,260 different ones reach .30."""


@dataclass
class Plan:
    """What is to be stored, by paper id, and what is not."""

    papers: dict[str, Paper] = field(default_factory=dict)
    updates: set[str] = field(default_factory=set)
    unchanged: list[str] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _by_content: dict[str, list[str]] = field(default_factory=dict)

    def take(self, record: Paper | Rejected, store: Store) -> None:
        """Files one record under its outcome, knowing the store and the records taken before."""
        if isinstance(record, Rejected):
            self.rejected.append(record)
            return
        known = self.papers.get(record.id) or store.paper(record.id)
        if known and known.abstract != record.abstract and not self._same_work(known, record):
            if not record.id.startswith("title:"):
                self.rejected.append(Rejected(record.source, f"the id '{record.id}' belongs to “{known.title}” ({known.source}); give it another id, or remove that paper first"))
                return
            record = replace(record, id=f"{record.id}~{content_key(record.abstract)[:6]}")  # two papers with one title
            known = self.papers.get(record.id) or store.paper(record.id)
        if known is None:
            twin = self._twin(record, store)
            if twin:
                self.unchanged.append(twin.id)
            else:
                self._stage(record)
            return
        merged = _merge(known, record)
        if merged == known:
            self.unchanged.append(known.id)
            return
        if known.id not in self.papers:
            self.updates.add(known.id)
        elif merged.abstract != known.abstract:
            self.notes.append(f"{record.source} replaces another version of the same paper ({known.source})")
        self._stage(merged)

    def _stage(self, paper: Paper) -> None:
        self.papers[paper.id] = paper
        self._by_content.setdefault(content_key(paper.abstract), []).append(paper.id)

    def _same_work(self, known: Paper, record: Paper) -> bool:
        """Whether two different abstracts under one id are versions of one. An id that was made from the title needs more:
        within one addition, or without authors, only a similar text counts."""
        same_title = fold(known.title) == fold(record.title)
        if record.id.startswith("title:") and (known.id in self.papers or not record.authors):
            same_title = False
        return same_title or _similarity(known.abstract, record.abstract) >= SAME_WORK

    def _twin(self, record: Paper, store: Store) -> Paper | None:
        """The same abstract under another id, if the titles agree or one of the two has none."""
        staged = [self.papers[paper_id] for paper_id in self._by_content.get(content_key(record.abstract), ())]
        for other in (*staged, *store.by_content(record.abstract)):
            untitled = other.id.startswith("text:") or record.id.startswith("text:")
            if untitled or fold(other.title) == fold(record.title):
                return other
        return None


def _similarity(one: str, other: str) -> float:
    a, b = set(fold(one).split()), set(fold(other).split())
    return len(a & b) / len(a | b) if a | b else 1.0


def _merge(known: Paper, record: Paper) -> Paper:
    """The record's fields where it has them, else what was known: a poorer export takes nothing away."""
    given = {f.name: getattr(record, f.name) for f in fields(Paper) if getattr(record, f.name)}
    return replace(known, **{**given, "source": known.source, "id": known.id})
