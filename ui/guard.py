"""What goes around every request of the page's server: who may come in, what may be sent, and headers that keep the page from
reaching any other host.

Plain ASGI, so that streams pass through as they come. Turns away other names for this computer (a page elsewhere may have its name
point here), other pages' requests, outsized ones, and all without the password if there is one. Never keeps a body.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from ui import reader

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

LARGEST_REQUEST = 1_000_000
"""Bytes. A question has at most a few thousand characters."""
LARGEST_FILE = 25_000_000
"""Bytes of one file of papers: some 15,000 abstracts."""
FILES = "/desk/papers"
"""Where files are sent to."""
READ_AT_MOST = 40_000_000
"""Bytes of a refused request that are read and thrown away."""
LOCAL = frozenset(["127.0.0.1", "localhost", "::1"])
_WRONG_PASSWORD_COSTS = 0.5
"""Seconds."""

POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data: blob:",
        "media-src 'self' blob:",
        "style-src 'self' 'unsafe-inline'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",  # Gradio's own page needs inline scripts and eval
        "connect-src 'self'",
        "font-src 'self' data:",
        "frame-src 'none'",
        "object-src 'none'",
        "form-action 'self'",
        "base-uri 'self'",
        "frame-ancestors 'self'",
    )
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


class Guard:
    """ASGI middleware. `local`: only names of this computer itself may be used for it. `login`: "user:password", or empty. `root`:
    the path, or the whole address, under which a proxy shows the page."""

    def __init__(self, app: Callable[[Message, Receive, Send], Awaitable[None]], local: bool = False, login: str = "", root: str = "") -> None:
        self.app = app
        self._local = local
        self._login = login.encode()
        self._root = urlsplit(root).path.rstrip("/")
        self._public = urlsplit(root).netloc.lower()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing here speaks another protocol
        headers = {name: value.decode("latin-1") for name, value in scope.get("headers", [])}
        if self._root and scope["path"].startswith(self._root + "/"):  # a proxy that doesn't take its prefix off
            scope = {**scope, "path": scope["path"][len(self._root) :], "raw_path": None}
        cookie = self._cookie(scope, headers)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in HEADERS}
                kept = [(name, value) for name, value in message.get("headers", []) if name.lower() not in names]
                message = {**message, "headers": [*kept, *HEADERS, *([(b"set-cookie", cookie)] if cookie else [])]}
            await send(message)

        status, why = self._objection(scope, headers)
        if status == 401 and "authorization" in {name.decode("latin-1") for name in headers}:
            await asyncio.sleep(_WRONG_PASSWORD_COSTS)
        if status:
            await _refuse(receive, guarded if status != 401 else send, status, why)
        else:
            await self.app(scope, receive, guarded)

    def _objection(self, scope: Message, headers: dict[bytes, str]) -> tuple[int, str]:
        """(status, sentence), or (0, "") for a request that may pass."""
        host = headers.get(b"host", "").lower()
        if self._local and _name_of(host) not in LOCAL:
            return 403, "This page is for this computer only: open it as http://127.0.0.1 or http://localhost, with its port."
        if self._login and not _knows(headers.get(b"authorization", ""), self._login):
            return 401, "This page needs its user name and password."
        origin = headers.get(b"origin")
        known = {host, headers.get(b"x-forwarded-host", "").lower(), self._public} - {""}
        if origin is not None and urlsplit(origin.lower()).netloc not in known:  # Gradio would let any page in, off this computer
            return 403, "Another page may not send or read anything here."
        if b"content-length" not in headers and b"transfer-encoding" in headers:
            return 411, "A request must say how large it is."
        if scope["path"].rstrip("/").endswith("/upload"):
            return 403, "Nothing can be uploaded here."
        if _length(headers) > (LARGEST_FILE if scope["path"] == FILES else LARGEST_REQUEST):
            largest = f"{LARGEST_FILE // 1_000_000} MB is the most for one file" if scope["path"] == FILES else "this request is too large"
            return 413, f"{largest[0].upper()}{largest[1:]}."
        return 0, ""

    def _cookie(self, scope: Message, headers: dict[bytes, str]) -> bytes:
        """For the page itself, the cookie that tells this browser from others."""
        if scope["method"] != "GET" or scope["path"] not in ("", "/"):
            return b""
        try:
            found = SimpleCookie(headers.get(b"cookie", "")).get(reader.COOKIE)
        except CookieError:
            found = None
        secure = scope.get("scheme") == "https" or headers.get(b"x-forwarded-proto", "") == "https"
        return reader.cookie(found.value if found else "", self._root + "/", secure).encode()


def _knows(authorization: str, login: bytes) -> bool:
    kind, _, value = authorization.partition(" ")
    try:
        given = base64.b64decode(value, validate=True) if kind.lower() == "basic" else b""
    except (binascii.Error, ValueError):
        given = b""
    return secrets.compare_digest(given, login)


def _name_of(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _length(headers: dict[bytes, str]) -> int:
    value = headers.get(b"content-length", "0")
    return int(value) if value.isdigit() else 0


async def _refuse(receive: Receive, send: Send, status: int, why: str) -> None:
    read = 0
    while read < READ_AT_MOST:  # a sender that is cut off while it sends doesn't hear why
        message = await receive()
        read += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    body = why.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    headers += [(b"www-authenticate", b'Basic realm="Ask Papers", charset="UTF-8"')] if status == 401 else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
