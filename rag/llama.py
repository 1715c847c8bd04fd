"""The LlamaIndex edge: genuine retriever and query engine objects over a library.

Only this module and `model` import llama_index. Every model is passed explicitly; the global `Settings` of LlamaIndex is neither
read nor set, so nothing here reaches for an OpenAI key by itself.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Collection, Iterator, Sequence

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import Response
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import ConfigDict, Field

from .calls import Meter, silently
from .condense import needed, standalone
from .engine import respond
from .papers import Answer, Event, Paper

if TYPE_CHECKING:
    from .library import Library


class PaperRetriever(BaseRetriever):
    """`retrieve("…")` gives one node a paper, best first: the abstract as text, bibliographic facts as metadata."""

    def __init__(self, library: Library, limit: int = 10):
        super().__init__()
        self._library = library
        self._limit = limit

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(hit.paper, hit.score) for hit in self._library.search(query_bundle.query_str, self._limit)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class PaperQueryEngine(CustomQueryEngine):
    """`query("…")` gives a Response: the text with [n] markers, the cited papers as source nodes (source_nodes[n - 1] is
    paper [n]), and the Answer in metadata["answer"]. `aquery` gives the same; cancelling it stops the model."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    library: Any = Field(repr=False)
    complete: Any = Field(default=None, repr=False)
    """The model as a function (calls.Complete), or None for quotes only."""
    within: Any = Field(default=None, repr=False)
    """Ids of the only papers to answer from, or None for all."""

    def stream(self, question: str, query: str = "", turns: Sequence[tuple[str, Answer]] = ()) -> Iterator[Event]:
        """Stage and text events, then the Answer. `query`: what to search for, if not the question itself. `turns`: (question,
        Answer) pairs of before, oldest first; with a model, a question that points back to them is put in full by it, or else
        `query` is searched for. Closing it stops the model."""
        if self.complete is None:
            return respond(self.library, question, None, query, self.within)
        return self._metered(question, query, turns)

    def _metered(self, question: str, query: str, turns: Sequence[tuple[str, Answer]]) -> Iterator[Event]:
        """Every call of the model on behalf of this question counts, and so does the time of those before the search."""
        model, started, before = Meter(self.complete), time.perf_counter(), 0.0
        if needed(question, turns):
            yield Event("stage", f"Putting the question in full with {self.library.settings.model}")
            query = yield from silently(standalone(question, turns, model, query, self.library.settings.context_tokens // 4))
            before = time.perf_counter() - started
        with closing(respond(self.library, question, model, query, self.within)) as events:
            for event in events:
                if event.answer:
                    timings = event.answer.timings
                    if before:
                        timings = {"condense": before, **timings, "total": before + timings.get("total", 0.0)}
                    event = replace(event, answer=replace(event.answer, usage=dict(model.usage), timings=timings))
                yield event

    def custom_query(self, query_str: str) -> Response:
        return _response(self._answer(query_str, threading.Event()))

    async def acustom_query(self, query_str: str) -> Response:
        stop = threading.Event()
        try:
            return _response(await asyncio.to_thread(self._answer, query_str, stop))
        finally:
            stop.set()

    def _answer(self, question: str, stop: threading.Event) -> Answer | None:
        """The answer, or None if it was stopped: a silent model, too, lets the stream come round often enough to look."""
        with closing(self.stream(question)) as events:
            for event in events:
                if event.answer or stop.is_set():
                    return event.answer
        return None


def query_engine(library: Library, within: Collection[str] | None = None) -> PaperQueryEngine:
    """With the model that the library's settings name, if any."""
    complete = None
    if library.settings.model:
        from .model import completer

        complete = completer(library.settings)
    return PaperQueryEngine(library=library, complete=complete, within=within)


def _response(answer: Answer | None) -> Response:
    assert answer, "a stream that is not stopped ends with an answer"
    return Response(answer.text, [_node(c.paper) for c in answer.citations], {"answer": answer})


def _node(paper: Paper, score: float | None = None) -> NodeWithScore:
    facts = {"title": paper.title, "authors": ", ".join(paper.authors), "year": paper.year, "venue": paper.venue, "url": paper.link}
    return NodeWithScore(node=TextNode(id_=paper.id, text=paper.abstract, metadata=facts), score=score)
