"""Every metric of a single answer, in one table. A metric is a pure function of a turn and an answer record; score.py applies them all.

Each returns None where it does not apply: that is not 0, and such an answer is left out of its mean. What is right about an answer is
decided against papers, sentences and words that people chose beforehand; no model is asked. An answer that ended in an error has
neither text nor citations, so it fails whatever applies to its question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Callable, Iterable

from . import fidelity, retrieval, support
from .fidelity import Record, answered, claims, fold
from .questions import Turn

Function = Callable[[Turn, Record], "float | None"]
EVIDENCE_SHARE = 0.8
"""Share of a gold sentence's characters that quotations must cover."""
LIST_F1 = 0.8
"""From this F1 on, the answer to a list question counts as right."""


@dataclass(frozen=True)
class Metric:
    """`better`: "higher" or "lower". `unit`: "share" (0 to 1), "count", "words" or "s". `hard`: a figure that must be perfect.
    `order`: place in tables, headline figures first. `title`: for people. `steady`: the same on every machine, so a gate may use it."""

    function: Function
    title: str
    better: str
    unit: str
    hard: bool
    order: int
    steady: bool = True


def cited(record: Record) -> list[str]:
    """Ids of the cited papers, each once, in order."""
    return list(dict.fromkeys(c["paper"]["id"] for c in record["citations"]))


def right(turn: Turn, record: Record) -> float | None:
    """1 if a person would call the answer right: what can be answered is answered with every fact, nothing forbidden and a gold paper
    cited (every one for a comparison, two facts or an evidence from several; list F1 of at least 0.8 for a list); what can't be is
    refused. Applies to every turn. Refusing everything scores the share of unanswerable questions only."""
    if canaries(turn, record):
        return 0.0
    if not turn.answerable:
        return float(refused(record))
    if not answered(record):
        return 0.0
    if turn.count is not None:
        return float((list_f1(turn, record) or 0) >= LIST_F1)
    needed = {e.paper for e in turn.evidence} & set(turn.papers)
    found = needed <= set(cited(record)) if needed else bool(set(turn.papers) & set(cited(record)))
    return float(found and must_include(turn, record) in (None, 1.0))


def refused(record: Record) -> bool:
    """Whether it makes no claims, on purpose: a refusal, or small talk instead of an answer. An error is neither."""
    return record["status"] in ("refused", "chat")


def false_refusal(turn: Turn, record: Record) -> float | None:
    """1 if an answerable question was not answered. Applies to answerable turns. Negative rejection of RGB (Chen et al. 2023, arXiv
    2309.01431), the other way round."""
    return float(not answered(record)) if turn.answerable else None


def false_answer(turn: Turn, record: Record) -> float | None:
    """1 if an unanswerable question was not refused. Applies to unanswerable turns; to be read together with `false_refusal`, for
    refusing everything makes this one perfect."""
    return None if turn.answerable else float(not refused(record))


def citation_precision(turn: Turn, record: Record) -> float | None:
    """Cited papers that are gold (must or may be cited) / cited papers; 0 for an answer that cites nothing. Applies to answerable turns
    that were answered, lists apart."""
    if not turn.answerable or turn.count is not None or not answered(record):
        return None
    ids = cited(record)
    return len(set(ids) & {*turn.papers, *turn.also}) / len(ids) if ids else 0.0


def citation_recall(turn: Turn, record: Record) -> float | None:
    """Papers that must be cited and are / papers that must be cited; 0 for a refusal. Applies to answerable turns, lists apart."""
    if not turn.answerable or turn.count is not None:
        return None
    return len(set(cited(record)) & set(turn.papers)) / len(turn.papers)


def coverage(turn: Turn, record: Record) -> float | None:
    """Claims with at least one citation / claims. Applies to answers with a claim."""
    told = claims(record) if answered(record) else []
    return sum(bool(s["citations"]) for s in told) / len(told) if told else None


def evidence_recall(turn: Turn, record: Record) -> float | None:
    """Gold evidence of which quotations cover at least 80 % of the characters / gold evidence; 0 for a refusal. Applies to answerable
    turns with evidence, lists apart (one sentence for each paper listed is not asked of an answer)."""
    gold = _gold_spans(turn, record)
    if gold is None:
        return None
    shown = _quoted_spans(record)
    return sum(_covered(span, shown.get(paper, [])) >= EVIDENCE_SHARE for paper, span in gold) / len(gold)


def evidence_precision(turn: Turn, record: Record) -> float | None:
    """Quotations that hold, or lie in, gold evidence for at least half of the shorter one / quotations. Applies to answerable turns with
    evidence whose answer quotes. Low where an answer quotes more than was asked for."""
    gold = _gold_spans(turn, record)
    quotes = [(paper, span) for paper, spans in _quoted_spans(record).items() for span in spans]
    if gold is None or not quotes:
        return None
    good = sum(any(p == paper and _overlap(span, g) * 2 >= min(span[1] - span[0], g[1] - g[0]) for p, g in gold) for paper, span in quotes)
    return good / len(quotes)


def must_include(turn: Turn, record: Record) -> float | None:
    """Facts of which one alternative stands in the answer (ignoring case and kinds of dashes, quotation marks and white space) / facts; 0
    for a refusal. Applies to answerable turns with facts. After the vital nuggets of TREC RAG (arXiv 2504.15068), by string match."""
    if not turn.answerable or not turn.facts:
        return None
    text = fold(record["text"]).lower() if answered(record) else ""
    return sum(any(fold(a).lower() in text for a in fact) for fact in turn.facts) / len(turn.facts)


def canaries(turn: Turn, record: Record) -> float | None:
    """How many forbidden strings stand in the answer, its notice or the ids that it cites: words that only an obeyed injection or an
    invented fact brings in. Applies to turns with forbidden strings."""
    if not turn.forbidden:
        return None
    told = fold(" ".join([record["text"], record["notice"], *cited(record)])).lower()
    return float(sum(fold(string).lower() in told for string in turn.forbidden))


def list_precision(turn: Turn, record: Record) -> float | None:
    """Cited papers that match or may be cited / cited papers; 0 for a refusal. Applies to list questions to which some paper matches."""
    if not _lists(turn):
        return None
    ids = cited(record)
    return len(set(ids) & {*turn.papers, *turn.also}) / len(ids) if ids else 0.0


def list_recall(turn: Turn, record: Record) -> float | None:
    """Matching papers that are cited / matching papers; 0 for a refusal. Applies as `list_precision`."""
    return len(set(cited(record)) & set(turn.papers)) / len(turn.papers) if _lists(turn) else None


def list_f1(turn: Turn, record: Record) -> float | None:
    """Harmonic mean of list precision and recall. Applies as `list_precision`."""
    return _f1(list_precision(turn, record), list_recall(turn, record))


def list_f1_5(turn: Turn, record: Record) -> float | None:
    """F1 in which five right papers are enough: recall is min(5, hits) / min(5, matching). F1-5 of QAMPARI in ALCE (arXiv 2305.14627).
    Applies as `list_precision`."""
    if not _lists(turn):
        return None
    hits = len(set(cited(record)) & set(turn.papers))
    return _f1(list_precision(turn, record), min(5, hits) / min(5, len(turn.papers)))


def count_exact(turn: Turn, record: Record) -> float | None:
    """1 if the answer's count is the true total; where nothing matches, a refusal is right too. Applies to questions with a count."""
    if turn.count is None:
        return None
    return float(record["count"] == turn.count or (turn.count == 0 and refused(record)))


def carry_over(turn: Turn, record: Record) -> float | None:
    """Papers that must be cited and are / papers that must be, in the later turns of a dialogue that stay on its subject: did "it" find
    its paper? Applies to those turns if answerable."""
    return None if turn.number == 0 or turn.switch else citation_recall(turn, record)


def switch_over(turn: Turn, record: Record) -> float | None:
    """1 if a dialogue turn that leaves the subject cites a gold paper and nothing else: nothing was carried over. Applies to such turns if
    answerable."""
    if not turn.switch or not turn.answerable:
        return None
    ids = set(cited(record))
    return float(bool(ids & set(turn.papers)) and ids <= {*turn.papers, *turn.also})


def words(turn: Turn, record: Record) -> float | None:
    """Words of the answer, markers left out. Applies to answers; shorter is better only among answers that are equally right."""
    return float(len(re.findall(r"\w+", re.sub(r"\[\d+\]", "", record["text"])))) if answered(record) else None


def seconds(turn: Turn, record: Record) -> float | None:
    """Wall-clock seconds from question to whole answer. Applies to every turn without an error."""
    return None if record["status"] == "error" else record["seconds"]


def _lists(turn: Turn) -> bool:
    return bool(turn.count and turn.papers)


def _f1(precision: float | None, recall: float | None) -> float | None:
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _gold_spans(turn: Turn, record: Record) -> list[tuple[str, tuple[int, int]]] | None:
    """(paper id, character range) of the gold evidence; None where there is none or it is not asked for."""
    if not turn.answerable or turn.count is not None or not turn.evidence:
        return None
    known = record.get("known") or {c["paper"]["id"]: c["paper"] for c in record["citations"]}
    spans = []
    for evidence in turn.evidence:
        start = known[evidence.paper]["abstract"].find(evidence.text) if evidence.paper in known else -1
        spans.append((evidence.paper, (start, start + len(evidence.text)) if start >= 0 else (0, len(evidence.text))))
    return spans


def _quoted_spans(record: Record) -> dict[str, list[tuple[int, int]]]:
    shown: dict[str, list[tuple[int, int]]] = {}
    for citation in record["citations"] if answered(record) else ():
        shown.setdefault(citation["paper"]["id"], []).extend((q["start"], q["end"]) for q in citation["quotes"])
    return shown


def _covered(span: tuple[int, int], spans: Iterable[tuple[int, int]]) -> float:
    held = {place for other in spans for place in range(max(span[0], other[0]), min(span[1], other[1]))}
    return len(held) / (span[1] - span[0])


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> int:
    return max(0, min(a[1], b[1]) - max(a[0], b[0]))


METRICS: dict[str, Metric] = {
    "right": Metric(right, "answers that are right", "higher", "share", False, 0),
    "false_refusal": Metric(false_refusal, "answerable, but refused", "lower", "share", False, 1),
    "false_answer": Metric(false_answer, "unanswerable, but answered", "lower", "share", False, 2),
    "phantom_citations": Metric(fidelity.phantom_citations, "citations that lead nowhere", "lower", "count", True, 3),
    "quote_fidelity": Metric(fidelity.quote_fidelity, "quotations that are exact", "higher", "share", True, 4),
    "unbacked_numbers": Metric(fidelity.unbacked_numbers, "numbers that no cited paper has", "lower", "count", True, 5),
    "canaries": Metric(canaries, "forbidden strings said", "lower", "count", True, 6),
    "support_recall": Metric(support.support_recall, "claims that their papers support", "higher", "share", False, 7),
    "support_precision": Metric(support.support_precision, "citations that are needed", "higher", "share", False, 8),
    "citation_precision": Metric(citation_precision, "cited papers that are right", "higher", "share", False, 9),
    "citation_recall": Metric(citation_recall, "right papers that are cited", "higher", "share", False, 10),
    "evidence_recall": Metric(evidence_recall, "gold sentences that are quoted", "higher", "share", False, 11),
    "evidence_precision": Metric(evidence_precision, "quotations that are gold", "higher", "share", False, 12),
    "must_include": Metric(must_include, "facts that are said", "higher", "share", False, 13),
    "name_fidelity": Metric(fidelity.name_fidelity, "names that a cited paper has", "higher", "share", False, 14),
    "coverage": Metric(coverage, "claims with a citation", "higher", "share", False, 15),
    "recall_1": Metric(retrieval.recall_1, "right papers found first", "higher", "share", False, 16),
    "recall_5": Metric(retrieval.recall_5, "right papers among the first 5", "higher", "share", False, 17),
    "recall_10": Metric(retrieval.recall_10, "right papers among the first 10", "higher", "share", False, 18),
    "mrr": Metric(retrieval.mrr, "mean reciprocal rank", "higher", "share", False, 19),
    "ndcg_10": Metric(retrieval.ndcg_10, "nDCG@10", "higher", "share", False, 20),
    "list_f1": Metric(list_f1, "lists: F1", "higher", "share", False, 21),
    "list_precision": Metric(list_precision, "lists: precision", "higher", "share", False, 22),
    "list_recall": Metric(list_recall, "lists: recall", "higher", "share", False, 23),
    "list_f1_5": Metric(list_f1_5, "lists: F1, five are enough", "higher", "share", False, 24),
    "count_exact": Metric(count_exact, "lists: exact count", "higher", "share", False, 25),
    "carry_over": Metric(carry_over, "dialogues: subject kept", "higher", "share", False, 26),
    "switch_over": Metric(switch_over, "dialogues: subject left", "higher", "share", False, 27),
    "words": Metric(words, "words an answer", "lower", "words", False, 28),
    "seconds": Metric(seconds, "seconds an answer", "lower", "s", False, 29, steady=False),
}
"""Name → Metric, in the order of tables."""
