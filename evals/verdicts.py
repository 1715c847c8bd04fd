"""How far the verdict on a sentence can be trusted: sentences about the sample papers, labelled by a reader, against rag.grounding.

A line of `questions/verdicts.jsonl` is one sentence, the one paper that it cites, and whether that abstract says it. Halves go by
paper, as with the questions: the check is tuned on one, figures are quoted from the other. Needs no key, no index and no model.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

from rag.errors import AskPapersError
from rag.library import SEEDS
from rag.papers import Paper
from rag.readers import read

from . import stats
from .questions import FOLDER, HALVES
from .support import Judge, builtin

PAIRS = FOLDER / "verdicts.jsonl"
KINDS = {
    "faithful": "what the abstract says, in other words",
    "number": "an altered number",
    "subject": "swapped subjects or numbers",
    "negation": "a turned negation or direction",
    "hedge": "a dropped hedge, or an overclaim",
    "addition": "plausible, but from elsewhere",
    "wrong-paper": "said by another paper",
}
"""Kinds of pairs, with words for people. Only the first is supported."""
_KEYS = {"id", "half", "kind", "paper", "sentence", "label"}


class VerdictError(AskPapersError):
    """A file of pairs can't be used; the text names the file and the line."""


@dataclass(frozen=True)
class Pair:
    """A sentence and the paper that it cites. `label`: "supported" or "unsupported". `note`: what was altered, for people."""

    id: str
    half: str
    kind: str
    paper: Paper
    sentence: str
    label: str
    note: str = ""

    @property
    def supported(self) -> bool:
        return self.label == "supported"


@lru_cache(maxsize=1)
def sample_papers() -> dict[str, Paper]:
    """The sample papers by id, as their files have them."""
    return {record.id: record for record in read(SEEDS) if isinstance(record, Paper)}


def load(path: str | Path = PAIRS) -> list[Pair]:
    """The pairs of a JSONL file, in order. Raises VerdictError."""
    pairs, papers = [], sample_papers()
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise VerdictError(f"The pairs in {path} can't be read: {getattr(error, 'strerror', None) or error}.") from error
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            pair = Pair(**{**record, "paper": papers[record["paper"]]})
        except (ValueError, TypeError, KeyError) as error:
            raise VerdictError(f"{path}, line {number}: needs {', '.join(sorted(_KEYS))} and a sample paper's id ({error}).") from error
        if pair.half not in HALVES or pair.kind not in KINDS or pair.supported != (pair.kind == "faithful"):
            raise VerdictError(f"{path}, line {number}: half, kind and label don't go together.")
        pairs.append(pair)
    return pairs


def measure(pairs: Iterable[Pair] | None = None, judge: Judge = builtin) -> dict[str, Any]:
    """{"schema", "halves": {half: {"pairs", "balanced_accuracy": {"value", "low", "high", "n"}, "kinds": {kind: {"said": how many were
    called supported, "n", "low", "high"}}}}, "milliseconds": of a sentence, of the processor}. Intervals are 95 %: of balanced accuracy by resampling
    papers, of a share after Wilson."""
    pairs = load() if pairs is None else list(pairs)
    started = time.process_time()
    said = {pair.id: judge(pair.sentence, [pair.paper]) for pair in pairs}
    spent = time.process_time() - started
    halves = {half: [pair for pair in pairs if pair.half == half] for half in HALVES}
    return {
        "schema": 1,
        "halves": {half: _half(some, said) for half, some in halves.items() if some},
        "milliseconds": round(1000 * spent / max(1, len(pairs)), 2),
    }


def _half(pairs: Sequence[Pair], said: Mapping[str, bool]) -> dict[str, Any]:
    total, positive = Counter(p.kind for p in pairs), Counter(p.kind for p in pairs if said[p.id])
    return {
        "pairs": len(pairs),
        "balanced_accuracy": figure(stats.balanced_accuracy([p.supported for p in pairs], [said[p.id] for p in pairs], [p.paper.id for p in pairs])),
        "kinds": {kind: share(positive[kind], total[kind]) for kind in KINDS if total[kind]},
    }


def share(said: int, n: int) -> dict[str, Any]:
    """How many of n, with Wilson's interval of the share."""
    low, high = stats.wilson(said, n)
    return {"said": said, "n": n, "low": low, "high": high}


def figure(interval: stats.Interval | None) -> dict[str, Any] | None:
    return interval and {"value": interval.value, "low": interval.low, "high": interval.high, "n": interval.n}


def lines(found: Mapping[str, Any]) -> list[str]:
    """A measurement as text, for a terminal."""
    told = []
    for half, figures in found["halves"].items():
        told += [f"{half}: {figures['pairs']} sentences, balanced accuracy {told_figure(figures['balanced_accuracy'])}; called supported:"]
        told += [f"    {kind:12} {KINDS[kind]:42} {told_share(counted)}" for kind, counted in figures["kinds"].items()]
    return [*told, f"{found['milliseconds']} ms of the processor a sentence"]


def told_figure(figures: Mapping[str, Any] | None) -> str:
    return f"{figures['value']:.3f} ({figures['low']:.3f} to {figures['high']:.3f}, n = {figures['n']})" if figures else "-"


def told_share(counted: Mapping[str, Any]) -> str:
    return f"{counted['said']:4} of {counted['n']:4}  {counted['said'] / counted['n']:5.1%} ({counted['low']:.1%} to {counted['high']:.1%})"
