"""The truth: papers, their passages and their cached vectors, in one SQLite file.

Every index can be rebuilt from here without embedding anything again. A change is one transaction that raises `revision`, so
an index knows what it has missed. Readers wait for a writer no longer than one commit. Knows no index and no model.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, NamedTuple, Sequence

import numpy as np

from .errors import LibraryDamaged, StorageFailed
from .papers import Paper, Passage, as_text
from .passages import RULES, passages, stamp
from .schema import COLUMNS, NO_PAPERS, SCHEMA, TABLES, UPSERT, content_key, digest, paper_of, row_of

FILE = "papers.sqlite"
_AT_ONCE = 500


class Embedded(NamedTuple):
    """A paper on its way in. `vectors`: one row a passage, then one row a sentence of its abstract; unit length."""

    paper: Paper
    vectors: np.ndarray


class Block(NamedTuple):
    """Vectors of several papers: those of stamps[i] are matrix[edges[i]:edges[i + 1]], float32, of which the first
    passages[i] rows are its passages and the others its sentences."""

    stamps: tuple[str, ...]
    passages: tuple[int, ...]
    edges: tuple[int, ...]
    matrix: np.ndarray


class Store:
    """One open SQLite file; safe to share by threads. Raises LibraryDamaged and StorageFailed, never sqlite3's errors."""

    def __init__(self, folder: Path, create: bool = True):
        self.path = folder / FILE
        self._lock = threading.RLock()
        fresh = is_missing(folder)
        if fresh and not create:
            raise LibraryDamaged(f"{self.path} is missing or empty: this folder holds no library of papers.")
        with self._errors():
            self._db = sqlite3.connect(self.path, timeout=30, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA secure_delete = ON")
            if fresh or not self._db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                with self._transaction():
                    if not self._db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                        for statement in TABLES.split(";"):
                            self._db.execute(statement)
                        self._set("schema", SCHEMA)
                        self._set("revision", "0")
                        self._set("corpus", f"{NO_PAPERS:064x}")
                        self._set("rules", RULES)
            found = self._get("schema")
        if found != SCHEMA:
            raise LibraryDamaged(
                f"{self.path} was written by another version of Ask Papers (format {found or 'unknown'}, this one reads {SCHEMA}). "
                "Use that version, or add your files to a new library."
            )

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # Reading

    def state(self) -> tuple[int, str]:
        """(revision, corpus hash) of one moment. The hash covers every field of every paper, in no order."""
        with self._read() as db:
            rows = dict(db.execute("SELECT key, value FROM meta WHERE key IN ('revision', 'corpus')"))
            return int(rows["revision"]), rows["corpus"]

    def __len__(self) -> int:
        with self._read() as db:
            return db.execute("SELECT count(*) FROM papers").fetchone()[0]

    def papers(self) -> list[Paper]:
        """All papers, in the order in which they were first added."""
        with self._read() as db:
            return [paper_of(row) for row in db.execute(f"SELECT {COLUMNS} FROM papers ORDER BY rowid")]

    def paper(self, paper_id: str) -> Paper | None:
        with self._read() as db:
            row = db.execute(f"SELECT {COLUMNS} FROM papers WHERE id = ?", (as_text(paper_id),)).fetchone()
            return paper_of(row) if row else None

    def by_stamp(self, stamps: Sequence[str]) -> dict[str, Paper]:
        """Papers by stamp; a stamp that no longer stands for a paper is left out. What is returned has the text it was
        stamped for: no damaged abstract is ever quoted."""
        with self._read() as db:
            query = f"SELECT stamp, {COLUMNS} FROM papers WHERE stamp IN ({{}})"
            rows = (row for part in _parts(stamps) for row in db.execute(query.format(_marks(part)), part))
            found = {row[0]: paper_of(row[1:]) for row in rows}
            for key, paper in found.items():
                if stamp(paper) != key:
                    raise ValueError(f"the text of {paper.id} has changed by itself")
            return found

    def by_content(self, abstract: str) -> list[Paper]:
        """Papers whose abstract has the same words, whatever its spacing, punctuation and case."""
        with self._read() as db:
            query = f"SELECT {COLUMNS} FROM papers WHERE content = ? ORDER BY rowid"
            return [paper_of(row) for row in db.execute(query, (content_key(abstract),))]

    def stamps_of(self, paper_ids: Sequence[str]) -> dict[str, str]:
        """Id and stamp of those of these papers that are there."""
        with self._read() as db:
            query = "SELECT id, stamp FROM papers WHERE id IN ({})"
            return dict(row for part in _parts(paper_ids) for row in db.execute(query.format(_marks(part)), part))

    def stamps(self) -> dict[str, str]:
        """Every paper's id and stamp, in the order of the first addition."""
        with self._read() as db:
            return dict(db.execute("SELECT id, stamp FROM papers ORDER BY rowid"))

    def papers_with_stamps(self, since: int = 0) -> list[tuple[str, Paper]]:
        """(stamp, paper) for papers added or changed after revision `since`, in the order of the first addition."""
        with self._read() as db:
            query = f"SELECT stamp, {COLUMNS} FROM papers WHERE revision > ? ORDER BY rowid"
            return [(row[0], paper_of(row[1:])) for row in db.execute(query, (since,))]

    def passages_by_stamp(self, papers: dict[str, Paper]) -> dict[str, list[Passage]]:
        """Passages as they were cut when the paper went in, in order: the whole abstract first, then its windows."""
        with self._read() as db:
            query = f"SELECT stamp, number, start, stop FROM passages WHERE stamp IN ({_marks(papers)}) ORDER BY stamp, number"
            rows = db.execute(query, list(papers)).fetchall()
        found: dict[str, list[Passage]] = {key: [] for key in papers}
        for key, number, start, stop in rows:
            paper = papers[key]
            found[key].append(Passage(f"{key}-{number}", paper.id, start, stop, paper.abstract[start:stop]))
        return found

    def vectors(self, stamps: Sequence[str], fingerprint: str) -> Block:
        """The stored vectors of these papers, in one matrix; papers without vectors of this fingerprint are left out."""
        with self._read() as db:
            query = "SELECT stamp, passages, dimension, rows FROM vectors WHERE fingerprint = ? AND stamp IN ({})"
            found = [row for part in _parts(stamps) for row in db.execute(query.format(_marks(part)), [fingerprint, *part])]
            if not found:
                return Block((), (), (), np.empty((0, 0), dtype=np.float32))
            dimension = found[0][2]
            matrix = np.frombuffer(b"".join(row[3] for row in found), dtype=np.float16).reshape(-1, dimension).astype(np.float32)
            ends = np.cumsum([len(row[3]) // (2 * dimension) for row in found]).tolist()
            return Block(tuple(row[0] for row in found), tuple(row[1] for row in found), (0, *ends), matrix)

    def passage_counts(self, since: int = 0) -> dict[str, int]:
        """stamp → number of passages, for papers added or changed after revision `since`."""
        with self._read() as db:
            query = "SELECT p.stamp, count(*) FROM papers p JOIN passages USING (stamp) WHERE p.revision > ? GROUP BY p.stamp"
            return dict(db.execute(query, (since,)))

    def removed_since(self, revision: int) -> dict[str, int]:
        """stamp → number of passages, for what was removed or replaced after `revision` and has not come back."""
        with self._read() as db:
            query = "SELECT stamp, passages FROM removed WHERE revision > ? AND stamp NOT IN (SELECT stamp FROM papers)"
            return dict(db.execute(query, (revision,)))

    def unembedded(self, fingerprint: str, dimension: int) -> list[Paper]:
        """Papers without vectors of this fingerprint and length, or cut into passages by other rules than today's."""
        with self._read() as db:
            query = f"SELECT {COLUMNS} FROM papers WHERE stamp NOT IN (SELECT stamp FROM vectors WHERE fingerprint = ? AND dimension = ?)"
            missing = [paper_of(row) for row in db.execute(query, (fingerprint, dimension))]
            same_rules = self._get("rules") == RULES
        return missing if same_rules else self.papers()

    # Writing: the caller holds the library's writer lock

    def put(self, batch: Sequence[Embedded], fingerprint: str) -> None:
        """Adds the papers, or replaces those with the same ids, in one transaction."""
        with self._change() as revision:
            for paper, vectors in batch:
                key = stamp(paper)
                self._forget(paper.id, revision, keep=key)
                self._db.execute("DELETE FROM removed WHERE stamp = ?", (key,))
                self._db.execute(UPSERT, (paper.id, key, revision, content_key(paper.abstract), *row_of(paper)))
                cut = passages(paper)
                rows = [(key, number, p.start, p.end) for number, p in enumerate(cut)]
                self._db.executemany("INSERT OR REPLACE INTO passages VALUES (?, ?, ?, ?)", rows)
                blob = vectors.astype(np.float16).tobytes()
                self._db.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)", (key, fingerprint, vectors.shape[1], len(cut), blob))
                self._toggle(paper)

    def remove(self, paper_ids: Sequence[str]) -> None:
        """Takes the papers out and overwrites their text in the file. Unknown ids are no error."""
        with self._change() as revision:
            for paper_id in paper_ids:
                self._forget(paper_id, revision)
                self._db.execute("DELETE FROM papers WHERE id = ?", (paper_id,))
        self.sweep()

    def sweep(self) -> None:
        """Writes the file anew, without what was removed: secure_delete alone leaves words behind where pages were divided."""
        with self._read() as db:
            db.execute("VACUUM")

    def rules_are_current(self) -> None:
        """Notes that every paper has been cut by today's rules."""
        with self._read():
            known = self._get("rules") == RULES
        if not known:
            with self._change():
                self._set("rules", RULES)

    def check(self) -> list[str]:
        """What is wrong with the file, in words; empty if nothing is. Reads all of it."""
        with self._read() as db:
            found = [row[0] for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
            corpus = NO_PAPERS
            for paper in self.papers():
                corpus ^= digest(paper)
                if not paper.abstract.strip():
                    found.append(f"{paper.id} has no abstract")
            if f"{corpus:064x}" != self._get("corpus"):
                found.append("the papers are not the ones that were written (their hash differs)")
            orphans = db.execute("SELECT count(*) FROM papers WHERE stamp NOT IN (SELECT stamp FROM passages)").fetchone()[0]
            if orphans:
                found.append(f"{orphans} papers have no passages")
        return found

    # Inside

    def _forget(self, paper_id: str, revision: int, keep: str = "") -> None:
        row = self._db.execute(f"SELECT {COLUMNS}, stamp FROM papers WHERE id = ?", (paper_id,)).fetchone()
        if row is None:
            return
        self._toggle(paper_of(row[:-1]))
        key = row[-1]
        if key != keep:
            count = self._db.execute("SELECT count(*) FROM passages WHERE stamp = ?", (key,)).fetchone()[0]
            self._db.execute("DELETE FROM passages WHERE stamp = ?", (key,))
            self._db.execute("DELETE FROM vectors WHERE stamp = ?", (key,))
            self._db.execute("INSERT OR REPLACE INTO removed VALUES (?, ?, ?)", (key, count, revision))

    def _toggle(self, paper: Paper) -> None:
        """Takes the paper into the corpus hash, or out of it: exclusive or is its own inverse, so the order doesn't matter."""
        self._set("corpus", f"{int(self._get('corpus'), 16) ^ digest(paper):064x}")

    def _get(self, key: str) -> str:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else ""

    def _set(self, key: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    @contextmanager
    def _change(self) -> Iterator[int]:
        with self._errors(), self._transaction():
            revision = int(self._get("revision")) + 1
            yield revision
            self._set("revision", str(revision))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")  # may be what fails, on a full disk
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        with self._errors(), self._lock:
            try:
                yield self._db
            except (ValueError, KeyError, TypeError) as error:  # a value that we never wrote
                raise sqlite3.DatabaseError(str(error)) from error

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            text = str(error).lower()
            if "disk is full" in text:
                raise StorageFailed(f"The disk is full: {self.path} could not be written. Free some space and try again; "
                                    "what was stored before is kept.") from error  # fmt: skip
            if "readonly database" in text:
                raise StorageFailed(f"{self.path} can't be written: it is read-only for you.") from error
            if "disk i/o error" in text:
                raise StorageFailed(f"{self.path} can't be read or written (disk I/O error). Check the disk and its quota.") from error
            if "unable to open" in text:
                raise StorageFailed(f"{self.path} can't be opened: check that the folder exists and is yours.") from error
            if "is locked" in text:
                raise StorageFailed(f"{self.path} is held by another program; try again when it has finished.") from error
            raise LibraryDamaged(
                f"{self.path} is damaged ({str(error)[:100]}). Restore it from a backup, or move its folder away and add your files again."
            ) from error


def is_missing(folder: Path) -> bool:
    """Whether the folder has no store, or one that nothing was ever written to."""
    path = folder / FILE
    return not path.exists() or not path.stat().st_size


def _parts(values: Sequence) -> Iterator[list]:
    """Not too many for one statement."""
    for start in range(0, len(values), _AT_ONCE):
        yield list(values[start : start + _AT_ONCE])


def _marks(values: Sequence) -> str:
    return ",".join("?" * len(values))
