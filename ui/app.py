"""The chat page: its layout, what happens when someone asks, and the server that shows it.

The server renders every fragment (ui.render) and sends it through one component, the wire; ui/page.js puts it in place.
Never raises from a handler (Gradio would leave the box disabled), never takes an address or a key from the page, and
never lets the page talk to another host.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import webbrowser
from collections.abc import AsyncIterator, Callable
from itertools import count
from pathlib import Path
from typing import Any

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # before Gradio is imported: it calls home when a page is built

import gradio as gr  # noqa: E402
import uvicorn  # noqa: E402
from fastapi import FastAPI  # noqa: E402

from rag.errors import AskPapersError, SettingsError  # noqa: E402
from ui import render  # noqa: E402
from ui.guard import Guard  # noqa: E402
from ui.session import Run, Session, went_wrong  # noqa: E402

log = logging.getLogger(__name__)

LONGEST_QUESTION = 4_000
AT_ONCE = 50
WAITING = 100
KEPT_PAGES = 1_000
"""Pages whose conversation is remembered; Gradio keeps some 60 kB for each."""
KEEP_SESSION = 12 * 3600
"""Seconds after its last question until a conversation that is still open is forgotten."""
FIRST_PORT = 7860
_ICON = (
    "<link rel='icon' href=\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect"
    " width='32' height='32' rx='7' fill='%230b6e5f'/%3E%3Cpath d='M9 10h14M9 16h14M9 22h8' stroke='white'"
    " stroke-width='2.6' stroke-linecap='round'/%3E%3C/svg%3E\">"
)
_FRAME = (
    '<div id="log" role="log" aria-live="polite" aria-label="Conversation"></div><div id="live"></div>'
    '<p id="status" role="status"></p><p id="note" role="alert"></p>'
)
_NO_PAPERS = "This library holds no papers yet. Add some in a terminal with: askpapers add FILE. Then ask again, here."
_PANEL = (
    '<p id="no-sources">The papers that an answer relies on are shown here, with the sentences it relies on marked.</p>'
)


def build(library: Any) -> gr.Blocks:
    """The page for one library. Each reader who opens it has a conversation of their own."""
    page = _Page(library)
    with gr.Blocks(title="Ask Papers", analytics_enabled=False, fill_width=True) as blocks:
        session = gr.State(None, time_to_live=KEEP_SESSION, delete_callback=_forget)
        wire = gr.HTML(
            None,
            html_template="",
            js_on_load="watch('value', () => window.askPapers.receive(props.value))",
            visible="hidden",
            elem_id="wire",
        )
        gr.HTML(f'<header id="masthead">{page.masthead()}</header>', elem_id="top", apply_default_css=False)
        with gr.Row(elem_id="page", equal_height=False):
            with gr.Column(elem_id="chat", min_width=0):
                gr.HTML(_FRAME, elem_id="talk", apply_default_css=False)
                with gr.Row(elem_id="ask", equal_height=False):
                    box = gr.Textbox(
                        label="Question",
                        show_label=False,
                        placeholder="Ask about these papers",
                        lines=1,
                        max_lines=8,
                        container=False,
                        elem_id="question",
                    )
                    send = gr.Button("Ask", variant="primary", elem_id="send", min_width=0)
                    stop = gr.Button("Stop", elem_id="stop", min_width=0)
            gr.HTML(f'<aside id="panel" aria-label="Evidence">{_PANEL}</aside>', elem_id="side", apply_default_css=False)

        quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
        gr.on(
            [box.submit, send.click],
            page.ask,
            inputs=[box, session],
            outputs=[wire, box, session],
            concurrency_limit=AT_ONCE,
            trigger_mode="once",
            **quiet,
        )
        stop.click(_stop, inputs=[session], outputs=None, queue=False, **quiet)
        blocks.load(page.start, inputs=None, outputs=[wire], concurrency_limit=AT_ONCE, **quiet)
    blocks.state_session_capacity = KEPT_PAGES
    return blocks.queue(max_size=WAITING)


class _Page:
    """What the page does, for one library."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self._number = count(1)
        self._examples: tuple[int, list[str]] = (-1, [])

    async def start(self) -> dict:
        """A page has been opened."""
        welcome = await asyncio.to_thread(self._welcome)
        masthead = await asyncio.to_thread(self.masthead)
        return self._message("start", masthead=masthead, welcome=welcome)

    async def ask(self, question: str | None, session: Session | None) -> AsyncIterator[tuple]:
        """A question has been asked: updates of the wire, the box and the session until it is answered."""
        asked = (question or "").strip()
        if not asked:
            yield gr.skip(), gr.skip(), gr.skip()
            return
        if len(asked) > LONGEST_QUESTION:
            note = (
                f"A question can have up to {LONGEST_QUESTION:,} characters; this one has {len(asked):,}."
                " It is still in the box: shorten it and ask again."
            )
            yield self._message("note", note=note), gr.skip(), gr.skip()
            return
        run: Run | None = None
        id, last = "q0", {"turn": "", "evidence": ""}
        try:
            session = session or Session(await asyncio.to_thread(self.library.conversation))
            id = session.next_id()
            draft = render.draft(id, asked)
            yield self._message("live", turn=draft, status=""), gr.update(value="", interactive=False), session
            if await asyncio.to_thread(len, self.library) == 0:
                raise AskPapersError(_NO_PAPERS)
            run = Run(session, asked)
            async for _ in run.updates():
                draft = render.draft(id, asked, run.text)
                yield self._message("live", turn=draft, status=run.stage), gr.skip(), gr.skip()
            failed = run.answer is None and bool(run.error)
            if run.answer is not None:
                last = {"turn": render.turn(id, asked, run.answer), "evidence": render.evidence(id, asked, run.answer)}
            elif failed:
                last["turn"] = render.problem(id, asked, run.error)
            else:
                last["turn"] = render.stopped(id, asked, run.text)
        except AskPapersError as error:
            failed, last["turn"] = True, render.problem(id, asked, str(error))
        except Exception as error:
            log.exception("A question could not be answered")
            failed, last["turn"] = True, render.problem(id, asked, went_wrong(error))
        finally:
            if run:
                run.stop()
        masthead = await asyncio.to_thread(self.masthead)
        restored = gr.update(value=question if failed else "", interactive=True)
        yield self._message("final", id=id, masthead=masthead, **last), restored, session or gr.skip()

    def masthead(self) -> str:
        """The top of the page as of now: papers may have been added since."""
        try:
            detail = getattr(self.library, "mode_detail", "")
            return render.masthead(len(self.library), self.library.mode, detail)
        except Exception as error:
            log.error("The library could not be read", exc_info=error)
            return render.masthead(0, "extractive", trouble="library not readable")

    def _welcome(self) -> str:
        try:
            size = len(self.library)
            if self._examples[0] != size:  # made once for each state of the library: it may be large
                self._examples = (size, render.examples(self.library.papers()))
            return render.welcome(size, self._examples[1])
        except Exception as error:
            return render.unreadable(_said(error))

    def _message(self, op: str, **parts: str) -> dict:
        """For the wire. Numbered, so that no two are the same and none is taken for old."""
        return {"op": op, "number": next(self._number), **parts}


def _said(error: Exception) -> str:
    if isinstance(error, AskPapersError):
        return str(error)
    log.error("The library could not be read", exc_info=error)
    return went_wrong(error)


def _stop(session: Session | None) -> None:
    if session:
        session.stop()


_forget = _stop  # called when a page has gone


def asgi(library: Any) -> FastAPI:
    """The whole server as an ASGI application, for `serve` and for people who run it behind a server of their own."""
    closed: dict[str, Any] = {"docs_url": None, "redoc_url": None, "openapi_url": None}
    app = FastAPI(**closed)
    app.add_middleware(Guard)
    fonts = ["ui-sans-serif", "system-ui", "Segoe UI", "sans-serif"]
    return gr.mount_gradio_app(
        app,
        build(library),
        path="/",
        app_kwargs=closed,
        footer_links=[],
        run_history=False,
        show_error=False,
        ssr_mode=False,
        mcp_server=False,
        pwa=False,
        enable_monitoring=False,
        max_file_size="1kb",
        theme=gr.themes.Base(font=fonts, font_mono=["ui-monospace", "monospace"]),
        head=f"{_ICON}<style>{_asset('style.css')}</style><script>{_asset('page.js')}</script>",
    )


def _asset(name: str) -> str:
    """A file of this folder, for the head of the page. (As `css=` Gradio would rewrite it, and lose some rules.)"""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def serve(
    library: Any,
    host: str = "127.0.0.1",
    port: int | None = None,
    open_browser: bool = True,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Show the page until interrupted. `on_ready` is called with its address as soon as it can be opened."""
    listener = _listen(host, port)
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    address = f"http://{name}:{listener.getsockname()[1]}/"

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

    config = uvicorn.Config(asgi(library), log_level="warning", timeout_graceful_shutdown=1)
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
