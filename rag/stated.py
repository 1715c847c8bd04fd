"""Whether the abstract of the right paper states the detail that a question asks for.

What the reading model says (see `reading`), and a logistic regression over plain signs, fitted by evals/calibrate.py on the tuning
half of the question set, which stands alone where there is no such reading. Knows no question and no paper, and never looks for
another paper.
"""

from __future__ import annotations

import math
import re
from typing import Mapping, Sequence

import numpy as np

from . import expected
from .answerable import unknown_names
from .lexical import STOP_WORDS, all_terms, terms
from .names import NAME, Mention, folded, names_of, without
from .passages import sentences
from .questions import asking, is_foreign
from .retrieve import Found
from .subjects import Subject

FEATURES = (
    "aspect", "covered", "names missing", "names held", "kind", "count", "head", "which", "how many", "how much", "why", "how", "yes or no",
    "exactly", "number", "others named", "options", "length",
)  # fmt: skip
WEIGHTS = np.array([3.61, 0.64, -1.8, 0.4, 2.0, 1.85, -0.18, -0.58, -1.49, -0.28, -1.67, 1.46, 0.96, -2.1, 1.14, 0.27, -0.51, -0.65])
BIAS = 1.39
READ, READ_BIAS, LACKS = 0.7, 2.1, 2.0
"""Share of the reading model's log odds in the whole; the weights here have the rest, and a kind of detail that the abstract lacks counts
against it once more. So 2.2 % of the answerable questions fell below one half, and 70 % of the others (1,540 questions over four piles
of papers, each judged by a model that was trained without its paper)."""

SURELY_NOT = 0.2
"""For a kind of detail that the abstract doesn't hold, or a comparison with what no abstract knows."""
_COMPARED = re.compile(r"\b(?:beats?|against|better|worse|outperform\w*|surpass\w*|faster|slower|compar\w+|differs?|than|versus|vs)\b", re.IGNORECASE)
_LONGEST = 45
"""Words; the questions that the weights were fitted on have 5 to 40."""
_NEAR, _COVERED = 0.45, 0.4
_CAPITALISED = re.compile(r"(?<=[a-z,:–-] )[A-Z][a-z]{2,}\b")
_WHICH = re.compile(r"\b(?:which|what|whose)\b(?! (?:do|does|did|is|are|was|were|can|happens|makes|if|about)\b)|\bname\b|\bwhat(?:'s| is| are) the names?\b", re.IGNORECASE)
_HOW_MUCH = re.compile(r"\bhow (?:much|long|fast|large|big|high|often|far|slow)\b", re.IGNORECASE)
_HOW = re.compile(r"\bhow\b(?! (?:many|much|long|fast|large|big|high|often|far|slow)\b)", re.IGNORECASE)
_YES_NO = re.compile(r"^\W*(?:(?:and|but|so|ok|also)\W+)?(?:is|are|was|were|do|does|did|can|has|have|any)\b|[.;:,] (?:is|are|was|were|do|does|did|can|has|have|any)\b", re.IGNORECASE)
_EXACTLY = re.compile(r"\b(?:exact(?:ly)?|precise(?:ly)?|specific(?:ally)?|actual(?:ly)?|by name|in detail)\b", re.IGNORECASE)
_NUMBER_ASKED = re.compile(
    r"\bhow (?:many|much|long|large|big|fast|high|often)\b|\b(?:number|rate|accuracy|score|size|percent\w*|share|factor|latency|speed|time|cost|values?|dimension\w*|length)\b", re.IGNORECASE
)
_NUMBER_HELD = re.compile(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million|half|twice|double)\b", re.IGNORECASE)
_OR = re.compile(r"((?:[\w'-]+ ){0,2}[\w'-]+(?:, (?:[\w'-]+ ){0,2}[\w'-]+)*),? or (?:an? |the |some |something )*((?:[\w'-]+ ){0,1}[\w'-]+)", re.IGNORECASE)


def probability(question: str, subject: Subject, rarity: Mapping[str, float], mentions: Sequence[Mention]) -> float:
    """0 to 1; below one half, the abstract of the subject's paper hardly states what is asked. `rarity`: of the question's stemmed
    words; `mentions`: the names of papers in the question. 1 for a question in another language, in capitals, or with
    more text than question: their words can't be weighed like those of a plain one."""
    if not is_plain(question):
        return 1.0
    bare, abstract = _bare(question, mentions), subject.found.hit.paper.abstract
    if _COMPARED.search(bare) and unknown_names(bare, rarity):
        return SURELY_NOT
    lacks = expected.held(bare, abstract) < 0 or expected.counted(bare, abstract) < 0
    plain = SURELY_NOT if lacks else _share(features(question, subject, rarity, mentions) @ WEIGHTS + BIAS)
    if subject.read is None:
        return plain
    return _share(READ * subject.read.stated + (1 - READ) * math.log((plain + 1e-4) / (1 - plain + 1e-4)) + READ_BIAS - LACKS * lacks)


def _share(odds: float) -> float:
    return 1 / (1 + math.exp(-odds)) if odds > -500 else 0.0


def is_plain(question: str) -> bool:
    """Whether a question can be judged by its words: it is in English, not in capitals, and no text with a question in it."""
    return not (is_foreign(question) or question.isupper() or len(question.split()) > _LONGEST)


def together(parts: Sequence[float], whole: float) -> float:
    """Of several questions about one paper: the middle between the mean of the parts and the whole, in log odds. (On 70 questions in
    parts it refused 75 % of those that the abstracts don't answer, and none of the others.)"""
    odds = [math.log((p + 1e-9) / (1 - p + 1e-9)) for p in parts]
    middle = (sum(odds) / len(odds) + math.log((whole + 1e-9) / (1 - whole + 1e-9))) / 2
    return 1 / (1 + math.exp(-middle))


def unmistakably(question: str, found: Found, rarity: Mapping[str, float]) -> bool:
    """Whether a question that doesn't say the paper's name is answered by its abstract all the same: its words are there, or a
    sentence is near to it. (Of 303 questions about other things, put to random papers, none passed; of 92 follow-ups 39 %.)"""
    row = features(question, Subject(found, question, found.sentence_cosines, True), rarity, ())
    near = row[FEATURES.index("aspect")] >= _NEAR or row[FEATURES.index("covered")] >= _COVERED
    return bool(near and not unknown_names(question, rarity) and row @ WEIGHTS + BIAS >= 0)


def features(question: str, subject: Subject, rarity: Mapping[str, float], mentions: Sequence[Mention]) -> np.ndarray:
    """aspect: the best sentence's cosine to what is asked. covered: share of the question's information that the abstract holds,
    without the title's words. names missing, names held: names in the question, but for the paper's own, that the abstract lacks or
    has (the authors' are among those it has), up to 3. kind, count, head, options: 1 if it has the kind of detail, a number before what is counted, the noun behind
    "which", one of "A or B"; -1 if it has not; 0 if no such is asked for.
    number: 1 if a number is asked for and the best sentence has one, -1 if it has none. others named: the same of "which" and of
    names of other things where the abstract speaks of such. length: log of 1 plus the rarities' sum. The rest: the form of the question."""
    paper = subject.found.hit.paper
    bare = _bare(question, mentions)
    known, whole = set(all_terms(f"{paper.title} {' '.join(paper.authors)}")), set(all_terms(paper.abstract))
    asked = {word: rarity.get(word, 1.0) for word in terms(bare) if word not in known}
    total = sum(asked.values()) or 1.0
    named = set() if question.isupper() else {n for n in (*NAME.findall(asking(bare)), *_CAPITALISED.findall(asking(bare))) if len(n) > 1 and n.lower() not in STOP_WORDS}
    text = f"{paper.title} {paper.abstract} {' '.join(paper.authors)}".lower()
    held = sum(name.lower() in text or name.lower().rstrip("s") in text for name in named)
    which = bool(_WHICH.search(bare))
    return np.array(
        [
            float(np.max(subject.aspects, initial=0.0)),
            sum(weight for word, weight in asked.items() if word in whole) / total,
            min(len(named) - held, 3),
            min(held, 3),
            expected.held(bare, paper.abstract),
            expected.counted(bare, paper.abstract),
            expected.headed(bare, whole),
            which,
            bool(re.search(r"\bhow many\b", bare, re.IGNORECASE)),
            bool(_HOW_MUCH.search(bare)),
            bool(re.search(r"\bwhy\b", bare, re.IGNORECASE)),
            bool(_HOW.search(bare)),
            bool(_YES_NO.search(bare)),
            bool(_EXACTLY.search(bare)),
            (1.0 if _NUMBER_HELD.search(_nearest(subject)) else -1.0) if _NUMBER_ASKED.search(bare) else 0.0,
            (1.0 if _names_others(subject, expected.asked_for(bare)) else -1.0) if which else 0.0,
            _options(bare, whole),
            math.log1p(sum(asked.values())),
        ],
        dtype=float,
    )


def _bare(question: str, mentions: Sequence[Mention]) -> str:
    """What is asked, without the names of papers: their words ask nothing. (In capitals every word looks like a name.)"""
    return question if question.isupper() else without(question, [m for m in mentions if m.own])


def _nearest(subject: Subject) -> str:
    spans = sentences(subject.found.hit.paper.abstract)
    return subject.found.hit.paper.abstract[slice(*spans[int(np.argmax(subject.aspects))])] if spans and len(subject.aspects) == len(spans) else ""


def _names_others(subject: Subject, nouns: Sequence[str]) -> bool:
    """Whether anything but the paper's own is named where the abstract speaks of what is asked for: in a sentence with one of these
    stems, or in the nearest one."""
    paper = subject.found.hit.paper
    spoken = [text for start, end in sentences(paper.abstract) if set(nouns) & set(all_terms(text := paper.abstract[start:end]))]
    near = " . ".join([*spoken, _nearest(subject)])
    own = {folded(paper.title)}.union(*names_of(paper))
    title = folded(paper.title)
    return any(folded(name) not in own and folded(name) not in title for name in (*NAME.findall(near), *_CAPITALISED.findall(near)))


def _options(question: str, whole: set[str]) -> int:
    """For "A, B or C?": 1 if the abstract has the last word of any, -1 if of none, 0 if there are no options."""
    match = _OR.search(question)
    if not match:
        return 0
    pieces = [*match[1].split(","), match[2]]
    heads = [stem for piece in pieces for word in piece.split()[-1:] if word.lower() not in STOP_WORDS for stem in all_terms(word)]
    if not heads:
        return 0
    return 1 if any(stem in whole for stem in heads) else -1
