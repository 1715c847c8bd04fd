"""Comparing two runs: pairs, differences with their n, and the questions that flipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_run import MAPS, QUESTIONS, SALT, TUNE, made_run, quoting, refusal

from evals.compare import compare, text
from evals.runner import RunError

BETTER = {("fact-2", 0): quoting((TUNE, "We tune a lute with 24 strings.")), ("fact-3", 0): quoting((SALT, "We ask 30 guests."))}


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return made_run(tmp_path / "a")


def delta_of(found, name: str):
    return next(d for d in found.deltas if d.metric == name)


def test_a_run_compared_with_itself_shows_no_difference_and_no_flip(before):
    found = compare(before, before)
    assert found.pairs == 7 and found.flips == () and {d.delta for d in found.deltas} == {0.0}
    assert {d.verdict for d in found.deltas} == {"no difference shown"} and {d.p for d in found.deltas} == {1.0}


def test_every_difference_has_its_pairs_interval_p_and_counts(before, tmp_path):
    found = compare(before, made_run(tmp_path / "b", BETTER))
    right = delta_of(found, "right")
    assert (right.n, right.wins, right.ties, right.losses) == (7, 2, 5, 0)
    assert right.a == pytest.approx(4 / 7) and right.b == pytest.approx(6 / 7) and right.delta == pytest.approx(2 / 7)
    assert 0 <= right.low <= right.delta <= right.high and right.p == 0.5 and right.p_holm == 1.0


def test_a_metric_counts_only_where_it_applies_in_both_runs(before, tmp_path):
    found = compare(before, made_run(tmp_path / "b", {("fact-2", 0): refusal()}))
    assert delta_of(found, "citation_precision").n == 3  # fact-2 was answered in one of them only, fact-3 in none
    assert delta_of(found, "false_refusal").n == 5


def test_less_is_better_where_the_metric_says_so(before, tmp_path):
    found = compare(before, made_run(tmp_path / "b", {("absent-1", 0): refusal(), ("fact-1", 0): refusal()}))
    answered, refused = delta_of(found, "false_answer"), delta_of(found, "false_refusal")
    assert (answered.delta, answered.wins, answered.losses) == (-0.5, 1, 0)
    assert refused.delta == pytest.approx(0.2) and (refused.wins, refused.losses) == (0, 1)


def test_flipped_questions_are_named_once_by_their_cause_the_worse_first(before, tmp_path):
    found = compare(before, made_run(tmp_path / "b", {**BETTER, ("talk-1", 1): refusal()}))
    assert [(f.id, f.turn, f.metric, f.to) for f in found.flips] == [
        ("talk-1", 1, "false_refusal", "worse"), ("fact-2", 0, "right", "better"), ("fact-3", 0, "false_refusal", "better"),
    ]  # fmt: skip
    assert found.flips[1].question == "How many strings?"


def test_answers_that_one_run_lacks_are_counted_and_left_out(before, tmp_path):
    found = compare(before, made_run(tmp_path / "b", questions=QUESTIONS[:3]))
    assert (found.pairs, found.only_a, found.only_b) == (3, 4, 0)
    assert text(found).startswith("3 answers in both runs; 4 answers only in A.")


def test_runs_without_a_common_question_are_refused(before, tmp_path):
    other = {**QUESTIONS[0], "id": "another"}
    with pytest.raises(RunError, match="share no question"):
        compare(before, made_run(tmp_path / "b", {("another", 0): quoting((MAPS, "We map moss on 12 islands."))}, questions=[other]))


def test_what_makes_runs_less_comparable_is_said(before, tmp_path):
    notes = compare(before, made_run(tmp_path / "b", mode="model", model="m", corpus="2" * 64)).notes
    assert "The papers differ." in notes and "The modes differ: extractive and model." in notes


def test_the_text_gives_each_difference_its_n_and_says_what_is_the_same(before, tmp_path):
    told = text(compare(before, made_run(tmp_path / "b", BETTER)))
    line = next(line for line in told.splitlines() if line.startswith("Answers that are right"))
    assert "57.1 %" in line and "85.7 %" in line and "+28.6" in line and "2/5/0" in line and " 7 " in line
    same = " ".join(told.split())
    assert "The same in every answer (n): answerable" not in same and "citations that lead nowhere (7)" in same
    assert (
        "Got worse: none of 7 answers" in told and "Got better: 2 of 7 answers" in told and "fact-2: answers that are right 0 → 1" in told
    )


def test_the_json_can_be_read_back(before, tmp_path):
    data = json.loads(json.dumps(compare(before, made_run(tmp_path / "b", BETTER)).to_dict()))
    assert data["schema"] == 1 and data["pairs"] == 7 and len(data["flips"]) == 2 and all(d["n"] for d in data["deltas"])
