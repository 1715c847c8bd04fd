"""How well each sentence of a paper meets a question: a few plain features and one weight for each.

Pure, but for the stemmer. The weights were fitted by evals/calibrate.py on the tuning half of the question set; no feature knows
a question, a paper or a subject. Judges sentences of one paper against each other, never whether the paper is the right one.
"""

from __future__ import annotations

import re
from typing import Mapping, Sequence

import numpy as np

from .lexical import all_terms
from .papers import Paper
from .passages import Span

FEATURES = ("cosine", "coverage", "neighbour", "number", "first", "link", "length")
WEIGHTS = np.array([3.32, 5.36, 1.17, 1.48, -1.85, -3.01, 0.92])

_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|large|big|long|often|fast|far|few|small|high|low)\b"
    r"|\b(?:number|size|percent\w*|accuracy|score|rate|factor|speed-?up|times|faster|fraction|count|ratio)\b",
    re.IGNORECASE,
)
_HAS_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|billion|half|twice|double|several|dozens?)\b",
    re.IGNORECASE,
)
_ASKS_LINK = re.compile(r"\b(?:code|github|link|url|web ?site|web|page|available|released?|download|open.?source[d]?|where)\b", re.IGNORECASE)
_HAS_LINK = re.compile(r"https?:|www\.|github", re.IGNORECASE)


def features(question: str, weights: Mapping[str, float], paper: Paper, spans: Sequence[Span], cosines: np.ndarray) -> np.ndarray:
    """Shape (len(spans), len(FEATURES)). `weights`: the question's stemmed words and how much each tells.

    cosine: of the sentence to the question. coverage: share of the question's information in the sentence, without the words of
    the paper's title, which tell papers apart and not sentences. neighbour: the same of the better neighbour. number: a number
    is asked for and there is one. first: it is the first sentence, mostly background. link: it holds a link that nobody asked
    for. length: in 200 characters, up to 2.
    """
    of_title = set(all_terms(paper.title))
    told = {word: weight for word, weight in weights.items() if word not in of_title}
    total = sum(told.values()) or 1.0
    texts = [paper.abstract[start:end] for start, end in spans]
    held = [set(all_terms(text)) for text in texts]
    coverage = [sum(weight for word, weight in told.items() if word in words) / total for words in held]
    asks_number, asks_link = bool(_ASKS_NUMBER.search(question)), bool(_ASKS_LINK.search(question))
    rows = [
        (
            float(cosines[i]),
            coverage[i],
            max((coverage[j] for j in (i - 1, i + 1) if 0 <= j < len(spans)), default=0.0),
            asks_number and bool(_HAS_NUMBER.search(text)),
            i == 0,
            not asks_link and bool(_HAS_LINK.search(text)),
            min(len(text) / 200, 2.0),
        )
        for i, text in enumerate(texts)
    ]
    return np.array(rows, dtype=float).reshape(len(spans), len(FEATURES))


def scores(question: str, weights: Mapping[str, float], paper: Paper, spans: Sequence[Span], cosines: np.ndarray) -> np.ndarray:
    """Higher is better; comparable within one paper only. Shape (len(spans),)."""
    return features(question, weights, paper, spans, cosines) @ WEIGHTS
