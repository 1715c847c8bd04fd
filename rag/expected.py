"""What kind of thing would answer a question (a count, a share, a duration, a name of hardware …), and whether an abstract holds one.

Pure rules over words, for telling a detail that an abstract states from one that it doesn't. They know kinds of detail, never a
paper. Silent (0) about questions of no such kind.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Sequence

from .lexical import STOP_WORDS, all_terms

_NUMBER = r"(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|fifty|hundreds?|thousands?|millions?|billions?|dozens?|half|twice|several)"
_METRIC = r"accurac\w+|scores?|(?:success|match|error|win|hit|failure|agreement|acceptance) rates?|agreement|AUROC|AUC|AUPRC|FVD|MAE|RMSE|MSE|MAUVE|ECE|FPR\w*|F1|mAP|AP|m?IoU|BLEU|ROUGE\S*|FID|PSNR|SSIM|LPIPS|perplexity|pass@\d+|Elo|kappa"
_MADE = r"(?:available|out|released?|releasing|public\w*|open\w*|online|shared?|published)"
_FLAGS = re.IGNORECASE
_KINDS = tuple(
    (re.compile(asked, _FLAGS), re.compile(held, _FLAGS))
    for asked, held in (
        # a share, a score, a gain
        (
            r"(?<!on )(?<!in )(?<!by )(?<!under )\b(?:what(?! (?:do|does|did|about|if|kind|makes|happens)\b)(?:'s| is| was| are| were)?(?: the)?(?: exact| overall| final| average| best| mean)?|how (?:high|accurate|many|much)|how (?:big|large) (?:a |an |is the |was the )?|by how (?:much|many)|by (?:what|which)|with what|and what) "
            rf"(?:[\w@.-]+ ){{0,3}}(?:percent\w*|share|fraction|proportion|accurate|{_METRIC}|points|ratio|factor|speed-?up|gain|margin)\b(?! (?:function|metric|matching|model))"
            rf"|(?:^|[,;:] ?)\W*(?:the )?(?:\w+ )?(?:{_METRIC}) (?:of|on|for|with)\b|\bwhat (?!(?:do|does|did)\b)(?:[\w@.-]+ ){{1,5}}(?:do|does|did) .{{1,60}}\b(?:reach|get|gets|obtain|achieve|attain|yield)\b|\bhow (?:much )?(?:slower|faster|better|worse|higher|lower|larger|smaller|quicker|more \w+)\b",
            rf"\d\s*(?:\\?%|percent|points?|p\.?p\b|×|\\times|x\b|times|-?fold)|{_NUMBER}[- ]?fold\b|\borders? of magnitude\b|\bO\(|\\(?:wide)?(?:tilde|hat)|\\(?:Theta|Omega|mathcal|log|sqrt)|\b0\.\d+|\d\.\d|\bby a factor\b|\bhalf\b|\btwice\b|{_NUMBER} (?:times|percent|points)|\bone[- ](?:third|quarter|half)\b",
        ),
        # how fast
        (
            r"\b(?:latency|wall[- ]?clock|run[- ]?times?|(?:inference|training|decoding|sampling|running) (?:time|speed)|throughput|(?:frames|steps|samples|images|tokens) per second)\b",
            rf"{_NUMBER}[\s-]*(?:hours?|days?|minutes?|weeks?|seconds?|epochs?|ms|h|fps|hz)\b|\d\s*(?:\\?%|×|\\times\b|x\b|times\b|-?fold\b)|{_NUMBER}[- ]?fold\b|\borders? of magnitude\b",
        ),
        # how long, when
        (
            r"\bhow long\b(?! (?:are|is|were|was|can|should) (?:the )?(?:text|context|input|sequence|document|prompt|output|answer|horizon)\w*)|\bhow many (?:\w+[ -])?(?:hours|days|minutes|weeks|months|years|seconds|epochs)\b|\b(?:which|what|over which|in which|since) (?:months?|years?|dates?|period|time ?(?:span|frame))\b|\bhours\b.*\btrain|\bGPU[- ](?:hours|days)\b",
            rf"{_NUMBER}[\s-]*(?:gpu[\s-]*)?(?:hours?|days?|minutes?|weeks?|months?|years?|seconds?|epochs?|ms|h|fps|hz)\b|\b(?:19|20)\d\d\b|\b(?:weekly|monthly|annual\w*|yearly|daily)\b",
        ),
        # cost
        (r"\bhow (?:much|expensive)\b.{0,30}\b(?:costs?|dollars?|price|pay|paid|money|fees?)\b|\b(?:API|cloud|compute) (?:fees?|costs?|bills?)\b|\bcost (?:in|of)\b.{0,20}\b(?:dollars?|run|training)\b|\bwhat (?:did|does|would) \w+ cost\b|\b(?:what|which) (?:price|budget)\b|\bdollars\b", r"[$€£]\s?\d|\\\$\s?\d|\b(?:dollars?|USD|cents?|cheap\w*|cost\w*|overhead|budget)\b"),
        # hardware
        (
            r"\b(?:which|what|how many|on what|type of|kind of) (?:\w+ ){0,2}(?:gpus?|tpus?|hardware|accelerators?|machines?|devices?|graphics cards?|chips?|cpus?|robot arms?|arms?)\b|\bA100s?\b|\bV100s?\b|\bH100s?\b",
            r"\b(?:GPUs?|TPUs?|CPUs?|A100|V100|H100|RTX|NVIDIA|TITAN|hardware|accelerators?|laptop|Franka|Jetson)\b",
        ),
        # money and people behind it
        (r"\b(?:fund(?:ed|ing|s)?|sponsor\w*|grants?|paid for|pays? for|financed by|affiliat\w*|universit(?:y|ies)|institut(?:es?|ions?))\b|\b(?:which|what|whose) (?:research )?(?:labs?|laborator(?:y|ies)|compan(?:y|ies)|groups?|teams?|organi[sz]ations?)\b|\bwho (?:stands|is) behind\b.*\b(?:lab|company|group)\b|\bwhere (?:are|do) the authors\b|\bauthors (?:come from|based|work)\b", r"\b(?:fund(?:ed|ing)|sponsor\w*|grants?|affiliat\w*|universit\w+|institut(?:e|es|ions?)|laborator\w+)\b"),
        # licence
        (r"\blicen[cs]e[sd]?\b", r"\blicen[cs]\w*|\bMIT\b|\bApache\b|\bCC[- ]BY\b"),
        # is the code out, where
        (
            rf"\b(?:ha(?:s|ve)|with|provides?|shares?|releases?) (?:any |the |its |their |an? )?(?:public |open |source )*(?:code|repo(?:sitory)?|implementation)\b\W*(?:$|\(|\?)|\b(?:pip|code|repo(?:sitory|s)?|weights|checkpoints?|source|implementation)\b[\w' -]* {_MADE}\b|\b(?:any|got|is there|are there|(?:is|are|was|were|has|have|did)(?: \w+){{0,3}} (?:code|source|weights|repo)) .{{0,30}}\b(?:code\b(?! (?:model|generation|review|snippet|completion))|repo(?:sitory|s)?|github|weights|checkpoints?)|\b(?:on|at) github\b"
            r"|\bwhere\b.{0,40}\b(?:code|repo(?:sitory)?|implementation|weights|checkpoints?)\b|\bpip install\b|\b(?:link|url) (?:to|for|of) (?:the |its |their )?(?:code|repo)",
            rf"https?:|github|\b(?:code\w*|source|implementation|library|package|repository|suite|weights|checkpoints|models)\b.{{0,80}}\b{_MADE}\b|\bopen-?sourc\w*|\b{_MADE}\b.{{0,40}}\bcode\w*\b",
        ),
        # where to get it
        (
            r"\bwhere (?:can|could) (?:i|we|you|one) (?:get|find|download|install)\b|\bwhere do (?:i|we|you) (?:download|install)\b",
            r"https?:|github|\b(?:code|source|data ?sets?|models?|package|library|benchmark|suite)\b.{0,80}\b(?:available|releas\w+|open-?sourc\w*|public\w*|publish\w*|provide\w*)|\b(?:open-?sourc\w*|publicly|releas\w+)\b",
        ),
        # what the authors themselves find wanting, and what comes next
        (
            r"\b(?:limitations?|weaknesses|drawbacks|shortcomings|failure cases)\b(?=.{0,40}\b(?:admit|acknowledge|concede|own up|mention|list|report|discuss|note)\w*)|\b(?:the authors['’]?|own) (?:limitations?|weaknesses|drawbacks|shortcomings)\b|\bfuture work\b|\b(?:plan|planned|next steps?) (?:next|to do next|for the future)\b|\bleft for (?:the )?future\b",
            r"\b(?:our|we|this (?:work|paper|method|approach))\b[^.]{0,60}\b(?:limit\w+|drawback|shortcoming|weakness)|\blimitations?\b|\bfuture (?:work|research|directions?|studies|efforts?|improvements?)\b|\b(?:however|still|yet|nevertheless|nonetheless|but)\b[^.]{0,120}\b(?:remain\w*|room|far from|struggle\w*|fail\w*|limited|challeng\w*|worse|lag\w*|short of)\b",
        ),
        # how large a model
        (
            r"\b(?:how (?:many|large|big)|what(?:'s| is| are)?(?: the)? (?:number of|size))\b.{0,30}\b(?:parameters|(?:model|network) size|size of the (?:model|network)|billion)\b|\bdimension\w*\b.{0,20}\b(?:of|is|was|does|do)\b|\b(?:what|which|exact|the) values? (?:of|for|did|was|were|is)\b|^\W*values? of\b",
            r"\d[\d.,]*\s?(?:[BM]\b|billion|million|[^.]{0,40}parameters|dimension\w*|-?dim\b|-?d\b)|\b(?:parameters|dimension\w*)\b.{0,20}\d|\bO\(|\\(?:tilde|Theta|Omega|mathcal)|[=≈]\s?\d|\b(?:low|high|one|two|three)-dimensional\b",
        ),
        # hyperparameters
        (
            r"\b(?:learning rate|batch size|weight decay|dropout|temperature|warm-?up(?! (?:stage|phase|step)\b)|momentum|optimi[sz]ers?|tokeni[sz]ers?|population size|random seeds?|(?:which|what|how many|number of) seeds|hyper-?parameters?|sampling steps|denoising steps|"
            r"context (?:length|window)|hidden (?:size|dimension)|number of layers|horizon|loss weights?)\b",
            r"\b(?:learning rate|batch size|weight decay|dropout|temperature|warm-?up|momentum|optimi[sz]ers?|tokeni[sz]\w+|population|seeds?|hyper-?parameters?|steps|context (?:length|window)|hidden|layers|horizon|Adam\w*|SGD)\b",
        ),
        # people in a study
        (
            r"\bhow many (?:\w+ ){0,2}(?:people|persons?|participants?|annotators?|raters?|subjects|users|volunteers|workers|humans|experts)\b",
            rf"{_NUMBER}[\w\s-]{{0,25}}\b(?:people|persons?|participants?|patients|individuals|annotators?|raters?|subjects?|users|volunteers|workers|humans|experts|respondents|students|IP addresses)\b",
        ),
    )
)  # fmt: skip
_COUNTED = re.compile(r"(?:\bhow many|\bwhat(?:'s| is| was| are)? (?:the )?(?:total |exact )?number of|^\W*(?:the )?(?:total |exact )?number of|\band (?:the )?number of)\s+(?:more |other |different |distinct |extra |additional )?((?:[\w-]+\s+){0,3}[\w-]+)", re.IGNORECASE)
_WHICH = re.compile(r"\b(?:which|what|whose)(?:'s| is| are| was| were)?(?: the| exact| kind of| type of| sort of| name of(?: the)?)*\s+((?:[\w-]+\s+){0,1}[\w-]+)", re.IGNORECASE)
_BY_NAME = re.compile(r"\b(?:FID|FVD|MAUVE|MAE|RMSE|ECE|FPR95|FPR|BLEU|ROUGE|PSNR|SSIM|LPIPS|perplexity|ablat(?=\w))(?:(?=ion|ed|ing)|(?!\w))", _FLAGS)
"""What is stated only where it is named."""
_FORMULA = re.compile(r"\$[^$]{1,80}\$|\b[OΘΩ]\([^)]{1,30}\)")
"""What may count as a number."""
_MODELS = {"LLM", "LLMs", "VLMs", "MLLMs", "GNNs", "networks", "classifiers"}
"""What abstracts count when they count models."""
_PEOPLE = {"subject", "particip", "patient", "individu", "annot", "rater", "respond", "user", "worker", "volunt", "student", "expert", "person", "peopl", "children", "women", "men"}
"""What abstracts call people whom they count, stemmed."""
_REACH = 8
"""Words between a number and the noun that it counts."""


def held(question: str, abstract: str) -> float:
    """1: the abstract holds what the question's kind of answer needs. -1: it doesn't. 0: the question shows no such kind."""
    by_name, asked = _asked(question)
    if not all(_names(abstract, name) for name in by_name):
        return -1.0
    if not asked:
        return 0.0
    return 1.0 if all(pattern.search(abstract) for pattern in asked) else -1.0


@lru_cache(maxsize=1000)
def _asked(question: str) -> tuple[list[str], list[re.Pattern[str]]]:
    """What the question asks for by name, and what holds each other kind of detail that it asks for. (Each sentence is held against it.)"""
    return _BY_NAME.findall(question), [held for asks, held in _KINDS if asks.search(question)]


def asks_detail(words: str) -> bool:
    """Whether a few words ask for a detail that any paper may have: its code, its cost, its hardware."""
    return bool(re.fullmatch(r"\W*(?:and |the |any |is there |its? )*(?:code|repo(?:sitory)?|github|link|data ?sets?|baselines?|hardware|gpus?|cost|runtime|speed|accuracy|results?|metrics?|limitations?|weights|licen[cs]e|parameters|authors?|year|venue)\W*", words, _FLAGS))


def _names(abstract: str, name: str) -> bool:
    ending = "" if name.lower() == "ablat" else r"s?(?!\w)"
    return bool(re.search(rf"\b{re.escape(name)}{ending}", abstract, _FLAGS))


def counted(question: str, abstract: str) -> float:
    """For "how many Xs": 1 if a number stands shortly before an X in the abstract, -1 if none does. Else 0."""
    match = _counts(question)
    if not match:
        return 0.0
    nouns = [stem for word in match[1].split() if word.lower() not in STOP_WORDS for stem in all_terms(word)][:3]
    initials = "".join(word[0] for word in match[1].split() if word.lower() not in STOP_WORDS)[:2].lower()  # language models are LMs
    words = re.findall(r"[A-Za-z]+|\d[\d,.]*", _FORMULA.sub(" 1 ", abstract))
    stems = [(all_terms(word) or [""])[0] for word in words]
    for i, word in enumerate(words):
        behind = stems[i + 1 : i + 1 + _REACH]
        behind += [stem for stem in ("model",) if _MODELS & set(words[i + 1 : i + 1 + _REACH])]
        behind += [stem for stem in ("peopl", "person", "human") if _PEOPLE & set(behind)]
        short = any(len(initials) > 1 and w.lower().rstrip("s").endswith(initials) and w[:2].isupper() for w in words[i + 1 : i + 1 + _REACH])
        if re.fullmatch(_NUMBER, word, re.IGNORECASE) and (short or set(nouns) & set(behind) or behind[:2] == ["of", "them"]):
            return 1.0
    return -1.0


@lru_cache(maxsize=1000)
def _counts(question: str) -> re.Match[str] | None:
    return _COUNTED.search(question)


def asked_for(question: str) -> list[str]:
    """The stems of the one or two words behind "which" or "what"."""
    match = _WHICH.search(question)
    return [stem for word in match[1].split() if word.lower() not in STOP_WORDS for stem in all_terms(word)] if match else []


def headed(question: str, stems: Sequence[str]) -> float:
    """For "which X": 1 if the abstract speaks of an X, -1 if it doesn't. Else 0."""
    nouns = asked_for(question)
    if not nouns:
        return 0.0
    return 1.0 if nouns[-1] in stems or nouns[0] in stems else -1.0
