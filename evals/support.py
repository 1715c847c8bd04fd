"""ALCE's two questions for every sentence of an answer: do the papers that it cites say it, and is each of them needed?

The judge is an argument: our own check by words, numbers and names, or a language model. Their figures are never mixed: a run scored
by a language model keeps the built-in figures and gets columns of its own. Judges fallibly, both of them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Callable, Iterator, Mapping, Sequence

from rag import grounding, prompts
from rag.papers import Paper

from .fidelity import Record, answered, claims, papers_of
from .questions import Turn

Judge = Callable[[str, Sequence[Paper]], bool]
"""(sentence, papers) → whether the abstracts, taken together, say the sentence."""
MAX_CITATIONS = 3
"""Citations of a sentence that count for precision, as in ALCE."""


@lru_cache(maxsize=8192)
def _checked(sentence: str, papers: tuple[Paper, ...]) -> bool:
    return grounding.check(sentence, papers).verdict == "supported"


def builtin(sentence: str, papers: Sequence[Paper]) -> bool:
    """The product's own check (rag.grounding): words, numbers, names, roles and hedges; a quoted sentence passes, an
    altered number doesn't. How far to trust it: verdicts.py."""
    return _checked(sentence, tuple(papers))


class ModelJudge:
    """A judge that asks a language model, once for each sentence and set of papers. `complete`: (role, text) messages → pieces of text.
    Prompt: prompts/support.md. A reply that is neither yes nor no counts as no, and in `failures`. Raises what `complete` raises."""

    def __init__(self, complete: Callable[[list[tuple[str, str]]], Iterator[str]]):
        self.failures = 0
        self._complete = complete
        self._known: dict[tuple[str, tuple[Paper, ...]], bool] = {}

    def __call__(self, sentence: str, papers: Sequence[Paper]) -> bool:
        key = (sentence, tuple(papers))
        if key not in self._known:
            self._known[key] = self._ask(sentence, papers)
        return self._known[key]

    def _ask(self, sentence: str, papers: Sequence[Paper]) -> bool:
        shown = "\n\n".join(f"<abstract>\n{p.title}\n{p.abstract.replace('</abstract>', '')}\n</abstract>" for p in papers)
        reply = "".join(self._complete(prompts.load("support").fill(abstracts=shown, sentence=sentence)))
        word = re.search(r"\b(yes|no)\b", reply, re.IGNORECASE)
        self.failures += word is None
        return word is not None and word.group().lower() == "yes"


def support_recall(turn: Turn, record: Record, judge: Judge = builtin) -> float | None:
    """Share of the claims that the papers they cite, taken together, support; a claim that cites nothing is not supported. Citation
    recall of ALCE (Gao et al. 2023, arXiv 2305.14627, eval.py), with the judge passed in. Applies to answers with a claim."""
    values = [bool(cited) and judge(text, cited) for text, cited in _claims(record)]
    return sum(values) / len(values) if values else None


def support_precision(turn: Turn, record: Record, judge: Judge = builtin) -> float | None:
    """Share of citations that are needed: their claim is supported, and the paper supports it alone or its removal breaks the support of
    the others. At most three citations a sentence. Citation precision of ALCE (as above). Applies to answers with a citation."""
    good = total = 0
    for text, cited in _claims(record):
        cited = cited[:MAX_CITATIONS]
        total += len(cited)
        if not cited or not judge(text, cited):
            continue
        for paper in cited:
            others = [p for p in cited if p is not paper]
            good += not others or judge(text, [paper]) or not judge(text, others)
    return good / total if total else None


def _claims(record: Record) -> list[tuple[str, list[Paper]]]:
    if not answered(record):
        return []
    return [(s["text"], [_paper(p) for p in papers_of(record, s["citations"])] if s["citations"] else []) for s in claims(record)]


def _paper(data: Mapping[str, Any]) -> Paper:
    lists = {"authors": tuple(data["authors"]), "keywords": tuple(data["keywords"])}
    return Paper(**{**data, **lists})
