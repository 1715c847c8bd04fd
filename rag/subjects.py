"""Which papers a question is about, and what it asks of each: one paper as a rule, both sides of a comparison, one a part.

Names decide where the question says any; the search decides otherwise. Chooses papers, never sentences, and refuses nothing.
"""

from __future__ import annotations

import re
from typing import Callable, NamedTuple, Sequence

import numpy as np

from .lexical import all_terms, terms
from .names import NAME, Mention, without, without_latex
from .questions import asked_after_saying, compares, is_foreign, parts, points_back
from .passages import Span
from .retrieve import Found

MAX_SIDES = 4
_MARGIN = 0.02
"""A further paper counts as found too if its score is within this of the best paper's."""
MAX_PAPERS = 3
_MOST_NEAR = 10
_DESCRIBED = 0.2
"""Least score of a paper that only a part of the question describes."""
_ELSEWHERE, _DESCRIBED_WELL = 0.15, 0.4
"""How much better, and how well, a part of a question must describe another paper to be about that one."""
_ASIDE = 0.1
"""How much better another paper must fit for a name to be said in passing: one that only its paper writes, or that the better one writes, too."""
_LONG_NAME = 8
"""Letters from which a name in lower case is hardly another word."""
_THREE = re.compile(r"\b(?:three|all three|each of the three)\b", re.IGNORECASE)
_CUT = re.compile(
    r"\s*(?:[?;.](?=\s)|,|:|\b(?:vs|versus|and|or|against|with|while|whereas|another|than|compared|from|the other|one paper|but)\b\.?)\s*", re.IGNORECASE
)

_THE_PAPER = re.compile(r"\b(?:the|that|a|an) ((?:[\w'’-]+ ){1,7}?)(?:papers?|study|work)\b", re.IGNORECASE)
_PAPER_THAT = re.compile(r"\b(?:the|that|a|an) (?:paper|study|work|one|method|benchmark) (?:on|about|that|which|where|with|from) ((?:[\w'’-]+ ?){2,10})", re.IGNORECASE)
_ASKING = re.compile(r"\W*(?:how|what|which|who|why|where|when|do|does|did|is|are|was|were|can|in what|in which|on what|to what|by what|may|may the)\b", re.IGNORECASE)

Find = Callable[[str, int, "tuple[str, ...] | None"], "list[Found]"]
"""(text, limit, ids of the only papers or None) → hits, best first."""
Aspect = Callable[[str, "list[Span]"], np.ndarray]
"""(text, parts of it) → the unit vector of what stands there."""
Mentioned = Callable[[str], "list[Mention]"]
"""A text → the names of papers that it says."""


class Read(NamedTuple):
    """`stated`: log odds that the abstract answers what is asked. `scores`: shape (sentences,), higher is better; their softmax
    tells which sentence answers, if one does."""

    stated: float
    scores: np.ndarray


class Subject(NamedTuple):
    """A paper as found for `asked`: the question, or the part of it or the side that is this paper's. `aspects`: its sentences'
    cosines to what is asked, without the names and the title's words, which every sentence of the paper is near to. `named`: whether the question says the paper's name, or
    one that only this paper writes. `read`: what the reading model makes of it, if it was asked (see `reading`)."""

    found: Found
    asked: str
    aspects: np.ndarray
    named: bool
    read: Read | None = None


def subjects(question: str, found: Sequence[Found], mentioned: Mentioned, find: Find, aspect: Aspect) -> tuple[list[Subject], bool]:
    """The papers with what is asked of each, in the order in which to answer, and whether they are sides to compare. `found`:
    the hits for the whole question, best first."""
    chosen, comparing = _chosen(question, found, mentioned, find)
    own = said_surely(question, mentioned(question))
    return [Subject(f, asked, aspects(asked, f, mentioned(asked), aspect), f.hit.paper.id in own) for f, asked in chosen], comparing


def said_surely(question: str, mentions: Sequence[Mention]) -> set[str]:
    """Ids of the papers whose name the question says for certain."""
    return {i for m in mentions if surely(question[m.start : m.end], m) and (m.own or len(m.papers) == 1) for i in m.papers}


def surely(said: str, mention: Mention) -> bool:
    """Whether a name is written as one: a short plain word may mean something else."""
    return bool(NAME.search(said)) or mention.own and (mention.coined or len(said) >= _LONG_NAME or bool(re.search(r"[\s/:]", said)))


def aspects(asked: str, found: Found, mentions: Sequence[Mention], aspect: Aspect) -> np.ndarray:
    """The sentences' cosines to what is asked, without names and the title's words."""
    title = set(all_terms(found.hit.paper.title))
    words = [Span(*word.span()) for word in re.finditer(r"\S+", asked)]
    bare = [w for w in words if not any(m.start < w.end and w.start < m.end for m in mentions) and not title.intersection(all_terms(asked[w.start : w.end]))]
    if len(bare) == len(words) or not terms(" ".join(asked[w.start : w.end] for w in bare)):
        return found.sentence_cosines
    return found.sentence_vectors @ aspect(asked, bare)


def _chosen(question: str, found: Sequence[Found], mentioned: Mentioned, find: Find) -> tuple[list[tuple[Found, str]], bool]:
    mentions = mentioned(question)
    own = [m for m in mentions if m.own]
    named = _named(question, own or mentions, found[:3] if not own else found, find, strict=not is_foreign(question))
    several = compares(question) or bool(named and _described(question, mentions, (_THE_PAPER,)))
    if several:
        named = _named(question, mentions, found, find)
    if len(named) > 1 or several:
        sides = _sides(question, mentions, named, found, find)
        if len(sides) > 1:
            return sides, True
    asked = asked_after_saying(question)
    divided = parts(asked)
    if len(divided) > 1:
        return _by_part(divided, mentioned, found, named, find, told=asked != question), False
    near = named[:1] or [f for f in found[:MAX_PAPERS] if f.hit.score >= found[0].hit.score - _MARGIN] if found else []
    if asked == question:
        return [(f, question) for f in near], False
    return [(again, asked) for f in near for again in find(asked, 1, (f.hit.paper.id,))], False


def _named(question: str, mentions: Sequence[Mention], found: Sequence[Found], find: Find, strict: bool = False) -> list[Found]:
    """One paper a mention, each once: of several that share the name, the one that fits the question best. `strict`: a name
    that isn't the paper's own must have led the search to it, too."""
    kept: dict[str, Found] = {}
    for mention in mentions:
        among = [f for f in found if f.hit.paper.id in mention.papers]
        if strict and found and not (among and among[0].hit.score >= found[0].hit.score - _ASIDE) and _stands_in(question[mention.start : mention.end], found[0]):
            continue  # CO2 is a method, and what another paper's crystals capture
        if not among and (mention.own or not strict):
            among = find(question, 1, mention.papers)
        if strict and not mention.own and among and found and among[0].hit.score < found[0].hit.score - _ASIDE:
            continue
        if among:
            kept.setdefault(among[0].hit.paper.id, among[0])
    return list(kept.values())


def _stands_in(name: str, found: Found) -> bool:
    paper = found.hit.paper
    return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", without_latex(f"{paper.title} {paper.abstract}").replace("_", "")))


def _sides(question: str, mentions: Sequence[Mention], named: Sequence[Found], found: Sequence[Found], find: Find) -> list[tuple[Found, str]]:
    """The named papers, and where there are too few of them those that pieces of the question describe, a paper a piece."""
    sides = list(named)[:MAX_SIDES]
    pieces: dict[str, str] = {}
    wanted = 3 if _THREE.search(question) else 2
    described = _described(question, mentions)
    if len(sides) < wanted or described:
        ids = {f.hit.paper.id for f in sides}
        best = _best_of_each(described or _pieces(question, mentions), ids, find)
        if len(best) < wanted - len(sides):
            for f in found[:3]:
                if f.hit.paper.id not in ids:
                    best.setdefault(f.hit.paper.id, (f, ""))
        ranked = sorted((f for f, _ in best.values() if f.hit.score >= _DESCRIBED), key=lambda f: -f.hit.score)[: max(wanted - len(sides), 0)]
        pieces = {f.hit.paper.id: best[f.hit.paper.id][1] for f in ranked}
        sides += sorted(ranked, key=lambda f: question.find(pieces[f.hit.paper.id]))
    asked = []
    for side in sides:
        others = [m for m in mentions if side.hit.paper.id not in m.papers]
        text = without(question, others)
        for other, piece in pieces.items():
            if piece and other != side.hit.paper.id:
                text = text.replace(piece, "")
        asked += [(again, text) for again in find(text, 1, (side.hit.paper.id,))]
    return asked


def _best_of_each(pieces: Sequence[str], ids: set[str], find: Find) -> dict[str, tuple[Found, str]]:
    """Paper ids to the piece that describes it best: of each piece the best paper that no other side is."""
    best: dict[str, tuple[Found, str]] = {}
    for piece in pieces:
        hit = next((f for f in find(piece, len(ids) + 1, None) if f.hit.paper.id not in ids), None)
        if hit and (hit.hit.paper.id not in best or best[hit.hit.paper.id][0].hit.score < hit.hit.score):
            best[hit.hit.paper.id] = (hit, piece)
    return best


def _described(question: str, mentions: Sequence[Mention], patterns: Sequence[re.Pattern[str]] = (_THE_PAPER, _PAPER_THAT)) -> list[str]:
    """Papers that the question speaks of without their names: "the protein dynamics paper", "the paper that prunes graphs"."""
    bare = without(question, mentions)
    return [m[1] for pattern in patterns for m in pattern.finditer(bare) if len(re.findall(r"\w{3,}", m[1])) >= 2]


def _pieces(question: str, mentions: Sequence[Mention]) -> list[str]:
    """What stands between the names and connectives, if it has words enough to describe a paper; those that ask only if hardly
    any describes."""
    pieces = [piece for piece in _CUT.split(without(question, mentions)) if piece and len(re.findall(r"\w{3,}", piece)) >= 2]
    describing = [piece for piece in pieces if not _ASKING.match(piece)]
    return describing if len(describing) > 1 else pieces


def _by_part(
    divided: Sequence[str], mentioned: Mentioned, found: Sequence[Found], named: Sequence[Found], find: Find, told: bool
) -> list[tuple[Found, str]]:
    """Each part with its paper: the one that it names, else the one that it describes better than the whole question does
    any, else that of the part before. `told`: whether something was said before the first part, which then describes the paper."""
    whole = named[0] if named else found[0] if found else None
    chosen: list[tuple[Found, str]] = []
    for part in divided:
        best = find(part, _MOST_NEAR, None)
        own = _named(part, mentioned(part), best, find, strict=True)
        if own:
            chosen += [(again, part) for f in own[:MAX_SIDES] for again in find(part, 1, (f.hit.paper.id,))]
            continue
        paper = chosen[-1][0].hit.paper if chosen else whole.hit.paper if whole else None
        if paper and (told or chosen and points_back(part)):
            best = []
        stays = find(part, 1, (paper.id,)) if paper else []
        if best and (not stays or best[0].hit.score > stays[0].hit.score + _ELSEWHERE and best[0].hit.score >= _DESCRIBED_WELL):
            stays = best
        chosen += [(f, part) for f in stays]
    return chosen
