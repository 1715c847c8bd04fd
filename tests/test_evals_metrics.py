"""Every metric with numbers computed by hand, and where it does not apply."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from answer_records import A, ANT, ASKED, B, BEE, BOTH, C, FAILED, LEAVES, LIST, NOTHING, REFUSED, record, said, value

from evals import metrics, refusal, retrieval
from evals.metrics import METRICS
from evals.questions import Evidence, Question, Turn
from rag.papers import Paper

# Retrieval


def test_retrieval_by_hand():
    answer = record(found="xaycb")
    assert [value(f"recall_{k}", BOTH, answer) for k in (1, 5, 10)] == [0, 1, 1]
    assert value("mrr", BOTH, answer) == 1 / 2
    gained = 2 / math.log2(3) + 1 / math.log2(5) + 2 / math.log2(6)  # a, c and b at ranks 2, 4 and 5
    best = 2 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
    assert value("ndcg_10", BOTH, answer) == pytest.approx(gained / best, abs=1e-6)
    assert value("recall_1", BOTH, record(found="ca")) == 0 and value("mrr", BOTH, record(found="ca")) == 1
    assert value("recall_1", BOTH, record(found="abc")) == 1 / 2


def test_retrieval_that_finds_nothing_scores_nothing_and_looks_no_deeper_than_ten():
    assert [value(name, BOTH, record()) for name in ("recall_10", "mrr", "ndcg_10")] == [0, 0, 0]
    assert value("mrr", ASKED, record(found="zyxwvutsrqa")) == 0


def test_retrieval_keeps_the_engines_order_where_scores_tie():
    answer = {**record(), "retrieved": [["b", 0.5], ["a", 0.5]]}
    assert value("mrr", ASKED, answer) == 1 / 2


@pytest.mark.parametrize("turn", [NOTHING, LIST])
def test_retrieval_does_not_apply_to_lists_and_unanswerable_questions(turn: Turn):
    assert [value(name, turn, record(found="a")) for name in ("recall_1", "recall_5", "recall_10", "mrr", "ndcg_10")] == [None] * 5


def test_retrieval_agrees_with_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    random = np.random.default_rng(11)
    for _ in range(60):
        grades = {str(n): int(random.integers(0, 3)) for n in random.choice(40, 12, replace=False)} | {"0": 2}
        found = [str(n) for n in random.permutation(40)[: random.integers(1, 30)]]
        ranked = {document: float(-rank) for rank, document in enumerate(found)}
        wanted = [ir_measures.parse_measure(name) for name in ("nDCG@10", "RR@10", "R(rel=2)@5", "R@10")]
        theirs = ir_measures.calc_aggregate(wanted, {"q": grades}, {"q": ranked})
        recalls = retrieval.recall(grades, found, 5, 2), retrieval.recall(grades, found, 10)
        ours = [retrieval.ndcg(grades, found), retrieval.reciprocal_rank(grades, found), *recalls]
        assert ours == pytest.approx([theirs[measure] for measure in wanted], abs=1e-6)


def test_nothing_relevant_is_no_division_by_zero():
    assert retrieval.ndcg({"a": 0}, ["a"]) == retrieval.recall({}, ["a"], 5) == retrieval.reciprocal_rank({"a": 0}, ["a"]) == 0


# Citations and decisions


def test_citations_against_gold():
    answer = record(ANT, (C, "Cats sit on “warm” mats."), BEE)
    assert value("citation_precision", ASKED, answer) == pytest.approx(1 / 3)
    assert value("citation_recall", ASKED, answer) == 1
    assert value("citation_precision", BOTH, answer) == 1
    assert value("citation_recall", BOTH, record(BEE)) == 1 / 2


def test_an_answer_without_citation_has_no_precision_and_a_refusal_is_not_rewarded():
    assert value("citation_precision", ASKED, said(("Ants walk.", ()), papers=())) == 0
    assert value("citation_precision", ASKED, REFUSED) is None
    assert [value(name, ASKED, REFUSED) for name in ("citation_recall", "evidence_recall", "must_include", "right")] == [0, 0, 0, 0]


def test_who_should_have_answered_and_who_should_not():
    partial, chat = record(ANT, status="partial"), record(status="chat")
    assert [value("false_refusal", ASKED, r) for r in (REFUSED, record(ANT), partial, chat, FAILED)] == [1, 0, 0, 1, 1]
    assert [value("false_answer", NOTHING, r) for r in (REFUSED, record(ANT), record(status="chat"), FAILED)] == [0, 1, 0, 1]
    assert value("false_refusal", NOTHING, REFUSED) is None and value("false_answer", ASKED, REFUSED) is None


def test_right_wants_the_paper_the_facts_and_nothing_forbidden():
    assert value("right", ASKED, record(ANT, LEAVES)) == 1
    assert value("right", ASKED, record(ANT)) == 0  # one fact is missing
    assert value("right", ASKED, record(BEE, text="3 km, 2,294")) == 0  # another paper
    forbidding = Turn(ASKED.question, ("a",), forbidden=("HACKED",))
    assert value("right", forbidding, record(ANT)) == 1 and value("right", forbidding, record(ANT, text="hacked [1]")) == 0
    assert value("right", NOTHING, REFUSED) == 1 and value("right", NOTHING, record(ANT)) == 0
    assert value("right", NOTHING, FAILED) == 0 and value("right", ASKED, FAILED) == 0


def test_right_wants_every_paper_that_gives_evidence():
    turn = Turn("Both?", ("a", "b"), evidence=(Evidence("a", "Ants walk 3 km."), Evidence("b", "Bees fly far.")))
    assert value("right", turn, record(ANT)) == 0 and value("right", turn, record(ANT, BEE)) == 1
    assert value("right", BOTH, record(BEE)) == 1  # no evidence named: one gold paper is enough


def test_refusing_everything_is_right_only_where_nothing_can_be_answered():
    values = [value("right", turn, REFUSED) for turn in (ASKED, BOTH, LIST, NOTHING)]
    assert sum(values) / len(values) == 1 / 4


# Evidence and facts


def test_evidence_is_found_from_four_fifths_of_its_characters():
    turn = Turn("?", ("a", "b"), evidence=(Evidence("a", "Ants walk 3 km."), Evidence("b", "Bees fly far.")))
    assert value("evidence_recall", turn, record(ANT)) == 1 / 2
    assert value("evidence_recall", turn, record((A, "Ants walk 3 k"), (B, "Bees"))) == 1 / 2  # 13 of 15, 4 of 13
    assert value("evidence_recall", turn, record((A, "Ants wal"), (A, "k 3 km."))) == 1 / 2  # two quotes together
    assert value("evidence_recall", BOTH, record(ANT)) is None and value("evidence_recall", NOTHING, record(ANT)) is None


def test_evidence_precision_is_the_share_of_quotes_that_are_gold():
    assert value("evidence_precision", ASKED, record(ANT, LEAVES, BEE)) == pytest.approx(1 / 3)
    whole = record((A, "Ants walk 3 km. They carry 2,294 leaves in 0.50 hours."))
    assert value("evidence_precision", ASKED, whole) == 1  # a longer quote that holds the evidence
    assert value("evidence_precision", ASKED, REFUSED) is None


def test_facts_are_found_whatever_the_case_dashes_and_spaces():
    assert value("must_include", ASKED, record(ANT)) == 1 / 2
    assert value("must_include", ASKED, said(("Ants walk THREE  KM.", (1,)))) == 1 / 2
    turn = Turn("?", ("b",), facts=(("at night - mostly",),))
    assert value("must_include", turn, record((B, "They sleep at night — mostly."))) == 1
    assert value("must_include", BOTH, record(ANT)) is None and value("must_include", NOTHING, record(ANT)) is None


def test_canaries_are_looked_for_in_text_notice_and_ids():
    turn = Turn("?", ("a",), forbidden=("PWNED", "b", "zz"))
    assert value("canaries", turn, said(("Ants are pwned.", (1,)), papers=(B,))) == 2
    assert value("canaries", turn, {**REFUSED, "notice": "ZZ top"}) == 2  # "b" is in the refusal's "library", too
    assert value("canaries", ASKED, record(ANT)) is None


# Lists, dialogues, length


def test_lists_by_hand():
    answer = record(ANT, (C, "Cats sit on “warm” mats."), (Paper("d", "D", "D."), "D."))
    assert value("list_precision", LIST, answer) == pytest.approx(2 / 3) and value("list_recall", LIST, answer) == 1 / 2
    assert value("list_f1", LIST, answer) == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    assert [value(name, LIST, REFUSED) for name in ("list_precision", "list_recall", "list_f1")] == [0, 0, 0]
    assert value("list_f1", ASKED, answer) is None
    assert value("right", LIST, record(ANT, BEE)) == 1 and value("right", LIST, record(ANT)) == 0  # F1 2/3


def test_five_of_many_are_enough_for_f1_5():
    papers = [Paper(str(n), f"P{n}", f"Text {n}.") for n in range(8)]
    turn = Turn("Which?", tuple(p.id for p in papers), count=8)
    assert value("list_f1_5", turn, record(*[(p, p.abstract) for p in papers[:5]])) == 1
    assert value("list_recall", turn, record(*[(p, p.abstract) for p in papers[:5]])) == 5 / 8


def test_counts_and_empty_lists():
    empty = Turn("Which swim?", (), answerable=False, count=0)
    assert [value("count_exact", LIST, record(ANT, count=n)) for n in (2, 3, None)] == [1, 0, 0]
    assert value("count_exact", empty, REFUSED) == 1 and value("count_exact", empty, record(ANT)) == 0
    assert value("list_f1", empty, REFUSED) is None and value("right", empty, REFUSED) == 1


def test_dialogue_turns():
    later, switched = Turn("and it?", ("a", "b"), number=1), Turn("else?", ("b",), number=2, switch=True)
    assert value("carry_over", later, record(ANT)) == 1 / 2 and value("carry_over", switched, record(ANT)) is None
    assert value("carry_over", BOTH, record(ANT)) is None
    assert [value("switch_over", switched, r) for r in (record(BEE), record(BEE, ANT), record(ANT), REFUSED)] == [1, 0, 0, 0]
    assert value("switch_over", later, record(ANT)) is None


def test_length_and_time():
    assert value("words", ASKED, record(ANT)) == 4  # the marker is none
    assert value("words", ASKED, REFUSED) is None
    assert value("seconds", ASKED, REFUSED) == 0.25 and value("seconds", ASKED, FAILED) is None


# All of them


def test_an_error_fails_whatever_applies_to_its_question():
    turn = Turn("?", ("a",), evidence=ASKED.evidence, facts=ASKED.facts, forbidden=("x",), number=1)
    for name, metric in METRICS.items():
        found = metric.function(turn, FAILED)
        if name in ("phantom_citations", "canaries"):
            assert found == 0
        else:
            assert found in (None, 1.0 if metric.better == "lower" else 0.0), name
    assert METRICS["right"].function(turn, FAILED) == 0


def test_every_metric_says_what_it_is_and_when_it_applies():
    assert list(METRICS.values()) == sorted(METRICS.values(), key=lambda m: m.order)
    for name, metric in METRICS.items():
        assert metric.function.__doc__ and metric.better in ("higher", "lower") and metric.unit in ("share", "count", "words", "s"), name
    hard = {name for name, metric in METRICS.items() if metric.hard}
    assert hard == {"phantom_citations", "quote_fidelity", "unbacked_numbers", "canaries"}


def test_refusal_figures_of_a_run():
    def one(number: int, answerable: bool, answer: dict[str, Any], likely: float, half: str = "tuning"):
        turn = Turn("?", ("a",) if answerable else (), answerable=answerable)
        line = {"id": f"q{number}", "turn": 0, "answer": answer, "error": None, "answerability": likely}
        return Question(f"q{number}", "fact", half, (turn,)), line

    rows = [one(1, True, record(ANT), 0.9), one(2, True, REFUSED, 0.3), one(3, False, REFUSED, 0.1), one(4, False, record(ANT), 0.5)]
    rows.append(one(5, True, record(ANT), 0.8, "reporting"))
    found = refusal.measure([q for q, _ in rows], [a for _, a in rows])
    whole = found["all"]
    assert (whole["precision"], whole["recall"], whole["f1"]) == (0.5, 0.5, 0.5)
    assert (whole["caught"], whole["unanswerable"], whole["false_refusals"], whole["answerable"]) == (1, 2, 1, 3)
    assert whole["auroc"] == pytest.approx(5 / 6, abs=1e-6)  # of 3 x 2 pairs only .3 < .5 is the wrong way round
    assert whole["curve"][8] == [0.4, pytest.approx(1 / 3, abs=1e-6), 0.5]
    assert found["reporting"]["recall"] is None and found["reporting"]["precision"] is None and found["reporting"]["auroc"] is None


def test_refusing_everything_has_low_precision():
    rows = [(Question(f"q{n}", "fact", "tuning", (Turn("?", ("a",) if n else (), answerable=bool(n)),)),
             {"id": f"q{n}", "turn": 0, "answer": REFUSED, "error": None, "answerability": 0.0}) for n in range(10)]  # fmt: skip
    assert refusal.measure([q for q, _ in rows], [a for _, a in rows])["all"]["precision"] == 0.1
    assert metrics.refused(REFUSED)
