"""Hits into an Answer by a language model: prompt, stream, markers, and a check of every sentence.

Speaks to the model only through the function that it is given (messages in, pieces of text out). The model sees numbered papers
with their titles, never a marker from inside an abstract; what it writes is believed only as far as the abstracts say it.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_right
from dataclasses import replace
from typing import Callable, Iterator, Sequence

from . import prompts
from .citations import Cited, Renumberer, find, neutral, split, without_sources
from .errors import ModelFailed
from .extractive import refusal
from .grounding import check, denies
from .lexical import searchable
from .papers import REFUSAL, Answer, Citation, Event, Paper, Quote, Sentence, fold
from .passages import Span, sentences
from .retrieve import Found

log = logging.getLogger(__name__)

Complete = Callable[[list[tuple[str, str]]], Iterator[str]]
"""(role, text) messages → the model's reply in pieces, an empty one when it is silent. A generator may return CUT_SHORT. Raises
ModelFailed."""

CUT_SHORT = "cut short"
"""The reply ran into the limit of its length."""
_CHARACTERS_A_TOKEN = 3.0
"""For English with some LaTeX; 4 is usual."""
_AUTHORS = 12
"""Authors of a paper that the model is told; some papers have hundreds."""
_FENCE = re.compile(r"<(?=\s*/?\s*paper\b)", re.IGNORECASE)


def answer(query: str, found: Sequence[Found], complete: Complete, mode: str, context_tokens: int, answer_tokens: int) -> Iterator[Event]:
    """Text events as the model writes (with no text while it is silent), then the Answer. `query`: the question, complete in
    itself. Raises ModelFailed, before or amid the text."""
    shown = fit([f.hit.paper for f in found], query, context_tokens - answer_tokens)
    if not shown:
        raise ModelFailed(
            f"The question is too long for {mode} with a context of {context_tokens} tokens. Ask a shorter one, or raise "
            "ASKPAPERS_CONTEXT_TOKENS."
        )
    spoken, markers, told, end = Spoken(), Renumberer(len(shown)), "", None
    pieces = complete(messages(shown, query))
    try:
        while True:
            try:
                text = markers.feed(spoken.feed(next(pieces)))
            except StopIteration as stop:
                end = stop.value
                break
            told += text
            yield Event("text", text)
    finally:
        if hasattr(pieces, "close"):
            pieces.close()
    told = without_sources(told + markers.feed(spoken.finish()) + markers.finish()).strip()
    if markers.unknown:
        log.info("%s cited %d numbers that stand for no paper; they were left out", mode, markers.unknown)
    if not told:
        why = "It may have spent it all on thinking: raise ASKPAPERS_ANSWER_TOKENS." if end == CUT_SHORT else "Try again, or another model."
        raise ModelFailed(f"{mode} gave an empty reply. {why}")
    notice = f"The answer was cut at {answer_tokens} tokens; ASKPAPERS_ANSWER_TOKENS sets the limit." if end == CUT_SHORT else ""
    told = _whole_sentences(told) if notice else told
    yield Event("answer", answer=_checked(told, query, found, markers, mode, notice))


class Spoken:
    """Leaves out what a reasoning model thinks aloud, <think> … </think>, at the start of its reply."""

    _OPEN, _CLOSE = "<think>", "</think>"

    def __init__(self) -> None:
        self._held, self._thought, self._speaking = "", False, False

    def feed(self, piece: str) -> str:
        if self._speaking:
            return piece
        self._held += piece
        text = self._held.lstrip()
        if text.startswith(self._OPEN):
            _, closed, said = text.partition(self._CLOSE)
            if not closed:
                return ""
            self._held, self._thought, text = said, True, said.lstrip()
        if self._OPEN.startswith(text):  # it may still become one, or nothing has been said yet
            return ""
        self._speaking = True
        return text if self._thought else self._held

    def finish(self) -> str:
        """What was held back and was no thought; nothing if the reply never came out of thinking."""
        return "" if self._speaking or self._held.lstrip().startswith(self._OPEN) else self._held


def messages(papers: Sequence[Paper], query: str) -> list[tuple[str, str]]:
    """What the model is sent: (role, text) pairs."""
    shown = "\n\n".join(_source(number, paper) for number, paper in enumerate(papers, 1))
    return prompts.load("answer").fill(papers=shown, question=searchable(query), refusal=REFUSAL)


def fit(papers: Sequence[Paper], query: str, limit: int) -> list[Paper]:
    """As many of the papers, best first, as fit into so many tokens together with the question and the prompt. The best one is
    cut at the end of a sentence if it does not fit whole; no paper if nothing of it does."""
    room = limit - sum(tokens(text) for _, text in messages((), query))
    kept: list[Paper] = []
    for paper in papers:
        size = tokens(_source(1, paper))
        if size > room:
            return kept or _cut(paper, room)
        room -= size
        kept.append(paper)
    return kept


def _cut(paper: Paper, limit: int) -> list[Paper]:
    def until(span: Span) -> Paper:
        return replace(paper, abstract=paper.abstract[: span.end])

    spans = sentences(paper.abstract)
    fitting = bisect_right(spans, limit, key=lambda span: tokens(_source(1, until(span))))
    return [until(spans[fitting - 1])] if fitting else []


def tokens(text: str) -> int:
    """A careful guess of how many tokens a text is to a model whose tokenizer is not at hand."""
    plain = len(text.encode("ascii", "ignore"))
    return int(plain / _CHARACTERS_A_TOKEN) + 2 * (len(text) - plain) + 1


def _source(number: int, paper: Paper) -> str:
    """One paper as the model sees it, fenced. Markers of its own are defused (they mean other papers), and so are a fence of its
    own, characters that no reader would see, and line breaks that would make its title look like more than a title."""
    more = len(paper.authors) - _AUTHORS
    authors = ", ".join(paper.authors[:_AUTHORS]) + (f" and {more} more" if more > 0 else "")
    year = str(paper.year) if paper.year and str(paper.year) not in paper.venue else ""
    lines = {"Title": paper.title, "Authors": authors, "Published": " ".join(filter(None, (paper.venue, year))), "Abstract": paper.abstract}
    shown = (f"{name}: {' '.join(_FENCE.sub('‹', neutral(searchable(text))).split())}" for name, text in lines.items() if text)
    return "\n".join((f'<paper number="{number}">', *shown, "</paper>"))


def _whole_sentences(told: str) -> str:
    """Without a last sentence that is not finished: half a number is a wrong number."""
    spans = sentences(told)
    whole = len(spans) < 2 or re.search(r"[.!?…。！？][\"”’)*_]*(?:\s*\[\d+\])*$", told)
    return told if whole else told[: spans[-2].end]


def _checked(told: str, query: str, found: Sequence[Found], markers: Renumberer, mode: str, notice: str) -> Answer:
    said, papers = split(told), [f.hit.paper for f in found]
    if _refuses(told, said):
        return refusal(query, found, mode)
    cited = [papers[n - 1] for n in markers.order[: max((m.number for m in find(told)), default=0)]]
    if not cited:
        raise ModelFailed(f"{mode} named no paper for what it said, so its answer could not be checked. Ask again, or try another model.")
    quotes: list[dict[Quote, None]] = [{} for _ in cited]
    told_sentences = []
    for text, numbers in said:
        numbers = tuple(n for n in numbers if n <= len(cited))
        result = check(text, [cited[n - 1] for n in numbers])
        for index, quote in result.quotes:
            quotes[numbers[index] - 1][quote] = None
        told_sentences.append(Sentence(text, numbers, "unchecked" if denies(text) and result.verdict == "unsupported" else result.verdict))
    verdicts = {s.verdict for s in told_sentences}
    if "supported" not in verdicts:
        notice = f"{notice} No sentence of this answer was found in the abstracts that it names: read them before you rely on it.".strip()
    return Answer(
        text=told,
        status="answered" if verdicts == {"supported"} else "partial",
        sentences=tuple(told_sentences),
        citations=tuple(Citation(n, paper, tuple(q)) for n, (paper, q) in enumerate(zip(cited, quotes), 1)),
        mode=mode,
        query=query,
        related=tuple(p for p in papers if p not in cited)[:3],
        notice=notice,
    )


def _refuses(told: str, said: Sequence[Cited]) -> bool:
    """Whether the reply is a refusal in whatever words: it begins with ours, or cites nothing and says that it can't tell."""
    if fold(told).startswith(fold(REFUSAL)):
        return True
    return not any(numbers for _, numbers in said) and any(denies(text) or fold(REFUSAL) in fold(text) for text, _ in said)
