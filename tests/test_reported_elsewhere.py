"""Bugs that people reported of other assistants that answer from documents, asked of this one with a scripted model.

Those about how markers are read are in test_citations, about uncited, miscited and echoed answers in test_generative, about rewriting
in test_condense, about servers in test_endpoint.
"""

from __future__ import annotations

import asyncio
import re

import pytest
from model_servers import LMSYS, MINT, QUESTION, SLICE, WILD, few, sample_papers, serving, using  # noqa: F401

from rag.papers import REFUSAL, Answer

PAPERS = sample_papers()
SAYS = {
    SLICE: "SliceGPT can remove up to 25% of the model parameters for LLAMA-2 70B",
    WILD: "WildChat is a corpus of 1 million user-ChatGPT conversations",
    LMSYS: "LMSYS-Chat-1M contains one million real-world conversations with 25 state-of-the-art LLMs",
    MINT: "RLHF generally hurt multi-turn capabilities",
}


def number(messages, paper_id: str) -> int:
    """The number under which the prompt shows a paper."""
    return int(re.search(rf'<paper number="(\d+)">\nTitle: {re.escape(PAPERS[paper_id].title)}', messages[1][1])[1])


def saying(*ids: str, sent: list | None = None, then: dict[str, str] | None = None):
    """A model that says what these papers say, each under its number; `then`: other replies, by a word of the question."""

    def complete(messages):
        if sent is not None:
            sent.append(messages)
        question = messages[1][1].rpartition("Question:")[2]
        other = next((reply for word, reply in (then or {}).items() if word in question), None)
        yield other if other is not None else " ".join(f"{SAYS[i]} [{number(messages, i)}]." for i in ids)

    return complete


def cited(answer: Answer) -> list[str]:
    return [c.paper.id for c in answer.citations]


def test_streamed_awaited_and_blocking_answers_have_the_same_sources(few):
    def script(exchange):
        messages = [(m["role"], m["content"]) for m in exchange.body["messages"]]
        exchange.stream(*saying(WILD, SLICE)(messages))

    with serving(script) as server:
        asking = using(few, server)
        blocking = asking.ask(QUESTION)
        streamed = list(asking.stream(QUESTION))[-1].answer
        awaited = asyncio.run(asking.aask(QUESTION))
        nodes = asking.as_query_engine().query(QUESTION).source_nodes
    assert cited(blocking) == cited(streamed) == cited(awaited) == [n.node.node_id for n in nodes] == [WILD, SLICE]
    assert blocking.text == streamed.text == awaited.text


def test_three_facts_of_three_papers_have_three_numbers_and_the_first_is_the_first(few):
    answer = using(few, complete=saying(MINT, SLICE, LMSYS)).ask(QUESTION)
    assert cited(answer) == [MINT, SLICE, LMSYS] and [s.citations for s in answer.sentences] == [(1,), (2,), (3,)]
    assert re.findall(r"\[\d\]", answer.text) == ["[1]", "[2]", "[3]"]


def test_every_cited_paper_is_listed_however_few_are_usually_shown(few):
    answer = using(few, complete=saying(SLICE, WILD, LMSYS, MINT), papers_in_prompt=4).ask(QUESTION)
    assert len(answer.citations) == 4 == len(answer.to_dict()["citations"])


def test_a_long_abstract_is_one_paper_with_one_number(few):
    sent: list = []
    answer = using(few, complete=saying(WILD, WILD, sent=sent)).ask(QUESTION)
    assert len(re.findall(r"^Title: WildChat", sent[0][1][1], re.MULTILINE)) == 1 and cited(answer) == [WILD]


def test_what_is_marked_in_the_abstract_holds_the_words_that_are_claimed(few):
    answer = using(few, complete=saying(WILD)).ask(QUESTION)
    (quote,) = answer.citations[0].quotes
    assert "1 million" in quote.text and PAPERS[WILD].abstract[quote.start : quote.end] == quote.text


def test_sources_of_one_turn_do_not_show_up_in_the_next_and_numbers_start_anew(few):
    chat = using(few, complete=saying(SLICE, WILD, then={"LMSYS": f"{SAYS[LMSYS]} [1]."})).conversation()
    assert cited(chat.ask(QUESTION)) == [SLICE, WILD]
    second = chat.ask("How many conversations with how many models does the collection LMSYS-Chat-1M contain?")
    assert cited(second) == [LMSYS] and second.text.endswith("[1].") and [c.number for c in second.citations] == [1]


def test_the_abstracts_are_sent_in_a_conversation_as_in_a_single_question(few):
    with serving(lambda exchange: exchange.stream(f"{SAYS[SLICE]} [1].")) as server:
        using(few, server).ask(QUESTION)
        chat = using(few, server).conversation()
        chat.ask(QUESTION)
        chat.ask("and how does it do that?")
    asked = [x.body["messages"] for x in server.requests if "<conversation>" not in x.body["messages"][1]["content"]]
    assert len(asked) == 3 and all("SliceGPT, a new post-training sparsification scheme" in m[1]["content"] for m in asked)
    assert all([m["role"] for m in messages] == ["system", "user"] for messages in asked)
    assert not re.search(r"\[1\]", asked[2][1]["content"]), "a number of an earlier answer"


UNANSWERABLE = "What is the capital of France?"


def test_the_same_refusal_in_the_first_turn_and_in_the_fifth_and_a_clean_turn_after_it(few):
    chat = using(few, complete=saying(SLICE, then={"France": "I'm sorry, but the papers do not mention that."})).conversation()
    first = chat.ask(UNANSWERABLE)
    for _ in range(3):
        assert cited(chat.ask(QUESTION)) == [SLICE]
    fifth = chat.ask(UNANSWERABLE)
    assert (first.status, first.text) == (fifth.status, fifth.text) == ("refused", REFUSAL) == (few.ask(UNANSWERABLE).status, few.ask(UNANSWERABLE).text)
    assert first.citations == fifth.citations == () and first.related
    assert cited(chat.ask(QUESTION)) == [SLICE]


@pytest.mark.parametrize("reply", ["The capital of France is Paris.", "The capital of France is Paris [1].", "Paris [1][2][9]!"])
def test_a_model_that_answers_from_its_own_knowledge_is_caught(few, reply):
    answer = using(few, complete=saying(then={"France": reply})).ask(UNANSWERABLE)
    assert (answer.status, answer.text, answer.citations) == ("refused", REFUSAL, ()) and answer.notice


def test_a_number_that_no_abstract_has_is_flagged_or_refused(few):
    answer = using(few, complete=saying(then={"accuracy": "SliceGPT reaches an accuracy of 87.3% on MMLU [1]."})).ask("What accuracy does SliceGPT reach on MMLU?")
    assert "supported" not in [s.verdict for s in answer.sentences] and answer.status in ("partial", "refused")
    assert answer.notice and (answer.status == "partial" or answer.text == REFUSAL)


def test_nothing_found_is_a_refusal_and_asks_no_model(few):
    sent: list = []
    answer = using(few, complete=saying(SLICE, sent=sent)).as_query_engine(within=["no such paper"]).query(QUESTION).metadata["answer"]
    assert (answer.status, answer.text, answer.usage) == ("refused", REFUSAL, {}) and sent == []


@pytest.mark.parametrize(
    "claim",
    [
        "SliceGPT was shown to “triple the speed of training on a single laptop”",  # invented
        "SliceGPT compresses WildChat, a corpus of 1 million user-ChatGPT conversations, by 25%",  # stitched from two papers
        SAYS[LMSYS],  # another paper's
    ],
    ids=["invented", "stitched", "misattributed"],
)
def test_invented_stitched_and_misattributed_claims_are_told_apart_from_true_ones(few, claim):
    def complete(messages):
        yield f"{SAYS[SLICE]} [{number(messages, SLICE)}]. {claim} [{number(messages, SLICE)}]."

    answer = using(few, complete=complete).ask(QUESTION)
    assert [s.verdict for s in answer.sentences] == ["supported", "unsupported"] and answer.status == "partial"
