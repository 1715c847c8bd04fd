"""Who can reach the page and what can be called on it: password, other names, other pages, a proxy's sub-path, the public endpoints."""

from __future__ import annotations

import base64
import http.client
import json
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
from shared import WordEmbedder, made_up, topic
from stand_in import StandIn, served
from test_page import ask

from rag import Library, Settings
from ui import reader

pytestmark = pytest.mark.browser
LOGIN = "ann:s3cret:with colon"


def get(url: str, data: bytes | None = None, **headers: str) -> int:
    request = urllib.request.Request(url, data, {name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


class Proxy:
    """A proxy that shows `to` under /papers/, as people run one in front. `strips`: whether it takes its prefix off."""

    def __init__(self, to: str, strips: bool):
        there = urlsplit(to).netloc

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if not self.path.startswith("/papers/"):
                    return self.send_error(404)
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                upstream = http.client.HTTPConnection(there, timeout=30)
                headers = {**self.headers, "X-Forwarded-Host": self.headers["host"], "X-Forwarded-Proto": "http", "Host": there}
                upstream.request(self.command, self.path.removeprefix("/papers") if strips else self.path, body or None, headers)
                answer = upstream.getresponse()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("transfer-encoding", "connection", "date", "server"):
                        self.send_header(name, value)
                self.send_header("connection", "close")
                self.end_headers()
                while piece := answer.read1(65536):
                    self.wfile.write(piece)
                    self.wfile.flush()
                self.close_connection = True

            do_POST = do_HEAD = do_GET

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}/papers/"


def test_with_a_password_nothing_is_shown_without_it(chromium):
    at = served(StandIn(), login=LOGIN)
    for path in ("", "config", "gradio_api/info", "gradio_api/startup-events", "desk/talks", "desk/library", "theme.css", "login", "monitoring", "missing"):
        assert get(at + path) == 401, path
    assert get(at + "gradio_api/queue/join", b"{}") == get(at + "desk/papers?name=x", b"x") == 401
    right, wrong = (base64.b64encode(text.encode()).decode() for text in (LOGIN, "ann:wrong"))
    assert get(at, Authorization=f"Basic {wrong}") == get(at, Authorization="Basic %%%") == get(at, Authorization=f"Bearer {right}") == 401
    assert get(at, Authorization=f"Basic {right}") == 200
    context = chromium.new_context(http_credentials={"username": "ann", "password": "s3cret:with colon"})
    page = context.new_page()
    page.goto(at)
    page.wait_for_selector(".welcome")
    assert "10x less tokens" in ask(page, "yarn").inner_text()
    context.close()


@pytest.mark.parametrize("strips", [True, False])
def test_behind_a_proxy_under_a_sub_path(chromium, strips):
    proxy = Proxy(served(StandIn(), root_path="/papers"), strips)
    context = chromium.new_context(viewport={"width": 1440, "height": 860})
    page = context.new_page()
    page.requests = []
    page.on("request", lambda request: page.requests.append(request.url))
    page.goto(proxy.address)
    page.wait_for_selector(".welcome")
    assert "10x less tokens" in ask(page, "yarn").inner_text()
    page.wait_for_selector("#talks .talk")
    page.get_by_role("button", name="Library", exact=True).click()
    page.wait_for_selector("#found .papers")
    page.reload()
    page.wait_for_selector("#log .turn")
    assert context.cookies()[0]["path"] == "/papers/"
    own = [url for url in page.requests if not url.startswith(("data:", "blob:"))]
    assert all(url.startswith(proxy.address) for url in own), [url for url in own if not url.startswith(proxy.address)]
    context.close()
    proxy.server.shutdown()


def test_other_names_for_this_computer_and_other_pages_are_turned_away(address):
    port = urlsplit(address).port
    assert get(address, Host=f"evil.example:{port}") == get(address, Host="evil.example") == 403
    assert get(address, Host=f"localhost:{port}") == 200
    cookie = "askpapers=" + "a" * 43
    for origin in ("https://evil.example", "null", f"http://127.0.0.1:{port + 1}"):
        assert get(address + "desk/remove", b"{}", Origin=origin, Cookie=cookie) == 403
        assert get(address + "config", Origin=origin) == 403
    assert get(address + "desk/talks", Origin=address.rstrip("/"), Cookie=cookie) == 200
    assert get(address + "desk/talks") == 403  # without the page's cookie
    assert get(address + "desk/papers?name=x", b"x" * 25_000_001, Cookie=cookie) == 413
    assert get(address + "desk/talks/x/title", b"x" * 1_000_001, Cookie=cookie) == 413


def test_where_others_can_reach_it_without_a_password_papers_stay_as_they_are(chromium):
    port = urlsplit(served(StandIn(), host="0.0.0.0")).port
    at, cookie = f"http://127.0.0.1:{port}/", "askpapers=" + "a" * 43
    assert get(at + "desk/remove", b'{"ids": ["yarn"]}', Cookie=cookie, Content_Type="application/json") == 403
    assert get(at + "desk/papers?name=x.txt", b"x", Cookie=cookie) == 403
    page = chromium.new_page()
    page.goto(at)
    page.wait_for_selector(".welcome")
    page.get_by_role("button", name="Library", exact=True).click()
    page.wait_for_selector("#found .papers")
    assert page.locator("#drop").count() == 0 and page.get_by_role("button", name="Remove from the library").count() == 0
    page.close()


def test_two_endpoints_are_public_and_answer_as_the_command_line_does(tmp_path):
    from gradio_client import Client

    with Library.open(tmp_path, settings=Settings(), embedder=WordEmbedder(), seeds=False) as library:
        library.add(*[made_up(n) for n in range(30)])
        at = served(library)
        client = Client(at, verbose=False)
        question = f"Sentence 1 on {topic(9)} studies the graph"
        answer = client.predict(question, api_name="/ask")
        mine = library.ask(question).to_dict()
        assert {**answer, "timings": 0} == {**json.loads(json.dumps(mine)), "timings": 0}
        within = client.predict(question, [made_up(3).id], api_name="/ask")
        assert {c["paper"]["id"] for c in within["citations"]} | {p["id"] for p in within["related"]} == {made_up(3).id}
        hits = client.predict(topic(9), 3, api_name="/search")
        assert len(hits) == 3 and hits[0]["paper"]["id"] == made_up(9).id
        assert set(client.view_api(return_format="dict")["named_endpoints"]) == {"/ask", "/search"}
        for name in ("/answer", "/stop_it", "/start", "/ask_1"):
            with pytest.raises(ValueError):
                client.predict("x", api_name=name)
        with pytest.raises(Exception, match="1 to 4,000 characters"):
            client.predict("x" * 4_001, api_name="/ask")
        assert not (tmp_path / "conversations.sqlite").exists() or b"Sentence 1" not in (tmp_path / "conversations.sqlite").read_bytes()


def test_many_questions_in_a_short_time_are_answered_with_a_sentence(open_page, monkeypatch):
    page = open_page(served(StandIn()))
    monkeypatch.setattr(reader.Pace, "wait", lambda self, name: 7.2)
    page.get_by_role("textbox", name="Question").fill("yarn")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#note').textContent.includes('ask again in 7 seconds')")
    assert page.get_by_role("textbox", name="Question").input_value() == "yarn"
    monkeypatch.undo()
    assert "10x less tokens" in ask(page, "yarn").inner_text()


def test_a_pace_lets_a_burst_through_and_then_so_many_a_second(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(reader.time, "monotonic", lambda: now[0])
    pace = reader.Pace(burst=3, rate=0.5, names=2)
    assert [pace.wait("a") for _ in range(4)] == [0, 0, 0, 2.0] and pace.wait("b") == 0
    now[0] += 2
    assert pace.wait("a") == 0 and pace.wait("a") == 2.0
