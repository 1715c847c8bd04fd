"""Lists: every paper that matches and no other, counted, each with the sentence that shows why; what is doubtful stays apart."""

from __future__ import annotations

import re
from typing import Callable

import numpy as np
import pytest
from shared import made_up, opened, topic

from rag import REFUSAL, Answer, Hit, Library, Paper
from rag.criteria import criterion
from rag.listing import SURE, Match, answer, contribution, topical
from rag.passages import Span
from rag.retrieve import Found


def marked(number: int) -> Paper:
    """A made-up paper; every third mentions GPT-4, every second of the others GPT-4.5."""
    paper = made_up(number, 3)
    extra = " It is tried on GPT-4 too." if number % 3 == 0 else " It is tried on GPT-4.5 too." if number % 2 == 0 else ""
    return Paper(paper.id, paper.title, paper.abstract + extra, paper.authors, paper.year)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("many")) as library:
        library.add(*(marked(n) for n in range(300)))
        yield library


def titles(answer: Answer) -> set[str]:
    return {citation.paper.title for citation in answer.citations}


def quoting_exactly(answer: Answer) -> bool:
    cited = [*answer.citations, *answer.doubtful]
    return [c.number for c in cited] == list(range(1, len(cited) + 1)) and all(
        c.paper.abstract[q.start : q.end] == q.text and q.text for c in cited for q in c.quotes
    )


def test_a_list_holds_every_matching_paper_of_a_large_library_and_no_other(many: Library):
    answer = many.ask("Which papers mention GPT-4?")
    assert (answer.form, answer.status, answer.count, answer.doubtful) == ("list", "answered", 100, ())
    assert {c.paper.id for c in answer.citations} == {f"made:{n}" for n in range(0, 300, 3)}
    assert quoting_exactly(answer) and all([q.text for q in c.quotes] == ["It is tried on GPT-4 too."] for c in answer.citations)
    assert answer.text.startswith("**100 of 300 papers** mention “GPT-4”:")
    assert [int(n) for n in re.findall(r"\[(\d+)\]$", answer.text, re.MULTILINE)] == list(range(1, 101))
    assert [(s.citations, s.verdict) for s in answer.sentences] == [((n,), "supported") for n in range(1, 101)]


@pytest.mark.parametrize(
    ("question", "ids"),
    [("Which papers mention GPT-4.5?", [n for n in range(300) if n % 3 and n % 2 == 0]), ("which papers mention gpt4 or gpt-4.5", [n for n in range(300) if n % 3 == 0 or n % 2 == 0]),
     ("Which papers do not mention GPT-4?", [n for n in range(300) if n % 3]), (f"how many papers mention {topic(250)}?", [250]), ("papers by Ada Author7", [7]),
     ("Which papers are from 2003?", range(3, 300, 25)), ("papers since 2023", [n for n in range(300) if n % 25 >= 23]), ("Which papers from 2003 mention GPT-4?", [3, 78, 153, 228]),
     ("Which papers mention GPT-4 but not kernel?", [n for n in range(0, 300, 3) if "kernel" not in f"{marked(n).title} {marked(n).abstract}"])],
)  # fmt: skip
def test_a_literal_list_is_exact(many: Library, question: str, ids):
    answer = many.ask(question)
    assert answer.form == "list" and answer.count == len(answer.citations) and quoting_exactly(answer)
    assert [c.paper.id for c in answer.citations] == [f"made:{n}" for n in ids]


@pytest.mark.parametrize(("question", "told"), [("Which papers mention NeRF?", "mentions “NeRF”"), ("papers by Nobody Atall", "is by Nobody Atall"), ("papers from 1999", "is from 1999"),
                                                ("Which papers give a GitHub link?", "gives a GitHub link"), ("Which papers from 1999 mention GPT-4?", "mentions “GPT-4”, from 1999")])  # fmt: skip
def test_a_list_of_nothing_is_refused_and_says_that_every_paper_was_looked_at(many: Library, question: str, told: str):
    answer = many.ask(question)
    assert (answer.text, answer.status, answer.form, answer.count, answer.citations) == (REFUSAL, "refused", "list", 0, ())
    assert answer.notice == f"None of the 300 {'papers' if told.startswith('is ') else 'abstracts'} {told}."


def test_a_list_of_a_subject_looks_past_the_first_hits(open_library: Callable[..., Library]):
    papers = [Paper(f"w{n}", f"Whale {n}", f"Whale songs are recorded in bay {n}.") for n in range(60)]
    with open_library() as library:
        library.add(*papers, *(made_up(n) for n in range(60)))
        answer = library.ask("Which papers are about whale songs?")
        listed = {c.paper.id for c in (*answer.citations, *answer.doubtful)}
    assert answer.count == len(answer.citations) == 60 and listed == {p.id for p in papers} and quoting_exactly(answer)


def test_a_survey_keeps_what_is_promising_of_all_papers_best_first(many: Library):
    seen: list[np.ndarray] = []

    def promising(rows: np.ndarray) -> np.ndarray:
        seen.append(rows)
        return rows[:, 3] > -0.1

    found = many.survey("graph kernels", promising)
    assert seen[0].shape == (300, 4) and len(found) == (seen[0][:, 3] > -0.1).sum() > 10
    assert [f.hit.score for f in found] == sorted((f.hit.score for f in found), reverse=True)
    assert [f.hit.paper.id for f in many.survey("graph kernels", lambda rows: rows[:, 0] > -2, within=["made:3", "made:9"])] in (["made:3", "made:9"], ["made:9", "made:3"])
    assert many.survey("  ", promising) == [] and many.survey("graph kernels", lambda rows: rows[:, 0] > 2) == []


@pytest.mark.parametrize(("chosen", "count"), [(["made:0", "made:1", "made:3"], 2), (["made:1"], 0), ([], 0)])
def test_a_list_within_chosen_papers_is_of_these_alone(many: Library, chosen: list[str], count: int):
    answer = many.ask("Which papers mention GPT-4?", within=chosen)
    assert answer.count == count == len(answer.citations) and {c.paper.id for c in answer.citations} <= set(chosen)
    assert many.ask("How many papers are there?", within=chosen).count == len(chosen)
    about = many.ask("Which papers are about graphs?", within=chosen)
    assert {c.paper.id for c in (*about.citations, *about.doubtful)} <= set(chosen)


@pytest.mark.parametrize("question", ["How many papers are there?", "list all papers", "how many papers do you have?"])
def test_how_many_papers_there_are_is_told(many: Library, question: str):
    answer = many.ask(question)
    assert (answer.status, answer.count, answer.citations) == ("chat", 300, ()) and "300 papers from 2000 to 2024" in answer.text


def hit(number: int, lexical: float, cosine: float, score: float, abstract: str = "One sentence. Another one.") -> Found:
    return Found(Hit(Paper(f"p{number}", f"Paper {number}", abstract), score, cosine, lexical), np.array([cosine - 0.1, cosine]))


def match(number: int, sure: float) -> Match:
    return Match(hit(number, 1, 1, 1).hit.paper, sure, Span(14, 26))


def test_doubtful_papers_are_apart_numbered_on_and_neither_cited_nor_counted():
    question = "Which papers are about whales?"
    listed = answer(question, criterion(question), [match(0, 0.9), match(1, SURE), match(2, SURE - 0.01)], 94, [])
    assert (listed.count, [c.number for c in listed.citations], [c.number for c in listed.doubtful]) == (2, [1, 2], [3])
    assert "Paper 2" not in listed.text and listed.text.startswith("**2 of 94 papers** seem to match *whales* (1 more may; they are not counted):")
    assert quoting_exactly(listed) and listed.doubtful[0].quotes[0].text == "Another one." and len(listed.sentences) == 2


def test_only_doubtful_papers_are_a_refusal_that_keeps_them_at_hand():
    question = "Which papers are about whales?"
    refused = answer(question, criterion(question), [match(1, SURE - 0.01)], 94, [hit(1, 0.2, 0.35, 0.4)])
    assert (refused.text, refused.status, refused.count, refused.citations, [c.number for c in refused.doubtful]) == (REFUSAL, "refused", 0, (), [1])
    assert refused.notice == "None of the 94 abstracts seems to match *whales*." and [p.id for p in refused.related] == ["p1"]


def test_papers_that_fit_a_subject_come_surest_first_and_those_that_do_not_are_left_out():
    question = "Which papers are about whales?"
    matches = topical(question, criterion(question), [hit(0, 0.9, 0.6, 0.62), hit(1, 0.9, 0.9, 0.6), hit(2, 0.0, 0.0, 0.1)])
    assert [m.paper.id for m in matches] == ["p1", "p0"] and all(m.sure >= SURE and m.span == Span(14, 26) for m in matches)


@pytest.mark.parametrize(
    ("question", "abstract", "title", "expected"),
    [("Which papers introduce a benchmark?", "We introduce a new benchmark.", "A", 1.0), ("Which papers introduce a benchmark?", "We introduce a new benchmark.", "A Benchmark", 1.5),
     ("Which papers introduce a benchmark?", "We win on every benchmark.", "A", 0.0), ("Which papers release a dataset?", "In this work we release a large corpus.", "A", 1.0),
     ("Which papers prove bounds?", "A lower bound follows.", "A", 1.0), ("Which papers are about whales?", "We introduce a new benchmark.", "A", 0.0)],
)  # fmt: skip
def test_what_a_paper_contributes_is_told_from_what_it_uses(question: str, abstract: str, title: str, expected: float):
    assert contribution(question, Paper("p", title, abstract)) == expected


def test_where_only_a_contribution_is_asked_for_who_does_not_make_it_is_not_counted():
    question = "Which papers introduce a benchmark?"
    found = [hit(0, 0.9, 0.8, 0.6, "Benchmarks are won. Often."), hit(1, 0.5, 0.4, 0.5, "Here we work. We introduce a benchmark.")]
    matches = {m.paper.id: m.sure for m in topical(question, criterion(question), found)}
    assert matches["p1"] >= SURE > matches.get("p0", 0)


@pytest.mark.parametrize(
    ("question", "expected"),
    [("Which papers mention GPT-3?", {"Tailoring Self-Rationalizers with Multi-Reward Distillation"}), ("which papers mention GPT3?", {"Tailoring Self-Rationalizers with Multi-Reward Distillation"}),
     ('Which papers contain the words "optimal transport"?', {"Analyzing and Improving Optimal-Transport-based Adversarial Networks"}),
     ("Which papers are by Yuta Saito?", {"Towards Assessing and Benchmarking Risk-Return Tradeoff of Off-Policy Evaluation"}),
     ("who mentions PyTorch or JAX?", {"Jumanji: a Diverse Suite of Scalable Reinforcement Learning Environments in JAX"})],
)  # fmt: skip
def test_literal_lists_over_the_sample_papers(seeds: Library, question: str, expected: set[str]):
    answer = seeds.ask(question)
    assert titles(answer) == expected and answer.count == len(expected) and quoting_exactly(answer)


def test_links_and_percentages_of_the_sample_papers_are_all_listed(seeds: Library):
    for question, sign in (("Which papers give a GitHub link?", r"github\.(com|io)/"), ("Which abstracts state a percentage?", r"\d\s*\\?%")):
        answer = seeds.ask(question)
        assert titles(answer) >= {p.title for p in seeds.papers() if re.search(sign, p.abstract)} and 10 < answer.count == len(answer.citations) < 40
        assert all(c.quotes for c in answer.citations)


def test_papers_about_a_subject_are_listed_surest_first_with_the_sentence_that_comes_nearest(seeds: Library):
    answer = seeds.ask("Which papers are about federated learning?")
    expected = {p.title for p in seeds.papers() if "federated" in p.title.lower()}
    assert len(expected) == 4 and expected <= titles(answer) and answer.count == len(answer.citations) <= 6
    assert quoting_exactly(answer) and all(c.quotes for c in answer.citations) and "“" in answer.text.splitlines()[2]


def test_papers_about_nothing_here_are_refused(seeds: Library):
    answer = seeds.ask("Which papers are about medieval poetry?")
    assert (answer.text, answer.count, answer.citations, answer.form) == (REFUSAL, 0, (), "list") and answer.notice.startswith("None of the 94 abstracts")
