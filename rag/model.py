"""The configured model as a function: messages in, pieces of text out; any OpenAI-compatible endpoint, through LlamaIndex.

Each request runs in a thread and an event loop of its own, and hands over an empty piece whenever the model is silent: whoever
reads is never stuck in a silent model, can stop at any time, and stopping closes the connection at once. Retries nothing: the
person who asks decides. Shares nothing between requests.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from contextlib import suppress
from typing import Any, Callable, Generator

from llama_index.core.llms import ChatMessage

from .endpoint import OPENAI_URL, explain, http_client, silent, unreadable
from .errors import ModelFailed
from .generative import CUT_SHORT, Complete
from .settings import Settings

BEAT = 0.2
"""Seconds of silence after which an empty piece is handed over."""


def completer(settings: Settings) -> Complete | None:
    """The configured model, or None without one."""
    if not settings.model:
        return None
    import llama_index.llms.openai_like  # noqa: F401 (a second or two: here, not amid the first answer)

    return lambda messages: _pieces(settings, messages)


def _pieces(settings: Settings, messages: list[tuple[str, str]]) -> Generator[str, None, str]:
    """The model's text; returns CUT_SHORT if it ran into its limit. Raises ModelFailed."""
    request = _Request(settings, messages)
    request.start()
    heard = time.monotonic()
    try:
        while True:
            try:
                piece = request.inbox.get(timeout=BEAT)
            except queue.Empty:
                if time.monotonic() - heard > settings.timeout + BEAT:  # bytes without words keep a connection alive, too
                    raise silent(settings) from None
                yield ""
                continue
            heard = time.monotonic()
            if isinstance(piece, ModelFailed):
                raise piece
            if isinstance(piece, _End):
                return piece.reason
            yield piece
    finally:
        request.stop()


class _End:
    """The last thing in the inbox of a request that went well."""

    def __init__(self, reason: str):
        self.reason = reason


class _Request(threading.Thread):
    """One request to the model. Puts pieces into `inbox`, then an _End or a ModelFailed."""

    def __init__(self, settings: Settings, messages: list[tuple[str, str]]):
        super().__init__(name="askpapers-model", daemon=True)
        self.inbox: queue.SimpleQueue[str | _End | ModelFailed] = queue.SimpleQueue()
        self._settings = settings
        self._messages = messages
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

    def run(self) -> None:
        loop = asyncio.new_event_loop()
        try:
            self._task = loop.create_task(self._talk())
            if self._stopped:
                self._task.cancel()
            with suppress(asyncio.CancelledError):
                loop.run_until_complete(self._task)
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()

    def stop(self) -> None:
        """Cancels the request, which closes its connection. Returns at once; does nothing if the request has ended."""
        self._stopped = True
        if self._task:
            with suppress(RuntimeError):  # the loop is closed: nothing is left to cancel
                self._task.get_loop().call_soon_threadsafe(self._task.cancel)

    async def _talk(self) -> None:
        try:
            async with http_client(self._settings) as client:
                self.inbox.put(_End(await self._read(_llm(self._settings, client))))
        except ModelFailed as error:
            self.inbox.put(error)
        except Exception as error:
            # Made here and raised elsewhere, so that it carries no trace of the original, which may repeat the key.
            self.inbox.put(explain(error, self._settings))

    async def _read(self, llm: Any) -> str:
        reason = None
        async for response in await llm.astream_chat([ChatMessage(role=role, content=text) for role, text in self._messages]):
            reason = _finish_reason(response.raw) or reason
            self.inbox.put(response.delta or "")
        if reason is None:  # the connection was closed without an error, which servers do when they die
            raise unreadable(self._settings)
        return CUT_SHORT if reason == "length" else ""


def _finish_reason(chunk: Any) -> str | None:
    choices = getattr(chunk, "choices", None)
    return choices[0].finish_reason if choices else None


def _llm(settings: Settings, client: Any) -> Any:
    from llama_index.llms.openai_like import OpenAILike

    return OpenAILike(
        model=settings.model,
        api_base=settings.base_url or OPENAI_URL,
        api_key="none",  # the client signs, for its own host only; here the key would show in a repr
        is_chat_model=True,
        context_window=settings.context_tokens,
        max_tokens=settings.answer_tokens,
        temperature=0.0,
        timeout=settings.timeout,
        max_retries=0,
        async_http_client=client,
    )
