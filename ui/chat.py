"""What happens when someone asks: from a question and what the page sends along to the messages that show the answer.

Never raises from a handler (Gradio would show nothing), never takes an address or a key from the page, and keeps every question
that was asked, with what became of it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from rag.errors import AskPapersError
from rag.history import MOST_TURNS, History, Turn
from ui import reader, render, sheets
from ui.adding import Intake
from ui.options import Options
from ui.session import Run, went_wrong
from ui.shelf import Scope, Shelf

log = logging.getLogger(__name__)

LONGEST_QUESTION = 4_000
LONGEST_CONTEXT = 200_000
REMEMBERED = 20
"""Turns before a question that it may refer to."""
MOST_UNENDED = 4
"""Streams of one reader that were stopped and have not come to an end yet."""
_WARM_WITHIN = 60.0
_NO_PAPERS = "This library holds no papers yet. Add some under Library, or in a terminal with: askpapers add FILE. Then ask again, here."
OLD_PAGE = "This page is not up to date. Please reload it, and allow its cookie: it is what your conversations are kept under."


@dataclass(frozen=True)
class Asked:
    """What a page sends along with a question. `run` names this asking, for stopping it; `talk` is the conversation that it goes on
    (None: a new one); `replace` is the number of the turn that it takes the place of."""

    run: str = ""
    talk: str | None = None
    replace: int | None = None
    scope: Scope = field(default_factory=Scope)
    options: Options = field(default_factory=Options)

    @classmethod
    def read(cls, text: str | None) -> Asked:
        """Whatever a browser sent; what makes no sense is left out."""
        try:
            data = json.loads(text or "{}") if len(text or "") <= LONGEST_CONTEXT else {}
        except (ValueError, RecursionError):
            data = {}
        data = data if isinstance(data, dict) else {}
        run, talk, replace = data.get("run"), data.get("talk"), data.get("replace")
        scope, options = (part if isinstance(part, dict) else {} for part in (data.get("scope"), data.get("options")))
        return cls(
            run[:40] if isinstance(run, str) else "",
            talk[:40] if isinstance(talk, str) and talk else None,
            replace if type(replace) is int and 0 < replace <= MOST_TURNS else None,
            Scope.read(scope),
            Options.read(options),
        )


class Page:
    """What the page does, for one library. `may_change`: whether papers can be added and removed here."""

    def __init__(self, library: Any, may_change: bool = True) -> None:
        self.library = library
        self.may_change = may_change
        folder = getattr(library, "folder", None)
        self.folder = Path(folder) if folder else None
        self.history = History(self.folder)
        self.shelf = Shelf(library)
        self.intake = Intake(library)
        self.limits = reader.Limits()
        self._number = count(1)
        self._examples: tuple[int, list[str]] = (-1, [])
        self._runs: dict[tuple[str, str], Run] = {}
        self._unended: dict[str, list[Run]] = {}
        self._at_work = asyncio.Semaphore(max(2, os.cpu_count() or 2))
        self._warming: threading.Thread | None = None

    def warm_up(self) -> None:
        """Imports and opens, in a thread, what the first question would have to wait for."""
        self._warming = threading.Thread(target=self._warm, name="warming up", daemon=True)
        self._warming.start()

    async def start(self, context: str | None) -> dict:
        """A page has been opened."""
        return self._message("start", **await asyncio.to_thread(self.state, context))

    def state(self, context: str | None) -> dict[str, str]:
        """The top of the page and what stands in an empty one, as of now."""
        return {"masthead": self.masthead(Asked.read(context).options), "welcome": self._welcome()}

    async def ask(self, question: str | None, context: str | None, cookies: Mapping[str, str], address: str) -> AsyncIterator[dict]:
        """A question has been asked: messages until it is answered."""
        asked = (question or "").strip()
        if not asked:
            return
        owner, sent = reader.owner(cookies), Asked.read(context)
        objection = self._objection(owner, address, asked)
        if objection or owner is None:
            yield self._message("note", note=objection or OLD_PAGE, restore=question)
            return
        id, scope = "t" + secrets.token_hex(5), ""
        run: Run | None = None
        turn: Turn | None = None
        try:
            chat, within, scope = await asyncio.to_thread(self._prepare, owner, sent)
            quotes = sent.options.quotes_only or self.library.mode == "extractive"
            run = self._begin(owner, sent.run, Run(chat, asked, within, self._at_work if quotes else None))
            async for _ in run.updates():
                yield self._message("live", turn=render.draft(id, asked, run.text), status=run.stage)
            turn = _outcome(asked, run, scope)
        except AskPapersError as error:
            turn = Turn(asked, "failed", text=str(error), scope=scope)
        except Exception as error:
            log.exception("A question could not be answered")
            turn = Turn(asked, "failed", text=went_wrong(error), scope=scope)
        finally:
            if run:
                run.stop()
                self._runs.pop((owner, sent.run), None)
            if turn is None:  # the page has gone
                self._keep(owner, sent, Turn(asked, "stopped", text=run.text if run else "", scope=scope))
        yield await asyncio.to_thread(self._final, owner, sent, id, turn, question)

    def stop(self, owner: str | None, run: str) -> None:
        """End an asking; any, if it isn't known which."""
        for (whose, name), each in list(self._runs.items()):
            if whose == owner and run in ("", name):
                each.stop()

    def shown(self, id: str, turn: Turn, number: int) -> dict[str, str]:
        """A turn as the page shows it: its own fragment and its evidence."""
        evidence = ""
        if turn.outcome == "answered" and turn.answer:
            html, evidence = render.turn(id, turn.question, turn.answer), render.evidence(id, turn.question, turn.answer)
        elif turn.outcome == "stopped":
            html = render.stopped(id, turn.question, turn.text)
        elif turn.outcome == "removed":
            html = render.problem(id, turn.question, "This answer is not kept: a paper that it shows has been removed from the library.")
        else:
            html = render.problem(id, turn.question, turn.text)
        rated = sheets.rating(turn.vote, turn.words) if turn.outcome == "answered" and turn.answer and turn.answer.status != "chat" else ""
        return {"id": id, "turn": sheets.turn(html, number, turn.question, turn.scope, rated), "evidence": evidence}

    def masthead(self, options: Options = Options()) -> str:
        """The top of the page as of now: papers may have been added since."""
        try:
            mode, detail = self.library.mode, getattr(self.library, "mode_detail", "")
            return render.masthead(len(self.library), "extractive" if options.quotes_only else mode, detail)
        except Exception as error:
            log.error("The library could not be read", exc_info=error)
            return render.masthead(0, "extractive", trouble="library not readable")

    def warm(self) -> None:
        """Waits until that is done: two threads that import the same get in each other's way."""
        if self._warming:
            self._warming.join(_WARM_WITHIN)

    # Inside

    def _warm(self) -> None:
        with suppress(Exception):  # whatever is wrong is said by the first question
            if len(self.library):
                self.library.search("warm up", 1)
            self.library.as_query_engine()

    def _objection(self, owner: str | None, address: str, asked: str) -> str:
        if owner is None:
            return OLD_PAGE
        if len(asked) > LONGEST_QUESTION:
            return (
                f"A question can have up to {LONGEST_QUESTION:,} characters; this one has {len(asked):,}. It is still in the box: shorten it and ask again."
            )
        unended = self._unended[owner] = [run for run in self._unended.get(owner, []) if not run.ended.is_set()]
        if not unended:
            del self._unended[owner]
        if len(unended) >= MOST_UNENDED:
            return "Some answers that were stopped have not come to an end yet. Please ask again in a moment."
        return self.limits.refusal(owner, address)

    def _prepare(self, owner: str, sent: Asked) -> tuple[Any, list[str] | None, str]:
        """(conversation, ids to answer from or None, these in words). Raises AskPapersError."""
        self.warm()
        if len(self.library) == 0:
            raise AskPapersError(_NO_PAPERS)
        within, words = None, ""
        if sent.scope:
            rows = sent.scope.of(self.shelf.rows())
            if not rows:
                raise AskPapersError("No paper of this library is among those that you asked of. Choose others under Library, or ask all papers.")
            within, words = [row.id for row in rows], sent.scope.says(rows)
        turns = self.history.turns(owner, sent.talk, REMEMBERED, sent.replace) if sent.talk else []
        if turns and turns[-1].number >= MOST_TURNS:
            raise AskPapersError(f"This conversation has {MOST_TURNS} turns, which is as many as one can have. Begin a new one.")
        before = [(turn.question, turn.answer) for turn in turns if turn.answer]
        return sent.options.applied(self.library).conversation(before), within, words

    def _begin(self, owner: str, name: str, run: Run) -> Run:
        self._runs[owner, name] = run
        self._unended.setdefault(owner, []).append(run)
        return run

    def _final(self, owner: str, sent: Asked, id: str, turn: Turn, question: str | None) -> dict:
        talk, number, note = self._keep(owner, sent, turn)
        replaced = sent.replace if turn.outcome == "answered" and talk == sent.talk else None
        restore = question if turn.outcome == "failed" else ""
        shown, masthead = self.shown(id, turn, number), self.masthead(sent.options)
        return self._message("final", **shown, masthead=masthead, talk=talk, replaced=replaced, restore=restore, note=note)

    def _keep(self, owner: str, sent: Asked, turn: Turn) -> tuple[str | None, int, str]:
        """(conversation, number, what is to be said about it). A turn takes another's place only once it has an answer."""
        try:
            id, number = self.history.add(owner, sent.talk, turn, sent.replace if turn.outcome == "answered" else None)
            return id, number, ""
        except AskPapersError as error:
            return sent.talk, 0, f"{error} This turn will be gone when the page is closed."

    def _welcome(self) -> str:
        try:
            size = len(self.library)
            if self._examples[0] != size:  # made once for each state of the library: it may be large
                self._examples = (size, render.examples(self.library.papers()))
            return render.welcome(size, self._examples[1], self.may_change)
        except Exception as error:
            return render.unreadable(_said(error))

    def _message(self, op: str, **parts: Any) -> dict:
        """For the wire. Numbered, so that no two are the same and none is taken for old."""
        return {"op": op, "number": next(self._number), **parts}


def _outcome(asked: str, run: Run, scope: str) -> Turn:
    if run.answer is not None:
        return Turn(asked, "answered", run.answer, scope=scope)
    return Turn(asked, "failed", text=run.error, scope=scope) if run.error else Turn(asked, "stopped", text=run.text, scope=scope)


def _said(error: Exception) -> str:
    if isinstance(error, AskPapersError):
        return str(error)
    log.error("The library could not be read", exc_info=error)
    return went_wrong(error)
