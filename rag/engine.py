"""From a question to an Answer: search, then quotes or a model, with a clear word when the model fails.

The one place where the two kinds of answer meet. Knows no vendor: the model is a function that it is given.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Collection, Generator, Iterator, Sequence

from . import extractive, generative, lexical, listing, stated
from .about import about, nearest
from .answerable import answerability, unknown_names
from .calls import silently
from .criteria import Criterion, criterion
from .errors import ModelFailed
from .followup import spoken_of_last, standalone, with_papers
from .generative import Complete
from .judge import Judged, judge, most_doubtful_first, settled
from .papers import Answer, Event, as_text
from .questions import MAX_QUESTION, asking, asks_for_list, asks_for_similar, asks_of_library, asks_of_record, continues, doubts, is_foreign, is_small_talk, names_papers, points_back
from .retrieve import Found
from .subjects import Subject, surely
from .second_check import checked

if TYPE_CHECKING:
    from .library import Library

_CANDIDATES = 10
_DESCRIBED_STATES = 0.4
"""The same for a paper that a question describes: such questions are asked for what the paper is known to be about. (On 91 of them
over papers that nothing was fitted on, 4 % of the answerable were refused instead of 8 %, and 53 % of the others instead of 58 %.)"""
_LIKE_A_SIDE = 0.27
"""Score below which a paper that isn't named is no side of a comparison, if its log odds to answer are below _HARDLY too: "faster than
other vocoders" means no paper. (Of 102 such sides over five piles of papers, 48 % of the wrong ones and 12 % of the right ones had so low odds.)"""
_HARDLY = -2.0
_SIMILAR = 5
_SAID_BACK = 20
"""Words of a question that may be said back."""
_OF_WHAT = "The question points back to something, but no paper has been spoken of. Name the paper or the subject."
_FOREIGN = "The abstracts are in English: of this question they could be searched for its names and numbers only."


def respond(library: Library, question: str, complete: Complete | None, query: str = "", within: Collection[str] | None = None) -> Iterator[Event]:
    """Stage and text events, then one "answer" event. `query`: what to search for, if not the question itself. `complete`:
    the model, or None for quotes only. `within`: ids of the only papers to look at."""
    started = time.perf_counter()
    timings: dict[str, float] = {}
    question = as_text(question).strip()
    query = (as_text(query).strip() or question)[:MAX_QUESTION]
    if not question or is_small_talk(question) or doubts(question):
        yield from _told(_small_talk(library, question), timings, started)
        return
    if not len(library):
        yield from _told(Answer("This library holds no papers yet. Add some with `askpapers add FILE`, then ask again.", "chat", query=query), timings, started)
        return
    if asks_of_library(question):
        yield from _told(_size(library, question, within), timings, started)
        return
    spelled = question if is_foreign(question) else library.spelled(question)[:MAX_QUESTION]
    question, query = spelled, spelled if query == question[:MAX_QUESTION] else query
    if asks_for_similar(question):
        if query == question:
            yield from _told(extractive.refusal(question, (), notice=_OF_WHAT), timings, started)
        else:
            yield from _told(_similar(library, query, within), timings, started)
        return
    if asks_for_list(question) and not _of_one(library, question) or query != question and "(" not in query and asks_for_list(query):
        listed = yield from _listed(library, question if asks_for_list(question) else query, complete, within, timings)
        if listed:
            yield from _told(listed, timings, started)
            return
    yield Event("stage", f"Searching {len(library) if within is None else len(within):,} papers")
    found = nearest(library, query, _CANDIDATES, within, timings)
    quoted, found = _quoted(library, question, query, found, within, timings)
    if complete is None or not found:
        yield from _told(quoted, timings, started)
        return
    yield from _by_model(library, query, found, quoted, complete, timings, started)


def _of_one(library: Library, question: str) -> bool:
    """Whether what sounds like a question for a list is about a paper that it names: "anything on AgentBench?"."""
    named = [m for m in library.mentions(question) if m.own and " " not in question[m.start : m.end] and surely(question[m.start : m.end], m)]
    asked = criterion(question)
    return bool(named) and not names_papers(question) and (asked.kind == "topic" or asked.kind == "mention" and question.lower().startswith(("anything on", "anything about")))


def in_full(library: Library, question: str, turns: Sequence[tuple[str, Answer]], within: Collection[str] | None = None) -> str:
    """The question with what it needs of the earlier turns. One that seems to stand alone, but that no paper answers, is asked of
    the paper spoken of last, if that one answers it."""
    question = question if is_foreign(question) else library.spelled(question)
    if doubts(question) or asks_of_library(question):
        return question
    like = spoken_of_last(turns) if asks_for_similar(question) else None
    if like:
        return with_papers(question, [like])
    query = standalone(question, turns, library, within)
    last = spoken_of_last(turns) if query == question and not asks_for_list(question) and not is_small_talk(question) else None
    if last is None:
        return query
    here = library.find(question, 1, within=[last.id] if within is None or last.id in within else [])
    if not here or not stated.unmistakably(question, here[0], library.rarity(lexical.terms(question))):
        return question
    alone, _ = _quoted(library, question, question, nearest(library, question, _CANDIDATES, within), within, {})
    return with_papers(question, [last]) if alone.status == "refused" else question


def _quoted(library: Library, question: str, query: str, found: list[Found], within: Collection[str] | None, timings: dict[str, float]) -> tuple[Answer, list[Found]]:
    """The answer without a model, and the hits with the papers that the question is about in front."""
    started = time.perf_counter()
    rarity = library.rarity(lexical.terms(query))
    chosen, comparing = about(library, query, found, within)
    if comparing and unknown_names(query, rarity):  # no other paper stands in for a side that no abstract names
        chosen = [s for s in chosen if s.named] or chosen
        comparing = len(chosen) > 1
    if comparing and any(s.named for s in chosen):
        chosen = [s for s in chosen if s.named or s.found.hit.paper.title in query or s.read is None or s.read.stated >= _HARDLY or s.found.hit.score >= _LIKE_A_SIDE]
        comparing = len(chosen) > 1
    first = list(dict.fromkeys(s.found.hit.paper.id for s in chosen))
    by_id = {f.hit.paper.id: f for f in [*(s.found for s in reversed(chosen)), *found]}
    ordered = sorted(by_id.values(), key=lambda f: (_place(f, first), -f.hit.score))
    known = any(s.named for s in chosen) or comparing and len(chosen) > 1 and min(s.found.hit.score for s in chosen) > 0.3
    read = {s.found.hit.paper.id: s.read.stated for s in chosen if s.read and not comparing}
    likely = max(answerability(query, [f], rarity, known, read.get(f.hit.paper.id)) for f in ordered[: len(first) if comparing else 1]) if ordered else 0.0
    spoken = {i for m in library.mentions(query) if m.own for i in m.papers}
    what = asks_of_record(query) if len(chosen) == 1 and (chosen[0].named or chosen[0].found.hit.paper.id in spoken) else ""
    record = extractive.recorded(query, chosen[0], what, found) if what else None
    states, denied = (1.0, []) if comparing or record else _stated(library, query, chosen)
    if likely >= 0.5 and states < (0.5 if chosen[0].named else _DESCRIBED_STATES):
        answer = extractive.unstated(query, chosen[0], rarity, found)
    elif record:
        answer = record
    elif likely >= 0.5:
        answer = extractive.answer(query, [s for s in chosen if not any(s is d for d in denied)], comparing, rarity, found)
        if denied:
            missing = " and ".join(f"“{s.asked.strip(' .?!')}”" for s in denied)
            answer = replace(answer, status="partial", notice=f"The abstract of “{denied[0].found.hit.paper.title}” doesn't state {missing}.")
    else:
        answer = extractive.refusal(query, found)
    unknown = sorted(unknown_names(query, rarity)) if answer.status == "refused" else []
    if unknown:
        answer = replace(answer, notice=f"No abstract here mentions {' or '.join(unknown[:3])}. {answer.notice}".strip())
    if answer.status == "refused" and within is not None:
        answer = replace(answer, notice=f"Only {'one chosen paper was' if len(within) == 1 else f'{len(within):,} chosen papers were'} asked, not the whole library. {answer.notice}".strip())
    if query == question and continues(query) and points_back(query) and len(rarity) < 2 and not any(s.named for s in chosen):
        answer = extractive.refusal(query, (), notice=_OF_WHAT)
    if is_foreign(query):
        answer = replace(answer, notice=f"{_FOREIGN} {answer.notice}".strip())
    timings["choose"] = time.perf_counter() - started
    return replace(answer, answerability=min(likely, states)), ordered


def _stated(library: Library, query: str, chosen: Sequence[Subject]) -> tuple[float, list[Subject]]:
    """How likely the papers state what is asked of them, and the parts of the question that they surely don't, if they state others.
    Parts about one paper are judged together with the whole question: "and which?" alone tells little."""

    def probability(asked: str, subject: Subject) -> float:
        return stated.probability(asked, subject, library.rarity(lexical.terms(asked)), library.mentions(asked))

    if not chosen or not stated.is_plain(query):
        return 1.0, []
    each = [probability(s.asked, s) for s in chosen]
    divided = len({s.asked for s in chosen}) > 1
    likely = max(each)
    if divided and len({s.found.hit.paper.id for s in chosen}) == 1 and any(s.named for s in chosen):
        likely = stated.together([*each], probability(query, chosen[0]))
    # What is said back is a question and nothing else: whoever tells us what to say is not obeyed by being quoted.
    denied = [s for s, p in zip(chosen, each) if p <= stated.SURELY_NOT and len(asking(s.asked).split()) == len(s.asked.split()) < _SAID_BACK] if divided else []
    return likely, denied if len(denied) < len(chosen) else []


def _place(found: Found, first: list[str]) -> int:
    return first.index(found.hit.paper.id) if found.hit.paper.id in first else len(first)


def _listed(
    library: Library, question: str, complete: Complete | None, within: Collection[str] | None, timings: dict[str, float]
) -> Generator[Event, None, Answer | None]:
    yield Event("stage", f"Looking through {len(library) if within is None else len(within):,} papers")
    asked = criterion(question)
    near: list[Found] = []
    judged = Judged()
    if asked.kind == "unlike":
        return replace(extractive.refusal(question, ()), form="list", notice="What papers are not about can't be read off their abstracts. Ask which are about it; the others are the rest.")
    if asked.kind == "all":
        return _size(library, question, within)
    matches: list[listing.Match] = []
    if asked.kind != "topic":
        papers = library.papers()
        matches = listing.exact(asked, papers if within is None else [p for p in papers if p.id in within])
        if not matches and asked.loose:
            asked = replace(asked, kind="topic")  # nobody says it word for word; some may be about it
    if asked.kind == "topic":
        found = library.survey(asked.text, listing.promising, timings, within)
        about_it = answerability(asked.text, found[:1], library.rarity(lexical.terms(asked.text)), False)
        matches = listing.topical(question, asked, found, about_it)
        near = found[:3]
        if complete and matches and library.settings.judge_calls:
            judged = yield from _judged(library, question, matches, complete, timings)
            matches = settled(matches, judged, listing.SURE)
    answer = listing.answer(question, asked, matches, len(library) if within is None else len(within), near)
    return replace(answer, mode=library.mode if judged.matches else answer.mode, notice=f"{answer.notice} {judged.failure}".strip())


def _judged(library: Library, question: str, matches: Sequence[listing.Match], complete: Complete, timings: dict[str, float]) -> Generator[Event, None, Judged]:
    """The model's word on the doubtful papers, then on the sure ones, the least clear first, as far as the calls go."""
    settings, asked = library.settings, time.perf_counter()
    yield Event("stage", f"Asking {settings.model} which of {len(matches):,} papers match")
    papers = most_doubtful_first(matches, listing.SURE)
    judged = yield from silently(judge(question, papers, complete, settings.judge_calls, settings.context_tokens, settings.answer_tokens))
    timings["model"] = time.perf_counter() - asked
    return judged


def _by_model(library: Library, query: str, found: list[Found], quoted: Answer, complete: Complete, timings: dict[str, float], started: float) -> Iterator[Event]:
    settings = library.settings
    shown = found[: settings.papers_in_prompt]
    yield Event("stage", f"Reading up to {len(shown)} papers with {settings.model}")
    asked = time.perf_counter()
    try:
        for event in generative.answer(query, shown, complete, settings.model, settings.context_tokens, settings.answer_tokens, quoted.status != "refused"):
            if event.text and "first_token" not in timings:
                timings["first_token"] = time.perf_counter() - asked
            if event.answer and settings.second_check and event.answer.citations:
                yield Event("stage", f"Asking {settings.model} to check its sentences")
                event = replace(event, answer=(yield from silently(checked(event.answer, complete, settings.model, settings.context_tokens))))
            if event.answer:
                timings["model"] = time.perf_counter() - asked
                event = replace(event, answer=_timed(replace(event.answer, answerability=quoted.answerability), timings, started))
            yield event
    except ModelFailed as error:
        if not settings.quote_when_model_fails:
            raise
        instead = "Without a model, no abstract seems to answer this." if quoted.status == "refused" else "Here is what the abstracts say, quoted without a model."
        yield Event("stage", "Quoting the abstracts instead")
        # No text event: what the model had written may be on the reader's screen, and the Answer replaces it.
        yield Event("answer", answer=_timed(replace(quoted, notice=f"{error} {instead}"), timings, started))


def _told(answer: Answer, timings: dict[str, float], started: float) -> Iterator[Event]:
    yield Event("text", answer.text)
    yield Event("answer", answer=_timed(answer, timings, started))


def _timed(answer: Answer, timings: dict[str, float], started: float) -> Answer:
    return replace(answer, timings={**timings, "total": time.perf_counter() - started})


def _size(library: Library, question: str, within: Collection[str] | None) -> Answer:
    papers = [p for p in library.papers() if within is None or p.id in within]
    years = sorted({p.year for p in papers if p.year})
    when = "" if not years else f" from {years[0]}" if years[0] == years[-1] else f" from {years[0]} to {years[-1]}"
    text = f"{'This library holds' if within is None else 'You have chosen'} {len(papers):,} papers{when}. `askpapers list` shows them all; ask which of them are about a subject, mention a word or are by someone."
    return Answer(text, "chat", query=question, count=len(papers))


def _similar(library: Library, query: str, within: Collection[str] | None) -> Answer:
    """The papers nearest to the one that the query names in brackets."""
    title = query[query.index("(") + 1 : query.rindex(")")] if ")" in query else query
    paper = next((f.hit.paper for f in library.find(title, 5) if f.hit.paper.title == title), None)
    found = library.find(f"{paper.title}. {paper.abstract}"[:MAX_QUESTION], _SIMILAR + 1, within=within) if paper else []
    near = [f for f in found if paper and f.hit.paper.id != paper.id][:_SIMILAR]
    if not near:
        return extractive.refusal(query, found)
    matches = [listing.Match(f.hit.paper, 1.0, extractive.presenting(f.hit.paper)) for f in near]
    answer = listing.answer(query, Criterion("topic", f"the subject of “{title}”"), matches, len(library) if within is None else len(within), near)
    return replace(answer, notice=f"These are the {len(near)} nearest, nearest first: there is no line between similar and not.")


def _small_talk(library: Library, question: str) -> Answer:
    if doubts(question):
        return Answer("What I answer with are sentences of the abstracts, word for word; the number behind each leads to its paper. If they miss your question, put it in other words, or name the paper.", "chat", query=question)
    text = (
        f"Ask me about the {len(library):,} papers in this library, in plain words: what a paper proposes, what it finds, or which papers are about a subject. "
        "Every sentence that I answer with names its paper."
    )
    return Answer(text, "chat", query=question)
