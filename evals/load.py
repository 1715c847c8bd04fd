"""Many people on one chat page: how long they wait for first words, what fails, and what the server's memory does.

Starts a server of its own in another process and speaks to it as browsers do, cookie and stream included. Measures the page, not the
network and not a browser. Never changes the library it is given: it works on a copy.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, Sequence

import httpx
import numpy as np

from rag import Library, Settings
from rag.store import FILE

PEOPLE, QUESTIONS_EACH = 50, 5
QUESTIONS_IN_ALL = 1_000
READING = 5.0
"""Seconds that a person looks at an answer before the next question."""
_ANSWERS_WITHIN = 60.0
_ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Asked:
    """Seconds until the first words and until the whole answer, of every question that was answered; and what went wrong with others."""

    first: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def measure(papers: Path, library: Path | None, questions: Sequence[str], say: Any) -> None:
    """`library`: an existing library to ask (a copy of it), else one that is made of `papers`. `say(what, *figures)` reports."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place, _served(Path(place) / "library", papers, library) as (address, process, size):
        asyncio.run(_person(address, questions[:3], Asked()))  # everything is imported and read once
        before = _memory(process)
        for pause in (0.0, READING):
            asked, took = _timed(_all_at_once(address, questions, pause))
            _report(say, f"{size:,} papers, {PEOPLE} people, {QUESTIONS_EACH} questions each, {f'reading {pause:.0f} s' if pause else 'no pause'}", asked, took)
        after = _memory(process)
        say("memory of the server", f"{before:.0f} MB before", f"{after:.0f} MB after")
        marks, asked = [after], Asked()
        while len(asked.whole) + len(asked.failures) < QUESTIONS_IN_ALL:
            asyncio.run(_some(address, questions, asked, 100, len(marks)))
            marks.append(_memory(process))
        say(f"{QUESTIONS_IN_ALL:,} questions more", f"{len(asked.failures)} failures", "memory after each 100: " + " ".join(f"{mark:.0f}" for mark in marks) + " MB")
        half = len(marks) // 2  # by then everything that is kept once is kept
        say("growth over the second half", f"{(marks[-1] - marks[half]) * 1000 / (100 * (len(marks) - 1 - half)):.1f} kB a question")


def _report(say: Any, what: str, asked: Asked, took: float) -> None:
    (first50, first95), (whole50, whole95) = (np.percentile(times or [float("nan")], [50, 95]) for times in (asked.first, asked.whole))
    say(what, f"{len(asked.failures)} failures of {len(asked.whole) + len(asked.failures)}", f"{len(asked.whole) / took:.1f} answers a second")
    say("first words", f"p50 {first50:.2f} s", f"p95 {first95:.2f} s")
    say("whole answer", f"p50 {whole50:.2f} s", f"p95 {whole95:.2f} s")
    for why in sorted(set(asked.failures))[:5]:
        say("failure", why)


def _timed(work: Any) -> tuple[Asked, float]:
    started = time.perf_counter()
    return asyncio.run(work), time.perf_counter() - started


async def _all_at_once(address: str, questions: Sequence[str], pause: float) -> Asked:
    """Without a pause everybody asks in the same moment and again as soon as the answer is there, which is the worst that can be;
    with one they come within it and read for that long."""
    asked = Asked()
    shares = [[questions[(person * QUESTIONS_EACH + n) % len(questions)] for n in range(QUESTIONS_EACH)] for person in range(PEOPLE)]
    await asyncio.gather(*(_person(address, share, asked, pause, pause * n / PEOPLE) for n, share in enumerate(shares)))
    return asked


async def _some(address: str, questions: Sequence[str], asked: Asked, count: int, start: int) -> None:
    """`count` more questions, by ten new people, not faster than one address may ask."""
    shares = [[questions[(start * count + person * count // 10 + n) % len(questions)] for n in range(count // 10)] for person in range(10)]
    await asyncio.gather(*(_person(address, share, asked, pause=1.0) for share in shares))


async def _person(address: str, questions: Sequence[str], asked: Asked, pause: float = 0.0, delay: float = 0.0) -> None:
    """Opens the page after a delay and asks one question after the other, in one conversation."""
    await asyncio.sleep(delay)
    async with httpx.AsyncClient(base_url=address, timeout=_ANSWERS_WITHIN, trust_env=False) as client:
        try:
            await client.get("/")
            functions = (await client.get("config")).json()["dependencies"]
        except (httpx.HTTPError, ValueError, KeyError) as error:
            asked.failures.append(f"the page did not open: {type(error).__name__}")
            return
        function = next(f["id"] for f in functions if any(target[1] == "submit" for target in f["targets"]))
        talk, session = None, os.urandom(8).hex()
        for question in questions:
            try:
                talk = await _question(client, function, session, question, talk, asked)
            except (httpx.HTTPError, ValueError) as error:
                asked.failures.append(f"{type(error).__name__} {str(error)[:80]}")
            await asyncio.sleep(pause)


async def _question(client: httpx.AsyncClient, function: int, session: str, question: str, talk: str | None, asked: Asked) -> str | None:
    started, first, final = time.perf_counter(), 0.0, ""
    sent = {"data": [question, json.dumps({"run": session, "talk": talk})], "fn_index": function, "session_hash": session}
    (await client.post("gradio_api/queue/join", json=sent)).raise_for_status()
    async with client.stream("GET", "gradio_api/queue/data", params={"session_hash": session}) as stream:
        async for line in stream.aiter_lines():
            if not first and 'class=\\"answer' in line:
                first = time.perf_counter() - started
            if "-sources" in line or "data-number" in line:
                final = line
            if '"process_completed"' in line:
                break
    if not final or not first:
        asked.failures.append("no answer came" if not final else "the answer had no words")
        return talk
    asked.first.append(first)
    asked.whole.append(time.perf_counter() - started)
    found = json.loads(final.removeprefix("data: "))
    return _found(found, "talk")


def _found(data: Any, key: str) -> str | None:
    """The value of `key`, however deep; in a change that Gradio sends instead of a whole value it follows the path."""
    if isinstance(data, dict):
        return data[key] if isinstance(data.get(key), str) else next((f for v in data.values() if (f := _found(v, key))), None)
    if isinstance(data, list):
        if len(data) == 3 and isinstance(data[1], list) and key in data[1] and isinstance(data[2], str):
            return data[2]
        return next((f for v in data if (f := _found(v, key))), None)
    return None


@contextmanager
def _served(folder: Path, papers: Path, library: Path | None) -> Iterator[tuple[str, subprocess.Popen, int]]:
    if library:
        folder.mkdir()
        shutil.copyfile(library / FILE, folder / FILE)
    with Library.open(folder, settings=Settings(), seeds=False) as opened:
        if not library:
            opened.add(papers)
        opened.search("warm")
        size = len(opened)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "ASKPAPERS_"))} | {"PYTHONPATH": str(_ROOT)}
    command = [sys.executable, "-m", "rag", "--library", str(folder), "--no-browser"]
    process = subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        line = process.stdout.readline() if process.stdout else ""
        address = next((word for word in line.split() if word.startswith("http://")), "")
        if not address:
            raise RuntimeError("the page was not served")
        yield address, process, size
    finally:
        process.terminate()
        process.wait(20)


def _memory(process: subprocess.Popen) -> float:
    """Resident megabytes of the server, where the system tells."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024
