"""One question on its way to an answer, for the page.

Runs the library's blocking stream in a thread of its own and hands on what has arrived, about ten times a second. Closes
the stream as soon as the reader stops or leaves. Never raises what the stream raises: it becomes a sentence.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Collection
from typing import Any

from rag.errors import AskPapersError
from rag.papers import Answer

log = logging.getLogger(__name__)

EVERY = 0.1
"""Seconds between two updates of the page while a model writes."""
UNSPOKEN = 0.5
"""Seconds that an answer without a model may take before the page is told at what stage it is: it has no words until it is whole,
and 50 people's stages take two processor cores as long as their answers."""
BEAT = 1.0
"""Seconds after which an update goes out even if nothing is new: so the page knows that the server lives, and the server
notices that the page has gone."""

WAITING = 2.0
"""The same while others are served first."""


class Run:
    """One question. `text`, `stage`, `answer` and `error` grow as events arrive. `chat`: a conversation that nobody else uses;
    `within`: ids of the only papers to answer from, or None. `at_work`: held while it runs, where answers are this computer's own
    work: many at once would all take as long as the last."""

    def __init__(self, chat: Any, question: str, within: Collection[str] | None = None, at_work: asyncio.Semaphore | None = None) -> None:
        self.text = ""
        self.stage = ""
        self.answer: Answer | None = None
        self.error = ""
        self.ended = threading.Event()
        """Set when the stream is closed, which may be a moment after `stop`."""
        self._chat = chat
        self._question = question
        self._within = within
        self._at_work = at_work
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Ask the stream to end. Returns at once; the stream is closed when it next hands over an event."""
        self._stopping.set()

    async def updates(self) -> AsyncIterator[None]:
        """Something has changed (or a beat has passed). Ends with the stream, or at once when stopped."""
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        turn = asyncio.ensure_future(self._at_work.acquire()) if self._at_work else None  # first come, first served
        begun, last = False, time.monotonic()
        try:
            while turn and not turn.done() and not self._stopping.is_set():
                await asyncio.wait({turn}, timeout=UNSPOKEN)
                if not turn.done() and time.monotonic() - last >= WAITING:
                    self.stage, last = "Waiting for the questions of others", time.monotonic()
                    yield
            begun = not self._stopping.is_set()
        finally:
            if not begun:
                self.ended.set()
                if turn and self._at_work and not turn.cancel():  # it had just come
                    self._at_work.release()
        if not begun:
            return

        def ended() -> None:
            over.set()
            if self._at_work:
                self._at_work.release()

        def work() -> None:
            try:
                self._follow()
            finally:
                self.ended.set()
                try:
                    loop.call_soon_threadsafe(ended)
                except RuntimeError:
                    pass  # the server is closing down

        threading.Thread(target=work, name="answer", daemon=True).start()
        seen, last = ("", 0), time.monotonic()
        while not over.is_set() and not self._stopping.is_set():
            try:
                await asyncio.wait_for(over.wait(), UNSPOKEN if self._at_work else EVERY)
            except asyncio.TimeoutError:
                pass
            if over.is_set() and self._at_work:
                return  # its words have come with the end of it, and the page shows them as they stay
            now = (self.stage, len(self.text))
            if now != seen or time.monotonic() - last >= BEAT:
                seen, last = now, time.monotonic()
                yield

    def _follow(self) -> None:
        try:
            self._read()
        except AskPapersError as error:
            self.error = str(error)
        except Exception as error:
            log.exception("A question could not be answered")
            self.error = went_wrong(error)

    def _read(self) -> None:
        events = self._chat.stream(self._question, self._within)
        try:
            for event in events:
                if self._stopping.is_set():
                    return
                if event.kind == "stage":
                    self.stage = event.text
                elif event.kind == "text":
                    self.text += event.text
                elif event.answer is not None:
                    self.answer = event.answer
        finally:
            events.close()
        if self.answer is None and not self._stopping.is_set():
            self.error = "The answer broke off before it was complete. Please ask again."


def went_wrong(error: Exception) -> str:
    """The sentence for an error that nobody foresaw: its kind, never its text, which might hold anything."""
    kind = type(error).__name__
    return f"Something went wrong inside Ask Papers ({kind}). Please try again; the details are in the terminal."
