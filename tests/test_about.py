"""What the trained model makes of an abstract: which sentence answers, whether any does, which of the nearest papers is meant."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from shared import WordEmbedder

from evals import train
from rag import Library, Paper, Settings, reading
from rag.errors import LibraryDamaged
from rag.about import about, bare, nearest, odds
from rag.passages import sentences


def read(library: Library, question: str, title: str) -> tuple[str, float]:
    """(the sentence that it would rather quote, the log odds that one answers)."""
    paper = next(p for p in library.papers() if p.title.startswith(title))
    found = library.find(question, 1, within=[paper.id])[0]
    told = reading.read(*bare(library, question, found, None), library.tokens(question))
    start, end = sentences(paper.abstract)[int(np.argmax(told.scores))]
    return paper.abstract[start:end], told.stated


@pytest.mark.parametrize(
    ("question", "title", "words"),
    [("how much better do people do than the machines?", "GAIA", "92%"),
     ("is the code out", "AgentBench", "github.com"), ("over how many settings are agents tried?", "AgentBench", "8 distinct environments")],
)  # fmt: skip
def test_the_sentence_that_answers_is_told_in_other_words(seeds: Library, question: str, title: str, words: str):
    assert words in read(seeds, question, title)[0]


@pytest.mark.parametrize("title", ["GAIA", "AgentBench", "KITAB"])
def test_what_an_abstract_answers_is_likelier_than_what_it_does_not(seeds: Library, title: str):
    answered = read(seeds, "what is it for?", title)[1]
    for question in ("which learning rate was it trained with?", "how many GPU hours did that take?", "what is the authors' affiliation?"):
        assert read(seeds, question, title)[1] < answered - 2, question


def test_it_is_the_same_every_time_and_no_matter_how_long_the_question(seeds: Library):
    assert read(seeds, "is the code out", "GAIA") == read(seeds, "is the code out", "GAIA")
    assert np.isfinite(read(seeds, "why " * 2000, "GAIA")[1])


def test_papers_that_come_near_change_places_and_none_comes_in_or_falls_out(seeds: Library):
    question = "When I adapt a chatbot to medical or legal writing, does it really take in new facts or does it mostly pick up the subject and the tone?"
    found, read_ = seeds.find(question, 10), nearest(seeds, question, 10)
    assert {f.hit.paper.id for f in found} == {f.hit.paper.id for f in read_}
    scores = [f.hit.score for f in read_]
    assert scores == sorted(scores, reverse=True) and read_[0].hit.paper.title.startswith("Dissecting learning and forgetting") and found[0] != read_[0]
    named = "Does GAIA or AgentBench have more questions?"
    assert [f.hit for f in nearest(seeds, named, 5)] == [f.hit for f in seeds.find(named, 5)]  # names decide


def test_the_title_that_a_follow_up_carries_asks_nothing(seeds: Library):
    paper = next(p for p in seeds.papers() if p.title.startswith("GAIA"))
    question = f"by how much? ({paper.title})"
    subjects, _ = about(seeds, question, seeds.find(question, 10))
    asked = seeds.find("by how much?", 1, within=[paper.id])[0]
    assert subjects[0].read.stated == pytest.approx(odds(seeds, "by how much?", asked), abs=1e-3)


def test_vectors_of_another_model_are_not_read_and_answers_go_on_without(tmp_path):
    with Library.open(tmp_path / "library", settings=Settings(), embedder=WordEmbedder(), seeds=False) as library:
        library.add(Paper("p", "FooNet: Counting Foo", "FooNet counts foo in 12 languages. It is fast.", "", ()))
        assert library.tokens("languages") is None and odds(library, "languages", library.find("languages")[0]) is None
        assert "12 languages" in library.ask("In how many languages does FooNet count foo?").text


def test_the_questions_that_it_learnt_from_are_in_order():
    with gzip.open(train.QUESTIONS, "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for line in lines]
    asked = [(q, answers) for paper in papers for q, answers in paper["questions"]]
    assert len(papers) == 1001 and len(asked) == 7264
    assert all(q.strip() and all(isinstance(n, int) and n >= 0 for n in answers) for q, answers in asked)
    assert 0.3 < sum(not answers for _, answers in asked) / len(asked) < 0.4


def test_what_is_read_of_the_sample_papers_for_training_is_what_is_read_for_an_answer(seeds: Library):
    case = next(train._tuning(seeds))
    assert case.vectors.shape[0] == case.rows.shape[0] > max(case.answers) and case.rows.shape[1] + case.row.shape[0] > 30
    assert case.tokens.shape[1] == case.vectors.shape[1] == 384


def test_a_damaged_reading_model_is_told_and_what_to_do(seeds: Library, tmp_path, monkeypatch):
    broken = tmp_path / "reader.onnx"
    broken.write_bytes(b"not a model")
    monkeypatch.setattr(reading, "MODEL", broken)
    reading._session.cache_clear()
    with pytest.raises(LibraryDamaged, match="Reinstall Ask Papers"):
        seeds.ask("How many environments does AgentBench have?")
    reading._session.cache_clear()
