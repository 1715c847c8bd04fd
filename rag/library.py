"""The stored papers and their indexes: the object that users open.

Adds, removes and searches, and hands questions to the query engine. What it stores is the store's business, what it searches
the index's; here are the promises that users rely on.
"""

from __future__ import annotations

import asyncio
import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Collection, Iterable, Iterator, Sequence

import numpy as np

from . import history, lock, readers
from .embedding import Embedder, Remembering, make_embedder
from .errors import AskPapersError, LibraryDamaged, PaperNotFound, StorageFailed
from .generations import Generation, Progress
from .index import Index
from .intake import Plan
from .lexical import all_terms
from .names import Mention, Names
from .papers import AddReport, Answer, Event, Hit, Paper, Rejected, as_text
from .passages import Span
from .retrieve import Found, Promising, retrieve, survey
from .settings import Settings
from .spelling import Spelling
from .store import FILE, Store, is_missing

if TYPE_CHECKING:
    from .conversation import Conversation
    from .llama import PaperQueryEngine, PaperRetriever

SEEDS = Path(__file__).resolve().parent.parent / "seeds"
_MENTIONS = 256
"""Texts whose names are kept."""
_FIRST_WAIT = 600.0
"""Seconds to wait for another process that is putting the sample papers in."""


def _nothing(*_: Any) -> None:
    """The default for progress and notices."""


class Library:
    """Open one with `Library.open()`. Safe to share by threads; several processes may read while one writes.

    A library that has never held a paper begins with the papers in seeds/ when it is first read, unless papers were added
    before or it was opened with `seeds=False`.
    """

    def __init__(self, folder: Path, settings: Settings, embedder: Embedder, progress: Progress, notice: Callable[[str], None], seeds: bool, check: bool):
        self.folder = folder
        self.settings = settings
        self._notice = notice
        self._seeds = seeds
        self._used = False
        self._spelling: tuple[str, Spelling] | None = None
        self._names: tuple[str, Names, dict[str, list[Mention]]] | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageFailed(f"{folder} can't be used as a library: {error.strerror or error}.") from error
        if is_missing(folder) and (folder / "index").exists():  # the store is always there first
            raise LibraryDamaged(
                f"{folder / FILE}, which holds the papers, is missing or empty, though its index is there. "
                "Restore it from a backup, or move the folder away and add your files again."
            )
        self._store = Store(folder)
        self._index = Index(folder, self._store, embedder, progress, notice)
        self._questions = Remembering(embedder)
        if check and not self._is_new():
            self._index.current()

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        progress: Progress = _nothing,
        notice: Callable[[str], None] = _nothing,
        seeds: bool = True,
        check: bool = True,
    ) -> Library:
        """Opens or creates the library in the folder `path` (default: the settings' place).

        `progress(stage, done, total)` is told of anything that takes long; `notice(line)` of what was done unasked, such as a
        rebuild and why. `check=False` leaves the index alone until it is used: for `rebuild`, after the embedder changed.
        Raises LibraryDamaged, LibraryBusy, EmbedderChanged, StorageFailed, SettingsError.
        """
        settings = settings or Settings.from_environment()
        folder = Path(path).expanduser() if path else settings.library_folder
        return cls(folder, settings, embedder or make_embedder(settings), progress, notice, seeds, check)

    def close(self) -> None:
        """Lets go of all files. The library can't be used afterwards."""
        self._index.close()
        self._store.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # Papers

    def __len__(self) -> int:
        self._begin()
        return len(self._store)

    def __bool__(self) -> bool:
        return True  # an empty library is still a library

    def papers(self) -> list[Paper]:
        """All papers, in the order in which they were added."""
        self._begin()
        return self._store.papers()

    def paper(self, paper_id: str) -> Paper:
        """Raises PaperNotFound."""
        self._begin()
        paper = self._store.paper(paper_id)
        if paper is None:
            raise PaperNotFound(f"There is no paper with the id '{paper_id}'; `askpapers list` shows the ids.")
        return paper

    def add(self, *sources: str | Path | Paper) -> AddReport:
        """Adds files, folders or Papers. What is there already stays as it is, a changed abstract replaces the old one, and
        whatever can't go in is named in the report. Raises LibraryBusy, EmbedderChanged, EmbeddingFailed, StorageFailed; what
        was stored before the error stays, and adding the same again completes it."""
        with lock.writing(self.folder, self.settings.lock_wait):
            return self._add(sources)

    def remove(self, *paper_ids: str) -> None:
        """Takes papers out, from the disk as well: when it returns, no file of the library holds their text. Raises
        PaperNotFound, and then removes none of them."""
        self._begin()
        with lock.writing(self.folder, self.settings.lock_wait):
            papers = [self.paper(paper_id) for paper_id in paper_ids]
            self._index.check_embedder()
            self._store.remove(paper_ids)
            self._index.sync(forget=True)
            history.forget(self.folder, papers)

    def rebuild(self) -> None:
        """Builds the index anew from the stored papers; embeds those that the present embedder has not embedded."""
        with lock.writing(self.folder, self.settings.lock_wait):
            self._index.rebuild()

    # Searching and asking

    def search(self, query: str, limit: int = 10, within: Collection[str] | None = None) -> list[Hit]:
        """The papers nearest to the query, best first; none for a blank query or an empty library. `within`: ids of the only
        papers to look at; those that are not there are passed over."""
        return [found.hit for found in self.find(query, limit, within=within)]

    def find(self, query: str, limit: int = 10, timings: dict[str, float] | None = None, within: Collection[str] | None = None) -> list[Found]:
        """`search` with what an answer is made from: each hit's sentence scores. Adds seconds by stage to `timings`."""
        query = as_text(query)
        if limit < 1:
            return []
        return self._searched(query, lambda generation: retrieve(query, generation, self._store, self._questions, limit, timings, self._stamps_of(within)))

    def survey(self, text: str, promising: Promising, timings: dict[str, float] | None = None, within: Collection[str] | None = None) -> list[Found]:
        """Every promising paper of the whole library, best first; see `retrieve.survey`."""
        text = as_text(text)

        def look(generation: Generation) -> list[Found]:
            return survey(text, generation, self._store, self._questions, promising, timings, self._stamps_of(within), self._index.block(generation))

        return self._searched(text, look)

    def aspect(self, text: str, parts: Sequence[Span]) -> np.ndarray:
        """The unit vector of what stands in the parts of a text that is searched for, to hold against sentences."""
        return self._questions.embed_part(text, parts)

    def tokens(self, text: str) -> np.ndarray | None:
        """The text's token vectors, shape (n, dimension); None if the embedder tells none."""
        return self._questions.tokens(text)

    def _searched(self, query: str, search: Callable[[Generation], list[Found]]) -> list[Found]:
        self._begin()
        if not query.strip() or self._is_new():
            return []
        for attempt in range(3):
            generation = self._index.current()
            try:
                return search(generation)
            except AskPapersError:
                raise
            except Exception as error:
                # Either a change by another took this generation's files away, and the next one is there; or it is damaged
                # in a way that opening it did not show.
                if attempt == 2:
                    raise LibraryDamaged(f"The index of {self.folder} can't be searched ({error}). Run `askpapers doctor`.") from error
                if not self._index.moved_on(generation):
                    self._index.discard(generation)
        raise AssertionError("unreachable")

    def rarity(self, words: Sequence[str]) -> dict[str, float]:
        """How rare each stemmed word is in the library: its inverse document frequency, 0 to 1; 1 if no paper holds it."""
        return {} if self._is_new() else _rarity(self._index.current(), words)

    def names(self) -> Names:
        """The names by which the papers are called; made anew when the papers have changed."""
        return self._named()[0]

    def mentions(self, text: str) -> list[Mention]:
        """The names of papers that a text says, in its order; see `Names.mentions`. An answer asks this of the same few texts
        several times over."""
        names, kept = self._named()
        found = kept.get(text)
        if found is None:
            generation = None if self._is_new() else self._index.current()
            found = names.mentions(text, lambda part: max(_rarity(generation, all_terms(part)).values(), default=1.0))
            found = [m._replace(coined=m.own and self._questions.is_coined(text[m.start : m.end])) for m in found]
            if len(kept) >= _MENTIONS:
                kept.clear()
            kept[text] = found
        return found

    def spelled(self, question: str) -> str:
        """The question with words put right that were typed wrong; see `spelling`."""
        corpus = self._store.state()[1]
        if self._spelling is None or self._spelling[0] != corpus:
            self._spelling = (corpus, Spelling(self._store.papers()))
        return self._spelling[1].corrected(question, lambda word: bool(self.mentions(word)))

    def ask(self, question: str, within: Collection[str] | None = None) -> Answer:
        """The answer to one question, on its own. `within`: ids of the only papers to answer from. Raises what `search`
        raises, and ModelFailed if the settings say that a failing model must not be replaced by quotes."""
        return self.as_query_engine(within).query(question).metadata["answer"]

    def stream(self, question: str, within: Collection[str] | None = None) -> Iterator[Event]:
        """The same answer in pieces; the last event carries the Answer. Closing the iterator stops the model."""
        return self.as_query_engine(within).stream(question)

    async def aask(self, question: str) -> Answer:
        """`ask` for a running event loop, which it does not block. Cancelling it stops the model."""
        engine = await asyncio.to_thread(self.as_query_engine)  # importing LlamaIndex takes seconds
        return (await engine.aquery(question)).metadata["answer"]

    def conversation(self, turns: Iterable[tuple[str, Answer]] = ()) -> Conversation:
        """A conversation about this library; it remembers its own turns only, and those that it goes on from: (question, answer)
        pairs, oldest first."""
        from .conversation import Conversation

        return Conversation(self, turns)

    def answering(self, **settings: Any) -> Library:
        """The same open library, answering with some settings changed, such as `model=""` for quotes only. Don't close it: it
        shares its files with this one. Raises SettingsError."""
        other = copy.copy(self)
        other.settings = replace(self.settings, **settings)
        return other

    def as_retriever(self, limit: int = 10) -> PaperRetriever:
        """A LlamaIndex retriever: one node a paper, best first."""
        from .llama import PaperRetriever

        return PaperRetriever(self, limit)

    def as_query_engine(self, within: Collection[str] | None = None) -> PaperQueryEngine:
        """A LlamaIndex query engine; the response's metadata["answer"] is the Answer. `within`: ids of the only papers to
        answer from."""
        from .llama import query_engine

        return query_engine(self, within)

    @property
    def mode(self) -> str:
        """"extractive", or the name of the model that writes the answers."""
        return self.settings.model or "extractive"

    @property
    def mode_detail(self) -> str:
        """The host of the model, for showing; empty without one."""
        return self.settings.model_host if self.settings.model else ""

    # For the command line and the evals

    @property
    def store(self) -> Store:
        return self._store

    @property
    def index(self) -> Index:
        return self._index

    # Inside

    def _named(self) -> tuple[Names, dict[str, list[Mention]]]:
        corpus, kept = self._store.state()[1], self._names
        if kept is None or kept[0] != corpus:
            self._names = kept = (corpus, Names(self._store.papers()), {})
        return kept[1], kept[2]

    def _is_new(self) -> bool:
        """Whether no paper was ever added. What once held papers never is new again, not even when they are removed."""
        self._used = self._used or self._store.state()[0] > 0
        return not self._used

    def _stamps_of(self, paper_ids: Collection[str] | None) -> set[str] | None:
        if paper_ids is None:
            return None
        return set(self._store.stamps_of([as_text(i) for i in paper_ids]).values())

    def _begin(self) -> None:
        if self._seeds and self._is_new():
            with lock.writing(self.folder, _FIRST_WAIT):
                if self._is_new():
                    self._notice(f"{self.folder} holds no papers yet: starting it with the sample papers. (For a library of only your own, add them before you ask.)")
                    self._add([SEEDS])

    def _add(self, sources: Sequence[str | Path | Paper]) -> AddReport:
        plan = Plan()
        for record in _records(sources):
            plan.take(record, self._store)
        self._index.check_embedder()
        self._index.store_papers(list(plan.papers.values()))
        self._index.sync()
        return AddReport(
            added=tuple(i for i in plan.papers if i not in plan.updates),
            updated=tuple(i for i in plan.papers if i in plan.updates),
            unchanged=tuple(plan.unchanged),
            rejected=tuple((r.where, r.why) for r in plan.rejected),
            notes=tuple(plan.notes),
        )


def _rarity(generation: Generation | None, words: Sequence[str]) -> dict[str, float]:
    if generation is None:
        return {}
    known = generation.words
    return {word: min(known.weight(word) / known.weight_of_unknown, 1.0) for word in words}


def _records(sources: Sequence[str | Path | Paper]) -> Iterator[Paper | Rejected]:
    for source in sources:
        if isinstance(source, Paper):
            yield readers.checked(source)
        else:
            yield from readers.read(source)
