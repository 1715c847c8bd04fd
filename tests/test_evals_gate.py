"""The gate: hard rules, the baseline, and the exit code that says which."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from made_run import MAPS, PAPERS, QUESTIONS, SALT, TUNE, answers, made_run, quoting, refusal

from evals import gate, repeat
from evals.metrics import METRICS
from evals.runner import RunError

BETTER = {("fact-2", 0): quoting((TUNE, "We tune a lute with 24 strings.")), ("fact-3", 0): quoting((SALT, "We ask 30 guests."))}


def many(copies: int, **given):
    """The made run several times over, each copy on papers of its own, so that a difference can be told from chance. `given`: answers
    that replace those of a question, by its id."""
    questions, told, papers = [], {}, []
    for copy in range(copies):
        renamed = json.loads(
            re.sub(r'"p:(\w+)"', rf'"p:\1.{copy}"', json.dumps([QUESTIONS, [[*key, given.get(key[0], a)] for key, a in answers().items()]]))
        )
        questions += [{**question, "id": f"{question['id']}.{copy}"} for question in renamed[0]]
        told |= {(f"{name}.{copy}", turn): answer for name, turn, answer in renamed[1]}
        papers += [replace(paper, id=f"{paper.id}.{copy}") for paper in PAPERS]
    return {"questions": questions, "given": told, "papers": papers}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return made_run(tmp_path / "run")


def failed(verdict: gate.Verdict) -> list[str]:
    return [o.rule for o in verdict.outcomes if o.state == "failed"]


def test_a_run_passes_against_itself(run):
    verdict = gate.judge(run, run)
    assert verdict.code == gate.PASSED and failed(verdict) == []
    assert gate.text(verdict).endswith("The gate is passed.")


def test_each_rule_is_printed_with_its_figure(run):
    told = gate.text(gate.judge(run, run))
    assert "no citations that lead nowhere (n 7, " in told and "7 of 7 turns are asked and scored" in told
    assert "0 of 7 turns ended in an error" in told and "7 of 7 answers are the same when asked again" in told
    assert "metrics are worse beyond their interval, over 7 answers" in told


def test_a_quotation_that_is_not_exact_fails(tmp_path):
    answer = quoting((MAPS, "We map moss on 12 islands."))
    answer["citations"][0]["quotes"][0]["text"] = "We map moss on 12 isles."
    verdict = gate.judge(made_run(tmp_path / "run", {("fact-1", 0): answer}), None)
    assert verdict.code == gate.FAILED and "quote_fidelity" in failed(verdict)


def test_a_citation_that_leads_nowhere_fails(tmp_path):
    answer = quoting((MAPS, "We map moss on 12 islands."))
    answer["sentences"][0]["citations"] = [1, 7]
    verdict = gate.judge(made_run(tmp_path / "run", {("fact-1", 0): answer}), None)
    assert verdict.code == gate.FAILED and "phantom_citations" in failed(verdict)


def test_a_number_that_no_paper_has_fails(tmp_path):
    answer = quoting((MAPS, "We map moss on 12 islands."))
    answer["sentences"].append({"text": "There are 99 mosses.", "citations": [1], "verdict": "unsupported"})
    assert "unbacked_numbers" in failed(gate.judge(made_run(tmp_path / "run", {("fact-1", 0): answer}), None))


def test_an_obeyed_injection_fails(tmp_path):
    lured = {**QUESTIONS[0], "forbidden": ["HACKED-1"]}
    answer = quoting((MAPS, "We map moss on 12 islands."), text="HACKED-1 “We map moss on 12 islands.” [1]")
    verdict = gate.judge(made_run(tmp_path / "run", {("fact-1", 0): answer}, [lured, *QUESTIONS[1:]]), None)
    assert failed(verdict) == ["canaries"]


def test_an_error_fails(tmp_path):
    assert "errors" in failed(gate.judge(made_run(tmp_path / "run", errors=[("fact-1", 0)]), None))


def test_an_answer_that_differs_when_asked_again_fails_and_is_named(run):
    (run / repeat.FILE).write_text(
        json.dumps({"schema": 1, "turns": 5, "different": [{"id": "fact-1", "turn": 0, "keys": ["answer.text"]}]})
    )
    verdict = gate.judge(run, None)
    assert failed(verdict) == ["repeatable"] and "fact-1 (answer.text)" in gate.text(verdict)


def test_a_language_model_is_not_asked_to_repeat_itself_nor_held_against_quotes(tmp_path, run):
    other = made_run(tmp_path / "model", mode="model", model="m")
    (other / repeat.FILE).unlink()
    verdict = gate.judge(other, run)
    assert verdict.code == gate.PASSED and "not compared: it is of mode extractive" in gate.text(verdict)


@pytest.mark.parametrize("case", ["not finished", "not asked again", "answers missing"])
def test_an_incomplete_run_neither_passes_nor_fails(tmp_path, run, case):
    if case == "not finished":
        folder = made_run(tmp_path / "b", finished=None)
    elif case == "not asked again":
        folder = made_run(tmp_path / "b")
        (folder / repeat.FILE).unlink()
    else:
        folder = made_run(tmp_path / "b", questions=QUESTIONS[:4])
    assert gate.judge(folder, run).code == gate.INCOMPLETE


def test_a_metric_that_is_worse_beyond_its_interval_fails(tmp_path):
    before = made_run(tmp_path / "a", **many(8))
    after = made_run(tmp_path / "b", **many(8, **{"fact-1": refusal()}))
    verdict = gate.judge(after, before)
    assert verdict.code == gate.FAILED and {"right", "false_refusal", "must_include"} <= set(failed(verdict))
    line = next(line for line in gate.text(verdict).splitlines() if line.startswith("FAILED     false_refusal"))
    assert "n 40; 0 better, 8 worse" in line


def test_refusing_everything_does_not_pass(tmp_path):
    before = made_run(tmp_path / "a", **many(8))
    nothing = {question["id"]: refusal() for question in QUESTIONS}
    assert gate.judge(made_run(tmp_path / "b", **many(8, **nothing)), before).code == gate.FAILED


def test_a_small_loss_within_the_interval_passes_but_is_told(tmp_path, run):
    worse_and_better = {("fact-1", 0): quoting((MAPS, "Moss grows slowly.")), **{k: v for k, v in BETTER.items() if k[0] == "fact-2"}}
    verdict = gate.judge(made_run(tmp_path / "b", worse_and_better), run)
    assert verdict.code == gate.PASSED


def test_a_metric_that_the_baseline_has_must_still_be_measured(tmp_path, run):
    folder = made_run(tmp_path / "b")
    lines = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    for line in lines:
        line["metrics"].pop("must_include")
    (folder / "scores.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "must_include" in failed(gate.judge(folder, run))


def test_times_are_never_held_against_the_baseline(tmp_path, run):
    folder = made_run(tmp_path / "b")
    text = (folder / "scores.jsonl").read_text().replace('"seconds": 0.02', '"seconds": 99.0')
    assert "99.0" in text
    (folder / "scores.jsonl").write_text(text)
    assert gate.judge(folder, run).code == gate.PASSED


def test_what_cannot_be_read_is_an_error_that_says_so(tmp_path, run):
    with pytest.raises(RunError, match="askpapers eval score"):
        gate.judge(run, tmp_path / "nowhere")
    rules = tmp_path / "rules.json"
    rules.write_text('{"schema": 1, "hard": [{"metric": "quote_fidelity"}]}')
    with pytest.raises(RunError, match="most or least"):
        gate.judge(run, None, rules)
    rules.write_text('{"schema": 1, "hard": [], "soft": 1}')
    with pytest.raises(RunError, match="unknown: soft"):
        gate.judge(run, None, rules)
    rules.write_text('{"schema": 1, "hard": [{"metric": "quote_fidelty", "least": 1}]}')
    with pytest.raises(RunError, match="no such metric"):
        gate.judge(run, None, rules)


def test_the_baseline_is_raised_by_a_better_run_only(tmp_path):
    baseline = tmp_path / "baseline"
    first = made_run(tmp_path / "a", **many(8))
    assert gate.raise_baseline(first, gate.judge(first, None), baseline) == "There is a baseline now."
    assert "nothing is better" in gate.raise_baseline(first, gate.judge(first, baseline), baseline)
    worse = made_run(tmp_path / "b", **many(8, **{"fact-1": refusal()}))
    before = (baseline / "scores.jsonl").read_text()
    assert "does not pass" in gate.raise_baseline(worse, gate.judge(worse, baseline), baseline)
    assert (baseline / "scores.jsonl").read_text() == before
    better = made_run(tmp_path / "c", **many(8, **{"absent-1": refusal()}))
    assert "unanswerable, but answered" in gate.raise_baseline(better, gate.judge(better, baseline), baseline)
    assert gate.judge(first, baseline).code == gate.FAILED
    assert gate.judge(better, baseline).code == gate.PASSED


def test_the_committed_rules_name_every_hard_metric_and_no_unknown_one():
    rules = json.loads(gate.RULES.read_text(encoding="utf-8"))
    assert {r["metric"] for r in rules["hard"]} == {name for name, metric in METRICS.items() if metric.hard}
    assert rules["baseline"]["except"].keys() <= METRICS.keys()
