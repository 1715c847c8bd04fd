"""Hits into an Answer by a language model: prompt, stream, markers, and a check of every sentence.

Speaks to the model only through the function that it is given (messages in, pieces of text out). The model sees numbered papers
with their titles, never a marker from inside an abstract; what it writes is believed only as far as the abstracts say it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Iterator, Sequence

from . import prompts
from .calls import CUT_SHORT, Complete, End, Spoken, as_generator, tokens
from .citations import Cited, Renumberer, find, marked, place, split, without_links, without_sources
from .errors import ModelFailed
from .extractive import refusal
from .grounding import check, denies
from .lexical import searchable, terms
from .papers import REFUSAL, Answer, Citation, Event, Paper, Quote, Sentence, fold
from .passages import sentences
from .retrieve import Found
from .shown import fit, sources

_DECLINES = re.compile(
    r"\b(?:insufficient|not enough|no relevant|lacks? (?:the |any )?) ?information|\b(?:outside|beyond) (?:of )?the scope|\bunclear from\b"
    r"|\bno (?:paper|abstract|source)s? (?:\w+ )?(?:answer|address|mention|discuss|say|state|cover|contain)|\bunable to\b|\bas an ai\b"
    r"|\bi(?:['’]m| am) (?:sorry|afraid)\b|\bi apologi[sz]e\b|\b(?:can ?not|can['’]t) be (?:answered|determined)\b",
    re.IGNORECASE,
)
"""Ways of not answering that name nothing else; a claim of a paper may sound like one, so they count only where nothing is cited."""
_CHARACTERS_A_TOKEN = 12
"""More than any reply has on average."""
_STRONG = 0.8
"""Share of a sentence's words that a paper must hold, in the sentences that back it, for a citation to be added."""
_ENOUGH_WORDS = 4


def answer(
    query: str, found: Sequence[Found], complete: Complete, mode: str, context_tokens: int, answer_tokens: int, likely: bool = True
) -> Iterator[Event]:
    """Text events as the model writes (with no text while it is silent), then the Answer. `query`: the question, complete in
    itself. `likely`: whether the papers seem to answer it; if they don't, a reply of which they say nothing is refused. Raises
    ModelFailed, before or amid the text."""
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
                text = spoken.feed(next(pieces))
            except StopIteration as stop:
                cut_short = (stop.value or End()).reason == CUT_SHORT
                break
            if spoken.anew:  # what is on the reader's screen goes when the Answer comes
                markers, told = Renumberer(len(shown)), ""
            text = markers.feed(text)
            told += text
            yield Event("text", text)
            if len(told) > answer_tokens * _CHARACTERS_A_TOKEN:  # the server does not hold the model to its limit
                cut_short = True
                break
    finally:
        pieces.close()
    whole = told + markers.feed(spoken.finish()) + markers.finish()
    told = without_sources(whole).strip()
    if not told:
        why = "It may have spent it all on thinking: raise ASKPAPERS_ANSWER_TOKENS." if cut_short else "Try again, or another model."
        raise ModelFailed(f"{mode} gave an empty reply. {why}")
    notice = f"The answer was cut at {answer_tokens} tokens; ASKPAPERS_ANSWER_TOKENS sets the limit." if cut_short else ""
    told = _whole_sentences(told) if notice else told
    plain = without_links(told, " ".join(f"{paper.abstract} {paper.link}" for paper in shown))
    gaps = [gap - len(whole) + len(whole.lstrip()) for gap in markers.gaps] if plain == told else range(len(told) + 1)
    told = plain
    answer = _checked(told, query, found, shown, markers.order, gaps, mode, notice)
    if not likely and not any(s.verdict == "supported" for s in answer.sentences):
        answer = refusal(query, found, mode, "" if answer.status == "refused" else f"What {mode} wrote stands in none of the abstracts, so it is not shown.")
    yield Event("answer", answer=replace(answer, dropped=markers.unknown))


def messages(papers: Sequence[Paper], query: str) -> list[tuple[str, str]]:
    """What the model is sent: (role, text) pairs."""
    return prompts.load("answer").fill(papers=sources(papers), question=searchable(query), refusal=REFUSAL)


def _whole_sentences(told: str) -> str:
    """Without a last sentence that is not finished: half a number is a wrong number."""
    spans = sentences(told)
    whole = len(spans) < 2 or re.search(r"[.!?…。！？][\"”’)*_]*(?:\s*\[\d+\])*$", told)
    return told if whole else told[: spans[-2].end]


def _checked(
    told: str, query: str, found: Sequence[Found], shown: Sequence[Paper], order: Sequence[int], gaps: Sequence[int], mode: str, notice: str
) -> Answer:
    said, papers = split(told), [f.hit.paper for f in found]
    numbers_of = list(order[: max((m.number for m in find(told)), default=0)])
    if _refuses(told, said, [papers[n - 1] for n in numbers_of]):
        return refusal(query, found, mode)
    told, said = _attributed(told, said, shown, numbers_of, gaps)
    cited = [papers[n - 1] for n in numbers_of]
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


def _attributed(
    told: str, said: Sequence[Cited], shown: Sequence[Paper], order: list[int], gaps: Sequence[int]
) -> tuple[str, list[Cited]]:
    """The text and its sentences with a citation where one is missing and only one of the shown papers clearly says the
    sentence. Adds to `order`. Left alone are sentences that cited a number which stands for no paper (that is no slip of the
    pen), and those whose paper would get its number out of turn: numbers that the reader has seen don't change."""
    at, added, seen, out = 0, 0, 0, []
    for text, numbers in said:
        seen = max((seen, *numbers))
        spot = place(told, text, at) if not numbers and not denies(text) else None
        if spot:
            at = spot[1]
            number = 0 if any(spot[0] <= gap + added <= spot[1] for gap in gaps) else _only_one_that_says(text, shown)
            if number in order or (number and seen == len(order)):
                order += [] if number in order else [number]
                numbers = (order.index(number) + 1,)
                seen = max(seen, *numbers)
                whole = marked(told[spot[0] : at], numbers[0])
                told, added = told[: spot[0]] + whole + told[at:], added + len(whole) - (at - spot[0])
                at = spot[0] + len(whole)
        out.append(Cited(text, numbers))
    return told, out


def _only_one_that_says(text: str, papers: Sequence[Paper]) -> int:
    """The number of the one paper that says the sentence in much the same words; 0 if there is none, or more than one."""
    wanted = set(terms(text))
    results = [check(text, [paper]) for paper in papers] if len(wanted) >= _ENOUGH_WORDS else []
    backing = [n for n, result in enumerate(results, 1) if result.verdict == "supported"]
    if len(backing) != 1:
        return 0
    held = set(terms(" ".join([papers[backing[0] - 1].title, *(quote.text for _, quote in results[backing[0] - 1].quotes)])))
    return backing[0] if len(wanted & held) >= _STRONG * len(wanted) else 0


def _refuses(told: str, said: Sequence[Cited], cited: Sequence[Paper]) -> bool:
    """Whether the reply is a refusal in whatever words: it begins with ours, cites nothing and declines to answer, or says of the
    papers that it cites nothing but what they don't tell. ("Models can't find their errors [1]" is no refusal if [1] says it.)"""
    if fold(told).startswith(fold(REFUSAL)):
        return True
    if not any(numbers for _, numbers in said):
        return any(denies(text) or _DECLINES.search(text) or fold(REFUSAL) in fold(text) for text, _ in said)
    return all(
        denies(text) and check(text, [cited[n - 1] for n in numbers]).verdict != "supported" if numbers else denies(text) or _DECLINES.search(text)
        for text, numbers in said
    )
