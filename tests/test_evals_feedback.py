"""From what readers said on the page to a question file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals import feedback
from evals.questions import QuestionError, load, validate
from rag.__main__ import main
from rag.history import Turn
from rag.papers import Answer, Citation, Paper
from ui import feedback as page

BEES, YAKS = Paper("b", "Bees", "Bees count to four."), Paper("y", "Yaks", "Yaks yawn.")


def answered(question: str, *papers: Paper, query: str = "", number: int = 1, scope: str = "") -> Turn:
    status = "answered" if papers else "refused"
    return Turn(question, "answered", Answer("…", status, citations=tuple(Citation(i, p) for i, p in enumerate(papers, 1)), query=query), number=number, scope=scope)


def said(folder: Path) -> None:
    page.note(folder, "one", answered("Who counts?", BEES), "wrong", "no, it was right")
    page.note(folder, "one", answered("Who counts?", BEES), "right")
    page.note(folder, "one", answered("and yaks?", YAKS, query="and yaks? (Bees)", number=2), "right")
    page.note(folder, "one", answered("What is tin?", number=3), "right")
    page.note(folder, "one", answered("Who yawns?", BEES, number=4), "wrong", "It is the yaks.")
    page.note(folder, "one", answered("Who sleeps?", YAKS, number=5, scope="2020"), "right")


def test_right_answers_become_questions_and_wrong_ones_wait_for_a_person(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(tmp_path)
    out = tmp_path / "mine.jsonl"
    assert main(["eval", "questions", "--from-feedback", str(tmp_path / "feedback.jsonl"), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "3 questions" in shown and "1 that were answered wrongly" in shown and "1 asked of some papers only" in shown
    questions = load(out)
    assert [(q.turns[0].question, q.turns[0].papers, q.turns[0].answerable) for q in questions] == [
        ("Who counts?", ("b",), True), ("and yaks? (Bees)", ("y",), True), ("What is tin?", (), False),
    ]  # fmt: skip
    assert questions[0].note == "no, it was right" and validate(questions, [BEES, YAKS]) == []
    [wrong] = load(tmp_path / "mine.unsettled.jsonl")
    assert wrong.turns[0].question == "Who yawns?" and wrong.note == "Answered wrongly (answered), citing b. It is the yaks."
    assert main(["eval", "questions", "--from-feedback", str(tmp_path / "feedback.jsonl"), "--out", str(out)]) == 2
    assert "is there already" in capsys.readouterr().err


def test_the_default_is_the_feedback_of_the_library(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(tmp_path)
    assert main(["eval", "questions", "--library", str(tmp_path), "--out", str(tmp_path / "q.jsonl"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settled"] == 3


@pytest.mark.parametrize("line", ["{", "[]", '{"turn": "x"}', '{"turn":"x","searched":"q","vote":"maybe","outcome":"answered","papers":[]}'])
def test_a_line_that_the_page_did_not_write_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "f.jsonl").write_text(line + "\n")
    with pytest.raises(QuestionError, match="f.jsonl:1"):
        feedback.read(tmp_path / "f.jsonl")
    with pytest.raises(QuestionError, match="can't be read"):
        feedback.read(tmp_path / "missing.jsonl")
