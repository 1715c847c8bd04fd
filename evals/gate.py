"""The door that a regression doesn't pass: hard rules, and no metric worse than the committed baseline beyond its interval.

    exit code 0  every rule holds
              1  a rule is broken
              2  the run, the baseline or the rules can't be read (raised as AskPapersError)
              3  the run is incomplete: not finished, not asked again, or without answers that the baseline has

Reads folders only. The baseline is raised by a run that passes and is better somewhere; it is never lowered. Its files hold what the gate
reads and no times.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping

from rag.terminal import clean

from . import repeat, words
from .compare import Delta, paired
from .report import read_scored
from .runner import RunError, read_run

RULES = Path(__file__).parent / "gate.json"
BASELINE = Path(__file__).parent / "baseline"
PASSED, FAILED, UNREADABLE, INCOMPLETE = 0, 1, 2, 3
_STATES = {"ok": "ok", "failed": "FAILED", "incomplete": "INCOMPLETE", "note": "note"}


@dataclass(frozen=True)
class Outcome:
    """One rule with its figure in words. `state`: "ok", "failed", "incomplete", or "note" for what decides nothing."""

    rule: str
    state: str
    words: str


@dataclass(frozen=True)
class Verdict:
    """All outcomes, and the deltas to the baseline that they rest on."""

    outcomes: tuple[Outcome, ...]
    deltas: tuple[Delta, ...] = ()

    @property
    def code(self) -> int:
        """0 to 3, see the head of this module. What is incomplete can't pass or fail."""
        states = {outcome.state for outcome in self.outcomes}
        return INCOMPLETE if "incomplete" in states else FAILED if "failed" in states else PASSED

    def to_dict(self) -> dict[str, Any]:
        return {"schema": 1, "code": self.code, "outcomes": [asdict(o) for o in self.outcomes], "deltas": [asdict(d) for d in self.deltas]}


def judge(folder: str | Path, baseline: str | Path | None = BASELINE, rules: str | Path = RULES) -> Verdict:
    """Judges a scored run. `baseline`: a folder with its summary.json and scores.jsonl; None for the hard rules only. Raises RunError."""
    folder, ruled = Path(folder), _rules(Path(rules))
    summary, lines = read_scored(folder)
    manifest = read_run(folder)[0]
    outcomes = [*_complete(summary, manifest, len(lines), ruled), *_hard(summary, ruled), *_repeatable(folder, manifest, ruled)]
    deltas: list[Delta] = []
    if baseline is not None:
        standard = read_scored(baseline)
        if standard[0]["manifest"]["mode"] != manifest["mode"]:
            outcomes.append(
                Outcome(
                    "baseline",
                    "note",
                    f"not compared: it is of mode {standard[0]['manifest']['mode']}, this run of mode {manifest['mode']}",
                )
            )
        else:
            deltas, _, pairs = paired(standard, (summary, lines))
            outcomes += _against(deltas, pairs, standard, ruled)
    return Verdict(tuple(outcomes), tuple(deltas))


def _rules(path: Path) -> Mapping[str, Any]:
    try:
        ruled = json.loads(path.read_text(encoding="utf-8"))
        unknown = ruled.keys() - {"schema", "hard", "errors", "repeatable", "baseline"}
        if ruled["schema"] != 1 or unknown or any(("most" in r) == ("least" in r) or "metric" not in r for r in ruled["hard"]):
            raise ValueError(f"unknown: {', '.join(sorted(unknown))}" if unknown else "each hard rule needs a metric, and most or least")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(f"The rules in {path} can't be read ({error}).") from error
    return ruled


def _complete(summary: Mapping[str, Any], manifest: Mapping[str, Any], lines: int, ruled: Mapping[str, Any]) -> Iterator[Outcome]:
    counts = summary["counts"]
    whole = manifest.get("finished") and not counts["missing"] and lines == counts["answers"]
    asked = f"{lines:,} of {counts['turns']:,} turns are asked and scored"
    yield Outcome("complete", "ok" if whole else "incomplete", asked if whole else f"{asked}; continue with `askpapers eval run --resume`")
    most = ruled.get("errors", 0)
    yield Outcome(
        "errors", "ok" if counts["errors"] <= most else "failed", f"{counts['errors']:,} of {lines:,} turns ended in an error, {most} may"
    )


def _hard(summary: Mapping[str, Any], ruled: Mapping[str, Any]) -> Iterator[Outcome]:
    metrics = summary["halves"]["all"]["metrics"]
    for rule in ruled["hard"]:
        name = rule["metric"]
        found = metrics.get(name)
        if name not in summary.get("metrics", {}):
            raise RunError(f"There is a rule for '{name}', but no such metric. Known are: {', '.join(summary.get('metrics', {}))}.")
        if found is None:
            yield Outcome(name, "note", "applies to none of the answers, n 0")
            continue
        holds = found["value"] <= rule["most"] if "most" in rule else found["value"] >= rule["least"]
        yield Outcome(name, "ok" if holds else "failed", words.rule(name, found)[0])


def _repeatable(folder: Path, manifest: Mapping[str, Any], ruled: Mapping[str, Any]) -> Iterator[Outcome]:
    if not ruled.get("repeatable"):
        return
    if manifest["mode"] != "extractive":
        yield Outcome("repeatable", "note", "not asked of a language model")
        return
    try:
        again = json.loads((folder / repeat.FILE).read_text(encoding="utf-8"))
        turns, different = again["turns"], [f"{d['id']} ({', '.join(d['keys'])})" for d in again["different"]]
    except FileNotFoundError:
        yield Outcome(
            "repeatable", "incomplete", f"the questions were not asked again: there is no {repeat.FILE}, which `askpapers eval run` writes"
        )
        return
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{folder / repeat.FILE} can't be read ({error}).") from error
    if not turns:
        yield Outcome("repeatable", "incomplete", "no question was asked again")
    elif different:
        yield Outcome("repeatable", "failed", f"{len(different)} of {turns:,} answers differ when asked again: {'; '.join(different[:5])}")
    else:
        yield Outcome("repeatable", "ok", f"{turns:,} of {turns:,} answers are the same when asked again in another process")


def _against(deltas: list[Delta], pairs: int, standard: tuple[Mapping[str, Any], list[Any]], ruled: Mapping[str, Any]) -> Iterator[Outcome]:
    expected = len(standard[1])
    if pairs < expected:
        yield Outcome("baseline", "incomplete", f"{expected - pairs:,} of the baseline's {expected:,} answers are not in this run")
        return
    spared = ruled.get("baseline", {}).get("except", {})
    measured = {name for line in standard[1] for name, value in line["metrics"].items() if value is not None}
    gated = [d for d in deltas if d.steady and d.metric not in spared]
    for name in sorted(measured - {d.metric for d in deltas} - spared.keys()):
        if standard[0]["metrics"].get(name, {}).get("steady", True):
            yield Outcome(name, "failed", "the baseline has it, this run doesn't")
    for delta in gated:
        if delta.verdict == "worse":
            yield Outcome(delta.metric, "failed", _told(delta))
    worse = sum(d.verdict == "worse" for d in gated)
    yield Outcome(
        "baseline", "failed" if worse else "ok", f"{worse} of {len(gated)} metrics are worse beyond their interval, over {pairs:,} answers"
    )
    for delta in deltas:
        if (
            delta.verdict == "better"
            or (delta in gated and delta.verdict != "worse" and delta.losses > delta.wins)
            or (delta.verdict == "worse" and delta not in gated)
        ):
            yield Outcome(delta.metric, "note", _told(delta))


def _told(d: Delta) -> str:
    scale, sign = (100, " points") if d.unit == "share" else (1, "")
    return (
        f"{words.inline(d.metric)}: {words.figure(d.a, d.unit)} → {words.figure(d.b, d.unit)} ({scale * d.delta:+.3g}{sign}, "
        f"95 % interval {scale * d.low:+.3g} to {scale * d.high:+.3g}, n {d.n:,}; {d.wins:,} better, {d.losses:,} worse)"
    )


def raise_baseline(folder: str | Path, verdict: Verdict, baseline: str | Path = BASELINE) -> str:
    """Makes this run the baseline and says so; says why not if the verdict is no pass, or if nothing got better. Where there is no baseline
    yet, a pass is enough."""
    folder, baseline = Path(folder), Path(baseline)
    if verdict.code != PASSED:
        return "The baseline stays: this run does not pass."
    better = [d for d in verdict.deltas if d.verdict == "better" and d.steady]
    if (baseline / "scores.jsonl").exists() and not better:
        return "The baseline stays: nothing is better beyond its interval."
    baseline.mkdir(parents=True, exist_ok=True)
    summary, lines = read_scored(folder)
    steady = {name for name, metric in summary["metrics"].items() if metric.get("steady", True)}
    kept = {key: summary[key] for key in ("schema", "manifest", "judge", "metrics", "counts", "headline")}
    halves = {half: {"metrics": {k: v for k, v in held["metrics"].items() if k in steady}} for half, held in summary["halves"].items()}
    (baseline / "summary.json").write_text(json.dumps({**kept, "halves": halves}, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    short = [{**line, "metrics": {k: v for k, v in line["metrics"].items() if k in steady and v is not None}} for line in lines]
    (baseline / "scores.jsonl").write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in short), encoding="utf-8")
    return f"The baseline is raised: {', '.join(words.inline(d.metric) for d in better)}." if better else "There is a baseline now."


def text(verdict: Verdict) -> str:
    """One line a rule, then the verdict."""
    lines = [f"{_STATES[o.state]:11}{clean(o.rule):19}{clean(o.words)}" for o in verdict.outcomes]
    told = {PASSED: "The gate is passed.", FAILED: "The gate is not passed.", INCOMPLETE: "The run is incomplete, so the gate can't tell."}
    return "\n".join([*lines, told[verdict.code]])
