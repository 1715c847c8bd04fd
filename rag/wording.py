"""A text as the words, numbers and stops that a check compares: plain characters, stems, and words of like meaning made one.

Pure, but for the stemmer. Knows English and how papers are written, and nothing of any paper or subject.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Iterator, NamedTuple

from .lexical import all_terms
from .quantities import NUMBER, Quantity, quantity, spelled_out

_LATEX = (
    (re.compile(r"\\(?:mathbb|mathcal|mathrm|mathbf|mathit|mathsf|textbf|textit|texttt|textsc|text|emph|left|right|boldsymbol)\b"), ""),
    (re.compile(r"\\times\b"), "×"),
    (re.compile(r"\\(?:geq?|gt)\b"), ">"),
    (re.compile(r"\\(?:leq?|lt)\b"), "<"),
    (re.compile(r"\\(?:sim|approx)\b"), ""),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"(?<=\d)·(?=\d)"), "."),
    (re.compile(r"\\+([%$&#_])"), r"\1"),
    (re.compile(r"[{}]|\$(?!\d)|(?<=\d)\$"), ""),
    (re.compile(r"\\([A-Za-z]+)"), r"\1"),
)
_WORDINGS = (
    (re.compile(r"(\w)n['’]t\b"), r"\1 not"),
    (re.compile(r"\bcannot\b", re.IGNORECASE), "can not"),
    (re.compile(r"\b(?:rather than|instead of)\b", re.IGNORECASE), "rather not"),
    (re.compile(r"\bvs\.", re.IGNORECASE), "vs"),
    (re.compile(r"\bat the (?:cost|expense) of\b", re.IGNORECASE), "compromising"),
    (re.compile(r"\b(?:falls?|fell|falling) short of\b|\blag(?:s|ged|ging)?(?: \w+)? behind\b", re.IGNORECASE), "underperforms"),
    (re.compile(r"\bg[ia]ve[sn]? rise to\b|\bgiving rise to\b", re.IGNORECASE), "causes"),
)
"""Phrases that mean a word."""
COMMON = frozenset(
    "the an and or to in on for with by from at as is are was were be been being it its this that these those their they them we our us"
    " which who whose than then also can could may might will would has have had do does did not no nor never without cannot into over"
    " under between such more most less least very using use used uses paper papers author authors abstract work study method methods"
    " approach approaches show shows shown propose proposes proposed introduce introduces introduced present presents presented find"
    " finds found describe describes called while when where how what there both each other one any all some but because so if via"
    " about against across based new according yes here thus however moreover furthermore whereas rather instead only just namely"
    " respectively up out of".split()
)
_ALIKE = [
    group.split()
    for group in (
        "reduce decrease lower mitigate alleviate diminish lessen fall drop cut", "increase raise boost grow rise", "improve enhance advance",
        "require need necessitate demand", "keep retain maintain preserve remain", "quick rapid fast quickly rapidly swiftly",
        "significant substantial considerable marked significantly substantially considerably markedly", "little small minor",
        "obtain achieve attain reach get gain yield deliver", "assess evaluate measure test benchmark examine evaluation",
        "build construct create develop", "contain comprise include consist cover hold encompass", "select choose pick selection choice",
        "help aid assist helpful", "hinder impede hamper obstruct", "outperform surpass beat exceed", "harm hurt degrade impair compromise worsen",
        "begin start initial initially", "various diverse several multiple numerous different varied", "overlook neglect ignore omit",
        "combine merge fuse integrate unify", "allow enable permit let", "main chief primary major key central", "difficult hard challenging",
        "easy simple straightforward readily", "cause lead induce result", "prior previous earlier existing", "frequent often frequently",
        "human people person", "comparable similar par", "modify change alter adjust", "additional extra further", "entire whole complete full",
        "divide split decompose", "acquire learn", "carry translate transfer", "remove discard eliminate delete", "suffer face",
        "typical usual common typically usually commonly", "call term name", "draw collect gather", "ability capability capacity",
        "issue problem", "strategy technique", "broad wide", "affect influence impact", "guide steer direct", "mostly mainly primarily predominantly largely",
        "best highest top optimal", "tailor customize", "accompany provide offer give supply", "harness leverage exploit employ utilize",
    )
]  # fmt: skip
_SPELLINGS = (
    (re.compile(r"(?<=[a-z]{3})is(?=(?:e[sdr]?|ing|ations?|ers)$)"), "iz"),
    (re.compile(r"(?<=[a-z]{3})ys(?=(?:e[sdr]?|ing)$)"), "yz"),
    (re.compile(r"(?<=[a-z]{3})our(?=(?:s|ed|ing|al|able)?$)"), "or"),
    (re.compile(r"(?<=[a-z]{3})ll(?=(?:ed|ing|er)$)"), "l"),
)
"""British to American, so far as an ending tells; a word that is changed wrongly is so on both sides."""
_TOKEN = re.compile(rf"(?P<number>{NUMBER.pattern})|(?P<word>[^\W_]+(?:\+\+)?)|(?P<stop>[.!?](?=\s|$)|[,;:()])")


class Token(NamedTuple):
    """`text`: lower case, or the mark of a stop. `root`: its stem; `stem`: the one that words of like meaning share; both "" for a stop.
    `content`: it says what a sentence is about. `quantity`: of a number. `told`: as it is written."""

    text: str
    root: str
    stem: str
    content: bool
    quantity: Quantity | None = None
    told: str = ""


@lru_cache(maxsize=2048)
def tokens(text: str) -> tuple[Token, ...]:
    """A text's words, numbers with their units, and stops, in order."""
    return tuple(_tokens(plain(text)))


def _tokens(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        if match["number"]:
            number = quantity(match["number"], text[max(0, match.start() - 24) : match.start()])
            root = f"{number.value}{number.unit}"
            yield Token(number.told.lower(), root, root, False, number, number.told)
            if number.after:
                yield _word(number.after)
        elif match["word"]:
            yield _word(match["word"])
        else:
            yield Token(match["stop"], "", "", False)


def _word(told: str) -> Token:
    text = told.lower()
    root = _root(text)
    return Token(text, root, _concepts().get(root, root), len(text) > 1 and text[0].isalpha() and text not in COMMON, None, told)


def content(text: str) -> frozenset[str]:
    """The stems of what a text is about."""
    return frozenset(token.stem for token in tokens(text) if token.content)


@lru_cache(maxsize=2048)
def plain(text: str) -> str:
    """Without LaTeX and look-alike characters, and with number words as digits."""
    text = unicodedata.normalize("NFKC", text)
    for pattern, simple in (*_LATEX, *_WORDINGS):
        text = pattern.sub(simple, text)
    return spelled_out(text)


def roots(words: str) -> frozenset[str]:
    """Stems of words parted by blanks."""
    return frozenset(map(_root, words.split()))


@lru_cache(maxsize=65536)
def _root(word: str) -> str:
    if word.endswith("+"):
        return word
    for british, american in _SPELLINGS:
        word = british.sub(american, word.lower())
    return "".join(all_terms(word)) or word


@lru_cache(maxsize=1)
def _concepts() -> dict[str, str]:
    return {_root(word): _root(group[0]) for group in _ALIKE for word in group}


def runs(text: str) -> str:
    """Letters and digits of a text, a blank between words: the same for two texts that differ in marks and case alone."""
    return " ".join(token.text for token in tokens(text) if token.stem)
