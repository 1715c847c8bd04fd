"""Looks at everything a library rests on and says what it found. Reads only; repairs nothing.

Every check ends in a Finding; one that can't be made is a finding too, never an exception.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Iterator

from . import generations, lock
from .embedding import MODEL_FOLDER, MODEL_SHA256, make_embedder
from .errors import AskPapersError, LibraryBusy
from .generations import Generation, Unusable
from .settings import Settings
from .store import FILE, Store

_ROOM = 200 * 1024 * 1024


@dataclass(frozen=True)
class Finding:
    """`what` was looked at, whether it is `fine`, and what there is to know or to do about it."""

    what: str
    fine: bool
    detail: str


def examine(folder: Path, settings: Settings) -> Iterator[Finding]:
    """The findings, in the order in which one depends on another."""
    yield _program()
    yield _model_file()
    yield _answers(settings)
    yield _disk(folder)
    if not (folder / FILE).exists():
        index = generations.current(folder / "index")
        detail = f"{folder / FILE} is missing; restore it from a backup" if index else f"none yet in {folder}; the first question or `askpapers add` makes one"
        yield Finding("library", not index, detail)
        return
    try:
        store = Store(folder, create=False)
    except AskPapersError as error:
        yield Finding("papers", False, str(error))
        return
    try:
        yield _writer(folder)
        yield from _papers(store)
        yield from _index(folder, store, settings)
    finally:
        store.close()


def _program() -> Finding:
    packages = []
    for name in ("askpapers", "chromadb", "llama-index-core", "gradio", "tantivy"):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            packages.append(f"{name} (not installed as a package)")
    fine = sqlite3.sqlite_version_info >= (3, 35)
    python = f"Python {sys.version.split()[0]} with SQLite {sqlite3.sqlite_version}"
    return Finding("program", fine, f"{', '.join(packages)}; {python}" + ("" if fine else ": Chroma needs SQLite 3.35; use a newer Python"))


def _model_file() -> Finding:
    path = MODEL_FOLDER / "model.onnx"
    try:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256") if hasattr(hashlib, "file_digest") else hashlib.sha256(file.read())
    except OSError as error:
        return Finding("embedding model", False, f"{path} can't be read ({error.strerror}); reinstall Ask Papers")
    fine = digest.hexdigest() == MODEL_SHA256
    return Finding("embedding model", fine, "bundled all-MiniLM-L6-v2, unaltered" if fine else f"{path} is not the file that was shipped; reinstall Ask Papers")


def _answers(settings: Settings) -> Finding:
    if not settings.model and settings.base_url:
        return Finding("answers", True, "exact quotes: OPENAI_BASE_URL is set, but OPENAI_MODEL does not say which model to use there")
    if not settings.model:
        return Finding("answers", True, "exact quotes; no model is configured (set OPENAI_MODEL, OPENAI_BASE_URL, OPENAI_API_KEY)")
    return Finding("answers", True, f"written by {settings.model} at {settings.model_host}, {'with' if settings.api_key else 'without'} a key")


def _disk(folder: Path) -> Finding:
    place = next(p for p in (folder, *folder.parents) if p.exists())
    free = shutil.disk_usage(place).free
    return Finding("disk", free > _ROOM, f"{free / 1e9:.1f} GB free at {place}" + ("" if free > _ROOM else "; an index is built beside the old one and may not fit"))


def _writer(folder: Path) -> Finding:
    try:
        with lock.writing(folder, wait=0):
            return Finding("writer", True, "nobody is writing")
    except LibraryBusy as error:
        return Finding("writer", True, f"{error}")
    except AskPapersError as error:
        return Finding("writer", False, f"{error} It can be read, not changed.")


def _papers(store: Store) -> Iterator[Finding]:
    try:
        wrong = store.check()
        yield Finding("papers", not wrong, "; ".join(wrong) if wrong else f"{len(store):,} papers, all as they were written")
    except AskPapersError as error:
        yield Finding("papers", False, str(error))


def _index(folder: Path, store: Store, settings: Settings) -> Iterator[Finding]:
    repair = "the next use rebuilds it, or `askpapers doctor --rebuild` now"
    try:
        generation = generations.open_current(folder / "index")
    except Unusable as error:
        empty = not len(store)
        yield Finding("index", empty, "none yet" if empty else f"{error}; {repair}")
        return
    try:
        yield _embedder(generation, settings)
        if generation.manifest.corpus != store.state()[1]:
            yield Finding("index", False, f"it lacks changes that were stored (an `add` was cut short); {repair}")
            return
        expected = [f"{stamp}-{n}" for stamp, count in store.passage_counts().items() for n in range(count)]
        missing = generation.vectors.missing(expected)
        detail = f"{len(missing)} passages can't be read back; {repair}" if missing else f"generation {generation.folder.name}: {len(generation.words):,} papers, {len(expected):,} passages, every vector readable"
        yield Finding("index", not missing, detail)
    except Exception as error:  # whatever Chroma or Tantivy throw is a finding
        yield Finding("index", False, f"it can't be searched ({error}); {repair}")
    finally:
        generation.close()


def _embedder(generation: Generation, settings: Settings) -> Finding:
    stored, present = generation.manifest.fingerprint, make_embedder(settings).fingerprint
    detail = f"embedded with {stored}" + ("" if stored == present else f", but the settings say {present}: run `askpapers doctor --rebuild`, or set the former one")
    return Finding("embeddings", stored == present, detail)
