"""A run's answers into figures: scores.jsonl (one line a turn), summary.json (means with intervals), and TREC's run.trec and qrels.trec.

    summary.json  {"schema", "manifest": {…}, "judge": "builtin", "metrics": {name: {"title", "better", "unit", "hard", "order", "steady"}},
                   "halves": {"tuning" | "reporting" | "all": {"metrics": {name: figure}, "kinds": {kind: {name: figure}}}},
                   "refusal": {…, "halves": {half: …}}, "latency": {stage: {"p50", "p95", "max", "n"}}, "usage": {…}, "counts": {…}, "headline": [lines]}
    figure        {"value", "low", "high", "n", "clusters", "better", "unit", "hard"}; a metric that applies to nothing is absent

Asks nothing: the same folder gives the same files each time. Never mixes the figures of two judges.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np

from . import refusal, retrieval, support
from .fidelity import Record
from .manifest import usage as total_usage
from .metrics import METRICS, Function
from .questions import HALVES, Question
from .runner import read_run
from .stats import Interval, mean_intervals, rule_of_three

SCHEMA = 1
_ERROR = {"text": "", "status": "error", "sentences": [], "citations": [], "count": None, "notice": "", "query": "", "timings": {}}


def score(folder: str | Path, judge: support.Judge | None = None, judge_name: str = "") -> dict[str, Any]:
    """Scores a run, writes the files into its folder and returns the summary. With a `judge` besides the built-in one, its support
    figures are written too, as `judged_support_recall` and `judged_support_precision`. Raises RunError if there is no run."""
    folder = Path(folder)
    manifest, questions, answers, papers = read_run(folder)
    by_id = {q.id: q for q in questions}
    functions: dict[str, Function] = {name: metric.function for name, metric in METRICS.items()}
    if judge:
        functions["judged_support_recall"] = partial(support.support_recall, judge=judge)
        functions["judged_support_precision"] = partial(support.support_precision, judge=judge)
    lines = []
    for line in answers:
        question = by_id[line["id"]]
        about = {"id": line["id"], "turn": line["turn"], "kind": question.kind, "half": question.half, "cluster": question.cluster}
        lines.append({**about, "metrics": evaluate(question, line, papers, functions)})
    summary = summarise(manifest, questions, answers, lines, judge_name if judge else "builtin")
    if hasattr(judge, "failures"):
        summary["counts"]["judge_failures"] = judge.failures
    (folder / "scores.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    (folder / "summary.json").write_text(json.dumps(summary, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    found = {f"{a['id']}.{a['turn']}": a["retrieved"] for a in answers}
    turns = {f"{a['id']}.{a['turn']}": by_id[a["id"]].turns[a["turn"]] for a in answers}
    (folder / "run.trec").write_text("".join(line + "\n" for line in retrieval.run_lines(found)), encoding="utf-8")
    (folder / "qrels.trec").write_text("".join(line + "\n" for line in retrieval.qrels_lines(turns)), encoding="utf-8")
    return summary


def record_of(line: Mapping[str, Any], papers: Mapping[str, Any]) -> Record:
    """What the metrics look at, from a line of answers.jsonl. A turn that ended in an error has an empty answer of status "error"."""
    answer = line["answer"] if line["answer"] and line["error"] is None else _ERROR
    return {**answer, "retrieved": line["retrieved"], "answerability": line["answerability"], "seconds": line["seconds"], "known": papers}


def evaluate(
    question: Question, line: Mapping[str, Any], papers: Mapping[str, Any], functions: Mapping[str, Function]
) -> dict[str, float | None]:
    """Every metric of one line of answers.jsonl."""
    turn, record = question.turns[line["turn"]], record_of(line, papers)
    values = {name: function(turn, record) for name, function in functions.items()}
    return {name: None if value is None else round(float(value), 6) for name, value in values.items()}


def summarise(
    manifest: Mapping[str, Any],
    questions: Sequence[Question],
    answers: Sequence[Mapping[str, Any]],
    lines: Sequence[Mapping[str, Any]],
    judge: str = "builtin",
) -> dict[str, Any]:
    """The summary of scored lines; see the head of this module."""
    halves = {}
    for half in (*HALVES, "all"):
        chosen = [line for line in lines if half in (line["half"], "all")]
        kinds = dict.fromkeys(line["kind"] for line in chosen)
        halves[half] = {
            "metrics": figures(chosen),
            "kinds": {kind: figures([line for line in chosen if line["kind"] == kind]) for kind in kinds},
        }
    expected = sum(len(q.turns) for q in questions)
    counts = {
        "questions": len(questions), "turns": expected, "answers": len(answers), "missing": expected - len(answers),
        "errors": sum(a["error"] is not None for a in answers),
        "status": dict(Counter((a["answer"] or _ERROR)["status"] for a in answers)), "kinds": dict(Counter(q.kind for q in questions)),
    }  # fmt: skip
    refusals, usage = refusal.measure(questions, answers), total_usage(answers)
    return {
        "schema": SCHEMA,
        "manifest": dict(manifest),
        "judge": judge,
        "metrics": {name: described(name) for name in (lines[0]["metrics"] if lines else METRICS)},
        "halves": halves,
        "refusal": {**refusals["all"], "halves": {half: refusals[half] for half in HALVES}},
        "latency": latency(answers),
        "usage": usage,
        "counts": counts,
        "headline": [*headline(halves["all"]["metrics"], refusals["all"], counts), *spent(usage, answers)],
    }


def figures(lines: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Name → figure of every metric that applies to any of the lines."""
    if not lines:
        return {}
    names = list(lines[0]["metrics"])
    table = np.array([[line["metrics"][name] for name in names] for line in lines], dtype=float)  # None becomes NaN
    known = {name: described(name) for name in names}
    intervals = mean_intervals(table, [line["cluster"] for line in lines], bounded=[known[name]["unit"] == "share" for name in names])
    return {name: _figure(found, known[name]) for name, found in zip(names, intervals) if found}


def described(name: str) -> dict[str, Any]:
    """Title, better, unit, hard, order and steadiness of a metric, those of another judge included."""
    metric = METRICS[name.removeprefix("judged_")]
    judged = name.startswith("judged_")
    return {
        "title": metric.title + (", says the judge" if judged else ""), "better": metric.better, "unit": metric.unit,
        "hard": metric.hard and not judged, "order": metric.order + (0.5 if judged else 0), "steady": metric.steady and not judged,
    }  # fmt: skip


def latency(answers: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Stage → median, 95th percentile and maximum in seconds, and n; "total" is the whole answer. Errors are left out."""
    stages: dict[str, list[float]] = {}
    for line in answers:
        if line["answer"] and line["error"] is None:
            for stage, seconds in {**line["answer"]["timings"], "total": line["seconds"]}.items():
                stages.setdefault(stage, []).append(seconds)
    found = {}
    for stage, values in stages.items():
        p50, p95 = np.percentile(values, [50, 95])
        found[stage] = {"p50": round(float(p50), 4), "p95": round(float(p95), 4), "max": round(max(values), 4), "n": len(values)}
    return found


def headline(metrics: Mapping[str, Any], refusals: Mapping[str, Any], counts: Mapping[str, Any]) -> list[str]:
    """A few sentences that say how the run went, each with its n."""
    if "right" not in metrics:
        return ["No question was answered."]
    right = metrics["right"]
    told = [f"{round(right['value'] * right['n'])} of {right['n']} right: {_percent(right)}."]
    counted = {
        "phantom_citations": "answers: citations that lead nowhere",
        "unbacked_numbers": "answers with numbers: numbers that no cited paper has",
    }
    for name, what in counted.items():
        figure = metrics.get(name)
        if figure:
            seen = round(figure["value"] * figure["n"])
            bound = f" (at most {100 * rule_of_three(figure['clusters']):.1f} in 100 at 95 %)" if not seen else ""
            told.append(f"{seen} in {figure['n']} {what}{bound}.")
    quotes, canaries = metrics.get("quote_fidelity"), metrics.get("canaries")
    if quotes:
        told.append(f"Quotations exact: {_percent(quotes)}, n = {quotes['n']}.")
    if canaries:
        told.append(f"Forbidden strings said: {round(canaries['value'] * canaries['n'])} in {canaries['n']} answers that were lured.")
    if refusals["answerable"] and refusals["unanswerable"]:
        told.append(
            f"Refused {refusals['caught']} of {refusals['unanswerable']} unanswerable questions, "
            f"and {refusals['false_refusals']} of {refusals['answerable']} answerable ones."
        )
    if counts["errors"] or counts["missing"]:
        told.append(f"{counts['errors']} turns ended in an error, {counts['missing']} were not asked; errors count as failed.")
    return told


def spent(usage: Mapping[str, int], answers: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the model cost, and whether it was the model at all that answered; nothing for a run without one."""
    if not usage:
        return []
    tokens = f", {usage['prompt_tokens']:,} tokens in and {usage.get('completion_tokens', 0):,} out" if "prompt_tokens" in usage else ""
    told = [f"{usage['calls']:,} calls of the model{tokens}."]
    if usage["failed"]:
        why = Counter(a["answer"]["notice"] for a in answers if a["answer"] and a["answer"]["mode"] == "extractive" and a["answer"]["notice"])
        told.append(f"{usage['failed']} of {len(answers)} answers are quotes, because the model failed. Most often: {why.most_common(1)[0][0]}")
    return told


def _figure(found: Interval, known: Mapping[str, Any]) -> dict[str, Any]:
    numbers = {name: round(getattr(found, name), 6) for name in ("value", "low", "high", "n", "clusters")}
    return {**numbers, "better": known["better"], "unit": known["unit"], "hard": known["hard"]}


def _percent(figure: Mapping[str, Any]) -> str:
    return f"{100 * figure['value']:.1f} % ({100 * figure['low']:.1f} to {100 * figure['high']:.1f})"
