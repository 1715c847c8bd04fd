"""The papers that a question is about, read before they are chosen: the search, then the reading model on the few that come near.

Between the library, which finds, and the engine, which answers. Judges how well papers fit, and refuses nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Collection, Mapping, Sequence

import numpy as np

from . import lexical, reading
from .names import Mention
from .questions import asserts, is_foreign
from .retrieve import Found
from .subjects import Subject, aspects, said_surely, subjects

if TYPE_CHECKING:
    from .library import Library

_READ, _CLOSE, _WEIGHT = 4, 0.2, 0.02
"""Papers that are read before one is chosen, if their scores are so close to the best, and what a unit of the reading's log odds
weighs beside the search's score. (Of 80 described papers of the tuning half 88 % came first instead of 80 %; of 25 of another pile 88
instead of 84 %.)"""


def nearest(library: Library, text: str, limit: int, within: Collection[str] | None = None, timings: dict[str, float] | None = None) -> list[Found]:
    """`library.find`, with the first few in the order in which the reading model would have them, if they are close and none is
    named. Their scores are brought into line; no paper comes in or falls out."""
    found = library.find(text, limit, timings, within)
    close = [f for f in found[:_READ] if f.hit.score >= found[0].hit.score - _CLOSE]
    tokens = library.tokens(text) if len(close) > 1 and not is_foreign(text) else None
    if tokens is None or said_surely(text, library.mentions(text)):
        return found
    rarity = library.rarity(lexical.terms(text))
    read = [reading.read(*bare(library, text, f, False, rarity), tokens) for f in close]
    if any(r is None for r in read):
        return found
    odds = np.array([r.stated for r in read])
    scores = [f.hit.score for f in found] + _WEIGHT * np.append(odds, np.full(len(found) - len(close), odds.min())) - _WEIGHT * odds.max()
    return [replace(found[i], hit=replace(found[i].hit, score=float(scores[i]))) for i in np.argsort(-scores, kind="stable")]


def about(library: Library, query: str, found: Sequence[Found], within: Collection[str] | None = None) -> tuple[list[Subject], bool]:
    """The papers that the question is about, with what it asks of each, and whether they are to be compared."""
    allowed = None if within is None else set(within)

    def find(text: str, limit: int, ids: tuple[str, ...] | None) -> list[Found]:
        chosen = within if ids is None else ids if allowed is None else [i for i in ids if i in allowed]
        return nearest(library, text, limit, chosen) if ids is None else library.find(text, limit, within=chosen)

    chosen, comparing = subjects(query, found, library.mentions, find, library.aspect)
    return [_read(library, subject) for subject in chosen], comparing


def _read(library: Library, subject: Subject) -> Subject:
    """The subject with what the reading model makes of its abstract; as it is, if nothing is asked, or the
    library's vectors are of another embedder."""
    found = subject.found
    asked = subject.asked.replace(f"({found.hit.paper.title})", "").strip() or subject.asked  # a title that a follow-up carries asks nothing
    tokens = None if asserts(asked) else library.tokens(asked)  # it learnt from questions: quoted for claims, it agreed less with experts
    if tokens is None:
        return subject
    if asked != subject.asked:
        found = replace(found, sentence_cosines=found.sentence_vectors @ library.aspect(asked, ()))
    return subject._replace(read=reading.read(*bare(library, asked, found, subject.named if asked == subject.asked else None), tokens))


def bare(library: Library, asked: str, found: Found, named: bool | None, rarity: Mapping[str, float] | None = None) -> tuple[Subject, Mapping[str, float], list[Mention]]:
    """What the reading model is given: a paper as found for a question, the rarity of its words, and the names that it says.
    `named` None: whether it says this paper's is to be seen."""
    mentions = library.mentions(asked)
    if named is None:
        named = found.hit.paper.id in said_surely(asked, mentions)
    return Subject(found, asked, aspects(asked, found, mentions, library.aspect), named), rarity or library.rarity(lexical.terms(asked)), mentions


def odds(library: Library, question: str, found: Found) -> float | None:
    """Log odds that the paper answers the question, whatever it is called; None if it can't be read."""
    tokens = library.tokens(question)
    read = reading.read(*bare(library, question, found, False), tokens) if tokens is not None else None
    return read.stated if read else None
