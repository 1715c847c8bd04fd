"""Whether the abstracts answer a question at all: is the best paper about it, and does its abstract hold that kind of detail?

Two questions, because two things go wrong: a subject that no abstract covers, and a detail that the right abstract doesn't state.
The first is a logistic regression fitted by evals/calibrate.py on the tuning half of the question set; the second is a rule of
`expected`. Knows no question and no paper.
"""

from __future__ import annotations

import math
import re
from typing import Mapping, Sequence

import numpy as np

from .lexical import all_terms
from .names import ADDRESS, NAME
from .questions import asking, is_foreign
from .retrieve import Found

FEATURES = ("sentence", "lexical", "unknown names", "unknown", "length", "named")
WEIGHTS = np.array([6.41, 8.5, -2.81, -3.85, 4.78, 3.53])
BIAS = -10.88
READ, READ_BIAS = 0.25, 0.35
"""What a unit of the reading's log odds weighs. (Of 620 answerable questions over four piles of papers 3.3 % were refused instead of
4.4 %, of 140 others 88 instead of 86 %.)"""
_SURE = 4.0
"""Log odds beyond which it counts no more: the model has learnt from questions about papers, and can be wrong on anything else."""


def answerability(question: str, found: Sequence[Found], rarity: Mapping[str, float], named: bool, read: float | None = None) -> float:
    """0 to 1: how likely the best paper is about the question; below one half it is refused. `found`: best paper first. `rarity`:
    of the question's stemmed words. `named`: whether the question says the name of that paper. `read`: the reading model's log odds
    that it answers, which tells nothing of a paper that is named: it may not state that."""
    if not found:
        return 0.0
    odds = features(question, found, rarity, named) @ WEIGHTS + BIAS
    about = 1 / (1 + math.exp(-(odds if read is None or named else odds + READ * min(max(read, -_SURE), _SURE) + READ_BIAS)))
    if named and (is_foreign(question) or "/" in question and len(question.split()) < 4):
        about = max(about, 0.6)  # words of other languages can't be in English abstracts, nor can addresses
    return about


def unknown_names(question: str, rarity: Mapping[str, float]) -> set[str]:
    """The names in what is asked that no abstract holds. (Whoever pastes more than a question may name
    anything.) None of a question in capitals, where every word looks like a name."""
    if question.isupper():
        return set()
    return {name for name in NAME.findall(asking(ADDRESS.sub(" ", question))) if len(name) > 2 and all(rarity.get(word, 0.0) >= 1.0 for word in _stems(name))}


def features(question: str, found: Sequence[Found], rarity: Mapping[str, float], named: bool) -> np.ndarray:
    """sentence: the best sentence's cosine. lexical: coverage. unknown names: how many names of the question no abstract knows, up
    to 2. unknown: share of the question's information in words that no abstract knows. length: logarithm of 1 plus the rarities' sum, for a long question is covered less by chance. named: as given."""
    best = found[0]
    sentence = float(best.sentence_cosines.max(initial=0.0))
    unknown = min(len(unknown_names(question, rarity)), 2)
    total = sum(rarity.values())
    lost = sum(weight for weight in rarity.values() if weight >= 1) / total if total else 0.0
    return np.array([sentence, best.hit.lexical, unknown, lost, math.log1p(total), float(named)])


def _stems(name: str) -> list[str]:
    return [word for word in all_terms(name) if not re.fullmatch(r"\d+|\w", word)] or [name]
