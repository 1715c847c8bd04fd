"""`askpapers eval …`: what is printed, what is written, and the exit codes; then a small run from end to end over the sample papers."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import pytest
from made_run import SALT, TUNE, made_run, quoting

from evals import cli, repeat, samples
from evals.questions import load
from evals.runner import run as run_questions
from rag import Settings
from rag.store import FILE

BETTER = {("fact-2", 0): quoting((TUNE, "We tune a lute with 24 strings.")), ("fact-3", 0): quoting((SALT, "We ask 30 guests."))}
ASKED = [
    {
        "question": "How many environments does AgentBench have?",
        "papers": ["openreview:zAdUB0aCTQ"],
        "facts": [["8 distinct environments"]],
    },
    {"question": "How long do I boil an egg?", "papers": []},
    {"question": "Which LLMs were tested with AgentBench, and how many?", "papers": ["openreview:zAdUB0aCTQ"]},
]


def call(*arguments: object) -> int:
    """As the command line does it, exit codes of wrong usage included."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--library", default=argparse.SUPPRESS)
    parser = argparse.ArgumentParser(prog="askpapers")
    cli.add_parser(parser.add_subparsers(), common)
    try:
        options = parser.parse_args(["eval", *map(str, arguments)])
    except SystemExit as stopped:
        return int(stopped.code or 0)
    return options.run(options)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(question) + "\n" for question in ASKED), encoding="utf-8")
    return path


@pytest.fixture
def copied(tmp_path: Path, seeds_folder: Path) -> Path:
    return Path(shutil.copytree(seeds_folder, tmp_path / "library"))


def test_report_writes_the_page_and_prints_the_same(tmp_path, capsys):
    run = made_run(tmp_path / "run")
    assert call("report", run) == 0
    told = capsys.readouterr().out
    assert (run / "report.html").exists() and "Answers that are right" in told and f"Report: {run / 'report.html'}" in told


def test_compare_prints_text_or_json(tmp_path, capsys):
    a, b = made_run(tmp_path / "a"), made_run(tmp_path / "b", BETTER)
    assert call("compare", a, b) == 0 and "Got better: 2 of 7 answers" in capsys.readouterr().out
    assert call("compare", a, b, "--json") == 0 and json.loads(capsys.readouterr().out)["pairs"] == 7


def test_the_exit_codes_of_the_gate_are_distinct(tmp_path, capsys):
    run = made_run(tmp_path / "run")
    assert call("gate", run, "--baseline", run) == 0
    assert call("gate", made_run(tmp_path / "broken", errors=[("fact-1", 0)]), "--baseline", "none") == 1
    assert call("gate", tmp_path / "nowhere", "--baseline", "none") == 2
    assert call("gate", made_run(tmp_path / "half", finished=None), "--baseline", "none") == 3
    assert "askpapers eval score" in capsys.readouterr().err


def test_the_first_baseline_is_made_by_a_run_that_passes(tmp_path, capsys):
    run, place = made_run(tmp_path / "run"), tmp_path / "baseline"
    assert call("gate", run, "--baseline", place) == 2
    assert call("gate", run, "--baseline", place, "--raise") == 0 and "There is a baseline now." in capsys.readouterr().out
    assert sorted(path.name for path in place.iterdir()) == ["scores.jsonl", "summary.json"]
    assert call("gate", run, "--baseline", place, "--json") == 0 and json.loads(capsys.readouterr().out)["code"] == 0


def test_score_can_be_done_again(tmp_path, capsys):
    run = made_run(tmp_path / "run")
    before = (run / "scores.jsonl").read_bytes()
    (run / "scores.jsonl").unlink()
    assert call("score", run) == 0 and "4 of 7 right" in capsys.readouterr().out
    assert (run / "scores.jsonl").read_bytes() == before


def test_a_judge_needs_a_model(tmp_path, capsys):
    assert call("score", made_run(tmp_path / "run"), "--judge") == 2 and "OPENAI_MODEL" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [[], ["frobnicate"], ["run", "--limit", "0"], ["run", "--mode", "magic"], ["compare", "a"], ["run", "--resume"]]
)
def test_wrong_usage_is_2(arguments, capsys):
    assert call(*arguments) == 2
    assert capsys.readouterr().err


def test_validate_names_what_is_wrong_by_file_and_line(tmp_path, copied, own, capsys):
    assert call("validate", "--questions", own, "--library", copied) == 0 and "3 questions in 3 turns" in capsys.readouterr().out
    own.write_text(json.dumps({"question": "Who?", "papers": ["p:none"]}) + "\n")
    assert call("validate", "--questions", own, "--library", copied) == 2
    assert "mine.jsonl:1: there is no paper 'p:none'" in capsys.readouterr().err
    own.write_text("{broken\n")
    assert call("run", "--questions", own, "--library", copied) == 2 and "mine.jsonl:1" in capsys.readouterr().err


def test_questions_that_do_not_fit_the_library_are_not_run(tmp_path, copied, own, capsys):
    own.write_text(json.dumps({"question": "Who?", "papers": ["p:none"]}) + "\n")
    assert call("run", "--questions", own, "--library", copied, "--out", tmp_path / "run") == 2
    assert not (tmp_path / "run").exists() and "1 thing is wrong" in capsys.readouterr().err


def test_a_run_of_own_questions_is_asked_asked_again_scored_reported_and_passes(tmp_path, copied, own, capsys, monkeypatch):
    folder = tmp_path / "run"
    assert call("run", "--questions", own, "--library", copied, "--out", folder) == 0
    told = capsys.readouterr()
    assert "Answers that are right" in told.out and f"Run: {folder}" in told.out
    names = {path.name for path in folder.iterdir()}
    assert {
        "manifest.json",
        "questions.jsonl",
        "answers.jsonl",
        "papers.jsonl",
        "scores.jsonl",
        "summary.json",
        "run.trec",
        "repeat.json",
        "report.html",
    } <= names
    assert json.loads((folder / "repeat.json").read_text()) == {"schema": 1, "turns": 3, "different": []}
    assert call("gate", folder, "--baseline", "none") == 0
    monkeypatch.setattr(repeat, "check", lambda *_: None)
    assert call("run", "--questions", own, "--library", copied, "--out", folder) == 2  # a run is never written over
    assert call("run", "--questions", own, "--library", copied, "--out", folder, "--resume", "--json") == 0
    assert str(copied) not in "".join(path.read_text() for path in folder.iterdir() if path.name != "report.html")


def test_a_model_in_the_environment_is_not_asked_in_extractive_mode(tmp_path, copied, own, monkeypatch):
    monkeypatch.setattr(repeat, "check", lambda *_: None)
    monkeypatch.setenv("OPENAI_MODEL", "m")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert call("run", "--questions", own, "--library", copied, "--out", tmp_path / "run", "--limit", "1") == 0
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["model"] == "extractive"


def test_an_answer_that_changed_is_found_when_asked_again(tmp_path, seeds, own):
    folder = run_questions(seeds, load(own), tmp_path / "run")
    assert repeat.again(folder, seeds) == {"schema": 1, "turns": 3, "different": []}
    path = folder / "answers.jsonl"
    path.write_text(path.read_text().replace("8 distinct environments", "9 distinct environments"))
    found = repeat.again(folder, seeds)
    assert [(d["id"], d["turn"]) for d in found["different"]][0] == ("q001", 0) and "answer.text" in found["different"][0]["keys"]


def test_the_sample_library_takes_kept_vectors_and_goes_away(tmp_path, seeds_folder):
    kept = tmp_path / f"samples-{samples._hash()}.sqlite"
    shutil.copyfile(seeds_folder / FILE, kept)
    with samples.sample_library(Settings(), cache=tmp_path) as library:
        folder = library.folder
        assert len(library) == 94 and library.search("AgentBench", 1)
    assert not folder.exists()


def test_a_damaged_cache_is_dropped(tmp_path):
    kept = tmp_path / "samples-x.sqlite"
    kept.write_bytes(b"not a database" * 1000)
    assert samples._from(kept, tmp_path / "library", Settings(), lambda *_: None) is None
    assert not kept.exists() and not (tmp_path / "library").exists()


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, open_library):
    library = open_library()
    library.add(TUNE)
    (tmp_path / "file").write_text("")
    samples._keep(library.folder / FILE, tmp_path / "file" / "samples-x.sqlite")
    samples._keep(library.folder / FILE, tmp_path / "new" / "samples-y.sqlite")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["samples-y.sqlite"]


def test_the_template_of_questions_can_be_loaded():
    assert load(Path(cli.__file__).parent / "questions" / "template.jsonl")
