"""The command line, run as people run it: in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from shared import ROOT, write_jsonl

from rag import REFUSAL, Answer, Citation, Paper, Sentence
from rag.__main__ import main
from rag.terminal import show_answer


@pytest.fixture
def run(tmp_path: Path, seeds_folder: Path):
    """Runs a command on a copy of the sample library, from another folder."""
    library = tmp_path / "library"
    shutil.copytree(seeds_folder, library)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def runner(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, "PYTHONPATH": str(ROOT), "ASKPAPERS_LIBRARY": str(library), **environment}
        return subprocess.run([sys.executable, "-m", "rag", *arguments], capture_output=True, text=True, timeout=120, cwd=elsewhere, env=variables)

    runner.library = library
    runner.folder = elsewhere
    return runner


def test_ask_prints_a_readable_answer_with_its_sources(run):
    done = run("ask", "How many environments does AgentBench have?")
    assert done.returncode == 0, done.stderr
    flat = " ".join(done.stdout.split())
    assert "8 distinct environments" in flat and "[1] AgentBench: Evaluating LLMs as Agents." in flat
    assert "https://openreview.net/forum?id=zAdUB0aCTQ" in flat
    assert "**" not in done.stdout and done.stderr == ""


def test_ask_takes_a_question_without_quotes_and_prints_json(run):
    done = run("ask", "how", "many", "environments", "does", "AgentBench", "have", "--json")
    answer = json.loads(done.stdout)
    assert answer["status"] == "answered" and answer["mode"] == "extractive"
    cited = answer["citations"][0]
    for quote in cited["quotes"]:
        assert cited["paper"]["abstract"][quote["start"] : quote["end"]] == quote["text"]


def test_a_refusal_is_the_one_sentence_and_offers_the_nearest_papers_as_no_answer(run):
    done = run("ask", "How long do I boil an egg?")
    assert done.returncode == 0 and done.stdout.startswith(REFUSAL)
    assert "Nearest papers (not an answer)" in done.stdout and "Sources" not in done.stdout


def test_search_limits_and_prints_json(run):
    hits = json.loads(run("search", "optimal transport", "--limit", "3", "--json").stdout)
    assert len(hits) == 3 and "Optimal-Transport" in hits[0]["paper"]["title"]
    assert hits[0]["score"] >= hits[1]["score"] >= hits[2]["score"] and hits[0]["passages"]


def test_add_reports_what_went_in_and_what_did_not_with_an_exit_code_of_its_own(run):
    file = write_jsonl(run.folder / "more.jsonl", [{"title": "Quokkas", "abstract": "We count quokkas on an island."}, "{broken", {"title": "No text"}])
    done = run("add", "more.jsonl")
    assert done.returncode == 3 and "1 added, 2 rejected." in done.stdout
    assert "more.jsonl, line 2" in done.stderr and "more.jsonl, line 3: it has no abstract" in done.stderr
    assert "quokkas on an island" in run("ask", "who counts quokkas?").stdout
    again = json.loads(run("add", file.name, "--json").stdout)
    assert again["added"] == [] and len(again["unchanged"]) == 1 and len(again["rejected"]) == 2


def test_remove_takes_the_id_that_list_shows_and_a_second_time_says_not_found(run):
    first = run("list").stdout.splitlines()[0].split("\t")
    assert first[0].startswith("openreview:") and first[1] == "2024" and first[2]
    assert f"Removed: {first[2]}" in run("remove", first[0]).stdout
    again = run("remove", first[0])
    assert again.returncode == 1 and "no paper with the id" in again.stderr and "Traceback" not in again.stderr
    assert len(json.loads(run("list", "--json").stdout)) == 93


def test_doctor_finds_a_sound_library_sound_and_a_damaged_one_damaged(run):
    assert run("doctor").returncode == 0
    current = (run.library / "index" / "CURRENT").read_text()
    words = next((run.library / "index" / current / "words").glob("*.term"))
    words.write_bytes(b"garbage")
    done = run("doctor")
    assert done.returncode == 4 and "BAD  index" in done.stdout and words.name in done.stdout
    findings = json.loads(run("doctor", "--rebuild", "--json").stdout)
    assert all(finding["fine"] for finding in findings)


def test_doctor_never_prints_a_key(run):
    done = run("doctor", OPENAI_API_KEY="sk-very-secret", OPENAI_BASE_URL="http://localhost:9/v1", OPENAI_MODEL="m")
    assert "m at localhost:9, with a key" in done.stdout and "sk-very-secret" not in done.stdout + done.stderr


def test_a_changed_embedder_is_refused_with_the_command_to_run(run):
    done = run("search", "anything", ASKPAPERS_EMBEDDING_MODEL="other", ASKPAPERS_EMBEDDING_BASE_URL="http://127.0.0.1:9/v1")
    assert done.returncode == 1 and "askpapers doctor --rebuild" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["frobnicate"], "invalid choice"), (["search", "x", "--limit", "0"], "must be a whole number, 1 or more"), (["ask"], "required: question")],
)
def test_wrong_usage_is_exit_code_2_with_the_reason(run, arguments, says):
    done = run(*arguments)
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr


def test_an_unknown_setting_is_named_with_the_nearest_known_one(run):
    done = run("list", ASKPAPERS_LIBARY="x")
    assert done.returncode == 1 and "ASKPAPERS_LIBARY" in done.stderr and "Did you mean ASKPAPERS_LIBRARY?" in done.stderr


def test_a_failing_model_is_a_sentence_and_the_quotes_come_instead(run):
    done = run("ask", "How many environments does AgentBench have?", OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_MODEL="m", OPENAI_API_KEY="sk-x")
    assert done.returncode == 0 and "8 distinct" in " ".join(done.stdout.split())
    assert "m at 127.0.0.1:9 can't be reached" in done.stderr and "Traceback" not in done.stderr


def test_sentences_of_a_model_that_the_abstracts_do_not_back_are_named(capsys: pytest.CaptureFixture[str]):
    paper = Paper("g", "GAIA", "GAIA has 466 questions.")
    told = (Sentence("GAIA has 466 questions.", (1,), "supported"), Sentence("The sky is green.", (), "unsupported"))
    show_answer(Answer("GAIA has 466 questions [1]. The sky is green.", "partial", told, (Citation(1, paper),), mode="m"))
    shown = capsys.readouterr().out
    assert "1 of 2 sentences backed by the cited abstracts. Not backed:" in shown and "!   The sky is green." in shown


def test_papers_cannot_steer_the_terminal(run):
    write_jsonl(run.folder / "evil.jsonl", [{"title": "Evil \x1b[31mred\x1b[0m \u202etxt", "abstract": "Zebrafish \x1b]0;owned\x07 swim in \x9b2J circles."}])
    assert run("add", "evil.jsonl").returncode == 0
    for done in (run("ask", "do zebrafish swim?"), run("search", "zebrafish"), run("list")):
        assert "Evil" in done.stdout and not set(done.stdout) & set("\x1b\x07\x9b\u202e")


def test_a_closed_pipe_is_no_error(run):
    command = f"{sys.executable} -m rag list | head -1"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "ASKPAPERS_LIBRARY": str(run.library)}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment, timeout=60)
    assert done.stdout.count("\n") == 1 and done.stderr == ""


def test_search_imports_neither_the_page_nor_llama_index(run):
    code = "import sys; from rag.__main__ import main; main(['search', 'x', '--json']); print([m for m in ('gradio', 'llama_index', 'openai') if m in sys.modules], file=sys.stderr)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "ASKPAPERS_LIBRARY": str(run.library)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)
    assert done.stderr.strip() == "[]"


def test_every_command_explains_itself(run):
    assert "examples:" in run("--help").stdout
    for command in ("chat", "ask", "search", "add", "remove", "list", "doctor"):
        done = run(command, "--help")
        assert done.returncode == 0 and "--library PATH" in done.stdout


@pytest.mark.skipif(shutil.which("unshare") is None or subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode != 0, reason="no network namespaces for this user")
def test_the_whole_journey_works_without_any_network(tmp_path: Path):
    """First use, question, search, addition and page, in a namespace that has only the loopback device."""
    script = """
set -e
ip link set lo up 2>/dev/null || true
cd "$1"; printf '{"title": "Quokkas", "abstract": "We count quokkas on an island."}\\n' > more.jsonl
"$2" -m rag ask "How many environments does AgentBench have?" > ask.txt
"$2" -m rag add more.jsonl > add.txt
"$2" -m rag search quokkas --limit 1 > search.txt
"$2" -m rag --no-browser --port 7977 > page.txt 2>&1 & page=$!
for i in $(seq 1 120); do "$2" -c "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:7977/').status)" > status.txt 2>/dev/null && break; sleep 0.25; done
kill $page
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "ASKPAPERS_LIBRARY": str(tmp_path / "library")}
    done = subprocess.run(["unshare", "-n", "bash", "-c", script, "-", str(tmp_path), sys.executable], capture_output=True, text=True, env=environment, timeout=180)
    assert done.returncode == 0, done.stderr
    assert "8 distinct environments" in " ".join((tmp_path / "ask.txt").read_text().split())
    assert "1 added" in (tmp_path / "add.txt").read_text() and "Quokkas" in (tmp_path / "search.txt").read_text()
    assert (tmp_path / "status.txt").read_text().strip() == "200", (tmp_path / "page.txt").read_text()
    assert "starting it with the sample papers" in done.stderr


def test_the_page_listens_only_here_unless_told(run):
    process = subprocess.Popen(
        [sys.executable, "-m", "rag", "--no-browser", "--port", "7978"], cwd=run.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "ASKPAPERS_LIBRARY": str(run.library)},
    )  # fmt: skip
    try:
        line = ""
        while "http://" not in line:
            line = process.stdout.readline()
            assert line, "the page ended before it said where it is"
        assert "http://127.0.0.1:7978" in line
        assert urllib.request.urlopen("http://127.0.0.1:7978/", timeout=30).status == 200
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.parametrize(
    "arguments, environment, said",
    [
        ([], {}, ""),
        (["--host", "0.0.0.0"], {}, "there is no password (--auth). Papers can't be added or removed"),
        (["--host", "0.0.0.0"], {"ASKPAPERS_AUTH": "ann:pw"}, "need the password"),
        (["--root-path", "/papers"], {}, "Whoever your proxy lets through"),
        (["--auth", "ann:pw"], {}, "stands in the list of processes"),
    ],
)
def test_the_page_says_who_can_reach_it(arguments, environment, said, monkeypatch, tmp_path, capsys):
    import ui.server

    served = {}
    monkeypatch.setattr(ui.server, "serve", lambda library, *rest: served.update(rest=rest))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert main(["chat", "--library", str(tmp_path / "l"), *arguments]) == 0
    host, port, opens, ready, login, root = served["rest"]
    ready("http://127.0.0.1:1/")
    shown = capsys.readouterr()
    assert said in shown.err and "pw" not in shown.err + shown.out
    assert login == ("ann:pw" if "pw" in str(arguments) + str(environment) else "") and root == ("/papers" if "--root-path" in arguments else "")


@pytest.mark.parametrize("login", ["ann", ":pw", "ann:"])
def test_a_password_for_the_page_has_a_user_name(login, monkeypatch, capsys):
    assert main(["--auth", login]) == 1
    assert "user:password" in capsys.readouterr().err


def test_a_password_said_before_the_command_is_not_put_away_by_it():
    from rag.__main__ import _parser

    before = _parser().parse_args(["--auth", "a:b", "--port", "7995", "chat"])
    assert (before.auth, before.port, before.host) == ("a:b", 7995, "127.0.0.1")
    assert _parser().parse_args(["chat", "--auth", "c:d"]).auth == "c:d"
