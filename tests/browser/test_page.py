"""The page as a reader meets it: a real browser, nothing mocked but the library."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from stand_in import MATHS, StandIn, served

from rag.errors import LibraryDamaged

pytestmark = pytest.mark.browser


def box(page):
    return page.get_by_role("textbox", name="Question")


def ask(page, question: str):
    """Types, presses Enter, waits for the finished turn."""
    before = page.locator("#log .turn").count()
    box(page).fill(question)
    box(page).press("Enter")
    page.wait_for_function(f"document.querySelectorAll('#log .turn').length > {before}")
    page.wait_for_function("!document.querySelector('#question textarea').disabled")
    return page.locator("#log .turn").last


def sheet(page, name: str):
    """Opens the library or the settings."""
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_selector("#sheet-body > *")
    return page.locator("#sheet")


def eventually(what, seconds: float = 10.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.05)
    return False


def test_question_answer_citation_evidence(open_page, address):
    page = open_page()
    assert page.title() == "Ask Papers"
    page.get_by_role("button", name="What is YaRN?").click()
    page.wait_for_selector("#log .turn[data-status=answered]")
    assert box(page).input_value() == ""

    turn = ask(page, "which is cheaper?")
    assert "You asked: which is cheaper?" in turn.text_content()
    links = turn.locator("a.cite")
    assert links.count() == 4
    assert turn.locator(".unsupported").inner_text() == "YaRN is the cheaper of the two."
    assert "not backed by the cited abstract" in turn.inner_text()
    assert "3 of 4 sentences" in turn.inner_text() and "Searched for" in turn.inner_text()

    links.nth(1).hover()
    tip = page.locator(".tip.show")
    assert "LongLoRA" in tip.inner_text() and "2024" in tip.inner_text() and "two lines of code" in tip.inner_text()
    page.keyboard.press("Escape")
    assert tip.count() == 0

    links.nth(2).focus()
    page.keyboard.press("Enter")
    card = page.locator(".card.on")
    assert page.evaluate("document.activeElement.className") == "card on"
    assert card.locator("mark").all_inner_texts() == [
        "requiring 10x less tokens and 2.5x less training steps than previous methods."
    ]
    assert card.locator("mark.now").count() == 1
    link = card.get_by_role("link")
    assert link.get_attribute("target") == "_blank" and link.get_attribute("rel") == "noopener noreferrer"
    box_of_card = card.bounding_box()
    assert box_of_card["y"] >= 0 and box_of_card["y"] + 100 < 860
    card.get_by_role("button", name="Back to the answer").click()
    assert page.evaluate("document.activeElement.matches('a.cite')")

    # the earlier turn's citation opens its own evidence, and only that
    panel = page.get_by_role("complementary", name="Evidence")
    assert "which is cheaper" in panel.inner_text() and "LongLoRA" in panel.inner_text()
    page.locator("#log .turn").first.locator("a.cite").click()
    assert "What is YaRN" in panel.inner_text() and "which is cheaper" not in panel.inner_text()
    assert "YaRN" in page.locator(".card.on h3").inner_text()
    assert page.locator("#panel .sources:visible").count() == 1

    hosts = {urlsplit(url).netloc for url in page.requests if not url.startswith(("data:", "blob:"))}
    assert hosts == {urlsplit(address).netloc}
    assert page.problems == []


def test_answer_streams_and_stop_closes_the_stream(page, library):
    closed = library.closed
    box(page).fill("a slow one")
    box(page).press("Enter")
    page.wait_for_selector("#live .answer")
    assert box(page).is_enabled() and not page.get_by_role("button", name="Ask", exact=True).is_visible()
    assert "Searching 4 papers" in page.locator("#status").inner_text()
    first = page.locator("#live .answer").inner_text()
    page.wait_for_timeout(500)
    assert len(page.locator("#live .answer").inner_text()) > len(first)
    begun = time.monotonic()
    page.get_by_role("button", name="Stop").click()
    page.wait_for_selector("#log .turn:last-child[data-status=stopped]")
    assert time.monotonic() - begun < 1.5
    assert eventually(lambda: library.closed == closed + 1, 1)
    assert (
        "It takes its time." in page.locator("#log .turn").last.inner_text()
        and "Stopped." in page.locator("#log .turn").last.inner_text()
    )
    assert "Ask me about the papers in this library." in ask(page, "hello").inner_text()
    assert "No papers to show" in page.locator("#panel").inner_text()


def test_stop_frees_the_box_even_if_the_model_says_nothing(page, library):
    library.silence.clear()
    box(page).fill("silent")
    box(page).press("Enter")
    page.wait_for_function("document.querySelector('#status').textContent.includes('Searching')")
    page.keyboard.press("Escape")
    page.wait_for_selector("#log .turn:last-child[data-status=stopped]")
    page.wait_for_function("!document.querySelector('#question textarea').disabled")
    box(page).fill("hello")
    box(page).press("Enter")
    page.wait_for_selector("#log .turn:last-child[data-status=chat]")
    library.silence.set()


def test_leaving_closes_the_stream(open_page, library):
    page = open_page()
    closed = library.closed
    box(page).fill("a slow one")
    box(page).press("Enter")
    page.wait_for_selector("#live .answer")
    page.close()
    assert eventually(lambda: library.closed == closed + 1)


def test_errors_become_sentences_and_the_box_works_again(page, caplog):
    turn = ask(page, "wrong key please")
    assert "refused the key" in turn.inner_text()
    assert box(page).input_value() == "wrong key please"
    turn = ask(page, "crash")
    assert (
        "Something went wrong inside Ask Papers (ValueError)" in turn.inner_text() and "secret detail" not in page.content()
    )
    assert "secret detail" in caplog.text
    assert "broke off after 5 words" in ask(page, "halfway").inner_text()
    assert ask(page, "hello").get_attribute("data-status") == "chat"


def test_too_long_and_empty_questions(page, library):
    streams, turns = library.streams, page.locator("#log .turn").count()
    box(page).fill("x" * 4001)
    box(page).press("Enter")
    page.wait_for_function("document.querySelector('#note').textContent.includes('4,001')")
    assert box(page).input_value() == "x" * 4001 and box(page).is_enabled()
    for nothing in ("", "   "):
        box(page).fill(nothing)
        box(page).press("Enter")
    page.wait_for_timeout(400)
    assert page.locator("#log .turn").count() == turns and library.streams == streams
    ask(page, "hello")
    assert page.locator("#note").inner_text() == ""


def test_a_hostile_paper_does_nothing(page, listener):
    turn = ask(page, "hostile")
    turn.locator("a.cite").click()
    turn.locator("a.cite").hover()
    page.wait_for_timeout(400)
    assert page.evaluate("window.hacked") is None
    assert page.locator("#page :is(img, svg, iframe, style, script, video, object)").count() == 0
    assert listener.heard == []
    assert "see [7] and [1]. After." in turn.inner_text()
    assert turn.locator("a.cite").count() == 1
    assert "<script>window.hacked=1</script>" in page.locator(".card.on").inner_text()
    # even markup that got in could not reach another host
    page.evaluate(
        "port => { const image = new Image(); image.src = `http://127.0.0.1:${port}/image`; document.body.append(image);"
        " return fetch(`http://127.0.0.1:${port}/fetch`).catch(() => 0) }",
        listener.port,
    )
    page.wait_for_timeout(300)
    assert listener.heard == []


def test_hostile_papers_in_lists_cards_and_copies_do_nothing(page, listener, library, monkeypatch):
    page.bring_to_front()
    more = [replace(library.hostile, id=f"{library.hostile.id}{n}") for n in range(14)]
    monkeypatch.setattr(library, "_papers", [*library.papers(), *more])
    for question in ("hostile sides", "hostile list"):
        turn = ask(page, question)
        for button in turn.locator("[data-sort]").all():
            button.click()
        if turn.locator(".filter").count():
            turn.locator(".filter").first.fill("<img src=x onerror")
            assert turn.locator("tbody tr:visible").count() == 14
        turn.locator("a.cite").first.click()
        card = page.locator(".card.on")
        for name in ("Copy citation", "Copy BibTeX"):
            card.get_by_role("button", name=name).click()
            assert eventually(lambda: "onerror" in page.evaluate("navigator.clipboard.readText()"))
        card.get_by_role("button", name="Ask about this paper").click()
        page.wait_for_timeout(200)  # the server has said it, too
        assert "<img src=x onerror" in page.locator("#scope").inner_text()
        page.get_by_role("button", name="Ask all papers").click()
        turn.get_by_role("button", name="Copy answer").click()
    page.wait_for_timeout(300)
    assert page.evaluate("window.hacked") is None and listener.heard == []
    assert page.locator("#page :is(img, svg, iframe, style, script, video, object)").count() == 0


def test_maths_is_set_and_plain_text_is_exact(page):
    turn = ask(page, "maths")
    assert turn.locator("math").count() >= 3
    turn.locator("a.cite").first.click()
    abstract = page.locator(".card.on .abstract")
    shown = abstract.evaluate(
        "e => { const c = e.cloneNode(true); c.querySelectorAll('math').forEach(m => m.remove()); return c.textContent }"
    )
    bare = re.sub(r"\$\$.*?\$\$|\$O.*?\$|\\\(x\\\)", "", MATHS.abstract)
    assert shown == bare.replace("**Bold claims**", "Bold claims").replace("100\\%", "100%")
    assert abstract.locator("strong").inner_text() == "Bold claims"
    assert abstract.locator("math").first.evaluate("m => m.getBoundingClientRect().width") > 40
    assert page.locator(".card.on mark").count() >= 1


def test_refusal(page):
    turn = ask(page, "what learning rate did they use?")
    assert turn.get_attribute("data-status") == "refused"
    assert "Not answered" in turn.inner_text() and "Nearest papers (not an answer)" in turn.inner_text()
    turn.locator(".nearest a").first.click()
    assert "We present LongLoRA" in page.locator(".card.on .abstract").inner_text()


def test_two_readers_do_not_meet(open_page):
    one, two = open_page(), open_page()
    ask(one, "yarn")
    ask(two, "maths")
    assert "YaRN" not in two.locator("#page").inner_text() and "Pruning" not in one.locator("#page").inner_text()


def test_phone(open_page):
    page = open_page(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    for question in ("which is cheaper?", "hostile", "maths"):
        turn = ask(page, question)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    turn.locator("a.cite").first.tap()
    assert eventually(lambda: -5 < page.locator(".card.on").bounding_box()["y"] < 600)
    page.get_by_role("button", name="Back to the answer").tap()
    assert eventually(lambda: 0 < turn.locator("a.cite").first.bounding_box()["y"] < 740)


def test_copy(page):
    page.bring_to_front()
    ask(page, "yarn").get_by_role("button", name="Copy").click()
    page.wait_for_selector("text=Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("YaRN extends") and "\n\n[1] Bowen Peng" in copied and "https://openreview.net/" in copied


def test_an_empty_library_and_then_a_full_one(open_page):
    library = StandIn(papers=False)
    page = open_page(served(library))
    assert (
        "askpapers add FILE" in page.locator(".welcome").inner_text()
        and "no papers yet" in page.locator("#masthead").inner_text()
    )
    turn = ask(page, "yarn")
    assert "askpapers add FILE" in turn.inner_text() and library.streams == 0
    library.grow()
    assert "10x less tokens" in ask(page, "yarn").inner_text()
    assert "4 papers" in page.locator("#masthead").inner_text()


def test_a_library_that_cannot_be_read(open_page, caplog):
    class Damaged(StandIn):
        def __len__(self):
            raise LibraryDamaged("The stored papers can't be read. Restore papers.sqlite from a copy.")

    page = open_page(served(Damaged()))
    assert "Restore papers.sqlite" in page.locator(".welcome").inner_text()
    assert "Restore papers.sqlite" in ask(page, "yarn").inner_text()


def test_everything_has_a_name(page):
    ask(page, "which is cheaper?")
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, a, summary, textarea')].filter(e => e.checkVisibility() &&"
        " !(e.innerText || e.ariaLabel || e.labels?.[0]?.textContent || '').trim()).map(e => e.outerHTML)"
    )
    assert unnamed == []
    assert page.get_by_role("log", name="Conversation").count() == 1
    assert page.get_by_role("heading", level=1).inner_text() == "Ask Papers"


def test_the_server_keeps_to_itself(address):
    with urllib.request.urlopen(address) as answer:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy and "connect-src 'self'" in policy and "object-src 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["referrer-policy"] == "no-referrer"
    with urllib.request.urlopen(address + "gradio_api/info") as answer:
        assert set(json.load(answer)["named_endpoints"]) == {"/ask", "/search"}
    for path, data, status in (
        ("gradio_api/upload", b"x", 403),
        ("gradio_api/queue/join", b"x" * 1_000_001, 413),
        ("docs", None, 404),
    ):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(address + path, data=data))
        assert refused.value.code == status
