"""Answer records for tests of metrics: three small papers, a few turns, and answers about them as the engine would write them."""

from __future__ import annotations

from typing import Any

from evals import score
from evals.metrics import METRICS
from evals.questions import Evidence, Turn
from rag.papers import REFUSAL, Answer, Citation, Paper, Quote, Sentence

_ANTS = "Ants walk 3 km. They carry 2,294 leaves in 0.50 hours. GPT-4 helps none of them."
A = Paper("a", "LoRA for Ants", _ANTS, ("Ada Ant",), 2024, "ICLR")
B = Paper("b", "On Bees", "Bees fly far. They sleep at night — mostly.")
C = Paper("c", "On Cats", "Cats sit on “warm” mats.")
ASKED = Turn("How far do ants walk?", ("a",), evidence=(Evidence("a", "Ants walk 3 km."),), facts=(("3 km", "three km"), ("2,294",)))
NOTHING = Turn("Who swims?", (), answerable=False)
BOTH = Turn("Ants or bees?", ("a", "b"), ("c",))
LIST = Turn("Which walk?", ("a", "b"), ("c",), count=2, kind="list")


def quote(paper: Paper, text: str) -> Quote:
    start = paper.abstract.index(text)
    return Quote(text, start, start + len(text))


def record(
    *cited: tuple[Paper, str], status: str = "answered", known: tuple[Paper, ...] = (A, B, C), found: str = "", **fields: Any
) -> dict[str, Any]:
    """An extractive answer that quotes the given passages; `found`: retrieved papers, best first, one letter each."""
    papers = list(dict.fromkeys(paper for paper, _ in cited))
    citations = tuple(Citation(n, p, tuple(quote(p, t) for q, t in cited if q is p)) for n, p in enumerate(papers, 1))
    told = tuple(Sentence(t, (papers.index(p) + 1,), "supported") for p, t in cited)
    text = " ".join(f"“{t}” [{papers.index(p) + 1}]" for p, t in cited)
    answer = Answer(**{"text": text, "status": status, "sentences": told, "citations": citations, **fields})
    retrieved = [[letter, 1 - n / 10] for n, letter in enumerate(found)]
    return {**answer.to_dict(), "retrieved": retrieved, "answerability": 0.5, "seconds": 0.25, "known": {p.id: p.__dict__ for p in known}}


def said(*sentences: tuple[str, tuple[int, ...]], papers: tuple[Paper, ...] = (A,), text: str = "", **fields: Any) -> dict[str, Any]:
    """A model's answer: sentences with citation numbers."""
    told = tuple(Sentence(s, n) for s, n in sentences)
    text = text or " ".join(s + "".join(f" [{i}]" for i in n) for s, n in sentences)
    return record(text=text, sentences=told, citations=tuple(Citation(n, p) for n, p in enumerate(papers, 1)), **fields)


REFUSED = record(text=REFUSAL, status="refused", sentences=(Sentence(REFUSAL),))
FAILED = {**score.record_of({"answer": None, "error": "no luck", "retrieved": [], "answerability": None, "seconds": 9.0}, {})}
ANT, LEAVES, BEE = (A, "Ants walk 3 km."), (A, "They carry 2,294 leaves in 0.50 hours."), (B, "Bees fly far.")


def value(name: str, turn: Turn, answer: dict[str, Any]) -> float | None:
    return METRICS[name].function(turn, answer)
