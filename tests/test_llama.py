"""The LlamaIndex edge: genuine retriever and query engine objects, the same sources however one asks, and no globals."""

from __future__ import annotations

import asyncio
import time

import llama_index.core
import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.query_engine import BaseQueryEngine, RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.llms import MockLLM
from llama_index.core.schema import QueryBundle
from model_servers import KEY, LMSYS, SLICE, WILD, few, replying, until, using  # noqa: F401

from rag import REFUSAL, Library
from rag.generative import Complete
from rag.settings import Secret

QUESTION = "What datasets of real-world conversations with LLMs are there?"


@pytest.fixture(autouse=True)
def globals_stay_untouched():
    yield
    assert llama_index.core.Settings._llm is None
    assert llama_index.core.Settings._embed_model is None


def with_model(library: Library, complete: Complete | None = None) -> Library:
    shown = [hit.paper.id for hit in library.search(QUESTION)]
    wild, lmsys = shown.index(WILD) + 1, shown.index(LMSYS) + 1
    reply = f"WildChat is a corpus of 1 million user-ChatGPT conversations [{wild}]. LMSYS-Chat-1M contains one million [{lmsys}]."
    return using(library, complete=complete or replying(*reply))


def ids(response) -> list[str]:
    return [scored.node.node_id for scored in response.source_nodes]


def test_the_retriever_is_a_llamaindex_retriever_with_one_node_a_paper_best_first(few):
    retriever = few.as_retriever(limit=3)
    nodes = retriever.retrieve(QUESTION)
    assert isinstance(retriever, BaseRetriever)
    assert [n.node.node_id for n in nodes] == [h.paper.id for h in few.search(QUESTION, 3)]
    assert [n.score for n in nodes] == sorted((n.score for n in nodes), reverse=True)
    paper = few.paper(nodes[0].node.node_id)
    assert nodes[0].node.text == paper.abstract
    facts = nodes[0].node.metadata
    assert (facts["title"], facts["year"], facts["url"]) == (paper.title, paper.year, paper.link)
    assert facts["authors"] == ", ".join(paper.authors)


def test_the_retriever_works_asynchronously_and_inside_other_peoples_engines(few):
    retriever = few.as_retriever(limit=2)
    expected = [hit.paper.id for hit in few.search(QUESTION, 2)]
    assert [n.node.node_id for n in asyncio.run(retriever.aretrieve(QueryBundle(QUESTION)))] == expected
    engine = RetrieverQueryEngine(retriever, get_response_synthesizer(llm=MockLLM(), response_mode=ResponseMode.COMPACT))
    assert ids(engine.query(QUESTION)) == expected


def test_without_a_model_the_query_engine_quotes(few):
    engine = few.as_query_engine()
    response = engine.query("What can SliceGPT remove from LLAMA-2 70B?")
    assert isinstance(engine, BaseQueryEngine)
    answer = response.metadata["answer"]
    assert answer.mode == "extractive" and response.response == answer.text and ids(response)[0] == SLICE
    assert [n.node.text for n in response.source_nodes] == [c.paper.abstract for c in answer.citations]


def test_source_node_n_is_the_paper_that_the_text_numbers_n(few):
    response = with_model(few).as_query_engine().query(QUESTION)
    assert response.response.startswith("WildChat is a corpus of 1 million user-ChatGPT conversations [1].")
    assert ids(response) == [WILD, LMSYS]
    assert [c.paper.id for c in response.metadata["answer"].citations] == [WILD, LMSYS]


def test_streamed_blocking_and_asynchronous_answers_have_the_same_text_and_sources(few):
    engine = with_model(few).as_query_engine()
    blocking = engine.query(QUESTION)
    asynchronous = asyncio.run(engine.aquery(QUESTION))
    streamed = [event.answer for event in engine.stream(QUESTION)][-1]
    assert ids(blocking) == ids(asynchronous) == [c.paper.id for c in streamed.citations] == [WILD, LMSYS]
    assert blocking.response == asynchronous.response == streamed.text


def test_what_is_streamed_is_the_text_of_the_answer(few):
    got = list(with_model(few).as_query_engine().stream(QUESTION))
    assert "".join(e.text for e in got if e.kind == "text") == got[-1].answer.text
    assert [e.kind for e in got].count("answer") == 1 and got[0].kind == "stage"
    assert {"total", "model", "first_token"} <= got[-1].answer.timings.keys()


def test_silence_is_no_first_token(few):
    def slow(_):
        yield ""
        time.sleep(0.3)
        yield "WildChat is a corpus of user-ChatGPT conversations [1]. "

    assert using(few, complete=slow).as_query_engine().query(QUESTION).metadata["answer"].timings["first_token"] >= 0.3


def test_a_follow_up_reaches_the_model_complete_in_itself(few):
    sent: list = []
    library = using(few, complete=replying("WildChat has 2.5 million turns [1].", sent=sent))
    list(library.as_query_engine().stream("and how large is it?", "and how large is it? (WildChat)"))
    assert "Question: and how large is it? (WildChat)" in sent[0][1][1]


def test_a_refusal_has_no_sources(few):
    response = using(few, complete=replying(REFUSAL)).as_query_engine().query("Who won the cup?")
    assert (response.response, response.source_nodes, response.metadata["answer"].status) == (REFUSAL, [], "refused")


def test_two_questions_at_once_share_nothing(few):
    async def both():
        engines = with_model(few).as_query_engine(), few.as_query_engine()
        return await asyncio.gather(engines[0].aquery(QUESTION), engines[1].aquery("What can SliceGPT remove?"))

    first, second = asyncio.run(both())
    assert ids(first) == [WILD, LMSYS] and SLICE in ids(second) and first.metadata["answer"].mode != second.metadata["answer"].mode


def test_a_waiting_event_loop_goes_on_while_a_question_is_answered(few):
    def slow(_):
        for _ in range(10):
            time.sleep(0.05)
            yield ""
        yield "WildChat is a corpus of user-ChatGPT conversations [1]."

    async def ticking():
        task, ticks = asyncio.ensure_future(using(few, complete=slow).as_query_engine().aquery(QUESTION)), 0
        while not task.done():
            await asyncio.sleep(0.02)
            ticks += 1
        return ticks

    assert asyncio.run(ticking()) >= 5


def test_cancelling_an_asynchronous_question_stops_the_model(few):
    stopped = []

    def endless(_):
        try:
            for _ in range(250):
                time.sleep(0.02)
                yield ""
        finally:
            stopped.append(time.monotonic())

    async def cancelled():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(using(few, complete=endless).as_query_engine().aquery(QUESTION), 0.5)

    started = time.monotonic()
    asyncio.run(cancelled())
    assert until(lambda: stopped) and stopped[0] - started < 2.5


def test_an_engine_shows_no_key(few):
    engine = using(few, api_key=Secret(KEY), base_url="http://127.0.0.1:1/v1").as_query_engine()
    assert KEY not in repr(engine) and KEY not in str(engine) and KEY not in repr(vars(engine))
