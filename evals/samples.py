"""A library of the sample papers for one run: made anew each time, so that it is always today's code that is measured.

Only the vectors of the bundled embedding model are kept between runs, in the user's cache folder; they are stored under the hash of
their text and the model's fingerprint, so old ones can't be taken for new ones. Never touches the user's own library.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Callable, Iterator

from rag import AskPapersError, Library, Settings
from rag.library import SEEDS
from rag.store import FILE


@contextmanager
def sample_library(
    settings: Settings, progress: Callable[[str, int, int], None] = lambda *_: None, cache: Path | None = None
) -> Iterator[Library]:
    """The sample papers in a temporary folder, gone after the block. `cache`: where vectors are kept (default: the user's cache folder).
    With an embedding endpoint nothing is kept."""
    kept = None if settings.embedding_model else (cache or _cache()) / f"samples-{_hash()}.sqlite"
    with tempfile.TemporaryDirectory(prefix="askpapers-samples-", ignore_cleanup_errors=True) as place:
        folder = Path(place) / "library"
        library = _from(kept, folder, settings, progress) if kept and kept.exists() else None
        with library or _fill(folder, settings, progress) as library:
            if kept and not kept.exists():
                _keep(folder / FILE, kept)
            yield library


def _fill(folder: Path, settings: Settings, progress: Any) -> Library:
    library = Library.open(folder, settings=settings, progress=progress, seeds=False)
    library.add(SEEDS)
    return library


def _from(kept: Path, folder: Path, settings: Settings, progress: Any) -> Library | None:
    """The library over a copy of the kept file, its index built now; None if the file is of no use, which then goes."""
    folder.mkdir()
    try:
        shutil.copyfile(kept, folder / FILE)
        return _fill(folder, settings, progress)
    except (OSError, AskPapersError):
        shutil.rmtree(folder)
        kept.unlink(missing_ok=True)
        return None


def _keep(store: Path, kept: Path) -> None:
    """A copy as of one moment, put in place whole. A cache that can't be written is no error: the next run embeds again."""
    new = kept.with_suffix(f".{os.getpid()}")
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(store)) as source, closing(sqlite3.connect(new)) as copy:
            source.backup(copy)
        os.replace(new, kept)
        for other in kept.parent.glob("samples-*.sqlite"):
            if other != kept:
                other.unlink()
    except (OSError, sqlite3.Error):
        with suppress(OSError):
            new.unlink()


def _cache() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("askpapers", appauthor=False) / "evals"


def _hash() -> str:
    whole = hashlib.sha256()
    for path in sorted(SEEDS.iterdir()):
        whole.update(path.name.encode() + path.read_bytes())
    return whole.hexdigest()[:16]
