"""Hits into an Answer without a model: exact sentences of the abstracts, chosen for the question, each cited.

It can't invent: every sentence is a span of an abstract. It refuses when the best paper does not fit the question, or does not
state that kind of detail.
"""

from __future__ import annotations

import re
from typing import Mapping, Sequence

import numpy as np

from . import relevance
from .papers import REFUSAL, Answer, Citation, Paper, Quote, Sentence
from .lexical import all_terms, terms
from .passages import Span, sentences
from .questions import is_foreign
from .retrieve import Found
from .subjects import Subject

ENOUGH, ENOUGH_READ = 0.8, 0.94
"""Sentences are added until the chance that the asked one is among them is so high, as the plain scores have it and as the reading
model has it, which is surer of itself."""
_MOST_RELATED = 3
_ASKS_SEVERAL = re.compile(r"\b(?:two|three|four|five|six|stages|steps|phases|parts|components|problems|pitfalls|shortcomings|factors|aspects|contributions|challenges|reasons|kinds|types|ways)\b", re.IGNORECASE)
_COUNTS = re.compile(r"\((?:1|i|a)\)|\b1\)|\b(?:first(?:ly)?|one|on (?:the )?one hand)\b", re.IGNORECASE)
_COUNTS_ON = re.compile(r"^\W*(?:\(?(?:[2-5]|ii+|iv|[b-e])\)|(?:second|third|fourth|final|last)(?:ly)?\b|on the other|the (?:second|third|other)\b)|[;,] and \(?[2-5]\)", re.IGNORECASE)
_REST = 3
_PRESENTED = 5.0
"""What it counts for a sentence that it presents the paper, if nothing else is asked."""
_WHAT_IT_IS = frozenset(stem for word in "summarize summarise summary overview explain describe tell briefly short brief gist main idea paper work study plain words simple terms contribution propose about abstract stand s".split() for stem in all_terms(word))
"""Words that ask what a paper is about on the whole, stemmed."""
_RELATED = 0.5


def answer(query: str, subjects: Sequence[Subject], comparing: bool, rarity: Mapping[str, float], found: Sequence[Found]) -> Answer:
    """The papers in `subjects` quoted on what is asked of each. `rarity`: of the question's stemmed words; 1 for one that no
    paper holds. `found`: the hits, best first, for the related papers. The answer's timings are empty."""
    room = 3 if comparing and len(subjects) == 2 else _room(len({s.found.hit.paper.id for s in subjects}), len(subjects))
    picked: dict[str, tuple[Paper, set[Span]]] = {}
    for subject in subjects:
        paper = subject.found.hit.paper
        picked.setdefault(paper.id, (paper, set()))[1].update(pick(subject, rarity, room))
    citations = tuple(
        Citation(number, paper, tuple(Quote(paper.abstract[s.start : s.end], *s) for s in sorted(spans)))
        for number, (paper, spans) in enumerate(picked.values(), 1)
    )
    return Answer(
        text="\n\n".join(_paragraph(c) for c in citations),
        status="answered",
        sentences=tuple(Sentence(q.text, (c.number,), "supported") for c in citations for q in c.quotes),
        citations=citations,
        query=query,
        related=_related(found, {c.paper.id for c in citations}),
        form="comparison" if comparing and len(citations) > 1 else "prose",
    )


def refusal(query: str, found: Sequence[Found], mode: str = "extractive", notice: str = "") -> Answer:
    """The one refusal. The nearest papers are offered as related, and cited by nothing."""
    return Answer(REFUSAL, "refused", (Sentence(REFUSAL, (), "unchecked"),), query=query, related=_related(found, set()), mode=mode, notice=notice)


def unstated(query: str, subject: Subject, rarity: Mapping[str, float], found: Sequence[Found]) -> Answer:
    """The refusal for a detail that the right paper doesn't state, with the nearest that it says (which may correct a premise)."""
    paper = subject.found.hit.paper
    nearest = pick(subject, rarity, 1)
    said = f" The nearest that it says: “{paper.abstract[nearest[0].start : nearest[0].end]}”" if nearest else ""
    first = sorted(found, key=lambda f: f.hit.paper.id != paper.id)
    return refusal(query, first, notice=f"{'The abstract of' if subject.named else 'The nearest paper seems to be'} “{paper.title}”{'' if subject.named else ', and its abstract'} doesn't state that.{said}")


def recorded(query: str, subject: Subject, what: str, found: Sequence[Found]) -> Answer | None:
    """Who wrote the paper, when or where it appeared, from its record; None if the record doesn't say."""
    paper = subject.found.hit.paper
    told = {
        "authors": f"was written by {', '.join(paper.authors)}" if paper.authors else "",
        "year": f"appeared in {paper.venue if str(paper.year) in paper.venue else paper.year}" if paper.year else "",
        "venue": f"appeared at {paper.venue}" if paper.venue else "",
    }[what]
    if not told:
        return None
    sentence = f"{paper.title} {told}."
    return Answer(
        text=f"{sentence} [1]",
        status="answered",
        sentences=(Sentence(sentence, (1,), "supported"),),
        citations=(Citation(1, paper),),
        query=query,
        related=_related(found, {paper.id}),
        notice="This is from the paper's record, not from its abstract.",
    )


def pick(subject: Subject, rarity: Mapping[str, float], room: int) -> list[Span]:
    """The sentences of the paper that best meet what is asked, at most `room` and no more than ENOUGH asks for, best first."""
    found = subject.found
    spans = sentences(found.hit.paper.abstract)
    words = set(terms(subject.asked)) or set(rarity)
    known = {word: weight for word, weight in rarity.items() if weight < 1 and word in words}
    scores = relevance.scores(subject.asked, known, found.hit.paper, spans, found.sentence_cosines, subject.aspects)
    enough = ENOUGH
    if not set(terms(subject.asked)) - set(all_terms(found.hit.paper.title)) - _WHAT_IT_IS:  # nothing is asked but what it is
        texts = [found.hit.paper.abstract[s.start : s.end] for s in spans]
        scores = scores + _PRESENTED * np.array([relevance.presents(text) + 0.5 * relevance.introduces(text) for text in texts])
        if terms(subject.asked):  # "summarize it", not just its name
            return [spans[i] for i in np.argsort(-scores, kind="stable")[:room]]
    elif subject.read is not None and not is_foreign(subject.asked):
        scores, enough = subject.read.scores, ENOUGH_READ
    order = np.argsort(-scores, kind="stable")[:room]
    chances = np.exp(scores - scores.max(initial=-np.inf)) if len(scores) else scores
    chances = np.cumsum((chances / chances.sum())[order]) if len(scores) else chances
    chosen = [int(i) for i in order[: int(np.searchsorted(chances, enough)) + 1]]
    return [spans[i] for i in _with_rest_of_list(found.hit.paper.abstract, spans, chosen, subject.asked)]


def presenting(paper: Paper) -> Span | None:
    """The sentence that says what a paper presents, or its first."""
    spans = sentences(paper.abstract)
    return next((s for says in (relevance.introduces, relevance.presents) for s in spans if says(paper.abstract[s.start : s.end])), spans[0] if spans else None)


def _with_rest_of_list(abstract: str, spans: Sequence[Span], chosen: list[int], asked: str) -> list[int]:
    """The chosen sentences; where one begins to count up what is asked for, those that count on come before lesser ones."""
    if not _ASKS_SEVERAL.search(asked):
        return chosen
    for i in chosen[:2]:
        rest = []
        while len(rest) < _REST and i + len(rest) + 1 < len(spans) and _COUNTS_ON.search(abstract[slice(*spans[i + len(rest) + 1])]):
            rest.append(i + len(rest) + 1)
        if rest and _COUNTS.search(abstract[slice(*spans[i])]):
            return list(dict.fromkeys([i, *rest, *chosen[: max(0, len(chosen) - len(rest))]]))
    return chosen


def _room(papers: int, parts: int) -> int:
    """How many sentences each part may have: the fewer papers, the more."""
    if papers == 1:
        return 3 if parts == 1 else 2
    return 2 if papers == 2 else 1 if papers > 3 else 2


def _paragraph(citation: Citation) -> str:
    quoted = " ".join(f"“{quote.text}” [{citation.number}]" for quote in citation.quotes)
    where = citation.paper.venue or (str(citation.paper.year) if citation.paper.year else "")
    return f"**{citation.paper.title}**{f' ({where})' if where else ''}: {quoted}"


def _related(found: Sequence[Found], cited: set[str]) -> tuple[Paper, ...]:
    """The nearest papers that are not cited; beside an answer only those that come near the best one."""
    least = found[0].hit.score * _RELATED if cited and found else 0.0
    return tuple(f.hit.paper for f in found if f.hit.paper.id not in cited and f.hit.score >= least)[:_MOST_RELATED]
