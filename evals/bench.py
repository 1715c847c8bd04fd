"""Speed, memory and size, as ratios to a floor taken in the same run: `python -m evals.bench [WHAT …] [--papers PATH]`.

    search    a search against embedding the question and one Chroma query
    add       adding papers against the embedding model's own time; then 1 and 100 papers more; memory; index size
    process   `askpapers search` and `ask` as whole processes against importing what they need; the first page; reopening
    load      many people on one chat page: failures, first words, memory (--library: a library to copy, instead of making one)
    quality   the right paper first, on questions of both halves, against vectors and words in a fixed weighted sum

Absolute times depend on the machine and its other work; the ratios mostly don't. Never run by the tests.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Callable, Sequence

import numpy as np

from rag import Library, Settings
from rag.embedding import BundledEmbedder
from rag.library import SEEDS
from rag.readers import read
from rag.papers import Paper
from rag.retrieve import NEIGHBOURS

from . import quality

QUESTIONS = Path(__file__).parent / "questions" / "seeds.jsonl"
ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[*_BENCHES, []], help="default: all but load and quality")
    parser.add_argument("--papers", type=Path, default=SEEDS, help="file or folder of papers (default: the seeds)")
    parser.add_argument("--library", type=Path, help="for load: ask a copy of this library")
    parser.add_argument("--runs", type=int, default=5, help="runs of each whole process (default: 5)")
    options = parser.parse_args()
    for what in options.what or ["search", "add", "process"]:
        print(f"\n{what}", flush=True)
        _BENCHES[what](options)
    return 0


class TimedEmbedder(BundledEmbedder):
    """The bundled model, adding up its own seconds: one text at a time, so that they can be told from the others."""

    at_once = 1
    seconds = 0.0

    def embed_parts(self, text, parts):
        started = time.perf_counter()
        try:
            return super().embed_parts(text, parts)
        finally:
            self.seconds += time.perf_counter() - started


def bench_add(options: argparse.Namespace) -> None:
    papers = [p for p in read(options.papers) if isinstance(p, Paper)]
    with tempfile.TemporaryDirectory() as place:
        embedder = TimedEmbedder()
        embedder.embed(["warm"])
        _import("chromadb", "tantivy")
        started, embedder.seconds = time.perf_counter(), 0.0
        library = Library.open(Path(place) / "library", settings=Settings(), embedder=embedder, seeds=False)
        report = library.add(*papers)
        took, model = time.perf_counter() - started, embedder.seconds
        n = len(report.added)
        _say(f"{n:,} papers", f"{took:.1f} s", f"model {model:.1f} s", f"ratio {took / model:.3f}", f"own cost {(took - model) / n * 1000:.2f} ms a paper")
        _say("peak memory", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
        passages = library.index.current().manifest.passages
        size = sum(f.stat().st_size for f in (library.folder / "index" / library.index.current().folder.name).rglob("*") if f.is_file())
        store = (library.folder / "papers.sqlite").stat().st_size
        _say("index folder", f"{size / 1e6:.1f} MB", f"{size / passages / 1000:.2f} kB a passage of {passages:,}", f"store {store / n / 1000:.1f} kB a paper")
        for count in (1, 100):
            more = [Paper(f"more:{count}-{i}", f"{p.title}, revisited", p.abstract + f" Revisited {count}.") for i, p in enumerate(papers[:count])]
            started, embedder.seconds = time.perf_counter(), 0.0
            library.add(*more)
            took, model = time.perf_counter() - started, embedder.seconds
            _say(f"{len(more)} more", f"{took:.2f} s", f"model {model:.2f} s", f"ratio {took / model:.2f}", f"own {took - model:.3f} s")
        library.close()
        started = time.perf_counter()
        with Library.open(Path(place) / "library", settings=Settings(), embedder=embedder) as library:
            opened = time.perf_counter() - started
            library.search("a first question")
            _say("reopening", f"{opened:.3f} s", f"with a first search {time.perf_counter() - started:.3f} s")
            _search(library, embedder)


def bench_search(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as place:
        embedder = BundledEmbedder()
        with Library.open(Path(place), settings=Settings(), embedder=embedder, seeds=False) as library:
            library.add(options.papers)
            _search(library, embedder)


def _search(library: Library, embedder: BundledEmbedder) -> None:
    questions = [q["question"] for q in _questions() if "question" in q and len(q["question"]) < 400][:300]
    vectors = library.index.current().vectors

    def floor(question: str, neighbours: int) -> None:
        vectors.search(embedder.embed([question])[0], neighbours)

    kinds: dict[str, Callable[[str], object]] = {
        "search": library.search,
        f"floor, {NEIGHBOURS} neighbours": lambda q: floor(q, NEIGHBOURS),
        "floor, 10 neighbours": lambda q: floor(q, 10),
        "ask": library.ask,
    }
    for run in kinds.values():
        run(questions[0])
    times = {name: [] for name in kinds}
    for question in questions:
        for name, run in kinds.items():
            started = time.perf_counter()
            run(question)
            times[name].append(time.perf_counter() - started)
    base = {p: np.percentile(times[f"floor, {NEIGHBOURS} neighbours"], p) for p in (50, 95)}
    for name, values in times.items():
        p50, p95 = np.percentile(values, [50, 95])
        _say(f"{len(library):,} papers, {name}", f"p50 {p50 * 1000:.1f} ms", f"p95 {p95 * 1000:.1f} ms", f"ratio {p50 / base[50]:.2f} / {p95 / base[95]:.2f}")


def bench_process(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as place:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "ASKPAPERS_LIBRARY": str(Path(place) / "library")}
        environment = {k: v for k, v in environment.items() if not k.startswith("OPENAI_")}
        took = _first_page(environment, place)
        _say("first command to a usable page, new library", f"{took:.1f} s")
        cases = {
            "search": (["-m", "rag", "search", "federated learning"], "import numpy, onnxruntime, tokenizers, chromadb, tantivy, filelock, sqlite3"),
            "ask": (["-m", "rag", "ask", "what is federated learning?"], "import chromadb, llama_index.core, onnxruntime"),
        }
        for name, (command, imports) in cases.items():
            ours, theirs = [], []
            for _ in range(options.runs):
                ours.append(_run(command, environment, place))
                theirs.append(_run(["-c", imports], environment, place))
            _say(f"askpapers {name}, whole process", f"{np.median(ours):.2f} s", f"imports {np.median(theirs):.2f} s", f"ratio {np.median(ours) / np.median(theirs):.2f}")


def bench_quality(options: argparse.Namespace) -> None:
    papers = [p for p in read(options.papers) if isinstance(p, Paper)]
    embedder = BundledEmbedder()
    with tempfile.TemporaryDirectory() as place, Library.open(Path(place), settings=Settings(), embedder=embedder, seeds=False) as library:
        library.add(*papers)
        questions = [q for q in _questions() if q["kind"] in quality.KINDS]
        for line in quality.compare(library, embedder, questions):
            print("  " + line, flush=True)


def bench_load(options: argparse.Namespace) -> None:
    from . import load

    questions = [q["question"] for q in _questions() if "question" in q and 10 < len(q["question"]) < 400]
    load.measure(options.papers, options.library, questions, _say)


def _first_page(environment: dict[str, str], place: str) -> float:
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "rag", "--no-browser", "--port", "7999"], env=environment, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while time.perf_counter() - started < 120:
            try:
                with urllib.request.urlopen("http://127.0.0.1:7999/", timeout=2) as page:
                    if page.status == 200:
                        return time.perf_counter() - started
            except OSError:
                time.sleep(0.05)
        return float("nan")
    finally:
        process.terminate()
        process.wait()


def _run(command: Sequence[str], environment: dict[str, str], place: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *command], env=environment, cwd=place, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def _questions() -> list[dict]:
    return [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]


def _import(*names: str) -> None:
    for name in names:
        __import__(name)


def _say(what: str, *figures: str) -> None:
    print(f"  {what:44}" + "   ".join(figures), flush=True)


_BENCHES = {"search": bench_search, "add": bench_add, "process": bench_process, "load": bench_load, "quality": bench_quality}

if __name__ == "__main__":
    sys.exit(main())
