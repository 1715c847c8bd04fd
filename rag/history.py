"""Conversations that are kept: who asked what, and the whole Answer with its citations, in one SQLite file beside the papers.

A conversation belongs to one owner, whose name is a secret's hash; without the name none can be listed, read or changed. Knows no
page and no index. Answers hold text of abstracts, so taking a paper out of the library takes it out of here, too.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from .errors import StorageFailed
from .papers import Answer, Citation, Paper, Quote, Sentence, as_text

FILE = "conversations.sqlite"
MOST_KEPT = 500
"""Conversations of one owner; with more, the one that was used longest ago goes."""
MOST_TURNS = 200
LONGEST_TITLE = 120
KEEP = 400 * 86_400
"""Seconds after its last use until a conversation goes: longer than browsers keep the cookie that leads to it."""
_TABLES = """
CREATE TABLE IF NOT EXISTS conversations (id TEXT PRIMARY KEY, owner TEXT NOT NULL, title TEXT NOT NULL, used REAL NOT NULL);
CREATE INDEX IF NOT EXISTS of_owner ON conversations (owner, used);
CREATE TABLE IF NOT EXISTS turns (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE, number INTEGER NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (conversation, number)
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Turn:
    """One question and what became of it. `outcome`: "answered" (with `answer`, also when that is a refusal), "stopped" (`text`: what
    had been written), "failed" (`text`: the sentence that said why) or "removed" (a paper that it relied on has been taken out of
    the library). `scope`: the papers that were asked, in words; empty for all. `vote` and `words`: the reader's opinion of the answer, if
    there is one."""

    question: str
    outcome: str = "answered"
    answer: Answer | None = None
    text: str = ""
    scope: str = ""
    number: int = 0
    vote: str = ""
    words: str = ""


@dataclass(frozen=True)
class Kept:
    """A conversation in a list: `used` is the time of its last turn, in seconds since 1970."""

    id: str
    title: str
    used: float
    turns: int


class History:
    """One open file; safe to share by threads and with other processes. With no folder, or one that can't be written, it lives in
    memory and `kept` is False. Methods return None or nothing for a conversation that is not the owner's."""

    def __init__(self, folder: Path | None):
        self._lock = threading.RLock()
        self._ready = False
        self.kept = folder is not None
        try:
            self._open(str(folder / FILE) if folder else ":memory:")
        except sqlite3.Error:
            self.kept = False
            self._open(":memory:")
        self._ready = True

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def list(self, owner: str) -> list[Kept]:
        """The owner's conversations, the one used last first."""
        query = "SELECT id, title, used, (SELECT count(*) FROM turns WHERE conversation = id) FROM conversations WHERE owner = ? ORDER BY used DESC, id"
        with self._using(write=False) as db:
            return [Kept(*row) for row in db.execute(query, (owner,))]

    def title(self, owner: str, id: str) -> str | None:
        with self._using(write=False) as db:
            row = db.execute("SELECT title FROM conversations WHERE id = ? AND owner = ?", (id, owner)).fetchone()
            return row[0] if row else None

    def turns(self, owner: str, id: str, last: int = MOST_TURNS, before: int | None = None) -> list[Turn]:
        """The `last` turns, oldest first; with `before`, of those with lower numbers."""
        query = (
            "SELECT number, data FROM turns JOIN conversations ON id = conversation WHERE conversation = ? AND owner = ? AND number < ?"
            " ORDER BY number DESC LIMIT ?"
        )
        with self._using(write=False) as db:
            rows = db.execute(query, (id, owner, before or 1 << 62, last)).fetchall()
        return [_turn(number, json.loads(data)) for number, data in reversed(rows)]

    def add(self, owner: str, id: str | None, turn: Turn, replace: int | None = None) -> tuple[str, int]:
        """Keeps a turn and returns its conversation's id and its number. A conversation that is not there, or not the owner's, is
        begun anew. `replace`: the number of a turn that this one takes the place of, together with those after it. (With the first
        turn goes the title that was made of it.)"""
        data, now = _data(turn), time.time()
        with self._using() as db:
            if id is None or db.execute("SELECT 1 FROM conversations WHERE id = ? AND owner = ?", (id, owner)).fetchone() is None:
                id, replace = secrets.token_urlsafe(16), None
                title = _shortened(turn.question)
                db.execute("INSERT INTO conversations VALUES (?, ?, ?, ?)", (id, owner, title, now))
                spare = "SELECT id FROM conversations WHERE owner = ? ORDER BY used DESC, id LIMIT -1 OFFSET ?"
                db.execute(f"DELETE FROM conversations WHERE used < ? OR id IN ({spare})", (now - KEEP, owner, MOST_KEPT))
            if replace is not None:
                old = db.execute("SELECT data FROM turns WHERE conversation = ? AND number = 1", (id,)).fetchone() if replace == 1 else None
                if old:
                    titles = (_shortened(turn.question), id, _shortened(json.loads(old[0])["question"]))
                    db.execute("UPDATE conversations SET title = ? WHERE id = ? AND title = ?", titles)
                db.execute("DELETE FROM turns WHERE conversation = ? AND number >= ?", (id, replace))
            number = db.execute("SELECT coalesce(max(number), 0) + 1 FROM turns WHERE conversation = ?", (id,)).fetchone()[0]
            db.execute("INSERT INTO turns VALUES (?, ?, ?)", (id, number, data))
            db.execute("UPDATE conversations SET used = ? WHERE id = ?", (now, id))
            return id, number

    def rate(self, owner: str, id: str, number: int, vote: str, words: str) -> None:
        """Keeps the reader's opinion with the turn, instead of an earlier one."""
        with self._using() as db:
            query = "SELECT data FROM turns JOIN conversations ON id = conversation WHERE conversation = ? AND owner = ? AND number = ?"
            row = db.execute(query, (id, owner, number)).fetchone()
            if row:
                data = _json({**json.loads(row[0]), "vote": vote, "words": words})
                db.execute("UPDATE turns SET data = ? WHERE conversation = ? AND number = ?", (data, id, number))

    def rename(self, owner: str, id: str, title: str) -> None:
        """A blank title changes nothing."""
        title = _shortened(title)
        if title:
            with self._using() as db:
                db.execute("UPDATE conversations SET title = ? WHERE id = ? AND owner = ?", (title, id, owner))

    def delete(self, owner: str, id: str) -> None:
        with self._using() as db:
            db.execute("DELETE FROM conversations WHERE id = ? AND owner = ?", (id, owner))
        self._sweep()

    def forget(self, papers: Sequence[Paper]) -> int:
        """Takes out every answer that shows or names one of these papers; the questions stay. Returns how many went."""
        with self._using() as db:
            count = 0
            for paper in papers:
                marks = [_json({"id": paper.id})[1:-1], _json(paper.title)[1:-1]]  # as they stand in the JSON
                found = " OR ".join("instr(data, ?)" for mark in marks if mark)
                query = f"SELECT conversation, number, data FROM turns WHERE {found}"
                for id, number, data in db.execute(query, [mark for mark in marks if mark]).fetchall():
                    question = json.loads(data)["question"]
                    gone = _data(Turn(question, "removed"))
                    if gone != data:
                        count += 1
                        db.execute("UPDATE turns SET data = ? WHERE conversation = ? AND number = ?", (gone, id, number))
        self._sweep(count > 0)
        return count

    # Inside

    def _open(self, place: str) -> None:
        self._db = sqlite3.connect(place, timeout=10, check_same_thread=False, isolation_level=None)
        self._db.execute("PRAGMA secure_delete = ON")
        self._db.execute("PRAGMA foreign_keys = ON")
        self._db.execute("PRAGMA journal_mode = WAL")  # 0.4 ms a turn instead of 20: nobody waits for the disk
        self._db.execute("PRAGMA synchronous = NORMAL")
        with self._using() as db:
            for statement in _TABLES.split(";\n"):
                db.execute(statement)

    def _sweep(self, whole: bool = False) -> None:
        """Leaves nothing on the disk of what was deleted."""
        with self._lock, suppress(sqlite3.OperationalError):  # held by another program: swept when that closes it
            if whole:
                self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    @contextmanager
    def _using(self, write: bool = True) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                yield self._db
                self._db.execute("COMMIT")
            except BaseException as error:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error) and self._ready:
                    raise StorageFailed(f"The conversations in {FILE} could not be read or written ({str(error)[:100]}).") from error
                raise


def forget(folder: Path, papers: Sequence[Paper]) -> None:
    """`History.forget` for a library that no page has open: does nothing where no conversation was ever kept."""
    if (folder / FILE).exists():
        with closing(History(folder)) as history:
            history.forget(papers)


def answer_from(data: Mapping[str, Any]) -> Answer:
    """The Answer whose `to_dict()` this is. Keys of a later version are passed over."""
    parts = _known(Answer, data)
    for name in ("citations", "doubtful"):
        parts[name] = tuple(_citation(each) for each in data.get(name, ()))
    parts["sentences"] = tuple(Sentence(**{**_known(Sentence, s), "citations": tuple(s["citations"])}) for s in data.get("sentences", ()))
    parts["related"] = tuple(_paper(each) for each in data.get("related", ()))
    return Answer(**parts)


def _citation(data: Mapping[str, Any]) -> Citation:
    quotes = tuple(Quote(**_known(Quote, quote)) for quote in data["quotes"])
    return Citation(**{**_known(Citation, data), "paper": _paper(data["paper"]), "quotes": quotes})


def _paper(data: Mapping[str, Any]) -> Paper:
    return Paper(**{**_known(Paper, data), "authors": tuple(data["authors"]), "keywords": tuple(data["keywords"])})


def _known(kind: type, data: Mapping[str, Any]) -> dict[str, Any]:
    return {f.name: data[f.name] for f in fields(kind) if f.name in data}


def _turn(number: int, data: dict[str, Any]) -> Turn:
    answer = answer_from(data["answer"]) if data.get("answer") else None
    said = (data.get(name, "") for name in ("text", "scope"))
    return Turn(data["question"], data["outcome"], answer, *said, number, data.get("vote", ""), data.get("words", ""))


def _data(turn: Turn) -> str:
    answer = turn.answer.to_dict() if turn.answer else None
    return _json({"question": turn.question, "outcome": turn.outcome, "answer": answer, "text": turn.text, "scope": turn.scope})


def _json(value: Any) -> str:
    return as_text(json.dumps(value, ensure_ascii=False))


def _shortened(title: str) -> str:
    title = " ".join(title.split())
    return title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…"
