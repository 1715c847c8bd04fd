"""New, changed, or known already: records that are the same paper, records that only look like it, and corrections."""

from __future__ import annotations

from dataclasses import replace

from shared import SAME_TITLE, made_up, write_jsonl

from rag import Library, Paper


def found(library: Library, query: str) -> list[str]:
    return [hit.paper.id for hit in library.search(query, 100)]


def test_the_same_paper_in_two_files_is_one_paper(library, tmp_path):
    one = {"title": "On Graphs", "abstract": "Graphs are everywhere. We count them.", "url": "https://arxiv.org/abs/2401.00001v2"}
    again = {"title": "On Graphs.", "abstract": "Graphs are everywhere.  We count them.", "url": "https://arxiv.org/pdf/2401.00001"}
    elsewhere = {"title": "On graphs", "abstract": "Graphs are everywhere. We count them.", "url": "https://openreview.net/forum?id=abc"}
    library.add(write_jsonl(tmp_path / "a.jsonl", [one, one]))
    library.add(write_jsonl(tmp_path / "b.jsonl", [again, elsewhere, {"abstract": one["abstract"]}]))
    assert [p.id for p in library.papers()] == ["arxiv:2401.00001"]


def test_two_papers_with_one_title_are_two_papers_however_often_they_are_added(library, tmp_path):
    file = write_jsonl(tmp_path / "a.jsonl", SAME_TITLE)
    for _ in range(2):
        library.add(file)
    library.add(write_jsonl(tmp_path / "b.jsonl", SAME_TITLE[::-1]))
    assert [p.abstract for p in library.papers()] == [record["abstract"] for record in SAME_TITLE]
    assert library.search("robots walk upstairs")[0].paper.abstract == SAME_TITLE[1]["abstract"]
    assert [library.search("graphs and their kernels")[0].paper.abstract] == [SAME_TITLE[0]["abstract"]]


def test_two_papers_that_give_the_page_listing_them_as_address_are_two_papers(library, tmp_path):
    records = [{**record, "title": title, "url": "https://example.org/issue-7"} for record, title in zip(SAME_TITLE, ("One", "Other"))]
    for _ in range(2):
        report = library.add(write_jsonl(tmp_path / "a.jsonl", records))
    assert len(library) == 2 and len(report.unchanged) == 2


def test_an_id_that_belongs_to_another_paper_is_refused_by_name(library):
    library.add(made_up(1))
    report = library.add(Paper("made:1", "On Zebras", "Zebras graze quietly.", source="b.jsonl, line 9"))
    assert report.rejected == (
        (
            "b.jsonl, line 9",
            "the id 'made:1' belongs to “On topic00001 and the policy” (made up); give it another id, or remove that paper first",
        ),
    )
    assert library.papers() == [made_up(1)]


def test_versions_of_one_paper_in_one_file_leave_the_last_and_are_noted_once(library, tmp_path):
    first, second = made_up(1), replace(made_up(1), abstract=made_up(1).abstract.replace("studies", "examines"))
    file = write_jsonl(tmp_path / "a.jsonl", [first, second])
    report = library.add(file)
    assert report.added == ("made:1",) and "a.jsonl, line 2 replaces another version" in report.notes[0]
    assert library.paper("made:1").abstract == second.abstract
    before = library.store.state()
    report = library.add(file)
    assert not report.added and not report.updated and library.store.state() == before


def test_other_fields_can_be_corrected_and_a_poorer_record_takes_nothing_away(library):
    library.add(made_up(1))
    report = library.add(replace(made_up(1), year=1999, authors=("Zoë Zimmermann",)))
    assert report.updated == ("made:1",) and found(library, "Zimmermann")[0] == "made:1"
    report = library.add(Paper("made:1", made_up(1).title, made_up(1).abstract))
    assert report.unchanged == ("made:1",) and library.paper("made:1").year == 1999


def test_a_corrected_year_reaches_a_paper_known_by_its_title_only(library, tmp_path):
    record = {"title": "On Zebras", "authors": ["Ann Lee"], "abstract": "Zebras graze quietly."}
    for year in (None, 2022, 2023, 2023):
        report = library.add(write_jsonl(tmp_path / "a.jsonl", [{**record, "year": year}]))
    assert [p.year for p in library.papers()] == [2023] and len(report.unchanged) == 1


def test_a_title_learnt_later_stays_when_the_text_without_it_comes_again(library, tmp_path):
    (tmp_path / "bare.txt").write_text("Heading\n\nZebras graze quietly. Nothing else is said.")
    library.add(tmp_path / "bare.txt")
    library.add(
        write_jsonl(tmp_path / "a.jsonl", [{"title": "On Zebras", "abstract": "Zebras graze quietly. Nothing else is said.", "year": 2020}])
    )
    assert [(p.title, p.year) for p in library.papers()] == [("On Zebras", 2020)]
    assert len(library.add(tmp_path / "bare.txt").unchanged) == 1 and library.papers()[0].title == "On Zebras"
