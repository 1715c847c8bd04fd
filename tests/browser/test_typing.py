"""From Enter to the last word: what is seen at once, what stays where it is while an answer arrives, and where the focus is."""

from __future__ import annotations

import pytest
from stand_in import StandIn, served
from test_page import ask, box, eventually

pytestmark = pytest.mark.browser

WATCH = """() => {
  addEventListener('keydown', e => { if (e.key === 'Enter') { window.pressed = performance.now(); window.seen = 0 } }, true);
  const seen = () => { if (document.querySelector('#live .you') && !window.seen) requestAnimationFrame(() => setTimeout(() => window.seen ||= performance.now())) };
  new MutationObserver(seen).observe(document.getElementById('talk'), { childList: true, subtree: true });
}"""


def test_the_question_is_on_the_page_within_a_tenth_of_a_second(open_page):
    page = open_page()
    page.evaluate(WATCH)
    took = []
    for turn in range(3):  # the quickest counts: a busy machine may hold up any of them
        box(page).fill("a slow one")
        box(page).press("Enter")
        page.wait_for_function("window.seen")
        took.append(page.evaluate("window.seen - window.pressed"))
        assert page.locator("#live .you").inner_text().endswith("a slow one")
        page.wait_for_selector("#live .answer")
        assert page.locator("#live .turn").count() == 1
        page.keyboard.press("Escape")
        page.wait_for_function(f"document.querySelectorAll('#log .turn').length > {turn}")
    assert min(took) < 100


def test_a_question_that_is_not_sent_off_stays_in_the_box(open_page):
    page = open_page()
    page.evaluate("addEventListener('keypress', e => e.stopImmediatePropagation(), true)")
    box(page).fill("yarn")
    box(page).press("Enter")
    page.wait_for_selector("#live .turn")
    page.wait_for_function("!document.querySelector('#live .turn')")
    assert box(page).input_value().strip() == "yarn" and page.get_by_role("button", name="Ask", exact=True).is_visible()


def test_what_has_arrived_stays_the_same_node_while_more_arrives(page):
    box(page).fill("a slow one")
    box(page).press("Enter")
    page.wait_for_selector("#live .answer p")
    page.evaluate("window.kept = document.querySelector('#live .you')")
    page.wait_for_timeout(400)
    assert page.evaluate("window.kept.isConnected")
    page.keyboard.press("Escape")
    page.wait_for_selector("#log .turn:last-child[data-status=stopped]")


def test_scrolling_by_hand_ends_following(open_page):
    page = open_page()
    for _ in range(3):
        ask(page, "essay")
    box(page).fill("a slow one")
    box(page).press("Enter")
    page.wait_for_selector("#live .answer")
    page.mouse.move(400, 400)
    page.mouse.wheel(0, -900)
    page.wait_for_timeout(200)
    at = page.evaluate("scrollY")
    page.wait_for_timeout(700)
    assert page.evaluate("scrollY") == at
    page.keyboard.press("Escape")
    page.wait_for_selector("#log .turn:last-child[data-status=stopped]")
    assert page.evaluate("scrollY") == at


def test_a_long_answer_begins_at_its_question(page):
    for question in ("essay", "list five hundred"):
        turn = ask(page, question)
        page.wait_for_timeout(200)
        top = turn.locator(".you").bounding_box()["y"]
        assert 0 < top < 200


def test_the_focus_comes_back_to_the_box_unless_it_is_elsewhere(open_page):
    page = open_page()
    ask(page, "yarn")
    assert eventually(lambda: page.evaluate("document.activeElement.tagName") == "TEXTAREA")
    box(page).fill("a slow one")
    box(page).press("Enter")
    page.wait_for_selector("#live .answer")
    page.locator("#log a.cite").first.click()
    page.get_by_role("button", name="Stop").click()
    page.wait_for_selector("#log .turn:last-child[data-status=stopped]")
    page.wait_for_timeout(300)
    assert page.evaluate("document.activeElement.tagName") != "BODY"


def test_the_answer_is_announced_in_words(page):
    ask(page, "which is cheaper?")
    spoken = page.locator("#spoken")
    assert spoken.get_attribute("aria-live") == "polite" and page.locator("#log").get_attribute("aria-live") == "off"
    assert spoken.inner_text().startswith("LongLoRA fine-tunes") and spoken.inner_text().endswith("1 sentence is not backed by the abstracts.")
    ask(page, "list five hundred")
    assert spoken.inner_text() == "500 papers found, 12 more may match."


def test_enter_that_only_picks_a_character_asks_nothing(page, library):
    streams = library.streams
    box(page).fill("にほん")
    box(page).dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True})
    page.wait_for_timeout(200)
    assert page.locator("#live .turn").count() == 0 and library.streams == streams
    box(page).fill("")


def test_an_open_explanation_at_the_top_stays_open(open_page):
    page = open_page(served(StandIn()))
    ask(page, "yarn")
    page.get_by_text("Use a model").click()
    ask(page, "hello")
    assert page.locator("#masthead .how p").is_visible()
