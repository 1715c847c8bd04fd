"""How a small trained model reads one abstract with a question in mind: which sentences answer it, and whether any does.

Two layers of attention over the question's token vectors, the sentences' stored vectors, and the plain signs of `relevance` and
`stated`; trained by evals/train.py. Needs no abstract's tokens, so it takes a millisecond. Never looks for a paper, and writes nothing.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np

from . import relevance, stated
from .errors import LibraryDamaged
from .lexical import terms
from .names import Mention
from .passages import sentences
from .subjects import Read, Subject

MODEL = Path(__file__).parent / "models" / "reader.onnx"
MAX_TOKENS = 64
"""Of the question; the rest is not read."""


def read(subject: Subject, rarity: Mapping[str, float], mentions: Sequence[Mention], tokens: np.ndarray) -> Read | None:
    """`rarity`, `mentions`: of what is asked. `tokens`: its token vectors as the bundled model gives them, shape (n, 384). None
    if the subject's sentences come without vectors of that model."""
    rows, row = signs(subject, rarity, mentions)
    vectors = subject.found.sentence_vectors
    if not len(rows) or vectors.shape != (len(rows), tokens.shape[1]):
        return None
    given = {"tokens": tokens[:MAX_TOKENS], "vectors": vectors, "rows": rows, "row": row}
    none, scores = _session().run(None, {name: np.asarray(value, dtype=np.float32) for name, value in given.items()})
    return Read(_log_sum(scores) - float(none[0]), scores)


def signs(subject: Subject, rarity: Mapping[str, float], mentions: Sequence[Mention]) -> tuple[np.ndarray, np.ndarray]:
    """What is plain to see: of every sentence, shape (sentences, len(relevance.FEATURES)), and of question and abstract together,
    shape (len(stated.FEATURES) + 1,), the last of which is whether the question says the paper's name."""
    paper, words = subject.found.hit.paper, set(terms(subject.asked))
    known = {word: weight for word, weight in rarity.items() if weight < 1 and word in words}
    rows = relevance.features(subject.asked, known, paper, sentences(paper.abstract), subject.found.sentence_cosines, subject.aspects)
    return rows, np.array([*stated.features(subject.asked, subject, rarity, mentions), float(subject.named)])


@lru_cache(maxsize=1)
def _session() -> Any:
    """One thread a paper, as the embedder has it: more would wait for each other."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(MODEL), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise LibraryDamaged(f"The reading model {MODEL} can't be loaded ({type(error).__name__}). Reinstall Ask Papers.") from error


def _log_sum(x: np.ndarray) -> float:
    top = x.max()
    return float(top + np.log(np.exp(x - top).sum()))
