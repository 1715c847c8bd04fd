"""A scored run as one HTML page that opens from disk, and the same in a terminal: figures with their intervals, worst answers first.

Text of papers, questions and models is escaped by the template and can't run, load or send anything: the page's policy allows its own
style and its own script and nothing else. Never asks or scores; what is shown is what score.py wrote.
"""

from __future__ import annotations

import base64
import hashlib
import json
import textwrap
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from rag.terminal import clean

from . import plots, words
from .cards import Card, cards
from .runner import RunError, read_run

FILE = "report.html"
_HERE = Path(__file__).parent
_HALVES = {
    "reporting": ("Reporting", "Nothing was tuned on these questions."),
    "tuning": ("Tuning", "Settings were tuned on these questions, so their figures flatter."),
    "all": ("Both", "Settings were tuned on a half of these questions."),
}
_ROLES = {
    "cite": "answers the question",
    "also": "right to cite too",
    "about": "is asked about, doesn't say",
    "": "cited, but doesn't answer this",
}
_STATUSES = {
    ("answered", "answer"): "The answer",
    ("answered", "refuse"): "Answered, though the abstracts don't say",
    ("partial", "answer"): "The answer, in part",
    ("partial", "refuse"): "Answered in part, though the abstracts don't say",
    ("refused", "answer"): "Refused, though the abstracts say",
    ("refused", "refuse"): "Refused, and rightly: the abstracts don't say",
    ("chat", "answer"): "Taken for small talk, though the abstracts say",
    ("chat", "refuse"): "Taken for small talk",
    ("error", "answer"): "No answer",
    ("error", "refuse"): "No answer",
}
_READING = (
    "An answer is right if everything that was written down beforehand holds: the facts, the papers, a refusal where the "
    "abstracts don't say. No model judges this.",
    "n is the number of answers that a figure is the mean of. Where a measure doesn't apply, the answer is left out; it "
    "doesn't count as 0.",
    "Intervals come from drawing papers again, not questions: questions on one paper rise and fall together. "
    "After 0 failures the bound is 3 in the number of papers.",
    "“Backed” means that the words, numbers and names of a sentence are in the abstract it cites. "
    "A turned negation, a swapped subject or a true but useless quotation can pass.",
    "Facts are found as strings. An answer that says the same in words of its own can be counted as wrong, "
    "and one that quotes the right words for a wrong reason as right.",
    "Refusing everything and answering everything both score badly: wrongly refused and wrongly answered belong together.",
    "Questions written with the abstracts at hand, as those of the sample set were, are kinder than those of strangers. "
    "Another library has other figures.",
)


def read_scored(folder: str | Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """(summary, score lines) of a folder with summary.json and scores.jsonl: a scored run, or a baseline. Raises RunError."""
    folder = Path(folder)
    try:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        lines = [json.loads(line) for line in (folder / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
        complete = (
            summary["schema"] == 1 and summary["halves"] and all({"id", "turn", "cluster", "metrics"} <= line.keys() for line in lines)
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{folder} has no scores that can be read ({error}). Run `askpapers eval score` on it.") from error
    if not complete:
        raise RunError(f"{folder} was scored by another version of Ask Papers. Run `askpapers eval score` on it again.")
    return summary, lines


def write_report(folder: str | Path) -> Path:
    """Writes report.html into the run's folder and returns its path. Raises RunError if the folder holds no scored run."""
    from jinja2 import Environment, FileSystemLoader

    folder = Path(folder)
    summary, scores = read_scored(folder)
    manifest, questions, answers, papers = read_run(folder)
    template = Environment(loader=FileSystemLoader(_HERE), autoescape=True, trim_blocks=False).get_template("report.html")
    page = template.render(_page(summary, manifest, cards(questions, answers, scores, papers)))
    path = folder / FILE
    path.write_text(page, encoding="utf-8", errors="replace")  # a lone surrogate in a model's text must not cost the report
    return path


def terminal(folder: str | Path) -> str:
    """Headline, table and the five worst answers as plain text, without control characters. Raises RunError."""
    summary, scores = read_scored(folder)
    _, questions, answers, papers = read_run(folder)
    return "\n".join(_terminal(summary, cards(questions, answers, scores, papers)))


def _page(summary: Mapping[str, Any], manifest: Mapping[str, Any], shown: Sequence[Card]) -> dict[str, Any]:
    script = (_HERE / "report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    halves = [_half(key, summary) for key in _present(summary)]
    failures = [check for card in shown for check in card.checks]
    tally = {check: sum(other.name == check.name for other in failures) for check in dict.fromkeys(failures)}
    return {
        "title": f"Grounding report, {manifest['started'][:10]}",
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        "css": (_HERE / "report.css").read_text(encoding="utf-8"),
        "js": script,
        "facts": _facts(summary, manifest),
        "alarms": _alarms(summary, manifest),
        "halves": halves,
        "first_half": halves[0]["key"] if halves else "all",
        "checks": [{"name": c.name, "words": c.words, "n": n} for c, n in sorted(tally.items(), key=lambda item: -item[1])],
        "kinds": list(dict.fromkeys(card.kind for card in sorted(shown, key=lambda c: c.id))),
        "cards": shown,
        "roles": _ROLES,
        "statuses": _STATUSES,
        "reading": _READING,
        "made_with": list(_made_with(manifest)),
    }


def _present(summary: Mapping[str, Any]) -> list[str]:
    """The halves to show, the one to judge by first; one alone needs no choice."""
    filled = [key for key in ("reporting", "tuning") if summary["halves"].get(key, {}).get("metrics")]
    return [*filled, "all"] if len(filled) == 2 else ["all"]


def _half(key: str, summary: Mapping[str, Any]) -> dict[str, Any]:
    half = summary["halves"][key]
    metrics = half["metrics"]
    label, note = _HALVES[key] if len(_present(summary)) > 1 else ("All questions", "")
    ruled = [words.rule(name, f) for name, f in metrics.items() if f["hard"]]
    return {
        "key": key,
        "label": label,
        "title": {"Both": "Both halves", "All questions": "All questions"}.get(label, f"{label} half"),
        "story": words.story(metrics, _refusal(key, summary)),
        "refusal": plots.refusal(_refusal(key, summary)),
        "note": note,
        "tiles": [
            {**plots.row(name, metrics[name]), "label": title, **_large(metrics[name])}
            for name, title in words.TILES.items()
            if name in metrics
        ],
        "rules": [{"words": text, "bad": broken} for text, broken in ruled],
        "groups": [
            {"name": group, "rows": [_row(name, metrics[name], summary) for name in names]} for group, names in words.grouped(list(metrics))
        ],
        "panels": [plots.panel(words.title(name), name, half) for name in words.PANELS if plots.drawable(name, half)],
    }


def _label(key: str, summary: Mapping[str, Any]) -> str:
    return (
        {"reporting": "Reporting half", "tuning": "tuning (n)", "all": "both (n)"}[key] if len(_present(summary)) > 1 else "All questions"
    )


def _refusal(key: str, summary: Mapping[str, Any]) -> Mapping[str, Any]:
    return summary["refusal"].get("halves", {}).get(key, summary["refusal"])


def _row(name: str, figure: Mapping[str, Any], summary: Mapping[str, Any]) -> dict[str, Any]:
    told = summary.get("metrics", {}).get(name, {}).get("title", "")
    broken = figure["hard"] and words.rule(name, figure)[1]
    return {
        **plots.row(name, figure),
        "label": words.title(name, told),
        "meaning": words.MEANINGS.get(name, ""),
        "hard": figure["hard"],
        "bad": broken,
    }


def _large(figure: Mapping[str, Any]) -> dict[str, str]:
    number, _, sign = words.figure(figure["value"], figure["unit"]).partition(" ")
    return {"figure": number, "sign": sign}


def _facts(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> list[str]:
    asked, git = manifest["questions"], manifest.get("git")
    turns = f" in {asked['turns']:,} turns" if asked["turns"] != asked["count"] else ""
    total = summary.get("latency", {}).get("total")
    return [
        f"{asked['count']:,} questions{turns} over {manifest['papers']:,} papers",
        "quotes, no language model" if manifest["mode"] == "extractive" else f"written by {manifest['model']}",
        manifest["started"][:16].replace("T", " ") + " UTC",
        *([f"commit {git['commit'][:7]}{' with changes' if git['dirty'] else ''}"] if git else []),
        *([f"{total['p50'] * 1000:.0f} ms an answer, 95 % within {total['p95'] * 1000:.0f} ms"] if total else []),
    ]


def _alarms(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> Iterator[str]:
    counts = summary["counts"]
    if not manifest.get("finished"):
        yield "This run was not finished: its figures are those of the questions asked so far."
    failed = summary.get("usage", {}).get("failed")
    if failed:
        yield f"{failed:,} of {counts['answers']:,} answers are quotes, because the model failed. They count as its answers."
    if counts.get("errors"):
        yield f"{counts['errors']:,} of {counts['answers']:,} turns ended in an error. They count as failed."


def _made_with(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    machine, git = manifest.get("machine") or {}, manifest.get("git") or {}
    yield "Started, finished", f"{manifest['started']}, {manifest.get('finished') or 'not finished'}"
    if git:
        yield "Commit", f"{git['commit']}{', with changes' if git['dirty'] else ''}"
    yield "Questions", f"SHA-256 {manifest['questions']['sha256']}"
    yield "Corpus", f"SHA-256 {manifest['corpus']}"
    yield "Embedder", manifest["embedder"]
    yield "Prompts", ", ".join(f"{name} {digest}" for name, digest in manifest["prompts"].items())
    yield "Settings", ", ".join(f"{name} {value}" for name, value in manifest["settings"].items() if value != "")
    yield "Versions", ", ".join(f"{name} {number}" for name, number in manifest["versions"].items() if number)
    yield "Machine", ", ".join(f"{value} {'cores' if name == 'cores' else ''}".strip() for name, value in machine.items())


def _terminal(summary: Mapping[str, Any], shown: Sequence[Card]) -> Iterator[str]:
    yield from (clean(line) for line in summary["headline"])
    first, *others = _present(summary)
    metrics = summary["halves"][first]["metrics"]
    yield f"\n{_label(first, summary):42}{'value':>11}{'95 % interval':>20}{'n':>7}" + "".join(
        f"{_label(key, summary):>17}" for key in others
    )
    for _, names in words.grouped(list(metrics)):
        for name in names:
            f = metrics[name]
            broken = "  BROKEN" if f["hard"] and words.rule(name, f)[1] else ""
            rest = (summary["halves"][key]["metrics"].get(name) for key in others)
            cells = "".join((f"{words.figure(g['value'], g['unit'])} ({g['n']:,})" if g else "").rjust(17) for g in rest)
            yield f"  {words.title(name):40}{words.figure(f['value'], f['unit']):>11}{words.span(f):>20}{f['n']:>7,}{cells}{broken}"
    yield "\nThe worst answers"
    for card in [card for card in shown if card.checks][:5]:
        turn = f", turn {card.turn + 1}" if card.earlier else ""
        yield f"  {clean(card.id)}{turn} ({clean(card.kind)}, {card.half} half): {'; '.join(check.words for check in card.checks)}"
        yield "    Q  " + textwrap.shorten(clean(card.question), 260, placeholder=" …")
        said = " ".join("".join(piece.text for piece in said.pieces) for said in card.said) or card.error
        yield "    A  " + textwrap.shorten(clean(said), 260, placeholder=" …")
