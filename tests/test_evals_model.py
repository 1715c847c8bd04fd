"""`askpapers eval run --mode model` against a scripted server: what is asked, counted and told, also when the model fails."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from model_servers import KEY, Exchange, serving
from test_evals_cli import call

QUESTIONS = [
    {"question": "How many environments does AgentBench have?", "papers": ["openreview:zAdUB0aCTQ"], "facts": [["8 distinct environments"]]},
    {"question": "How long do I boil an egg?", "papers": []},
    {"turns": [
        {"question": "What is WildChat?", "papers": ["openreview:Bl8u7ZRlbM"]},
        {"question": "How many conversations does it hold?", "papers": ["openreview:Bl8u7ZRlbM"], "facts": [["1 million"]]},
    ]},
]  # fmt: skip


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS), encoding="utf-8")
    return path


@pytest.fixture
def copied(tmp_path: Path, seeds_folder: Path) -> Path:
    return Path(shutil.copytree(seeds_folder, tmp_path / "library"))


def reader(exchange: Exchange) -> None:
    """Says what the first paper says about the question's subject, or refuses; puts follow-ups in full."""
    system, user = (message["content"] for message in exchange.body["messages"])
    if "Last question:" in user:
        exchange.stream("How many conversations does WildChat hold?", usage=(300, 9))
    elif "egg" in user.rpartition("Question:")[2]:
        exchange.stream("The abstracts in this library don't answer that.", usage=(1000, 10))
    else:
        says = "AgentBench consists of 8 distinct environments" if "AgentBench have" in user else "WildChat is a corpus of 1 million user-ChatGPT conversations"
        number = re.search(rf'<paper number="(\d+)">\nTitle: {says.split()[0]}', user)
        exchange.stream(f"{says} [{number[1]}].", usage=(1000, 20))


def run(url: str, own: Path, copied: Path, folder: Path, monkeypatch, *more: str) -> tuple[int, dict, list[dict]]:
    for name, value in (("OPENAI_MODEL", "scripted"), ("OPENAI_BASE_URL", url), ("OPENAI_API_KEY", KEY)):
        monkeypatch.setenv(name, value)
    code = call("run", "--mode", "model", "--questions", own, "--library", copied, "--out", folder, *more)
    lines = (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    return code, json.loads((folder / "summary.json").read_text(encoding="utf-8")), [json.loads(line) for line in lines]


def test_a_run_with_a_model_counts_what_it_cost_and_holds_no_key(tmp_path, own, copied, monkeypatch, capsys):
    folder = tmp_path / "run"
    with serving(reader) as server:
        code, summary, answers = run(server.url, own, copied, folder, monkeypatch)
    assert code == 0 and [a["answer"]["mode"] for a in answers] == ["scripted"] * 4 and not any(a["answer"]["notice"] for a in answers)
    assert [a["answer"]["status"] for a in answers] == ["answered", "refused", "answered", "answered"]
    assert answers[3]["answer"]["query"] == "How many conversations does WildChat hold?" and answers[3]["answer"]["usage"]["calls"] == 2
    total = {"failed": 0, "calls": 5, "prompt_tokens": 4300, "completion_tokens": 79}
    notes = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert summary["usage"] == notes["usage"] == total and (notes["mode"], notes["model"]) == ("model", "scripted")
    assert {"first_token", "model", "total"} <= summary["latency"].keys() and {"answer", "condense", "judge", "check"} <= notes["prompts"].keys()
    told = capsys.readouterr()
    assert "5 calls of the model, 4,300 tokens in and 79 out." in told.out and "4 of 4 right" in told.out
    assert KEY not in told.out + told.err + "".join(path.read_text(encoding="utf-8") for path in folder.iterdir())


def test_a_run_whose_model_fails_says_so_loudly(tmp_path, own, copied, monkeypatch, capsys):
    with serving(lambda exchange: exchange.reply(401, {"error": {"message": f"bad key {KEY}"}})) as server:
        code, summary, answers = run(server.url, own, copied, tmp_path / "run", monkeypatch)
    assert code == 0 and summary["usage"]["failed"] == 4 and {a["answer"]["mode"] for a in answers} == {"extractive"}
    told = capsys.readouterr().out
    assert "4 of 4 answers are quotes, because the model failed. Most often: scripted at 127.0.0.1" in told and "refused the key. Check OPENAI_API_KEY." in told
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "4 of 4 answers are quotes, because the model failed" in page and KEY not in page + told


def test_without_quotes_instead_each_failure_is_an_error_and_can_be_asked_again(tmp_path, own, copied, monkeypatch):
    monkeypatch.setenv("ASKPAPERS_QUOTE_WHEN_MODEL_FAILS", "no")
    failing = [True]

    def script(exchange: Exchange) -> None:
        exchange.reply(500, {"error": {"message": "oops"}}) if failing else reader(exchange)

    with serving(script) as server:
        _, summary, answers = run(server.url, own, copied, tmp_path / "run", monkeypatch)
        assert summary["counts"]["errors"] == 4 and all("ModelFailed: scripted at" in a["error"] for a in answers)
        failing.clear()
        _, summary, answers = run(server.url, own, copied, tmp_path / "run", monkeypatch, "--resume")
    assert summary["counts"]["errors"] == 0 and summary["usage"]["calls"] == 5 and len(answers) == 4


def test_a_model_run_without_a_model_says_what_to_set(tmp_path, own, copied, capsys):
    assert call("run", "--mode", "model", "--questions", own, "--library", copied, "--out", tmp_path / "run") == 2
    assert "set or unset OPENAI_MODEL" in capsys.readouterr().err
