"""Fixtures of all tests: a library in a folder of its own, no settings from outside, and no way out to the network."""

from __future__ import annotations

import multiprocessing
import os
import socket
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator

import pytest
from shared import ROOT, WordEmbedder, made_up, opened, add

from rag import Library, Settings


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests last: Playwright keeps an event loop running in the main thread, where others want to start one."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The developer's own keys and library play no part."""
    for name in list(os.environ):
        if name.startswith(("ASKPAPERS_", "OPENAI_")) and not name.startswith("ASKPAPERS_REQUIRE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ASKPAPERS_LIBRARY", str(tmp_path / "default-library"))


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to another machine fails the test that makes it."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            pytest.fail(f"a connection to {address} was tried")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "library"


@pytest.fixture
def open_library(folder: Path, embedder: WordEmbedder) -> Iterator[Callable[..., Library]]:
    """Opens the library of this test, without the sample papers unless asked; all are closed at the end."""
    held: list[Library] = []

    def opener(path: Path = folder, **options: Any) -> Library:
        held.append(opened(path, **{"embedder": embedder, **options}))
        return held[-1]

    yield opener
    for library in held:
        library.close()


@pytest.fixture(scope="session")
def processes() -> Iterator[ForkServerContext]:
    """Starts processes that have everything imported already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["chromadb", "tantivy", "shared"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "tests")]))
        context.Process(target=int).start()
        yield context


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of 600 papers and 1,800 passages, past Chroma's first flush to its graph files; to be copied, not changed."""
    folder = tmp_path_factory.mktemp("base")
    add(folder, [made_up(n, 5) for n in range(600)])
    return folder


@pytest.fixture
def library(open_library: Callable[..., Library]) -> Library:
    return open_library()


@pytest.fixture(scope="session")
def seeds_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the 94 sample papers with the real embedding model, made once. Tests only read it; copy it to change it."""
    folder = tmp_path_factory.mktemp("seeds") / "library"
    with Library.open(folder, settings=Settings()) as library:
        assert len(library) == 94
    return folder


@pytest.fixture(scope="session")
def seeds(seeds_folder: Path) -> Iterable[Library]:
    with Library.open(seeds_folder, settings=Settings()) as library:
        yield library
