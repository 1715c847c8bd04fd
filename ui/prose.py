"""The text of an answer as HTML: paragraphs, lists, citations behind their sentences, and words where support is missing.

Pure. Never turns a marker into a link unless the answer has that citation, never reads Markdown into a sentence that is
quoted from an abstract, and never drops text: what it doesn't understand it shows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, takewhile

from rag.citations import find
from rag.papers import Answer, Sentence
from ui.text import IN_BOLD, rich

Link = Callable[[int, Sentence], "str | None"]
"""(number, the sentence before it) -> the HTML of that citation, or None if the answer has no such citation."""

_MARKER = re.compile(r"[ \t\u00a0]{0,3}\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
_BOLD = re.compile(rf"(?<![\w*])\*\*(?=\*?[^\s*])({IN_BOLD})(?<=\S)\*\*(?![\w*])")
_STRESS = re.compile(r"(?<![\w*\\])\*(?=[^\s*])([^\n*]{1,120}?)(?<=[^\s*])\*(?![\w*])")
_STOP = re.compile(r"[.,;:!?]+(?=\s|$)")
_CLOSING = re.compile(r"[\"'”’»)*.]{0,4}")
_ITEM = re.compile(r"[ \t]*(?:(?P<bullet>[-*•])|(?P<number>\d{1,3})[.)])[ \t]+")
_HEADING = re.compile(r"#{1,4}[ \t]+")
_IGNORED = re.compile(_MARKER.pattern + r"|[\s*]+")
_NONE = Sentence("")


@dataclass(frozen=True)
class Piece:
    """A paragraph, heading or list item of the answer: its `kind` ("p", "h3", "bullet" or "number", with that number) and its
    HTML. `of` is the citation with whose head it begins, and the head is left out of the HTML; 0 if it begins with none."""

    kind: str
    html: str
    number: int = 0
    of: int = 0


@dataclass(frozen=True)
class _Block:
    kind: str  # "p", "h3", "bullet" or "number"
    start: int
    end: int
    number: int = 0


@dataclass(frozen=True)
class _Place:
    """Where a sentence stands in the text. `quoted`: it is an abstract's own words, so nothing in it is markup."""

    sentence: Sentence
    start: int
    end: int
    quoted: bool


def answer_html(answer: Answer, link: Link) -> str:
    """The whole answer."""
    return laid_out(pieces(answer, link))


def draft_html(text: str) -> str:
    """What has arrived of an answer so far; its citations aren't known yet, so its markers are not links."""
    return laid_out(Piece(block.kind, _drafted(text[block.start : block.end]), block.number) for block in _blocks(text, []))


@lru_cache(maxsize=2048)
def _drafted(words: str) -> str:
    """A block of a draft. (All but the last are the same in the next draft.)"""
    return _inline(words, lambda number, _: f'<span class="cite">{number}</span>', _NONE).strip()


def pieces(answer: Answer, link: Link, heads: Mapping[int, Sequence[str]] | None = None, bare: bool = False) -> list[Piece]:
    """The answer, cut up. `heads`: by number, what a piece on that citation may begin with (its title, say), longest first. `bare`: such a piece
    doesn't repeat its own number."""
    places = _places(answer)
    if places is None:  # the sentences can't be found in the text: show them, since they carry the verdicts
        text = "\n\n".join(sentence.text for sentence in answer.sentences)
        places = _places(replace(answer, text=text)) or []
    else:
        text = answer.text
    return _pieces(text, places, link, heads or {}, bare)


def laid_out(pieces: Iterable[Piece]) -> str:
    """The pieces in order, list items inside their lists."""
    out: list[str] = []
    open_list = ""
    for piece in pieces:
        wanted = {"bullet": "ul", "number": "ol"}.get(piece.kind, "")
        if wanted != open_list:
            out.append(f"</{open_list}>" if open_list else "")
            out.append(f"<{wanted}>" if wanted else "")
            open_list = wanted
        value = f' value="{piece.number}"' if piece.kind == "number" else ""
        tag = "li" if wanted else piece.kind
        out.append(f'<{tag}{value} dir="auto">{piece.html}</{tag}>')
    out.append(f"</{open_list}>" if open_list else "")
    return "".join(out)


def _places(answer: Answer) -> list[_Place] | None:
    abstracts = {citation.number: citation.paper.abstract for citation in answer.citations}
    squeezed, at = _squeeze(answer.text)
    found: list[_Place] = []
    cursor = 0
    for sentence in answer.sentences:
        wanted = sentence.text.strip()
        if not wanted:
            continue
        start = answer.text.find(wanted, cursor)
        end = start + len(wanted)
        if start < 0:  # its markers stand inside it, or its spaces differ
            bare = _squeeze(wanted)[0]
            first = next((i for i, position in enumerate(at) if position >= cursor), len(at))
            hit = squeezed.find(bare, first) if bare else -1
            if hit < 0:
                return None
            start, end = at[hit], at[hit + len(bare) - 1] + 1
        quoted = answer.text[start:end] == wanted and any(wanted in abstracts.get(n, "") for n in sentence.citations)
        found.append(_Place(sentence, start, end, quoted))
        cursor = end
    return found


def _squeeze(text: str) -> tuple[str, list[int]]:
    """The text without spaces, asterisks and markers, and where each character left stood."""
    positions: list[int] = []
    last = 0
    for match in _IGNORED.finditer(text):
        positions.extend(range(last, match.start()))
        last = match.end()
    positions.extend(range(last, len(text)))
    return "".join(text[i] for i in positions), positions


def _pieces(text: str, places: list[_Place], link: Link, heads: Mapping[int, Sequence[str]], bare: bool = False) -> list[Piece]:
    found: list[Piece] = []
    first = 0
    for block in _blocks(text, places):
        of, head = _of(text[block.start : block.end], heads)
        block = replace(block, start=block.start + len(head))
        while first < len(places) and places[first].end <= block.start:
            first += 1
        here = list(takewhile(lambda place, block=block: place.start < block.end, islice(places, first, None)))
        own = (lambda number, sentence, of=of: "" if number == of else link(number, sentence)) if of and bare else link
        found.append(Piece(block.kind, _inside(text, block, here, own).strip(), block.number, of))
    return found


def _of(words: str, heads: Mapping[int, Sequence[str]]) -> tuple[int, str]:
    """The citation with one of whose heads the words begin, and that head; of several citations, the one that they cite."""
    fitting = [(number, head) for number, known in heads.items() for head in known if words.startswith(head)]
    if len(fitting) > 1:
        cited = _numbers(words)
        fitting.sort(key=lambda each: (each[0] not in cited, -len(each[1])))
    return fitting[0] if fitting else (0, "")


def _blocks(text: str, places: list[_Place]) -> Iterator[_Block]:
    """Paragraphs, headings and list items. A line that starts inside a quoted sentence starts nothing."""
    block: _Block | None = None
    starts = [place.start for place in places]
    at = 0
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        within = bisect_right(starts, start) - 1
        quoted = within >= 0 and places[within].quoted and start < places[within].end
        if not line.strip():
            if block:
                yield block
            block = None
            continue
        item, heading = (None, None) if quoted else (_ITEM.match(line), _HEADING.match(line))
        if item or heading or block is None or block.kind == "h3":
            if block:
                yield block
            if item:
                kind = "bullet" if item["bullet"] else "number"
                block = _Block(kind, start + item.end(), at, int(item["number"] or 0))
            elif heading:
                block = _Block("h3", start + heading.end(), at)
            else:
                block = _Block("p", start, at)
        else:
            block = replace(block, end=at)
    if block:
        yield block


def _inside(text: str, block: _Block, here: list[_Place], link: Link) -> str:
    """The block's HTML. `here`: the places that stand in it, as a whole or in part."""
    out: list[str] = []
    at, before = block.start, _NONE
    for place, following in zip(here, [*here[1:], None]):
        start, end = max(place.start, block.start), min(place.end, block.end)
        sentence = place.sentence
        out.append(_inline(text[at:start], link, before))
        words = text[start:end]
        shown = rich(words, links=True) if place.quoted else _inline(words, link, sentence)
        unsupported = sentence.verdict == "unsupported"
        out.append(f'<span class="unsupported">{shown}</span>' if unsupported else shown)
        at, before = end, sentence
        if place.end > block.end:
            continue
        behind, at = _behind(text, at, block.end)
        out.append(_inline(text[end:at], link, sentence))
        told = behind | _numbers(text[at : following.start if following else block.end])
        told |= set() if place.quoted else _numbers(words)
        out.extend(link(number, sentence) or "" for number in sentence.citations if number not in told)
        out.append(_verdicts(sentence))
    out.append(_inline(text[at : block.end], link, before))
    return "".join(out)


def _verdicts(sentence: Sentence) -> str:
    """Words behind a sentence that isn't backed, and behind one on which the second verdict differs."""
    said = ""
    if sentence.verdict == "unsupported":
        where = "the cited abstract" + "s" * (len(sentence.citations) > 1) if sentence.citations else "any abstract"
        said = f'<span class="flag">not backed by {where}</span>'
    second = getattr(sentence, "second", "")
    if second == "unsupported":
        agrees = "second check agrees" if said else "second check: not backed"
        said += f'<span class="flag second">{agrees}</span>'
    elif second == "supported" and said:
        said += '<span class="flag second">second check: backed</span>'
    return said


def _behind(text: str, at: int, end: int) -> tuple[set[int], int]:
    """The numbers that stand right behind a sentence (past a closing quotation mark, say), and where they end."""
    numbers: set[int] = set()
    look = at + len(_CLOSING.match(text, at, end)[0])
    while match := _MARKER.match(text, look, end):
        numbers.update(_listed(match[1]))
        at = look = match.end()
    return numbers, at


def _inline(text: str, link: Link, sentence: Sentence) -> str:
    """Bold, stress, formulas and markers; everything else as it stands."""

    def stressed(part: str) -> str:
        return _wrapped(part, _STRESS, "em", lambda each: _marked_up(each, link, sentence))

    return _wrapped(text, _BOLD, "strong", stressed)


def _wrapped(text: str, pattern: re.Pattern[str], tag: str, inner: Callable[[str], str]) -> str:
    out: list[str] = []
    at = 0
    for match in pattern.finditer(text):
        out.append(inner(text[at : match.start()]))
        out.append(f"<{tag}>{inner(match[1])}</{tag}>")
        at = match.end()
    return "".join(out) + inner(text[at:])


def _marked_up(text: str, link: Link, sentence: Sentence) -> str:
    out: list[str] = []
    at = 0
    real = {marker.end for marker in find(text)}  # not "[1]" in a formula or in code
    for marker in _MARKER.finditer(text):
        links = [link(number, sentence) for number in _listed(marker[1])]
        if marker.end() not in real or None in links:
            continue
        stop = _STOP.match(text, marker.end())  # a full stop goes before the numbers, not behind them
        out.append(rich(text[at : marker.start()] + (stop[0] if stop else "")))
        out.extend(each for each in links if each)
        at = stop.end() if stop else marker.end()
    out.append(rich(text[at:]))
    return "".join(out)


def _numbers(text: str) -> set[int]:
    return {number for marker in _MARKER.finditer(text) for number in _listed(marker[1])}


def _listed(numbers: str) -> list[int]:
    return [int(number) for number in numbers.split(",")]
