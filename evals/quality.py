"""Does the right paper come first? Our retrieval beside simpler ones, on questions with known papers, by kind and half.

The comparison is with embeddings of whole abstracts, with BM25, and with their fixed weighted sum (0.85 of the mean of the best
three-sentence passage and the whole abstract, 0.15 of BM25 divided by its best). Tunes nothing.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Iterator, Sequence

import numpy as np

from rag import Library
from rag.embedding import Embedder
from rag.lexical import all_terms, terms
from rag.passages import sentences, windows

KINDS = ("described", "named", "fact", "how-why", "casual")
_K1, _B = 1.2, 0.75


def compare(library: Library, embedder: Embedder, questions: Sequence[dict]) -> Iterator[str]:
    """Lines of a table: R@1 / R@5 by kind, for each method and half."""
    papers = library.papers()
    row = {paper.id: i for i, paper in enumerate(papers)}
    questions = [q for q in questions if all(p in row for p in q["papers"])]
    asked = embedder.embed([q["question"] for q in questions])
    whole = embedder.embed([p.abstract for p in papers])
    owner, parts = [], []
    for i, paper in enumerate(papers):
        for start, end in windows(sentences(paper.abstract)):
            owner.append(i)
            parts.append(paper.abstract[start:end])
    passages = embedder.embed(parts)
    bm25 = _bm25([all_terms(p.abstract) for p in papers], [terms(q["question"]) for q in questions])
    dense = asked @ whole.T
    best = np.full((len(questions), len(papers)), -1.0)
    for column, i in enumerate(owner):
        best[:, i] = np.maximum(best[:, i], asked @ passages[column])
    summed = 0.85 * (best + dense) / 2 + 0.15 * bm25 / np.maximum(bm25.max(axis=1, keepdims=True), 1e-9)
    ours = [[row[hit.paper.id] for hit in library.search(q["question"], 5)] for q in questions]
    orders = {"BM25": _order(bm25), "vectors, whole abstract": _order(dense), "weighted sum": _order(summed), "ours": ours}
    yield f"{'R@1 / R@5':28}" + "".join(f"{kind:>16}" for kind in KINDS)
    for half in ("tuning", "reporting"):
        for name, order in orders.items():
            cells = []
            for kind in KINDS:
                ranks = [_rank(order[n], {row[p] for p in q["papers"]}) for n, q in enumerate(questions) if q["kind"] == kind and q["half"] == half]
                cells.append(f"{np.mean([r < 1 for r in ranks]):.2f} / {np.mean([r < 5 for r in ranks]):.2f}")
            counts = Counter(q["kind"] for q in questions if q["half"] == half)
            yield f"{name + ', ' + half:28}" + "".join(f"{cell:>16}" for cell in cells) + (f"   n {'/'.join(str(counts[k]) for k in KINDS)}" if name == "ours" else "")


def _order(scores: np.ndarray) -> list[list[int]]:
    return [list(np.argsort(-line, kind="stable")[:5]) for line in scores]


def _rank(order: Sequence[int], gold: set[int]) -> int:
    return next((rank for rank, paper in enumerate(order) if paper in gold), 99)


def _bm25(full: Sequence[Sequence[str]], questions: Sequence[Sequence[str]]) -> np.ndarray:
    """Okapi BM25 with Lucene's inverse document frequency; shape (questions, documents)."""
    lengths = np.array([len(words) for words in full], dtype=float)
    norm = _K1 * (1 - _B + _B * lengths / lengths.mean())
    postings: dict[str, dict[int, int]] = defaultdict(dict)
    for i, words in enumerate(full):
        for word, count in Counter(words).items():
            postings[word][i] = count
    scores = np.zeros((len(questions), len(full)))
    for n, words in enumerate(questions):
        for word in words:
            held = postings.get(word, {})
            weight = math.log(1 + (len(full) - len(held) + 0.5) / (len(held) + 0.5))
            for i, count in held.items():
                scores[n, i] += weight * count * (_K1 + 1) / (count + norm[i])
    return scores
