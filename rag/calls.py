"""A model as the engine sees it: messages in, pieces of text out; and what one question's calls of it cost.

Knows no vendor and no prompt. Whatever asks a model is a generator that hands on an empty piece whenever the model is silent, so
that whoever waits can stop at any time; closing it closes the model.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Callable, Iterator, NamedTuple, TypeVar

from .papers import Event

Result = TypeVar("Result")
CUT_SHORT = "cut short"
"""The reply ran into the limit of its length."""
_CHARACTERS_A_TOKEN = 3.0
"""For English with some LaTeX; 4 is usual."""


class End(NamedTuple):
    """How a reply ended: `reason` is CUT_SHORT or empty; the tokens are None if the server doesn't tell."""

    reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


Complete = Callable[[list[tuple[str, str]]], Iterator[str]]
"""(role, text) messages → the model's reply in pieces, an empty one when it is silent. A generator may return an End. Raises
ModelFailed."""


class Meter:
    """The same model, counting. `usage`: "calls", and "prompt_tokens" and "completion_tokens" as far as the server told; empty
    before the first call."""

    def __init__(self, complete: Complete):
        self.usage: dict[str, int] = {}
        self._complete = complete

    def __call__(self, messages: list[tuple[str, str]]) -> Generator[str, None, End]:
        self._add("calls", 1)
        end = (yield from self._complete(messages)) or End()
        self._add("prompt_tokens", end.prompt_tokens)
        self._add("completion_tokens", end.completion_tokens)
        return end

    def _add(self, what: str, count: int | None) -> None:
        if count is not None:
            self.usage[what] = self.usage.get(what, 0) + count


class Spoken:
    """Leaves out what a reasoning model thinks aloud, <think> … </think>, at the start of its reply. Some servers swallow the
    opening: then `anew` turns True with the piece that closes it, and all that was said before was thought."""

    _OPEN, _CLOSE = "<think>", "</think>"

    def __init__(self) -> None:
        self.anew = False
        self._held, self._thought, self._speaking = "", False, False

    def feed(self, piece: str) -> str:
        self.anew = False
        if self._speaking:
            tail = self._held[-len(self._CLOSE) + 1 :]
            self._held = tail + piece
            if self._CLOSE not in self._held or self._thought:
                return piece
            self.anew = self._thought = True
            return self._held.partition(self._CLOSE)[2].lstrip()
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
        said = text if self._thought else self._held
        if self._CLOSE in said and not self._thought:
            self.anew = self._thought = True
            return said.partition(self._CLOSE)[2].lstrip()
        return said

    def finish(self) -> str:
        """What was held back and was no thought; nothing if the reply never came out of thinking."""
        return "" if self._speaking or self._held.lstrip().startswith(self._OPEN) else self._held


def reply(complete: Complete, messages: list[tuple[str, str]], most: int) -> Generator[str, None, str]:
    """Yields an empty piece for every piece that comes, and returns the whole reply. A reply that grows past `most` characters
    is not what was asked for: the model is stopped, and what it said so far is returned. Raises ModelFailed."""
    spoken, said = Spoken(), ""
    with closing(as_generator(complete(messages))) as pieces:
        for piece in pieces:
            more = spoken.feed(piece)
            said = more if spoken.anew else said + more
            if len(said) > most:
                return said
            yield ""
    return said + spoken.finish()


def as_generator(pieces: Iterator[str]) -> Generator[str, None, End | None]:
    """The same pieces, and something that can be closed: which closes them, if they can be."""
    return (yield from pieces)


def silently(work: Generator[str, None, Result]) -> Generator[Event, None, Result]:
    """The work as a part of a streamed answer: an event without text whenever it hands on a piece; its result."""
    try:
        while True:
            next(work)
            yield Event("text")
    except StopIteration as stop:
        return stop.value
    finally:
        work.close()


def finished(work: Generator[str, None, Result]) -> Result:
    """The result of the work, for one who has nothing to do meanwhile."""
    while True:
        try:
            next(work)
        except StopIteration as stop:
            return stop.value


def tokens(text: str) -> int:
    """A careful guess of how many tokens a text is to a model whose tokenizer is not at hand."""
    plain = len(text.encode("ascii", "ignore"))
    return int(plain / _CHARACTERS_A_TOKEN) + 2 * (len(text) - plain) + 1
