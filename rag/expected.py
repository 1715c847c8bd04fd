"""What kind of thing would answer a question (a count, a share, a duration, a name of hardware …), and whether an abstract holds one.

Pure rules over words, for telling a detail that an abstract states from one that it doesn't. They know kinds of detail, never a
paper. Silent (0) about questions of no such kind.
"""

from __future__ import annotations

import re
from typing import Sequence

from .lexical import STOP_WORDS, all_terms

_NUMBER = r"(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|fifty|hundreds?|thousands?|millions?|billions?|dozens?|half|twice|several)"
_FLAGS = re.IGNORECASE
_KINDS = tuple(
    (re.compile(asked, _FLAGS), re.compile(held, _FLAGS))
    for asked, held in (
        # a share, a score, a gain
        (
            r"\b(?:what(?:'s| is| was| are| were)?(?: the)?(?: exact| overall| final| average| best| mean)?|how (?:high|accurate|many)|how (?:big|large) (?:a |an |is the |was the )?|by how (?:much|many)|with what|and what) "
            r"(?:[\w@.-]+ ){0,3}(?:percent\w*|share|fraction|proportion|accurac\w+|accurate|scores?|(?:success|match|error|win|hit|failure) rates?|AUROC|AUC|FPR\w*|F1|mAP|AP|IoU|BLEU|ROUGE|FID|PSNR|perplexity|points|ratio|speed-?up|gain|margin)\b",
            rf"\d\s*(?:\\?%|percent|points?|p\.?p\b|×|\\times|x\b|times|-?fold)|\b0\.\d+|\d\.\d|\bby a factor\b|\bhalf\b|\btwice\b|{_NUMBER} (?:times|percent|points)|\bone[- ](?:third|quarter|half)\b",
        ),
        # how long, when
        (
            r"\bhow long\b|\bhow many (?:\w+[ -])?(?:hours|days|minutes|weeks|months|years|seconds|epochs)\b|\b(?:which|what|over which|in which|since) (?:months?|years?|dates?|period|time ?(?:span|frame))\b|\bhours\b.*\btrain|\bGPU[- ](?:hours|days)\b",
            rf"{_NUMBER}[\s-]*(?:gpu[\s-]*)?(?:hours?|days?|minutes?|weeks?|months?|years?|seconds?|epochs?|ms|h)\b|\b(?:19|20)\d\d\b|\b(?:weekly|monthly|annual\w*|yearly|daily)\b",
        ),
        # cost
        (r"\bhow (?:much|expensive)\b.{0,30}\b(?:costs?|dollars?|price|pay|paid)\b|\bwhat (?:did|does|would) \w+ cost\b|\b(?:what|which) (?:price|budget)\b|\bdollars\b", r"[$€£]\s?\d|\\\$\s?\d|\b(?:dollars?|USD|cents?|cheap\w*|cost\w*|overhead|budget)\b"),
        # hardware
        (
            r"\b(?:which|what|how many|on what|type of|kind of) (?:\w+ ){0,2}(?:gpus?|tpus?|hardware|accelerators?|machines?|devices?|cards?|chips?|cpus?|robot arms?|arms?)\b|\bA100s?\b|\bV100s?\b|\bH100s?\b",
            r"\b(?:GPUs?|TPUs?|CPUs?|A100|V100|H100|RTX|NVIDIA|TITAN|hardware|accelerators?|laptop|Franka|Jetson)\b",
        ),
        # money and people behind it
        (r"\b(?:fund(?:ed|ing|s)?|sponsor\w*|grants?|paid for|pays? for|financed by|affiliat\w*|universit(?:y|ies)|institutions?)\b", r"\b(?:fund(?:ed|ing)|sponsor\w*|grants?|affiliat\w*|universit\w+|institut\w+)\b"),
        # licence
        (r"\blicen[cs]e[sd]?\b", r"\blicen[cs]\w*|\bMIT\b|\bApache\b|\bCC[- ]BY\b"),
        # is it out, where
        (
            r"\b(?:pip|code|repo(?:sitory)?|weights|checkpoints?) (?:\w+ ){0,4}(?:available|out|released|public\w*|open|online|on github)\b|\b(?:is|are|was|were|has|have|did)\b.{0,50}\b(?:code|weights|checkpoints?)\b.{0,50}\b(?:available|out|released?|public\w*|open|online|github|shared|published)\b|"
            r"\bwhere (?:can|do|could) (?:i|we|you|one) (?:get|find|download|install)\b|\bpip install\b",
            r"https?:|github|\b(?:code|source|data ?sets?|models?|package|library|benchmark|suite)\b.{0,80}\b(?:available|releas\w+|open-?sourc\w*|public\w*|publish\w*|provide\w*)|\b(?:open-?sourc\w*|publicly|releas\w+)\b",
        ),
        # hyperparameters
        (
            r"\b(?:learning rate|batch size|weight decay|dropout|temperature|warm-?up|momentum|optimi[sz]ers?|tokeni[sz]ers?|population size|random seeds?|seeds|hyper-?parameters?|sampling steps|denoising steps|"
            r"context (?:length|window)|hidden (?:size|dimension)|number of layers|horizon|loss weights?)\b",
            r"\b(?:learning rate|batch size|weight decay|dropout|temperature|warm-?up|momentum|optimi[sz]ers?|tokeni[sz]\w+|population|seeds?|hyper-?parameters?|steps|context (?:length|window)|hidden|layers|horizon|Adam\w*|SGD)\b",
        ),
        # people in a study
        (
            r"\bhow many (?:\w+ ){0,2}(?:people|persons?|participants?|annotators?|raters?|subjects|users|volunteers|workers|humans|experts)\b",
            rf"{_NUMBER}[\w\s-]{{0,25}}\b(?:people|persons?|participants?|annotators?|raters?|subjects|users|volunteers|workers|humans|experts|respondents|IP addresses)\b",
        ),
    )
)  # fmt: skip
_COUNTED = re.compile(r"\b(?:how many|(?:the |what )?number of)\s+((?:[a-z-]+\s+){0,3}[a-z-]+)", re.IGNORECASE)
_WHICH = re.compile(r"\b(?:which|what|whose)(?:'s| is| are| was| were)?(?: the| exact| kind of| type of| sort of| name of(?: the)?)*\s+((?:[\w-]+\s+){0,1}[\w-]+)", re.IGNORECASE)
_REACH = 8
"""Words between a number and the noun that it counts."""


def held(question: str, abstract: str) -> float:
    """1: the abstract holds what the question's kind of answer needs. -1: it doesn't. 0: the question shows no such kind."""
    asked = [held for asks, held in _KINDS if asks.search(question)]
    if not asked:
        return 0.0
    return 1.0 if all(pattern.search(abstract) for pattern in asked) else -1.0


def counted(question: str, abstract: str) -> float:
    """For "how many Xs": 1 if a number stands shortly before an X in the abstract, -1 if none does. Else 0."""
    match = _COUNTED.search(question)
    if not match:
        return 0.0
    nouns = [stem for word in match[1].split() if word.lower() not in STOP_WORDS for stem in all_terms(word)][:3]
    words = re.findall(r"[A-Za-z]+|\d[\d,.]*", abstract)
    stems = [(all_terms(word) or [""])[0] for word in words]
    for i, word in enumerate(words):
        behind = stems[i + 1 : i + 1 + _REACH]
        if re.fullmatch(_NUMBER, word, re.IGNORECASE) and (set(nouns) & set(behind) or behind[:2] == ["of", "them"]):
            return 1.0
    return -1.0


def headed(question: str, stems: Sequence[str]) -> float:
    """For "which X": 1 if the abstract speaks of an X, -1 if it doesn't. Else 0."""
    match = _WHICH.search(question)
    nouns = [stem for word in match[1].split() if word.lower() not in STOP_WORDS for stem in all_terms(word)] if match else []
    if not nouns:
        return 0.0
    return 1.0 if nouns[-1] in stems or nouns[0] in stems else -1.0
