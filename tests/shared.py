"""What the tests share: a quick embedder, made-up papers, a library in a folder of its own, and no way out to the network.

Stores and indexes are always the real ones; only the embedding model is replaced, where it is not what is tested.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from functools import lru_cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any, Callable, Iterable, Sequence

import numpy as np

from rag import AddReport, Library, Paper, Settings
from rag.passages import Span

ROOT = Path(__file__).resolve().parent.parent
SEEDS = ROOT / "seeds"


SAME_TITLE = [
    {"title": "Editorial", "authors": ["Ann Lee"], "abstract": "This issue gathers work on graphs and their kernels."},
    {"title": "Editorial", "authors": ["Ann Lee"], "abstract": "Looking back, robots have learnt how to walk upstairs."},
]
"""Two papers that only their abstracts tell apart."""


class WordEmbedder:
    """Hashes words to directions: texts that share words are near. Deterministic, and the same in every process."""

    def __init__(self, fingerprint: str = "words", dimension: int = 32):
        self.fingerprint = fingerprint
        self.dimension = dimension
        self.embedded: list[str] = []
        """Every text that was asked for, parts apart."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.concatenate([self.embed_parts(text, ()) for text in texts]) if texts else np.empty((0, self.dimension), np.float32)

    def embed_parts(self, text: str, parts: Sequence[Span]) -> np.ndarray:
        self.embedded.append(text)
        pieces = (text, *(text[start:end] for start, end in parts))
        return np.stack([_unit_vector(self.fingerprint, piece, self.dimension) for piece in pieces])


@lru_cache(maxsize=100_000)
def _unit_vector(fingerprint: str, text: str, dimension: int) -> np.ndarray:
    vector = np.sum([_direction(fingerprint, word.strip(".,"), dimension) for word in text.lower().split() or [""]], axis=0)
    return (vector / max(float(np.linalg.norm(vector)), 1e-9)).astype(np.float32)


@lru_cache(maxsize=100_000)
def _direction(fingerprint: str, word: str, dimension: int) -> np.ndarray:
    return np.random.default_rng(zlib.crc32(f"{fingerprint} {word}".encode())).standard_normal(dimension)


_NOUNS = "graph kernel policy gradient image protein speech market galaxy robot tensor parser enzyme climate sensor theorem".split()


def made_up(number: int, sentences: int = 2) -> Paper:
    """Paper `number`: its own word (`topic00042`) stands in every sentence, the other words are shared with some papers."""
    a, b, c = (_NOUNS[(number * step + step) % len(_NOUNS)] for step in (1, 5, 7))
    text = " ".join(f"Sentence {n} on {topic(number)} studies the {a} of a {b} with {c} {n + number % 9}." for n in range(1, sentences + 1))
    return Paper(
        f"made:{number}", f"On {topic(number)} and the {a}", text, (f"Ada Author{number}",), 2000 + number % 25, "Made Up", source="made up"
    )


def topic(number: int) -> str:
    return f"topic{number:05d}"


def opened(folder: Path, **options: Any) -> Library:
    """A library with the quick embedder and without the seeds, unless the options say otherwise."""
    return Library.open(folder, **{"settings": Settings(), "embedder": WordEmbedder(), "seeds": False, **options})


def add(folder: Path, sources: Iterable[Path | Paper]) -> AddReport:
    with opened(folder) as library:
        return library.add(*sources)


def remove(folder: Path, paper_ids: list[str]) -> None:
    with opened(folder) as library:
        library.remove(*paper_ids)


def in_new_process(processes: ForkServerContext, function: Callable[..., Any], *arguments: Any) -> Any:
    """What `function(*arguments)` returns in a process of its own."""
    with processes.Pool(1) as pool:
        return pool.apply(function, arguments)


def write_jsonl(path: Path, records: Iterable[Any]) -> Path:
    """One record a line; a Paper is written with its public fields, a string as it stands."""
    lines = (r if isinstance(r, str) else json.dumps(fields_of(r) if isinstance(r, Paper) else r, ensure_ascii=False) for r in records)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def fields_of(paper: Paper) -> dict[str, Any]:
    return {
        "id": paper.id, "title": paper.title, "abstract": paper.abstract, "authors": list(paper.authors), "year": paper.year,
        "venue": paper.venue, "url": paper.url, "doi": paper.doi, "keywords": list(paper.keywords),
    }  # fmt: skip


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def run_python(code: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs `code` in a new process that can import rag and this module."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": path, **environment})
