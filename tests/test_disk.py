"""A disk that fills up, a library that is read-only: each works as far as it can and says what is the matter."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
from shared import ROOT, add, made_up, opened, topic

from rag.errors import StorageFailed

PYTHONPATH = os.pathsep.join([str(ROOT), str(ROOT / "tests")])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Mounts a file system of so many kilobytes."""
    place = tmp_path / "disk"

    def mount(kilobytes: int) -> Path:
        place.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(place)], capture_output=True)
        if done.returncode:
            pytest.skip("mounting is not permitted here; the test with a file-size limit stands for this one")
        return place

    yield mount
    subprocess.run(["umount", "-l", str(place)], capture_output=True)


def fill(disk: Path) -> Path:
    with open(disk / "filler", "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 1024)
        except OSError:
            return disk / "filler"


@pytest.mark.parametrize("kilobytes", [600, 900, 1300])
def test_a_disk_that_fills_up_during_an_addition_loses_nothing(small_disk, kilobytes):
    """In the store, in the vectors or in the words, depending on the room there is."""
    disk, notices = small_disk(kilobytes), []
    with opened(disk / "library", notice=notices.append) as library:
        library.add(*(made_up(n) for n in range(40)))
        with pytest.raises(StorageFailed, match="^The disk is full: .* could not be written. Free some space"):
            library.add(*(made_up(n, 5) for n in range(100, 350)))
        assert all(library.search(topic(n), 1)[0].paper.id == f"made:{n}" for n in range(40))
        assert len(notices) <= 2  # it does not try again at every search, but says what is not searched
        if len(library) > 40:
            assert "The disk is full" in notices[1] and f"Until then 40 of {len(library)} papers are searched." in notices[1]
        filler = fill(disk)
        for use in (lambda: library.add(made_up(2000)), lambda: library.remove("made:3")):
            with pytest.raises(StorageFailed, match="^The disk is full"):
                use()
        assert library.search(topic(1), 1)[0].paper.id == "made:1"
    filler.unlink()
    subprocess.run(["mount", "-o", "remount,size=40m", str(disk)], check=True)
    with opened(disk / "library") as library:
        assert library.store.check() == [] and library.search(topic(1), 1)[0].paper.id == "made:1"
        library.add(*(made_up(n, 5) for n in range(100, 350)))
        assert len(library.search("graph", 1000)) == len(library) >= 290


def add_with_small_files(folder: Path, results: Any) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        add(folder, [made_up(n, 5) for n in range(100, 350)])
    except BaseException as error:
        results.put((type(error).__name__, str(error)))


def test_a_file_that_may_not_grow_is_a_clear_error_and_the_next_run_completes(processes, tmp_path):
    add(tmp_path, [made_up(n) for n in range(40)])
    results = processes.Queue()
    worker = processes.Process(target=add_with_small_files, args=(tmp_path, results))
    worker.start()
    kind, text = results.get(timeout=60)
    worker.join()
    assert kind == "StorageFailed" and str(tmp_path) in text
    with opened(tmp_path) as library:
        assert library.search(topic(39), 1)[0].paper == made_up(39)
        library.add(*(made_up(n, 5) for n in range(100, 350)))
        assert len(library) == 290 == len(library.search("graph", 1000)) and library.store.check() == []


READ_ONLY = """
import sys
from shared import WordEmbedder, made_up, topic
from rag import AskPapersError, Library, Settings
notices = []
with Library.open(sys.argv[1], settings=Settings(), embedder=WordEmbedder(), seeds=False, notice=notices.append) as library:
    print(library.search(topic(3), 1)[0].paper.id, len(library), notices)
    for use in (lambda: library.add(made_up(99)), lambda: library.remove("made:1"), library.rebuild):
        try:
            use()
        except AskPapersError as error:
            print(type(error).__name__, error)
"""


def test_a_read_only_library_can_be_read_and_says_that_it_cannot_be_written(tmp_path):
    add(tmp_path, [made_up(n) for n in range(10)])
    mounted = f"mount --bind '{tmp_path}' '{tmp_path}' && mount -o remount,ro,bind '{tmp_path}'"
    if subprocess.run(["unshare", "-m", "sh", "-c", mounted], capture_output=True).returncode:
        pytest.skip("a read-only mount is not permitted here")
    code = f"import subprocess, sys; subprocess.run({mounted!r}, shell=True, check=True)\n{READ_ONLY}"
    command = ["unshare", "-m", sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PYTHONPATH})
    refusal = f"StorageFailed {tmp_path} can't be written: Read-only file system."
    assert done.stdout.splitlines() == ["made:3 10 []", *[refusal] * 3], done


def test_a_folder_that_cannot_be_made_is_a_clear_error():
    with pytest.raises(StorageFailed, match="/proc/none can't be used as a library"):
        opened(Path("/proc/none"))
