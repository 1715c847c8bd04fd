"""What is typed wrong is put right, and what is a word stays."""

from __future__ import annotations

import pytest

from rag.papers import Paper
from rag.spelling import Spelling

PAPERS = [
    Paper(id=str(n), title="Training hypernetworks", abstract="A stable transformer codec is trained with objects. Which length has the training? A problem of generalization, optimization and communication.")
    for n in range(2)
]


@pytest.fixture(scope="module")
def spelling():
    return Spelling(PAPERS)


@pytest.mark.parametrize(
    "typed, meant",
    [
        ("waht is teh probelm", "what is the problem"),
        ("whcih lenght has the trainig?", "which length has the training?"),
        ("a tranformer that is stabel", "a transformer that is stable"),
        ("comunication of objets", "communication of objects"),
        ("optimisation and generalisation", "optimization and generalization"),
    ],
)
def test_slips_are_put_right_where_the_library_writes_the_word(spelling, typed, meant):
    assert spelling.corrected(typed, lambda word: False) == meant


@pytest.mark.parametrize("question", ["which codecs fake the wording", "pasting reusable rungs into pizza", "do quokkas invent mamba?", "HOW STABEL IS IT", "see https://exmaple.org/lenght or trainig/lenght"])
def test_words_that_the_library_lacks_stay_as_they_are(spelling, question):
    assert spelling.corrected(question, lambda word: False) == question


def test_names_stay(spelling):
    assert spelling.corrected("is trainig a stabel thing", lambda word: word == "trainig") == "is trainig a stable thing"


def test_a_library_without_papers_corrects_nothing():
    assert Spelling([]).corrected("a stabel trainig", lambda word: False) == "a stabel trainig"
