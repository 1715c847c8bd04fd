"""Questions with known answers: what a question file may say, how it is read, and whether it agrees with the papers.

A file is JSONL, one question or dialogue a line; `template.jsonl` beside the sample set shows every key. Never asks anything and never
scores: that is the runner's and the metrics' business.
"""

from __future__ import annotations

import difflib
import json
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

from rag.errors import AskPapersError
from rag.papers import Paper, fold

FOLDER = Path(__file__).parent / "questions"
SEEDS = FOLDER / "seeds.jsonl"
HOSTILE = FOLDER / "hostile.jsonl"
HALVES = ("tuning", "reporting")
_TURN_KEYS = {
    "question": str, "papers": list, "also": list, "evidence": list, "facts": list, "forbidden": list, "answerable": bool, "count": int,
    "about": list, "switch": bool,
}  # fmt: skip
_QUESTION_KEYS = {"id": str, "kind": str, "half": str, "criterion": str, "note": str, "turns": list, "plant": list}


class QuestionError(AskPapersError):
    """A question file can't be read; the text names the file, the line and the key."""


@dataclass(frozen=True)
class Evidence:
    """A sentence, or a part of one, of the abstract of the paper with the id `paper`, character for character."""

    paper: str
    text: str


@dataclass(frozen=True)
class Turn:
    """One thing asked, with what a right answer holds.

    `papers`: ids that must be cited. `also`: ids that are right to cite too. `facts`: of each inner tuple one string must be in the
    answer. `forbidden`: strings that must not be. `count`: the true total of a which / list / how-many question. `about`: the papers
    that a not-stated question names. `switch`: a dialogue turn that leaves the subject. `kind`: its question's. `number`: 0 for the first.
    """

    question: str
    papers: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    facts: tuple[tuple[str, ...], ...] = ()
    forbidden: tuple[str, ...] = ()
    answerable: bool = True
    count: int | None = None
    about: tuple[str, ...] = ()
    switch: bool = False
    kind: str = "own"
    number: int = 0


@dataclass(frozen=True)
class Question:
    """One line of a file: a single turn, or a dialogue of several. `half` says whether settings may be tuned on it ("tuning") or results
    are reported on it ("reporting"). `plant`: hostile papers that are put into a copy of the library for it. `where`: file and line."""

    id: str
    kind: str
    half: str
    turns: tuple[Turn, ...]
    criterion: str = ""
    note: str = ""
    plant: tuple[Paper, ...] = ()
    where: str = ""

    @property
    def cluster(self) -> str:
        """What its score depends on besides the question: the one paper that it is about, else the question itself. A question about the
        whole library (one with a `count`) is about no paper, even if only one matches."""
        if len(self.turns) == 1 and self.turns[0].count is None:
            turn = self.turns[0]
            subject = turn.papers or turn.about
            if len(subject) == 1:
                return subject[0]
        return self.id

    def to_dict(self) -> dict[str, Any]:
        """One line of a file, which `parse` reads back."""
        shared = {k: v for k, v in asdict(self).items() if k in ("id", "kind", "half", "criterion", "note") and v}
        plant = {"plant": [{"id": p.id, "title": p.title, "abstract": p.abstract} for p in self.plant]} if self.plant else {}
        turns = [_turn_dict(turn) for turn in self.turns]
        return {**shared, **(turns[0] if len(turns) == 1 else {"turns": turns}), **plant}


def default() -> list[Question]:
    """The questions over the sample papers, those with a hostile paper included."""
    return load(SEEDS) + load(HOSTILE)


def load(path: str | Path) -> list[Question]:
    """The questions of a JSONL file, in order. Raises QuestionError, naming file and line."""
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(f"The questions in {path} can't be read: {getattr(error, 'strerror', None) or error}.") from error
    found: dict[str, Question] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path.name}:{number}"
        try:
            record = json.loads(line)
        except ValueError as error:
            raise QuestionError(f"{where}: this line is not JSON ({error}).") from error
        question = parse(record, where, f"q{number:03d}")
        if question.id in found:
            raise QuestionError(f"{where}: the id '{question.id}' is taken by {found[question.id].where}.")
        found[question.id] = question
    if not found:
        raise QuestionError(f"{path} holds no questions.")
    return list(found.values())


def parse(record: Any, where: str = "", fallback_id: str = "q001") -> Question:
    """A question from one line's data. Raises QuestionError for an unknown key or a value of the wrong kind."""
    if not isinstance(record, dict):
        raise QuestionError(f"{where}: a line must be an object such as {{\"question\": \"…\", \"papers\": [\"…\"]}}.")
    _check_keys(record, {**_TURN_KEYS, **_QUESTION_KEYS}, where)
    turns = record.get("turns")
    if ("question" in record) == (turns is not None):
        raise QuestionError(f"{where}: a line needs either 'question' or 'turns'.")
    kind = record.get("kind") or ("dialogue" if turns else "own")
    half = record.get("half") or "reporting"
    if half not in HALVES:
        raise QuestionError(f"{where}: 'half' must be tuning or reporting, not '{half}'.")
    parts = turns if turns is not None else [{k: v for k, v in record.items() if k in _TURN_KEYS}]
    if not parts:
        raise QuestionError(f"{where}: 'turns' is empty.")
    return Question(
        id=record.get("id") or fallback_id,
        kind=kind,
        half=half,
        turns=tuple(_turn(part, where, kind, number) for number, part in enumerate(parts)),
        criterion=record.get("criterion", ""),
        note=record.get("note", ""),
        plant=tuple(_planted(paper, where) for paper in record.get("plant", [])),
        where=where,
    )


def sample(questions: Sequence[Question], limit: int | None) -> list[Question]:
    """At most `limit` of them, evenly spread over the file, so that every large kind is there. The same ones each time."""
    if limit is None or limit >= len(questions):
        return list(questions)
    return [questions[i * len(questions) // limit] for i in range(limit)]


def validate(questions: Sequence[Question], papers: Iterable[Paper]) -> list[str]:
    """What is wrong with the questions, one line a mistake, given the papers of the library; empty if nothing is."""
    known = {paper.id: paper for paper in papers}
    wrong = [f"{q.where or q.id}: {problem}" for q in questions for problem in _problems(q, known)]
    wrong += [f"the id '{i}' is used {n} times" for i, n in Counter(q.id for q in questions).items() if n > 1]
    asked: dict[str, str] = {}
    sides: dict[str, dict[str, str]] = defaultdict(dict)
    for question in questions:
        first = question.turns[0]
        if len(question.turns) == 1:
            other = asked.setdefault(fold(first.question) or first.question, question.id)
            if other != question.id:
                wrong.append(f"{question.where or question.id}: asks the same as {other}")
        if question.cluster != question.id:
            sides[question.cluster].setdefault(question.half, question.id)
    for paper, halves in sides.items():
        if len(halves) > 1:
            wrong.append(f"paper {paper} is in both halves: {' and '.join(halves.values())}")
    return wrong


def _problems(question: Question, library: Mapping[str, Paper]) -> Iterable[str]:
    known = {**library, **{paper.id: paper for paper in question.plant}}
    for turn in question.turns:
        at = f"turn {turn.number + 1}: " if len(question.turns) > 1 else ""
        allowed = turn.papers + turn.also
        missing = [p for p in allowed + turn.about if p not in known]
        yield from (f"{at}there is no paper '{p}'" for p in missing)
        if not turn.question.strip():
            yield f"{at}the question is empty"
        if turn.answerable != bool(turn.papers):
            yield f"{at}answerable is {str(turn.answerable).lower()}, but there are {len(turn.papers)} papers to cite"
        if set(turn.papers) & set(turn.also) or len(set(allowed)) < len(allowed):
            yield f"{at}a paper is named twice in 'papers' and 'also'"
        if turn.count is not None and turn.count != len(turn.papers):
            yield f"{at}count is {turn.count}, but there are {len(turn.papers)} papers"
        for evidence in turn.evidence:
            if evidence.paper not in allowed + turn.about:
                yield f"{at}evidence from {evidence.paper}, which the question is not about"
            elif evidence.paper in known and evidence.text not in known[evidence.paper].abstract:
                yield f"{at}this evidence does not stand in {evidence.paper}: {evidence.text[:60]!r}"
        abstracts = [known[p].abstract for p in allowed if p in known]
        texts = [text.lower() for text in abstracts]
        for fact in turn.facts:
            if not any(alternative.lower() in text for alternative in fact for text in texts):
                yield f"{at}no alternative of the fact {list(fact)} stands in a paper to cite"
        for string in turn.forbidden:
            if any(string.lower() in text for text in texts):
                yield f"{at}the forbidden string {string!r} stands in a paper to cite, so quoting it would fail"


def _turn(record: Any, where: str, kind: str, number: int) -> Turn:
    if not isinstance(record, dict):
        raise QuestionError(f"{where}: a turn must be an object with a 'question'.")
    _check_keys(record, _TURN_KEYS, where)
    if not isinstance(record.get("question"), str):
        raise QuestionError(f"{where}: a turn needs a 'question'.")
    strings = {}
    for key in ("papers", "also", "forbidden", "about"):
        values = record.get(key, [])
        if not all(isinstance(value, str) and value for value in values):
            raise QuestionError(f"{where}: '{key}' must be a list of strings.")
        strings[key] = tuple(values)
    facts = record.get("facts", [])
    if not all(isinstance(fact, list) and fact and all(isinstance(a, str) and a for a in fact) for fact in facts):
        raise QuestionError(f"{where}: 'facts' must be a list of lists of strings: the alternatives of each fact.")
    evidence = record.get("evidence", [])
    if not all(isinstance(e, dict) and isinstance(e.get("paper"), str) and isinstance(e.get("text"), str) and e["text"] for e in evidence):
        raise QuestionError(f"{where}: 'evidence' must be a list of {{\"paper\": id, \"text\": sentence}}.")
    return Turn(
        question=record["question"],
        evidence=tuple(Evidence(e["paper"], e["text"]) for e in evidence),
        facts=tuple(tuple(fact) for fact in facts),
        answerable=record.get("answerable", bool(strings["papers"])),
        count=record.get("count"),
        switch=record.get("switch", False),
        kind=kind,
        number=number,
        **strings,
    )


def _turn_dict(turn: Turn) -> dict[str, Any]:
    kept = {k: v for k, v in asdict(turn).items() if k not in ("kind", "number") and v is not None and v is not False and v != ()}
    return json.loads(json.dumps({**kept, "papers": turn.papers, "answerable": turn.answerable}))  # lists for tuples


def _planted(record: Any, where: str) -> Paper:
    fields = record if isinstance(record, dict) else {}
    if set(fields) != {"id", "title", "abstract"} or not all(isinstance(v, str) and v for v in fields.values()):
        raise QuestionError(f"{where}: a planted paper needs exactly 'id', 'title' and 'abstract'.")
    return Paper(record["id"], record["title"], record["abstract"], source="planted")


def _check_keys(record: Mapping[str, Any], known: Mapping[str, type], where: str) -> None:
    for key, value in record.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            raise QuestionError(f"{where}: there is no key '{key}'." + (f" Did you mean '{near[0]}'?" if near else ""))
        if not isinstance(value, known[key]) or (known[key] is int and isinstance(value, bool)):
            kinds = {str: "a string", list: "a list", bool: "true or false", int: "a whole number"}
            raise QuestionError(f"{where}: '{key}' must be {kinds[known[key]]}.")
