"""A Library plus the turns so far. One conversation belongs to one person; it shares nothing with any other.

What is carried over from earlier turns is only ever added to the query, and is visible there (`answer.query`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Collection, Iterable, Iterator

from .engine import in_full
from .followup import narrowed
from .papers import Answer, Event

if TYPE_CHECKING:
    from .library import Library

_REMEMBERED = 50
"""Turns kept; earlier ones no longer help a follow-up."""


class Conversation:
    """`ask` and `stream` as of the Library, knowing the earlier turns. Not for two threads at once."""

    def __init__(self, library: Library, turns: Iterable[tuple[str, Answer]] = ()):
        """`turns`: (question, answer) pairs of a conversation that goes on, oldest first."""
        self._library = library
        self._turns: list[tuple[str, Answer]] = list(turns)[-_REMEMBERED:]

    @property
    def turns(self) -> tuple[tuple[str, Answer], ...]:
        """(question, answer) pairs, oldest first."""
        return tuple(self._turns)

    def ask(self, question: str, within: Collection[str] | None = None) -> Answer:
        for event in self.stream(question, within):
            if event.answer:
                return event.answer
        raise AssertionError("a stream always ends with an answer")

    def stream(self, question: str, within: Collection[str] | None = None) -> Iterator[Event]:
        """`within`: ids of the only papers to answer from, this time. The turn is remembered once its Answer has come; a turn that
        was stopped or failed is not."""
        among = narrowed(question, self._turns)
        if among is None:
            query = in_full(self._library, question, self._turns, within)
            events = self._library.as_query_engine(within).stream(question, query, self._turns)
        else:  # "which of them …" needs no words of before, only their papers
            events = self._library.as_query_engine([i for i in among if within is None or i in within]).stream(question)
        for event in events:
            if event.answer:
                self._turns = [*self._turns, (question, event.answer)][-_REMEMBERED:]
            yield event
