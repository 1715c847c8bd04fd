"""The LlamaIndex edge: genuine retriever and query engine objects over a library.

Only this module and `model` import llama_index. Every model is passed explicitly; the global `Settings` of LlamaIndex is neither
read nor set, so nothing here reaches for an OpenAI key by itself.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any, Collection, Iterator

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import Response
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import ConfigDict, Field

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
    """The model as a function (generative.Complete), or None for quotes only."""
    within: Any = Field(default=None, repr=False)
    """Ids of the only papers to answer from, or None for all."""

    def stream(self, question: str, query: str = "") -> Iterator[Event]:
        """Stage and text events, then the Answer. `query`: what to search for, if not the question itself. Closing it stops the
        model."""
        return respond(self.library, question, self.complete, query, self.within)

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
