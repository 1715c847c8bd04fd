"""Answers without a model, conversations, and the Python contract, over the sample papers with the real embedding model."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from shared import ROOT, made_up

from rag import REFUSAL, Library, Paper, Settings
from rag.questions import is_small_talk, needs_context


def test_an_answer_is_exact_sentences_of_the_papers_that_it_cites(seeds: Library):
    answer = seeds.ask("How many environments does AgentBench have?")
    assert answer.status == "answered" and answer.mode == "extractive" and answer.count is None
    assert "8 distinct environments" in answer.text and "[1]" in answer.text
    assert [c.number for c in answer.citations] == list(range(1, len(answer.citations) + 1))
    for citation in answer.citations:
        for quote in citation.quotes:
            assert citation.paper.abstract[quote.start : quote.end] == quote.text
    quoted = {(c.number, q.text) for c in answer.citations for q in c.quotes}
    assert {(s.citations[0], s.text) for s in answer.sentences} == quoted
    assert all(s.verdict == "supported" for s in answer.sentences)
    assert answer.citations[0].paper.title in answer.text


def test_a_question_that_names_one_paper_is_answered_from_that_paper_alone(seeds: Library):
    answer = seeds.ask("What does AgentBench measure?")
    assert [c.paper.title for c in answer.citations] == ["AgentBench: Evaluating LLMs as Agents"]
    assert answer.related and answer.citations[0].paper not in answer.related


@pytest.mark.parametrize("question", ["How long do I boil an egg?", "Who won the world cup in 1998?", "zzzz qqqq xxxx", "🤔🤔🤔"])
def test_what_no_abstract_answers_is_refused_in_the_one_sentence_with_no_citation(seeds: Library, question: str):
    answer = seeds.ask(question)
    assert (answer.status, answer.text, answer.citations) == ("refused", REFUSAL, ())


def test_a_refusal_is_the_same_at_the_first_turn_and_at_the_fifth(seeds: Library):
    chat = seeds.conversation()
    first = chat.ask("How long do I boil an egg?")
    for question in ("What does AgentBench measure?", "thanks!", "What is optimal transport used for?"):
        chat.ask(question)
    later = chat.ask("How long do I boil an egg?")
    assert first.text == later.text == REFUSAL and later.citations == () and later.query == "How long do I boil an egg?"


@pytest.mark.parametrize("question", ["hi", "Thanks!", "thank you so much", "what can you do?", "   ", ""])
def test_small_talk_and_nothing_are_answered_without_a_search(seeds: Library, question: str):
    answer = seeds.ask(question)
    assert answer.status == "chat" and not answer.citations and "search" not in answer.timings and "94 papers" in answer.text


@pytest.mark.parametrize("question", ["What is AgentBench?", "hello world programs in which benchmark?", "thanks to what does SCALLION save communication?"])
def test_a_question_is_not_taken_for_small_talk(question: str):
    assert not is_small_talk(question)


def test_a_follow_up_searches_for_the_paper_that_was_spoken_of_and_shows_it(seeds: Library):
    chat = seeds.conversation()
    assert chat.ask("What does AgentBench measure?").query == "What does AgentBench measure?"
    answer = chat.ask("and where is it released?")
    assert "AgentBench" in answer.query and answer.query != "and where is it released?"
    assert answer.citations[0].paper.title.startswith("AgentBench") and "github.com/THUDM/AgentBench" in answer.text


def test_a_question_of_its_own_carries_nothing_over(seeds: Library):
    chat = seeds.conversation()
    chat.ask("What does AgentBench measure?")
    answer = chat.ask("What is the transport cost function in optimal-transport-based adversarial networks?")
    assert "AgentBench" not in answer.query and all("AgentBench" not in c.paper.title for c in answer.citations)


@pytest.mark.parametrize(
    ("question", "needs"),
    [("and its limitations?", True), ("what about YaRN?", True), ("why?", True), ("How many tasks does it have?", True),
     ("What does AgentBench measure?", False), ("Which papers are about pruning?", False)],
)  # fmt: skip
def test_a_follow_up_is_told_from_a_question_of_its_own(question: str, needs: bool):
    assert needs_context(question) is needs


def test_two_conversations_at_once_share_nothing(seeds: Library):
    topics = {"AgentBench": "What does AgentBench measure?", "Jumanji": "What does Jumanji provide?"}
    wrong: list[str] = []

    def talk(name: str) -> None:
        chat = seeds.conversation()
        chat.ask(topics[name])
        for _ in range(5):
            if name not in chat.ask("and what else does it do?").query:
                wrong.append(name)

    threads = [threading.Thread(target=talk, args=(name,)) for name in topics for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_streamed_blocking_and_asynchronous_answers_are_the_same(seeds: Library):
    question = "What is optimal transport used for?"

    def plain(answer):
        return {**answer.to_dict(), "timings": None}

    events = list(seeds.stream(question))
    assert [e.kind for e in events[:1]] == ["stage"] and events[-1].kind == "answer" and all(e.answer is None for e in events[:-1])
    assert "".join(e.text for e in events if e.kind == "text") == events[-1].answer.text
    blocking = seeds.ask(question)

    async def inside_a_loop():
        return await seeds.aask(question), seeds.ask(question)

    for other in (*asyncio.run(inside_a_loop()), events[-1].answer):
        assert plain(other) == plain(blocking)


def test_to_dict_is_plain_json_with_every_field_of_the_contract(seeds: Library):
    data = json.loads(json.dumps(seeds.ask("What does AgentBench measure?").to_dict()))
    assert {"text", "status", "sentences", "citations", "count", "mode", "query", "timings"} <= data.keys()
    assert data["citations"][0]["paper"]["authors"][0] == "Xiao Liu" and data["timings"]["total"] > 0


def test_an_empty_library_says_how_to_add_papers(tmp_path: Path, embedder):
    with Library.open(tmp_path / "empty", settings=Settings(), embedder=embedder, seeds=False) as library:
        answer = library.ask("What does AgentBench measure?")
        assert answer.status == "chat" and "askpapers add FILE" in answer.text and library.search("anything") == []


def test_a_question_of_ten_thousand_characters_is_answered(seeds: Library):
    answer = seeds.ask("How many environments does AgentBench have? " + "I have been wondering about this for a long time. " * 200)
    assert answer.status in ("answered", "refused") and len(answer.query) <= 4000


def test_a_paper_with_nothing_but_title_and_abstract_gets_a_full_citation(tmp_path: Path):
    with Library.open(tmp_path / "one", settings=Settings(), seeds=False) as library:
        library.add(Paper("q", "Quokkas", "We count quokkas on an island. There are twelve of them."))
        answer = library.ask("how many quokkas are on the island?")
        assert answer.citations[0].paper.link == "" and "**Quokkas**: “" in answer.text


def test_the_public_names_import_no_vendor_and_are_all_there():
    code = "import sys, rag; print(all(hasattr(rag, n) for n in rag.__all__), [m for m in ('gradio','llama_index','openai','chromadb','tantivy','onnxruntime') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "True []"


def test_a_deleted_paper_is_no_longer_quoted_by_a_library_that_was_open(tmp_path: Path, embedder):
    with Library.open(tmp_path / "l", settings=Settings(), embedder=embedder, seeds=False) as library:
        library.add(*(made_up(n) for n in range(5)))
        assert library.search("topic00003")[0].paper.id == "made:3"
        with Library.open(tmp_path / "l", settings=Settings(), embedder=embedder) as other:
            other.remove("made:3")
        assert "made:3" not in [hit.paper.id for hit in library.search("topic00003")]
