"""Keeps the published index generation in step with the store: notices, completes, repairs, replaces, and says why.

Whoever searches asks for `current()` each time, so papers that another process added are found at the next question. Never
searches vectors of another embedding model, and never waits for a lock while it keeps other threads from searching.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, Sequence

import numpy as np

from . import generations, lock
from .embedding import Embedder
from .errors import EmbedderChanged, LibraryBusy, StorageFailed
from .generations import Generation, Progress, Unusable
from .papers import Paper
from .passages import Span, passages, sentences, stamp
from .retrieve import SURVEYED
from .store import Block, Embedded, Store

_BATCH = 32
"""Papers embedded and stored by one transaction; what a killed `add` has to do again is at most this many."""
_PATIENCE = 600.0
"""Seconds that a reader without any usable index waits for the process that is building one."""
_RETRY = 60.0
"""Seconds before a reader tries again to complete an index that could not be written."""


class Index:
    """The generations of one library. Methods that write expect the caller to hold the writer lock (`lock.writing`)."""

    def __init__(self, library: Path, store: Store, embedder: Embedder, progress: Progress, notice: Callable[[str], None]):
        self.library = library
        self.folder = library / "index"
        self.embedder = embedder
        self._store = store
        self._progress = progress
        self._notice = notice
        self._guard = threading.Lock()  # for taking and replacing `_generation`; never held while waiting for a writer
        self._generation: Generation | None = None
        self._block: tuple[str, Block] | None = None
        self._gave_up = float("-inf")

    def close(self) -> None:
        with self._guard:
            if self._generation:
                self._generation.close()
            self._generation = None

    # Reading

    def current(self) -> Generation:
        """The generation to search now; repaired or completed first if need be. Raises EmbedderChanged, LibraryBusy,
        StorageFailed, EmbeddingFailed."""
        generation, _ = self._published()
        if generation is None:
            generation = self._repair()
        self._check_embedder(generation)
        if generation.manifest.corpus != self._store.state()[1]:
            generation = self._catch_up(generation)
        return generation

    def block(self, generation: Generation) -> Block | None:
        """The vectors of all papers, kept for the next time; None of a library too large for that (24 kB a paper)."""
        if generation.manifest.papers > SURVEYED:
            return None
        kept = self._block
        if kept is None or kept[0] != generation.folder.name:
            stamps = list(self._store.stamps().values())
            self._block = kept = (generation.folder.name, self._store.vectors(stamps, generation.manifest.fingerprint))
        return kept[1]

    def moved_on(self, generation: Generation) -> bool:
        """Whether another generation has been published since."""
        return generations.current(self.folder) != generation.folder.name

    def discard(self, generation: Generation) -> None:
        """Has a generation that can't be searched built again at the next `current()`, if it is still the published one."""
        with lock.writing(self.library, _PATIENCE):
            if not self.moved_on(generation):
                generations.withdraw(self.folder)

    def check_embedder(self) -> None:
        """Raises EmbedderChanged if what is indexed came from another embedding model."""
        generation, _ = self._published()
        if generation:
            self._check_embedder(generation)

    # Writing

    def store_papers(self, papers: Sequence[Paper]) -> None:
        """Embeds the papers and puts them into the store, a batch at a time. Raises EmbedderChanged before anything is stored
        that could not be searched together with what is indexed."""
        generation, _ = self._published()
        self._store_papers(papers, generation.manifest.dimension if generation and generation.manifest.papers else None)

    def _store_papers(self, papers: Sequence[Paper], dimension: int | None) -> None:
        with ThreadPoolExecutor(getattr(self.embedder, "at_once", 1)) as pool:
            for start in range(0, len(papers), _BATCH):
                some = papers[start : start + _BATCH]
                batch = []
                for paper, vectors in zip(some, pool.map(lambda paper: self._embed(paper, dimension), some)):
                    batch.append(Embedded(paper, vectors))
                    self._progress("Embedding papers", start + len(batch), len(papers))
                self._store.put(batch, self.embedder.fingerprint)

    def sync(self, forget: bool = False) -> None:
        """Publishes a generation for the store as it is, from the present one if that can be continued. `forget`: nothing
        that held a removed paper stays on the disk."""
        base, _ = self._published()
        revision, corpus = self._store.state()
        if base and (base.manifest.fingerprint != self.embedder.fingerprint or base.manifest.revision > revision):
            base = None
        if base and base.manifest.corpus == corpus and not forget:
            return
        if base is None:
            self._embed_missing()
        self._replace(base, forget)

    def rebuild(self) -> None:
        """Everything anew from the store, with the present embedder."""
        self._rebuilt()

    # Inside

    def _published(self) -> tuple[Generation | None, str]:
        """The published generation, opened if it isn't the one in hand; or None and the reason."""
        with self._guard:
            if self._generation and not self.moved_on(self._generation):
                return self._generation, ""
            try:
                new, why = generations.open_current(self.folder), ""
            except Unusable as error:
                new, why = None, str(error)
            self._generation = new  # the old one closes when the last search in it has ended
        return new, why

    def _check_embedder(self, generation: Generation) -> None:
        stored, present = generation.manifest.fingerprint, self.embedder.fingerprint
        if stored != present and generation.manifest.papers:
            raise EmbedderChanged(
                f"{self.library} was embedded with {stored}, but the settings now say {present}. To embed it anew, run "
                "`askpapers doctor --rebuild`; to keep it as it is, set the former embedding model again."
            )

    def _repair(self) -> Generation:
        with lock.writing(self.library, _PATIENCE):
            generation, why = self._published()
            if generation is None:  # else another process has built it while we waited
                if self._store.state()[0]:
                    self._notice(f"Building the index of {self.library}: {why}.")
                generation = self._rebuilt()
        return generation

    def _catch_up(self, generation: Generation) -> Generation:
        """A change was cut short after papers were stored: index them, unless their writer is still at work."""
        if time.monotonic() < self._gave_up + _RETRY:
            return generation
        try:
            with lock.writing(self.library, 0):
                generation = self._published()[0] or generation  # its writer may have finished just now
                if generation.manifest.corpus != self._store.state()[1]:
                    self._notice(f"Completing the index of {self.library}: an earlier change was cut short.")
                    removed = bool(self._store.removed_since(generation.manifest.revision))
                    if removed:  # it may have been a removal, which promised to leave nothing on the disk
                        self._store.sweep()
                    self.sync(forget=removed)
        except LibraryBusy:
            return generation  # what is indexed so far can be searched meanwhile
        except StorageFailed as error:
            self._gave_up = time.monotonic()
            self._notice(f"{error} Until then {generation.manifest.papers:,} of {len(self._store):,} papers are searched.")
            return generation
        return self._published()[0] or generation

    def _embed(self, paper: Paper, dimension: int | None) -> np.ndarray:
        """One row a passage, then one a sentence, each seen in the context of title and abstract. Taken from the store if only
        other fields of the paper have changed."""
        known = self._store.vectors([stamp(paper)], self.embedder.fingerprint)
        if known.stamps and dimension in (None, known.matrix.shape[1]):
            return known.matrix
        text, shift = f"{paper.title}. {paper.abstract}", len(paper.title) + 2
        parts = [*passages(paper)[1:], *sentences(paper.abstract)]
        vectors = self.embedder.embed_parts(text, [Span(part.start + shift, part.end + shift) for part in parts])
        if dimension not in (None, vectors.shape[1]):
            raise EmbedderChanged(
                f"{self.embedder.fingerprint} now gives vectors of length {vectors.shape[1]}; {self.library} holds {dimension}. "
                "Run `askpapers doctor --rebuild` to embed it anew."
            )
        return vectors

    def _embed_missing(self) -> None:
        """Asks the embedder for its dimension: behind one name and address there may be another model by now."""
        if len(self._store):
            dimension = self.embedder.embed(["dimension"]).shape[1]
            self._store_papers(self._store.unembedded(self.embedder.fingerprint, dimension), dimension)
        self._store.rules_are_current()

    def _rebuilt(self) -> Generation:
        self._embed_missing()
        return self._replace(None)

    def _replace(self, base: Generation | None, forget: bool = False) -> Generation:
        new = generations.build(self.folder, self._store, self.embedder.fingerprint, base, self._progress, forget)
        with self._guard:
            self._generation = new
        return new
