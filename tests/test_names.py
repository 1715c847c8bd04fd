"""The names of papers: found however they are written, never in part, and standing for no paper if many share them."""

from __future__ import annotations

import pytest

from rag import Paper
from rag.lexical import all_terms
from rag.names import Names, folded, names_of, without

PAPERS = (
    Paper("agent", "AgentBench: Evaluating Models as Agents", "We present AgentBench, a benchmark of agents.", url="https://openreview.net/forum?id=zAdUB0aCTQ"),
    Paper("prune", r"$\mathbb{D}^2$ Pruning: Message Passing for Data", "We propose a way of pruning data.", doi="10.1000/pruning.7"),
    Paper("motif", "Motif: Intrinsic Motivation from Feedback", "We ask a model for its preferences. A motif is a pattern."),
    Paper("uni", "Uni-O4: Offline and Online Learning", "We propose Uni-O4. It beats SAC."),
    Paper("plain", "Stochastic Averaging with Compression", "We introduce SCALLION, an averaging method that sends less."),
    *(Paper(f"lm{n}", f"Study {n} of language models", f"LLMs are studied; so is the {'motif' if n < 3 else 'use'} of a model in part {n}.") for n in range(6)),
)
NAMES = Names(PAPERS)
HELD = [set(all_terms(f"{p.title} {p.abstract}")) for p in PAPERS]


def rarity(text: str) -> float:
    """As the library has it, but cruder: 1 for a text of which some word is in one paper at most."""
    return max((1 - (sum(term in held for held in HELD) - 1) / len(HELD) if term in set().union(*HELD) else 1.0 for term in all_terms(text)), default=1.0)


def found(question: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(question[m.start : m.end], m.papers) for m in NAMES.mentions(question, rarity)]


@pytest.mark.parametrize(
    ("said", "paper"),
    [("AgentBench", "agent"), ("agentbench", "agent"), ("AGENTBENCH", "agent"), ("agent-bench", "agent"), ("Agent Bench", "agent"), ("AgentBench's", "agent"),
     ("D2 Pruning", "prune"), ("d2-pruning", "prune"), ("D^2 Pruning", "prune"), ("Motif", "motif"), ("uni-o4", "uni"), ("Uni O4", "uni"), ("UniO4", "uni"), ("SCALLION", "plain"),
     ("Stochastic Averaging with Compression", "plain")],
)  # fmt: skip
def test_a_name_is_found_whatever_its_case_hyphens_and_latex(said: str, paper: str):
    assert (said, (paper,)) in found(f"What does {said} add to this?")


@pytest.mark.parametrize("address", ["https://openreview.net/forum?id=zAdUB0aCTQ", "https://openreview.net/pdf?id=zAdUB0aCTQ"])
def test_a_papers_address_stands_for_it(address: str):
    assert found(f"What is {address} about?") == [(address, ("agent",))]


def test_a_doi_stands_for_its_paper():
    assert found("what does 10.1000/pruning.7 say") == [("10.1000/pruning.7", ("prune",))]


@pytest.mark.parametrize("question", ["What do agents do?", "a benchmark of bench agents", "AgentBenchmark", "MyAgentBench", "the motif of a model", "what does UniO do?", "pruning", "", "???"])
def test_part_of_a_name_or_a_plain_word_is_no_name(question: str):
    assert found(question) == []


def test_a_name_that_many_papers_write_stands_for_none():
    assert found("What do LLMs do?") == [] and found("Are LLMs better than AgentBench?") == [("AgentBench", ("agent",))]


def test_a_name_that_papers_share_stands_for_none_even_if_one_of_them_is_called_so():
    clip = Names([Paper("own", "CLIP: Words and Pictures", "We present CLIP."), *(Paper(f"p{n}", f"Study {n}", "We use CLIP.") for n in range(4))])
    assert clip.mentions("What is CLIP?", lambda text: 1.0) == []
    alike = Names([Paper(f"p{n}", f"Bend: Part {n}", f"Part {n} is short.") for n in range(4)])
    assert alike.mentions("What is bend?", lambda text: 1.0) == []
    assert Names([Paper("own", "CLIP: Words and Pictures", "We present CLIP."), Paper("p", "Study", "We use CLIP.")]).mentions("What is CLIP?", lambda text: 1.0)[0].papers == ("own",)


def test_a_name_that_one_other_paper_writes_leads_there_but_is_not_its_own():
    mention = next(m for m in NAMES.mentions("What of SAC?", rarity))
    assert mention.papers == ("uni",) and not mention.own
    assert NAMES.mentions("What of Uni-O4?", rarity)[0].own


def test_names_come_in_the_order_of_the_question_each_at_its_place():
    question = "Is Uni-O4 older than AgentBench, or D2 Pruning?"
    assert found(question) == [("Uni-O4", ("uni",)), ("AgentBench", ("agent",)), ("D2 Pruning", ("prune",))]
    assert without(question, NAMES.mentions(question, rarity)) == "Is older than , or ?"


def test_of_two_papers_with_the_same_name_both_are_meant():
    twins = Names([Paper("a", "BEND: On DNA", "We bend."), Paper("b", "BEND: On Steel", "We bend, too.")])
    assert twins.mentions("What is BEND?", rarity)[0].papers == ("a", "b")


def test_a_paper_is_called_by_its_own_title_before_what_another_says_of_it():
    names = Names([Paper("other", "A Study", "We present GAIA, which is a rerun."), Paper("own", "GAIA: A Benchmark", "Questions for assistants.")])
    assert names.mentions("What is GAIA?", rarity)[0].papers == ("own",)


def test_a_papers_names_are_the_head_of_its_title_and_what_it_presents():
    heads, others = names_of(Paper("p", "ValUES: A Framework", "We introduce FrameIt. We use ADAM. Our new Separate And Learn (SAL) is good."))
    assert "values" in heads and {"frameit", "sal"} <= others and not {"adam", "aframework"} & (heads | others)


def test_folding_leaves_letters_and_digits():
    assert folded(r"$\mathbb{D}^2$ Pruning") == folded("d2-pruning") == "d2pruning" and folded("?!") == ""


@pytest.mark.parametrize(("typed", "meant"), [("agentbnech", True), ("AgentBnch", True), ("MyAgentBench", False), ("benchmarks", False)])
def test_a_name_that_was_typed_wrong_is_still_found_and_another_name_is_not_taken_for_it(seeds, typed: str, meant: bool):
    found = seeds.names().mentions(f"environments in {typed}", lambda text: 0.5 if text == "benchmarks" else 1.0 if "Bn" in text or "bn" in text or "My" in text else 0.1)
    papers = [seeds.paper(i).title.split(":")[0] for m in found for i in m.papers]
    assert ("AgentBench" in papers) == meant
