"""What readers said on the chat page, made into a question file.

An answer that was called right says what a question should cite, or that it should be refused. One that was called wrong only says
that something is: it goes to a second file, for a person to put the right papers in. Never guesses what would have been right.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.papers import fold

from .questions import Question, QuestionError, Turn

_KEYS = {"turn": str, "searched": str, "vote": str, "outcome": str, "papers": list}


@dataclass(frozen=True)
class Made:
    """`settled`: questions whose right answer is known. `unsettled`: those that were answered wrongly, with what was cited and said in
    their note. `scoped`: how many were asked of some papers only, which a question file can't say; they are left out."""

    settled: tuple[Question, ...]
    unsettled: tuple[Question, ...]
    scoped: int


def read(path: Path) -> Made:
    """The questions of a feedback file. Raises QuestionError, naming file and line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(f"What readers said can't be read from {path}: {getattr(error, 'strerror', None) or error}.") from error
    turns: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            said = _said(line, f"{path.name}:{number}")
            words = said.get("words") or turns.get(said["turn"], {}).get("words", "")
            turns.pop(said["turn"], None)  # the last word on a turn counts, and stands last
            turns[said["turn"]] = {**said, "words": words}
    asked = {fold(said["searched"]): said for said in turns.values() if not said.get("scope")}
    questions = [(said["vote"], _question(said, number)) for number, said in enumerate(asked.values(), 1)]
    settled = tuple(question for vote, question in questions if vote == "right")
    unsettled = tuple(question for vote, question in questions if vote != "right")
    return Made(settled, unsettled, sum(bool(said.get("scope")) for said in turns.values()))


def write(made: Made, out: Path) -> Path | None:
    """Writes the settled questions to `out`, the others beside it; returns the second file, if there is one. Overwrites neither."""
    rest = out.with_name(f"{out.stem}.unsettled.jsonl")
    for path, questions in ((out, made.settled), (rest, made.unsettled)):
        if questions and path.exists():
            raise QuestionError(f"{path} is there already: choose another --out, or move it away.")
    for path, questions in ((out, made.settled), (rest, made.unsettled)):
        if questions:
            text = "".join(json.dumps(question.to_dict(), ensure_ascii=False) + "\n" for question in questions)
            try:
                path.write_text(text, encoding="utf-8")
            except OSError as error:
                raise QuestionError(f"{path} can't be written: {error.strerror or error}.") from error
    return rest if made.unsettled else None


def _said(line: str, where: str) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except ValueError as error:
        raise QuestionError(f"{where}: this line is not JSON ({error}).") from error
    if not isinstance(said, dict) or not all(isinstance(said.get(key), kind) for key, kind in _KEYS.items()) or said["vote"] not in ("right", "wrong"):
        raise QuestionError(f"{where}: this is not a line that the chat page wrote.")
    return said


def _question(said: dict[str, Any], number: int) -> Question:
    papers = tuple(dict.fromkeys(str(paper) for paper in said["papers"]))
    note = f"Answered wrongly ({said['outcome']}), citing {', '.join(papers) or 'nothing'}." if said["vote"] == "wrong" else ""
    papers = () if said["vote"] == "wrong" else papers
    turn = Turn(said["searched"], papers, answerable=bool(papers), kind="feedback")
    return Question(f"feedback-{number:03d}", "feedback", "reporting", (turn,), note=" ".join(part for part in (note, said.get("words", "")) if part))
