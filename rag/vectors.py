"""Vectors to passages, by Chroma: the nearest passages to a question.

Derived from the store; holds passage ids and vectors, no text. One folder is written by one process and then only read. Chroma
is never asked to embed, so it never loads or downloads a model. Imports Chroma when first used.
"""

from __future__ import annotations

import json
import sqlite3
import weakref
from functools import lru_cache
from pathlib import Path
from typing import Any, Iterable, Iterator, NamedTuple, Sequence

import numpy as np

from .errors import LibraryDamaged, StorageFailed

_COLLECTION = "passages"
_BATCH = 1000
"""Vectors a call. Chroma takes 5,461 at most; memory is what a larger batch would cost."""
_HNSW = {"space": "cosine", "ef_construction": 100, "ef_search": 400, "max_neighbors": 16}
"""ef_search 400: at the default of 100, recall@10 against exact search was .918 over 100,000 vectors, with 400 .983."""


class Neighbour(NamedTuple):
    """A passage's id and its cosine similarity to the question, -1 to 1."""

    passage_id: str
    cosine: float


class Vectors:
    """An open Chroma collection. Chroma itself allows concurrent reading by threads. It closes when nobody holds it any more,
    so that a search under way is never cut off, or when told to."""

    def __init__(self, folder: Path, create: bool = False):
        if not create:
            _refuse_foreign(folder)
        self._client = _chroma().PersistentClient(str(folder), _settings().model_copy())
        self.close = weakref.finalize(self, self._client.close)
        if create:
            self._collection = self._client.create_collection(_COLLECTION, embedding_function=None, configuration={"hnsw": _HNSW})
        else:
            self._collection = self._client.get_collection(_COLLECTION, embedding_function=None)

    def __len__(self) -> int:
        return self._collection.count()

    def put(self, ids: Sequence[str], vectors: np.ndarray) -> None:
        """Adds, or replaces those of the same ids. `vectors`: shape (len(ids), dimension)."""
        for start in range(0, len(ids), _BATCH):
            chosen = slice(start, start + _BATCH)
            self._collection.upsert(ids=list(ids[chosen]), embeddings=vectors[chosen])

    def remove(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _BATCH):
            self._collection.delete(ids=list(ids[start : start + _BATCH]))

    def search(self, vector: np.ndarray, limit: int) -> list[Neighbour]:
        """The nearest passages to a unit vector of shape (dimension,), nearest first."""
        found = self._collection.query(query_embeddings=[vector], n_results=limit, include=["distances"])
        return [Neighbour(i, 1.0 - distance) for i, distance in zip(found["ids"][0], found["distances"][0])]

    def missing(self, ids: Iterable[str]) -> list[str]:
        """Those of `ids` whose vector can't be read back. Reads every vector, a page at a time: the full check."""
        wanted, seen = set(ids), set()
        for offset in range(0, len(self), _BATCH):
            page = self._collection.get(limit=_BATCH, offset=offset, include=["embeddings"])
            seen.update(i for i, vector in zip(page["ids"], page["embeddings"]) if np.isfinite(vector).all())
        return sorted(wanted ^ seen)


def _chroma():
    try:
        import chromadb
    except ValueError as error:  # pydantic's, on reading a .env file
        why = f"Chroma can't be loaded: {' '.join(str(error).split())[:200]}. It reads the .env file of the current folder: run Ask Papers elsewhere."
        raise StorageFailed(why) from error
    return chromadb


@lru_cache(maxsize=1)
def _settings():
    """Chroma's own defaults, whatever the environment or a .env file in the current folder say."""
    from chromadb.config import Settings

    defaults = {name: field.get_default(call_default_factory=True) for name, field in Settings.model_fields.items()}
    return Settings(_env_file=None, **{**defaults, "anonymized_telemetry": False, "allow_reset": False})


def connected(database: Path) -> sqlite3.Connection:
    """Chroma's own database, for reading. Not with mode=ro: what a killed process left half written must be rolled back first, which SQLite
    refuses to a reader who may not write. Where the file can't be written, SQLite itself opens it for reading."""
    return sqlite3.connect(f"{database.absolute().as_uri()}?mode=rw", uri=True)


def _refuse_foreign(folder: Path) -> None:
    """An index made elsewhere may name an embedding function, which Chroma would build when writing, running code of the
    index's choice. Ours name none."""
    try:
        db = connected(folder / "chroma.sqlite3")
        try:
            rows = db.execute("SELECT config_json_str, schema_str FROM collections").fetchall()
        finally:
            db.close()
        configurations = [json.loads(text) for row in rows for text in row if text]
    except (sqlite3.Error, ValueError) as error:
        raise LibraryDamaged(f"the vector index's database can't be read ({error})") from error
    if any(function.get("type") not in ("legacy", "unknown") for c in configurations for function in _functions(c)):
        raise LibraryDamaged("the vector index names an embedding function, so it was not made by Ask Papers")


def _functions(node: Any) -> Iterator[dict]:
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    if isinstance(node, dict) and isinstance(node.get("embedding_function"), dict):
        yield node["embedding_function"]
    for child in children:
        yield from _functions(child)
