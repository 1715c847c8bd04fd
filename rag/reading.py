"""How a small trained model reads one abstract with a question in mind: which sentences answer it, and whether any does.

Two layers of attention over the question's token vectors, the sentences' stored vectors, and the plain signs of `relevance` and
`stated`; trained by evals/train.py. Needs no abstract's tokens, so it takes a millisecond. Never looks for a paper, and writes nothing.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Mapping, Sequence

import numpy as np

from . import relevance, stated
from .lexical import terms
from .names import Mention
from .passages import sentences
from .subjects import Read, Subject

WEIGHTS = Path(__file__).parent / "models" / "reader.npz"
MAX_TOKENS = 64
"""Of the question; the rest is not read."""
_HEADS = 4
SCALE = 8.0
"""Unit vectors of 384 numbers are brought to the size of token vectors."""


def read(subject: Subject, rarity: Mapping[str, float], mentions: Sequence[Mention], tokens: np.ndarray) -> Read | None:
    """`rarity`, `mentions`: of what is asked. `tokens`: its token vectors as the bundled model gives them, shape (n, 384). None
    if the subject's sentences come without vectors of that model."""
    rows, row = signs(subject, rarity, mentions)
    vectors = subject.found.sentence_vectors
    if not len(rows) or vectors.shape != (len(rows), tokens.shape[1]):
        return None
    none, scores = _network()(tokens[:MAX_TOKENS], vectors, rows, row)
    return Read(_log_sum(scores) - none, scores)


def signs(subject: Subject, rarity: Mapping[str, float], mentions: Sequence[Mention]) -> tuple[np.ndarray, np.ndarray]:
    """What is plain to see: of every sentence, shape (sentences, len(relevance.FEATURES)), and of question and abstract together,
    shape (len(stated.FEATURES) + 1,), the last of which is whether the question says the paper's name."""
    paper, words = subject.found.hit.paper, set(terms(subject.asked))
    known = {word: weight for word, weight in rarity.items() if weight < 1 and word in words}
    rows = relevance.features(subject.asked, known, paper, sentences(paper.abstract), subject.found.sentence_cosines, subject.aspects)
    return rows, np.array([*stated.features(subject.asked, subject, rarity, mentions), float(subject.named)])


class _Network:
    """The forward pass of evals/train.py's network: pre-norm transformer encoder, ReLU. Float32."""

    def __init__(self, weights: Mapping[str, np.ndarray]):
        self._w = {name: value.astype(np.float32) for name, value in weights.items()}
        self._layers = sum(name.endswith("linear1.weight") for name in self._w)

    def __call__(self, tokens: np.ndarray, vectors: np.ndarray, rows: np.ndarray, row: np.ndarray) -> tuple[float, np.ndarray]:
        """(log odds of none, scores of the sentences)."""
        w, n = self._w, len(tokens)
        rows, row = ((rows - w["rows.mean"]) / w["rows.scale"]).astype(np.float32), ((row - w["row.mean"]) / w["row.scale"]).astype(np.float32)
        x = np.concatenate([
            self._linear("p", row[None]) + w["ty"][0],
            self._linear("q", tokens.astype(np.float32)) + w["pos.weight"][:n] + w["ty"][1],
            self._linear("v", vectors.astype(np.float32) * SCALE) + self._linear("f", rows) + w["ty"][2],
        ])  # fmt: skip
        x = self._norm("ln", x)
        for i in range(self._layers):
            name = f"tr.layers.{i}."
            x = x + self._attention(name + "self_attn.", self._norm(name + "norm1", x))
            x = x + self._linear(name + "linear2", np.maximum(self._linear(name + "linear1", self._norm(name + "norm2", x)), 0))
        none = self._linear("nul", x[0])[0] - self._linear("wp", row)[0]
        return float(none), self._linear("out", x[1 + n :])[:, 0] + rows @ w["w.weight"][0]

    def _linear(self, name: str, x: np.ndarray) -> np.ndarray:
        return x @ self._w[f"{name}.weight"].T + self._w[f"{name}.bias"]

    def _norm(self, name: str, x: np.ndarray) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * self._w[f"{name}.weight"] + self._w[f"{name}.bias"]

    def _attention(self, name: str, x: np.ndarray) -> np.ndarray:
        n, d = x.shape
        q, k, v = ((x @ self._w[name + "in_proj_weight"].T + self._w[name + "in_proj_bias"]).reshape(n, 3, _HEADS, d // _HEADS)).transpose(1, 2, 0, 3)
        a = q @ k.transpose(0, 2, 1) / np.sqrt(d // _HEADS)
        a = np.exp(a - a.max(-1, keepdims=True))
        return self._linear(name + "out_proj", ((a / a.sum(-1, keepdims=True)) @ v).transpose(1, 0, 2).reshape(n, d))


@lru_cache(maxsize=1)
def _network() -> _Network:
    with np.load(WEIGHTS) as weights:
        return _Network(dict(weights))


def _log_sum(x: np.ndarray) -> float:
    top = x.max()
    return float(top + np.log(np.exp(x - top).sum()))
