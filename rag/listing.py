"""Which papers meet a criterion: all of the library's, with their number, each with the sentence that shows why.

Looks at every paper, never at the first few. A literal criterion is decided exactly; a topical one by a logistic regression over
a few plain features, fitted by evals/calibrate.py on the tuning half of the question set: sure papers are counted, doubtful ones
are kept apart. No feature knows a question, a paper or a subject.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Iterable, NamedTuple, Sequence

import numpy as np

from .criteria import Criterion
from .matching import gives, mention, recorded
from .extractive import refusal
from .papers import Answer, Citation, Paper, Quote, Sentence
from .passages import Span, sentences
from .retrieve import Found

FEATURES = ("lexical", "sentence", "below best", "contribution")
WEIGHTS = np.array([4.23, 6.46, 12.03, 1.69])
BIAS = -3.84
SURE = 0.27
"""Papers from this probability on are counted: where F1 was highest on the tuning half, each question judged by weights that were
fitted without it."""
DOUBTFUL = 0.13
_STRANGE, _FITS = 0.2, 0.4
_MOST_DOUBTFUL = 20

_VERB = (
    r"(?:introduc|present|propos|releas|develop|construct|provid|buil[dt]|collect|creat|open-?sourc|contribut|offer|publish|curat|compil|establish|design|"
    r"formulat|deriv|defin|assembl|annotat)\w*"
)
_ASKS_CONTRIBUTION = re.compile(rf"\b(?:{_VERB}|new|novel|own|come up|ship|make|prove|theor\w*)\b", re.IGNORECASE)
_WE = r"\b(?:we|this (?:paper|work|study|article)|authors?|here|to (?:this|that) end|our)\b.{0,60}\b" + _VERB + r"\b(?:\W+[\w’'-]+){0,10}?\W+"


def _contribution(asked: str, given: str, verb: bool = True) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    noun = rf"\b(?:{given})\b"
    return tuple(re.compile(p, re.IGNORECASE) for p in (rf"\b(?:{asked})\b", _WE + noun if verb else noun, noun))


_CONTRIBUTIONS = (
    _contribution(r"benchmarks?|benchmarking|test (?:set|suite|bed)s?", r"benchmark\w*|test[- ]?(?:bed|suite|set)s?|evaluation suite|leaderboard|challenge set"),
    _contribution(r"data ?-?sets?|corpus|corpora", r"data ?-?sets?|corpus|corpora|collection of|database"),
    _contribution(r"metrics?|measures?", r"metrics?|measures?|scores?|criterion|indicators?"),
    _contribution(r"librar(?:y|ies)|packages?|toolkits?|software|tools?", r"librar(?:y|ies)|packages?|toolkits?|toolbox|software|codebase|suite|platform|simulators?|python"),
    _contribution(r"surveys?|reviews?|overviews?", r"survey|review|overview|taxonomy"),
    _contribution(r"prove|proofs?|theorems?|theory|theoretical|guarantees?|bounds?", r"prove[sdn]?|proofs?|theorems?|theoretical(?:ly)?|guarantee\w*|bounds?|lemma", verb=False),
    _contribution(r"code|github", r"github|code (?:is|are|will be)|open[- ]sourced?", verb=False),
)
"""What papers contribute: how it is asked for, and how abstracts say it (one need not "introduce" a proof)."""


class Match(NamedTuple):
    """A paper with how surely it meets the criterion, 0 to 1, and the sentence that shows it (none if its record or title does)."""

    paper: Paper
    sure: float
    span: Span | None


def exact(criterion: Criterion, papers: Iterable[Paper]) -> list[Match]:
    """The papers that meet a literal criterion, in the given order."""
    if criterion.kind == "mention":
        return [Match(paper, 1.0, span) for paper in papers for meets, span in [mention(criterion, paper)] if meets and recorded(criterion, paper)]
    return [Match(paper, 1.0, None) for paper in papers if recorded(criterion, paper)]


def topical(question: str, criterion: Criterion, found: Sequence[Found], about_it: float = 1.0) -> list[Match]:
    """Those of `found` (hits for the criterion's text, best first) that may be about it, surest first. Where nothing but a kind
    of contribution is asked for, a paper that doesn't say that it contributes one is doubtful at most. So are all where none fits well and `about_it`, how likely
    the best one is about the criterion at all, is low: some paper is always the nearest."""
    rows = features(question, found)
    sure = 1 / (1 + np.exp(-(rows @ WEIGHTS + BIAS))) if len(rows) else np.empty(0)
    if criterion.bare and rows[:, -1].any():
        sure = np.where(rows[:, -1] > 0, np.maximum(sure, SURE), np.minimum(sure, SURE - 0.01))
    if about_it < _STRANGE and sure.max(initial=0.0) < _FITS:
        sure = np.minimum(sure, SURE - 0.01)
    matches = [Match(f.hit.paper, float(p), _nearest(f)) for f, p in zip(found, sure) if p >= DOUBTFUL and recorded(criterion, f.hit.paper) and gives(criterion, f.hit.paper)]
    return sorted(matches, key=lambda m: -m.sure)


def promising(rows: np.ndarray) -> np.ndarray:
    """Which of the surveyed papers could be doubtful at least, whatever they contribute; see `retrieve.Promising`."""
    return rows[:, 1:] @ WEIGHTS[:-1] + 1.5 * WEIGHTS[-1] + BIAS >= math.log(DOUBTFUL / (1 - DOUBTFUL))


def features(question: str, found: Sequence[Found]) -> np.ndarray:
    """Shape (len(found), len(FEATURES)). lexical: as in the Hit. sentence: cosine of the best sentence. below best: the score less
    the best paper's. contribution: whether the paper says that it contributes the kind of thing that is asked for (1, or 1.5 if
    its title names it too)."""
    best = found[0].hit.score if found else 0.0
    rows = [(f.hit.lexical, float(f.sentence_cosines.max(initial=0.0)), f.hit.score - best, contribution(question, f.hit.paper)) for f in found]
    return np.array(rows, dtype=float).reshape(len(found), len(FEATURES))


def contribution(question: str, paper: Paper) -> float:
    kinds = [kind for kind in _CONTRIBUTIONS if kind[0].search(question)] if _ASKS_CONTRIBUTION.search(question) else []
    given = [noun for _, says, noun in kinds if any(says.search(paper.abstract, a, b) for a, b in sentences(paper.abstract))]
    return (1.5 if any(noun.search(paper.title) for noun in given) else 1.0) if given else 0.0


def answer(query: str, criterion: Criterion, matches: Sequence[Match], total: int, near: Sequence[Found]) -> Answer:
    """The list as an Answer. `matches`: as `exact` or `topical` give them. `total`: how many papers were looked at. `near`: what to
    offer when nothing matches."""
    sure = [m for m in matches if m.sure >= SURE]
    doubtful = [m for m in matches if m.sure < SURE][:_MOST_DOUBTFUL]
    citations = tuple(Citation(n, m.paper, _quotes(m)) for n, m in enumerate(sure, 1))
    apart = tuple(Citation(n, m.paper, _quotes(m)) for n, m in enumerate(doubtful, len(sure) + 1))
    if not sure:
        told = f"None of the {total:,} {'papers' if criterion.kind == 'record' else 'abstracts'} {_verb(criterion, 1)}."
        return replace(refusal(query, near), notice=told, count=0, form="list", doubtful=apart)
    head = f"**{len(sure):,} of {total:,} papers** {_verb(criterion, len(sure))}:"
    if apart:
        head = f"{head[:-1]} ({len(apart)} more may; they are not counted):"
    why = "the title says so" if criterion.kind == "mention" and not criterion.negated else f"its record says that it is {criterion.shown}" if criterion.kind == "record" else "it doesn't"
    return Answer(
        text="\n".join([head, "", *(_line(c, why) for c in citations)]),
        status="answered",
        sentences=tuple(Sentence(c.quotes[0].text if c.quotes else f"{c.paper.title}: {why}", (c.number,), "supported") for c in citations),
        citations=citations,
        count=len(sure),
        query=query,
        form="list",
        doubtful=apart,
    )


def _verb(criterion: Criterion, count: int) -> str:
    one = count == 1
    if criterion.kind == "mention":
        if criterion.feature:
            return f"{'gives' if one else 'give'} {criterion.shown}"
        return f"{('does not mention' if one else 'do not mention') if criterion.negated else ('mentions' if one else 'mention')} {criterion.shown}"
    if criterion.kind == "record":
        return f"{'is' if one else 'are'} {criterion.shown}"
    return f"{'seems' if one else 'seem'} to match *{criterion.shown}*"


def _line(citation: Citation, why: str) -> str:
    quote = f": “{citation.quotes[0].text}”" if citation.quotes else f": {why}"
    byline = f" ({citation.paper.byline})" if citation.paper.byline else ""
    return f"- **{citation.paper.title}**{byline}{quote} [{citation.number}]"


def _quotes(match: Match) -> tuple[Quote, ...]:
    return (Quote(match.paper.abstract[match.span.start : match.span.end], *match.span),) if match.span else ()


def _nearest(found: Found) -> Span | None:
    spans = sentences(found.hit.paper.abstract)
    return spans[int(np.argmax(found.sentence_cosines))] if len(spans) == len(found.sentence_cosines) and spans else None
