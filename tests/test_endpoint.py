"""A model behind HTTP: a scripted OpenAI-compatible server on loopback does everything that servers do wrong."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import threading
import time
import traceback

import pytest
from model_servers import KEY, QUESTION, Exchange, Server, chunk, few, serving, until, using  # noqa: F401

from rag import Answer, Library
from rag.endpoint import explain, http_client
from rag.errors import ModelFailed
from rag.settings import OPENAI_HOST, Secret, Settings

REPLY = ("SliceGPT can remove up to 25% of the ", "model parameters for LLAMA-2 70B [", "1].")


def failing(library: Library, script, quote: bool, **settings) -> tuple[Answer | ModelFailed, Server]:
    """What comes of a question when the server does `script`: the Answer, or the ModelFailed without quotes instead."""
    with serving(script) as server:
        asking = using(library, server, quote_when_model_fails=quote, api_key=Secret(KEY), **settings)
        try:
            return asking.ask(QUESTION), server
        except ModelFailed as error:
            return error, server


def status(code: int, message: str, **headers: str):
    return lambda exchange: exchange.reply(code, {"error": {"message": message, "type": "x", "code": None}}, headers)


def redirect(exchange: Exchange) -> None:
    exchange.reply(307, "", {"Location": "http://localhost:1/v1/chat/completions"})


def hang_up_half_way(exchange: Exchange) -> None:
    exchange.begin()
    exchange.say("SliceGPT can remove")


def break_chunked(exchange: Exchange) -> None:
    exchange._handler.send_response(200)
    exchange._handler.send_header("Content-Type", "text/event-stream")
    exchange._handler.send_header("Transfer-Encoding", "chunked")
    exchange._handler.end_headers()
    data = f"data: {chunk({'content': 'SliceGPT'})}\n\n".encode()
    exchange._handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) + b"50\r\nhalf of ")
    exchange._handler.close_connection = True


def garbage_in_stream(exchange: Exchange) -> None:
    exchange.begin()
    exchange.line("{this is no JSON")


def error_in_stream(exchange: Exchange) -> None:
    exchange.begin()
    exchange.say("SliceGPT")
    exchange.line('{"error": {"message": "the graphics card melted", "code": 500}}')


def too_long_in_stream(exchange: Exchange) -> None:
    exchange.begin()
    exchange.line('{"error": {"message": "the request exceeds the available context size", "code": 400}}')


def silence(exchange: Exchange) -> None:
    exchange.begin()
    exchange.say("SliceGPT")
    exchange.wait_for_hang_up(5)


def nothing_at_all(exchange: Exchange) -> None:
    exchange.wait_for_hang_up(5)


def keeps_alive_without_a_word(exchange: Exchange) -> None:
    exchange.begin()
    for _ in range(50):
        exchange._handler.wfile.write(b": ping\n\n")
        exchange._handler.wfile.flush()
        time.sleep(0.1)


FAILURES = {
    "wrong key": (status(401, f"Incorrect API key provided: {KEY}. Bearer {KEY}"), "refused the key. Check OPENAI_API_KEY"),
    "not allowed": (status(403, "no"), "does not allow this key"),
    "unknown model": (status(404, "The model `x` does not exist"), "knows no model scripted"),
    "rate limit": (status(429, "slow down", **{"Retry-After": "17"}), "Try again in 17 seconds"),
    "quota": (status(429, "You exceeded your quota"), "Try again later"),
    "server error": (status(500, f"oops {KEY} sk-other-abcdef123456"), r"error 500 \(“oops \*\*\* \*\*\*”\)"),
    "web page as error": (lambda x: x.reply(502, "<html>Bad gateway</html>", kind="text/html"), "failed with error 502. Try again later"),
    "context too long": (status(400, "This model's maximum context length is 4096 tokens"), "Set ASKPAPERS_CONTEXT_TOKENS"),
    "unknown parameter": (status(400, "Unsupported parameter: 'messages'"), "“Unsupported parameter: 'messages'”"),
    "too long in stream": (too_long_in_stream, "Set ASKPAPERS_CONTEXT_TOKENS"),
    "error in stream": (error_in_stream, "broke off its answer .“the graphics card melted”"),
    "empty reply": (lambda x: x.stream(), "gave an empty reply"),
    "all thought": (lambda x: x.stream(reason="length"), "raise ASKPAPERS_ANSWER_TOKENS"),
    "no citations": (lambda x: x.stream("SliceGPT is quite good."), "named no paper"),
    "a web page": (lambda x: x.reply(200, "<html>Welcome</html>", kind="text/html"), "can't be read.*OPENAI_BASE_URL"),
    "not a stream": (lambda x: x.reply(200, {"choices": [{"message": {"content": "SliceGPT [1]."}}]}), "can't be read"),
    "garbage": (garbage_in_stream, "can't be read"),
    "redirect": (redirect, "redirects to another address"),
    "hung up": (hang_up_half_way, "broke off its answer"),
    "chunk broken": (break_chunked, "broke off its answer"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failing_model_is_told_in_a_sentence_and_replaced_by_quotes(few, name):
    script, said = FAILURES[name]
    answer, server = failing(few, script, quote=True)
    assert isinstance(answer, Answer)
    assert answer.mode == "extractive" and answer.status == "answered" and "SliceGPT" in answer.text and answer.citations
    assert re.search(said, answer.notice), answer.notice
    assert answer.notice.count("scripted") + answer.notice.count("127.0.0.1") >= 1
    assert len(server.requests) == 1


@pytest.mark.parametrize("name", FAILURES)
def test_without_quotes_a_failing_model_is_an_error_and_no_key_shows_anywhere(few, name, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    script, said = FAILURES[name]
    error, server = failing(few, script, quote=False)
    assert isinstance(error, ModelFailed) and re.search(said, str(error)), error
    assert len(server.requests) == 1 and server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    captured = capfd.readouterr()
    shown = (str(error), repr(error), "".join(traceback.format_exception(error)), caplog.text, captured.out, captured.err)
    chain = [error.__cause__, error.__context__]
    assert not any(KEY in text for text in (*shown, *map(str, chain)))


def test_no_server_is_told_at_once(few):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        started = time.monotonic()
        answer = using(few, base_url=url).ask(QUESTION)
    assert "can't be reached. Is the server running" in answer.notice and answer.citations
    assert time.monotonic() - started < 3


@pytest.mark.parametrize("script", [silence, nothing_at_all, keeps_alive_without_a_word])
def test_a_silent_server_is_given_up_after_the_timeout(few, script):
    started = time.monotonic()
    answer, _ = failing(few, script, quote=True, timeout=0.5)
    assert "said nothing for 0.5 seconds" in answer.notice and "ASKPAPERS_TIMEOUT" in answer.notice
    assert time.monotonic() - started < 3


def test_a_server_that_is_slow_but_speaks_is_waited_for(few):
    def slow(exchange: Exchange) -> None:
        exchange.begin()
        for piece in REPLY:
            time.sleep(0.4)
            exchange.say(piece)
        exchange.end()

    answer, _ = failing(few, slow, quote=False, timeout=0.8)
    assert answer.status == "answered" and answer.mode == "scripted"


def test_a_good_answer_is_streamed_cited_checked_and_carries_no_notice(few, caplog):
    caplog.set_level(logging.DEBUG)
    with serving(lambda exchange: exchange.stream(*REPLY)) as server:
        got = list(using(few, server, api_key=Secret(KEY)).stream(QUESTION))
    answer = got[-1].answer
    assert [e.text for e in got if e.kind == "text" and e.text][0] == "SliceGPT can remove up to 25% of the"
    assert answer.text == "".join(REPLY) and answer.status == "answered" and answer.notice == ""
    assert KEY not in caplog.text and KEY not in repr(answer) and KEY not in str(answer.to_dict())
    request = server.requests[0]
    assert request.path == "/v1/chat/completions" and request.body["model"] == "scripted" and request.body["stream"] is True
    assert request.body["max_tokens"] == 700 and request.body["temperature"] == 0
    assert [m["role"] for m in request.body["messages"]] == ["system", "user"] and "SliceGPT" in request.body["messages"][1]["content"]


def refusing(*names: str):
    """Refuses these parameters by name, one at a time, as OpenAI does."""

    def script(exchange: Exchange) -> None:
        refused = next((name for name in names if name in exchange.body), None)
        if refused:
            exchange.reply(400, {"error": {"message": f"Unsupported parameter: '{refused}' is not supported with this model.", "param": refused}})
        else:
            exchange.stream(*REPLY, usage=(812, 31))

    return script


def test_calls_and_tokens_are_counted_as_the_server_tells_them(few):
    with serving(lambda exchange: exchange.stream(*REPLY, usage=(812, 31))) as server:
        answer = using(few, server).ask(QUESTION)
    assert server.requests[0].body["stream_options"] == {"include_usage": True}
    assert answer.usage == {"calls": 1, "prompt_tokens": 812, "completion_tokens": 31} == answer.to_dict()["usage"]
    assert 0 < answer.timings["first_token"] <= answer.timings["model"] <= answer.timings["total"]


def test_a_server_that_tells_no_tokens_leaves_the_calls(few):
    with serving(lambda exchange: exchange.stream(*REPLY)) as server:
        assert using(few, server).ask(QUESTION).usage == {"calls": 1}
    with serving(status(500, "oops")) as server:
        failed = using(few, server).ask(QUESTION)
    assert failed.mode == "extractive" and failed.usage == {"calls": 1}
    assert few.ask(QUESTION).usage == {}


@pytest.mark.parametrize("usage", [("many", None), (-1, 2.5), ([], {})])
def test_nonsense_about_tokens_is_not_counted(few, usage):
    with serving(lambda exchange: exchange.stream(*REPLY, usage=usage)) as server:
        assert using(few, server).ask(QUESTION).usage == {"calls": 1}


@pytest.mark.parametrize("names", [("stream_options",), ("temperature",), ("max_tokens", "temperature", "stream_options")])
def test_what_a_server_refuses_by_name_is_left_out_and_not_asked_for_again(few, names):
    with serving(refusing(*names)) as server:
        asking = using(few, server)
        answer = asking.ask(QUESTION)
        assert answer.mode == "scripted" and answer.notice == "" and answer.usage["calls"] == 1
        assert len(server.requests) == len(names) + 1
        asking.ask(QUESTION)
        assert len(server.requests) == len(names) + 2
    body = server.requests[-1].body
    assert not set(names) & body.keys() and ("max_completion_tokens" in body) == ("max_tokens" in names)


def test_a_server_that_refuses_a_parameter_again_and_again_is_told_once(few):
    with serving(status(400, "stream_options: extra fields not permitted")) as server:
        answer = using(few, server).ask(QUESTION)
    assert "error 400" in answer.notice and len(server.requests) == 2


def test_a_busy_server_is_asked_again_once_after_the_short_wait_that_it_asks_for(few):
    replies = [status(429, "slow down", **{"Retry-After": "0.3"}), lambda exchange: exchange.stream(*REPLY)]
    with serving(lambda exchange: replies.pop(0)(exchange)) as server:
        started = time.monotonic()
        assert using(few, server).ask(QUESTION).mode == "scripted"
        assert time.monotonic() - started >= 0.3 and len(server.requests) == 2
    with serving(status(503, "busy", **{"Retry-After": "0"})) as server:
        assert "error 503" in using(few, server).ask(QUESTION).notice and len(server.requests) == 2


def test_waiting_for_a_busy_server_can_be_stopped(few):
    with serving(status(429, "slow down", **{"Retry-After": "5"})) as server:
        events = using(few, server).stream(QUESTION)
        until(lambda: (next(events), server.requests)[1])
        started = time.monotonic()
        next(events), events.close()
        assert until(lambda: not [t for t in threading.enumerate() if t.name == "askpapers-model"], 1)
        assert time.monotonic() - started < 1 and len(server.requests) == 1


def test_the_first_words_show_at_once(few):
    said = []

    def script(exchange: Exchange) -> None:
        exchange.begin()
        time.sleep(0.5)
        said.append(time.monotonic())
        exchange.say("SliceGPT can ")
        exchange.wait_for_hang_up(5)

    with serving(script) as server:
        events = using(few, server).stream(QUESTION)
        next(event for event in events if event.kind == "text" and event.text)
        assert time.monotonic() - said[0] < 0.15
        events.close()


def test_a_server_that_does_not_hang_up_after_its_reply_is_not_waited_for(few):
    def script(exchange: Exchange) -> None:
        exchange.begin()
        exchange.say(*REPLY)
        exchange.line(chunk({}, "stop"))
        exchange.wait_for_hang_up(10)

    started = time.monotonic()
    answer, _ = failing(few, script, quote=False)
    assert answer.mode == "scripted" and time.monotonic() - started < 4


def test_the_box_works_again_after_a_failure(few):
    replies = iter([status(500, "oops"), lambda exchange: exchange.stream(*REPLY)])
    with serving(lambda exchange: next(replies)(exchange)) as server:
        asking = using(few, server)
        assert asking.ask(QUESTION).notice and asking.ask(QUESTION).mode == "scripted"


@pytest.mark.parametrize("script", [silence, nothing_at_all], ids=["between two tokens", "before the first token"])
def test_closing_the_stream_hangs_up_within_a_second_though_the_server_is_silent(few, script):
    with serving(script) as server:
        events = using(few, server).stream(QUESTION)
        until(lambda: (next(events), server.requests)[1])
        for _ in range(3):
            next(events)  # silence comes round, too
        closed = time.monotonic()
        events.close()
        assert time.monotonic() - closed < 0.5
        assert until(lambda: server.requests[0].hung_up, 2), "the connection was left open"
        assert server.requests[0].hung_up - closed < 1


def test_closing_the_stream_amid_the_text_hangs_up(few):
    def talkative(exchange: Exchange) -> None:
        exchange.begin()
        try:
            for _ in range(500):
                exchange.say("SliceGPT ")
                time.sleep(0.02)
        except OSError:
            exchange.hung_up = time.monotonic()

    with serving(talkative) as server:
        events = using(few, server).stream(QUESTION)
        next(event for event in events if event.kind == "text" and event.text)
        closed = time.monotonic()
        events.close()
        assert until(lambda: server.requests[0].hung_up, 2) and server.requests[0].hung_up - closed < 1


def test_a_redirect_is_not_followed_and_the_key_stays(few):
    with serving(lambda exchange: exchange.stream(*REPLY)) as thief:

        def elsewhere(exchange: Exchange) -> None:
            exchange.reply(307, "", {"Location": thief.url.replace("127.0.0.1", "localhost") + "/chat/completions"})

        answer, server = failing(few, elsewhere, quote=True)
        assert "redirects to another address" in answer.notice
        assert len(server.requests) == 1 and thief.requests == []


def sent_by(settings: Settings, url: str) -> dict[str, str]:
    import httpx

    seen: dict[str, str] = {}

    async def go() -> None:
        async with http_client(settings) as client:
            client._transport = client._mounts = None  # type: ignore[assignment]
            client._mounts = {}
            client._transport = httpx.MockTransport(lambda request: (seen.update(request.headers), httpx.Response(200))[1])
            await client.post(url, headers={"Authorization": "Bearer none", "OpenAI-Organization": "org"})

    asyncio.run(go())
    return seen


@pytest.mark.parametrize(
    ("base", "url", "signed"),
    [
        ("", f"https://{OPENAI_HOST}/v1/chat", True),
        ("", f"https://{OPENAI_HOST}:443/v1/chat", True),
        ("https://models.example/v1", "https://models.example:443/v1/chat", True),
        ("https://Models.Example:443/v1", "https://models.example/v1/chat", True),
        ("https://models.example/v1", "https://models.example.evil.example/v1/chat", False),
        ("https://models.example/v1", "http://models.example/v1/chat", False),
        ("https://models.example/v1", "https://models.example:8443/v1/chat", False),
        ("https://models.example/v1", f"https://{OPENAI_HOST}/v1/chat", False),
        ("", "http://127.0.0.1/v1/chat", False),
    ],
)
def test_the_key_goes_to_the_host_that_it_is_for_and_to_no_other(base, url, signed):
    headers = sent_by(Settings(model="m", base_url=base, api_key=Secret(KEY)), url)
    assert headers.get("authorization") == (f"Bearer {KEY}" if signed else None)


def test_without_a_key_none_is_sent_and_the_organisation_stays_with_openai():
    local = sent_by(Settings(model="m", base_url="http://127.0.0.1:11434/v1"), "http://127.0.0.1:11434/v1/chat")
    assert "authorization" not in local and "openai-organization" not in local
    assert sent_by(Settings(model="m", api_key=Secret(KEY)), f"https://{OPENAI_HOST}/v1/chat")["openai-organization"] == "org"


def test_a_key_in_the_environment_is_not_sent_to_a_server_that_was_configured_without_one(few, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "OPENAI_WEBHOOK_SECRET"):
        monkeypatch.setenv(name, "a-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: a-secret\nUser-Agent: a-secret\nAuthorization: Bearer a-secret\nCookie: a-secret")
    with serving(lambda exchange: exchange.stream(*REPLY)) as server:
        assert using(few, server).ask(QUESTION).mode == "scripted"
    headers = server.requests[0].headers
    assert "Authorization" not in headers and "a-secret" not in str(headers) and headers["User-Agent"] == "askpapers"
    assert not [name for name in headers if name.lower().startswith("x-")]


def test_a_server_that_wants_a_key_when_there_is_none_says_so(few):
    with serving(status(401, "no key")) as server:
        assert "asks for a key. Set OPENAI_API_KEY" in using(few, server).ask(QUESTION).notice


def test_a_proxy_for_the_outside_world_is_not_asked_for_this_very_machine(few, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving(lambda exchange: exchange.stream(*REPLY)) as server:
        assert using(few, server).ask(QUESTION).mode == "scripted"


def test_a_certificate_that_is_not_trusted_is_told_as_such():
    import httpx
    import openai

    error = openai.APIConnectionError(request=httpx.Request("POST", "https://models.example/v1"))
    error.__cause__ = httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate")
    assert "does not trust. Set SSL_CERT_FILE" in str(explain(error, Settings(model="m", base_url="https://models.example/v1")))


def test_many_questions_leave_no_thread_behind(few):
    with serving(lambda exchange: exchange.stream(*REPLY)) as server:
        asking = using(few, server)
        for _ in range(10):
            asking.ask(QUESTION)
        assert until(lambda: not [t for t in threading.enumerate() if t.name == "askpapers-model"])
