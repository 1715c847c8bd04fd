"""A real Chromium and a real page, served from this process over a scripted library. Skipped where there is no browser, unless
ASKPAPERS_REQUIRE_BROWSER=1 says that there must be one."""

from __future__ import annotations

import os
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from shared import WordEmbedder, made_up
from stand_in import SERVERS, StandIn, served, unserved

from rag import Library, Settings


def _missing(why: str) -> None:
    if os.environ.get("ASKPAPERS_REQUIRE_BROWSER") == "1":
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def chromium():
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        _missing("playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except Error as error:
            _missing(f"Chromium does not start: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


class Listener:
    """Another host, as far as the page is concerned. It must hear nothing."""

    def __init__(self) -> None:
        self.heard = heard = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                heard.append(self.path)
                self.send_response(204)
                self.end_headers()

            do_POST = do_HEAD = do_OPTIONS = do_GET

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture(scope="session")
def listener():
    listener = Listener()
    yield listener
    listener.server.shutdown()


@pytest.fixture(scope="session", autouse=True)
def patience():
    """Tests ask faster than any reader: the tab that they share is one browser to the server."""
    from ui import reader

    class Patient(reader.Limits):
        def __init__(self) -> None:
            self._person = self._address = reader.Pace(burst=10_000, rate=100)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "Limits", Patient)
        yield


@pytest.fixture(autouse=True)
def servers():
    """Those that a test begins end with it."""
    first = len(SERVERS)
    yield
    unserved(first)


@pytest.fixture(scope="session")
def library(listener):
    return StandIn(port=listener.port)


@pytest.fixture(scope="session")
def address(library, patience):
    return served(library)


@pytest.fixture(scope="session")
def window(chromium):
    """One window for all tests that need no other kind, so that the page's scripts are fetched once."""
    context = chromium.new_context(
        viewport={"width": 1280, "height": 860}, permissions=["clipboard-read", "clipboard-write"]
    )
    yield context
    context.close()


def _tab(context, at: str):
    page = context.new_page()
    page.set_default_timeout(30_000)
    page.requests, page.problems = [], []
    page.on("request", lambda request: page.requests.append(request.url))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.goto(at)
    page.wait_for_selector(".welcome")
    return page


@pytest.fixture
def open_page(chromium, window, address):
    """Opens the page in a tab of its own (or, with options, in a window of its own) and keeps its requests and errors."""
    opened = []

    def open_tab(at: str = address, **options):
        context = chromium.new_context(**options) if options else window
        page = _tab(context, at)
        opened.append(context if options else page)
        return page

    yield open_tab
    for each in opened:
        each.close()


@pytest.fixture(scope="session")
def page(window, address):
    """One tab with one long conversation, for the tests that need no fresh one: opening the page takes two seconds."""
    page = _tab(window, address)
    yield page
    assert page.problems == []


@pytest.fixture
def someone(chromium):
    """Opens the page in browsers of their own: each call is another person, unless `context` is given."""
    opened = []

    def open_as(at: str, context=None, **options):
        context = context or chromium.new_context(**{"viewport": {"width": 1440, "height": 860}, "accept_downloads": True, **options})
        opened.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.problems = []
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.goto(at)
        page.wait_for_selector("#log > *")
        return page

    yield open_as
    for context in opened:
        context.close()


@pytest.fixture
def shelf(tmp_path):
    """A real library of 120 papers, and its page."""
    with Library.open(tmp_path / "shelf", settings=Settings(), embedder=WordEmbedder(), seeds=False) as library:
        library.add(*[made_up(n) for n in range(120)])
        yield library, served(library)
