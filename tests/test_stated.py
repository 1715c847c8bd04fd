"""Whether the abstract of the right paper states what is asked."""

from __future__ import annotations

import numpy as np
import pytest

from rag import Hit, Library, Paper
from rag.names import Mention
from rag.retrieve import Found
from rag.stated import FEATURES, features, probability, together, unmistakably
from rag.subjects import Subject

PAPER = Paper("p", "AgentBench: Evaluating Agents", "It has 8 environments and runs on one laptop. We compare GPT-4 and Llama 2 with MuJoCo or with games.")


def subject(named: bool = True, near: float = 0.4) -> Subject:
    cosines = np.array([near, near - 0.1])
    return Subject(Found(Hit(PAPER, 0.5, 0.5, 0.5), cosines), "", cosines, named)


def row(question: str, mentions: tuple[Mention, ...] = ()) -> dict[str, float]:
    return dict(zip(FEATURES, features(question, subject(), {}, mentions).tolist()))


@pytest.mark.parametrize(
    ("question", "named", "true"),
    [("How many environments does it have?", True, True), ("How many languages does it have?", True, False), ("What learning rate is used?", False, False),
     ("How does it differ from ZorbFormer?", True, False), ("What does it do?", True, True), ("Which laboratory stands behind it?", True, False),
     ("What limitations do the authors admit?", True, False), ("decoding latency per image?", True, False), ("How much money did it cost?", True, False)],
)  # fmt: skip
def test_a_kind_of_detail_that_the_abstract_does_not_hold_is_not_stated(question: str, named: bool, true: bool):
    assert (probability(question, subject(named), {"zorbform": 1.0}, ()) >= 0.5) is true


def test_the_paper_s_own_name_is_no_name_that_the_abstract_lacks():
    question = "Does AgentBench use QuxNet or MuJoCo?"
    told = row(question, (Mention(5, 15, ("p",), True),))
    assert (told["names missing"], told["names held"], told["yes or no"]) == (1, 1, 1)
    assert told["options"] == 1 and row("Does it use cats or dogs?")["options"] == -1


def test_the_form_of_the_question_is_seen():
    assert row("Why does it work?")["why"] == 1 and row("How does it work?")["how"] == 1
    assert (row("How many exactly?")["how many"], row("How many exactly?")["exactly"]) == (1, 1)
    assert (row("Which planets are named?")["head"], row("Which environments are named?")["head"]) == (-1, 1)
    assert row("What accuracy does it reach?")["number"] == 1 and row("WHAT DOES IT DO?")["names missing"] == 0


def test_a_question_in_another_language_is_not_judged_by_its_words():
    assert probability("Wie viele Umgebungen hat AgentBench und welche sind es?", subject(), {}, ()) == 1.0


def test_only_what_a_paper_unmistakably_answers_is_asked_of_it_unbidden(seeds: Library):
    kitab = next(p for p in seeds.papers() if p.title.startswith("KITAB"))
    for question, true in (("do the models hallucinate less with more popular books?", True), ("How long do I boil an egg?", False), ("What does YaRN do?", False)):
        found = seeds.find(question, 1, within=[kitab.id])[0]
        assert unmistakably(question, found, seeds.rarity(["hallucin", "popular", "book", "boil", "egg", "yarn"])) is true, question


def test_of_two_questions_the_one_that_is_not_stated_is_named_and_the_other_answered(seeds: Library):
    answer = seeds.ask("How many distinct environments does AgentBench consist of, and what learning rate does it use?")
    assert answer.status == "partial" and "8 distinct environments" in answer.text
    assert "what learning rate does it use" in answer.notice and "AgentBench" in answer.notice


def test_parts_are_judged_with_the_whole():
    assert together([0.5, 0.5], 0.5) == pytest.approx(0.5)
    assert together([0.9, 0.2], 0.2) < 0.5 < together([0.9, 0.4], 0.9)


@pytest.mark.parametrize(("question", "states"), [("What fidelity does it reach?", 0.0), ("What FID does it reach?", -1.0), ("What did the ablation show?", -1.0)])
def test_a_metric_is_a_word_of_its_own_and_stated_only_where_it_is_named(question: str, states: float):
    from rag.expected import held

    assert min(held(question, "Its fidelity is 9 percent."), 0.0) == states
