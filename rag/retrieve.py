"""A question to Hits: vectors and words together, one Hit a paper, best first.

Chroma and Tantivy each name candidates; every candidate is then scored exactly from its stored vectors, so a paper's score does
not depend on which index named it. Changes nothing and imports no vendor library itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Callable, Collection, Sequence

import numpy as np

from .embedding import Embedder
from .errors import AskPapersError, EmbedderChanged, EmbeddingFailed
from .generations import Generation
from .papers import Hit, Paper, Passage
from .store import Block, Store

LEXICAL_WEIGHT = 0.3
"""Share of word coverage in the score; the rest is the mean of the cosines to the best passage and to the whole abstract."""
NEIGHBOURS = 150
"""Passages asked of Chroma; a paper has 4.5 on average."""
DENSE_CANDIDATES = 30
LEXICAL_CANDIDATES = 30
SURVEYED = 5000
"""Papers up to which a survey looks at every one; of a larger library, at what the indexes name when asked for this many."""

Promising = Callable[[np.ndarray], np.ndarray]
"""Rows of (dense, lexical, best sentence's cosine, score less the best score) → which of the papers to keep, as a mask."""


@dataclass(frozen=True)
class Found:
    """A Hit with what the answer needs and a user doesn't: its sentences' vectors (n, dimension) and their cosines to the
    question, in reading order."""

    hit: Hit
    sentence_cosines: np.ndarray
    sentence_vectors: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))


def retrieve(
    question: str,
    generation: Generation,
    store: Store,
    embedder: Embedder,
    limit: int,
    timings: dict[str, float] | None = None,
    within: Collection[str] | None = None,
) -> list[Found]:
    """At most `limit` papers, best first. `within`: stamps of the only papers to look at, each of which is then scored. Adds
    "embed" and "search" seconds to `timings`."""
    timings = {} if timings is None else timings
    started = time.perf_counter()
    vector = _embedded(question, embedder)
    embedded = time.perf_counter()
    if generation.manifest.papers and len(vector) != generation.manifest.dimension:
        raise EmbedderChanged(
            f"{embedder.fingerprint} now gives vectors of length {len(vector)}; the library holds {generation.manifest.dimension}. "
            "Run `askpapers doctor --rebuild` to embed it anew."
        )
    if within is None:
        candidates, lexical = _candidates(question, vector, generation, min(limit, generation.manifest.papers))
    else:
        candidates = sorted(within)
        lexical = {m.stamp: m.coverage for m in generation.words.search(question, 1, also=candidates)}
    scored = _scores(candidates, vector, lexical, generation, store)
    scored.sort(key=lambda s: (-s.score, s.stamp))
    found = _found(scored, limit, store)
    timings["embed"] = embedded - started
    timings["search"] = time.perf_counter() - embedded
    return found


def _candidates(question: str, vector: np.ndarray, generation: Generation, most: int) -> tuple[list[str], dict[str, float]]:
    """Stamps that either index names, and how much of the question each covers."""
    neighbours = min(max(NEIGHBOURS, most * NEIGHBOURS // DENSE_CANDIDATES), max(NEIGHBOURS, generation.manifest.passages))
    dense = _papers_of(generation.vectors.search(vector, neighbours))[: max(DENSE_CANDIDATES, most)]
    lexical = {match.stamp: match.coverage for match in generation.words.search(question, max(LEXICAL_CANDIDATES, most), also=dense)}
    return list(dict.fromkeys([*dense, *lexical])), lexical


def survey(
    text: str,
    generation: Generation,
    store: Store,
    embedder: Embedder,
    promising: Promising,
    timings: dict[str, float] | None = None,
    within: Collection[str] | None = None,
    everything: Block | None = None,
) -> list[Found]:
    """Every promising paper of the library, best first: nothing is cut off by rank. `everything`: the vectors of all papers, if
    they are at hand. Adds "embed" and "search" seconds to `timings`."""
    timings = {} if timings is None else timings
    started = time.perf_counter()
    vector = _embedded(text, embedder)
    embedded = time.perf_counter()
    block = everything
    if within is not None or block is None:
        named = sorted(within) if within is not None else _papers_of(generation.vectors.search(vector, min(SURVEYED, generation.manifest.passages)))
        wordy = [] if within is not None else [m.stamp for m in generation.words.search(text, SURVEYED)]
        block = store.vectors(list(dict.fromkeys([*named, *wordy])), generation.manifest.fingerprint)
    lexical = {m.stamp: m.coverage for m in generation.words.search(text, generation.manifest.papers)}
    scored = _scores_in(block, vector, lexical)
    scored.sort(key=lambda s: (-s.score, s.stamp))
    best = scored[0].score if scored else 0.0
    rows = np.array([(s.dense, s.lexical, s.sentences.max(initial=0.0), s.score - best) for s in scored]).reshape(len(scored), 4)
    kept = [s for s, keep in zip(scored, promising(rows)) if keep]
    found = _found(kept, len(kept), store) if kept else []
    timings["embed"] = embedded - started
    timings["search"] = time.perf_counter() - embedded
    return found


@dataclass(frozen=True)
class _Scored:
    stamp: str
    score: float
    dense: float
    lexical: float
    passages: np.ndarray  # cosines of the passages: the whole abstract, then its windows
    sentences: np.ndarray  # cosines of the sentences
    vectors: np.ndarray  # of the sentences


def _embedded(question: str, embedder: Embedder) -> np.ndarray:
    """Whatever goes wrong here is no fault of the index, which would otherwise be built again."""
    try:
        return embedder.embed([question])[0]
    except AskPapersError:
        raise
    except Exception as error:
        raise EmbeddingFailed(f"{embedder.fingerprint} could not embed the question ({error}).") from error


def _papers_of(neighbours: Sequence) -> list[str]:
    return list(dict.fromkeys(n.passage_id.rpartition("-")[0] for n in neighbours))


def _scores(candidates: list[str], vector: np.ndarray, lexical: dict[str, float], generation: Generation, store: Store) -> list[_Scored]:
    return _scores_in(store.vectors(candidates, generation.manifest.fingerprint), vector, lexical)


def _scores_in(block: Block, vector: np.ndarray, lexical: dict[str, float]) -> list[_Scored]:
    cosines = block.matrix @ vector if block.stamps else np.empty(0)
    scored = []
    for stamp, count, first, last in zip(block.stamps, block.passages, block.edges, block.edges[1:]):
        passages = cosines[first : first + count]
        dense = float(passages[0] + passages[min(1, count - 1) :].max()) / 2
        coverage = lexical.get(stamp, 0.0)
        score = (1 - LEXICAL_WEIGHT) * dense + LEXICAL_WEIGHT * coverage
        scored.append(_Scored(stamp, score, dense, coverage, passages, cosines[first + count : last], block.matrix[first + count : last]))
    return scored


def _found(scored: list[_Scored], limit: int, store: Store) -> list[Found]:
    """The first `limit` that are still papers: one removed since the index was built has no row any more."""
    kept: list[tuple[_Scored, Paper]] = []
    for start in range(0, len(scored), limit):
        part = scored[start : start + limit]
        papers = store.by_stamp([s.stamp for s in part])
        kept += [(s, papers[s.stamp]) for s in part if s.stamp in papers]
        if len(kept) >= limit:
            break
    passages = store.passages_by_stamp({s.stamp: paper for s, paper in kept[:limit]})
    kept = [(s, paper) for s, paper in kept[:limit] if passages[s.stamp]]  # or it was removed just now
    return [Found(Hit(paper, s.score, s.dense, s.lexical, _best_first(passages[s.stamp], s.passages)), s.sentences, s.vectors) for s, paper in kept]


def _best_first(passages: list[Passage], cosines: np.ndarray) -> tuple[Passage, ...]:
    """The windows by cosine; the whole abstract counts as a passage only if it is the one there is."""
    order = np.argsort(-cosines[1:], kind="stable") + 1 if len(passages) > 1 else [0]
    return tuple(passages[n] for n in order)
