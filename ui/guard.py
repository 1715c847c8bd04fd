"""What goes around every response of the page's server: headers that keep the page from reaching any other host.

Plain ASGI, so that streams pass through as they come. Also turns uploads and outsized requests away: the page sends
questions, nothing else. Never keeps a body.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

LARGEST_REQUEST = 1_000_000
"""Bytes. A question has at most a few thousand characters."""
READ_AT_MOST = 20_000_000
"""Bytes of a refused request that are read and thrown away."""

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
    """ASGI middleware."""

    def __init__(self, app: Callable[[Message, Receive, Send], Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in HEADERS}
                kept = [(name, value) for name, value in message.get("headers", []) if name.lower() not in names]
                message = {**message, "headers": [*kept, *HEADERS]}
            await send(message)

        if scope["path"].rstrip("/").endswith("/upload"):
            await _refuse(receive, guarded, 403, b"This page takes no uploads.")
        elif _length(scope) > LARGEST_REQUEST:
            await _refuse(receive, guarded, 413, b"This request is too large.")
        else:
            await self.app(scope, receive, guarded)


def _length(scope: Message) -> int:
    value = dict(scope.get("headers", [])).get(b"content-length", b"0")
    return int(value) if value.isdigit() else 0


async def _refuse(receive: Receive, send: Send, status: int, why: bytes) -> None:
    read = 0
    while read < READ_AT_MOST:  # a sender that is cut off while it sends doesn't hear why
        message = await receive()
        read += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(why)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": why})
