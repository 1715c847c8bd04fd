"""Hits into an Answer by a language model: prompt, stream, markers, and a check of every sentence.

Speaks to the model only through the function that it is given (messages in, pieces of text out). The model sees numbered papers
with their titles, never a marker from inside an abstract; what it writes is believed only as far as the abstracts say it.
"""

from __future__ import annotations

import logging
import re
from typing import Iterator, Sequence

from . import prompts
from .calls import CUT_SHORT, Complete, End, Spoken, as_generator, tokens
from .citations import Cited, Renumberer, find, split, without_sources
from .errors import ModelFailed
from .extractive import refusal
from .grounding import check, denies
from .lexical import searchable
from .papers import REFUSAL, Answer, Citation, Event, Paper, Quote, Sentence, fold
from .passages import sentences
from .retrieve import Found
from .shown import fit, sources

log = logging.getLogger(__name__)


def answer(query: str, found: Sequence[Found], complete: Complete, mode: str, context_tokens: int, answer_tokens: int) -> Iterator[Event]:
    """Text events as the model writes (with no text while it is silent), then the Answer. `query`: the question, complete in
    itself. Raises ModelFailed, before or amid the text."""
    room = context_tokens - answer_tokens - sum(tokens(text) for _, text in messages((), query))
    shown = fit([f.hit.paper for f in found], room)
    if not shown:
        raise ModelFailed(
            f"The question is too long for {mode} with a context of {context_tokens} tokens. Ask a shorter one, or raise "
            "ASKPAPERS_CONTEXT_TOKENS."
        )
    spoken, markers, told = Spoken(), Renumberer(len(shown)), ""
    pieces = as_generator(complete(messages(shown, query)))
    try:
        while True:
            try:
                text = markers.feed(spoken.feed(next(pieces)))
            except StopIteration as stop:
                cut_short = (stop.value or End()).reason == CUT_SHORT
                break
            told += text
            yield Event("text", text)
    finally:
        pieces.close()
    told = without_sources(told + markers.feed(spoken.finish()) + markers.finish()).strip()
    if markers.unknown:
        log.info("%s cited %d numbers that stand for no paper; they were left out", mode, markers.unknown)
    if not told:
        why = "It may have spent it all on thinking: raise ASKPAPERS_ANSWER_TOKENS." if cut_short else "Try again, or another model."
        raise ModelFailed(f"{mode} gave an empty reply. {why}")
    notice = f"The answer was cut at {answer_tokens} tokens; ASKPAPERS_ANSWER_TOKENS sets the limit." if cut_short else ""
    told = _whole_sentences(told) if notice else told
    yield Event("answer", answer=_checked(told, query, found, markers, mode, notice))


def messages(papers: Sequence[Paper], query: str) -> list[tuple[str, str]]:
    """What the model is sent: (role, text) pairs."""
    return prompts.load("answer").fill(papers=sources(papers), question=searchable(query), refusal=REFUSAL)


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
