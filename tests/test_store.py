"""The SQLite file: what is put in comes out, what is taken out is gone from the bytes, and damage is named."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from shared import made_up

from rag.errors import AskPapersError, LibraryDamaged, StorageFailed
from rag.papers import Paper
from rag.passages import passages, sentences, stamp
from rag.store import FILE, Embedded, Store

WHOLE = Paper(
    "id 1",
    "A title",
    "One. Two. Three. Four. Five.",
    ("Ann Lee", "Bo Chen"),
    2024,
    "ICLR 2024",
    "https://e.org",
    "10.1000/1",
    ("k",),
    "a.txt, paragraph 1",
)
BARE = Paper("id 2", "Bare", "No field but these.")


@pytest.fixture
def store(tmp_path: Path):
    opened = Store(tmp_path)
    yield opened
    opened.close()


def embedded(paper: Paper, value: float = 1.0, dimension: int = 4) -> Embedded:
    rows = len(passages(paper)) + len(sentences(paper.abstract))
    return Embedded(paper, np.full((rows, dimension), value / dimension**0.5, dtype=np.float32))


def put(store: Store, *papers: Paper, fingerprint: str = "f") -> None:
    store.put([embedded(paper) for paper in papers], fingerprint)


def test_papers_come_back_as_they_were_in_the_order_of_first_addition(store, tmp_path):
    put(store, WHOLE, BARE)
    put(store, Paper("id 1", "A title", WHOLE.abstract, year=1999))
    assert [p.id for p in store.papers()] == ["id 1", "id 2"] and store.paper("id 1").year == 1999
    put(store, WHOLE)
    reopened = Store(tmp_path)
    assert reopened.papers() == [WHOLE, BARE] and reopened.paper("id 1") == WHOLE and len(reopened) == 2
    reopened.close()


def test_passages_are_kept_as_they_were_cut(store):
    put(store, WHOLE, BARE)
    found = store.passages_by_stamp(store.by_stamp([stamp(WHOLE), stamp(BARE), "no such stamp"]))
    assert found == {stamp(WHOLE): passages(WHOLE), stamp(BARE): passages(BARE)}


def test_vectors_come_back_by_paper_passages_before_sentences(store):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((8, 4)).astype(np.float32)
    store.put([Embedded(WHOLE, rows), embedded(BARE)], "f")
    block = store.vectors([stamp(BARE), stamp(WHOLE), "none"], "f")
    n = block.stamps.index(stamp(WHOLE))
    assert np.allclose(block.matrix[block.edges[n] : block.edges[n + 1]], rows, atol=2e-3)
    assert block.passages[n] == 3 and len(block.matrix) == block.edges[-1] == 8 + 2
    assert store.vectors([stamp(WHOLE)], "another embedder").stamps == () == store.vectors([], "f").stamps


def test_every_change_raises_the_revision_and_equal_papers_give_an_equal_hash(store, tmp_path):
    put(store, WHOLE, BARE)
    revision, corpus = store.state()
    put(store, Paper("id 2", "Bare", "No field but these.", year=2000))
    assert store.state()[0] == revision + 1 and store.state()[1] != corpus
    put(store, BARE)
    assert store.state() == (revision + 2, corpus)
    (tmp_path / "other").mkdir()
    other = Store(tmp_path / "other")
    put(other, BARE)
    put(other, WHOLE)
    assert other.state()[1] == corpus
    other.close()


def test_what_changed_since_a_revision_is_known(store):
    put(store, WHOLE)
    first = store.state()[0]
    changed = Paper("id 1", "A title", "Another text.")
    put(store, changed, BARE)
    assert store.passage_counts(since=first) == {stamp(changed): 1, stamp(BARE): 1}
    assert [paper.id for _, paper in store.papers_with_stamps(since=first)] == ["id 1", "id 2"]
    assert store.removed_since(first) == {stamp(WHOLE): 3}
    put(store, WHOLE)  # the former text has come back
    assert store.removed_since(first) == {stamp(changed): 1}


def test_vectors_of_several_embedders_are_kept_side_by_side(store):
    put(store, WHOLE, BARE)
    assert store.unembedded("f", 4) == [] and store.unembedded("g", 4) == [WHOLE, BARE] and store.unembedded("f", 8) == [WHOLE, BARE]
    put(store, WHOLE, fingerprint="g")
    assert store.unembedded("g", 4) == [BARE] and store.unembedded("f", 4) == []


def test_a_paper_cut_by_former_rules_is_to_be_embedded_again(store, monkeypatch):
    put(store, WHOLE)
    monkeypatch.setattr("rag.store.RULES", "other rules")
    assert store.unembedded("f", 4) == [WHOLE]
    store.rules_are_current()
    assert store.unembedded("f", 4) == []


def test_noting_the_rules_again_changes_nothing(store):
    before = store.state()
    store.rules_are_current()
    assert store.state() == before


def test_abstracts_with_the_same_words_are_found_whatever_their_spacing(store):
    put(store, BARE, made_up(1))
    assert store.by_content("no FIELD,\nbut these") == [BARE] and store.by_content("other") == []


def test_a_removal_leaves_nothing_in_the_file_of_whatever_was_removed_or_replaced(store, tmp_path):
    rng, live = random.Random(57), {}  # a course of changes that secure_delete alone does not clean up after
    for step in range(40):
        number = rng.randrange(30)
        if rng.random() < 0.7:
            text = " ".join(f"secret{number}x{step}x lorem ipsum." for _ in range(rng.choice([1, 3, 60])))
            live[number] = step
            put(store, Paper(f"id{number}", f"secret{number}x{step}x", text, (f"secret{number}x{step}x",)))
        elif number in live:
            store.remove([f"id{number}"])
            del live[number]
    last = next(iter(live))
    store.remove([f"id{last}"])
    del live[last]
    data = (tmp_path / FILE).read_bytes()
    assert all(f"secret{n}x{step}x".encode() in data for n, step in live.items())
    assert [(n, s) for n in range(30) for s in range(40) if live.get(n) != s and f"secret{n}x{s}x".encode() in data] == []
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_removing_most_papers_gives_their_room_back(store, tmp_path):
    put(store, *(made_up(n, 40) for n in range(60)))
    before = (tmp_path / FILE).stat().st_size
    store.remove([f"made:{n}" for n in range(55)])
    assert (tmp_path / FILE).stat().st_size < before / 4 and len(store) == 5 and store.check() == []


def test_a_change_that_fails_half_way_leaves_no_trace(store):
    put(store, BARE)
    before = (store.state(), store.papers())
    with pytest.raises(AttributeError):
        store.put([embedded(WHOLE), Embedded(made_up(1), None)], "f")
    assert (store.state(), store.papers(), store.check()) == (*before, [])
    put(store, WHOLE)
    assert len(store) == 2


def test_a_commit_that_fails_leaves_the_store_usable(store):
    class Full:
        """The connection, but its next COMMIT finds the disk full."""

        def __init__(self, connection: sqlite3.Connection):
            self.connection = connection

        def execute(self, statement: str, *values):
            if statement == "COMMIT":
                raise sqlite3.OperationalError("database or disk is full")
            return self.connection.execute(statement, *values)

        def __getattr__(self, name: str):
            return getattr(self.connection, name)

    real, store._db = store._db, Full(store._db)
    with pytest.raises(StorageFailed, match="The disk is full: .*papers.sqlite could not be written"):
        put(store, WHOLE)
    store._db = real
    assert len(store) == 0
    put(store, WHOLE)
    assert store.papers() == [WHOLE]


def test_the_full_check_finds_nothing_wrong_with_a_good_file_and_a_changed_word_in_another(store, tmp_path):
    put(store, WHOLE, BARE)
    assert store.check() == []
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("UPDATE papers SET abstract = 'No field but those.' WHERE id = 'id 2'")
    db.close()
    assert store.check() == ["the papers are not the ones that were written (their hash differs)"]


def test_a_text_that_changed_by_itself_is_never_handed_out(store, tmp_path):
    put(store, WHOLE, BARE)
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("UPDATE papers SET abstract = 'No field but those.' WHERE id = 'id 2'")
    db.close()
    assert store.by_stamp([stamp(WHOLE)]) == {stamp(WHOLE): WHOLE}
    with pytest.raises(LibraryDamaged, match="the text of id 2 has changed by itself"):
        store.by_stamp([stamp(WHOLE), stamp(BARE)])


@pytest.mark.parametrize("content", [b"not a database at all", b"\0" * 5000])
def test_a_file_that_is_no_database_is_named(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(LibraryDamaged, match="papers.sqlite is damaged .*Restore it from a backup"):
        Store(tmp_path)


def test_whatever_is_garbled_the_errors_are_our_own(tmp_path):
    original = Store(tmp_path)
    put(original, *(made_up(n, 4) for n in range(60)))
    original.close()
    data, rng = (tmp_path / FILE).read_bytes(), random.Random(5)
    outcomes = set()
    for _ in range(60):
        damaged, start = bytearray(data), rng.randrange(len(data))
        for position in range(start, min(len(data), start + 200)):
            damaged[position] = rng.randrange(256)
        (tmp_path / FILE).write_bytes(damaged)
        try:
            store = Store(tmp_path)
            papers = dict(store.papers_with_stamps())
            store.by_stamp(list(papers)), store.vectors(list(papers), "f"), store.passages_by_stamp(papers), store.state()
            outcomes.add("read" if store.check() == [] else "found by check")
            store.close()
        except AskPapersError as error:
            outcomes.add(type(error).__name__)
    assert {"LibraryDamaged", "read"} <= outcomes <= {"LibraryDamaged", "read", "found by check"}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE papers SET authors = 'no list'",
        "UPDATE meta SET value = 'x' WHERE key = 'revision'",
        "DELETE FROM meta WHERE key = 'corpus'",
        "UPDATE vectors SET rows = x'0102'",
        "UPDATE papers SET title = x'ff' WHERE id = 'id 1'",
    ],
)
def test_a_value_that_we_never_wrote_is_damage(store, tmp_path, change):
    put(store, WHOLE)
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute(change)
    db.close()
    with pytest.raises(LibraryDamaged, match="papers.sqlite is damaged"):
        store.papers(), store.state(), store.vectors([stamp(WHOLE)], "f"), store.by_stamp([stamp(WHOLE)])


def test_a_file_of_another_format_is_refused_by_name(tmp_path):
    Store(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
    db.close()
    with pytest.raises(LibraryDamaged, match=r"written by another version of Ask Papers \(format 99, this one reads 1\)"):
        Store(tmp_path)


@pytest.mark.parametrize("empty_file", [False, True])
def test_looking_at_a_folder_without_a_store_makes_none(tmp_path, empty_file):
    if empty_file:
        (tmp_path / FILE).touch()
    with pytest.raises(LibraryDamaged, match="missing or empty"):
        Store(tmp_path, create=False)
    assert [path.stat().st_size for path in tmp_path.iterdir()] == [0] * empty_file


def test_an_id_that_is_no_text_is_simply_unknown(store):
    put(store, BARE)
    assert store.paper("\udcff") is None and store.paper("") is None
