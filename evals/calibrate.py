"""Fits the few numbers that the answers without a model rest on: `python -m evals.calibrate`. Reads the tuning half only.

Prints the weights of rag.relevance (which sentence) and of rag.extractive (whether to answer); a person copies them. Changes
nothing, and never looks at the reporting half.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from rag import Library, Settings
from rag.lexical import terms
from rag.passages import sentences
from rag.relevance import FEATURES, features

QUESTIONS = Path(__file__).parent / "questions" / "seeds.jsonl"
_SENTENCE_KINDS = ("described", "named", "fact", "how-why", "casual", "two-facts")
_ANSWER_KINDS = (*_SENTENCE_KINDS, "comparison", "off-subject", "subject-absent")
FALSE_REFUSALS = 0.03
"""The share of answerable tuning questions that may be refused."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.calibrate", description=__doc__)
    parser.add_argument("--library", default=None, help="library of the sample papers (default: your own)")
    options = parser.parse_args()
    questions = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    questions = [q for q in questions if q["half"] == "tuning" and "question" in q]
    with Library.open(options.library, settings=Settings()) as library:
        print("rag.relevance.WEIGHTS:", dict(zip(FEATURES, fit_sentences(library, questions).round(2).tolist())))
        names = ("bias", "dense", "lexical", "sentence")
        print("rag.extractive:", dict(zip(names, fit_answerability(library, questions).round(2).tolist())))
    return 0


def fit_sentences(library: Library, questions: list[dict]) -> np.ndarray:
    """Softmax over the sentences of the right paper; maximises the probability of those that hold the evidence (ListNet's
    top-one form, Cao et al. 2007), with a small penalty on the weights."""
    cases = []
    for question in (q for q in questions if q["kind"] in _SENTENCE_KINDS):
        weights = library.weigh(terms(question["question"]))
        for found in library.find(question["question"], 10):
            paper = found.hit.paper
            evidence = [e["text"] for e in question["evidence"] if e["paper"] == paper.id]
            if not evidence:
                continue
            spans = sentences(paper.abstract)
            places = [(paper.abstract.find(text), len(text)) for text in evidence]
            holds = np.array([any(_overlap(span, at, at + n) >= 0.5 * min(n, span.end - span.start) for at, n in places) for span in spans])
            if holds.any():
                cases.append((features(question["question"], weights, paper, spans, found.sentence_cosines), holds))
    everything = np.concatenate([f for f, _ in cases])
    scale = everything.std(axis=0) + 1e-9
    w = np.zeros(len(FEATURES))
    for _ in range(300):
        gradient = np.zeros_like(w)
        for case, holds in cases:
            z = case / scale
            p = np.exp(z @ w - (z @ w).max())
            p /= p.sum()
            wanted = p * holds / (p * holds).sum()
            gradient += z.T @ (wanted - p)
        w += 0.5 * (gradient / len(cases) - 0.01 * w)
    return w / scale


def fit_answerability(library: Library, questions: list[dict]) -> np.ndarray:
    """Logistic regression with balanced classes; the bias is then moved so that FALSE_REFUSALS of the answerable questions
    fall below one half."""
    rows, labels = [], []
    for question in (q for q in questions if q["kind"] in _ANSWER_KINDS):
        best = library.find(question["question"], 1)[0]
        rows.append((1.0, best.hit.dense, best.hit.lexical, float(best.sentence_cosines.max(initial=0.0))))
        labels.append(question["answerable"])
    x, y = np.array(rows), np.array(labels, dtype=float)
    balance = np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    w = np.zeros(x.shape[1])
    for _ in range(500):
        p = 1 / (1 + np.exp(-x @ w))
        gradient = x.T @ (balance * (p - y)) / len(y) + 1e-3 * w
        hessian = (x * (balance * p * (1 - p))[:, None]).T @ x / len(y) + 1e-3 * np.eye(len(w))
        w -= 0.5 * np.linalg.solve(hessian, gradient)
    w[0] -= np.quantile((x @ w)[y == 1], FALSE_REFUSALS)
    return w


def _overlap(span, start: int, end: int) -> int:
    return max(0, min(span.end, end) - max(span.start, start))


if __name__ == "__main__":
    sys.exit(main())
