"""Markers in a model's text: what is a citation, what it becomes, and what is left alone."""

import time

import pytest

from rag.citations import Cited, Renumberer, find, neutral, split, without_sources


def renumbered(text: str, shown: int = 6, pieces: int = 0) -> tuple[str, list[int], int]:
    markers = Renumberer(shown)
    parts = [text[i : i + pieces] for i in range(0, len(text), pieces)] if pieces else [text]
    told = "".join(markers.feed(part) for part in parts) + markers.finish()
    return told, markers.order, markers.unknown


CITING = [
    ("B [4]. A [2].", "B [1]. A [2].", [4, 2]),
    ("It [1] does [1].", "It [1] does [1].", [1]),
    ("One [1][2] two.", "One [1][2] two.", [1, 2]),
    ("One [1] [2] two.", "One [1][2] two.", [1, 2]),
    ("One [3], [1].", "One [1][2].", [3, 1]),
    ("List [1, 2].", "List [1][2].", [1, 2]),
    ("List [1; 2 and 4].", "List [1][2][3].", [1, 2, 4]),
    ("Span [1-3].", "Span [1][2][3].", [1, 2, 3]),
    ("Range [2–3, 5].", "Range [1][2][3].", [2, 3, 5]),
    ("Wide【1】.", "Wide[1].", [1]),
    ("Double [[1]].", "Double [1].", [1]),
    ("Double [[1], [2]] go.", "Double [1][2] go.", [1, 2]),
    ("Dagger [1†source].", "Dagger [1].", [1]),
    ("Dagger 【2†L1-L3】.", "Dagger [1].", [2]),
    ("Footnote [^3] here.", "Footnote [1] here.", [3]),
    ("Round ([2]).", "Round [1].", [2]),
    ("Named [Paper 2, Paper 3].", "Named [1][2].", [2, 3]),
    ("According to Source 3, it does.", "According to [1], it does.", [3]),
    ("Papers 1 and 3 agree.", "[1][2] agree.", [1, 3]),
    ("Both Papers 4, 2, and 1 do.", "Both [1][2][3] do.", [4, 2, 1]),
    ("As sources 2–4 say.", "As [1][2][3] say.", [2, 3, 4]),
    ("It works (Paper 2).", "It works [1].", [2]),
    ("It works (see Papers 2 and 5).", "It works [1][2].", [2, 5]),
    ("It works, as in paper 2.", "It works, as in [1].", [2]),
    ("Paper 1 and 3 others do.", "[1] and 3 others do.", [1]),
    ("[Paper 2] says so.", "[1] says so.", [2]),
    ("[Papers 2 and 3] say so.", "[1][2] say so.", [2, 3]),
    ("[Source: 2] Good.", "[1] Good.", [2]),
    ("Linked [1](https://evil.example/x) here.", "Linked [1] here.", [1]),
    ("Twice [2] [2].", "Twice [1].", [2]),
    ("Glued[2].", "Glued[1].", [2]),
    ("Spaced [2] .", "Spaced [1].", [2]),
]


@pytest.mark.parametrize(("text", "told", "order"), CITING)
def test_every_way_of_citing_becomes_plain_numbers_in_order_of_appearance(text, told, order):
    assert renumbered(text) == (told, order, 0)


DROPPED = [
    ("Known [3] and unknown [7].", "Known [1] and unknown.", [3], 1),
    ("In a list [3, 9].", "In a list [1].", [3], 1),
    ("Range [5-8].", "Range [1][2].", [5, 6], 2),
    ("Before [9] a word.", "Before a word.", [], 1),
    ("In brackets ([9]).", "In brackets.", [], 1),
    ("In brackets (see [8], [9]) too.", "In brackets too.", [], 2),
    ("Doubled [[9]] here.", "Doubled here.", [], 1),
    ("Spaced [9] .", "Spaced.", [], 1),
    ("[9] First [1].", "First [1].", [1], 1),
    ("Counting from zero [0].", "Counting from zero.", [], 1),
    ("Not a paper 【4:0†source】.", "Not a paper.", [], 1),
    ("Source 9 says [2].", "Source 9 says [1].", [2], 1),
    ("Papers 8 and 9 and [2].", "Papers 8 and 9 and [1].", [2], 2),
    ("Papers 2 and 9 say.", "[1] say.", [2], 1),
    ("Glued[9]together.", "Gluedtogether.", [], 1),
]


@pytest.mark.parametrize(("text", "told", "order", "unknown"), DROPPED)
def test_a_number_that_stands_for_no_paper_is_dropped_and_counted_and_leaves_no_trace(text, told, order, unknown):
    assert renumbered(text) == (told, order, unknown)


UNTOUCHED = [
    "Weights in the interval [0, 1] grow.",
    "Scores in the range [1, 10] count.",
    "A set $[0,1]$ and $[1, 2]$ and $x_{[3]}$.",
    r"A set \([1,2]\) and \[ x[1] \] and $$ [1] $$.",
    "Code `a[1]` and\n```\nb[2]\n``` end.",
    "The elements a[i], a[1] and x[2].",
    "We document 3 failures of open source 7 times, with reference 2 points lower.",
    "The papers 12 authors wrote, and a paper 3 pages long.",
    "Since [2023] and [see below] and [12a].",
]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_intervals_formulas_code_and_years_are_no_citations(text):
    assert renumbered(text) == (text, [], 0)
    assert find(text) == []


def test_prices_are_no_formulas():
    assert renumbered("It costs $5 [3] to $10 [4].") == ("It costs $5 [1] to $10 [2].", [3, 4], 0)


def test_a_citation_beside_a_formula_or_an_interval_still_counts():
    assert renumbered("Here $[0,1]$ [2], and [0, 1] [3].") == ("Here $[0,1]$ [1], and [0, 1] [2].", [2, 3], 0)


@pytest.mark.parametrize("text", [case[0] for case in (*CITING, *DROPPED)] + UNTOUCHED)
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_how_the_stream_is_cut_into_pieces_changes_nothing(text, size):
    assert renumbered(text, pieces=size) == renumbered(text)


def test_text_is_handed_on_as_soon_as_it_is_certain():
    markers = Renumberer(3)
    assert markers.feed("Plain words") == "Plain words"
    assert markers.feed(" and [") == " and"
    assert markers.feed("2") == ""
    assert markers.feed("] more") == " [1] more"


def test_a_marker_that_the_end_cuts_off_is_left_out():
    assert renumbered("It works [1].  Also [2") == ("It works [1].  Also", [1], 0)


HEAVY = ["[", "[1", "[1,", "[[1]", "【", "(", "$", "$a ", "`", "```a ", "\\(", "\\[", " ", "\n", "[1](", "source ", "[1] ", "papers 1, ", "Papers 1 and 2 - ", "see paper 1 "]


@pytest.mark.parametrize("unit", HEAVY)
def test_no_text_takes_long(unit):
    text = unit * (50_000 // len(unit))
    started = time.process_time()
    told, _, _ = renumbered(text)
    split(told), without_sources(told), neutral(text)
    assert time.process_time() - started < 3


def test_fifty_thousand_brackets_take_no_time():
    started = time.process_time()
    renumbered("[" * 50_000)
    assert time.process_time() - started < 0.1


def test_sentences_carry_the_numbers_that_they_cite():
    assert split("A does [1]. B does [2][1]. C does.") == [Cited("A does.", (1,)), Cited("B does.", (2, 1)), Cited("C does.", ())]


def test_a_marker_behind_the_full_stop_belongs_to_the_sentence_before():
    assert split("A does. [1] B does. [2]") == [Cited("A does.", (1,)), Cited("B does.", (2,))]


def test_a_marker_that_begins_a_sentence_belongs_to_it():
    assert split("A does [2]. [1] shows that B does.") == [Cited("A does.", (2,)), Cited("shows that B does.", (1,))]


def test_items_of_a_list_are_sentences_of_their_own_without_their_bullets():
    told = "Two things:\n- A does [1]\n- B does [2].\n\n1. C does [3]."
    assert split(told) == [Cited("Two things:", ()), Cited("A does", (1,)), Cited("B does.", (2,)), Cited("C does.", (3,))]


def test_what_looks_like_a_marker_in_code_or_maths_cites_nothing():
    assert split("The set $[1]$ and `a[2]` [3].") == [Cited("The set $[1]$ and `a[2]`.", (3,))]
    assert [marker.number for marker in find("The set $[1]$ and `a[2]` [3].")] == [3]


@pytest.mark.parametrize(
    "block",
    [
        "Sources:\n[1] AgentBench\n[2] GAIA",
        "**References**\n- [1] AgentBench (2024)\n\n- [2] GAIA",
        "## Sources\n1. AgentBench\n2. GAIA",
        "Source: [1]",
        "[1]: https://evil.example/1\n[2]: https://evil.example/2",
        "References:",
    ],
)
def test_an_echoed_list_of_sources_goes(block):
    assert without_sources(f"A does [1].\n\n{block}\n") == "A does [1]."


@pytest.mark.parametrize(
    "text", ["A does [1].\n\nSources:\nThe data come from the web [2].", "A does:\n- B [1]\n- C [2]", "Sources: [1] says so."]
)
def test_what_is_no_list_of_sources_stays(text):
    assert without_sources(text) == text


def test_a_papers_own_markers_are_defused_and_the_rest_of_it_kept():
    assert neutral("As in [3], and [1, 2], Source 9: yes.") == "As in (3), and (1, 2), Source no. 9: yes."
    for text in ("Weights in [0, 1].", "In $[1,2]$ and `a[1]`.", "Plain text."):
        assert neutral(text) == text
    told, order, _ = renumbered(neutral("As in [3] and 【2】 and Source 1."))
    assert order == []
