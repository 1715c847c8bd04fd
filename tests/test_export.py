"""References for other programs, read back by their own parsers; a conversation as Markdown."""

from __future__ import annotations

import io
import re

import pytest
import rispy
from pybtex.database import parse_string
from pybtex.richtext import Text

from rag.export import Exchange, bibtex, cited, markdown, plain, ris
from rag.papers import Answer, Citation, Paper, Quote, Sentence

PAPER = Paper(
    "p1", "LongLoRA: Efficient Fine-tuning of Large Models", "Costs 5% less & {more}; see a_b #1 ~ 2^3 \\ end.\nA second line.",
    ("Yukang Chen", "Laurens van der Maaten", "King, Martin Luther, Jr.", "José Ñáñez III", "孟子"), 2024, "ICLR 2024",
    "https://openreview.net/forum?id=a_b&x=1%20#top", "10.1000/a_b", ("long context", "R&D"),
)  # fmt: skip
NASTY = "}} \\end{document} @misc{x, title={y}} \"quoted\" % comment $ unclosed { TY  - JOUR\nER  - \nKW  - no"


def back(text: str):
    return parse_string(text, "bibtex").entries


def test_bibtex_is_read_back_as_it_was() -> None:
    [(key, entry)] = back(bibtex(PAPER)).items()
    assert key == "chen2024longlora" and entry.type == "inproceedings"
    people = entry.persons["author"]
    assert [" ".join(p.first_names + p.middle_names) for p in people] == ["Yukang", "Laurens", "Martin Luther", "José", ""]
    assert [" ".join(p.prelast_names + p.last_names) for p in people] == ["Chen", "van der Maaten", "King", "Ñáñez", "{孟子}"]
    assert [p.lineage_names for p in people] == [[], [], ["Jr."], ["III"], []]
    abstract = entry.fields["abstract"]
    for command, character in (("\\textbraceleft{}", "{"), ("\\textbraceright{}", "}"), ("\\textasciicircum{}", "^")):  # unknown to the parser
        abstract = abstract.replace(command, f"<{ord(character)}>")
    read = re.sub(r"<(\d+)>", lambda m: chr(int(m[1])), str(Text.from_latex(abstract)))
    assert read.replace("\xa0", "~") == " ".join(PAPER.abstract.split())
    assert str(Text.from_latex(entry.fields["title"])) == PAPER.title and "{LongLoRA:}" in entry.fields["title"]
    assert entry.fields["booktitle"] == "ICLR 2024" and entry.fields["year"] == "2024"
    assert entry.fields["url"] == PAPER.url and entry.fields["doi"] == PAPER.doi


def test_formulas_stay_latex_and_prices_do_not_become_formulas() -> None:
    paper = Paper("m", r"$\mathbb{D}^2$ Pruning in $O(n \log n)$", r"It costs $5 to $10, and \(x_i\) holds; $\frac{a$ is broken.")
    [entry] = back(bibtex(paper)).values()
    assert entry.fields["title"] == paper.title
    assert entry.fields["abstract"] == r"It costs \$5 to \$10, and \(x_i\) holds; \$\textbackslash{}frac\textbraceleft{}a\$ is broken."


@pytest.mark.parametrize("field", ["title", "abstract", "venue", "url", "doi"])
def test_no_field_can_break_out_of_its_entry(field: str) -> None:
    other = Paper("b", "Another", "Another abstract.", ("Ann Lee",), 2020)
    nasty = Paper(**{"id": "a", "title": "T", "abstract": "A", field: NASTY, "authors": (NASTY, "A and B")})
    entries = back(bibtex(nasty, other))
    assert len(entries) == 2 and len(list(entries.values())[0].persons["author"]) == 2
    records = rispy.load(io.StringIO(ris(nasty, other)))
    assert len(records) == 2 and records[1]["title"] == "Another" and "keywords" not in records[0]


def test_keys_differ_in_one_file_and_are_never_empty() -> None:
    twins = [Paper(str(i), "The Same", "x", ("Ann Lee",), 2020) for i in range(40)]
    assert len(back(bibtex(*twins))) == 40
    assert list(back(bibtex(Paper("x", "", "abstract")))) == ["paper"]


def test_ris_is_read_back_as_it_was() -> None:
    [record] = rispy.load(io.StringIO(ris(PAPER)))
    assert record["type_of_reference"] == "CPAPER" and record["title"] == PAPER.title and record["year"] == "2024"
    assert record["authors"] == ["Chen, Yukang", "van der Maaten, Laurens", "King, Martin Luther, Jr.", "Ñáñez, José, III", "孟子"]
    assert record["abstract"] == " ".join(PAPER.abstract.split()) and record["doi"] == PAPER.doi
    assert record["urls"] == [PAPER.url] and record["keywords"] == list(PAPER.keywords) and record["secondary_title"] == "ICLR 2024"


def test_the_kind_follows_the_venue() -> None:
    kinds = {"": "misc", "arXiv:2401.00001": "misc", "Nature": "article", "Proceedings of X": "inproceedings", "NeurIPS": "inproceedings"}
    for venue, kind in kinds.items():
        assert next(iter(back(bibtex(Paper("a", "T", "A", venue=venue))).values())).type == kind


def test_a_plain_reference() -> None:
    paper = Paper("a", "Is it?", "A", ("Ann Lee", "Bo Li"), 2020, "Nature", doi="10.1/x")
    assert plain(paper) == "Ann Lee and Bo Li. Is it? Nature 2020. https://doi.org/10.1/x"
    assert plain(Paper("a", "", "A")) == "Untitled paper."


def answer(paper: Paper, text: str, number: int = 1, **more) -> Answer:
    return Answer(text, "answered", citations=(Citation(number, paper, (Quote(paper.abstract, 0, len(paper.abstract)),)),), **more)


def test_a_conversation_has_one_list_of_references() -> None:
    one = Paper("a", "First *paper*", "We see [1] in [7].", ("Ann Lee",), 2020, "Nature", "https://e.org/a_b")
    two = Paper("b", "Second", "Bees count.")
    turns = [
        Exchange("What *is* it?", answer(one, "“We see [1] in [7].” [1]", sentences=(Sentence("We see [1] in [7].", (1,), "supported"),))),
        Exchange("And bees?", answer(two, "Bees count [1]. They fly.", sentences=(Sentence("They fly.", (1,), "unsupported"),), mode="small"), "2020"),
        Exchange("Stopped?", None),
    ]
    text = markdown("A title", turns)
    assert text.startswith("# A title\n\n## What \\*is\\* it?\n\n“We see [1] in [7].” [1]\n")
    assert "*Asked of: 2020.*\n\nBees count [2]. They fly." in text
    assert "> Not backed by the abstracts: “They fly.”" in text and "> Written by small." in text
    assert "*No answer is kept.*" in text
    assert "\\[1\\] Ann Lee. First \\*paper\\*. Nature 2020. <https://e.org/a_b>\n\n> “We see \\[1\\] in \\[7\\].”" in text
    assert "\\[2\\] Second.\n\n> “Bees count.”" in text
    assert [paper.id for paper in cited(t.answer for t in turns)] == ["a", "b"]
