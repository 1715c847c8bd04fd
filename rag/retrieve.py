"""A question to Hits: vectors and words together, one Hit a paper, best first.

Chroma and Tantivy each name candidates; every candidate is then scored exactly from its stored vectors, so a paper's score does
not depend on which index named it. Changes nothing and imports no vendor library itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Sequence

import numpy as np

from .embedding import Embedder
from .errors import EmbedderChanged
from .generations import Generation
from .papers import Hit, Paper
from .store import Store

LEXICAL_WEIGHT = 0.3
"""Share of word coverage in the score; the rest is the mean of the cosines to the best passage and to the whole abstract."""
NEIGHBOURS = 150
"""Passages asked of Chroma; a paper has 4.5 on average."""
DENSE_CANDIDATES = 40
LEXICAL_CANDIDATES = 40


@dataclass(frozen=True)
class Found:
    """A Hit with what the answer needs and a user doesn't: its sentences' cosines to the question, in reading order."""

    hit: Hit
    sentence_cosines: np.ndarray


def retrieve(question: str, generation: Generation, store: Store, embedder: Embedder, limit: int, timings: dict[str, float] | None = None) -> list[Found]:
    """At most `limit` papers, best first. Adds "embed" and "search" seconds to `timings`."""
    timings = {} if timings is None else timings
    started = time.perf_counter()
    vector = embedder.embed([question])[0]
    embedded = time.perf_counter()
    if generation.manifest.papers and len(vector) != generation.manifest.dimension:
        raise EmbedderChanged(
            f"{embedder.fingerprint} now gives vectors of length {len(vector)}; the library holds {generation.manifest.dimension}. "
            "Run `askpapers doctor --rebuild` to embed it anew."
        )
    dense = _papers_of(generation.vectors.search(vector, NEIGHBOURS))[:DENSE_CANDIDATES]
    lexical = {match.stamp: match.coverage for match in generation.words.search(question, LEXICAL_CANDIDATES, also=dense)}
    candidates = list(dict.fromkeys([*dense, *lexical]))
    scored = _scores(candidates, vector, lexical, generation, store)
    scored.sort(key=lambda s: (-s.score, s.stamp))
    found = _found(scored, limit, store)
    timings["embed"] = embedded - started
    timings["search"] = time.perf_counter() - embedded
    return found


@dataclass(frozen=True)
class _Scored:
    stamp: str
    score: float
    dense: float
    lexical: float
    passages: tuple[int, ...]
    sentence_cosines: np.ndarray


def _papers_of(neighbours: Sequence) -> list[str]:
    return list(dict.fromkeys(n.passage_id.rpartition("-")[0] for n in neighbours))


def _scores(candidates: list[str], vector: np.ndarray, lexical: dict[str, float], generation: Generation, store: Store) -> list[_Scored]:
    rows = store.vectors(candidates, generation.manifest.fingerprint)
    scored = []
    for stamp, (matrix, count) in rows.items():
        cosines = matrix @ vector
        of_passages = cosines[:count]
        dense = float((of_passages[0] + of_passages[min(1, count - 1) :].max()) / 2)
        coverage = lexical.get(stamp, 0.0)
        score = (1 - LEXICAL_WEIGHT) * dense + LEXICAL_WEIGHT * coverage
        order = sorted(range(min(1, count - 1), count), key=lambda n: -of_passages[n])
        scored.append(_Scored(stamp, score, dense, coverage, tuple(order), cosines[count:]))
    return scored


def _found(scored: list[_Scored], limit: int, store: Store) -> list[Found]:
    """A paper removed since the index was built has no row any more, and is passed over."""
    papers = store.by_stamp([s.stamp for s in scored[: limit + 20]])
    kept = [s for s in scored if s.stamp in papers][:limit]
    passages = store.passages_by_stamp({s.stamp: papers[s.stamp] for s in kept})
    return [
        Found(Hit(papers[s.stamp], s.score, s.dense, s.lexical, tuple(passages[s.stamp][n] for n in s.passages)), s.sentence_cosines)
        for s in kept
    ]
