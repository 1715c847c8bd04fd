"""Does an answer say what its papers say: support, quotes, numbers, names and citations, with numbers computed by hand."""

from __future__ import annotations

import pytest
from answer_records import A, ANT, ASKED, B, BEE, C, FAILED, LEAVES, LIST, REFUSED, record, said, value

from evals import support
from evals.fidelity import fold, name_fidelity, numbers, phantom_citations, quote_fidelity, unbacked_numbers
from evals.questions import Turn
from rag.papers import Paper

# Support


def test_support_by_hand_with_a_judge_passed_in():
    answer = said(("One.", (1,)), ("Two.", (1, 2)), ("Three.", ()), papers=(A, B))
    asked = []

    def judge(sentence, papers):
        asked.append((sentence, [p.id for p in papers]))
        return sentence == "Two." and "a" in [p.id for p in papers]

    assert support.support_recall(ASKED, answer, judge) == pytest.approx(1 / 3)
    assert ("Two.", ["a", "b"]) in asked and not any(sentence == "Three." for sentence, _ in asked)
    # citations: One [1] unsupported; Two [1] is enough alone; Two [2] is not, and without it the rest still holds
    assert support.support_precision(ASKED, answer, judge) == pytest.approx(1 / 3)


def test_a_citation_counts_if_the_others_need_it():
    answer = said(("Both.", (1, 2)), papers=(A, B))
    assert support.support_precision(ASKED, answer, lambda sentence, papers: len(papers) == 2) == 1
    four = said(("All.", (1, 2, 3, 4)), papers=(A, B, C, Paper("d", "D", "D.")), known=(A, B, C, Paper("d", "D", "D.")))
    assert support.support_precision(ASKED, four, lambda sentence, papers: True) == 1  # three citations count, each enough alone


def test_the_built_in_judge_knows_a_quote_from_an_invention():
    assert value("support_recall", ASKED, record(LEAVES)) == 1
    assert value("support_recall", ASKED, said(("Ants carry 9,999 leaves in 0.50 hours.", (1,)))) == 0
    assert value("support_recall", ASKED, said(("Ants carry leaves.", (7,)))) == 0  # a number that stands for nothing


def test_support_does_not_apply_without_a_claim():
    for answer in (REFUSED, FAILED, said(("Here are two papers:", ()), papers=())):
        assert value("support_recall", ASKED, answer) is None and value("support_precision", ASKED, answer) is None


def test_a_model_as_judge_is_asked_once_and_must_say_yes_or_no():
    calls = []

    def complete(messages):
        calls.append(messages)
        yield "Ye"
        yield "s."

    judge = support.ModelJudge(complete)
    assert judge("Ants walk.", [A]) and judge("Ants walk.", [A]) and len(calls) == 1
    assert "Ants walk 3 km." in calls[0][-1][1] and "Sentence: Ants walk." in calls[0][-1][1]
    assert not support.ModelJudge(lambda messages: iter(["No"]))("x", [A]) and judge.failures == 0
    unsure = support.ModelJudge(lambda messages: iter(["Perhaps"]))
    assert not unsure("x", [A]) and unsure.failures == 1


def test_coverage_counts_claims_only():
    answer = said(("Here is what I found:", ()), ("Ants walk.", (1,)), ("Bees fly.", ()), ("Is that so?", ()))
    assert value("coverage", ASKED, answer) == 1 / 2
    assert value("coverage", ASKED, REFUSED) is None


# Fidelity


def test_citations_that_lead_nowhere():
    assert value("phantom_citations", ASKED, record(ANT)) == 0
    assert phantom_citations(ASKED, record(ANT, known=(B,))) == 1  # the library does not hold it
    assert phantom_citations(ASKED, said(("Ants.", (1, 3)), text="Ants [1][3] and [4].")) == 2
    assert phantom_citations(ASKED, REFUSED) == 0
    own = Paper("d", "D", "As shown before [7], it works.")
    assert phantom_citations(ASKED, record((own, "As shown before [7], it works."), known=(own,))) == 0  # a marker of the abstract's own


def test_quotes_are_exact_or_not():
    assert value("quote_fidelity", ASKED, record(ANT, BEE)) == 1
    shifted = record(ANT)
    shifted["citations"][0]["quotes"][0]["start"] += 1
    assert quote_fidelity(ASKED, shifted) == 1 / 2  # the span is wrong, the words in “ ” are right
    assert quote_fidelity(ASKED, record(ANT, known=(Paper("a", "", "Another text."), B))) == 0  # what the library holds counts
    assert quote_fidelity(ASKED, said(("They say “ants fly”.", (1,)))) == 0
    assert quote_fidelity(ASKED, said(("They say “They  carry 2,294 leaves”.", (1,)))) == 1
    assert quote_fidelity(ASKED, said(("They walk.", (1,)))) is None and quote_fidelity(ASKED, REFUSED) is None


@pytest.mark.parametrize(
    "text, expected",
    [
        ("2,294 of 10", ["2294", "10"]), ("0.50 and .5", ["0.5", "0.5"]), ("$1.2\\times$", ["1.2"]), ("$23\\%$ or 7{,}000", ["23", "7000"]),
        ("twelve of Two", ["12", "2"]), ("GPT-4 on ViT-B/32", ["4", "32"]), ("1.0, 007", ["1", "7"]), ("3-5 ± 2", ["3", "5", "2"]),
        ("one zero none", []), ("1,2,3", ["1", "2", "3"]), ("v1.2.3", ["1.2", "3"]), ("１２", ["12"]),
    ],
)  # fmt: skip
def test_numbers_in_one_form(text: str, expected: list[str]):
    assert numbers(text) == expected


def test_numbers_must_stand_in_a_cited_paper():
    assert unbacked_numbers(ASKED, record(LEAVES)) == 0
    assert unbacked_numbers(ASKED, said(("Ants walk 3 km, carry 2294 and 9 leaves by 2024.", (1,)))) == 1
    assert unbacked_numbers(ASKED, said(("Ants walk 3 km.", (2,)), papers=(A, B))) == 1  # it stands in the other paper
    share = (Paper("d", "", "0.85 of ants"),)
    assert unbacked_numbers(ASKED, said(("85% of ants.", (1,)), papers=share, known=share)) == 1
    assert unbacked_numbers(LIST, said(("27 papers are about ants.", (1,)), count=27)) == 0
    assert unbacked_numbers(ASKED, record(BEE)) is None and unbacked_numbers(ASKED, REFUSED) is None


def test_names_must_stand_in_a_cited_paper_or_in_the_question():
    assert name_fidelity(ASKED, said(("LoRA and GPT-4 and BERT help.", (1,)))) == pytest.approx(2 / 3)
    assert name_fidelity(Turn("What of BERT?", ("a",)), said(("BERT helps.", (1,)))) == 1
    assert name_fidelity(ASKED, record(BEE)) is None


def test_fold_keeps_case_and_makes_marks_alike():
    assert fold("“ﬁne”  —\n‘x’") == "\"fine\" - 'x'"
