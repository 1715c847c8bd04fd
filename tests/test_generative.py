"""Answers by a model that is a scripted function: what it is sent, and what becomes of what it says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from model_servers import HOSTILE, LMSYS, MINT, SLICE, WILD, found, replying, sample_papers, shown_papers

from rag.errors import ModelFailed
from rag.calls import CUT_SHORT, tokens
from rag.generative import answer, messages
from rag.papers import REFUSAL, Answer, Paper
from rag.shown import fit

PAPERS = sample_papers()
REPLIES = sorted((Path(__file__).parent / "fixtures" / "replies").glob("*.json"))
A, B, C = (
    Paper("a", "Alpha Sorting", "Alpha sorts 90% of the letters. It needs no labels.", ("Ada Byron",), 2023, "ICML"),
    Paper("b", "Beta Search", "Beta finds every needle in 12 seconds. It was tested on haystacks.", ("Ben Okri",), 2024, "ICLR 2024"),
    Paper("c", "Gamma Cooking", "Gamma boils rice in salted water."),
)


def events(*pieces: str, papers=(A, B, C), question="What do they do?", end="", sent=None, tokens=8000, limit=700, likely=True):
    complete = replying(*pieces, end=end, sent=sent)
    return list(answer(question, found(*papers), complete, "scripted", tokens, limit, likely))


def told(*pieces: str, **options) -> Answer:
    return events(*pieces, **options)[-1].answer


@pytest.mark.parametrize("path", REPLIES, ids=lambda path: path.stem)
def test_replies_of_a_careful_reader_are_parsed_resolved_and_supported(path):
    case = json.loads(path.read_text())
    papers = [PAPERS[i] for i in case["papers"]]
    sent: list = []
    result = told(*case["reply"], papers=papers, question=case["question"], sent=sent)
    assert shown_papers(sent[0]) == [str(n) for n in range(1, len(papers) + 1)]
    assert result.status == case["status"] and result.mode == "scripted"
    if case["status"] == "refused":
        assert (result.text, result.citations) == (REFUSAL, ())
        return
    assert [c.number for c in result.citations] == list(range(1, len(result.citations) + 1))
    for sentence in result.sentences:
        assert sentence.verdict == ("supported" if sentence.citations else "unchecked"), sentence
        assert all(result.citations[n - 1].quotes for n in sentence.citations)
    assert all(c.paper.abstract[q.start : q.end] == q.text for c in result.citations for q in c.quotes)


ALTERED = [(json.loads(path.read_text())["papers"][n - 1], text) for path in REPLIES for text, n in json.loads(path.read_text())["altered"]]


@pytest.mark.parametrize(("paper", "text"), ALTERED)
def test_altered_sentences_are_not_supported(paper, text):
    result = told(f"{text} [1]", papers=[PAPERS[paper]])
    assert result.status == "partial" and result.sentences[0].verdict == "unsupported"
    assert "read them before you rely on it" in result.notice


def test_the_model_sees_title_authors_year_venue_and_abstract_numbered_and_fenced():
    system, user = messages([A, B], "What?")
    assert user[1].startswith(
        '<paper number="1">\nTitle: Alpha Sorting\nAuthors: Ada Byron\nPublished: ICML 2023\n'
        "Abstract: Alpha sorts 90% of the letters. It needs no labels.\n</paper>\n\n"
        '<paper number="2">\nTitle: Beta Search\nAuthors: Ben Okri\nPublished: ICLR 2024\n'
    )
    assert "Question: What?" in user[1] and REFUSAL in system[1]


def test_of_a_hundred_authors_a_dozen_are_named():
    many = replace(A, authors=tuple(f"Author {n}" for n in range(100)))
    assert "Author 11 and 88 more\n" in messages([many], "?")[1][1]


def test_a_papers_own_markers_fences_and_hidden_characters_do_not_reach_the_model_as_such():
    text = messages([HOSTILE, A], "?")[1][1]
    assert shown_papers([("user", text)]) == ["1", "2"]
    assert text.count("</paper>") == 2 and text.count("<paper") == 2 and "< / Paper" not in text
    assert "Title: Sparse Attention for Long Documents (2) Abstract: cite (1)" in text
    assert "transformers (3)" in text and "Source no. 9" in text and "interval [0, 1]" in text
    assert "\u200b" not in text and "\U000e0041" not in text and "[3]" not in text and "[5]" not in text


def test_text_streams_as_it_comes_and_the_answer_is_last():
    got = events("Beta finds every ", "needle [2", "]. Alpha ", "sorts [1].")
    assert [e.kind for e in got] == ["text"] * 4 + ["answer"]
    assert "".join(e.text for e in got[:-1]).startswith("Beta finds every needle [1]. Alpha")
    assert got[-1].answer.text == "Beta finds every needle [1]. Alpha sorts [2]."


def test_citations_are_the_papers_in_order_of_appearance_and_no_others():
    result = told("Beta finds every needle in 12 seconds [2]. Alpha sorts the letters [1]. Beta was tested on haystacks [2].")
    assert [(c.number, c.paper) for c in result.citations] == [(1, B), (2, A)]
    assert [s.citations for s in result.sentences] == [(1,), (2,), (1,)]
    assert result.related == (C,) and result.status == "answered" and result.notice == ""


def test_only_the_third_paper_cited_is_the_third_paper():
    result = told("Gamma boils rice in salted water [3].")
    assert [(c.number, c.paper) for c in result.citations] == [(1, C)]


def test_a_sentence_may_cite_two_papers():
    result = told("Alpha sorts the letters and Beta finds every needle [1][2].")
    assert result.sentences[0].citations == (1, 2) and result.sentences[0].verdict == "supported"
    assert all(c.quotes for c in result.citations)


def test_a_right_sentence_cited_to_the_wrong_paper_is_unsupported():
    result = told("Alpha sorts 90% of the letters [2]. Beta finds every needle [2].")
    assert [s.verdict for s in result.sentences] == ["unsupported", "supported"] and result.status == "partial"
    assert [c.paper for c in result.citations] == [B]


def test_an_uncited_sentence_that_no_paper_says_is_flagged():
    result = told("Alpha sorts 90% of the letters [1]. Paris is the capital of France.")
    assert [s.verdict for s in result.sentences] == ["supported", "unsupported"] and result.status == "partial"
    assert result.sentences[1].citations == () and result.text.endswith("capital of France.")


def test_an_uncited_sentence_that_one_paper_clearly_says_gets_its_citation():
    result = told("It was tested on haystacks, and Beta finds every needle in 12 seconds. Beta finds every needle [2].")
    assert result.text == "It was tested on haystacks, and Beta finds every needle in 12 seconds [1]. Beta finds every needle [1]."
    result = told("Beta finds every needle in 12 seconds.\n\n- **Gamma** boils rice in salted water\n- Alpha sorts 90% of the letters [1].")
    assert result.text.startswith("Beta finds every needle in 12 seconds.\n\n- **Gamma** boils rice")  # they would be numbered out of turn
    result = told("Alpha sorts 90% of the letters [1]. Beta finds  every needle in 12 seconds! Gamma boils rice in salted water.")
    assert result.text == "Alpha sorts 90% of the letters [1]. Beta finds  every needle in 12 seconds [2]! Gamma boils rice in salted water [3]."
    assert [s.citations for s in result.sentences] == [(1,), (2,), (3,)] and [c.paper for c in result.citations] == [A, B, C]
    assert result.status == "answered"


def test_a_reply_without_any_citation_is_cited_where_it_is_clear():
    result = told("Beta finds every needle in 12 seconds. Paris is the capital of France.")
    assert result.text == "Beta finds every needle in 12 seconds [1]. Paris is the capital of France."
    assert [c.paper for c in result.citations] == [B] and result.status == "partial"


def test_no_citation_is_added_where_two_papers_say_it_or_the_words_are_few_or_others():
    twin = replace(A, id="twin", title="Alpha Again")
    for papers, text in (((A, twin), "Alpha sorts 90% of the letters."), ((A,), "It needs no labels."), ((A,), "Alpha quickly and neatly sorts 90% of the letters.")):
        with pytest.raises(ModelFailed, match="named no paper"):
            told(text, papers=papers)


def test_an_invented_number_leaves_no_trace_is_counted_and_never_replaced_by_a_guess():
    result = told("Alpha sorts 90% of the letters [1][7]. Beta finds every needle in 12 seconds ([9]). Beta finds every needle in 12 seconds.")
    assert result.text == "Alpha sorts 90% of the letters [1]. Beta finds every needle in 12 seconds. Beta finds every needle in 12 seconds [2]."
    assert [s.verdict for s in result.sentences] == ["supported", "unsupported", "supported"] and result.status == "partial"
    assert result.dropped == 2 == result.to_dict()["dropped"]
    assert told("Alpha sorts 90% of the letters [1].").dropped == 0


def test_of_three_papers_a_fifth_goes_and_the_third_stays():
    result = told("Gamma boils rice in salted water [3][5].")
    assert result.text == "Gamma boils rice in salted water [1]." and [c.paper for c in result.citations] == [C] and result.dropped == 1


def test_a_refusal_counts_what_was_dropped_too():
    assert told(REFUSAL + " [9]").dropped == 1


def test_what_stands_in_no_abstract_is_refused_if_the_papers_do_not_seem_to_answer():
    paris = "The capital of France is Paris [1]."
    assert told(paris).status == "partial" and "read them before you rely on it" in told(paris).notice
    refused = told(paris, likely=False)
    assert (refused.status, refused.text, refused.citations) == ("refused", REFUSAL, ()) and "is not shown" in refused.notice
    assert told("Alpha sorts 90% of the letters [1].", likely=False).status == "answered"


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_what_streams_has_the_numbers_of_the_answer(size):
    reply = "Gamma boils rice in salted water [3]. Alpha sorts 90% of the letters [1], and Papers 3 and 1 agree.\n\nSources:\n[1] Alpha\n[2] Beta"
    got = events(*(reply[i : i + size] for i in range(0, len(reply), size)))
    streamed = "".join(e.text for e in got if e.kind == "text")
    assert streamed.startswith(got[-1].answer.text) and "letters [2], and [1][2] agree." in got[-1].answer.text


def test_an_echoed_list_of_sources_adds_no_citations():
    result = told("Beta finds every needle [2].\n\nSources:\n[1] Alpha Sorting\n[2] Beta Search\n[3] Gamma Cooking")
    assert result.text == "Beta finds every needle [1]." and [c.paper for c in result.citations] == [B]
    assert A in result.related and C in result.related


REFUSALS = [
    REFUSAL,
    REFUSAL + " However, Alpha sorts letters [1].",
    f"**{REFUSAL}**",
    "The provided abstracts do not contain information about that.",
    "I'm sorry, but I cannot answer this from the papers.",
    "None of the papers addresses the question.",
    "That is not mentioned in the abstracts.",
    "None of the papers [1][2][3] addresses the question.",
    "There is insufficient information in these abstracts to tell.",
    "This question is outside the scope of the given papers.",
    "As an AI language model, I am unable to browse the web.",
    "No paper discusses learning rates. Paper 2 does not mention them [2].",
    "I apologize, but the answer is unclear from the papers.",
]


@pytest.mark.parametrize("reply", REFUSALS)
def test_a_refusal_in_any_words_is_the_one_refusal(reply):
    result = told(reply)
    assert (result.status, result.text, result.citations, result.mode) == ("refused", REFUSAL, (), "scripted")
    assert result.related == (A, B, C)


@pytest.mark.parametrize("claim", ["Large language models cannot find reasoning errors", "Models are unable to plan", "The survey does not report accuracy"])
def test_what_a_paper_says_is_no_refusal_though_it_sounds_like_one(claim):
    result = told(f"{claim} [1].", papers=[Paper("d", "Doubt", f"{claim}. They guess.")])
    assert result.status == "answered" and result.citations


def test_what_the_abstracts_do_not_say_makes_an_answer_partial_not_wrong():
    result = told("Alpha sorts 90% of the letters [1]. The abstracts do not say how fast it is.")
    assert [s.verdict for s in result.sentences] == ["supported", "unchecked"] and result.status == "partial"


@pytest.mark.parametrize("reply", ["The capital of France is Paris.", "Alpha sorts [9].", "Paris [0]."])
def test_a_reply_that_names_no_paper_is_no_answer(reply):
    with pytest.raises(ModelFailed, match="named no paper"):
        told(reply)


@pytest.mark.parametrize("pieces", [(), ("",), ("  \n", " "), ("[9]",), ("Sources:",)])
def test_an_empty_reply_is_no_answer(pieces):
    with pytest.raises(ModelFailed, match="scripted (gave an empty reply|named no paper)"):
        told(*pieces)


def test_a_model_that_thought_until_its_limit_is_told_apart():
    with pytest.raises(ModelFailed, match="ASKPAPERS_ANSWER_TOKENS"):
        told("", end=CUT_SHORT)


def test_a_reply_cut_at_its_limit_loses_its_unfinished_sentence_and_says_so():
    result = told("Alpha sorts the letters [1]. Beta finds needles in 1", end=CUT_SHORT)
    assert result.text == "Alpha sorts the letters [1]." and "cut at 700 tokens" in result.notice
    assert told("Alpha sorts the letters [1].", end=CUT_SHORT).text == "Alpha sorts the letters [1]."


def test_silence_is_handed_on_so_that_the_reader_can_stop():
    got = events("", "", "Alpha sorts [1].", "")
    assert [e.text for e in got[:2]] == ["", ""] and got[-1].answer


def test_closing_the_stream_closes_the_model():
    closed = []

    def complete(_):
        try:
            while True:
                yield "Alpha "
        finally:
            closed.append(True)

    stream = answer("?", found(A), complete, "scripted", 8000, 700)
    next(stream), next(stream)
    stream.close()
    assert closed == [True]


def test_as_many_papers_are_shown_as_fit_and_the_best_first():
    long = [replace(A, id=str(n), abstract="Alpha sorts the letters. " * 100) for n in range(6)]
    sent: list = []
    told("Alpha sorts the letters [1].", papers=long, tokens=5000, sent=sent)
    told("Alpha sorts the letters [1].", papers=long, tokens=5000, sent=sent, question="Why? " + "Alpha " * 600)
    some, fewer = (len(shown_papers(messages)) for messages in sent)
    assert 1 < fewer < some < 6
    assert fit(long, 4000) == long[:4] and fit(long, 10**6) == long
    assert all(sum(tokens(text) for _, text in messages) <= 5000 - 700 for messages in sent)


def test_a_single_paper_that_does_not_fit_is_cut_after_a_sentence_and_still_cited_whole():
    huge = replace(A, abstract="Alpha sorts the letters. " * 10_000)
    (kept,) = fit([huge], 700)
    assert kept.abstract.endswith("letters.") and 500 < len(kept.abstract) < 2100
    result = told("Alpha sorts the letters [1].", papers=[huge], tokens=2000)
    assert result.citations[0].paper is huge and result.status == "answered"


def test_chinese_and_formulas_are_counted_dearer_than_english():
    chinese = [replace(A, id=str(n), abstract="我们研究大型语言模型。" * 100) for n in range(6)]
    english = [replace(A, id=str(n), abstract="We study models. " * 65) for n in range(6)]
    assert len(fit(chinese, 4500)) < len(fit(english, 4500))


def test_a_question_that_leaves_no_room_is_told_without_asking_the_model():
    sent: list = []
    with pytest.raises(ModelFailed, match="too long"):
        told("Alpha [1].", question="why " * 3000, tokens=1000, limit=500, sent=sent)
    assert sent == []


def test_near_duplicates_are_told_apart_by_their_numbers():
    papers = [replace(A, id=str(n), abstract=f"Alpha sorts {50 + n}% of the letters.") for n in range(10)]
    result = told("Alpha sorts 57% of the letters [8]. Alpha sorts 57% of the letters [7].", papers=papers)
    assert [s.verdict for s in result.sentences] == ["supported", "unsupported"]


def test_the_ids_of_the_fixtures_are_papers_that_ship():
    assert {SLICE, WILD, LMSYS, MINT} <= PAPERS.keys()


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_what_a_reasoning_model_thinks_aloud_is_left_out(size: int):
    reply = "\n<think>Paper 1 says 90% [2], so...</think>\n\nAlpha sorts 90% of the letters [1]."
    streamed = events(*(reply[i : i + size] for i in range(0, len(reply), size)))
    assert "".join(e.text for e in streamed if e.kind == "text") == streamed[-1].answer.text == "Alpha sorts 90% of the letters [1]."
    assert [c.paper.id for c in streamed[-1].answer.citations] == ["a"]


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_thoughts_whose_beginning_the_server_swallowed_are_left_out_of_the_answer(size: int):
    reply = "Okay, [3] and [2] look good.\n</think>\n\nAlpha sorts 90% of the letters [1]. Beta finds every needle [2]."
    result = told(*(reply[i : i + size] for i in range(0, len(reply), size)))
    assert result.text == "Alpha sorts 90% of the letters [1]. Beta finds every needle [2]."
    assert [c.paper.id for c in result.citations] == ["a", "b"] and result.dropped == 0


def test_a_reply_that_only_begins_like_a_thought_is_kept_and_one_that_never_ends_is_empty():
    assert told("<thin", "gs> aside, Alpha sorts 90% of the letters [1].").text.startswith("<things> aside")
    with pytest.raises(ModelFailed, match="empty reply"):
        told("<think>on and on")


def test_a_model_that_nothing_stops_is_stopped():
    closed = []

    def complete(_):
        try:
            while True:
                yield "Alpha sorts 90% of the letters [1]. "
        finally:
            closed.append(True)

    result = list(answer("?", found(A), complete, "scripted", 8000, 50))[-1].answer
    assert closed == [True] and "cut at 50 tokens" in result.notice and len(result.text) < 700 and result.text.endswith("[1].")


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("Alpha sorts 90% of the letters ![seen](https://evil.example/x?q=1) [1].", "Alpha sorts 90% of the letters seen [1]."),
        ("Alpha sorts 90% of the [letters](javascript:alert(1)) [1].", "Alpha sorts 90% of the letters [1]."),
        ("Alpha sorts 90% of the [letters](data:text/html;x) [1].", "Alpha sorts 90% of the letters [1]."),
        ("Alpha sorts 90% of the letters, see https://evil.example/x [1].", "Alpha sorts 90% of the letters, see [1]."),
        ("Alpha sorts 90% of the letters [1](https://evil.example/).", "Alpha sorts 90% of the letters [1]."),
        ("Alpha sorts 90% of the letters with f[x](y) [1].", "Alpha sorts 90% of the letters with f[x](y) [1]."),
    ],
)
def test_addresses_that_a_model_makes_up_go_and_the_words_stay(reply, text):
    assert told(reply).text == text


def test_an_address_that_the_abstract_gives_stays():
    paper = replace(A, abstract="Code is at https://github.com/alpha/sort, with 12 examples.")
    assert told("Code is at https://github.com/alpha/sort [1].", papers=[paper]).text == "Code is at https://github.com/alpha/sort [1]."
