"""Does it know when the abstracts don't say? Figures of a whole run, for they compare questions with each other.

Refusing everything and refusing nothing both score badly here: every figure weighs what was caught against what was lost.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from .metrics import refused
from .questions import HALVES, Question
from .stats import auroc, wilson

STEPS = 21
"""Thresholds of the curve: 0, 0.05, …, 1."""


def measure(questions: Sequence[Question], answers: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Half (and "all") → figures of that half.

    precision, recall, f1: of refusing as a detector of unanswerable questions; null without any. caught / unanswerable, false_refusals /
    answerable: counts, errors being neither refusals nor answers. caught_interval, false_refusal_interval: Wilson, 95 %. auroc: chance
    that an answerable question has a higher `answerability` than an unanswerable one. curve: [threshold, share of answerable questions
    refused, share of unanswerable ones refused] if everything below the threshold were refused. Turns of small talk count as refused.
    """
    return {half: _measure(questions, answers, half) for half in (*HALVES, "all")}


def _measure(questions: Sequence[Question], answers: Sequence[Mapping[str, Any]], half: str) -> dict[str, Any]:
    by_id = {q.id: q for q in questions if half in (q.half, "all")}
    lost: list[bool] = []
    caught: list[bool] = []
    likely: dict[bool, list[float]] = {True: [], False: []}
    for line in answers:
        if line["id"] not in by_id:
            continue
        answerable = by_id[line["id"]].turns[line["turn"]].answerable
        (lost if answerable else caught).append(line["error"] is None and refused(line["answer"]))
        if line["answerability"] is not None:
            likely[answerable].append(line["answerability"])
    refusals = sum(lost) + sum(caught)
    precision = sum(caught) / refusals if refusals else None
    recall = sum(caught) / len(caught) if caught else None
    f1 = 2 * sum(caught) / (refusals + len(caught)) if refusals + len(caught) else None
    area = auroc(likely[True], likely[False])
    return {
        "precision": _round(precision), "recall": _round(recall), "f1": _round(f1), "auroc": _round(area),
        "caught": sum(caught), "unanswerable": len(caught), "false_refusals": sum(lost), "answerable": len(lost),
        "caught_interval": [_round(v) for v in wilson(sum(caught), len(caught))],
        "false_refusal_interval": [_round(v) for v in wilson(sum(lost), len(lost))],
        "curve": [[t / (STEPS - 1), _below(likely[True], t), _below(likely[False], t)] for t in range(STEPS)],
    }  # fmt: skip


def _below(values: Sequence[float], step: int) -> float:
    threshold = step / (STEPS - 1)
    return round(sum(v < threshold for v in values) / len(values), 6) if values else 0.0


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
