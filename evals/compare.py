"""Is B better than A? Two scored runs, compared answer by answer: what changed, how sure that is, and which questions flipped.

Only answers that both runs have, and to which a metric applies in both, are compared; every difference stands with their number. Never
asks or scores, and never calls a difference better or worse when its interval holds 0.
"""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from rag.terminal import clean

from . import words
from .report import read_scored
from .runner import RunError, read_run
from .stats import holm, paired_difference, paired_permutation

FLIPS = ("right", "false_refusal", "false_answer", "canaries", "phantom_citations", "quote_fidelity", "unbacked_numbers")
"""Metrics whose change from perfect to not, or back, is shown question by question."""
_MOST = 40
"""Flipped answers printed; the JSON has all."""


@dataclass(frozen=True)
class Delta:
    """One metric. `a`, `b`: means over the `n` answers to which it applies in both; `delta` = b − a with its 95 % interval (cluster
    bootstrap) and two-sided p (paired permutation), `p_holm` corrected for all metrics shown. `wins`: answers that got better.
    `verdict`: "better", "worse", or "no difference shown" if the interval holds 0."""

    metric: str
    n: int
    a: float
    b: float
    delta: float
    low: float
    high: float
    p: float
    p_holm: float
    wins: int
    ties: int
    losses: int
    better: str
    unit: str
    hard: bool
    steady: bool
    verdict: str


@dataclass(frozen=True)
class Flip:
    """An answer that was perfect by a metric in one run and not in the other. `to`: "better" or "worse"."""

    id: str
    turn: int
    kind: str
    metric: str
    a: float
    b: float
    to: str
    question: str = ""


@dataclass(frozen=True)
class Comparison:
    """`notes`: what makes the two runs less comparable. `pairs`: answers that both have; `only_a`, `only_b`: that one alone has."""

    pairs: int
    only_a: int
    only_b: int
    deltas: tuple[Delta, ...]
    flips: tuple[Flip, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"schema": 1, **asdict(self)}


def compare(a: str | Path, b: str | Path) -> Comparison:
    """Two folders with summary.json and scores.jsonl. Raises RunError if one can't be read, or if they share no answer."""
    first, second = read_scored(a), read_scored(b)
    deltas, flips, pairs = paired(first, second)
    if not pairs:
        raise RunError(f"{a} and {b} share no question, so there is nothing to compare.")
    asked = {**_questions(a), **_questions(b)}
    told = tuple(Flip(**{**asdict(f), "question": asked.get((f.id, f.turn), "")}) for f in flips)
    return Comparison(pairs, len(first[1]) - pairs, len(second[1]) - pairs, tuple(deltas), told, tuple(_notes(first[0], second[0])))


def paired(
    a: tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]], b: tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]
) -> tuple[list[Delta], list[Flip], int]:
    """The deltas, the flips and the number of pairs of two (summary, score lines)."""
    others = {(line["id"], line["turn"]): line for line in b[1]}
    pairs = [(line, others[line["id"], line["turn"]]) for line in a[1] if (line["id"], line["turn"]) in others]
    known = {**_described(a[0]), **_described(b[0])}
    clusters = [line["cluster"] for line, _ in pairs]
    found, p_values = [], []
    for name in known:
        before = [line["metrics"].get(name) for line, _ in pairs]
        after = [line["metrics"].get(name) for _, line in pairs]
        interval = paired_difference(before, after, clusters)
        if interval is None:
            continue
        both = [(x, y) for x, y in zip(before, after) if x is not None and y is not None]
        sign = 1 if known[name]["better"] == "higher" else -1
        change = [sign * (y - x) for x, y in both]
        wins, losses = sum(c > 1e-9 for c in change), sum(c < -1e-9 for c in change)
        p_values.append(paired_permutation(before, after, clusters))
        found.append(
            {
                "metric": name,
                "n": interval.n,
                "a": sum(x for x, _ in both) / len(both),
                "b": sum(y for _, y in both) / len(both),
                "delta": interval.value,
                "low": interval.low,
                "high": interval.high,
                "wins": wins,
                "ties": len(both) - wins - losses,
                "losses": losses,
                "verdict": _verdict(sign, interval.low, interval.high),
                **{key: known[name][key] for key in ("better", "unit", "hard", "steady")},
            }
        )
    corrected = holm(p_values)
    deltas = [Delta(**one, p=p, p_holm=c) for one, p, c in zip(found, p_values, corrected)]
    flips = [flip for before, after in pairs for flip in _flips(before, after, known)]
    return deltas, sorted(flips, key=lambda f: (f.to != "worse", FLIPS.index(f.metric))), len(pairs)


def _described(summary: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What a summary says of its metrics, in the order of tables."""
    said = summary.get("metrics") or {}
    kept = {
        name: {"better": m["better"], "unit": m["unit"], "hard": m["hard"], "steady": m.get("steady", True)} for name, m in said.items()
    }
    return {name: kept[name] for _, names in words.grouped(list(kept)) for name in names}


def _verdict(sign: int, low: float, high: float) -> str:
    if low > 0 or high < 0:
        return "better" if (low > 0) == (sign > 0) else "worse"
    return "no difference shown"


def _flips(before: Mapping[str, Any], after: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> Iterator[Flip]:
    """`false_refusal` and `false_answer` are parts of `right`, so a flip of `right` is told by them where they flipped too."""
    found = []
    for name in FLIPS:
        x, y = before["metrics"].get(name), after["metrics"].get(name)
        if name not in known or x is None or y is None:
            continue
        perfect = 1.0 if known[name]["better"] == "higher" else 0.0
        if (x == perfect) != (y == perfect):
            found.append(Flip(before["id"], before["turn"], before.get("kind", ""), name, x, y, "better" if y == perfect else "worse"))
    causes = {f.to for f in found if f.metric in ("false_refusal", "false_answer")}
    return (f for f in found if not (f.metric == "right" and f.to in causes))


def _questions(folder: str | Path) -> dict[tuple[str, int], str]:
    """What was asked, if the folder says; a baseline holds scores only."""
    try:
        return {(a["id"], a["turn"]): a["question"] for a in read_run(folder)[2]}
    except RunError:
        return {}


def _notes(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[str]:
    first, second = a.get("manifest", {}), b.get("manifest", {})
    for key, what in (
        ("questions", "The question files differ; answers are paired by id and turn."),
        ("corpus", "The papers differ."),
        ("mode", "The modes differ: "),
        ("embedder", "The embedders differ: "),
    ):
        if first.get(key) != second.get(key):
            yield what + (f"{first.get(key)} and {second.get(key)}." if what.endswith(": ") else "")
    if first.get("model") != second.get("model") and first.get("mode") == second.get("mode"):
        yield f"The models differ: {first.get('model')} and {second.get('model')}."
    if a.get("judge") != b.get("judge"):
        yield f"The judges differ: {a.get('judge')} and {b.get('judge')}."


def text(found: Comparison) -> str:
    """The comparison as plain text, without control characters."""
    return "\n".join(_text(found))


def _text(found: Comparison) -> Iterator[str]:
    alone = [f"{n:,} {'answer' if n == 1 else 'answers'} only in {name}" for n, name in ((found.only_a, "A"), (found.only_b, "B")) if n]
    yield f"{found.pairs:,} answers in both runs{'; ' if alone else ''}{' and '.join(alone)}."
    yield from (clean(note) for note in found.notes)
    yield f"\n{'B − A':40}{'A':>11}{'B':>11}{'difference':>12}{'95 % interval':>20}{'p':>8}{'Holm':>8}{'n':>7}  better/same/worse"
    moved = [d for d in found.deltas if d.wins or d.losses]
    for d in moved:
        scale, places = (100, 1) if d.unit == "share" else (1, 3 if d.unit != "words" else 1)
        interval = f"{scale * d.low:+.{places}f} to {scale * d.high:+.{places}f}"
        verdict = f"  {d.verdict.upper() if d.hard and d.verdict == 'worse' else d.verdict}" if d.verdict != "no difference shown" else ""
        yield (
            f"{words.title(d.metric):40}{words.figure(d.a, d.unit):>11}{words.figure(d.b, d.unit):>11}"
            f"{scale * d.delta:>+12.{places}f}{interval:>20}"
            f"{d.p:>8.3f}{d.p_holm:>8.3f}{d.n:>7,}  {d.wins:,}/{d.ties:,}/{d.losses:,}{verdict}"
        )
    same = [f"{words.inline(d.metric)} ({d.n:,})" for d in found.deltas if d not in moved]
    if same:
        yield textwrap.fill(f"The same in every answer (n): {', '.join(same)}.", 150, subsequent_indent="  ")
    for to, heading in (("worse", "Got worse"), ("better", "Got better")):
        flips = [flip for flip in found.flips if flip.to == to]
        changed = len({(flip.id, flip.turn) for flip in flips})
        yield f"\n{heading}: {changed or 'none'} of {found.pairs:,} answers"
        for flip in flips[:_MOST]:
            turn = f", turn {flip.turn + 1}" if flip.turn else ""
            asked = f"   {clean(flip.question)[:90]}" if flip.question else ""
            yield f"  {clean(flip.id)}{turn}: {words.inline(flip.metric)} {flip.a:g} → {flip.b:g}{asked}"
        if len(flips) > _MOST:
            yield f"  … and {len(flips) - _MOST:,} more; --json lists all."
