"""Processes that are killed, and several at once. (Full disks are in test_disk, damaged files in test_damage.)

After each kill the library opens, answers from everything that was stored, and doing the same again completes it.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import sys
import threading
import time
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Callable

import pytest
from shared import SEEDS, WordEmbedder, add, files_of, made_up, opened, remove, topic

from rag import Library, Settings
from rag.errors import LibraryBusy
from rag.papers import Paper

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses signals")


def everything(library: Library) -> tuple[Any, ...]:
    """Papers, and what some searches over all of them give, with scores."""
    queries = [topic(3), topic(700), "graph policy of a kernel", "market"]
    found = [sorted((hit.paper.id, round(hit.score, 4)) for hit in library.search(query, len(library))) for query in queries]
    return sorted(library.papers(), key=lambda p: p.id), found


# Kills


def rebuild(folder: Path) -> None:
    with opened(folder, check=False) as library:
        library.rebuild()


def killed(process: BaseProcess, when: Callable[[], bool]) -> bool:
    """Kills the process at the moment when `when()` is true; whether it was still at work then."""
    process.start()
    while process.is_alive() and not when():
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL) if process.is_alive() else None
    process.join()
    return process.exitcode == -signal.SIGKILL


def test_additions_killed_twenty_times_lose_nothing_and_end_as_a_clean_run_does(processes, base, tmp_path):
    """Each addition begins with what the one before was killed in. Chroma's second flush, at 2,000 passages, falls among them."""
    folder, rng, kills, stored = tmp_path / "killed", random.Random(11), 0, {f"made:{n}" for n in range(600)}
    notices: list[str] = []
    shutil.copytree(base, folder)
    for last in range(615, 915, 15):
        batch = [made_up(n) for n in range(600, last)]
        moment = time.monotonic() + rng.uniform(0.05, 0.5)
        kills += killed(processes.Process(target=add, args=(folder, batch)), lambda moment=moment: time.monotonic() > moment)
        with opened(folder, notice=notices.append) as library:
            before, stored = stored, {paper.id for paper in library.papers()}
            assert stored >= before
            for number in (0, rng.randrange(600), *sorted(int(i[5:]) for i in stored)[-2:]):
                assert library.search(topic(number), 1)[0].paper == made_up(number, 5 if number < 600 else 2)
    assert kills >= 5 and not [notice for notice in notices if "Building" in notice]  # never more than completed
    with opened(folder) as library, opened(tmp_path / "clean") as clean:
        report = library.add(*batch)
        assert len(library) == 900 and len(report.added) + len(report.unchanged) == 300 and not report.updated
        clean.add(*library.papers())
        assert everything(library) == everything(clean) and library.store.check() == []
        passages = [f"{stamp}-{n}" for stamp, count in library.store.passage_counts().items() for n in range(count)]
        assert len(passages) == 2100 and library.index.current().vectors.missing(passages) == []


def half_a_write(database: Path) -> None:
    """Ends in the midst of a transaction that has already reached the file."""
    db = sqlite3.connect(database, isolation_level=None)
    db.executescript("PRAGMA cache_size=1; BEGIN; CREATE TABLE filler (text TEXT)")
    for _ in range(500):
        db.execute("INSERT INTO filler VALUES (?)", ("filler" * 100,))
    os._exit(0)


def test_what_a_killed_process_left_half_written_in_chromas_database_is_undone_not_rebuilt(processes, tmp_path):
    folder, notices = tmp_path / "with # and % in its name", []
    add(folder, [made_up(n) for n in range(20)])
    database = folder / "index" / (folder / "index" / "CURRENT").read_text() / "vectors" / "chroma.sqlite3"
    process = processes.Process(target=half_a_write, args=(database,))
    process.start()
    process.join()
    assert database.with_name("chroma.sqlite3-journal").exists()
    with opened(folder, notice=notices.append) as library:
        assert library.search(topic(3), 1)[0].paper == made_up(3)
    assert notices == []


def test_rebuilds_killed_while_chroma_flushes_leave_the_library_as_it_was(processes, base, tmp_path):
    folder = tmp_path / "killed"
    shutil.copytree(base, folder)
    add(folder, [made_up(n, 5) for n in range(600, 750)])
    with opened(folder) as library:
        before = everything(library)
    published, hit = (folder / "index" / "CURRENT").read_text(), 0
    for _ in range(2):
        sizes: dict[Path, tuple[int, int]] = {}

        def flushing(sizes: dict[Path, tuple[int, int]] = sizes) -> bool:
            """Whether a graph file of the unpublished generation has just changed, once there are vectors in it to lose."""
            for path in folder.glob("index/*/vectors/*/data_level0.bin"):
                if published in str(path) or not (path.parent / "index_metadata.pickle").exists():
                    continue
                state = path.stat()
                now = (state.st_size, state.st_mtime_ns)
                if sizes.setdefault(path, now) != now:
                    return True
            return False

        hit += killed(processes.Process(target=rebuild, args=(folder,)), flushing)
        if (folder / "index" / "CURRENT").read_text() != published:
            break  # it was faster than we
        notices: list[str] = []
        with opened(folder, notice=notices.append) as library:
            assert everything(library) == before and notices == []
    assert hit >= 1
    with opened(folder) as library:
        library.rebuild()
        assert everything(library)[0] == before[0] and library.search(topic(700), 1)[0].paper.id == "made:700"
        assert len([path for path in (folder / "index").iterdir() if path.is_dir()]) <= 2


def test_removals_killed_at_any_moment_are_complete_or_were_not_begun(processes, tmp_path):
    folder, rng = tmp_path / "killed", random.Random(2)
    add(folder, [made_up(n, 5) for n in range(60)])
    for number in range(6):
        moment = time.monotonic() + rng.uniform(0.05, 0.4)
        killed(processes.Process(target=remove, args=(folder, [f"made:{number}"])), lambda moment=moment: time.monotonic() > moment)
        with opened(folder) as library:
            library.search("graph")
            if any(paper.id == f"made:{number}" for paper in library.papers()):
                assert library.search(topic(number), 1)[0].paper.id == f"made:{number}"
                library.remove(f"made:{number}")
            assert len(library) == 59 - number
        assert [path for path in files_of(folder) if topic(number).encode() in path.read_bytes()] == []


# Several processes


class SlowEmbedder(WordEmbedder):
    """Tells that it is embedding, and waits for leave to go on."""

    def __init__(self, folder: Path):
        super().__init__()
        self.folder = folder

    def embed_parts(self, text, parts):
        (self.folder / "embedding").touch()
        while not (self.folder / "go on").exists():
            time.sleep(0.01)
        return super().embed_parts(text, parts)


def add_slowly(folder: Path, place: Path, papers: list[Paper]) -> None:
    with opened(folder, embedder=SlowEmbedder(place)) as library:
        library.add(*papers)


def test_of_two_processes_that_add_at_once_one_waits_or_is_refused_by_name(processes, tmp_path):
    folder = tmp_path / "library"
    first = processes.Process(target=add_slowly, args=(folder, tmp_path, [made_up(n) for n in range(40)]))
    first.start()
    while not (tmp_path / "embedding").exists():
        assert first.is_alive()
        time.sleep(0.01)
    with opened(folder, settings=Settings(lock_wait=0.1)) as library:
        with pytest.raises(LibraryBusy, match=rf"is being written by process {first.pid} on .*Try again when it has finished"):
            library.add(made_up(50))
    with opened(folder, settings=Settings(lock_wait=30)) as library:
        threading.Timer(0.3, (tmp_path / "go on").touch).start()
        assert library.add(*(made_up(n) for n in range(30, 60))).added == tuple(f"made:{n}" for n in range(40, 60))
        first.join()
        assert first.exitcode == 0 and len(library) == 60
        assert all(library.search(topic(n), 1)[0].paper.id == f"made:{n}" for n in (0, 39, 40, 59))


def open_fresh(folder: Path, barrier: Any, results: Any) -> None:
    barrier.wait()
    try:
        with opened(folder, seeds=True) as library:
            results.put((len(library), len(library.search("language models", 94))))
    except BaseException as error:
        results.put(repr(error))


def test_four_processes_that_open_a_fresh_folder_at_once_all_get_the_94_papers(processes, tmp_path):
    barrier, results = processes.Barrier(4), processes.Queue()
    workers = [processes.Process(target=open_fresh, args=(tmp_path / "fresh", barrier, results)) for _ in range(4)]
    for worker in workers:
        worker.start()
    assert [results.get(timeout=60) for _ in workers] == [(94, 94)] * 4
    for worker in workers:
        worker.join()
    with opened(tmp_path / "fresh") as library:
        assert len(library.add(SEEDS).unchanged) == 95 and library.store.check() == []


def add_one_by_one(folder: Path) -> None:
    with opened(folder, settings=Settings(lock_wait=30)) as library:
        for number in range(100, 106):
            library.add(made_up(number))
        library.remove("made:103")


def test_searches_never_fail_while_another_process_adds_and_removes(processes, tmp_path):
    with opened(tmp_path) as library:
        library.add(*(made_up(n) for n in range(20)))
        writer = processes.Process(target=add_one_by_one, args=(tmp_path,))
        writer.start()
        asked = 0
        while writer.is_alive() or asked < 50:
            assert library.search(topic(asked % 20), 1)[0].paper.id == f"made:{asked % 20}"
            asked += 1
        assert len(library) == 25 and library.search(topic(105), 1)[0].paper.id == "made:105"
