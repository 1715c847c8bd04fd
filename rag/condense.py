"""A follow-up put in full by the model, so that it can be searched for on its own: "and in 2023?" → a whole question.

Only ever changes a question that points back. A rewrite is used only if it keeps what the question says and adds nothing that
the conversation doesn't hold; whatever goes wrong, the given fallback is used. What is used shows as `answer.query`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Generator
from typing import Sequence

from . import prompts
from .calls import Complete, reply, tokens
from .citations import unmarked
from .errors import ModelFailed
from .grounding import denies
from .papers import REFUSAL, Answer, fold
from .questions import is_small_talk, needs_context
from .shown import defused

log = logging.getLogger(__name__)

HISTORY_TOKENS = 1200
"""The most of the conversation that is sent; the latest turns come first."""
_TURNS = 6
_CHARACTERS = 900
"""Of one earlier question or answer; its first sentences tell what it was about."""
_LONGEST = 400
"""Characters of a rewrite, beyond the length of the question itself."""
_LABEL = re.compile(r"^[^“\"«?:\n]{0,60}\b(?:question|query)\b[^“\"«?:\n]{0,30}:[*\s]*", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“”«»]([^\"“”«»]{2,300})[\"“”«»]")
_TELLING = re.compile(r"\b(?:\w*\d\w*|\w*[a-z]\w*[A-Z]\w*|[A-Z]{2,}\w*)\b")
"""Numbers, years and names such as LoRA and GPT: never to be lost, and never to be made up."""
_NUMBERED = re.compile(r"\[(\d{1,2})\]")


def standalone(
    question: str, turns: Sequence[tuple[str, Answer]], complete: Complete, fallback: str = "", room: int = HISTORY_TOKENS
) -> Generator[str, None, str]:
    """Returns the question to search for; yields an empty piece for every one that the model gives, so that it can be stopped.
    `turns`: (question, Answer) pairs, oldest first. `fallback`: the question as rules put it, empty for the question as it is.
    `room`: tokens for the conversation. A question that doesn't point back, or has nothing to point to, is returned word for word
    without a call."""
    if not needed(question, turns):
        return question
    fallback = fallback or question
    asked = _with_titles(question, turns[-1][1])
    told = history(turns, min(room, HISTORY_TOKENS))
    if not told:
        return fallback
    try:
        said = yield from reply(complete, prompts.load("condense").fill(history=told, question=defused(asked)), len(asked) + _LONGEST)
    except ModelFailed as error:
        log.info("The follow-up was put in full by rules: %s", error)
        return fallback
    rewritten = _line(said)
    wrong = _wrong(rewritten, asked, told)
    if wrong:
        log.info("The follow-up was put in full by rules: the model's rewrite %s", wrong)
        return fallback
    return rewritten


def needed(question: str, turns: Sequence[tuple[str, Answer]]) -> bool:
    """Whether the question points back, and to something."""
    return bool(turns) and needs_context(question) and not is_small_talk(question)


def history(turns: Sequence[tuple[str, Answer]], room: int) -> str:
    """The latest turns that fit into so many tokens, oldest first: what was asked, what was answered without its numbers, and the
    titles of the papers in the order in which they were cited. Numbers of earlier answers mean nothing in the next one."""
    kept: list[str] = []
    for question, answer in reversed(turns[-_TURNS:]):
        lines = [f"Question: {_shortened(defused(question))}", f"Answer: {_shortened(defused(unmarked(answer.text)))}"]
        titles = "; ".join(f"“{defused(c.paper.title)}”" for c in answer.citations[:10])
        turn = "\n".join([*lines, f"Papers cited, in order: {titles}"] if titles else lines)
        room -= tokens(turn)
        if room < 0:
            break
        kept.insert(0, turn)
    return "\n\n".join(kept)


def _shortened(text: str) -> str:
    return text if len(text) <= _CHARACTERS else text[:_CHARACTERS].rsplit(" ", 1)[0] + " …"


def _with_titles(question: str, answer: Answer) -> str:
    """The numbers in the person's own question mean the papers of the last answer."""
    titles = {str(c.number): f"“{c.paper.title}”" for c in answer.citations}
    return _NUMBERED.sub(lambda m: titles.get(m[1], m[0]), question)


def _line(said: str) -> str:
    """The reply without what models put around a question."""
    line = _LABEL.sub("", said.strip().strip("*`")).strip()
    quoted = re.fullmatch(r"[\"“](.*)[\"”]", line)
    return (quoted[1] if quoted and not _QUOTED.search(quoted[1]) else line).strip()


def _wrong(rewritten: str, asked: str, told: str) -> str:
    """What is wrong with a rewrite, in words for the log; empty if nothing is."""
    if not re.search(r"\w\w", rewritten):
        return "is empty"
    if len(rewritten) > len(asked) + _LONGEST or "\n" in rewritten:
        return "is too long"
    if re.search("[?？]", asked) and not re.search("[?？]", rewritten):
        return "is no question"
    if fold(REFUSAL) in fold(rewritten) or denies(rewritten):
        return "is a refusal"
    if _NUMBERED.search(rewritten):
        return "cites"
    kept = fold(rewritten)
    if any(fold(title) not in kept for title in _QUOTED.findall(asked)):
        return "loses a title"
    before, after = _telling(asked), _telling(rewritten)
    if before - after:
        return "loses a number or a name"
    if after - before - set(fold(told).split()):
        return "makes up a number or a name"
    return ""


def _telling(text: str) -> set[str]:
    return {word for name in _TELLING.findall(text) for word in fold(name).split()}
