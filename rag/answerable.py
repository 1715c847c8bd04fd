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

from . import expected
from .lexical import all_terms
from .names import NAME
from .papers import Paper
from .questions import is_foreign
from .retrieve import Found

FEATURES = ("sentence", "lexical", "unknown names", "length", "named")
WEIGHTS = np.array([5.91, 11.13, -2.2, 4.5, 3.36])
BIAS = -12.68
UNSTATED = 0.45
"""What is left of a probability if the abstract doesn't hold what is asked for: less than one half, so it is refused."""


def answerability(question: str, found: Sequence[Found], rarity: Mapping[str, float], named: bool) -> float:
    """0 to 1: how likely the best paper is about the question; below one half it is refused. `found`: best paper first. `rarity`:
    of the question's stemmed words. `named`: whether the question says the name of that paper."""
    if not found:
        return 0.0
    about = 1 / (1 + math.exp(-(features(question, found, rarity, named) @ WEIGHTS + BIAS)))
    if named and is_foreign(question):
        about = max(about, 0.6)  # none of its words can be in English abstracts, but its names and numbers are
    return about


def unstated(question: str, paper: Paper) -> bool:
    """Whether the question asks for a kind of detail that the paper's abstract doesn't hold."""
    return expected.held(question, paper.abstract) < 0 or expected.counted(question, paper.abstract) < 0


def features(question: str, found: Sequence[Found], rarity: Mapping[str, float], named: bool) -> np.ndarray:
    """sentence: the best sentence's cosine. lexical: coverage. unknown names: how many names of the question no abstract knows, up
    to 2. length: logarithm of 1 plus the rarities' sum, for a long question is covered less by chance. named: as given."""
    best = found[0]
    sentence = float(best.sentence_cosines.max(initial=0.0))
    unknown = {name.lower() for name in NAME.findall(question) if len(name) > 2 and all(rarity.get(w, 0.0) >= 1.0 for w in _stems(name))}
    return np.array([sentence, best.hit.lexical, min(len(unknown), 2), math.log1p(sum(rarity.values())), float(named)])


def _stems(name: str) -> list[str]:
    return [word for word in all_terms(name) if not re.fullmatch(r"\d+|\w", word)] or [name]
