"""What kind of detail a question asks for, and whether an abstract holds one."""

from __future__ import annotations

import pytest

from rag.expected import counted, headed, held
from rag.lexical import all_terms

HAS = {
    "What accuracy does it reach?": "It reaches 93.5% on the test set.",
    "By how much does it beat the rest?": "It wins.",
    "What is the speed-up?": "It is 3x faster.",
    "How long does training take?": "It trains within two hours.",
    "Which GPUs were used?": "It runs on one A100.",
    "Who funded it?": "Funded by a grant.",
    "What license does it have?": "Released under the MIT license.",
    "Is the code available?": "See https://github.com/a/b.",
    "What learning rate is used?": "A learning rate of 0.1 works.",
    "How many annotators took part?": "We asked 12 trained annotators.",
}
WITHOUT = "We study graphs and find that they help."


@pytest.mark.parametrize("question", [q for q in HAS if q != "By how much does it beat the rest?"])
def test_a_kind_of_detail_is_told_from_an_abstract_without_it(question: str):
    assert held(question, HAS[question]) == 1.0 and held(question, WITHOUT) == -1.0


@pytest.mark.parametrize("question", ["What does it propose?", "Why does it work?", "How does it differ?", "", "What is it compared with?"])
def test_a_question_of_no_such_kind_says_nothing(question: str):
    assert held(question, WITHOUT) == 0.0 and counted(question, WITHOUT) == 0.0


def test_two_kinds_at_once_must_both_be_there():
    question = "Which GPUs were used, and what learning rate?"
    assert held(question, "On one A100 with a learning rate of 0.1.") == 1.0 and held(question, "On one A100.") == -1.0


@pytest.mark.parametrize(
    ("question", "abstract", "expected"),
    [("How many environments does it have?", "It consists of 8 distinct environments.", 1.0), ("How many environments does it have?", "It has three hard and well-known tasks in each one of its environments.", -1.0),
     ("How many tasks are there?", "Seven hard tasks.", 1.0), ("How many tasks are there?", "Tasks are hard. We spent 3 years.", -1.0), ("What is the number of languages?", "It speaks 12 languages.", 1.0),
     ("How many tasks are there?", "Tasks, 3 of them.", 1.0)],
)  # fmt: skip
def test_a_number_counts_only_before_what_is_counted(question: str, abstract: str, expected: float):
    assert counted(question, abstract) == expected


def test_which_kind_of_thing_is_asked_for_is_looked_for_in_the_abstract():
    assert headed("Which optimizer is used?", all_terms("An optimizer of ours")) == 1.0
    assert headed("Which optimizer is used?", all_terms("A graph of ours")) == -1.0
    assert headed("How does it work?", all_terms("A graph of ours")) == 0.0
