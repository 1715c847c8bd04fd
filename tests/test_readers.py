"""Files into Papers: what goes in as it stands, and how everything else is named."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from shared import SEEDS, write_jsonl

from rag.papers import Paper, Rejected
from rag.readers import read

GOOD = {"title": "Good", "abstract": "It works. We show how."}


def papers(path: Path) -> list[Paper]:
    return [record for record in read(path) if isinstance(record, Paper)]


def rejected(path: Path) -> list[Rejected]:
    return [record for record in read(path) if isinstance(record, Rejected)]


def only_rejection(path: Path) -> str:
    """Where and why, of a file in which one thing is wrong and the records titled Good are not lost."""
    (one,) = rejected(path)
    return f"{one.where}: {one.why}"


# The seeds


def test_the_seeds_hold_95_abstracts_and_nothing_is_rejected():
    records = list(read(SEEDS))
    assert len(records) == 95 and not [r for r in records if isinstance(r, Rejected)]


def test_every_seed_abstract_is_a_paragraph_of_its_file_character_for_character():
    for file in sorted(SEEDS.glob("*.txt")):
        heading, *paragraphs = file.read_bytes().decode().removesuffix("\n").split("\n\n")
        assert [paper.abstract for paper in papers(file)] == paragraphs
        assert heading not in [paper.abstract for paper in papers(file)]


def test_every_seed_but_the_doubled_abstract_has_title_authors_venue_year_and_address():
    bare = [paper for paper in papers(SEEDS) if not (paper.authors and paper.venue and paper.year == 2024 and paper.url)]
    assert [paper.source for paper in bare] == ["003_4bf78896058c75b4.txt, paragraph 1"]


def test_a_chinese_heading_is_no_paper():
    (file,) = SEEDS.glob("001*.txt")
    heading = file.read_text(encoding="utf-8").split("\n")[0]
    assert any("\u4e00" <= c <= "\u9fff" for c in heading)
    assert len(papers(file)) == 19 and not rejected(file)


# Text files


def test_a_paragraph_keeps_its_line_breaks_spaces_and_tabs(tmp_path):
    abstract = "One  two\tthree.\nA second line \\alpha,  with   gaps."
    (tmp_path / "a.txt").write_bytes(f"Heading\n\n{abstract}\n\nNext one.\n".encode())
    assert [p.abstract for p in papers(tmp_path / "a.txt")] == [abstract, "Next one."]


def test_windows_line_ends_and_blank_lines_with_spaces_part_paragraphs_too(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfHeading\r\n\r\nFirst one.\r\nStill first.\r\n \t\r\n\r\nSecond one.\r\n")
    assert [p.abstract for p in papers(tmp_path / "a.txt")] == ["First one.\r\nStill first.", "Second one."]


def test_a_paper_without_a_title_is_called_by_its_first_words(tmp_path):
    (tmp_path / "a.txt").write_text("Heading\n\n" + "We study very long things in twelve words or a few more.")
    (paper,) = papers(tmp_path / "a.txt")
    assert paper.title == "We study very long things in twelve words or a…" and paper.id.startswith("text:")


def test_a_heading_further_down_is_named_since_it_may_be_an_abstract(tmp_path):
    (tmp_path / "a.txt").write_text("Heading\n\nFirst one.\n\nAn abstract without a full stop\n\nSecond one.")
    assert "a.txt, after paragraph 1: “An abstract without a full stop” was read as a heading" in only_rejection(tmp_path / "a.txt")
    assert [p.source for p in papers(tmp_path / "a.txt")] == ["a.txt, paragraph 1", "a.txt, paragraph 2"]


def test_one_paragraph_that_is_not_utf_8_is_named_and_the_others_go_in(tmp_path):
    (tmp_path / "a.txt").write_bytes("Heading\n\nGood one.\n\n".encode() + "Caf\xe9 one.".encode("latin-1") + b"\n\nGood two.")
    assert "a.txt, paragraph 2: not UTF-8 (byte 0xe9)" in only_rejection(tmp_path / "a.txt")
    assert [p.abstract for p in papers(tmp_path / "a.txt")] == ["Good one.", "Good two."]


def test_a_text_file_with_only_a_heading_says_what_was_expected(tmp_path):
    (tmp_path / "a.txt").write_text("ICLR 2024 Papers\n")
    assert "there is no abstract in it" in only_rejection(tmp_path / "a.txt")


@pytest.mark.parametrize(
    "row", ['{"file": "a.txt", "paragraph": [1], "title": "T"}', '{"file": ["a.txt"], "paragraph": 1}', "[1]", "{", "\xff"]
)
def test_a_damaged_row_of_papers_jsonl_costs_the_title_not_the_abstract(tmp_path, row):
    (tmp_path / "a.txt").write_text("Heading\n\nFirst one.\n\nSecond one.")
    good = json.dumps({"file": "a.txt", "paragraph": 2, "title": "The second\u2028title"}, ensure_ascii=False)
    (tmp_path / "papers.jsonl").write_text(f"\ufeff{row}\n{good}\n", encoding="utf-8")
    assert [p.title for p in papers(tmp_path / "a.txt")] == ["First one.", "The second title"]


# JSON


def test_a_broken_line_is_named_by_its_number_and_the_others_go_in(tmp_path):
    file = write_jsonl(tmp_path / "a.jsonl", [GOOD, '{"title": "cut off", "abst', "", {**GOOD, "title": "Better"}])
    assert "a.jsonl, line 2: this line is not valid JSON: Unterminated string" in only_rejection(file)
    assert [p.source for p in papers(file)] == ["a.jsonl, line 1", "a.jsonl, line 4"]


def test_a_line_that_is_not_utf_8_is_named_by_its_number(tmp_path):
    file = write_jsonl(tmp_path / "a.jsonl", [GOOD])
    file.write_bytes(file.read_bytes() + b'{"title": "Caf\xe9", "abstract": "x."}\n' + json.dumps({**GOOD, "title": "Better"}).encode())
    assert "a.jsonl, line 2: not UTF-8 (byte 0xe9 at 15)" in only_rejection(file)
    assert [p.title for p in papers(file)] == ["Good", "Better"]


@pytest.mark.parametrize("wrapped", [lambda r: r, lambda r: {"papers": r}, lambda r: {"meta": 1, "data": r}])
def test_a_json_list_is_read_bare_or_under_a_usual_name(tmp_path, wrapped):
    (tmp_path / "a.json").write_text(json.dumps(wrapped([GOOD, {**GOOD, "title": "Two"}, 3])))
    assert [p.source for p in papers(tmp_path / "a.json")] == ["a.json, record 1", "a.json, record 2"]
    assert "a.json, record 3: this is not a paper record" in only_rejection(tmp_path / "a.json")


def test_the_content_decides_between_json_and_json_lines(tmp_path):
    lines, many = f"{json.dumps(GOOD)}\n{json.dumps({**GOOD, 'title': 'Two'})}", json.dumps([GOOD, {**GOOD, "title": "Two"}])
    (tmp_path / "lines.json").write_text(lines)
    (tmp_path / "list.jsonl").write_text(many)
    (tmp_path / "one.json").write_text(json.dumps(GOOD, indent=2))
    assert [len(papers(tmp_path / name)) for name in ("lines.json", "list.jsonl", "one.json")] == [2, 2, 1]


@pytest.mark.parametrize(
    "content, where, why",
    [
        (b'[\n{"title": "x"},\n{"abst', "a.json, line 3", "not valid JSON"),
        (b'[\n"caf\xe9"]', "a.json, line 2", "not UTF-8"),
        (b"[" * 100_000, "a.json", "not valid JSON"),
        (b"[]", "a.json", "the list in it is empty"),
        (b"{}", "a.json, record 1", "it has no abstract"),
        (b"null", "a.json, line 1", "not a paper record"),
        (b'"x"', "a.json, record 1", "not a paper record"),
    ],
)
def test_a_broken_json_file_is_named_with_the_place(tmp_path, content, where, why):
    (tmp_path / "a.json").write_bytes(content)
    assert where in only_rejection(tmp_path / "a.json") and why in only_rejection(tmp_path / "a.json")


def test_utf_16_with_a_byte_order_mark_is_read(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(json.dumps({**GOOD, "title": "Müller"}, ensure_ascii=False).encode("utf-16"))
    assert [p.title for p in papers(tmp_path / "a.jsonl")] == ["Müller"]


# Files and folders


@pytest.mark.parametrize(
    "name, content, why",
    [
        ("a.txt", b"", "the file is empty"),
        ("a.jsonl", b"\xef\xbb\xbf \n", "the file is empty"),
        ("a.txt", b"%PDF-1.7 ...", "this is a PDF"),
        ("a.json", b"PK\x03\x04....", "this is a zip archive or office document"),
        ("a.docx", b"PK\x03\x04....", "this is a zip archive"),
        ("a.bib", b"@article{}", "files ending in '.bib'"),
        ("paper", b"text", "its name has no ending"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(tmp_path, name, content, why):
    (tmp_path / name).write_bytes(content)
    assert only_rejection(tmp_path / name).startswith(f"{tmp_path / name}: ") and why in only_rejection(tmp_path / name)


def test_a_missing_file_a_pipe_and_a_tilde_that_is_nobodys_home_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.txt")
    assert "there is no such file" in only_rejection(tmp_path / "none.txt")
    assert "not a file that can be read" in only_rejection(tmp_path / "pipe.txt")
    assert "there is no such file" in only_rejection(Path("~nobody-by-this-name.txt"))
    (tmp_path / "~draft.txt").write_text("Heading\n\nA draft.")
    assert len(papers(Path("~draft.txt"))) == 1


def test_a_file_name_that_is_not_text_can_still_be_reported_and_stored(tmp_path):
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt"))
    file.write_text("Heading\n\nFine.\n\nNo full stop")
    (paper,), (other,) = papers(file), rejected(file)
    paper.source.encode(), other.where.encode()


def test_a_folder_is_read_through_but_not_its_hidden_files(tmp_path):
    for name in ("b/two.txt", "one.txt", ".git/x.txt", "b/.hidden.txt", "b/readme.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"Heading\n\nFrom {name}.")
    assert [p.abstract for p in papers(tmp_path)] == ["From b/two.txt.", "From one.txt."] and not rejected(tmp_path)


def test_a_folder_with_nothing_readable_says_so(tmp_path):
    assert "no file in this folder can be read" in only_rejection(tmp_path)


def test_a_folder_names_the_pdfs_and_exports_in_it_that_do_not_go_in(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text('{"Title": "Quokkas", "Abstract": "We count quokkas."}\n')
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.7")
    (tmp_path / "c.bib").write_text("@article{x}")
    (tmp_path / "README.md").write_text("notes")
    found = list(read(tmp_path))
    assert [r.title for r in found if isinstance(r, Paper)] == ["Quokkas"]
    assert sorted(Path(r.where).name for r in found if isinstance(r, Rejected)) == ["b.pdf", "c.bib"]
