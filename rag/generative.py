"""Hits into an Answer by a language model: prompt, stream, markers, and a check of every sentence.

Speaks to the model only through the function that it is given (messages in, pieces of text out). The model sees numbered papers
with their titles, never a marker from inside an abstract; what it writes is believed only as far as the abstracts say it.
"""

from __future__ import annotations

import re
from typing import Callable, Iterator, Sequence

from . import prompts
from .citations import Renumberer, split, without_sources
from .errors import ModelFailed
from .extractive import refusal
from .grounding import check
from .papers import REFUSAL, Answer, Citation, Event, Paper, Quote, Sentence, fold
from .retrieve import Found

Complete = Callable[[list[tuple[str, str]]], Iterator[str]]
"""(role, text) messages → the model's reply in pieces. Raises ModelFailed."""

_CHARACTERS_A_TOKEN = 3.5
"""A careful guess for English with some LaTeX (4 is usual): the prompt is fitted without the model's own tokenizer."""
_OWN_MARKERS = re.compile(r"\[(\d[\d,;\s–-]*)\]|【([^】]*)】|\bSource (\d+):")


def answer(question: str, query: str, found: Sequence[Found], complete: Complete, mode: str, context_tokens: int, answer_tokens: int) -> Iterator[Event]:
    """Text events as the model writes, then the Answer. Raises ModelFailed, before or amid the text."""
    papers = fit([f.hit.paper for f in found], question, context_tokens - answer_tokens)
    messages = prompts.load("answer").fill(papers=_sources(papers), question=question, refusal=REFUSAL)
    markers, told = Renumberer(len(papers)), ""
    pieces = complete(messages)
    try:
        for piece in pieces:
            text = markers.feed(piece)
            if text:
                told += text
                yield Event("text", text)
    finally:
        if hasattr(pieces, "close"):
            pieces.close()
    told = without_sources(told + markers.finish()).strip()
    if not told:
        raise ModelFailed(f"{mode} gave an empty reply.")
    yield Event("answer", answer=_checked(told, query, papers, markers, found, mode))


def fit(papers: Sequence[Paper], question: str, tokens: int) -> list[Paper]:
    """As many of the papers, best first, as fit the context together with the question and the prompt; at least one."""
    room = tokens * _CHARACTERS_A_TOKEN - len(question) - 2500  # the prompt's own text, with room to spare
    kept: list[Paper] = []
    for paper in papers:
        room -= len(_source(0, paper))
        if kept and room < 0:
            break
        kept.append(paper)
    return kept


def _sources(papers: Sequence[Paper]) -> str:
    return "\n\n".join(_source(number, paper) for number, paper in enumerate(papers, 1))


def _source(number: int, paper: Paper) -> str:
    """One paper as the model sees it, fenced. Markers of its own become round brackets: they mean other papers."""
    title, abstract = (_OWN_MARKERS.sub(lambda m: f"({next(g for g in m.groups() if g is not None)})", text) for text in (paper.title, paper.abstract))
    return f"<paper number=\"{number}\">\nTitle: {title}\nAuthors: {paper.byline}\nAbstract: {abstract.replace('</paper>', '')}\n</paper>"


def _checked(told: str, query: str, papers: Sequence[Paper], markers: Renumberer, found: Sequence[Found], mode: str) -> Answer:
    if fold(REFUSAL) in fold(told):
        return refusal(query, found, mode)
    cited = [papers[n - 1] for n in markers.order]
    quotes: list[dict[Quote, None]] = [{} for _ in cited]
    told_sentences = []
    for text, numbers in split(told):
        result = check(text, [cited[n - 1] for n in numbers if n <= len(cited)])
        for index, quote in result.quotes:
            quotes[numbers[index] - 1][quote] = None
        told_sentences.append(Sentence(text, numbers, result.verdict))
    backed = sum(s.verdict == "supported" for s in told_sentences)
    return Answer(
        text=told,
        status="answered" if backed == len(told_sentences) else "partial",
        sentences=tuple(told_sentences),
        citations=tuple(Citation(n, paper, tuple(q)) for n, (paper, q) in enumerate(zip(cited, quotes), 1)),
        mode=mode,
        query=query,
        related=tuple(p for p in papers if p not in cited)[:3],
    )
