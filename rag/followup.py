"""A follow-up made complete in itself by rules: the question, with the titles of the papers that it points back to.

Adds titles and nothing else, so what is carried over can be seen in the query ("the other one", once it is known which, becomes
"that one", for it compares nothing any more). A question that names a paper of its own, or says that it changes the subject, or is
about another paper for all that the search can tell, is left as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Collection, Sequence

from . import expected
from .about import nearest, odds
from .criteria import criterion
from .lexical import all_terms, terms
from .names import NAME, Mention, without
from .papers import Answer, Paper
from .questions import asks_for_list, asks_only, changes_subject, compares, is_foreign, is_small_talk, needs_context, points_back
from .retrieve import Found

if TYPE_CHECKING:
    from .library import Library

_NEAR, _FAR = 0.12, 0.25
"""By how much another paper must fit better than the one spoken of, for a question without and with a word that points back."""
_FULL, _NEARER = 5, 0.05
"""Words of meaning with which a question that doesn't point back is one of its own, unless the paper spoken of fits as well as any."""
_ANSWERS, _RATHER, _FARTHER, _FITS = 4.5, 5.0, 0.15, 1.0
"""Log odds from which another paper answers a question, by how much better, and by how much the search must find it nearer, so that the
question isn't about the one spoken of, which doesn't answer it; and log odds from which that one fits."""
_CLEAR = 0.6
"""Score from which the search has found what a question is about, pronoun or not."""
_FEW, _SHORT = 4, 8
"""Words that are too few to be a question of its own, and few enough to be one only if the search finds its paper."""
_ORDER = {"first": 0, "1st": 0, "former": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3, "4th": 3, "fifth": 4, "5th": 4, "last": -1, "latter": -1}
_PLACED = re.compile(rf"\bthe ({'|'.join(_ORDER)})\b(?! (?:time|step|stage|author|sentence|word|part|problem|reason|question))|\bpaper (?:no\.? ?|number |#)?(\d{{1,2}})\b|\[(\d{{1,2}})\]", re.IGNORECASE)
_OTHER = re.compile(r"\bthe other(?: one| paper| method| study)?\b", re.IGNORECASE)
_THE_ONE = re.compile(r"\b(?:the|that) ((?:[\w-]+ ){1,3})(?:one|paper|study|work|method)\b", re.IGNORECASE)
_THEM = re.compile(r"\b(?:them|both|these|those|the two|each)\b", re.IGNORECASE)
_OF_THEM = re.compile(r"\b(?:of|among|from) (?:these|those|them)\b|\b(?:these|those) (?:papers|ones)\b", re.IGNORECASE)
_WHICH_OF_TWO = re.compile(r"\b(?:which|what) (?:one )?of (?:the two|them both|both)\b|^\W*(?:(?:and|so|ok(?:ay)?)[,.]? )*which (?:one |is |has |does |was )(?!about\b|of\b)", re.IGNORECASE)
_ANOTHER = re.compile(r"^\W*(?:and|or|also|(?:and )?(?:what|how) about)(?: (?:about|on|by|for))?:? ((?:[^\s?.!,;]+ ?){1,5})[?.!]*$", re.IGNORECASE)
_ONLY_ABOUT = re.compile(r"^\W*(?:(?:and|but|ok(?:ay)?|so)[,.]? )?(?:what|how) about\b|^\W*and\b", re.IGNORECASE)


def standalone(question: str, turns: Sequence[tuple[str, Answer]], library: Library, within: Collection[str] | None = None) -> str:
    """The question with what it needs of the earlier turns, or the question itself."""
    spoken = _spoken_of(turns)
    if not spoken or changes_subject(question) or is_small_talk(question):
        return question
    again = _listed_again(question, turns)
    if again:
        return again
    named = [m for m in library.mentions(question) if m.own]
    if named:
        rest = terms(without(question, named))
        if compares(question) and points_back(question) and all(spoken[-1].id not in m.papers for m in named):
            return with_papers(question, [spoken[-1]])  # "compare it with GAIA"
        return f"{question} {_aspect(turns, library)}".strip() if not rest and _ONLY_ABOUT.search(question) else question
    papers = _pointed_at(question, spoken, turns)
    if papers:
        return with_papers(_OTHER.sub("that one", question) if len(papers) == 1 else question, papers)
    last = spoken[-1]
    if len(terms(question)) and not _belongs(question, last, library, within):
        return question
    return with_papers(question, [last])


def _listed_again(question: str, turns: Sequence[tuple[str, Answer]]) -> str:
    """After a list, "and GPT-3?" asks for the same kind of list again; empty for any other question."""
    last = next((answer for _, answer in reversed(turns) if answer.status != "chat"), None)
    match = _ANOTHER.match(question)
    if not last or last.form != "list" or not match or needs_context(match[1]):
        return ""
    kind = criterion(last.query).kind
    form = {"mention": "Which papers mention {}?", "record": "Papers by {}", "topic": "Papers about {}"}.get(kind, "")
    return form.format(match[1].strip()) if form and asks_for_list(last.query) else ""


def narrowed(question: str, turns: Sequence[tuple[str, Answer]]) -> list[str] | None:
    """The ids of the papers that "which of them …" is asked of: those that the last answer cited. None for any other question."""
    last = next((answer for _, answer in reversed(turns) if answer.status != "chat" and not (answer.status == "refused" and answer.form == "list")), None)
    if not last or len(last.citations) < 2 or not _OF_THEM.search(question):
        return None
    return [citation.paper.id for citation in last.citations]


def with_papers(question: str, papers: Sequence[Paper]) -> str:
    """The question as it is asked of these papers."""
    return f"{question} ({'; '.join(paper.title for paper in papers)})"


def spoken_of_last(turns: Sequence[tuple[str, Answer]]) -> Paper | None:
    """The paper that the last answer with citations cites first, whatever was refused since."""
    return next((answer.citations[0].paper for _, answer in reversed(turns) if answer.citations), None)


def _spoken_of(turns: Sequence[tuple[str, Answer]]) -> list[Paper]:
    """The papers of the conversation, each once, the one spoken of last at the end; none after a refusal that had nothing to do
    with them."""
    spoken: dict[str, Paper] = {}
    for question, answer in turns:
        alone = answer.query.strip() == question.strip() and len(terms(question)) > 1 and not needs_context(question)
        if answer.status == "refused" and alone and answer.form != "list" and not answer.notice:
            spoken = {}
        cited = [c.paper for c in answer.citations] or ([answer.related[0]] if answer.notice and answer.status == "refused" and answer.related else [])
        for paper in reversed(cited):
            spoken.pop(paper.id, None)
            spoken[paper.id] = paper
    return list(spoken.values())


def _pointed_at(question: str, spoken: Sequence[Paper], turns: Sequence[tuple[str, Answer]]) -> list[Paper]:
    """The papers that are pointed at by place ("the second one"), as the other one, by a word of theirs ("the ImageNet one"), or
    together ("compare them")."""
    listed = next((tuple(c.paper for c in answer.citations) for _, answer in reversed(turns) if len(answer.citations) > 1), ())
    order = listed or tuple(_first_seen(turns))
    placed = _PLACED.search(question)
    if placed and len(order) > 1:
        place = _ORDER[placed[1].lower()] if placed[1] else int(placed[2] or placed[3]) - 1
        if -len(order) <= place < len(order):
            return [order[place]]
    if _OTHER.search(question) and len(order) > 1:
        others = [paper for paper in order if paper.id != spoken[-1].id]
        return others[-1:]
    described = _THE_ONE.search(question)
    if described and len(spoken) > 1:
        words = set(terms(described[1]))
        held = [(len(words & set(all_terms(f"{p.title} {p.abstract}"))) + 0.5 * bool(words & set(all_terms(p.title))), n, p) for n, p in enumerate(spoken)]
        best = max(held, key=lambda h: h[:2])
        if words and best[0] >= 1:
            return [best[2]]
    if len(spoken) > 1 and (compares(question) and _THEM.search(question) or _WHICH_OF_TWO.search(question) and len(question.split()) <= _SHORT):
        return [*(listed[:3] if listed and listed[0].id in {p.id for p in spoken[-len(listed) :]} else spoken[-2:])]
    return []


def _first_seen(turns: Sequence[tuple[str, Answer]]) -> list[Paper]:
    return list({c.paper.id: c.paper for _, answer in turns for c in answer.citations[:1]}.values())


def _belongs(question: str, last: Paper, library: Library, within: Collection[str] | None) -> bool:
    """Whether the question is about the paper spoken of last: it points back or is too short to stand alone, and no other paper
    fits far better; or that paper fits nearly as well as any."""
    best = library.find(question, 1, within=within)
    here = library.find(question, 1, within=(last.id,))
    if not best or not here:
        return bool(here)
    words = re.findall(r"\w+", question)
    if len(words) <= _FEW and expected.asks_detail(question):
        return True  # "repo?"
    if not points_back(question) and all(rarity >= 1 for rarity in library.rarity(terms(question)).values()):
        return False  # pizza, after GAIA
    behind = best[0].hit.score - here[0].hit.score
    read = _read(question, here[0], library, within)
    if read is not None:
        return read
    unknown = any(all(library.rarity([w]).get(w, 1.0) >= 1.0 for w in all_terms(name)) for name in NAME.findall(question))
    full = len(terms(question)) >= _FULL and not points_back(question)  # "And" may begin anything
    if needs_context(question) and not full or len(words) <= _FEW or asks_only(question):
        return behind < (_NEAR if unknown else _FAR) or best[0].hit.score < _CLEAR and not unknown
    known = here[0].hit.lexical > 0.15
    return known and (behind < (_NEARER if full else _NEAR) or len(words) <= _SHORT and best[0].hit.score < _CLEAR)


def _read(question: str, here: Found, library: Library, within: Collection[str] | None) -> bool | None:
    """Whether the reading model is sure that the question is about this paper, or about another; None if it isn't. (Of 261
    follow-ups over four piles of papers the rules alone were right in 247, with this in 254.)"""
    if is_foreign(question):
        return None  # the model has learnt from English questions
    other = next((f for f in nearest(library, question, 3, within) if f.hit.paper.id != here.hit.paper.id), None)
    ours, theirs = odds(library, question, here), odds(library, question, other) if other else None
    if ours is None or theirs is None:
        return None
    behind = other.hit.score - here.hit.score
    if len(terms(question)) > 1 and ours < 0 and theirs > _ANSWERS and theirs - ours > _RATHER and behind > _FARTHER:
        return False
    return True if ours > max(theirs, _FITS) else None


def _aspect(turns: Sequence[tuple[str, Answer]], library: Library) -> str:
    """What the question before asked, for "and what about X?": its words, without the names in it."""
    question = next((asked for asked, answer in reversed(turns) if answer.status != "chat"), "")
    asked = without(question, library.mentions(question))
    return f"({asked.strip()})" if terms(asked) else ""
