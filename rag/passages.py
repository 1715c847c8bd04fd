"""An abstract into sentences, and sentences into passages: character offsets into the text as it stands.

Pure and deterministic. Loses nothing: whatever is not white space lies in exactly one sentence. Never changes a character.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from .papers import Paper, Passage

RULES = "4"
"""Raised whenever these rules would cut any text differently: indexes made by other rules are then rebuilt."""

SENTENCES_PER_PASSAGE = 3
STEP = 2
MAX_SENTENCE = 1500
"""Characters. A longer run without an end of sentence is a table, code or not prose; it is cut at white space."""


class Span(NamedTuple):
    """Half-open range of characters."""

    start: int
    end: int


_ABBREVIATIONS = frozenset(
    "al e.g eg i.e ie cf vs viz resp approx fig figs eq eqs sec secs tab ch vol no nos pp ed eds dr mr mrs ms prof st"
    " inc ltd co corp dept univ est min max avg std dev w.r.t wrt a.k.a aka u.s u.k ph.d jan feb mar apr jun jul aug sep"
    " sept oct nov dec thm lem prop def ref refs app".split()
)
_OPENERS = (
    "The|This|These|Those|There|We|Our|It|Its|They|In|On|At|By|To|For|From|With|Without|Within|Under|Through|Using|Based|As|An?|If|When|While|Since|Such|"
    "Both|Each|One|Two|First|Second|Third|Then|Next|Finally|Lastly|However|Moreover|Furthermore|Further|Additionally|Specifically|Particularly|Although|"
    "Though|Despite|Yet|But|And|Here|Hence|Thus|Therefore|Consequently|Meanwhile|Instead|Unlike|Compared|Given|Recent|Recently|Existing|Previous|Prior|"
    "Current|Many|Most|Some|Several|Extensive|Experiments?|Experimental|Experimentally|Empirical|Empirically|Comprehensive|Numerical|Theoretically|"
    "Concretely|Notably|Importantly|Overall|Inspired|Motivated|Leveraging|Results|Code|Project|Another|Also|Because|Due|After|Along|Among|Across|Beyond|"
    "Whereas|Nonetheless|Nevertheless|Surprisingly|Interestingly|Remarkably|Crucially|Conversely|Similarly|Applying|Building|Even"
)
_LOST_SPACE = rf"(?:(?<=[a-z]{{3}})|(?<=[)%$]))[.!?](?=(?:{_OPENERS})[ ,])"
"""Of 2,276 ICLR abstracts 310 lack a space behind some sentence: "training cost.To break this". Only before words that open
sentences: what follows the full stop of "torch.Tensor" is a name."""
_END = re.compile(rf"(?<![.!?…])[.!?…]+[\"'”’»)\]}}*_]*(?=\s)|[。！？]+[」』”’）]*|\n[ \t]*\n|{_LOST_SPACE}")
_LAST_WORD = re.compile(r"[\w.\-]+$")
_NEXT = re.compile(r"\s*([\"'“‘«(\[{*_$\\]*)(\S*)")


def sentences(text: str) -> list[Span]:
    """The sentences of `text` in order, without the white space around them; none if the text is blank."""
    spans: list[Span] = []
    start = 0
    for match in _END.finditer(text):
        if _ends_sentence(text, match):
            _append(spans, text, start, match.end())
            start = match.end()
    _append(spans, text, start, len(text))
    return spans


def _ends_sentence(text: str, end: re.Match[str]) -> bool:
    mark = end.group()
    if mark[0] in "\n。！？":
        return True
    opening, word = _NEXT.match(text, end.end()).groups()
    if not word:
        return True
    if word[0].islower() and mark[0] != ".":  # «"Why?" asks the paper»
        return False
    if mark[0] == ".":
        before = _LAST_WORD.search(text, max(0, end.start() - 40), end.start())
        last = before.group() if before else ""
        if last.lower() in _ABBREVIATIONS or (len(last) == 1 and last.isupper()):
            return False
        if word[0].islower():
            # A name such as "vLLM" or "iPSC" may begin a sentence; so may a careless "we", after a word that is no shortening.
            return any(c.isupper() for c in word) or (len(last) > 3 and last.isalpha() and word.rstrip(",.;:").isalpha())
    return True


def _append(spans: list[Span], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > MAX_SENTENCE:
        cut = text.rfind(" ", start + MAX_SENTENCE // 2, start + MAX_SENTENCE)
        cut = cut if cut > 0 else start + MAX_SENTENCE
        _append(spans, text, start, cut)
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if end > start:
        spans.append(Span(start, end))


def windows(spans: list[Span]) -> list[Span]:
    """Runs of SENTENCES_PER_PASSAGE sentences, each STEP after the last, together covering every sentence."""
    if len(spans) <= SENTENCES_PER_PASSAGE:
        return [Span(spans[0].start, spans[-1].end)] if spans else []
    firsts = list(range(0, len(spans) - SENTENCES_PER_PASSAGE + 1, STEP))
    if firsts[-1] + SENTENCES_PER_PASSAGE < len(spans):
        firsts.append(len(spans) - SENTENCES_PER_PASSAGE)
    return [Span(spans[i].start, spans[i + SENTENCES_PER_PASSAGE - 1].end) for i in firsts]


def passages(paper: Paper) -> list[Passage]:
    """The whole abstract, then its windows in reading order (only the first if it has no more sentences than one window)."""
    spans = sentences(paper.abstract)
    runs = windows(spans)
    if len(runs) > 1:
        runs.insert(0, Span(spans[0].start, spans[-1].end))
    key = stamp(paper)
    return [Passage(f"{key}-{n}", paper.id, start, end, paper.abstract[start:end]) for n, (start, end) in enumerate(runs)]


def stamp(paper: Paper) -> str:
    """16 hex digits for what is embedded of a paper and how it was cut: another title, abstract or rule, another stamp."""
    text = "\0".join((RULES, paper.id, paper.title, paper.abstract))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
