"""Damaged files: an index is rebuilt with a notice, the papers' own file is a clear error, and nothing is left out in silence."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from shared import WordEmbedder, add, files_of, made_up, opened, topic

from rag.errors import AskPapersError, LibraryDamaged
from rag.generations import Generation, Unusable
from rag.passages import stamp


def damage(path: Path, how: str) -> None:
    data, rng = path.read_bytes(), random.Random(7)
    if how == "deleted":
        path.unlink()
    elif how == "emptied":
        path.write_bytes(b"")
    elif how == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif how == "garbage":
        path.write_bytes(rng.randbytes(max(len(data), 50)))
    elif how == "garbled":
        changed = bytearray(data)
        for start in range(len(data) % 1500 // 2, len(data), 1500):
            changed[start] ^= rng.randrange(1, 256)
        path.write_bytes(changed)


@pytest.fixture(scope="module", params=["below", "above"])
def sized(request, base, tmp_path_factory) -> Path:
    """A library below and one above 1,000 passages, the latter with vectors in Chroma's graph files and in its queue."""
    folder = tmp_path_factory.mktemp(request.param) / "library"
    if request.param == "above":
        shutil.copytree(base, folder)
    add(folder, [made_up(n, 5) for n in range(600, 640)])
    return folder


def neighbours(generation: Generation) -> list[Any]:
    """What the vectors of some whole papers find: themselves."""
    papers = [made_up(n, 5) for n in (600, 601, 620, 639)]
    vectors = WordEmbedder().embed([f"{paper.title}. {paper.abstract}" for paper in papers])
    return [generation.vectors.search(vector, 1)[0].passage_id for vector in vectors]


@pytest.mark.parametrize("how", ["deleted", "emptied", "truncated", "garbage", "garbled"])
def test_no_damaged_file_of_an_index_is_searched(sized, how):
    """Each file in turn: either the generation is refused, or, where the file is scratch space, everything is found."""
    folder = sized / "index" / (sized / "index" / "CURRENT").read_text()
    whole = Generation(folder)
    expected = [f"{stamp(made_up(n, 5))}-0" for n in (600, 601, 620, 639)], whole.words.search("graph policy", 5)
    assert neighbours(whole) == expected[0]
    whole.close()
    refused = []
    for path in files_of(folder):
        data = path.read_bytes()
        damage(path, how)
        try:
            generation = Generation(folder)
            assert (neighbours(generation), generation.words.search("graph policy", 5)) == expected, path
            generation.close()
        except Unusable:
            refused.append(path.name)
        path.write_bytes(data)
    assert {"manifest.json", "chroma.sqlite3", "meta.json"} <= set(refused)
    assert {path.suffix for path in folder.glob("words/*")} - {".lock"} <= {Path(name).suffix for name in refused}
    if "above" in str(sized):
        assert {"data_level0.bin", "header.bin", "length.bin", "link_lists.bin", "index_metadata.pickle"} - set(refused) <= (
            {"link_lists.bin"} if how != "deleted" else set()
        )
    Generation(folder).close()


@pytest.mark.parametrize(
    "name, how",
    [
        ("CURRENT", "garbage"),
        ("*/manifest.json", "garbled"),
        ("*/vectors/chroma.sqlite3", "garbage"),
        ("*/words/*.term", "truncated"),
        ("*", "deleted"),
    ],
)
def test_a_damaged_index_is_rebuilt_with_a_notice_and_finds_all(sized, tmp_path, name, how):
    folder, notices = tmp_path / "library", []
    shutil.copytree(sized, folder)
    for path in list((folder / "index").glob(name)):
        shutil.rmtree(path) if path.is_dir() else damage(path, how)
    with opened(folder, notice=notices.append) as library:
        assert len(notices) == 1 and notices[0].startswith(f"Building the index of {folder}: ")
        assert library.search(topic(639), 1)[0].paper == made_up(639, 5) and len(library.search("graph", 1000)) == len(library)
    with opened(folder, notice=notices.append):
        assert len(notices) == 1


@pytest.mark.parametrize("how", ["deleted", "emptied", "truncated", "garbage"])
def test_a_damaged_store_is_a_clear_error_and_nothing_is_written_over_it(tmp_path, how):
    add(tmp_path, [made_up(n) for n in range(40)])
    damage(tmp_path / "papers.sqlite", how)
    left = {path: path.read_bytes() for path in files_of(tmp_path) if path.name == "papers.sqlite"}
    for seeds in (False, True):
        with pytest.raises(LibraryDamaged, match="(damaged|missing or empty).*Restore it from a backup"):
            with opened(tmp_path, seeds=seeds) as library:
                library.search("graph")
    assert {path: path.read_bytes() for path in files_of(tmp_path) if path.name == "papers.sqlite"} == left


def test_a_file_damaged_while_the_library_is_open_gives_an_answer_or_an_error_of_our_own(tmp_path):
    add(tmp_path, [made_up(n) for n in range(40)])
    with opened(tmp_path) as library:
        for path in files_of(tmp_path / "index"):
            path.unlink()
        assert library.search(topic(3), 1)[0].paper == made_up(3)
        library.add(made_up(99))
        assert library.search(topic(99), 1)[0].paper == made_up(99)
        os.truncate(tmp_path / "papers.sqlite", 5000)
        with pytest.raises(AskPapersError):
            for number in range(40):
                library.search(topic(number))
