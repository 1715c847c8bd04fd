"""The two endpoints that other programs may call, through gradio_client or plain HTTP: `ask` and `search`.

They answer with the data that `askpapers ask --json` and `askpapers search --json` print. Never keeps a conversation.
"""

from __future__ import annotations

import logging
from typing import Any, Callable

import gradio as gr

from rag.errors import AskPapersError
from ui.chat import LONGEST_QUESTION, Page
from ui.session import went_wrong
from ui.shelf import MOST_CHOSEN

log = logging.getLogger(__name__)

MOST_HITS = 100


def endpoints(page: Page, at_once: int) -> None:
    """Adds them to the Blocks that are being built."""

    def ask(question: str, papers: list[str] | None = None, request: gr.Request = None) -> dict:  # type: ignore[assignment]
        """The answer to one question, with its citations. `papers`: ids of the only papers to answer from."""
        within = [i for i in papers if isinstance(i, str)][:MOST_CHOSEN] if isinstance(papers, list) and papers else None
        return _guarded(page, question, request, lambda asked: page.library.ask(asked, within).to_dict())

    def search(query: str, limit: int = 10, request: gr.Request = None) -> list[dict]:  # type: ignore[assignment]
        """The papers nearest to the query, best first."""
        number = limit if type(limit) is int and 0 < limit <= MOST_HITS else 10
        return _guarded(page, query, request, lambda asked: [hit.to_dict() for hit in page.library.search(asked, number)])

    for function in (ask, search):
        gr.api(function, api_name=function.__name__, concurrency_limit=at_once)


def _guarded(page: Page, text: Any, request: gr.Request | None, work: Callable[[str], Any]) -> Any:
    asked = text.strip() if isinstance(text, str) else ""
    if not 0 < len(asked) <= LONGEST_QUESTION:
        raise gr.Error(f"A question must have 1 to {LONGEST_QUESTION:,} characters.", print_exception=False)
    refusal = page.limits.refusal(None, request.client.host if request and request.client else "")
    if refusal:
        raise gr.Error(refusal, print_exception=False)
    page.warm()
    try:
        return work(asked)
    except AskPapersError as error:
        raise gr.Error(str(error), print_exception=False) from error
    except Exception as error:
        log.exception("A call of the page's endpoints failed")
        raise gr.Error(went_wrong(error), print_exception=False) from None
