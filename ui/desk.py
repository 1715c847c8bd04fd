"""The page's own addresses under /desk: the library, the conversations, exports, opinions and the settings, as fragments and files.

Everything of a person is reached only with that browser's cookie, which ui.guard hands out; another's conversation answers like one
that never was. Errors come back as one sentence of plain text.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from rag import export
from rag.errors import AskPapersError
from ui import feedback, reader, sheets
from ui.chat import OLD_PAGE, Asked, Page
from ui.options import sheet
from ui.session import went_wrong
from ui.shelf import SORTS, Scope

log = logging.getLogger(__name__)

MOST_REMOVED = 1_000
_GONE = "This conversation is not there (any more)."
_FIXED = "On this page papers can't be added or removed: it can be reached by others without a password."
_FILES = {"markdown": ("md", "text/markdown"), "bibtex": ("bib", "application/x-bibtex"), "ris": ("ris", "application/x-research-info-systems")}


def routes(page: Page) -> APIRouter:
    """All of them, for one page."""
    router = APIRouter(prefix="/desk")

    def on(method: str, path: str, change: bool = False) -> Callable:
        """`handler(owner, request data, **path)` at this address; it runs in a thread of its own."""

        def register(handler: Callable[..., Response]) -> Callable[..., Response]:
            async def answer(request: Request) -> Response:
                owner = reader.owner(request.cookies)
                if owner is None:
                    return _sorry(OLD_PAGE, 403)
                if change and not page.may_change:
                    return _sorry(_FIXED, 403)
                try:
                    data = await _data(request)
                    return await asyncio.to_thread(handler, owner, data, **request.path_params)
                except HTTPException as error:
                    return _sorry(str(error.detail), error.status_code)
                except AskPapersError as error:
                    return _sorry(str(error), 409)
                except Exception as error:
                    log.exception("A part of the page failed")
                    return _sorry(went_wrong(error), 500)

            router.add_api_route(path, answer, methods=[method], response_model=None)
            return handler

        return register

    @on("GET", "/state")
    def state(owner: str, data: dict[str, Any]) -> Response:
        return JSONResponse({**page.state(str(data.get("context", ""))), "venues": sheets.places(page.shelf.venues())})

    @on("POST", "/scope")
    def scope(owner: str, data: dict[str, Any]) -> Response:
        asked = Scope.read(data)
        return HTMLResponse(sheets.asking(asked, asked.of(page.shelf.rows())))

    # The library

    @on("GET", "/library")
    def library(owner: str, data: dict[str, Any]) -> Response:
        rows = page.shelf.rows()
        found = sheets.shelf(rows, len(rows), Scope(), "added", 1, page.may_change)
        reports = "".join(_adding(page, owner, key) for key in page.intake.untold(owner))
        return HTMLResponse(sheets.library(found, page.shelf.venues(), page.may_change, reports))

    @on("GET", "/shelf")
    def shelf(owner: str, data: dict[str, Any]) -> Response:
        return HTMLResponse(_shelf(page, data))

    @on("GET", "/abstract")
    def abstract(owner: str, data: dict[str, Any]) -> Response:
        return HTMLResponse(sheets.abstract(page.library.paper(str(data.get("id", "")))))

    @on("POST", "/remove", change=True)
    def remove(owner: str, data: dict[str, Any]) -> Response:
        ids = [i for i in data.get("ids", []) if isinstance(i, str)][:MOST_REMOVED]
        page.library.remove(*ids)
        return HTMLResponse(_shelf(page, data.get("seek") if isinstance(data.get("seek"), dict) else {}))

    @on("POST", "/papers", change=True)
    def add(owner: str, data: dict[str, Any]) -> Response:
        key = page.intake.begin(owner, str(data.get("name", "")), data["body"])
        return HTMLResponse(_adding(page, owner, key))

    @on("GET", "/adding/{key}")
    def adding(owner: str, data: dict[str, Any], key: str) -> Response:
        return HTMLResponse(_adding(page, owner, key, "seen" in data))

    # Conversations

    @on("GET", "/talks")
    def talks(owner: str, data: dict[str, Any]) -> Response:
        return HTMLResponse(sheets.talks(page.history.list(owner), str(data.get("open", ""))))

    @on("GET", "/talks/{id}")
    def talk(owner: str, data: dict[str, Any], id: str) -> Response:
        title, turns = _of(page, owner, id)
        return JSONResponse({"title": title, "turns": [page.shown(f"k{id[:8]}-{turn.number}", turn, turn.number) for turn in turns]})

    @on("POST", "/talks/{id}/title")
    def rename(owner: str, data: dict[str, Any], id: str) -> Response:
        page.history.rename(owner, id, str(data.get("title", "")))
        return talks(owner, data)

    @on("POST", "/talks/{id}/delete")
    def delete(owner: str, data: dict[str, Any], id: str) -> Response:
        page.history.delete(owner, id)
        return talks(owner, data)

    @on("GET", "/talks/{id}/{kind}")
    def exported(owner: str, data: dict[str, Any], id: str, kind: str) -> Response:
        if kind not in _FILES:
            raise HTTPException(404, "There is no such export.")
        title, turns = _of(page, owner, id)
        ending, media = _FILES[kind]
        papers = export.cited(turn.answer for turn in turns)
        if kind == "markdown":
            text = export.markdown(title, [export.Exchange(turn.question, turn.answer, turn.scope) for turn in turns])
        else:
            text = export.bibtex(*papers) if kind == "bibtex" else export.ris(*papers)
        name = re.sub(r"[^\w -]", "", title).strip()[:60] or "conversation"
        disposition = f"attachment; filename=\"conversation.{ending}\"; filename*=UTF-8''{quote(name)}.{ending}"
        return Response(text.encode(errors="replace"), media_type=f"{media}; charset=utf-8", headers={"content-disposition": disposition})

    @on("POST", "/talks/{id}/rate")
    def rate(owner: str, data: dict[str, Any], id: str) -> Response:
        _, turns = _of(page, owner, id)
        turn = next((turn for turn in turns if str(turn.number) == str(data.get("number"))), None)
        vote, told = data.get("vote"), "words" in data
        if turn is None or vote not in feedback.VOTES:
            raise HTTPException(404, _GONE)
        if page.limits.refusal(owner, ""):
            raise HTTPException(429, "These are many opinions in a short time. Please wait a little.")
        words = feedback.shortened(str(data["words"])) if told else turn.words
        feedback.note(page.folder, id, turn, vote, words)
        page.history.rate(owner, id, turn.number, vote, words)
        return HTMLResponse(sheets.rating(vote, words, asking=not told, noted=told))

    @on("GET", "/settings")
    def settings(owner: str, data: dict[str, Any]) -> Response:
        facts = {"Library": str(page.folder or "in memory")} if page.may_change else {}
        facts["Conversations"] = "kept on this computer, beside the papers" if page.history.kept else "kept until Ask Papers is closed"
        return HTMLResponse(sheet(page.library.settings, Asked.read(str(data.get("context", ""))).options, facts))

    return router


def _shelf(page: Page, data: dict[str, Any]) -> str:
    scope, rows = Scope.read({**data, "ids": None}), page.shelf.rows()
    number = str(data.get("page", "1"))
    sort = str(data.get("sort", ""))
    at = int(number) if number.isascii() and number.isdigit() and len(number) < 7 else 1
    return sheets.shelf(scope.of(rows), len(rows), scope, sort if sort in SORTS else "added", at, page.may_change)


def _adding(page: Page, owner: str, key: str, seen: bool = True) -> str:
    work = page.intake.look(owner, key)
    if work is None:
        raise HTTPException(404, "What became of this file is not known any more; the list shows what is in the library.")
    over = work.over  # once: it may end in between
    work.told = work.told or over and seen
    return sheets.adding(key, work, over, 0 if over else len(page.library) - work.before)


def _of(page: Page, owner: str, id: str) -> tuple[str, list]:
    title = page.history.title(owner, id)
    if title is None:
        raise HTTPException(404, _GONE)
    return title, page.history.turns(owner, id)


async def _data(request: Request) -> dict[str, Any]:
    """What was sent: the query, with the JSON of the body, or its bytes as `body`."""
    data: dict[str, Any] = dict(request.query_params)
    if request.method == "POST":
        if request.headers.get("content-type", "").startswith("application/json"):
            try:
                sent = await request.json()
            except (ValueError, RecursionError):
                sent = None
            if not isinstance(sent, dict):
                raise HTTPException(400, "This request can't be understood.")
            data.update(sent)
        else:
            data["body"] = await request.body()
    return data


def _sorry(sentence: str, status: int) -> PlainTextResponse:
    return PlainTextResponse(sentence, status_code=status)
