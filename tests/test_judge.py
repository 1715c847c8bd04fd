"""Papers judged by a model that is a scripted function: what it is asked, what its words decide, and what they cost."""

from __future__ import annotations

import random

import pytest
from model_servers import HOSTILE, few, replying, shown_papers, using  # noqa: F401

from rag.calls import Meter, finished, tokens
from rag.errors import ModelFailed
from rag.judge import BATCH, Judged, judge, most_doubtful_first, read, settled
from rag.listing import SURE, Match
from rag.papers import Paper

QUESTION = "Which papers sort letters?"
PAPERS = [Paper(f"p{n:02}", f"Sorting {n}" if n % 3 == 0 else f"Cooking {n}", f"Abstract {n} says things. It says {n} more.") for n in range(25)]
MATCHING = {paper.id for paper in PAPERS if "Sorting" in paper.title}


def honest(sent: list | None = None):
    """A model that says yes to the papers with Sorting in their titles."""

    def complete(messages):
        if sent is not None:
            sent.append(messages)
        for number, block in enumerate(messages[1][1].split("</paper>")[:-1], 1):
            yield f"{number}: {'yes' if 'Title: Sorting' in block else 'no'}\n"

    return complete


def judged(candidates=PAPERS, complete=None, calls=10, context=8000, limit=700, question=QUESTION) -> Judged:
    return finished(judge(question, candidates, complete or honest(), calls, context, limit))


def test_every_candidate_is_judged_in_batches_and_the_calls_are_told():
    sent: list = []
    result = judged(complete=honest(sent))
    assert {i for i, yes in result.matches.items() if yes} == MATCHING and len(result.matches) == 25
    assert result.calls == len(sent) == 3 and result.failure == ""
    assert [len(shown_papers(messages)) for messages in sent] == [BATCH, BATCH, 5]
    assert all(f"Question: {QUESTION}" in messages[1][1] for messages in sent)


def test_no_candidates_no_calls_and_no_budget_no_calls():
    sent: list = []
    assert judged([], honest(sent)) == judged(complete=honest(sent), calls=0) == Judged()
    assert sent == []


def test_the_calls_are_bounded_and_go_to_the_first_candidates():
    result = judged(list(reversed(PAPERS)), calls=2)
    assert result.calls == 2 and result.matches.keys() == {paper.id for paper in PAPERS[5:]}


def test_the_order_of_the_candidates_changes_nothing():
    shuffled = PAPERS[:]
    random.Random(3).shuffle(shuffled)
    ours, theirs = [], []
    assert judged(complete=honest(ours)) == judged(shuffled, honest(theirs)) and ours == theirs


def test_a_candidate_named_twice_is_judged_once():
    sent: list = []
    assert judged(PAPERS[:3] * 4, honest(sent)).calls == 1 and len(shown_papers(sent[0])) == 3


@pytest.mark.parametrize(
    ("said", "decided"),
    [
        ("1: yes\n2: no\n3: yes", {1: True, 2: False, 3: True}),
        ("1. Yes\n2 - NO\n**3**: yes.", {1: True, 2: False, 3: True}),
        ('{"1": "yes", "2": false, "3": true}', {1: True, 2: False, 3: True}),
        ("Paper [1]: yes\nPaper [2]: no", {1: True, 2: False}),
        ("| 1 | yes |\n| 2 | no |", {1: True, 2: False}),
        ("3: no\n1: yes", {3: False, 1: True}),
        ("1: yes\n1: no\n2: no", {2: False}),
        ("1: yes, 2: maybe, 3: noteworthy", {1: True}),
        ("4: yes\n0: yes\n99: no", {}),
        ("yes", {}),
        ("All of them sort letters.", {}),
        ("", {}),
        ("1" * 5000 + ": yes", {}),
        ("2.1: yes", {}),
    ],
)
def test_only_one_clear_word_about_a_paper_decides(said, decided):
    assert read(said, 3) == decided
    matches = judged(PAPERS[:3], replying(said)).matches
    assert matches == {PAPERS[n - 1].id: yes for n, yes in decided.items()}


def test_an_unreadable_batch_leaves_its_papers_undecided_and_the_next_is_judged():
    replies = iter(["As a language model I find them all fascinating.", "<think>5 or 6?</think>1: yes\n2: yes"])

    def complete(messages):
        yield next(replies)

    result = judged(PAPERS[: BATCH + 2], complete)
    assert result.matches == {"p10": True, "p11": True} and result.calls == 2


def test_a_model_that_can_not_judge_is_given_up_after_two_calls():
    sent: list = []
    assert judged(PAPERS, replying("Sorting is fun.", sent=sent)) == Judged({}, 2) and len(sent) == 2


def test_a_model_that_fails_leaves_the_rest_undecided_and_is_not_asked_again():
    asked = []

    def complete(messages):
        asked.append(1)
        if len(asked) == 2:
            raise ModelFailed("The graphics card melted.")
        yield from honest()(messages)

    result = judged(complete=complete)
    assert len(result.matches) == BATCH and result.calls == 2 and result.failure == "The graphics card melted."


def test_a_model_that_never_ends_is_stopped():
    def endless(messages):
        while True:
            yield "1: yes\n"

    assert judged(PAPERS[:2], endless).matches == {"p00": True}


def test_what_is_sent_fits_the_context_and_a_huge_paper_is_cut():
    long = [Paper(f"l{n}", "Sorting", "Letters are sorted here. " * 100) for n in range(8)]
    huge = Paper("huge", "Sorting", "Letters are sorted here. " * 5000)
    sent: list = []
    result = judged([*long, huge], honest(sent), context=3000)
    assert result.matches.keys() == {paper.id for paper in (*long, huge)} and result.calls == len(sent) > 3
    assert all(sum(tokens(text) for _, text in messages) <= 3000 for messages in sent)
    first = judged([huge, *reversed(long)], context=3000, calls=1)
    assert first.calls == 1 and "huge" in first.matches and len(first.matches) < 4, "those that matter most, not those that come first by name"
    first = judged(list(reversed(long)), context=3000, calls=1)
    assert first.calls == 1 and first.matches.keys() < {paper.id for paper in long} and "l7" in first.matches and "l0" not in first.matches


def test_a_model_that_may_say_little_is_asked_about_few():
    sent: list = []
    assert len(judged(PAPERS[:6], honest(sent), limit=30).matches) == 6 and [len(shown_papers(m)) for m in sent] == [2, 2, 2]


def test_the_papers_are_fenced_and_what_they_ask_for_stays_inside():
    sent: list = []
    judged([HOSTILE, PAPERS[0]], honest(sent))
    assert shown_papers(sent[0]) == ["1", "2"] and sent[0][1][1].count("</paper>") == 2


def test_a_meter_counts_the_calls():
    meter = Meter(honest())
    judged(complete=meter)
    assert meter.usage == {"calls": 3}


def test_the_models_word_settles_what_it_decided_and_nothing_else():
    sure, doubtful, other, unasked = (Match(PAPERS[n], p, None) for n, p in enumerate((0.9, 0.11, 0.5, 0.12)))
    kept = settled([sure, doubtful, other, unasked], Judged({"p00": False, "p01": True, "p02": True}), SURE)
    assert [match.paper.id for match in kept] == ["p02", "p01", "p03"]
    assert all(match.sure >= SURE for match in kept[:2]) and kept[2] is unasked


def test_the_doubtful_are_asked_about_first():
    matches = [Match(PAPERS[n], p, None) for n, p in enumerate((0.95, SURE - 0.05, SURE, SURE - 0.01, 0.4))]
    assert [paper.id for paper in most_doubtful_first(matches, SURE)] == ["p03", "p01", "p02", "p04", "p00"]


TOPIC = "Which papers are about conversations with chatbots?"


def test_a_list_is_what_the_model_takes_of_it_and_its_total_is_true(few):
    sent: list = []

    def complete(messages):
        sent.append(messages)
        for number, block in enumerate(messages[1][1].split("</paper>")[:-1], 1):
            yield f"{number}: {'yes' if 'WildChat' in block else 'no'}\n"

    rules = few.ask(TOPIC)
    assert rules.count >= 2 and rules.form == "list"
    events = list(using(few, complete=complete).stream(TOPIC))
    answer = events[-1].answer
    assert answer.count == len(answer.citations) == 1 and answer.citations[0].paper.title.startswith("WildChat") and answer.doubtful == ()
    assert answer.mode == "scripted" and answer.usage == {"calls": 1} and len(sent) == 1 and "model" in answer.timings
    assert any(e.kind == "stage" and "which of" in e.text for e in events)
    none = using(few, complete=replying(*(f"{n}: no " for n in range(1, 9)))).ask(TOPIC)
    assert (none.status, none.count) == ("refused", 0)


def test_a_list_whose_model_fails_or_babbles_is_the_one_by_rules(few):
    rules = few.ask(TOPIC)

    def failing(_):
        raise ModelFailed("It broke.")

    for complete, notice in ((failing, "It broke."), (replying("All of them!"), "")):
        answer = using(few, complete=complete).ask(TOPIC)
        assert (answer.text, answer.count, answer.mode) == (rules.text, rules.count, "extractive") and notice in answer.notice
        assert answer.usage == {"calls": 1}


def test_a_literal_criterion_makes_no_call_and_neither_does_a_budget_of_none(few):
    sent: list = []
    asking = using(few, complete=replying("1: no", sent=sent))
    assert asking.ask('How many papers mention "GPT-4"?').usage == {}
    assert using(few, complete=replying("1: no", sent=sent), judge_calls=0).ask(TOPIC).count == few.ask(TOPIC).count
    assert sent == []
