"""The chat page: its layout, and the server application that shows it.

The server renders every fragment and sends it through one component, the wire; ui/page.js puts it in place. What stands around the
answers comes from ui.desk and is put in place by ui/panels.js, shelf.js and talks.js. Never lets the page talk to another host.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # before Gradio is imported: it calls home when a page is built

import gradio as gr  # noqa: E402
from fastapi import FastAPI  # noqa: E402
from fastapi.staticfiles import StaticFiles  # noqa: E402

from ui import api, desk, reader  # noqa: E402
from ui.chat import Asked, Page  # noqa: E402
from ui.guard import Guard  # noqa: E402

AT_ONCE = 50
WAITING = 200
KEPT_PAGES = 1_000
"""Pages that Gradio remembers; it keeps some 60 kB for each."""
_ICON = (
    "<link rel='icon' href=\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect"
    " width='32' height='32' rx='7' fill='%230b6e5f'/%3E%3Cpath d='M9 10h14M9 16h14M9 22h8' stroke='white'"
    " stroke-width='2.6' stroke-linecap='round'/%3E%3C/svg%3E\">"
)
_RAIL = (
    '<div id="rail"><header id="masthead">{masthead}</header><nav id="desk" aria-label="Conversations and library">'
    '<button type="button" class="nav" data-do="fresh" aria-label="New conversation">New<span> conversation</span></button>'
    '<button type="button" class="nav" data-do="talks" aria-expanded="false" aria-controls="talks">Conversations</button><ul id="talks"></ul>'
    '<button type="button" class="nav" data-sheet="desk/library">Library</button>'
    '<button type="button" class="nav" data-sheet="desk/settings">Settings</button></nav></div>'
)
_FRAME = (
    '<div id="log" role="log" aria-live="polite" aria-label="Conversation"></div><div id="live"></div>'
    '<p id="status" role="status"></p><p id="note" role="alert"></p>'
)
_ABOVE_BOX = (
    '<div id="scope" hidden><p></p><button type="button" class="quiet" data-do="scope-all">Ask all papers</button></div>'
    '<div id="editing" hidden><p role="status"></p><button type="button" class="quiet" data-do="edit-not">Cancel</button></div>'
)
_PANEL = '<p id="no-sources">The papers that an answer relies on are shown here, with the sentences it relies on marked.</p>'
_SHEET = (
    '<dialog id="sheet" aria-labelledby="sheet-title"><button type="button" class="close" data-do="close" aria-label="Close">×</button>'
    '<p id="sheet-note" role="alert"></p><div id="sheet-body"></div></dialog>'
)


def build(page: Page) -> gr.Blocks:
    """The page for one library."""
    with gr.Blocks(title="Ask Papers", analytics_enabled=False, fill_width=True) as blocks:
        wire = gr.HTML(
            None,
            html_template="",
            js_on_load="watch('value', () => window.askPapers.receive(props.value))",
            visible="hidden",
            elem_id="wire",
        )
        context = gr.Textbox(visible=False)  # filled by the page's script, each time something is asked
        gr.HTML(_RAIL.format(masthead=page.masthead()), elem_id="top", apply_default_css=False)
        with gr.Row(elem_id="page", equal_height=False):
            with gr.Column(elem_id="chat", min_width=0):
                gr.HTML(_FRAME, elem_id="talk", apply_default_css=False)
                with gr.Column(elem_id="foot", min_width=0):
                    gr.HTML(_ABOVE_BOX, elem_id="above", apply_default_css=False)
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
        gr.HTML(_SHEET, elem_id="sheets", apply_default_css=False)

        async def answer(question: str | None, sent: str | None, request: gr.Request) -> AsyncIterator[Any]:
            address = request.client.host if request.client else ""
            messages = page.ask(question, sent, _cookies(request), address)
            try:
                async for message in messages:
                    yield message
            finally:
                await messages.aclose()

        def stop_it(sent: str | None, request: gr.Request) -> None:
            page.stop(reader.owner(_cookies(request)), Asked.read(sent).run)

        quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
        gr.on(
            [box.submit, send.click],
            answer,
            inputs=[box, context],
            outputs=[wire],
            concurrency_limit=AT_ONCE,
            trigger_mode="multiple",  # the page's script lets no question go while another is answered
            js="(question) => window.askPapersDesk.asking(question)",
            **quiet,
        )
        stop.click(stop_it, inputs=[context], outputs=None, queue=False, js="() => [window.askPapersDesk.context()]", **quiet)
        blocks.load(page.start, inputs=[context], outputs=[wire], concurrency_limit=AT_ONCE, js="() => [window.askPapersDesk.context()]", **quiet)
        api.endpoints(page, AT_ONCE)
    blocks.state_session_capacity = KEPT_PAGES
    return blocks.queue(max_size=WAITING)


def _cookies(request: gr.Request) -> dict[str, str]:
    return dict(request.request.cookies) if request.request else dict(request.kwargs.get("cookies", {}))


def asgi(library: Any, may_change: bool = True, local: bool = False, login: str = "", root_path: str = "") -> FastAPI:
    """The whole server as an ASGI application, for `serve` and for people who run it behind a server of their own.

    `may_change`: whether papers can be added and removed here. `local`: only names of this computer may be used for it. `login`:
    "user:password", which every request must give. `root_path`: the path, or the whole address, under which a proxy shows it.
    """
    page = Page(library, may_change)
    page.warm_up()
    closed: dict[str, Any] = {"docs_url": None, "redoc_url": None, "openapi_url": None}
    app = FastAPI(**closed)
    app.add_middleware(Guard, local=local, login=login, root=root_path)
    app.include_router(desk.routes(page))
    app.mount("/fonts", StaticFiles(directory=Path(__file__).parent / "fonts"))
    fonts = ["ui-sans-serif", "system-ui", "Segoe UI", "sans-serif"]
    looks = "".join(map(_asset, ("style.css", "panels.css")))
    scripts = "".join(map(_asset, ("page.js", "lists.js", "panels.js", "shelf.js", "talks.js")))
    return gr.mount_gradio_app(
        app,
        build(page),
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
        root_path=root_path.rstrip("/") or None,
        theme=gr.themes.Base(font=fonts, font_mono=["ui-monospace", "monospace"]),
        head=f"{_ICON}<style>{looks}</style><script>{scripts}</script>",
    )


def _asset(name: str) -> str:
    """A file of this folder, for the head of the page. (As `css=` Gradio would rewrite it, and lose some rules.)"""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
