"""Hits into an Answer without a model: exact sentences of the abstracts, chosen for the question, each cited.

It can't invent: every sentence is a span of an abstract. It refuses when the best paper does not fit the question.
"""

from __future__ import annotations

import math
from typing import Sequence

import numpy as np

from . import relevance
from .papers import REFUSAL, Answer, Citation, Paper, Quote, Sentence
from .passages import Span, sentences
from .retrieve import Found

MAX_PAPERS = 3
_RELATED = 0.5
_PAPER_MARGIN = 0.04
"""A further paper is quoted if its score is within this of the best paper's."""

_BIAS, _DENSE, _LEXICAL, _SENTENCE = -2.45, 3.91, 6.07, 2.59


def answer(question: str, found: Sequence[Found], weights: dict[str, float], query: str = "") -> Answer:
    """`found`: the hits, best first. `weights`: how much each of the question's stemmed words tells; words that no paper
    holds are absent. The answer's timings are empty; its query is `query` or the question."""
    query = query or question
    if not found or answerability(found) < 0.5:
        return refusal(query, found)
    chosen = [f for f in found[:MAX_PAPERS] if f.hit.score >= found[0].hit.score - _PAPER_MARGIN]
    picked = [(f.hit.paper, _pick(f, question, weights, room)) for f, room in zip(chosen, _rooms(len(chosen)))]
    citations = tuple(
        Citation(number, paper, tuple(Quote(paper.abstract[s.start : s.end], *s) for s in spans))
        for number, (paper, spans) in enumerate(picked, 1)
    )
    return Answer(
        text="\n\n".join(_paragraph(c) for c in citations),
        status="answered",
        sentences=tuple(Sentence(q.text, (c.number,), "supported") for c in citations for q in c.quotes),
        citations=citations,
        query=query,
        related=_related(found, {c.paper.id for c in citations}),
    )


def refusal(query: str, found: Sequence[Found], mode: str = "extractive", notice: str = "") -> Answer:
    """The one refusal. The nearest papers are offered as related, and cited by nothing."""
    return Answer(REFUSAL, "refused", (Sentence(REFUSAL, (), "unchecked"),), query=query, related=_related(found, set()), mode=mode, notice=notice)


def answerability(found: Sequence[Found]) -> float:
    """0 to 1: how likely the best paper answers the question. Logistic regression fitted by evals/calibrate.py on the
    tuning half of the question set; refuse below one half."""
    best = found[0]
    sentence = float(best.sentence_cosines.max()) if len(best.sentence_cosines) else 0.0
    logit = _BIAS + _DENSE * best.hit.dense + _LEXICAL * best.hit.lexical + _SENTENCE * sentence
    return 1 / (1 + math.exp(-logit))


def _rooms(papers: int) -> Sequence[int]:
    """How many sentences each paper may give: few papers, more of each."""
    return {1: (3,), 2: (2, 2)}.get(papers, (2, 1, 1))


def _pick(found: Found, question: str, weights: dict[str, float], room: int) -> list[Span]:
    """The sentences that best meet the question, at most `room`, in reading order."""
    paper = found.hit.paper
    spans = sentences(paper.abstract)
    scores = relevance.scores(question, weights, paper, spans, found.sentence_cosines)
    return [spans[i] for i in sorted(np.argsort(-scores, kind="stable")[:room])]


def _paragraph(citation: Citation) -> str:
    quoted = " ".join(f"“{quote.text}” [{citation.number}]" for quote in citation.quotes)
    byline = f" ({citation.paper.byline})" if citation.paper.byline else ""
    return f"**{citation.paper.title}**{byline}: {quoted}"


def _related(found: Sequence[Found], cited: set[str]) -> tuple[Paper, ...]:
    """The nearest papers that are not cited; beside an answer only those that come near the best one."""
    least = found[0].hit.score * _RELATED if cited and found else 0.0
    return tuple(f.hit.paper for f in found if f.hit.paper.id not in cited and f.hit.score >= least)[:3]
