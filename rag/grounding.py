"""Does this abstract say this sentence? A check by words, numbers, names and direction, with the sentences that back it.

Pure, and works without any model. It finds what is not in an abstract; that everything is there does not prove that the sentence
says it rightly (swapped subjects pass). In doubt it says "unsupported". Never corrects a sentence.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple, Sequence

from .papers import Paper, Quote
from .passages import Span, sentences

SUPPORTED = 0.6
"""Share of a sentence's content words that two neighbouring sentences of each cited abstract must hold together."""
EACH = 0.3
"""Share that every single cited abstract must hold: less, and it has nothing to do with the sentence."""
_QUOTED_TOO = 0.12
"""A neighbour of the best sentence is quoted with it if it adds this share."""

_LATEX = (
    (re.compile(r"\\(?:mathbb|mathcal|mathrm|mathbf|mathit|mathsf|textbf|textit|texttt|textsc|text|emph|left|right|boldsymbol)\b"), ""),
    (re.compile(r"\\times\b"), "×"),
    (re.compile(r"\\(?:sim|approx)\b"), ""),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\([%$&#_])"), r"\1"),
    (re.compile(r"[{}]|\$(?!\d)|(?<=\d)\$"), ""),
)
_NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate("two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split(), 2)
} | {"twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "hundred": "100"}
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)}|one(?= (?:hundred|thousand|million|billion)))\b", re.IGNORECASE)
_SHARED_UNIT = re.compile(r"(\d)\s?[-–—]{1,2}\s?(\d[\d.,]*)\s?(%|×)")
_UNITS = {
    "%": "% percent", "points": "points point pp", "×": "× x times fold", "000": "k thousand", "000000": "m million",
    "000000000": "b billion", "ms": "ms milliseconds millisecond", "s": "s sec seconds second", "min": "minutes minute",
    "h": "hours hour h", "d": "days day", "week": "weeks week", "month": "months month", "year": "years year", "gb": "gb", "mb": "mb",
    "tb": "tb", "token": "tokens token", "word": "words word",
}  # fmt: skip
_UNIT_OF = {name: unit for unit, names in _UNITS.items() for name in names.split()}
_NUMBER = re.compile(r"(?<![\w.])(?<![A-Za-z]-)(\d[\d,]*(?:\.\d+)?)(?:[\s-]?(percentage points|[%×]|[A-Za-z]+\b))?")
_NAME = re.compile(r"\b(?:[A-Z]{2,}[\w-]*|[A-Z]?[a-z]+[A-Z]\w*|\w*[A-Za-z]-?\d[\w-]*)(?:\.\d\w*)?|(?<=[a-z,;][ -])[A-Z][\w’'-]+")
_WORD = re.compile(r"[^\W\d_][^\W\d_]+")
_COMMON = frozenset(
    "the an and or to in on for with by from as at is are was were be been being it its this that these those their they them we our us"
    " which who whose than then also can could may might will would has have had do does not no nor never without cannot into over"
    " under between such more most less least very using use used uses paper papers author authors abstract work study method methods"
    " approach approaches show shows shown propose proposes proposed introduce introduces introduced present presents presented find"
    " finds found describe describes called while when where how what there both each other one any all some but because so if via"
    " about against across based new according yes".split()
)
_NEGATION = frozenset("not no never without cannot neither nor lack lacks lacking fail fails failed unable hardly barely".split())
_REACH = 4
"""Words around a negation that it may have to do with. It denies the first word of content behind it."""
_OPPOSITES = [
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        (
            "increase increases increased increasing raise raises grow grows magnify magnifies amplify amplifies",
            "decrease decreases decreased decreasing reduce reduces reduced reducing lower lowers shrink shrinks",
        ),
        (
            "improve improves improved improving enhance enhances",
            "degrade degrades degraded degradation worsen worsens worsened hurt hurts harm harms impair impairs",
        ),
        (
            "outperform outperforms outperformed outperforming surpass surpasses surpassed exceed exceeds beat beats",
            "underperform underperforms underperformed trail trails",
        ),
        ("higher larger greater bigger", "lower smaller fewer"),
        ("better best superior", "worse worst inferior"),
        ("more", "less fewer"),
        ("faster", "slower"),
        ("strong strongly stronger", "weak weakly weaker"),
        ("positive positively", "negative negatively"),
        ("best highest largest", "worst lowest smallest"),
        ("before", "after"),
        ("sufficient", "insufficient"),
        ("possible", "impossible"),
        ("robust", "vulnerable brittle fragile"),
    )
]
_DENIES = re.compile(
    r"\b(?:do(?:es)?|did|is|are|was|were|has|have)(?: not|n['’]t)\b.{0,30}\b(?:say|state|mention|report|specif|g[ia]ve|provide|discuss|"
    r"describe|contain|include|address|answer|indicate|disclose|cover)|\bno (?:information|mention|details?|answer)\b"
    r"|\b(?:can ?not|can['’]t|unable to|not able to) (?:be )?(?:answer|find|determin|provid)|\bnone of the\b"
    r"|\bnot (?:mentioned|stated|specified|reported|given|provided|discussed|covered)\b|\bnot (?:known|clear) from\b"
    r"|\bi(?: do not| don['’]t|['’]m not sure)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"\b(?:but|however|although|though|while|yet|instead|because|since)\b", re.IGNORECASE)


class Check(NamedTuple):
    """verdict: "supported", "unsupported", or "unchecked" if the sentence holds no word to check; the quotes that back it, by
    index of paper; what was not found, for showing."""

    verdict: str
    quotes: tuple[tuple[int, Quote], ...]
    missing: tuple[str, ...] = ()


def check(sentence: str, papers: Sequence[Paper]) -> Check:
    """Against the papers that the sentence cites, taken together. Every number with its unit and every name must be there, the
    words in one place of each abstract, and nothing denied or turned round."""
    if not papers:
        return Check("unsupported", ())
    wanted = _content(sentence)
    if not wanted:
        return Check("unchecked", ())
    places = [_Place.best(wanted, paper) for paper in papers]
    held = set().union(*(place.words for place in places))
    around = " ".join(f"{paper.title}. {place.around}" for paper, place in zip(papers, places))
    said = " . ".join(quote.text for place in places for quote in place.quotes)
    about = " ".join(f"{p.title} {p.abstract} {' '.join(p.authors)} {p.venue}" for p in papers)
    years = {(str(p.year), "") for p in papers if p.year}
    missing = [told for told, quantity in _quantities(sentence) if quantity not in years.union(q for _, q in _quantities(around))]
    missing += _missing_names(sentence, about)
    missing += _turned(sentence, said)
    quotes = tuple((i, quote) for i, place in enumerate(places) if place.share >= EACH for quote in place.quotes)
    backed = len(wanted & held) / len(wanted) >= SUPPORTED and all(place.share >= EACH for place in places)
    return Check("supported" if backed and not missing else "unsupported", quotes, tuple(dict.fromkeys(missing)))


def denies(sentence: str) -> bool:
    """Whether the sentence says that something is not told, and nothing else: of such a sentence an abstract can't be the
    evidence."""
    match = _DENIES.search(sentence)
    return bool(match) and not _GOES_ON.search(sentence, match.end())


class _Place(NamedTuple):
    """Where an abstract comes nearest to a sentence: its best sentence with the neighbour that adds most. `share` of the wanted
    words, and `words`, count the title too: it stands over every sentence. `around`: that sentence and both its neighbours."""

    share: float
    words: set[str]
    around: str
    quotes: tuple[Quote, ...]

    @classmethod
    def best(cls, wanted: set[str], paper: Paper) -> _Place:
        title = _content(paper.title)
        spans = sentences(paper.abstract)
        each = [_content(paper.abstract[start:end]) for start, end in spans]
        if not spans:
            return cls(len(wanted & title) / len(wanted), title, "", ())

        def gain(pair: tuple[int, ...]) -> int:
            return len(wanted & title.union(*(each[i] for i in pair)))

        top = max(range(len(spans)), key=lambda i: len(wanted & each[i]))
        pair = max([(top,), *((i, i + 1) for i in (top - 1, top) if 0 <= i < len(spans) - 1)], key=gain)
        if (gain(pair) - gain((top,))) / len(wanted) < _QUOTED_TOO:
            quoted: tuple[int, ...] = (top,)
        else:
            quoted = pair
        words = title.union(*(each[i] for i in pair))
        around = paper.abstract[spans[max(0, top - 1)].start : spans[min(len(spans) - 1, top + 1)].end]
        return cls(len(wanted & words) / len(wanted), words, around, tuple(_quote(paper, spans[i]) for i in quoted))


def _quote(paper: Paper, span: Span) -> Quote:
    return Quote(paper.abstract[span.start : span.end], *span)


def _plain(text: str) -> str:
    """Without LaTeX and look-alike characters, and with numbers as digits."""
    text = unicodedata.normalize("NFKC", text)
    for pattern, plain in _LATEX:
        text = pattern.sub(plain, text)
    text = _NUMBER_WORD.sub(lambda m: _NUMBER_WORDS.get(m[0].lower(), "1"), text)
    return _SHARED_UNIT.sub(r"\1\3 \2\3", text)


def _quantities(text: str) -> list[tuple[str, tuple[str, str]]]:
    """(as written, (value, unit)) for every number; thousands, millions and billions are part of the value."""
    found = []
    for match in _NUMBER.finditer(_plain(text)):
        value, unit = match[1].replace(",", ""), _UNIT_OF.get((match[2] or "").lower().replace("percentage points", "points"), "")
        value = value.rstrip("0").rstrip(".") if "." in value else value
        if unit.startswith("000"):
            value, unit = str(round(float(value) * int("1" + unit))), ""
        found.append((match[0].strip() if unit else match[1], (value, unit)))
    return found


def _missing_names(sentence: str, about: str) -> list[str]:
    known = {_fold(part) for token in _plain(about).split() for part in (token, *re.split(r"[^\w^.+#]", token))}
    known |= {word.removesuffix("s") for word in known}
    missing = []
    for name in _NAME.findall(_plain(sentence)):
        if name.lower() in _UNIT_OF:
            continue
        whole = _fold(name.removesuffix("'s").removesuffix("’s"))
        parts = [_fold(part) for part in re.split(r"[-’']", name) if part]
        if whole not in known and whole.removesuffix("s") not in known and not all(p in known or p in _COMMON for p in parts):
            missing.append(name)
    return missing


def _turned(sentence: str, evidence: str) -> list[str]:
    """Words that one text denies and the other does not, or whose opposite stands in the other."""
    ours, theirs = _tokens(sentence), _tokens(evidence)
    words, their_words = {_stem(w) for w in ours}, {_stem(w) for w in theirs}
    (denied, near), (their_denied, their_near) = _denied(ours), _denied(theirs)
    turned = sorted(denied & their_words - their_near) + sorted(their_denied & words - near)
    for pair in _OPPOSITES:
        for side, other in (pair, pair[::-1]):
            told = side.intersection(ours)
            if told and not side.intersection(theirs) and other.intersection(theirs) and not other.intersection(ours):
                turned.append(min(told))
    return turned


def _denied(tokens: list[str]) -> tuple[set[str], set[str]]:
    """The words of content that are denied, and all that stand near a negation (as in "requires no" and "does not require")."""
    denied: set[str] = set()
    near: set[str] = set()
    for i, token in enumerate(tokens):
        if token in _NEGATION:
            behind = _until_stop(tokens[i + 1 : i + 1 + _REACH])
            denied.update(behind[:1])
            near.update(behind, _until_stop(tokens[max(0, i - _REACH) : i][::-1]))
    return denied, near


def _until_stop(tokens: list[str]) -> list[str]:
    stop = next((n for n, token in enumerate(tokens) if token == "."), len(tokens))
    return [_stem(word) for word in tokens[:stop] if word not in _COMMON and word not in _NEGATION]


def _tokens(text: str) -> list[str]:
    """Words in lower case, with "." for every stop, comma or contrast."""
    text = re.sub(r"(\w)n['’]t\b", r"\1 not", _plain(text).lower())
    return [w if w[0].isalpha() else "." for w in re.findall(r"[^\W\d_]+|[.,;:()]", re.sub(r"\b(?:but|only)\b", ".", text))]


def _content(text: str) -> set[str]:
    return {_stem(word) for word in _WORD.findall(_plain(text).lower()) if word not in _COMMON}


def _stem(word: str) -> str:
    """A crude stem, enough to meet «improves» with «improving»."""
    for ending in ("ations", "ation", "ements", "ement", "ings", "ing", "ies", "ers", "ed", "es", "er", "ly", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _fold(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()
