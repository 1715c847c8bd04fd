"""Keeps the published index generation in step with the store: notices, completes, repairs, replaces, and says why.

Whoever searches asks for `current()` each time, so papers that another process added are found at the next question. Never
searches vectors of another embedding model, and never waits for a lock while it keeps other threads from searching.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Callable, Sequence

import numpy as np

from . import generations, lock
from .embedding import Embedder
from .errors import EmbedderChanged, LibraryBusy, StorageFailed
from .generations import Generation, Progress, Unusable
from .papers import Paper
from .passages import Span, passages, sentences
from .store import Embedded, Store

_BATCH = 32
"""Papers embedded and stored by one transaction; what a killed `add` has to do again is at most this many."""
_PATIENCE = 600.0
"""Seconds that a reader without any usable index waits for the process that is building one."""


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

    def close(self) -> None:
        with self._guard:
            if self._generation:
                self._generation.close()
            self._generation = None

    # Reading

    def current(self) -> Generation:
        """The generation to search now; repaired or completed first if need be. Raises EmbedderChanged, LibraryBusy,
        StorageFailed, EmbeddingFailed."""
        generation, why = self._published()
        if generation is None:
            generation = self._repair(why)
        self._check_embedder(generation)
        if generation.manifest.corpus != self._store.state()[1]:
            generation = self._catch_up(generation)
        return generation

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
        """Embeds the papers and puts them into the store, a batch at a time."""
        for start in range(0, len(papers), _BATCH):
            batch = []
            for done, paper in enumerate(papers[start : start + _BATCH], start):
                self._progress("Embedding papers", done, len(papers))
                batch.append(Embedded(paper, self._embed(paper)))
            self._store.put(batch, self.embedder.fingerprint)
        if papers:
            self._progress("Embedding papers", len(papers), len(papers))

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
        self._embed_missing()
        self._replace(None)

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
            old, self._generation = self._generation, new
        if old:
            old.close()
        return new, why

    def _check_embedder(self, generation: Generation) -> None:
        stored, present = generation.manifest.fingerprint, self.embedder.fingerprint
        if stored != present and generation.manifest.papers:
            raise EmbedderChanged(
                f"{self.library} was embedded with {stored}, but the settings now say {present}. To embed it anew, run "
                "`askpapers doctor --rebuild`; to keep it as it is, set the former embedding model again."
            )

    def _repair(self, why: str) -> Generation:
        with lock.writing(self.library, _PATIENCE):
            generation, why = self._published()
            if generation is None:  # else another process has built it while we waited
                if self._store.state()[0]:
                    self._notice(f"Building the index of {self.library}: {why}.")
                self.rebuild()
        return self._generation

    def _catch_up(self, generation: Generation) -> Generation:
        """A change was cut short after papers were stored: index them, unless their writer is still at work."""
        try:
            with lock.writing(self.library, 0):
                if generation.manifest.corpus != self._store.state()[1]:
                    self._notice(f"Completing the index of {self.library}: an earlier change was cut short.")
                    self.sync()
        except (LibraryBusy, StorageFailed):
            return generation  # what is indexed so far can be searched meanwhile
        return self._published()[0] or generation

    def _embed(self, paper: Paper) -> np.ndarray:
        """One row a passage, then one a sentence, each seen in the context of title and abstract."""
        text, shift = f"{paper.title}. {paper.abstract}", len(paper.title) + 2
        parts = [*passages(paper)[1:], *sentences(paper.abstract)]
        return self.embedder.embed_parts(text, [Span(part.start + shift, part.end + shift) for part in parts])

    def _embed_missing(self) -> None:
        self.store_papers(self._store.unembedded(self.embedder.fingerprint))
        self._store.rules_are_current()

    def _replace(self, base: Generation | None, forget: bool = False) -> None:
        new = generations.build(self.folder, self._store, self.embedder.fingerprint, base, self._progress, forget)
        with self._guard:
            old, self._generation = self._generation, new
        if old and old is not new:
            old.close()
