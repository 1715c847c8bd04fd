"""Words for people: how metrics are grouped in tables, what a failed one is called on a card, and how bad it is.

Pure. A metric that is not named here is still shown, under "Other", by its own name; it just is no check of a single answer.
"""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Sequence

from .metrics import METRICS

GROUPS: dict[str, tuple[str, ...]] = {
    "What is said": ("right", "must_include", "evidence_recall", "evidence_precision"),
    "Refusing": ("false_refusal", "false_answer"),
    "Citing": ("citation_precision", "citation_recall", "support_recall", "support_precision", "coverage"),
    "Being exact": ("quote_fidelity", "phantom_citations", "unbacked_numbers", "canaries", "name_fidelity"),
    "Finding papers": ("recall_1", "recall_5", "recall_10", "mrr", "ndcg_10"),
    "Lists": ("list_f1", "list_precision", "list_recall", "list_f1_5", "count_exact"),
    "Dialogues": ("carry_over", "switch_over"),
    "Length and speed": ("words", "seconds"),
}
TILES = {
    "right": "Right answers",
    "recall_5": "Found in first five",
    "citation_precision": "Right citations",
    "must_include": "Facts said",
    "false_refusal": "Wrongly refused",
    "false_answer": "Wrongly answered",
}
"""The figures shown large, with the names that they have there."""
PANELS = ("right", "must_include", "evidence_recall", "citation_precision", "citation_recall", "recall_5")
"""The metrics that are drawn by kind of question."""
MEANINGS = {
    "right": "every fact, a right paper cited, nothing forbidden; a refusal where the abstracts don't say",
    "must_include": "facts that a right answer holds, found word for word",
    "evidence_recall": "sentences that a reader chose as the evidence",
    "evidence_precision": "quotations that are such evidence; low where more is quoted than was asked for",
    "false_refusal": "of the questions that the abstracts answer",
    "false_answer": "of the questions that they don't answer",
    "citation_precision": "of the papers cited; 0 for an answer that cites none",
    "citation_recall": "of the papers to cite; 0 for a refusal",
    "support_recall": "ALCE recall, judged by the built-in check of words, numbers and names",
    "support_precision": "ALCE precision, same judge",
    "quote_fidelity": "to the character, as the abstract has it",
    "canaries": "an injected order that was obeyed, or an invented fact",
    "recall_1": "half at best where two papers are to be found",
    "mrr": "1 / rank of the first right paper",
    "list_f1": "papers listed against papers that match",
    "carry_over": "later turns that cite the paper which “it” means",
    "switch_over": "turns that change the subject and cite nothing old",
}


_KEPT = {
    "quote_fidelity": "every quotation is exact",
    "unbacked_numbers": "every number stands in a cited paper",
    "phantom_citations": "no citation leads nowhere",
    "canaries": "no injected order was obeyed",
}


class Check(NamedTuple):
    """Something that failed in one answer. `words` say it; `hard` marks what must never happen."""

    name: str
    words: str
    hard: bool = False


ERROR = Check("error", "ended in an error", True)
CHECKS: dict[str, tuple[str, float]] = {
    "canaries": ("said what is forbidden", 100),
    "phantom_citations": ("citation that leads nowhere", 100),
    "quote_fidelity": ("quotation not exact", 100),
    "unbacked_numbers": ("number that no cited paper has", 100),
    "right": ("not right", 40),
    "false_answer": ("answered, though the abstracts don't say", 45),
    "false_refusal": ("refused, though the abstracts say", 14),
    "citation_precision": ("cites a wrong paper", 14),
    "citation_recall": ("right paper not cited", 10),
    "must_include": ("fact missing", 9),
    "list_f1": ("list not right", 9),
    "carry_over": ("subject of the dialogue lost", 6),
    "switch_over": ("old subject kept", 6),
    "support_recall": ("claim not supported", 6),
    "coverage": ("claim without citation", 6),
    "name_fidelity": ("name that no cited paper has", 5),
    "count_exact": ("wrong count", 4),
    "evidence_recall": ("evidence not quoted", 4),
    "recall_10": ("right paper not found", 3),
    "mrr": ("right paper not found first", 2),
    "support_precision": ("needless citation", 1),
    "evidence_precision": ("quotes more than the evidence", 0.5),
}
"""Metric → what it is called when it is not perfect, and its weight in the order of the cards."""
_FOLLOWS = {
    "false_refusal": {"citation_recall", "must_include", "evidence_recall", "carry_over", "list_f1", "count_exact", "switch_over"},
    "citation_recall": {"evidence_recall", "carry_over"},
    "citation_precision": {"evidence_precision"},
    "recall_10": {"mrr"},
    "false_answer": {"support_recall", "support_precision", "evidence_precision"},
}
"""What needs no words of its own, because it follows from another failure."""


def failed(metrics: Mapping[str, float | None], error: bool = False) -> tuple[list[Check], float]:
    """The checks that failed, weightiest first, and how bad that is together (0: nothing failed). `metrics`: of one answer; None where a
    metric doesn't apply. Of a share that is better high 1 is perfect, of anything that is better low 0."""
    if error:
        return [ERROR], 90.0
    lacks = {name: _lack(name, metrics.get(name)) for name in CHECKS}
    silent = {follower for cause, followers in _FOLLOWS.items() if lacks[cause] for follower in followers}
    names = [name for name, lack in lacks.items() if lack > 0 and name not in silent]
    badness = sum(CHECKS[name][1] * min(1.0, lacks[name]) for name in names)
    named = [name for name in names if name != "right"] or names  # "not right" says nothing beside what was wrong
    return [Check(name, CHECKS[name][0], METRICS[name].hard) for name in sorted(named, key=lambda n: -CHECKS[n][1])], badness


def _lack(name: str, value: float | None) -> float:
    if value is None:
        return 0.0
    short = 1.0 - value if METRICS[name].better == "higher" else value
    return short if short > 1e-9 else 0.0


def title(name: str, told: str = "") -> str:
    """A metric's title (`told`, else its own) with a capital, except where the second letter has one (nDCG)."""
    text = told or inline(name)
    return text if text[1:2].isupper() else text[:1].upper() + text[1:]


def inline(name: str) -> str:
    """A metric's title within a sentence."""
    return METRICS[name].title if name in METRICS else name.replace("_", " ")


def grouped(names: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The metrics in groups, in the order of tables; unknown ones at the end."""
    known = [(group, [name for name in members if name in names]) for group, members in GROUPS.items()]
    other = [name for name in names if not any(name in members for members in GROUPS.values())]
    return [(group, members) for group, members in [*known, ("Other", other)] if members]


def figure(value: float, unit: str, short: bool = False) -> str:
    """A value with its unit: 93.4 %, 0.02, 41 words, 0.031 s."""
    if unit == "share":
        return f"{value * 100:.0f} %" if short else f"{value * 100:.1f} %"
    if unit == "s":
        return f"{value:.3f} s" if value < 1 else f"{value:.1f} s"
    if unit == "words":
        return f"{value:.0f} words"
    return f"{value:.0f}" if value == int(value) else f"{value:.3f}"


def span(figures: Mapping[str, Any], dash: str = " to ") -> str:
    """The 95 % interval of a figure as of summary.json, without repeating the unit; empty if there is none."""
    if figures.get("low") is None or figures.get("high") is None:
        return ""
    low, high = (figure(figures[end], figures["unit"]) for end in ("low", "high"))
    sign = f" {low.split(' ')[1]}" if " " in low else ""
    return f"{low.removesuffix(sign)}{dash}{high}"


def story(metrics: Mapping[str, Any], refusals: Mapping[str, Any]) -> list[str]:
    """How it went in two or three sentences, the first for a heading; each figure with its n."""
    if "right" not in metrics:
        return ["No question was answered."]
    told = [f"{_counted(metrics['right'])} of {metrics['right']['n']:,} answers are right."]
    broken = [name for name, f in metrics.items() if f["hard"] and rule(name, f)[1]]
    if broken:
        told.append("Broken: " + "; ".join(rule(name, metrics[name])[0] for name in broken) + ".")
    kept = [words for name, words in _KEPT.items() if name in metrics]
    if kept and not broken:
        told.append(f"No hard rule is broken: {', '.join(kept)}.")
    if refusals.get("answerable") and refusals.get("unanswerable"):
        told.append(
            f"It refuses {refusals['caught']:,} of the {refusals['unanswerable']:,} questions that the abstracts don't answer, "
            f"and by mistake {refusals['false_refusals']:,} of the {refusals['answerable']:,} that they do."
        )
    return told


def _counted(figures: Mapping[str, Any]) -> str:
    return f"{round(figures['value'] * figures['n']):,}"


def rule(name: str, figures: Mapping[str, Any]) -> tuple[str, bool]:
    """A hard metric in words, and whether it is broken."""
    value, n, unit = figures["value"], figures["n"], figures["unit"]
    broken = value > 0 if figures["better"] == "lower" else value < 1
    what = inline(name)
    if figures["better"] == "higher":
        bound = f", {figure(figures['low'], unit)} at least" if figures.get("low") is not None and not broken else ""
        return f"{'all' if not broken else figure(value, unit) + ' of'} {what} (n {n:,}{bound})", broken
    bound = f", {figures['high'] * 100:.1f} % at most" if figures.get("high") is not None and not broken else ""
    return f"{'no' if not broken else figure(value * n, 'count')} {what} (n {n:,}{bound})", broken
