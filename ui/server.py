"""The chat page served until it is interrupted: the socket, the port, the browser, and who may reach it."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import webbrowser
from collections.abc import Callable
from typing import Any

import uvicorn

from rag.errors import SettingsError
from ui.app import asgi
from ui.guard import LOCAL

FIRST_PORT = 7860


def serve(
    library: Any,
    host: str = "127.0.0.1",
    port: int | None = None,
    open_browser: bool = True,
    on_ready: Callable[[str], None] | None = None,
    login: str = "",
    root_path: str = "",
) -> None:
    """Show the page until interrupted. `on_ready` is called with its address as soon as it can be opened. `login`:
    "user:password", asked of everybody. `root_path`: the path, or the whole address, under which a proxy shows the page.

    Where others can reach it and there is no password, papers can't be added or removed on it.
    """
    listener = _listen(host, port)
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    address = f"http://{name}:{listener.getsockname()[1]}/"
    alone = host in LOCAL
    app = asgi(library, may_change=alone or bool(login), local=alone and not root_path, login=login, root_path=root_path)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if on_ready:
                on_ready(address)
            if open_browser:
                asyncio.get_running_loop().run_in_executor(None, webbrowser.open, address)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # open pages being cut off is no error
            await super().shutdown(sockets)

    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1, server_header=False)
    try:
        Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        listener.close()


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket on `port`, or on the first free one from 7860."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in [port] if port is not None else [*range(FIRST_PORT, FIRST_PORT + 100), 0]:
        listener = socket.socket(family, socket.SOCK_STREAM)
        if os.name == "posix":  # elsewhere it would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, candidate))
            return listener
        except OSError as error:
            listener.close()
            reason = error.strerror or str(error)
    raise SettingsError(f"The page can't be served at {host}, port {port}: {reason}. Choose another --port or --host.")
