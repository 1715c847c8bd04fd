"""One record into a Paper: the forms that fields come in, what is refused, and which records are the same paper."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from shared import write_jsonl

from rag.papers import Paper, Rejected
from rag.readers import checked, read
from rag.readers.records import MAX_ABSTRACT

GOOD = {"title": "Good", "abstract": "It works. We show how."}


def papers(path: Path) -> list[Paper]:
    return [record for record in read(path) if isinstance(record, Paper)]


def test_a_record_is_read_with_all_its_fields(tmp_path):
    record = {**GOOD, "authors": ["Ann Lee", {"name": "Bo Chen"}], "year": "2021-05-03", "venue": " ICML ", "url": "https://example.org/1",
              "doi": "https://doi.org/10.1234/AbC.5", "id": 17, "keywords": "graphs; trees"}  # fmt: skip
    (paper,) = papers(write_jsonl(tmp_path / "a.jsonl", [record]))
    assert paper == Paper("17", "Good", GOOD["abstract"], ("Ann Lee", "Bo Chen"), 2021, "ICML", "https://example.org/1", "10.1234/AbC.5",
                          ("graphs", "trees"), "a.jsonl, line 1")  # fmt: skip


@pytest.mark.parametrize("empty", [None, "", [], {}])
def test_optional_fields_may_be_missing_null_or_empty(tmp_path, empty):
    names = ("authors", "year", "venue", "url", "doi", "id", "keywords")
    file = write_jsonl(tmp_path / "a.jsonl", [GOOD, {**GOOD, **dict.fromkeys(names, empty)}])
    one, other = papers(file)
    assert one.id == other.id and (one.authors, one.year, one.venue, one.url, one.doi, one.keywords) == ((), None, "", "", "", ())


@pytest.mark.parametrize(
    "year, expected", [("2022", 2022), (2022.0, 2022), ("12", None), ("n.d.", None), (True, None), ([2022], None), (99999, None)]
)
def test_a_year_is_a_number_or_nothing(tmp_path, year, expected):
    assert [p.year for p in papers(write_jsonl(tmp_path / "a.jsonl", [{**GOOD, "year": year}]))] == [expected]


@pytest.mark.parametrize(
    "authors, expected",
    [
        ("Ann Lee and Bo Chen", ("Ann Lee", "Bo Chen")),
        ("Ann Lee, Bo Chen", ("Ann Lee", "Bo Chen")),
        ("Lee, A.; Chen, B.", ("Lee, A.", "Chen, B.")),
        ("Lee, A.", ("Lee, A.",)),
        ([None, {"name": None}, 7], ("7",)),
        ("A" + " " * 200_000 + "and B", ("A", "B")),
    ],
)
def test_authors_come_in_many_forms(tmp_path, authors, expected):
    started = time.perf_counter()
    assert [p.authors for p in papers(write_jsonl(tmp_path / "a.jsonl", [{**GOOD, "authors": authors}]))] == [expected]
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    "abstract, why",
    [
        (None, "it has no abstract"),
        ("", "it has no abstract"),
        (" \n\t ", "it has no abstract"),
        (42, "its abstract is not text but a number"),
        (["a"], "its abstract is not text but a list"),
        ("… \u200b —", "its abstract holds no words"),
        ("word " * 40_000, "its abstract has 200,000 characters; the limit is 50,000"),
        ("half \ud800.", "half of a surrogate pair"),
    ],
)
def test_a_record_without_a_usable_abstract_is_named_and_the_others_go_in(tmp_path, abstract, why):
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(json.dumps({**GOOD, "abstract": a, "title": t}) for t, a in (("Bad", abstract), ("Good", "Fine."))))
    bad, good = read(file)
    assert bad.where == f"{file}, line 1" and why in bad.why and good.title == "Good"


def test_an_abstract_as_long_as_the_limit_goes_in(tmp_path):
    assert len(papers(write_jsonl(tmp_path / "a.jsonl", [{**GOOD, "abstract": ("word " * 10_000)[:MAX_ABSTRACT]}]))) == 1


def test_control_and_zero_width_characters_stay_in_the_abstract(tmp_path):
    abstract = "Zero\u200bwidth, NUL \x00, bell \x07, right-to-left \u202e, \ufb01 ligature, e\u0301, 😀 and עברית."
    assert [p.abstract for p in papers(write_jsonl(tmp_path / "a.jsonl", [{**GOOD, "abstract": abstract}]))] == [abstract]


# Identity


@pytest.mark.parametrize(
    "record, expected",
    [
        ({"url": "https://openreview.net/pdf?noteId=1&id=zAdUB0aCTQ"}, "openreview:zAdUB0aCTQ"),
        ({"url": "http://arxiv.org/pdf/2409.04701v2"}, "arxiv:2409.04701"),
        ({"url": "https://arxiv.org/abs/cs/9901001"}, "arxiv:cs/9901001"),
        ({"doi": "doi:10.1000/XYZ"}, "doi:10.1000/xyz"),
        ({"url": "https://doi.org/10.1000/xyz"}, "doi:10.1000/xyz"),
        ({"url": "https://example.org/p"}, "url:https://example.org/p"),
        ({"id": " my  id "}, "my id"),
    ],
)
def test_a_paper_has_one_id_in_whatever_file_it_stands(tmp_path, record, expected):
    assert [p.id for p in papers(write_jsonl(tmp_path / "a.jsonl", [{**GOOD, **record}]))] == [expected]


def test_papers_are_told_apart_by_title_authors_and_year_when_nothing_else_names_them(tmp_path):
    records = [
        GOOD,
        {**GOOD, "title": "good!"},
        {**GOOD, "authors": ["A"]},
        {**GOOD, "year": 2020},
        {**GOOD, "title": ""},
        {"abstract": "Another."},
    ]
    ids = [p.id for p in papers(write_jsonl(tmp_path / "a.jsonl", records))]
    assert ids[0] == ids[1] and len(set(ids)) == 5


def test_a_paper_made_by_a_program_is_held_to_the_same():
    assert isinstance(checked(Paper("x", "T", "")), Rejected) and isinstance(checked(Paper("x", "T", "half \ud800")), Rejected)
    assert checked(Paper("", "", "Fine words.", url="https://arxiv.org/abs/2409.04701")).id == "arxiv:2409.04701"
    whole = Paper("x", "T", "Fine words.", ("A",), 2020, "V", "https://e.org", "10.1000/1", ("k",), "s")
    assert checked(whole) == whole
