"""One card a turn for the report: what was asked, what came back sentence by sentence, what the abstracts say, and what failed.

Pure, and text only: pieces of text with the names of what they are, never markup. Judges nothing; the failed checks come from the scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

from rag.papers import Paper

from .questions import Question, Turn
from .words import Check, failed

STATES = {
    "backed": "Backed by",
    "elsewhere": "Backed, but not by a paper that answers this:",
    "unbacked": "Not found in",
    "uncited": "No citation",
    "unchecked": "Not checked",
    "refusal": "Refusal",
    "chat": "Small talk",
}
"""What a sentence of an answer can be, in the words that the report uses."""
MOST_ABSTRACTS = 4
"""Abstracts shown in full on one card; of a list question's other papers the titles are enough."""

Span = tuple[int, int]


@dataclass(frozen=True)
class Piece:
    """A stretch of text. `marks`: of "gold" (gold evidence) and "quote" (a span that the answer relies on)."""

    text: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Said:
    """A sentence of the answer. `state` is a key of STATES; `sources`: (number, whether it is a paper to cite)."""

    pieces: tuple[Piece, ...]
    state: str
    sources: tuple[tuple[int, bool], ...] = ()

    @property
    def words(self) -> str:
        return STATES[self.state]


@dataclass(frozen=True)
class Shown:
    """A paper on a card. `number`: its citation, 0 if the answer doesn't cite it. `gold`: "cite", "also", "about" or empty."""

    id: str
    title: str
    byline: str
    link: str
    number: int
    gold: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Card:
    """`expected`: "answer" or "refuse". `earlier`: the questions before this one in its dialogue. `facts`: (alternatives, which one was
    said or empty). `badness`: higher is worse; the order of the report."""

    id: str
    turn: int
    kind: str
    half: str
    question: str
    earlier: tuple[str, ...]
    expected: str
    status: str
    searched: str
    said: tuple[Said, ...]
    facts: tuple[tuple[tuple[str, ...], str], ...]
    papers: tuple[Shown, ...]
    more: tuple[Shown, ...]
    checks: tuple[Check, ...]
    badness: float
    count: tuple[int | None, int | None]
    error: str
    notice: str


def cards(
    questions: Sequence[Question],
    answers: Iterable[Mapping[str, Any]],
    scores: Iterable[Mapping[str, Any]],
    papers: Mapping[str, Mapping[str, Any]],
) -> list[Card]:
    """All turns, worst first; equally bad ones in the order of the file. Arguments as of `runner.read_run` and scores.jsonl."""
    asked = {q.id: q for q in questions}
    scored = {(s["id"], s["turn"]): s["metrics"] for s in scores}
    made = [_card(asked[a["id"]], a, scored.get((a["id"], a["turn"]), {}), papers) for a in answers]
    return sorted(made, key=lambda card: -card.badness)


def _card(
    question: Question, line: Mapping[str, Any], metrics: Mapping[str, float | None], papers: Mapping[str, Mapping[str, Any]]
) -> Card:
    turn = question.turns[line["turn"]]
    answer = line["answer"] or {"status": "error", "sentences": [], "citations": [], "text": "", "query": "", "count": None}
    checks, badness = failed(metrics, bool(line["error"]))
    if badness and line["answerability"] is not None:  # of two bad ones, the surer answer and the less sure refusal are worse
        badness += 6 * (1 - line["answerability"] if answer["status"] == "refused" else line["answerability"])
    text = _plain(answer["text"])
    shown = _papers(turn, answer, {**{c["paper"]["id"]: c["paper"] for c in answer["citations"]}, **papers})
    return Card(
        id=question.id,
        turn=turn.number,
        kind=question.kind,
        half=question.half,
        question=turn.question,
        earlier=tuple(t.question for t in question.turns[: turn.number]),
        expected="answer" if turn.answerable else "refuse",
        status=answer["status"],
        searched=answer["query"] if answer["query"] not in ("", turn.question.strip()) else "",
        said=tuple(_said(turn, answer)),
        facts=tuple((fact, next((a for a in fact if _plain(a) in text), "")) for fact in turn.facts),
        papers=tuple(shown[:MOST_ABSTRACTS]),
        more=tuple(shown[MOST_ABSTRACTS:]),
        checks=tuple(checks),
        badness=badness,
        count=(turn.count, answer["count"]),
        error=line["error"] or "",
        notice=answer.get("notice", ""),
    )


def _said(turn: Turn, answer: Mapping[str, Any]) -> Iterable[Said]:
    right = {*turn.papers, *turn.also}
    paper_of = {c["number"]: c["paper"]["id"] for c in answer["citations"]}
    for sentence in answer["sentences"]:
        numbers = sentence["citations"]
        sources = tuple((n, paper_of.get(n) in right) for n in numbers)
        if answer["status"] in ("refused", "chat"):
            state = "refusal" if answer["status"] == "refused" else "chat"
        elif not numbers:
            state = "uncited"
        elif sentence["verdict"] != "supported":
            state = "unbacked" if sentence["verdict"] == "unsupported" else "unchecked"
        else:
            state = "backed" if any(gold for _, gold in sources) else "elsewhere"
        text = sentence["text"]
        yield Said(pieces(text, [("gold", span) for e in turn.evidence for span in _shared(text, e.text)]), state, sources)


def _papers(turn: Turn, answer: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> list[Shown]:
    """Papers to cite first, those with evidence before the others; then what the answer cites besides; then what it was about."""
    quotes = {c["paper"]["id"]: (c["number"], c["quotes"]) for c in answer["citations"]}
    evidence: dict[str, list[str]] = {}
    for one in turn.evidence:
        evidence.setdefault(one.paper, []).append(one.text)
    roles = {**dict.fromkeys(turn.about, "about"), **dict.fromkeys(turn.also, "also"), **dict.fromkeys(turn.papers, "cite")}
    order = sorted(turn.papers, key=lambda p: (p not in evidence, p not in quotes))
    wanted = dict.fromkeys([*order, *(p for p in turn.also if p in quotes or p in evidence), *quotes, *turn.about])
    shown = []
    for paper_id in wanted:
        paper = known.get(paper_id, {"title": paper_id, "abstract": ""})
        fields = {k: v for k, v in paper.items() if k in ("title", "abstract", "year", "venue", "url", "doi")}
        whole = Paper(paper_id, authors=tuple(paper.get("authors", ())), **fields)
        number, quoted = quotes.get(paper_id, (0, []))
        marks: list[tuple[str, Span]] = [("quote", (q["start"], q["end"])) for q in quoted]
        for text in evidence.get(paper_id, []):
            start = whole.abstract.find(text)
            marks += [("gold", (start, start + len(text)))] if start >= 0 else []
        shown.append(Shown(paper_id, whole.title, whole.byline, whole.link, number, roles.get(paper_id, ""), pieces(whole.abstract, marks)))
    return shown


def pieces(text: str, marks: Sequence[tuple[str, Span]]) -> tuple[Piece, ...]:
    """The text cut where a mark begins or ends; the pieces joined are the text. Spans that reach outside are cut off."""
    inside = [(name, (max(0, start), min(len(text), end))) for name, (start, end) in marks]
    cuts = sorted({0, len(text), *(at for _, span in inside if span[0] < span[1] for at in span)})
    found = []
    for start, end in zip(cuts, cuts[1:]):
        names = {name for name, (first, last) in inside if first <= start and end <= last}
        found.append(Piece(text[start:end], tuple(sorted(names))))
    return tuple(found)


def _shared(text: str, evidence: str) -> Iterable[Span]:
    """Where the one stands in the other whole: evidence within the sentence, or the sentence within the evidence."""
    start = text.find(evidence)
    if start >= 0:
        yield start, start + len(evidence)
    elif text.strip() and text.strip() in evidence:
        yield 0, len(text)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
