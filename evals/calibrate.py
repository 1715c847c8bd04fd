"""Fits the few numbers that the answers without a model rest on: `python -m evals.calibrate`. Reads the tuning half only.

Prints the weights of rag.relevance (which sentence), rag.answerable (whether to answer) and rag.listing (which papers match); a
person copies them. Changes nothing, and never looks at the reporting half.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Iterator

import numpy as np

from rag import Library, Settings
from rag import answerable, listing, relevance, stated
from rag.criteria import criterion
from rag.about import about
from rag.lexical import terms
from rag.passages import sentences
from rag.questions import is_foreign

QUESTIONS = Path(__file__).parent / "questions" / "seeds.jsonl"
_SENTENCE_KINDS = ("described", "named", "fact", "how-why", "casual", "two-facts")
_STATED_KINDS = (*_SENTENCE_KINDS, "robust", "not-stated")
_ANSWER_KINDS = (*_SENTENCE_KINDS, "comparison", "robust", "off-subject", "subject-absent")
FALSE_REFUSALS, FALSE_DENIALS = 0.012, 0.008
"""The share of answerable tuning questions that may be refused because no paper seems to be about them, and because the right paper
doesn't seem to state that."""
_CUTS = np.arange(0.05, 0.6, 0.01)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.calibrate", description=__doc__)
    parser.add_argument("--library", default=None, help="library of the sample papers (default: your own)")
    options = parser.parse_args()
    questions = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    whole = [q for q in questions if q["half"] == "tuning"]
    questions = [q for q in whole if "question" in q]
    with Library.open(options.library, settings=Settings()) as library:
        weights, cut, f1 = fit_lists(library, questions)
        print("rag.listing:", _named(("bias", *listing.FEATURES), weights), f"SURE {cut:.2f} (F1 {f1:.3f}, each question left out in turn)")
        print("rag.answerable:", _named(("bias", *answerable.FEATURES), fit_answerability(library, questions)))
        print("rag.stated:", _named(("bias", *stated.FEATURES), fit_stated(library, whole)))
        print("rag.relevance:", _named(relevance.FEATURES, fit_sentences(library, whole)))
    return 0


def _named(names: tuple[str, ...], values: np.ndarray) -> dict[str, float]:
    return dict(zip(names, values.round(2).tolist()))


def fit_sentences(library: Library, questions: list[dict]) -> np.ndarray:
    """Softmax over the sentences of the right paper; maximises the probability of those that hold the evidence (ListNet's
    top-one form, Cao et al. 2007), with a small penalty on the weights."""
    cases = list(_sentence_cases(library, questions))
    scale = np.concatenate([f for f, _ in cases]).std(axis=0) + 1e-9
    w = np.zeros(len(relevance.FEATURES))
    for _ in range(300):
        gradient = np.zeros_like(w)
        for case, holds in cases:
            z = case / scale
            p = np.exp(z @ w - (z @ w).max())
            p /= p.sum()
            wanted = p * holds / (p * holds).sum()
            gradient += z.T @ (wanted - p)
        w += 0.5 * (gradient / len(cases) - 0.02 * w)
    return w / scale


def _sentence_cases(library: Library, questions: list[dict]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(features, which sentences hold the evidence) for each question that is about one paper, found by the engine."""
    for question in (asked for q in questions for asked in ([q] if q["kind"] in _SENTENCE_KINDS else _later(library, q) if "turns" in q else [])):
        for subject in about(library, question["question"], library.find(question["question"], 10))[0]:
            paper = subject.found.hit.paper
            evidence = [e["text"] for e in question["evidence"] if e["paper"] == paper.id]
            spans = sentences(paper.abstract)
            places = [(paper.abstract.find(text), len(text)) for text in evidence]
            holds = np.array([any(_overlap(span, at, at + n) >= 0.5 * min(n, span.end - span.start) for at, n in places) for span in spans])
            if holds.any():
                rarity = {word: weight for word, weight in library.rarity(terms(subject.asked)).items() if weight < 1}
                yield relevance.features(subject.asked, rarity, paper, spans, subject.found.sentence_cosines, subject.aspects), holds


def fit_answerability(library: Library, questions: list[dict]) -> np.ndarray:
    """Logistic regression with balanced classes; the bias is then moved so that FALSE_REFUSALS of the answerable questions
    fall below one half. Bias first."""
    rows, labels = [], []
    for question in (q for q in questions if q["kind"] in _ANSWER_KINDS and not is_foreign(q["question"])):
        found = library.find(question["question"], 10)
        subjects, _ = about(library, question["question"], found)
        first = [s.found for s in subjects[:1]] or found
        rows.append((1.0, *answerable.features(question["question"], first, library.rarity(terms(question["question"])), any(s.named for s in subjects))))
        labels.append(question["answerable"])
    x, y = np.array(rows), np.array(labels, dtype=float)
    w = _logistic(x, y, np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean())), 0.5)
    w[0] -= np.quantile((x @ w)[y == 1], FALSE_REFUSALS)
    return w


def fit_stated(library: Library, questions: list[dict]) -> np.ndarray:
    """Logistic regression with balanced classes over the questions about one paper that the engine finds, later turns of dialogues
    with their paper's title added; the bias is then moved for FALSE_DENIALS. Bias first."""
    rows, labels = [], []
    for question in questions:
        for asked in [question] if question["kind"] in _STATED_KINDS else _later(library, question):
            papers = {*asked["papers"], *asked.get("about", ())}
            subjects, _ = about(library, asked["question"], library.find(asked["question"], 10))
            if len(papers) == 1 and len(subjects) == 1 and subjects[0].found.hit.paper.id in papers and not is_foreign(asked["question"]):
                rarity = library.rarity(terms(asked["question"]))
                rows.append((1.0, *stated.features(asked["question"], subjects[0], rarity, library.mentions(asked["question"]))))
                labels.append(asked["answerable"])
    x, y = np.array(rows), np.array(labels, dtype=float)
    w = _logistic(x, y, np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean())), 3.0)
    w[0] -= np.quantile((x @ w)[y == 1], FALSE_DENIALS)
    return w


def _later(library: Library, question: dict) -> Iterator[dict]:
    """The later turns of a dialogue about one paper, as they are asked in full."""
    for turn in question.get("turns", ())[1:]:
        papers = [*turn["papers"], *turn.get("about", ())]
        if len(papers) == 1:
            yield {**turn, "question": f"{turn['question']} ({library.paper(papers[0]).title})"}


def fit_lists(library: Library, questions: list[dict]) -> tuple[np.ndarray, float, float]:
    """Logistic regression over every paper for every topical question, each question weighted by the root of its number of
    papers; then the cut with the best mean F1, every question being judged by weights that were fitted without it."""
    cases = []
    for question in (q for q in questions if q["kind"] == "list" and q["criterion"] == "topical"):
        asked = criterion(question["question"])
        if asked.kind != "topic":
            continue
        found = library.survey(asked.text, lambda rows: np.ones(len(rows), dtype=bool))
        gold, may = set(question["papers"]), set(question.get("also", []))
        ids = [f.hit.paper.id for f in found]
        weight = np.array([0.0 if i in may else max(len(gold), 1) ** -0.5 for i in ids])
        x = np.column_stack([np.ones(len(found)), listing.features(question["question"], found)])
        cases.append((x, np.array([float(i in gold) for i in ids]), weight, np.array([i in may for i in ids])))

    def fit(chosen: list) -> np.ndarray:
        return _logistic(*(np.concatenate([case[part] for case in chosen]) for part in range(3)), 1.0)

    f1 = []
    for left_out, (x, gold, _, may) in enumerate(cases):
        sure = 1 / (1 + np.exp(-x @ fit([c for n, c in enumerate(cases) if n != left_out])))
        f1.append([_f1(sure >= cut, gold > 0, may) for cut in _CUTS] if gold.any() else [np.nan] * len(_CUTS))
    mean = np.nanmean(np.array(f1), axis=0)
    return fit(cases), float(_CUTS[mean.argmax()]), float(mean.max())


def _f1(told: np.ndarray, gold: np.ndarray, may: np.ndarray) -> float:
    precision = (told & (gold | may)).sum() / told.sum() if told.any() else 0.0
    recall = (told & gold).sum() / gold.sum()
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _logistic(x: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: float) -> np.ndarray:
    """Weights in the units of `x`, whose first column is 1; the penalty is on standardised features, and not on the bias."""
    mean, scale = x[:, 1:].mean(axis=0), x[:, 1:].std(axis=0) + 1e-9
    z = np.column_stack([x[:, 0], (x[:, 1:] - mean) / scale])
    keep = penalty * np.diag([0.0, *np.ones(z.shape[1] - 1)])
    w = np.zeros(z.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-z @ w))
        gradient = z.T @ (weight * (p - y)) + keep @ w
        w -= np.linalg.solve((z * (weight * p * (1 - p))[:, None]).T @ z + keep + 1e-9 * np.eye(len(w)), gradient)
    return np.array([w[0] - (w[1:] * mean / scale).sum(), *(w[1:] / scale)])


def _overlap(span, start: int, end: int) -> int:
    return max(0, min(span.end, end) - max(span.start, start))


if __name__ == "__main__":
    sys.exit(main())
