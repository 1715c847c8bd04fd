"""Does this abstract say this sentence? A check by words, numbers and names, with the sentence of the abstract that backs it.

Pure, and works without any model. It finds what is not in an abstract; that something is there does not prove that the sentence
says it rightly (a swapped subject or a turned negation can pass). Never corrects a sentence.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Sequence

from .papers import Paper, Quote
from .passages import Span, sentences

SUPPORTED = 0.6
"""Share of a sentence's content words that two neighbouring sentences of the abstract must hold."""

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_NAME = re.compile(r"\b(?:[A-Z]{2,}[\w-]*|[A-Z][a-z]+[A-Z]\w*|\w*[A-Za-z]\d[\w-]*)\b")
_WORD = re.compile(r"[a-z][a-z'-]+")
_COMMON = frozenset(
    "the a an of and or to in on for with by from as at is are was were be been it its this that these those their they we our"
    " which who whose than then also can could may might will would has have had do does not no into over under between such"
    " more most less very using use used uses paper papers authors abstract work study method methods approach show shows"
    " propose proposes proposed introduce introduces present presents find finds describe describes called while when how".split()
)


class Check(NamedTuple):
    """verdict: "supported" or "unsupported"; the quotes that back it by index of paper; what was not found, for showing."""

    verdict: str
    quotes: tuple[tuple[int, Quote], ...]
    missing: tuple[str, ...] = ()


def check(sentence: str, papers: Sequence[Paper]) -> Check:
    """Against the papers that the sentence cites, taken together: every number and name must be in one of them, and the words
    in one place."""
    quotes, best = [], 0.0
    for index, paper in enumerate(papers):
        share, span = best_place(sentence, paper.abstract)
        best = max(best, share)
        if span and share > 0:
            quotes.append((index, Quote(paper.abstract[span.start : span.end], *span)))
    told = "\n".join(f"{p.title} {p.abstract} {' '.join(p.authors)} {p.venue} {p.year or ''}" for p in papers)
    known_numbers = {_plain(n) for n in _NUMBER.findall(told)}
    missing = [n for n in _NUMBER.findall(sentence) if _plain(n) not in known_numbers]
    missing += [name for name in _NAME.findall(sentence) if name.lower() not in told.lower()]
    supported = bool(papers) and best >= SUPPORTED and not missing
    return Check("supported" if supported else "unsupported", tuple(quotes), tuple(dict.fromkeys(missing)))


def best_place(sentence: str, abstract: str) -> tuple[float, Span | None]:
    """The share of the sentence's content words found in the best sentence of the abstract with its follower, and the span
    of that best sentence."""
    wanted = _content(sentence)
    spans = sentences(abstract)
    if not wanted or not spans:
        return 0.0, None
    each = [_content(abstract[start:end]) for start, end in spans]
    best = max(range(len(spans)), key=lambda i: len(wanted & each[i]))
    neighbours = [each[i] for i in (best - 1, best + 1) if 0 <= i < len(spans)]
    share = max((len(wanted & (each[best] | other)) / len(wanted) for other in (set(), *neighbours)))
    return share, spans[best]


def _content(text: str) -> set[str]:
    return {_stem(word) for word in _WORD.findall(text.lower()) if word not in _COMMON}


def _stem(word: str) -> str:
    """A crude stem, enough to meet «improves» with «improving»."""
    for ending in ("ations", "ation", "ings", "ing", "ies", "ers", "ed", "es", "er", "ly", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _plain(number: str) -> str:
    text = number.replace(",", "")
    return text.rstrip("0").rstrip(".") if "." in text else text
