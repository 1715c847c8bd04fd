"""How well the search behind an answer ranked the right papers: recall, reciprocal rank, nDCG, and the files of TREC.

Looks at the papers that the engine found for the query that it really searched, not at the answer. The formulas are those of trec_eval;
tests compare them with ir_measures, which is no dependency of the product, for its compiled part is not there on every machine.
"""

from __future__ import annotations

import math
from typing import Any, Iterator, Mapping, Sequence

from .fidelity import Record
from .questions import Turn

MUST, MAY = 2, 1
"""Grades of a paper that must be cited, and of one that may."""
DEPTH = 10


def recall(grades: Mapping[str, int], found: Sequence[str], depth: int, least: int = 1) -> float:
    """Documents of at least that grade among the first `depth` / all such documents; 0 if there are none. R(rel=least)@depth."""
    relevant = {document for document, grade in grades.items() if grade >= least}
    return len(relevant & set(found[:depth])) / len(relevant) if relevant else 0.0


def reciprocal_rank(grades: Mapping[str, int], found: Sequence[str], depth: int = DEPTH) -> float:
    """1 / rank of the first document of any grade above 0; 0 if none is among the first `depth`. RR@depth."""
    return next((1 / rank for rank, document in enumerate(found[:depth], 1) if grades.get(document, 0) > 0), 0.0)


def ndcg(grades: Mapping[str, int], found: Sequence[str], depth: int = DEPTH) -> float:
    """Discounted cumulative gain of the ranking / that of the best one. The gain is the grade, discounted by log2(rank + 1) (Järvelin and
    Kekäläinen 2002, as in trec_eval's ndcg_cut). nDCG@depth."""
    best = _gained(sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:depth])
    return _gained([max(0, grades.get(document, 0)) for document in found[:depth]]) / best if best else 0.0


def _gained(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


# As metrics of a turn; they apply to answerable turns, lists apart


def recall_1(turn: Turn, record: Record) -> float | None:
    """Papers that must be cited and come first / papers that must be cited. Applies to answerable turns, lists apart; so do the others."""
    return recall(grades(turn), _found(record), 1, MUST) if _applies(turn) else None


def recall_5(turn: Turn, record: Record) -> float | None:
    """Papers that must be cited and are among the first five / papers that must be cited."""
    return recall(grades(turn), _found(record), 5, MUST) if _applies(turn) else None


def recall_10(turn: Turn, record: Record) -> float | None:
    """Papers that must be cited and are among the first ten / papers that must be cited."""
    return recall(grades(turn), _found(record), 10, MUST) if _applies(turn) else None


def mrr(turn: Turn, record: Record) -> float | None:
    """1 / rank of the first paper that must or may be cited; 0 if none is among the first ten."""
    return reciprocal_rank(grades(turn), _found(record)) if _applies(turn) else None


def ndcg_10(turn: Turn, record: Record) -> float | None:
    """Normalised discounted cumulative gain at 10; gain 2 for a paper that must be cited, 1 for one that may."""
    return ndcg(grades(turn), _found(record)) if _applies(turn) else None


def grades(turn: Turn) -> dict[str, int]:
    """Paper → grade, of the papers that must or may be cited."""
    return {**dict.fromkeys(turn.also, MAY), **dict.fromkeys(turn.papers, MUST)}


def _applies(turn: Turn) -> bool:
    return turn.answerable and turn.count is None and bool(turn.papers)


def _found(record: Record) -> list[str]:
    return [paper for paper, _ in record["retrieved"]]


# Files of TREC, so that any tool of the trade can check: `ir_measures qrels.trec run.trec 'nDCG@10 RR@10 R(rel=2)@5'`


def run_lines(retrieved: Mapping[str, Sequence[Sequence[Any]]]) -> Iterator[str]:
    """query Q0 document rank score tag. The score only keeps the engine's order: tools break ties of true scores by id."""
    for query, found in retrieved.items():
        for rank, (paper, _) in enumerate(found, 1):
            yield f"{query} Q0 {paper} {rank} {len(found) - rank + 1} askpapers"


def qrels_lines(turns: Mapping[str, Turn]) -> Iterator[str]:
    """query 0 document grade, of the turns to which retrieval metrics apply."""
    for query, turn in turns.items():
        if _applies(turn):
            for paper, grade in grades(turn).items():
                yield f"{query} 0 {paper} {grade}"
