"""What comes of a question without a model: the papers it is about, comparisons, refusals and what they say, odd input."""

from __future__ import annotations

from typing import Callable

import pytest

from rag import REFUSAL, Answer, Library, Paper
from rag.subjects import subjects

AGENT, JUMANJI = "AgentBench: Evaluating LLMs as Agents", "Jumanji: a Diverse Suite of Scalable Reinforcement Learning Environments in JAX"


def titles(answer: Answer) -> list[str]:
    return [citation.paper.title for citation in answer.citations]


def exact(answer: Answer) -> bool:
    """Whether every quote is a span of its paper, every sentence one of the quotes, and every number in the text a citation."""
    quotes = {(c.number, q.text) for c in answer.citations for q in c.quotes}
    return (
        all(c.paper.abstract[q.start : q.end] == q.text for c in answer.citations for q in c.quotes)
        and {(s.citations[0], s.text) for s in answer.sentences} == quotes
        and all(f"“{text}” [{number}]" in answer.text for number, text in quotes)
    )


@pytest.mark.parametrize(
    ("question", "heads"),
    [("Compare SliceGPT and D2 Pruning", ["SliceGPT", "Pruning: Message"]), ("What is the difference between Jumanji and AgentBench?", ["Jumanji", "AgentBench"]),
     ("agentbench vs. jumanji", ["AgentBench", "Jumanji"]), ("How do BEND, GAIA and KITAB differ?", ["BEND", "GAIA", "KITAB"]),
     ("How does GAIA differ from the paper on protein dynamics design?", ["GAIA", "Protein Design"])],
)  # fmt: skip
def test_a_comparison_cites_every_side_in_order(seeds: Library, question: str, heads: list[str]):
    answer = seeds.ask(question)
    assert (answer.status, answer.form) == ("answered", "comparison") and exact(answer)
    assert len(titles(answer)) == len(heads) and all(head in title for head, title in zip(heads, titles(answer))), titles(answer)
    assert all(c.quotes for c in answer.citations)


@pytest.mark.parametrize("question", ["How does AgentBench differ from JiuZhang?", "Compare ZorbFormer and SliceGPT", "ZorbFormer vs. YaRN?"])
def test_no_other_paper_stands_in_for_a_side_that_no_abstract_names(seeds: Library, question: str):
    answer = seeds.ask(question)
    assert (answer.text, answer.status, answer.citations) == (REFUSAL, "refused", ())


def test_a_question_about_one_paper_is_prose(seeds: Library):
    assert seeds.ask("What does AgentBench measure?").form == "prose"


@pytest.mark.parametrize(
    ("question", "said"),
    [("How many environments does AgentBench have, and how much of a model can SliceGPT remove?", {AGENT: "8 distinct environments", "SliceGPT: Compress Large Language Models by Deleting Rows and Columns": "25%"}),
     ("How many environments does AgentBench have? Where is it released?", {AGENT: "8 distinct environments|github.com/THUDM/AgentBench"}),
     ("How many questions does GAIA have and how many environments has AgentBench?", {"GAIA: a benchmark for General AI Assistants": "466", AGENT: "8 distinct environments"})],
)  # fmt: skip
def test_several_questions_in_one_are_each_answered(seeds: Library, question: str, said: dict[str, str]):
    answer = seeds.ask(question)
    quoted = {c.paper.title: " ".join(q.text for q in c.quotes) for c in answer.citations}
    assert set(quoted) == set(said) and exact(answer)
    assert all(words in quoted[title] for title in said for words in said[title].split("|"))


@pytest.mark.parametrize(
    ("question", "title"),
    [("what does agentbench measure", AGENT), ("what does agent-bench measure", AGENT), ("What does Agent Bench measure?", AGENT), ("WHAT DOES AGENTBENCH MEASURE?", AGENT), (AGENT, AGENT),
     (AGENT.upper(), AGENT), (f"“{AGENT}”", AGENT), ("https://github.com/THUDM/AgentBench", AGENT), ("https://openreview.net/forum?id=zAdUB0aCTQ", AGENT),
     ("what does d2-pruning do", r"$\mathbb{D}^2$ Pruning: Message Passing for Balancing Diversity & Difficulty in Data Pruning"),
     ("How Does Unlabeled Data Provably Help Out-of-Distribution Detection?", "How Does Unlabeled Data Provably Help Out-of-Distribution Detection?"),
     ("AgentBench\n\n\tmeasures what??", AGENT), ("\u200bWhat does Agent\u200bBench measure?", AGENT)],
)  # fmt: skip
def test_a_paper_is_found_however_it_is_named(seeds: Library, question: str, title: str):
    answer = seeds.ask(question)
    assert answer.status == "answered" and titles(answer) == [title] and exact(answer)


@pytest.mark.parametrize("question", ["https://example.org/unknown-page", "10.9999/nothing.here", "What is ZorbFormer?", "How does ZorbFormer-9 work?", "Who is Zaphod Beeblebrox?", "Tell me about YaRN",
                                      "What does AgentBench say about ZorbFormer?", "?!", "a" * 10_000, "😀" * 3000])  # fmt: skip
def test_what_no_abstract_knows_is_refused(seeds: Library, question: str):
    answer = seeds.ask(question)
    assert (answer.text, answer.status, answer.citations, answer.count) == (REFUSAL, "refused", (), None) and answer.answerability < 0.5


@pytest.mark.parametrize(
    "question", ["What learning rate does AgentBench use?", "Who funded AgentBench?", "How many annotators were paid for AgentBench?", "How many languages does AgentBench cover?", "What license does AgentBench have?"]
)
def test_a_detail_that_is_not_stated_is_refused_and_the_paper_is_named(seeds: Library, question: str):
    answer = seeds.ask(question)
    assert (answer.text, answer.status, answer.citations) == (REFUSAL, "refused", ()) and answer.answerability < 0.5
    assert answer.notice.startswith(f"The abstract of “{AGENT}” doesn't state that.") and answer.related[0].title == AGENT
    nearest = answer.notice.partition("The nearest that it says: “")[2].removesuffix("”")
    assert nearest and nearest in answer.related[0].abstract


def test_how_likely_the_abstracts_answer_is_told_where_it_was_judged(seeds: Library):
    assert seeds.ask("How many environments does AgentBench have?").answerability > 0.9
    assert seeds.ask("hi").answerability is None and seeds.ask("Which papers mention GPT-4?").answerability is None


@pytest.mark.parametrize("question", ["Wie viele Umgebungen hat AgentBench?", "¿Cuántos entornos tiene AgentBench?", "AgentBench 有多少个环境?", "AgentBenchは何を測りますか",
                                      "Combien d'environnements AgentBench a-t-il et quels sont-ils ?", "Что измеряет AgentBench?"])  # fmt: skip
def test_of_a_question_in_another_language_the_name_is_found_and_the_notice_says_so(seeds: Library, question: str):
    answer = seeds.ask(question)
    assert titles(answer) == [AGENT] and "abstracts are in English" in answer.notice


def test_a_question_in_another_language_without_a_name_is_refused_with_the_same_word(seeds: Library):
    answer = seeds.ask("Как сварить яйцо?")
    assert answer.text == REFUSAL and "abstracts are in English" in answer.notice
    assert "English" not in seeds.ask("How do I boil an egg?").notice


def test_what_is_asked_is_found_before_ten_thousand_characters_of_something_else(seeds: Library):
    answer = seeds.ask("How many environments does AgentBench have? " + "I have wondered for a long time. " * 310)
    assert answer.status == "answered" and "8 distinct environments" in answer.text and len(answer.query) <= 4000


def test_a_question_within_chosen_papers_is_answered_from_these_alone(seeds: Library):
    ids = {paper.title: paper.id for paper in seeds.papers()}
    others = [i for title, i in ids.items() if title != AGENT]
    assert titles(seeds.ask("What does AgentBench measure?", within=[ids[AGENT]])) == [AGENT]
    elsewhere = seeds.ask("What does AgentBench measure?", within=[ids[JUMANJI]])
    assert elsewhere.text == REFUSAL and {p.title for p in elsewhere.related} <= {JUMANJI}
    assert AGENT not in titles(seeds.ask("What does AgentBench measure?", within=others))
    assert seeds.ask("What does AgentBench measure?", within=[]).text == seeds.ask("What does AgentBench measure?", within=["no such paper"]).text == REFUSAL
    both = seeds.ask("Compare AgentBench and Jumanji", within=[ids[AGENT], ids[JUMANJI]])
    assert sorted(titles(both)) == [AGENT, JUMANJI] and {p.title for p in both.related} <= {AGENT, JUMANJI}


@pytest.mark.parametrize(("question", "said"), [("Who wrote AgentBench?", "Xiao Liu, Hao Yu"), ("When was AgentBench published?", "ICLR 2024"), ("At which conference did AgentBench appear?", "ICLR 2024")])
def test_a_papers_record_is_told_and_said_to_be_the_record(seeds: Library, question: str, said: str):
    answer = seeds.ask(question)
    assert answer.status == "answered" and titles(answer) == [AGENT] and said in answer.text and "not from its abstract" in answer.notice


def test_the_same_question_gets_the_same_answer_again(seeds: Library):
    for question in ("Compare SliceGPT and D2 Pruning", "Which papers are about pruning?", "What learning rate does AgentBench use?", "What do LLMs do?"):
        assert {**seeds.ask(question).to_dict(), "timings": 0} == {**seeds.ask(question).to_dict(), "timings": 0}


def test_names_are_made_anew_when_the_papers_change(open_library: Callable[..., Library]):
    with open_library() as library:
        library.add(Paper("a", "QuxNet: On Graphs", "QuxNet draws graphs."))
        before = library.names()
        assert library.names() is before and before.mentions("What is FooBar?", lambda _: 1.0) == []
        library.add(Paper("b", "FooBar: On Trees", "FooBar draws trees."))
        assert [m.papers for m in library.names().mentions("What is FooBar?", lambda _: 1.0)] == [("b",)]
        library.remove("b")
        assert library.names().mentions("What is FooBar?", lambda _: 1.0) == []


def test_the_same_paper_is_one_side_however_often_it_is_named(seeds: Library):
    found = seeds.find("AgentBench or agentbench", 10)
    chosen, _ = subjects("What is AgentBench, or agentbench?", found, seeds.mentions, lambda text, limit, ids: seeds.find(text, limit, within=ids), seeds.aspect)
    assert [s.found.hit.paper.title for s in chosen] == [AGENT] and chosen[0].named and len(chosen[0].aspects) == len(found[0].sentence_cosines)


def test_a_question_that_points_back_to_nothing_asks_of_what(seeds: Library):
    answer = seeds.ask("and its limitations?")
    assert (answer.text, answer.status) == (REFUSAL, "refused") and "Name the paper" in answer.notice
    assert seeds.ask("What are the limitations that KITAB finds?").status == "answered"


def test_what_is_typed_wrong_is_put_right_and_the_query_shows_it(seeds: Library):
    answer = seeds.ask("waht is optimal transprot used for")
    assert answer.query == "what is optimal transport used for" and answer.status == "answered"


@pytest.mark.parametrize("question", ["any work on quantum error correction?", "does anybody talk about making music?"])
def test_a_list_on_a_subject_that_no_abstract_knows_counts_nothing(seeds: Library, question: str):
    answer = seeds.ask(question)
    assert (answer.status, answer.form, answer.count, answer.citations) == ("refused", "list", 0, ())


def test_a_name_said_in_passing_does_not_choose_the_paper(open_library: Callable[..., Library]):
    with open_library() as library:
        library.add(
            Paper("method", "CO2: Training with Overlapped Communication", "We overlap the communication of a training step with its computation. It trains large models on slow networks."),
            Paper("crystals", "Diffusion over Metal-Organic Frameworks", "We generate porous crystals that capture CO$_2$ with a diffusion model. The blocks are put together by an assembly algorithm."),
        )
        answer = library.ask("Is there something on porous crystals that capture CO2 with a diffusion model? How are the blocks put together?")
        assert [c.paper.id for c in answer.citations] == ["crystals"] and "assembly algorithm" in answer.text


def test_who_wrote_the_paper_is_no_name_that_the_abstract_lacks(seeds: Library):
    answer = seeds.ask("How many environments does the benchmark by Xiao Liu, Hao Yu et al. have?")
    assert answer.status == "answered" and "8 distinct environments" in answer.text


def test_anything_on_a_paper_that_is_named_is_about_that_paper(seeds: Library):
    answer = seeds.ask("anything on AgentBench?")
    assert answer.form == "prose" and titles(answer) == [AGENT]


@pytest.mark.parametrize("question", ["Summarize AgentBench", "What does AgentBench propose?", "explain AgentBench in plain words", "AgentBench"])
def test_an_overview_begins_with_what_the_paper_presents_and_says_more(seeds: Library, question: str):
    answer = seeds.ask(question)
    assert titles(answer) == [AGENT] and answer.text.partition("“")[2].startswith("We present AgentBench") or answer.citations[0].quotes[0].text.startswith("We present AgentBench")


@pytest.mark.parametrize("question", ["are you sure?", "that's not what I asked", "shorter please", "No, that's wrong."])
def test_a_word_about_the_answer_is_no_question_to_the_papers(seeds: Library, question: str):
    assert seeds.ask(question).status == "chat" and "word for word" in seeds.ask(question).text


@pytest.mark.parametrize("question", ["give me an overview of this library", "what topics are covered?", "tell me something interesting"])
def test_what_the_library_holds_is_told(seeds: Library, question: str):
    answer = seeds.ask(question)
    assert (answer.status, answer.count) == ("chat", 94)


def test_similar_papers_are_those_near_the_paper_spoken_of(seeds: Library):
    conversation = seeds.conversation()
    conversation.ask("Tell me about SliceGPT")
    answer = conversation.ask("any similar papers?")
    assert answer.form == "list" and any("Compressing LLMs" in title for title in titles(answer))
    assert seeds.ask("any similar papers?").status == "refused"
