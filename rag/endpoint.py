"""An OpenAI-compatible endpoint over HTTP: a client that signs for one host only, and what its failures mean in words.

Never repeats a key, follows a redirect, or sends the key to another host than the one it is for. Imports httpx and openai only
when they are used.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .errors import ModelFailed
from .settings import OPENAI_HOST, Settings

if TYPE_CHECKING:
    import httpx

OPENAI_URL = f"https://{OPENAI_HOST}/v1"
_CONNECT = 10.0
"""Seconds to wait for a connection; a running server gives it at once."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_TOO_LONG = re.compile(r"context|too long|too many tokens|maximum.{0,20}tokens|prompt is too", re.IGNORECASE)
_PARAMETERS = {"stream_options": "include_usage", "max_tokens": "max_completion_tokens", "temperature": "temperature"}
"""What we ask for and can do without, each with another name that a refusal may use."""
_LONGEST_WAIT = 5.0
"""Seconds; who is to wait longer is told so, and may ask again."""
_OURS = frozenset("authorization host accept accept-encoding connection content-type content-length transfer-encoding".split())
"""Headers that any host gets."""
_KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|hf|xai|key)[-_][\w*.-]{6,}|\bBearer\s+\S+|(?<=//)[^/\s@]+@", re.IGNORECASE)


def http_client(settings: Settings) -> httpx.AsyncClient:
    """A client for the model's endpoint. Its requests to that very host carry the key; no other request does."""
    import httpx

    home = httpx.URL(settings.base_url or OPENAI_URL)

    async def sign(request: httpx.Request) -> None:
        request.headers.pop("Authorization", None)
        only_ours(request)
        at_home = (request.url.scheme, request.url.host, request.url.port) == (home.scheme, home.host, home.port)
        if at_home and settings.api_key:
            request.headers["Authorization"] = f"Bearer {settings.api_key.reveal()}"

    return httpx.AsyncClient(
        follow_redirects=False,
        timeout=httpx.Timeout(settings.timeout, connect=min(_CONNECT, settings.timeout)),
        verify=_certificates() if home.scheme == "https" else False,
        trust_env=home.host not in _LOOPBACK,  # no proxy can reach this very machine
        event_hooks={"request": [sign]},
    )


def only_ours(request: httpx.Request) -> None:
    """Takes out whatever the openai client adds from its environment variables, unless the request goes to OpenAI."""
    if request.url.host != OPENAI_HOST:
        for name in [name for name in request.headers if name not in _OURS]:
            del request.headers[name]
        request.headers["User-Agent"] = "askpapers"


@lru_cache(maxsize=1)
def _certificates() -> Any:
    import httpx

    return httpx.create_ssl_context()  # a tenth of a second


def explain(error: Exception, settings: Settings) -> ModelFailed:
    """A sentence on what happened and one on what to do, for any exception that a request to the model raised."""
    import httpx
    import openai

    who = _who(settings)
    if isinstance(error, (openai.APITimeoutError, httpx.TimeoutException)):
        return silent(settings)
    if isinstance(error, openai.APIConnectionError):
        if "CERTIFICATE_VERIFY_FAILED" in str(error.__cause__):
            return ModelFailed(f"{who} has a certificate that this computer does not trust. Set SSL_CERT_FILE to the one that signed it.")
        return ModelFailed(f"{who} can't be reached. Is the server running, and OPENAI_BASE_URL right?")
    if isinstance(error, openai.APIStatusError):
        return _refused(error, settings)
    if isinstance(error, openai.APIError):  # told in the middle of a stream
        if _TOO_LONG.search(str(error)):
            return _too_long(settings)
        return ModelFailed(f"{who} broke off its answer{_words(error, settings)}. Try again.")
    return unreadable(settings)


def silent(settings: Settings) -> ModelFailed:
    return ModelFailed(f"{_who(settings)} said nothing for {settings.timeout:g} seconds. Try again, or raise ASKPAPERS_TIMEOUT.")


def unreadable(settings: Settings) -> ModelFailed:
    """A reply that ends too early, or is none."""
    return ModelFailed(
        f"{_who(settings)} broke off its answer, or gave one that can't be read. Try again; if it stays so, check that "
        "OPENAI_BASE_URL is an OpenAI-compatible address (it usually ends in /v1)."
    )


def refused_parameter(error: Exception) -> str:
    """Which of the parameters that can be done without the server refuses by name; empty if none."""
    import openai

    if not isinstance(error, openai.APIStatusError) or error.status_code not in (400, 422):
        return ""
    words = json.dumps(error.body) if isinstance(error.body, (dict, list)) else str(error.body)
    if _TOO_LONG.search(words):
        return ""
    return next((name for name, other in _PARAMETERS.items() if name in words or other in words), "")


def short_wait(error: Exception) -> float | None:
    """Seconds after which the server, busy now, asks to be asked again; None if it doesn't say, or says too many."""
    import openai

    if not isinstance(error, openai.APIStatusError) or error.status_code not in (429, 503):
        return None
    try:
        seconds = float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds <= _LONGEST_WAIT else None


def _refused(error: Any, settings: Settings) -> ModelFailed:
    who, status = _who(settings), error.status_code
    if status == 401:
        if not settings.api_key:
            return ModelFailed(f"{who} asks for a key. Set OPENAI_API_KEY.")
        return ModelFailed(f"{who} refused the key. Check OPENAI_API_KEY.")
    if status == 403:
        return ModelFailed(f"{who} does not allow this key to use the model. Check OPENAI_API_KEY and OPENAI_MODEL.")
    if status == 404:
        return ModelFailed(f"{settings.model_host} knows no model {settings.model}, or OPENAI_BASE_URL lacks its /v1. Check both.")
    if status == 429:
        wait = error.response.headers.get("retry-after", "")
        again = f"in {wait} seconds" if wait.isdigit() and len(wait) < 6 else "later"
        return ModelFailed(f"{who} takes no more requests now (rate limit or quota). Try again {again}.")
    if 300 <= status < 400:
        return ModelFailed(
            f"{settings.model_host} redirects to another address, which is not followed. Set OPENAI_BASE_URL to the final one."
        )
    if status == 413 or (status < 500 and _TOO_LONG.search(_message(error))):
        return _too_long(settings)
    if status < 500:
        return ModelFailed(f"{who} refused the request with error {status}{_words(error, settings)}. Is it a chat model?")
    return ModelFailed(f"{who} failed with error {status}{_words(error, settings)}. Try again later.")


def _too_long(settings: Settings) -> ModelFailed:
    return ModelFailed(
        f"{_who(settings)} found the question and its papers too long. Set ASKPAPERS_CONTEXT_TOKENS to the model's context size "
        f"(it is {settings.context_tokens} now), or ASKPAPERS_PAPERS_IN_PROMPT lower."
    )


def _who(settings: Settings) -> str:
    return f"{settings.model} at {settings.model_host}"


def _words(error: Any, settings: Settings) -> str:
    """The server's own words, short and without anything like a key: often they alone say what is wrong."""
    words = " ".join(_message(error).split())
    if settings.api_key:
        words = words.replace(settings.api_key.reveal(), "***")
    words = _KEY_LIKE.sub("***", words)
    if not words or "<" in words:  # a web page
        return ""
    return f" (“{words if len(words) <= 200 else words[:200] + '…'}”)"


def _message(error: Any) -> str:
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        told = inner.get("message") or inner.get("detail") if isinstance(inner, dict) else inner
        return told if isinstance(told, str) else json.dumps(inner)
    return body if isinstance(body, str) else ""
