"""One reader's conversation on the page, and one question of it being answered.

Runs the library's blocking stream in a thread of its own and hands on what has arrived, about ten times a second. Closes
the stream as soon as the reader stops or leaves. Never raises what the stream raises: it becomes a sentence.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections.abc import AsyncIterator

from rag.errors import AskPapersError
from rag.papers import Answer

log = logging.getLogger(__name__)

EVERY = 0.1
"""Seconds between two updates of the page: 50 answers at once are about what two processor cores can send out."""
BEAT = 1.0
"""Seconds after which an update goes out even if nothing is new: so the page knows that the server lives, and the server
notices that the page has gone."""


class Session:
    """A conversation and the turn that is being answered, if any. Belongs to one open page."""

    def __init__(self, chat: object) -> None:
        self.chat = chat
        self.speaking = threading.Lock()
        """Held while the conversation is in use: a stopped stream may need a moment to end."""
        self.run: Run | None = None
        self._name = "q" + secrets.token_hex(3)
        self._turns = 0

    def next_id(self) -> str:
        """An id for the next turn, unlike any other on the page."""
        self._turns += 1
        return f"{self._name}-{self._turns}"

    def stop(self) -> None:
        """End the turn that is being answered."""
        if self.run:
            self.run.stop()


class Run:
    """One question on its way to an answer. `text`, `stage`, `answer` and `error` grow as events arrive."""

    def __init__(self, session: Session, question: str) -> None:
        self.text = ""
        self.stage = ""
        self.answer: Answer | None = None
        self.error = ""
        self._session = session
        self._question = question
        self._stopping = threading.Event()
        session.run = self

    def stop(self) -> None:
        """Ask the stream to end. Returns at once; the stream is closed when it next hands over an event."""
        self._stopping.set()

    async def updates(self) -> AsyncIterator[None]:
        """Something has changed (or a beat has passed). Ends with the stream, or at once when stopped."""
        loop, over = asyncio.get_running_loop(), asyncio.Event()

        def work() -> None:
            try:
                self._follow()
            finally:
                try:
                    loop.call_soon_threadsafe(over.set)
                except RuntimeError:
                    pass  # the server is closing down

        threading.Thread(target=work, name="answer", daemon=True).start()
        seen, last = ("", 0), time.monotonic()
        while not over.is_set() and not self._stopping.is_set():
            try:
                await asyncio.wait_for(over.wait(), EVERY)
            except asyncio.TimeoutError:
                pass
            now = (self.stage, len(self.text))
            if now != seen or time.monotonic() - last >= BEAT:
                seen, last = now, time.monotonic()
                yield

    def _follow(self) -> None:
        lock = self._session.speaking
        while not lock.acquire(timeout=EVERY):
            self.stage = "Waiting for the stopped answer to end"
            if self._stopping.is_set():
                return
        try:
            self._read()
        except AskPapersError as error:
            self.error = str(error)
        except Exception as error:
            log.exception("A question could not be answered")
            self.error = went_wrong(error)
        finally:
            lock.release()

    def _read(self) -> None:
        events = self._session.chat.stream(self._question)
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
