"""Adding, changing and removing papers: nothing lost, nothing doubled, and what is removed is gone from the disk."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from shared import SAME_TITLE, SEEDS, WordEmbedder, add, fields_of, files_of, in_new_process, made_up, remove, topic, write_jsonl

from rag import Library, Paper, Settings
from rag.errors import PaperNotFound, StorageFailed
from rag.lexical import Words, terms
from rag.passages import sentences
from rag.readers import read


def indexes_with(folder: Path, word: str) -> list[Path]:
    """The word indexes, of all generations on the disk, in which the word still stands, if only for a paper that was deleted."""
    return [path for path in folder.glob("index/*/words") if Words(path)._searcher.doc_freq("words", *terms(word))]


def found(library: Library, query: str) -> list[str]:
    return [hit.paper.id for hit in library.search(query, 100)]


# The seeds


@pytest.fixture(scope="module")
def seeded(tmp_path_factory):
    with Library.open(tmp_path_factory.mktemp("seeded"), settings=Settings(), embedder=WordEmbedder()) as library:
        assert len(library) == 94
        yield library


def test_the_seeds_are_exactly_94_papers_each_with_title_authors_venue_year_and_address(seeded):
    papers = seeded.papers()
    assert len(papers) == len(seeded) == 94 == len({p.id for p in papers}) == len({p.title for p in papers})
    assert all(
        p.title and p.authors and p.venue == "ICLR 2024" and p.year == 2024 and p.link.startswith("https://openreview.net/") for p in papers
    )


def test_seed_abstracts_are_in_the_library_as_they_are_in_the_files(seeded):
    assert {p.abstract for p in seeded.papers()} == {record.abstract for record in read(SEEDS)}


def test_adding_the_seeds_again_changes_nothing(seeded):
    before = (seeded.papers(), seeded.store.state())
    report = seeded.add(SEEDS)
    assert len(report.unchanged) == 95 and not (report.added or report.updated or report.rejected)
    assert (seeded.papers(), seeded.store.state()) == before


def test_every_passage_of_a_hit_is_a_true_span_of_its_abstract(seeded):
    for hit in seeded.search("language models", 94):
        assert hit.passages and all(hit.paper.abstract[p.start : p.end] == p.text and p.paper_id == hit.paper.id for p in hit.passages)


def test_a_library_that_papers_were_added_to_first_gets_no_seeds(open_library):
    library = open_library(seeds=True)
    library.add(made_up(1))
    assert len(library) == 1 and found(library, "language models") == ["made:1"]


def test_an_addition_of_nothing_does_not_keep_the_seeds_away(open_library, tmp_path):
    library = open_library(seeds=True)
    assert library.add(tmp_path / "none.txt").rejected
    assert len(library) == 94


def test_a_library_that_was_emptied_stays_empty(open_library):
    library = open_library(seeds=True)
    library.add(made_up(1))
    library.remove("made:1")
    assert len(library) == 0 and library.search("graph") == [] and library.papers() == []
    library.add(made_up(2))
    assert found(library, "graph") == ["made:2"]


# Adding


def test_bad_records_are_named_with_their_place_and_the_good_ones_go_in(library, tmp_path):
    huge = {"title": "Huge", "abstract": "word " * 40_000}
    write_jsonl(tmp_path / "mixed.jsonl", [made_up(1), "{broken", {"title": "Bare"}, huge, "[1]", made_up(2)])
    (tmp_path / "latin.txt").write_bytes(b"Heading\n\nFine one.\n\nCaf\xe9.")
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "more").mkdir()
    write_jsonl(tmp_path / "more" / "deep.jsonl", [made_up(3)])
    report = library.add(
        *(tmp_path / name for name in ("mixed.jsonl", "latin.txt", "empty.jsonl", "none.json", "more")), Paper("", "Bad", "")
    )
    assert report.added[:2] == ("made:1", "made:2") and report.added[3:] == ("made:3",) and len(library) == 4
    places = [where.removeprefix(f"{tmp_path}/") for where, _ in report.rejected]
    assert places == [
        *(f"mixed.jsonl, line {n}" for n in (2, 3, 4, 5)),
        "latin.txt, paragraph 2",
        "empty.jsonl",
        "none.json",
        "Paper(id='')",
    ]
    assert all(why for _, why in report.rejected) and json.dumps(report.to_dict())


def test_adding_the_same_file_again_is_idempotent_in_this_process_and_in_a_new_one(library, folder, tmp_path, processes):
    file = write_jsonl(tmp_path / "a.jsonl", [made_up(1), made_up(2), *SAME_TITLE, {"abstract": "No title here."}])
    assert len(library.add(file).added) == 5
    before = (library.papers(), library.store.state(), found(library, "graph"))
    assert len(library.add(file).unchanged) == 5
    report = in_new_process(processes, add, folder, [file, file])
    assert len(report.unchanged) == 10 and not report.added and not report.updated
    assert (library.papers(), library.store.state(), found(library, "graph")) == before


def test_optional_fields_that_are_null_or_empty_are_simply_empty(library, tmp_path):
    empty = dict.fromkeys(("authors", "year", "venue", "url", "doi", "keywords"), None)
    library.add(
        write_jsonl(
            tmp_path / "a.jsonl",
            [{"title": "T", "abstract": "Null fields.", **empty}, {"title": "U", "abstract": "Empty list.", "authors": []}],
        )
    )
    (hit, _) = library.search("null fields")
    assert (hit.paper.authors, hit.paper.year, hit.paper.byline, hit.paper.link) == ((), None, "", "") and json.dumps(hit.to_dict())


# Changing


def test_a_changed_abstract_replaces_the_old_one(library):
    library.add(*(made_up(n) for n in range(10)))
    corrected = replace(made_up(3), abstract="Zebras graze quietly. Nothing else is said.")
    report = library.add(corrected)
    assert report.updated == ("made:3",) and not report.added and len(library) == 10
    hit = library.search("zebras graze")[0]
    assert hit.paper == corrected and hit.passages[0].text == corrected.abstract
    for hit in library.search(topic(3), 100):
        assert topic(3) not in hit.paper.abstract and not any(topic(3) in p.text for p in hit.passages)


def test_a_change_reaches_the_library_from_a_new_process_and_a_dropped_record_stays(library, folder, tmp_path, processes):
    file = write_jsonl(tmp_path / "a.jsonl", [made_up(1), made_up(2)])
    library.add(file)
    write_jsonl(file, [replace(made_up(1), abstract="Zebras graze quietly.")])
    report = in_new_process(processes, add, folder, [file])
    assert (report.updated, report.added) == (("made:1",), ())
    assert (
        found(library, "zebras")[0] == "made:1"
        and len(library) == 2
        and library.search(topic(2))[0].paper == replace(made_up(2), source="a.jsonl, line 2")
    )


# Removing


def test_a_removed_paper_is_in_no_file_of_the_library(library, folder):
    papers = [made_up(n, 6) for n in range(40)]
    library.add(*papers[:20])
    library.add(*papers[20:])
    library.search(topic(7))
    library.remove("made:7", "made:30")
    for gone in (papers[7], papers[30]):
        needles = [gone.abstract[s.start : s.end].encode() for s in sentences(gone.abstract)] + [
            gone.title.encode(),
            topic(int(gone.id[5:])).encode(),
            gone.authors[0].encode(),
        ]
        assert [(path, needle) for path in files_of(folder) for needle in needles if needle in path.read_bytes()] == []
        assert indexes_with(folder, topic(int(gone.id[5:]))) == []
    assert len(library) == 38 and found(library, topic(7)).count("made:7") == 0
    assert library.search(topic(8))[0].paper == papers[8]


def test_a_second_removal_says_that_there_is_no_such_paper_and_removes_no_other(library):
    library.add(made_up(1), made_up(2))
    library.remove("made:1")
    for ids in (("made:1",), ("made:2", "made:1")):
        with pytest.raises(PaperNotFound, match="There is no paper with the id 'made:1'; `askpapers list` shows the ids."):
            library.remove(*ids)
    with pytest.raises(PaperNotFound):
        library.remove("\udcff")
    assert [p.id for p in library.papers()] == ["made:2"]


def test_a_removed_paper_can_be_added_again(library):
    library.add(made_up(1), made_up(2))
    library.remove("made:1")
    assert library.add(made_up(1)).added == ("made:1",) and found(library, topic(1))[0] == "made:1"


def test_a_removal_that_was_cut_short_is_completed_at_the_next_search(library, folder, monkeypatch):
    library.add(*(made_up(n, 6) for n in range(20)))
    sweep, swept = library.store.sweep, []
    with pytest.raises(KeyboardInterrupt), monkeypatch.context() as patch:
        patch.setattr(library.store, "sweep", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
        library.remove("made:7")
    monkeypatch.setattr(library.store, "sweep", lambda: swept.append(sweep()))
    assert "made:7" not in found(library, topic(7)) and len(swept) == 1
    assert [path for path in files_of(folder) if topic(7).encode() in path.read_bytes()] == [] == indexes_with(folder, topic(7))


# Several at once


def test_a_library_that_is_open_finds_what_another_process_adds_changes_and_removes(open_library, folder, processes):
    notices: list[str] = []
    library = open_library(notice=notices.append)
    library.add(made_up(1), made_up(2))
    assert topic(3) not in str(library.search(topic(3)))
    in_new_process(processes, add, folder, [made_up(3), replace(made_up(2), abstract="Zebras graze quietly.")])
    assert found(library, topic(3))[0] == "made:3" and found(library, "zebras")[0] == "made:2" and len(library) == 3
    in_new_process(processes, remove, folder, ["made:3"])
    assert "made:3" not in found(library, topic(3)) and len(library) == 2
    assert notices == []  # it found what the other had published, and had nothing to complete


def test_two_libraries_on_one_folder_in_one_process_do_not_disturb_each_other(library, open_library):
    library.add(made_up(1))
    other = open_library()
    other.add(made_up(2))
    assert found(library, topic(2))[0] == "made:2"
    other.close()
    assert found(library, topic(1))[0] == "made:1"


# Opening


def test_a_file_in_the_librarys_place_is_a_clear_error(tmp_path, open_library):
    (tmp_path / "file").touch()
    with pytest.raises(StorageFailed, match="can't be used as a library"):
        open_library(tmp_path / "file")


def test_a_library_can_be_copied_and_moved(library, open_library, folder, tmp_path):
    library.add(*(made_up(n) for n in range(5)))
    library.close()
    shutil.copytree(folder, tmp_path / "copy")
    notices: list[str] = []
    assert open_library(tmp_path / "copy", notice=notices.append).search(topic(3))[0].paper == made_up(3) and notices == []


def test_progress_is_told_of_every_stage_to_its_end(open_library):
    told: list[tuple[str, int, int]] = []
    open_library(progress=lambda *now: told.append(now)).add(*(made_up(n) for n in range(70)))
    assert [stage for stage, done, total in told if done == total == 70] == ["Embedding papers", "Indexing"]


def test_fields_written_out_and_read_in_again_are_the_same_paper(library, tmp_path):
    paper = Paper("x", "T", "Words.", ("Lee, A.", "Bo Chen"), 2020, "V", "https://e.org/1", "10.1000/1", ("k, l", "m"), "a.jsonl, line 1")
    library.add(write_jsonl(tmp_path / "a.jsonl", [fields_of(paper)]))
    assert library.papers() == [paper]
