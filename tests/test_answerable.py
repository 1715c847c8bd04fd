"""Whether a paper is about the question at all."""

from __future__ import annotations

import numpy as np
import pytest

from rag import Hit, Paper
from rag.answerable import answerability, features, unknown_names
from rag.retrieve import Found

PAPER = Paper("p", "AgentBench: Evaluating Agents", "It has 8 environments. It runs on one laptop.")


def found(sentence: float, lexical: float) -> list[Found]:
    return [Found(Hit(PAPER, 0.5, sentence, lexical), np.array([0.0, sentence]))]


def test_nothing_found_is_not_answerable():
    assert answerability("What is it?", [], {}, False) == 0.0


def test_what_fits_is_likelier_than_what_does_not_and_a_name_helps_and_an_unknown_name_does_not():
    asked, rarity = "How many environments are there?", {"environ": 0.6, "zorbform": 1.0}
    near, far = (answerability(asked, found(*fit), rarity, False) for fit in ((0.7, 0.9), (0.2, 0.1)))
    assert 0 <= far < 0.5 < near <= 1
    assert answerability(asked, found(0.4, 0.4), rarity, True) > answerability(asked, found(0.4, 0.4), rarity, False)
    assert answerability("How many ZorbFormer environments?", found(0.4, 0.4), rarity, False) < answerability(asked, found(0.4, 0.4), rarity, False)


def test_a_question_in_another_language_is_answerable_if_it_names_the_paper():
    question = "Wie viele Umgebungen hat AgentBench und welche sind es?"
    assert answerability(question, found(0.1, 0.1), {"umgebungen": 1.0}, False) < 0.5 <= answerability(question, found(0.1, 0.1), {"umgebungen": 1.0}, True)


def test_the_features_are_as_they_are_said_to_be():
    row = features("What of ZorbFormer, QuxNet and FooBar?", found(0.7, 0.3), {"zorbform": 1.0, "quxnet": 1.0, "foobar": 1.0}, True)
    assert row == pytest.approx([0.7, 0.3, 2, 1.0, np.log(4), 1])


@pytest.mark.parametrize(
    ("question", "names"),
    [("How does ZorbFormer differ?", {"ZorbFormer"}), ("Compare YaRN and AgentBench", {"YaRN"}), ("How does AgentBench differ?", set()), ("HOW DOES ZORBFORMER DIFFER?", set()),
     ("I know ZorbFormer well. What is AgentBench?", set()), ("What is https://example.org/ZorbFormer?", set()), ("How do zorbformers differ?", set())],
)  # fmt: skip
def test_a_name_that_no_abstract_holds_is_unknown_where_something_is_asked_of_it(question: str, names: set[str]):
    assert unknown_names(question, {"agentbench": 0.8, "zorbform": 1.0, "yarn": 1.0}) == names
