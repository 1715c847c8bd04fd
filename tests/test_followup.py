"""Conversations: what a follow-up carries over, what ends the carrying over, and that nothing leaks from one turn or talk to another."""

from __future__ import annotations

import threading

import pytest

from rag import REFUSAL, Answer, Library
from rag.followup import narrowed
from rag.papers import Citation, Paper

AGENT, JUMANJI, SLICE, D2 = "AgentBench", "Jumanji", "SliceGPT", "Pruning: Message Passing"
EGG = "How long do I boil an egg?"


def talk(library: Library, *questions: str) -> Answer:
    """The answer to the last question."""
    conversation = library.conversation()
    return [conversation.ask(question) for question in questions][-1]


def about(answer: Answer, *heads: str) -> bool:
    """Whether the answer cites just the papers with these words in their titles, in this order."""
    titles = [citation.paper.title for citation in answer.citations]
    return len(titles) == len(heads) and all(head in title for head, title in zip(heads, titles))


@pytest.mark.parametrize(
    ("questions", "heads"),
    [(["What does AgentBench measure?", "and its limitations?"], [AGENT]),
     (["What does AgentBench measure?", "thanks!", "how many environments does it have?"], [AGENT]),
     (["What does AgentBench measure?", "What does Jumanji provide?", "what else?"], [JUMANJI]),
     (["What does AgentBench measure?", "and its limitations?", "what about Jumanji?"], [JUMANJI]),
     (["What does AgentBench measure?", "and its limitations?", "what about Jumanji?", "compare them"], [AGENT, JUMANJI]),
     (["What does AgentBench measure?", "What does Jumanji provide?", "go back to the first one"], [AGENT]),
     (["What does AgentBench measure?", "What does Jumanji provide?", "go back to the first one", "what did the first paper find?"], [AGENT]),
     (["What does AgentBench measure?", "What does Jumanji provide?", "back to AgentBench"], [AGENT]),
     (["Compare SliceGPT and D2 Pruning", "what about the second one?"], [D2]),
     (["Compare SliceGPT and D2 Pruning", "tell me more about [1]"], [SLICE]),
     (["Compare SliceGPT and D2 Pruning", "what about the second one?", "and the other one?"], [SLICE]),
     (["Compare SliceGPT and D2 Pruning", "what does the other one show?"], [D2])],
    ids=lambda value: value[-1] if isinstance(value[-1], str) else None,
)  # fmt: skip
def test_a_follow_up_is_answered_from_the_paper_that_it_points_at(seeds: Library, questions: list[str], heads: list[str]):
    answer = talk(seeds, *questions)
    assert answer.status == "answered" and about(answer, *heads), [c.paper.title for c in answer.citations]


def test_a_place_in_a_list_is_the_number_that_the_list_showed(seeds: Library):
    conversation = seeds.conversation()
    listed = conversation.ask("Which papers are about pruning?")
    for said, place in (("the second one", 1), ("what about the first one?", 0), ("and paper 3?", 2)):
        assert [c.paper.id for c in conversation.ask(said).citations] == [listed.citations[place].paper.id]


def test_which_of_them_asks_of_the_papers_that_the_last_answer_cited(seeds: Library):
    conversation = seeds.conversation()
    before = {c.paper.id for c in conversation.ask("Which papers are about benchmarks?").citations}
    narrower = conversation.ask("which of them mention GPT-4?")
    assert 0 < narrower.count < len(before) and {c.paper.id for c in narrower.citations} <= before
    assert narrower.count < seeds.ask("Which papers mention GPT-4?").count or {c.paper.id for c in seeds.ask("Which papers mention GPT-4?").citations} <= before


@pytest.mark.parametrize(("question", "none"), [("which of them mention GPT-4?", False), ("which of these papers is newer?", False), ("which papers mention GPT-4?", True), ("compare them", True)])
def test_only_a_question_of_them_is_narrowed_to_what_was_cited(question: str, none: bool):
    cited = tuple(Citation(n, Paper(f"p{n}", "T", "A.")) for n in (1, 2))
    assert narrowed(question, [("q", Answer("…", "answered", citations=cited)), ("thanks", Answer("…", "chat"))]) == (None if none else ["p1", "p2"])
    assert narrowed(question, []) is None and narrowed(question, [("q", Answer("…", "answered", citations=cited[:1]))]) is None


@pytest.mark.parametrize(
    "question",
    ["What is optimal transport used for?", "What does Jumanji provide?", "Which papers mention GPT-4?", "New question: what limits federated learning?", "Who won the world cup in 1998?", "hi",
     "What is the capital of France?"],
)  # fmt: skip
def test_another_subject_carries_nothing_over_and_is_answered_as_if_it_were_asked_first(seeds: Library, question: str):
    later, alone = talk(seeds, "What does AgentBench measure?", "and its limitations?", question), seeds.ask(question)
    assert later.query == alone.query and {**later.to_dict(), "timings": 0} == {**alone.to_dict(), "timings": 0}
    assert not any(AGENT in c.paper.title for c in later.citations) or question == "Which papers mention GPT-4?"


def test_a_refusal_for_something_else_ends_the_carrying_over(seeds: Library):
    questions = ["What does Jumanji provide?", EGG]
    assert talk(seeds, *questions).text == REFUSAL and talk(seeds, *questions).query == EGG
    after = talk(seeds, *questions, "and its limitations?")
    assert after.query == "and its limitations?" and not any(JUMANJI in c.paper.title for c in after.citations)


def test_after_a_detail_that_is_not_stated_the_talk_goes_on_about_the_same_paper(seeds: Library):
    unstated = talk(seeds, "What does AgentBench measure?", "What learning rate does it use?")
    assert (unstated.text, unstated.status) == (REFUSAL, "refused") and "AgentBench: Evaluating LLMs as Agents" in unstated.notice
    assert about(talk(seeds, "What does AgentBench measure?", "What learning rate does it use?", "and where is it released?"), AGENT)


def test_what_is_carried_over_shows_in_the_query_and_is_a_title_only(seeds: Library):
    answer = talk(seeds, "What does AgentBench measure?", "and its limitations?")
    assert answer.query == "and its limitations? (AgentBench: Evaluating LLMs as Agents)"
    assert talk(seeds, "and its limitations?").query == "and its limitations?"


def test_what_about_another_paper_asks_of_it_what_was_asked_before(seeds: Library):
    answer = talk(seeds, "What does AgentBench measure?", "and its limitations?", "what about Jumanji?")
    assert "limitations" in answer.query and "AgentBench" not in answer.query
    answer = talk(seeds, "How many environments does AgentBench have?", "what about Jumanji?")
    assert "environments" in answer.query and "AgentBench" not in answer.query


def test_who_says_that_the_subject_changes_is_taken_at_his_word(seeds: Library):
    question = "New question: which environments are there to test agents in?"
    assert talk(seeds, "What does AgentBench measure?", question).query == question


def test_the_same_talk_gives_the_same_answers_again_and_from_stored_turns(seeds: Library):
    questions = ["What does AgentBench measure?", "and its limitations?", "what about Jumanji?", "compare them"]
    whole, again = seeds.conversation(), seeds.conversation()
    first = [whole.ask(q) for q in questions]
    assert [a.text for a in first] == [again.ask(q).text for q in questions]
    assert seeds.conversation(whole.turns[:3]).ask("compare them").text == first[3].text


def test_many_talks_at_once_give_the_answers_that_they_give_one_after_another(seeds: Library):
    talks = [
        ["What does AgentBench measure?", "and its limitations?", EGG, "what about Jumanji?"],
        ["Compare SliceGPT and D2 Pruning", "what about the second one?", "and the other one?"],
        ["Which papers are about pruning?", "the second one", "why?"],
        ["What is optimal transport used for?", "why?", "Who wrote GAIA?"],
    ]  # fmt: skip

    def held(questions: list[str]) -> list[dict]:
        conversation = seeds.conversation()
        return [{**conversation.ask(q).to_dict(), "timings": None} for q in questions]

    alone = [held(questions) for questions in talks]
    at_once: dict[int, list[dict]] = {}
    threads = [threading.Thread(target=lambda n=n: at_once.__setitem__(n, held(talks[n % len(talks)]))) for n in range(2 * len(talks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [at_once.get(n) for n in range(len(threads))] == alone + alone


def test_after_a_list_another_name_asks_for_the_same_kind_of_list(seeds: Library):
    assert talk(seeds, "papers by Jie Tang", "and Danqi Chen?").count == 1
    again = talk(seeds, "Which papers mention GPT-4?", "what about LAION?")
    assert again.form == "list" and again.query == "Which papers mention LAION?"


@pytest.mark.parametrize("question", ["and pizza?", "asdf qwer zxcv", "what about the weather?"])
def test_words_that_no_abstract_knows_are_not_asked_of_the_paper_spoken_of(seeds: Library, question: str):
    answer = talk(seeds, "What is GAIA?", question)
    assert answer.status == "refused" and answer.query == question


@pytest.mark.parametrize("question", ["with which kinds of models?", "on how many environments?", "repo?", "what is the code link?"])
def test_hardly_more_than_a_question_word_is_asked_of_the_paper_spoken_of(seeds: Library, question: str):
    answer = talk(seeds, "What does AgentBench measure?", question)
    assert AGENT in answer.query and (about(answer, AGENT) or AGENT in answer.notice)


@pytest.mark.parametrize("question", ["optimal transport next. what is it used for?", "and is there any paper on federated learning?", "Jumanji is another one. How many environments does it have?"])
def test_what_the_question_itself_says_first_is_what_it_is_about(seeds: Library, question: str):
    answer = talk(seeds, "What does AgentBench measure?", question)
    assert AGENT not in answer.query and not about(answer, AGENT)


@pytest.mark.parametrize(
    ("first", "second", "asked", "both"),
    [(None, "What does AgentBench measure?", "compare it with GAIA", {"AgentBench", "GAIA"}), ("What is SWE-bench?", "what about GAIA?", "which of the two is harder?", {"SWE-bench", "GAIA"}),
     ("What is SWE-bench?", "And AgentBench?", "which one needs long contexts?", {"SWE-bench", "AgentBench"})],
)  # fmt: skip
def test_a_comparison_takes_the_papers_spoken_of_along(seeds: Library, first: str | None, second: str, asked: str, both: set[str]):
    talk = seeds.conversation()
    for question in filter(None, (first, second)):
        talk.ask(question)
    answer = talk.ask(asked)
    assert answer.form == "comparison" and {c.paper.title.partition(":")[0] for c in answer.citations} == both


def test_what_is_compared_with_things_that_are_no_paper_is_about_one_paper(seeds: Library):
    assert [c.paper.title.partition(":")[0] for c in seeds.ask("how long is WildChat compared with other chat logs?").citations] == ["WildChat"]


@pytest.mark.parametrize("question", ["how many papers are there in total?", "how many papers are in this library?", "How many papers do you have?"])
def test_the_library_is_counted(seeds: Library, question: str):
    answer = seeds.ask(question)
    assert (answer.count, answer.status) == (94, "chat")
