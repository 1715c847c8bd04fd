"""The LlamaIndex edge: retriever, query engine, and the model behind them.

The only module that imports llama_index. Every model is passed explicitly; the global `Settings` of LlamaIndex is neither read
nor set, so nothing here reaches for an OpenAI key by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import Response
from llama_index.core.llms import ChatMessage
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import ConfigDict

from .endpoint import explain
from .engine import respond
from .errors import AskPapersError
from .papers import Answer, Event, Hit
from .settings import Settings

if TYPE_CHECKING:
    from .library import Library


class PaperRetriever(BaseRetriever):
    """`retrieve("…")` gives one node a paper, best first: the abstract as text, bibliographic facts as metadata."""

    def __init__(self, library: Library, limit: int = 10):
        super().__init__()
        self._library = library
        self._limit = limit

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [node(hit) for hit in self._library.search(query_bundle.query_str, self._limit)]


class PaperQueryEngine(CustomQueryEngine):
    """`query("…")` gives a Response: the text with [n] markers, the cited papers as source nodes (source_nodes[n - 1] is
    paper [n]), and the Answer in metadata["answer"]."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    library: Any
    llm: Any = None

    def custom_query(self, query_str: str) -> Response:
        answer = last_answer(self.stream(query_str))
        hits = [Hit(c.paper, 1.0) for c in answer.citations]
        return Response(answer.text, [node(hit) for hit in hits], {"answer": answer})

    def stream(self, question: str, query: str = "") -> Iterator[Event]:
        """Stage and text events, then the Answer. `query`: what to search for, if not the question itself."""
        return respond(self.library, question, self._complete if self.llm else None, query)

    def _complete(self, messages: list[tuple[str, str]]) -> Iterator[str]:
        settings: Settings = self.library.settings
        try:
            stream = self.llm.stream_chat([ChatMessage(role=role, content=text) for role, text in messages])
            try:
                for piece in stream:
                    if piece.delta:
                        yield piece.delta
            finally:
                stream.close()
        except AskPapersError:
            raise
        except Exception as error:
            raise explain(error, settings) from error


def query_engine(library: Library) -> PaperQueryEngine:
    return PaperQueryEngine(library=library, llm=make_llm(library.settings))


def make_llm(settings: Settings) -> Any:
    """The configured model as a LlamaIndex LLM, or None without one. It retries nothing by itself."""
    if not settings.model:
        return None
    import httpx
    from llama_index.llms.openai_like import OpenAILike

    client = httpx.Client(follow_redirects=False, timeout=httpx.Timeout(settings.timeout, connect=10.0))
    return OpenAILike(
        model=settings.model,
        api_base=settings.base_url or "https://api.openai.com/v1",
        api_key=settings.api_key.reveal() or "none",
        is_chat_model=True,
        context_window=settings.context_tokens,
        max_tokens=settings.answer_tokens,
        temperature=0.0,
        timeout=settings.timeout,
        max_retries=0,
        http_client=client,
    )


def node(hit: Hit) -> NodeWithScore:
    paper = hit.paper
    facts = {"title": paper.title, "authors": ", ".join(paper.authors), "year": paper.year, "venue": paper.venue, "url": paper.link}
    return NodeWithScore(node=TextNode(id_=paper.id, text=paper.abstract, metadata=facts), score=hit.score)


def last_answer(events: Iterator[Event]) -> Answer:
    answer = None
    for event in events:
        answer = event.answer or answer
    return answer
