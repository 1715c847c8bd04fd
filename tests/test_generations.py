"""Index generations: published whole or not at all, checked before use, and never more than two on the disk."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from pathlib import Path

import pytest
from shared import WordEmbedder, files_of, made_up, topic

from rag import generations, lexical, lock
from rag.errors import EmbedderChanged, LibraryBusy, StorageFailed
from rag.generations import Generation, Unusable
from rag.papers import Paper
from rag.vectors import Vectors


def current_folder(folder: Path) -> Path:
    return folder / "index" / (folder / "index" / "CURRENT").read_text()


def generation_folders(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "index").iterdir() if path.is_dir())


def change_manifest(folder: Path, **changes: object) -> None:
    path = current_folder(folder) / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_change_publishes_a_new_generation_and_keeps_the_one_before(library, folder):
    library.add(made_up(1))
    first = current_folder(folder).name
    library.add(made_up(2))
    second = current_folder(folder).name
    assert first != second and generation_folders(folder) == sorted([first, second])


def test_a_published_generations_files_are_never_written_again(library, folder):
    library.add(*(made_up(n) for n in range(5)))
    before = {
        path: path.read_bytes() for path in files_of(current_folder(folder)) if "/words/" in str(path) or path.name == "manifest.json"
    }
    library.add(made_up(6))
    library.search(topic(6))
    assert before and all(path.read_bytes() == content for path, content in before.items())


def test_twenty_additions_leave_two_generations_of_bounded_size(library, folder):
    library.add(*(made_up(n) for n in range(30)))
    start = sum(path.stat().st_size for path in files_of(folder / "index"))
    for number in range(30, 50):
        library.add(made_up(number))
    library.add(Paper("made:3", "Changed", "Quite another text."))
    assert len(generation_folders(folder)) == 2
    assert sum(path.stat().st_size for path in files_of(folder / "index")) < 4 * start
    assert all(library.search(topic(n))[0].paper.id == f"made:{n}" for n in (0, 29, 30, 49))


def test_changing_a_paper_again_and_again_does_not_grow_the_index(library, folder):
    library.add(*(made_up(n) for n in range(10)))
    sizes = []
    for number in range(12):
        library.add(Paper("made:3", "Changed", f"Quite another text, version {number}."))
        sizes.append(sum(path.stat().st_size for path in files_of(current_folder(folder))))
    assert max(sizes) < 1.5 * sizes[0] and len(library.search("text version", 20)) == 10


def test_adding_what_is_there_publishes_nothing(library, folder):
    library.add(made_up(1))
    before = current_folder(folder).name
    library.add(made_up(1))
    assert current_folder(folder).name == before


def test_a_build_that_fails_leaves_the_former_generation_and_no_rubbish(library, folder, monkeypatch):
    library.add(made_up(1))
    before = generation_folders(folder)

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(lexical, "write", fail)
    with pytest.raises(StorageFailed, match="The disk is full: the index .* could not be written"):
        library.add(made_up(2))
    assert generation_folders(folder) == before and library.search(topic(1))[0].paper.id == "made:1"
    monkeypatch.undo()
    assert library.add(made_up(2)).unchanged == ("made:2",)  # it was stored before the index failed
    assert library.search(topic(2))[0].paper.id == "made:2"


def test_a_full_disk_is_recognised_before_the_failed_build_makes_room(library, monkeypatch):
    library.add(made_up(1))
    monkeypatch.setattr(lexical, "write", lambda *_, **__: 1 / 0)
    real = generations.shutil.disk_usage
    half_built = lambda: len(list((library.folder / "index").iterdir())) > 2  # noqa: E731
    monkeypatch.setattr(generations.shutil, "disk_usage", lambda path: real(path)._replace(free=0 if half_built() else 10**9))
    with pytest.raises(StorageFailed, match="The disk is full"):
        library.add(made_up(2))


@pytest.mark.parametrize("damage", ["vectors are missing", "words are missing", "a vector has changed"])
def test_an_addition_to_an_index_damaged_while_it_was_open_builds_it_from_the_papers(library, folder, monkeypatch, damage):
    monkeypatch.setattr(generations, "_probe", lambda *_: None)  # which looks at three passages only, perhaps at the changed one
    library.add(*(made_up(n) for n in range(5)))
    broken = current_folder(folder)
    if damage == "a vector has changed":
        with sqlite3.connect(broken / "vectors" / "chroma.sqlite3") as db:
            db.execute("UPDATE embeddings_queue SET vector = zeroblob(length(vector)) WHERE seq_id = 2")
        db.close()
    else:
        shutil.rmtree(broken / damage.split()[0])
    library.add(made_up(9))
    assert all(library.search(topic(n), 1)[0].paper == made_up(n) for n in (0, 1, 2, 3, 4, 9))
    assert generation_folders(folder) == [current_folder(folder).name]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE embeddings_queue SET vector = zeroblob(length(vector)) WHERE seq_id = 2",
        "DELETE FROM embeddings_queue WHERE seq_id = 2",
        "UPDATE embeddings SET embedding_id = 'another' WHERE id = 2",
        "UPDATE max_seq_id SET seq_id = 4",
        "UPDATE collections SET dimension = 16",
        "CREATE TABLE another (x)",
    ],
)
def test_a_generation_whose_database_was_changed_is_not_used(library, folder, change):
    library.add(*(made_up(n) for n in range(5)))
    library.close()
    with sqlite3.connect(current_folder(folder) / "vectors" / "chroma.sqlite3") as db:
        db.execute(change)
    db.close()
    with pytest.raises(Unusable, match="chroma.sqlite3 is not as it was written"):
        Generation(current_folder(folder))


def test_an_index_folder_that_cannot_be_made_is_a_clear_error(folder, library):
    (folder / "index").write_text("in the way")
    with pytest.raises(StorageFailed, match="The index in .* could not be written"):
        library.add(made_up(1))


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"rules": "older"}, "built by another version"),
        ({"analyzer": "older"}, "built by another version"),
        ({"format": 0}, "built by another version"),
        ({"papers": 7}, "it holds 4 papers and 4 passages instead of 7 and 4"),
        ({"passages": 7}, "it holds 4 papers and 4 passages instead of 4 and 7"),
        ({"files": {}}, "not as it was written"),
        ({"files": None}, "manifest"),
        ({"from the future": 1}, "manifest"),
    ],
)
def test_a_manifest_that_does_not_match_has_the_index_rebuilt_with_the_reason(library, open_library, folder, changes, why):
    library.add(*(made_up(n) for n in range(4)))
    library.close()
    change_manifest(folder, **changes)
    notices: list[str] = []
    reopened = open_library(notice=notices.append)
    assert [h.paper.id for h in reopened.search(topic(3), 1)] == ["made:3"]
    assert len(notices) == 1 and "Building the index of" in notices[0] and why in notices[0]


def test_a_manifest_of_another_corpus_is_noticed_and_the_index_completed(library, open_library, folder):
    library.add(made_up(1))
    library.close()
    change_manifest(folder, corpus="0" * 64)
    notices: list[str] = []
    assert open_library(notice=notices.append).search(topic(1)) and "Completing the index" in notices[0]


def test_a_rebuild_embeds_nothing_again(library, open_library, folder, embedder):
    library.add(*(made_up(n) for n in range(10)))
    library.close()
    (folder / "index" / "CURRENT").unlink()
    embedder.embedded.clear()
    assert len(open_library().search("graph", 20)) == 10
    assert [text for text in embedder.embedded if "topic" in text] == []


def test_changing_only_other_fields_embeds_nothing_again(library, embedder):
    library.add(made_up(1))
    embedder.embedded.clear()
    library.add(Paper("made:1", made_up(1).title, made_up(1).abstract, venue="Corrected"))
    assert embedder.embedded == [] and library.search(topic(1))[0].paper.venue == "Corrected"


def test_another_embedder_of_the_same_dimension_is_refused_with_the_command_to_run(library, open_library):
    library.add(made_up(1))
    other = WordEmbedder("other words")
    with pytest.raises(EmbedderChanged, match="was embedded with words, but the settings now say other words.*askpapers doctor --rebuild"):
        open_library(embedder=other)
    unchecked = open_library(embedder=other, check=False)
    for use in (lambda: unchecked.search("graph"), lambda: unchecked.add(made_up(2)), lambda: unchecked.remove("made:1")):
        with pytest.raises(EmbedderChanged):
            use()
    assert [p.id for p in unchecked.papers()] == ["made:1"]


def test_after_a_rebuild_with_another_embedder_changing_back_embeds_nothing(library, open_library, embedder):
    library.add(*(made_up(n) for n in range(10)))
    other = WordEmbedder("other words")
    changed = open_library(embedder=other, check=False)
    changed.rebuild()
    assert changed.search(topic(3))[0].paper.id == "made:3" and len([t for t in other.embedded if t.startswith("On topic")]) == 10
    with pytest.raises(EmbedderChanged):
        library.search("graph")  # the one that was open all the time
    embedder.embedded.clear()
    back = open_library(check=False)
    back.rebuild()
    assert back.search(topic(3))[0].paper.id == "made:3" and [t for t in embedder.embedded if "On topic" in t] == []


def test_a_model_behind_the_same_name_that_gives_longer_vectors_is_refused_and_a_rebuild_embeds_anew(library, open_library):
    library.add(*(made_up(n) for n in range(10)))
    other = WordEmbedder("words", dimension=48)
    changed = open_library(embedder=other)
    for use in (lambda: changed.search("graph"), lambda: changed.add(made_up(20))):
        with pytest.raises(EmbedderChanged, match="now gives vectors of length 48; .* 32.*doctor --rebuild"):
            use()
    changed.rebuild()
    assert changed.search(topic(3))[0].paper.id == "made:3" and changed.index.current().manifest.dimension == 48


def test_a_collection_that_names_an_embedding_function_is_refused(library, folder):
    library.add(made_up(1))
    library.close()
    database = current_folder(folder) / "vectors" / "chroma.sqlite3"
    with sqlite3.connect(database) as db:
        (config,) = db.execute("SELECT config_json_str FROM collections").fetchone()
        config = {**json.loads(config or "{}"), "embedding_function": {"type": "known", "name": "default", "config": {}}}
        db.execute("UPDATE collections SET config_json_str = ?", (json.dumps(config),))
    db.close()
    with pytest.raises(Exception, match="names an embedding function, so it was not made by Ask Papers"):
        Vectors(database.parent)
    with pytest.raises(Unusable):
        Generation(current_folder(folder))


def test_our_own_collections_name_none(library, folder):
    library.add(made_up(1))
    with sqlite3.connect(current_folder(folder) / "vectors" / "chroma.sqlite3") as db:
        rows = db.execute("SELECT config_json_str, schema_str FROM collections").fetchall()
    db.close()
    assert "known" not in str(rows).replace("unknown", "")


def test_the_index_holds_no_text(library, folder):
    library.add(made_up(1))
    for path in files_of(folder / "index"):
        assert b"Sentence 1 on" not in path.read_bytes() and b"studies the" not in path.read_bytes(), path


def test_a_generation_in_use_stays_open_until_its_search_has_ended(library):
    library.add(made_up(1))
    held = library.index.current()
    library.add(made_up(2))
    assert library.index.current() is not held and len(held.vectors) == 1
    assert held.vectors.search(library.index.embedder.embed([topic(1)])[0], 1)


def test_a_second_writer_is_refused_by_the_name_of_the_first(folder, library):
    library.add(made_up(1))
    with lock.writing(folder):
        other_thread: list[BaseException] = []

        def write() -> None:
            try:
                with lock.writing(folder, wait=0.1):
                    pass
            except LibraryBusy as error:
                other_thread.append(error)

        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
    assert "is being written by process " in str(other_thread[0]) and "Try again when it has finished" in str(other_thread[0])
    with lock.writing(folder, wait=0):
        pass
