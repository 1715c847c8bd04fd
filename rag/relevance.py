"""How well each sentence of a paper meets a question: a few plain features and one weight for each.

Pure, but for the stemmer. The weights were fitted by evals/calibrate.py on the tuning half of the question set; no feature knows
a question, a paper or a subject. Judges sentences of one paper against each other, never whether the paper is the right one.
"""

from __future__ import annotations

import re
from typing import Mapping, Sequence

import numpy as np

from . import expected
from .lexical import all_terms
from .papers import Paper
from .passages import Span

FEATURES = (
    "cosine", "aspect", "coverage", "neighbour", "number", "kind", "counted", "result", "limit", "no limit", "first", "last", "place", "link", "length",
)  # fmt: skip
WEIGHTS = np.array([-1.76, 7.36, 3.81, 0.82, 0.49, 3.44, 4.83, 1.06, 2.11, -0.34, -0.75, -0.7, 2.54, -1.61, 0.87])

_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|large|big|long|often|fast|far|few|small|high|low)\b"
    r"|\b(?:number|size|percent\w*|accuracy|score|rate|factor|speed-?up|times|faster|fraction|count|ratio)\b",
    re.IGNORECASE,
)
_HAS_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|billion|half|twice|double|several|dozens?)\b",
    re.IGNORECASE,
)
_ASKS_LINK = re.compile(r"\b(?:code|github|link|url|web ?site|web|page|available|released?|download|install|open.?source[d]?|where)\b", re.IGNORECASE)
_HAS_LINK = re.compile(r"https?:|www\.|github", re.IGNORECASE)
_ASKS_RESULT = re.compile(
    r"\b(?:results?|perform\w*|how (?:well|good|much)|better|beat\w*|outperform\w*|improv\w*|gain\w*|achiev\w*|find|found|conclu\w*|show|score|accura\w*|compare[sd]?|win\w*|state of the art)\b",
    re.IGNORECASE,
)
_HAS_RESULT = re.compile(
    r"\b(?:outperform\w*|achiev\w*|state-of-the-art|improv\w*|surpass\w*|results?|experiments?|demonstrat\w*|show(?:s|ed|n)?|find|found|reveal\w*|observe\w*|gain\w*|better|superior)\b",
    re.IGNORECASE,
)
_ASKS_LIMIT = re.compile(
    r"\b(?:limit\w*|problem\w*|wrong|challeng\w*|fail\w*|shortcoming\w*|weakness\w*|difficult\w*|hard|gap|criticis\w*|fault|drawback\w*|issue|lack\w*|bad|missing|overlook\w*|suffer\w*|downside|trouble)\b",
    re.IGNORECASE,
)
_HAS_LIMIT = re.compile(
    r"\b(?:however|limit\w*|challeng\w*|fail\w*|lack\w*|suffer\w*|problem|difficult\w*|costly|expensive|weakness\w*|shortcoming\w*|struggle\w*|poor\w*|neglect\w*|ignor\w*|overlook\w*|despite|unfortunately|prone|remain\w*)\b",
    re.IGNORECASE,
)


_PRESENTS = re.compile(
    r"\b(?:we|this (?:paper|work|study|article)|the authors|our)\b.{0,60}\b(?:propos|introduc|present|develop|design|construct|releas|provid|buil[dt]|creat|formulat|study|studies|investigat|analy[sz]|describ|revisit|address|tackl|show)\w*",
    re.IGNORECASE,
)


_INTRODUCES = re.compile(r"\b(?:we|this (?:paper|work|study|article)|the authors)\b.{0,40}\b(?:propos|introduc|present|develop|design|releas|construct|creat|formulat)\w*", re.IGNORECASE)


def features(question: str, weights: Mapping[str, float], paper: Paper, spans: Sequence[Span], cosines: np.ndarray, aspects: np.ndarray) -> np.ndarray:
    """Shape (len(spans), len(FEATURES)). `weights`: the question's stemmed words and how much each tells. `cosines`, `aspects`:
    of each sentence to the question, and to the question without the names and the title of the paper.

    coverage: share of the question's information in the sentence, without the words of the paper's title, which tell papers
    apart and not sentences. neighbour: the same of the better neighbour. number: a number is asked for and there is one. kind,
    counted: it holds the kind of thing that is asked for (see `expected`). result, limit: a result, or a limitation, is asked
    for and its words are there; no limit: the words of a limitation that nobody asked for. first, last, place: where it stands
    (0 to 1). link: it holds a link that nobody asked for. length: in 200 characters, up to 2.
    """
    question = question.replace(f"({paper.title})", "")  # which a follow-up carries, and which asks nothing
    of_title = set(all_terms(paper.title))
    told = {word: weight for word, weight in weights.items() if word not in of_title}
    total = sum(told.values()) or 1.0
    texts = [paper.abstract[start:end] for start, end in spans]
    held = [set(all_terms(text)) for text in texts]
    coverage = [sum(weight for word, weight in told.items() if word in words) / total for words in held]
    asks_number, asks_link = bool(_ASKS_NUMBER.search(question)), bool(_ASKS_LINK.search(question))
    asks_result, asks_limit = bool(_ASKS_RESULT.search(question)), bool(_ASKS_LIMIT.search(question))
    last = len(texts) - 1
    rows = [
        (
            float(cosines[i]),
            float(aspects[i]),
            coverage[i],
            max((coverage[j] for j in (i - 1, i + 1) if 0 <= j <= last), default=0.0),
            asks_number and bool(_HAS_NUMBER.search(text)),
            max(expected.held(question, text), 0.0),
            max(expected.counted(question, text), 0.0),
            asks_result and bool(_HAS_RESULT.search(text)),
            asks_limit and bool(_HAS_LIMIT.search(text)),
            not asks_limit and bool(_HAS_LIMIT.search(text)),
            i == 0,
            i == last,
            i / max(last, 1),
            not asks_link and bool(_HAS_LINK.search(text)),
            min(len(text) / 200, 2.0),
        )
        for i, text in enumerate(texts)
    ]
    return np.array(rows, dtype=float).reshape(len(spans), len(FEATURES))


def presents(text: str) -> bool:
    """Whether a sentence says what its paper is about: "we propose", "this work introduces"."""
    return bool(_PRESENTS.search(text))


def introduces(text: str) -> bool:
    """Whether it says so of something new, rather than of what was found or looked at."""
    return bool(_INTRODUCES.search(text))


def scores(question: str, weights: Mapping[str, float], paper: Paper, spans: Sequence[Span], cosines: np.ndarray, aspects: np.ndarray) -> np.ndarray:
    """Higher is better; comparable within one paper only. Shape (len(spans),)."""
    return features(question, weights, paper, spans, cosines, aspects) @ WEIGHTS
