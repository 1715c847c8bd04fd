"""Does this abstract say this sentence? A check by words, numbers, names, direction, roles and hedges, with the sentences that back it.

Pure, but for the stemmer, and works without any model. It finds what is not in an abstract, and what the order of its words shows to
be turned round; that it finds nothing does not prove that the sentence says it rightly. In doubt it says "unsupported". Never
corrects a sentence.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple, Sequence

from . import roles, turns
from .papers import Paper, Quote
from .passages import Span, sentences
from .quantities import is_unit
from .wording import COMMON, Token, content, plain, runs, tokens

SUPPORTED = 0.6
"""Share of a sentence's content words that two neighbouring sentences of each cited abstract must hold together."""
APART = 0.7
"""Share that two sentences must hold that are no neighbours."""
EACH = 0.3
"""Share that every single cited abstract must hold: less, and it has nothing to do with the sentence."""
_QUOTED_TOO = 0.12
"""A neighbour of the best sentence is quoted with it if it adds this share."""
_CLAUSE = 3
"""Words of content that a part of a sentence needs to be looked up by itself."""

_NAME = re.compile(r"\b(?:[A-Z]{2,}[\w-]*|[A-Z]?[a-z]+[A-Z]\w*|\w*[A-Za-z]-?\d[\w-]*)(?:\.\d\w*)?|(?<=[a-z,;][ -])[A-Z][\w’'-]+")
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
    index of paper; what was not found or is turned round, for showing."""

    verdict: str
    quotes: tuple[tuple[int, Quote], ...]
    missing: tuple[str, ...] = ()


def check(sentence: str, papers: Sequence[Paper]) -> Check:
    """Against the papers that the sentence cites, taken together. Every number with its unit and every name must be there, the
    words in one place of each abstract, and nothing denied, turned round, swapped or said with less doubt."""
    if not papers:
        return Check("unsupported", ())
    if len(papers) == 1 and (exact := _verbatim(sentence, papers[0])):
        return Check("supported", tuple((0, quote) for quote in exact))
    wanted = content(sentence)
    if not wanted:
        return Check("unchecked", ())
    places = [_Place.best(wanted, paper) for paper in papers]
    held = frozenset().union(*(place.words for place in places))
    missing = _faults(sentence, papers, places)
    quotes = tuple((i, quote) for i, place in enumerate(places) if place.share >= EACH for quote in place.quotes)
    backed = len(wanted & held) / len(wanted) >= SUPPORTED and all(place.share >= EACH for place in places)
    return Check("supported" if backed and not missing else "unsupported", quotes, tuple(dict.fromkeys(missing)))


def denies(sentence: str) -> bool:
    """Whether the sentence says that something is not told, and nothing else: of such a sentence an abstract can't be the
    evidence."""
    match = _DENIES.search(sentence)
    return bool(match) and not _GOES_ON.search(sentence, match.end())


class _Read(NamedTuple):
    """A paper as it is compared: of its sentences the spans, words, stems of content and runs of letters; all its numbers."""

    spans: tuple[Span, ...]
    words: tuple[tuple[Token, ...], ...]
    content: tuple[frozenset[str], ...]
    runs: tuple[str, ...]
    numbers: tuple[roles.Told, ...]
    title: frozenset[str]


@lru_cache(maxsize=128)
def _read(paper: Paper) -> _Read:
    spans = tuple(sentences(paper.abstract))
    texts = [paper.abstract[start:end] for start, end in spans]
    words = tuple(map(tokens, texts))
    numbers = tuple(told for part in (tokens(paper.title), *words) for told in roles.numbers_in(part))
    return _Read(spans, words, tuple(map(content, texts)), tuple(map(runs, texts)), numbers, content(paper.title))


def _verbatim(sentence: str, paper: Paper) -> list[Quote]:
    """The whole sentences of the abstract, one or several in a row, that this one is, but for marks and case."""
    told, read = runs(sentence), _read(paper)
    for first in range(len(read.spans)):
        joined = ""
        for last in range(first, len(read.spans)):
            joined = f"{joined} {read.runs[last]}".strip()
            if joined and joined == told:
                return [_quote(paper, span) for span in read.spans[first : last + 1]]
            if not told.startswith(joined):
                break
    return []


class _Place(NamedTuple):
    """Where an abstract comes nearest to a sentence: its best sentence with the neighbour that adds most. `share` of the wanted
    words, and `words`, count the title too: it stands over every sentence. `said`: the words of the quotes, a list a sentence, the
    best first; `more`: of the sentence that adds most to them; `around`: of the best sentence and both its neighbours."""

    share: float
    words: frozenset[str]
    said: tuple[tuple[Token, ...], ...]
    more: tuple[Token, ...]
    around: tuple[tuple[Token, ...], ...]
    quotes: tuple[Quote, ...]

    @classmethod
    def best(cls, wanted: frozenset[str], paper: Paper) -> _Place:
        read = _read(paper)
        spans, each, title = read.spans, read.content, read.title
        if not spans:
            return cls(len(wanted & title) / len(wanted), title, (), (), (), ())

        def gain(pair: tuple[int, ...]) -> int:
            return len(wanted & title.union(*(each[i] for i in pair)))

        top = max(range(len(spans)), key=lambda i: len(wanted & each[i]))
        pair = max([(top,), *((i, i + 1) for i in (top - 1, top) if 0 <= i < len(spans) - 1)], key=gain)
        more = max(range(len(spans)), key=lambda i: len(wanted & each[i] - title.union(*(each[j] for j in pair))))
        if gain(pair) / len(wanted) < SUPPORTED and gain((top, more)) / len(wanted) >= APART:
            pair = min(top, more), max(top, more)
        quoted = pair if (gain(pair) - gain((top,))) / len(wanted) >= _QUOTED_TOO else (top,)
        words = title.union(*(each[i] for i in pair))
        around = read.words[max(0, top - 1) : top + 2]
        said = tuple(read.words[i] for i in sorted(quoted, key=lambda i: i != top))
        return cls(len(wanted & words) / len(wanted), words, said, read.words[more], around, tuple(_quote(paper, spans[i]) for i in quoted))


def _quote(paper: Paper, span: Span) -> Quote:
    return Quote(paper.abstract[span.start : span.end], *span)


def _faults(sentence: str, papers: Sequence[Paper], places: Sequence[_Place]) -> list[str]:
    ours = tokens(sentence)
    said = [words for place in places for words in place.said]
    wider = said + [place.more for place in places if place.more and place.more not in place.said]
    around = [token for place in places for words in (*place.around, place.more) for token in words]
    return [
        *_missing_numbers(ours, papers, around),
        *_missing_names(sentence, papers),
        *turns.turned(ours, said, around),
        *roles.swapped(ours, wider),
        *turns.overclaimed(ours, said),
    ]


def _missing_numbers(ours: Sequence[Token], papers: Sequence[Paper], around: Sequence[Token]) -> list[str]:
    """Numbers that are not there, stand far off among other words, are bounded the other way, or are said of something else."""
    known = [told for paper in papers for told in _read(paper).numbers]
    near = {t.quantity.same for t in around if t.quantity} | {t.quantity.same for paper in papers for t in tokens(paper.title) if t.quantity}
    years = {(str(p.year), "") for p in papers if p.year}
    told_here = roles.numbers_in(ours, inherit=False)
    missing = []
    for told in told_here:
        number = told.token.quantity
        same = [k for k in known if k.token.quantity.same == number.same]
        if number.same in years and not same:
            continue
        if not same or (number.same not in near and not any(told.of & k.of for k in same)):
            missing.append(told.token.told)
        elif number.bound and all(k.token.quantity.bound == -number.bound for k in same):
            missing.append(told.token.told)
    titles = frozenset().union(*(_read(paper).title for paper in papers))
    return missing + roles.misplaced(told_here, known, titles)


def _missing_names(sentence: str, papers: Sequence[Paper]) -> list[str]:
    known = frozenset().union(*map(_names_of, papers))
    missing = []
    for name in _NAME.findall(plain(sentence)):
        if is_unit(name):
            continue
        whole = _fold(name.removesuffix("'s").removesuffix("’s"))
        parts = [_fold(part) for part in re.split(r"[-’']", name) if part]
        if whole not in known and whole.removesuffix("s") not in known and not all(p in known or p in COMMON for p in parts):
            missing.append(name)
    return missing


@lru_cache(maxsize=128)
def _names_of(paper: Paper) -> frozenset[str]:
    """Every word of the record, whole and in its parts, and the initials of any three to six words in a row."""
    about = plain(f"{paper.title} {paper.abstract} {' '.join(paper.authors)} {paper.venue}")
    known = {_fold(part) for token in about.split() for part in (token, *re.split(r"[^\w^.+#]", token), *re.split(r"\W", token))}
    words = re.findall(r"[^\W\d_]+", about.lower())
    initials = {"".join(w[0] for w in words[i : i + n]) for n in (3, 4, 5, 6) for i in range(len(words) - n + 1)}
    return frozenset(known | {word.removesuffix("s") for word in known} | initials)


def _fold(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()
