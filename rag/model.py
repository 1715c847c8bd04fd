"""The configured model as a function: messages in, pieces of text out; any OpenAI-compatible endpoint, through LlamaIndex.

Each request runs in a thread and an event loop of its own, and hands over an empty piece whenever the model is silent: whoever
reads is never stuck in a silent model, can stop at any time, and stopping closes the connection at once. Repeats a request only
before its first word, and only if the server says how: once after a short wait that it asks for, and without a parameter that it
refuses by name. Anything else is for the person who asks to decide. Requests share nothing but what their server refused.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from contextlib import suppress
from functools import lru_cache
from typing import Any, Generator

from llama_index.core.llms import ChatMessage

from .calls import CUT_SHORT, Complete, End
from .endpoint import OPENAI_URL, explain, http_client, refused_parameter, short_wait, silent, unreadable
from .errors import ModelFailed
from .settings import Settings

BEAT = 0.2
"""Seconds of silence after which an empty piece is handed over."""
_AFTER_END = 1.0
"""Seconds that a server may take to hang up, or to tell the usage, once its reply is complete."""


def completer(settings: Settings) -> Complete | None:
    """The configured model, or None without one."""
    if not settings.model:
        return None
    import llama_index.llms.openai_like  # noqa: F401 (a second or two: here, not amid the first answer)

    return lambda messages: _pieces(settings, messages)


def _pieces(settings: Settings, messages: list[tuple[str, str]]) -> Generator[str, None, End]:
    """The model's text. Raises ModelFailed."""
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
            if isinstance(piece, End):
                return piece
            yield piece
    finally:
        request.stop()


class _Request(threading.Thread):
    """One request to the model. Puts pieces into `inbox`, then an End or a ModelFailed."""

    def __init__(self, settings: Settings, messages: list[tuple[str, str]]):
        super().__init__(name="askpapers-model", daemon=True)
        self.inbox: queue.SimpleQueue[str | End | ModelFailed] = queue.SimpleQueue()
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
                self.inbox.put(await self._asked(client))
        except ModelFailed as error:
            self.inbox.put(error)
        except Exception as error:
            # Made here and raised elsewhere, so that it carries no trace of the original, which may repeat the key.
            self.inbox.put(explain(error, self._settings))

    async def _asked(self, client: Any) -> End:
        """The one place where a request is repeated."""
        refused, waited = _refused(self._settings.base_url, self._settings.model), False
        while True:
            try:
                return await self._read(_llm(self._settings, client, refused))
            except Exception as error:
                parameter, wait = refused_parameter(error), short_wait(error)
                if parameter and parameter not in refused:
                    refused.add(parameter)
                elif wait is not None and not waited and wait < self._settings.timeout:
                    waited = True
                    await asyncio.sleep(wait)
                    self.inbox.put("")  # the server is not to blame for this silence
                else:
                    raise

    async def _read(self, llm: Any) -> End:
        reason, usage = None, None
        responses = await llm.astream_chat([ChatMessage(role=role, content=text) for role, text in self._messages])
        while True:
            try:
                response = await asyncio.wait_for(anext(responses), None if reason is None else _AFTER_END)
            except (StopAsyncIteration, asyncio.TimeoutError):
                break
            except Exception:
                if reason is None:
                    raise
                break  # the reply is complete, whatever comes behind it
            reason = _finish_reason(response.raw) or reason
            usage = getattr(response.raw, "usage", None) or usage
            self.inbox.put(response.delta or "")
        if reason is None:  # the connection was closed without an error, which servers do when they die
            raise unreadable(self._settings)
        return End(CUT_SHORT if reason == "length" else "", _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))


def _finish_reason(chunk: Any) -> str | None:
    choices = getattr(chunk, "choices", None)
    return choices[0].finish_reason if choices else None


def _count(usage: Any, name: str) -> int | None:
    """Servers tell all sorts of things."""
    count = getattr(usage, name, None)
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None


@lru_cache(maxsize=64)
def _refused(base_url: str, model: str) -> set[str]:
    """The parameters that this server refused for this model since the process began."""
    return set()


def _llm(settings: Settings, client: Any, refused: set[str]) -> Any:
    from llama_index.llms.openai_like import OpenAILike
    from openai import omit

    extra: dict[str, Any] = {}
    if "stream_options" not in refused:
        extra["stream_options"] = {"include_usage": True}
    if "temperature" in refused:
        extra["temperature"] = omit
    if "max_tokens" in refused:  # the newer name, which most servers don't know yet
        extra |= {"max_tokens": omit, "max_completion_tokens": settings.answer_tokens}
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
        additional_kwargs=extra,
    )
