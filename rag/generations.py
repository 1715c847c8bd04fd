"""Index generations: a Chroma and a Tantivy index built together from the store, checked, then published by one rename.

`index/CURRENT` names the generation in use. A published generation's files are never changed by us, so readers need no lock,
and a process killed at any moment leaves either the old generation or the new one. Nothing here is precious: whatever fails a
check is thrown away and built again from the store.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import sqlite3
import tempfile
import weakref
import zlib
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Callable

from . import lexical
from .errors import AskPapersError, StorageFailed
from .lexical import ANALYZER, Words
from .passages import RULES
from .store import Store
from .vectors import Vectors, connected

FORMAT = 1
_BATCH = 500
_CHROMA_DATABASE = "chroma.sqlite3"
Progress = Callable[[str, int, int], None]


class Unusable(Exception):
    """A generation that must not be searched; the text says why, for the line that announces the rebuild."""


@dataclass(frozen=True)
class Manifest:
    """What a generation was built from and with. `files` maps each file to its size in bytes and CRC-32."""

    revision: int
    corpus: str
    papers: int
    passages: int
    fingerprint: str
    dimension: int
    format: int = FORMAT
    rules: str = RULES
    analyzer: str = ANALYZER
    versions: dict[str, str] = field(default_factory=dict)
    files: dict[str, list[int]] = field(default_factory=dict)


class Generation:
    """A published generation, open for reading. Raises Unusable if anything about it is not as its manifest says."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.manifest = _checked_manifest(folder)
        try:
            place = folder if os.access(folder, os.W_OK) else self._writable_copy()
            self.words = Words(place / "words")
            self.vectors = Vectors(place / "vectors")
            counted = (len(self.words), len(self.vectors))
        except StorageFailed:
            raise
        except Exception as error:
            self.close()
            raise Unusable(f"its files can't be opened ({error})") from error
        if counted != (self.manifest.papers, self.manifest.passages):
            self.close()
            raise Unusable(f"it holds {counted[0]} papers and {counted[1]} passages instead of {self.manifest.papers} and {self.manifest.passages}")

    def _writable_copy(self) -> Path:
        """Of a read-only library: even for reading, Chroma and Tantivy take their locks by writing."""
        place = Path(tempfile.mkdtemp(prefix="askpapers-"))
        weakref.finalize(self, shutil.rmtree, place, ignore_errors=True)
        for path in self.folder.rglob("*"):
            if path.is_file():
                target = place / path.relative_to(self.folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
        return place

    def close(self) -> None:
        if hasattr(self, "vectors"):
            self.vectors.close()


def current(index: Path) -> str | None:
    """The name of the generation in use, or None if there is none or it can't be read."""
    try:
        return (index / "CURRENT").read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def open_current(index: Path) -> Generation:
    """Raises Unusable. Reads CURRENT again if a writer replaced the generation in between."""
    name = current(index)
    if name is None:
        raise Unusable("there is no index yet")
    try:
        return Generation(index / name)
    except Unusable:
        if current(index) not in (None, name):
            return open_current(index)
        raise


def build(index: Path, store: Store, fingerprint: str, base: Generation | None, progress: Progress, forget: bool = False) -> Generation:
    """Builds, checks and publishes the generation for the store as it is now; the caller holds the writer lock.

    With `base` it starts from a copy of that one and applies what has changed since. `forget`: no earlier generation, nor
    any word index that ever held the removed papers, stays on the disk. Raises StorageFailed, and leaves CURRENT as it was.
    """
    revision, corpus = store.state()
    folder = index / f"{revision:08d}-{secrets.token_hex(3)}"
    try:
        index.mkdir(parents=True, exist_ok=True)
        manifest = _write(folder, store, fingerprint, base, progress, forget, revision, corpus)
        (folder / "manifest.json").write_text(json.dumps(asdict(manifest), indent=1), encoding="utf-8")
        generation = Generation(folder)
        _probe(generation, store)
        _publish(index, folder.name)
    except AskPapersError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    except Exception as error:
        full = _is_full(index, error)  # before any room is made
        shutil.rmtree(folder, ignore_errors=True)
        if base is not None and not full:  # the copy may have carried something bad over
            return build(index, store, fingerprint, None, progress, forget)
        why = f"The index in {index} could not be written ({error}). The papers stored so far are kept; run the command again."
        raise StorageFailed(_FULL.format(index) if full else why) from error
    _prune(index, keep={folder.name} if forget or base is None else {folder.name, base.folder.name})
    return generation


def _write(folder: Path, store: Store, fingerprint: str, base: Generation | None, progress: Progress, forget: bool, revision: int, corpus: str) -> Manifest:
    since = base.manifest.revision if base else 0
    counts = store.passage_counts(since)
    gone = store.removed_since(since) if base else {}
    folder.mkdir()
    if base:
        _checked_manifest(base.folder)  # it may have been damaged since it was opened
        _copy(base.folder / "vectors", folder / "vectors")
        if not forget:
            shutil.copytree(base.folder / "words", folder / "words")
    vectors = Vectors(folder / "vectors", create=base is None)
    try:
        vectors.remove([f"{stamp}-{n}" for stamp, count in gone.items() for n in range(count)])
        stamps = list(counts)
        dimension = base.manifest.dimension if base else 0
        for start in range(0, len(stamps), _BATCH):
            progress("Indexing", start, len(stamps))
            block = store.vectors(stamps[start : start + _BATCH], fingerprint)
            ids = [f"{stamp}-{n}" for stamp, count in zip(block.stamps, block.passages) for n in range(count)]
            rows = [row for first, count in zip(block.edges, block.passages) for row in range(first, first + count)]
            vectors.put(ids, block.matrix[rows])
            dimension = block.matrix.shape[1]
    finally:
        vectors.close()
    everything = forget or base is None
    papers = store.papers_with_stamps(since=0 if everything else since)
    (folder / "words").mkdir(exist_ok=True)
    lexical.write(folder / "words", papers, without=() if everything else gone)
    progress("Indexing", len(stamps), len(stamps))
    all_counts = store.passage_counts()
    return Manifest(
        revision, corpus, len(all_counts), sum(all_counts.values()), fingerprint, dimension,
        versions={name: version(name) for name in ("chromadb", "tantivy")}, files=_checksums(folder),
    )  # fmt: skip


def _probe(generation: Generation, store: Store) -> None:
    """Asks for a few stored passages by their own vectors: the oldest, the newest and one between."""
    stamps = list(store.stamps().values())
    for stamp in {stamps[0], stamps[len(stamps) // 2], stamps[-1]} if stamps else ():
        vector = store.vectors([stamp], generation.manifest.fingerprint).matrix[0]
        found = generation.vectors.search(vector, 1)
        if not found or found[0].cosine < 0.999:
            raise Unusable("a passage could not be found by its own vector")


def _publish(index: Path, name: str) -> None:
    pending = index / "CURRENT.new"
    with open(pending, "w", encoding="utf-8") as file:
        file.write(name)
        file.flush()
        os.fsync(file.fileno())
    os.replace(pending, index / "CURRENT")


def withdraw(index: Path) -> None:
    """Leaves no generation published, so that the next reader builds one. The caller holds the writer lock."""
    (index / "CURRENT").unlink(missing_ok=True)


def _prune(index: Path, keep: set[str]) -> None:
    for folder in index.iterdir():
        if folder.is_dir() and folder.name not in keep:
            shutil.rmtree(folder, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    """A reader may have Chroma's database open, so that one file is copied through SQLite, as of one moment."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(f"{_CHROMA_DATABASE}*"))
    old, new = connected(source / _CHROMA_DATABASE), sqlite3.connect(target / _CHROMA_DATABASE)
    try:
        old.backup(new)
    finally:
        old.close()
        new.close()


def _checked_manifest(folder: Path) -> Manifest:
    try:
        manifest = Manifest(**json.loads((folder / "manifest.json").read_text(encoding="utf-8")))
        checksums = _checksums(folder)
        differing = sorted(name for name in manifest.files.keys() | checksums.keys() if manifest.files.get(name) != checksums.get(name))
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise Unusable(f"its manifest or one of its files is missing or unreadable ({error})") from error
    ours = (FORMAT, RULES, ANALYZER)
    if (manifest.format, manifest.rules, manifest.analyzer) != ours:
        raise Unusable("it was built by another version of Ask Papers")
    if differing:
        raise Unusable(f"{differing[0]} is {'missing' if differing[0] not in checksums else 'not as it was written'}")
    return manifest


def _chroma_digest(database: Path) -> int:
    """A checksum of all that the database holds. Its bytes can't be compared: opening it for reading changes a counter and
    the table that Chroma takes its write lock with."""
    db = connected(database)
    try:
        if db.execute("PRAGMA quick_check").fetchone() != ("ok",):
            raise ValueError(f"{database.name} is damaged")
        schema = db.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
        crc = zlib.crc32(repr(schema).encode())
        for kind, name, sql in schema:
            if kind == "table" and name != "acquire_write" and not sql.startswith("CREATE VIRTUAL"):
                rows = db.execute(f'SELECT * FROM "{name}"')
                while some := rows.fetchmany(_BATCH):
                    crc = zlib.crc32(repr(some).encode(), crc)
        return crc
    except sqlite3.Error as error:
        raise ValueError(f"{database.name} can't be read ({error})") from error
    finally:
        db.close()


def _checksums(folder: Path) -> dict[str, list[int]]:
    """File name → [bytes, CRC-32]. Chroma's graph files count only once they have been flushed; before that they are scratch
    space, which every opening rewrites."""
    flushed = any((folder / "vectors").glob("*/index_metadata.pickle"))
    sums = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or name == "manifest.json" or path.name.startswith(("chroma.sqlite3-", ".tantivy")):
            continue
        if path.name == _CHROMA_DATABASE:
            sums[name] = [0, _chroma_digest(path)]
        elif flushed or not name.startswith("vectors/"):
            crc = 0
            with open(path, "rb") as file:
                while block := file.read(1 << 20):
                    crc = zlib.crc32(block, crc)
            sums[name] = [path.stat().st_size, crc]
    return sums


def _is_full(index: Path, error: Exception) -> bool:
    """Whether the disk is what failed; Chroma and Tantivy don't say so themselves."""
    try:
        return getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or shutil.disk_usage(index).free < 1 << 20
    except OSError:
        return False


_FULL = (
    "The disk is full: the index in {} could not be written. Free some space and run the command again; "
    "the papers stored so far are kept."
)
