"""What stands around the answers, in a real browser: conversations, exports, opinions, settings."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
import rispy
from pybtex.database import parse_string
from shared import WordEmbedder, made_up, topic
from stand_in import StandIn, served
from test_page import ask, box, eventually, sheet

from rag import Library, Settings
from rag.history import FILE

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("desk")


@pytest.fixture(scope="module")
def talking(place):
    """A scripted library whose conversations are kept in a folder."""
    library = StandIn()
    library.folder = place
    return library


@pytest.fixture(scope="module")
def at(talking) -> str:
    return served(talking)


def titles(page) -> list[str]:
    return page.locator("#talks .talk").all_inner_texts()


# Conversations


def test_a_conversation_survives_a_reload_and_a_restart_with_its_citations(someone, at, talking, place):
    page = someone(at)
    ask(page, "which is cheaper?")
    ask(page, "yarn")
    page.reload()
    page.wait_for_function("document.querySelectorAll('#log .turn').length === 2")
    first = page.locator("#log .turn").first
    assert "You asked: which is cheaper?" in first.text_content() and first.locator("a.cite").count() == 4
    first.locator("a.cite").first.click()
    assert page.locator(".card.on mark").count() == 2
    again = served(talking)  # another server over the same folder, as after a restart
    page.goto(again)
    page.wait_for_selector("#talks .talk")
    assert titles(page) == ["which is cheaper?"]
    page.locator("#talks .talk").click()
    page.wait_for_function("document.querySelectorAll('#log .turn').length === 2")
    ask(page, "and its limits?")
    assert [question for question, _ in talking.before] == ["which is cheaper?", "yarn"]
    assert talking.before[1][1].citations[0].paper.title.startswith("YaRN")
    assert page.problems == []


def test_another_browser_sees_nothing_of_it(someone, at, place):
    one, two = someone(at), someone(at)
    ask(one, "a question of mine about yarn")
    assert titles(one) == ["a question of mine about yarn"]
    two.reload()
    two.wait_for_selector(".welcome")
    assert two.locator("#talks .talk").count() == 0
    id = one.locator("#talks li").get_attribute("data-talk")
    for path in (f"desk/talks/{id}", f"desk/talks/{id}/markdown"):
        assert one.request.get(at + path).status == 200 and two.request.get(at + path).status == 404
    two.request.post(at + f"desk/talks/{id}/delete", data={})
    assert one.request.get(at + f"desk/talks/{id}").status == 200
    [cookie] = one.context.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] == "Lax" and len(cookie["value"]) == 43
    assert cookie["value"].encode() not in (place / FILE).read_bytes()


def test_renaming_deleting_and_beginning_anew(someone, at):
    page = someone(at)
    ask(page, "yarn")
    page.get_by_role("button", name="New conversation").click()
    page.wait_for_selector(".welcome")
    assert page.locator("#log .turn").count() == 0 and page.locator("#panel .sources").count() == 0
    ask(page, "maths")
    assert titles(page) == ["maths", "yarn"]
    page.get_by_label("Rename, export or delete “yarn”").click()
    item = page.locator("#talks li").nth(1)
    item.get_by_role("textbox", name="Name").fill("On contexts <b>")
    item.get_by_role("button", name="Rename").click()
    assert eventually(lambda: titles(page) == ["maths", "On contexts <b>"])
    page.locator("#talks li").first.locator("summary").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    assert titles(page) == ["maths", "On contexts <b>"]  # it asks first
    page.get_by_role("button", name="Delete it for good?").click()
    assert eventually(lambda: titles(page) == ["On contexts <b>"])
    page.wait_for_selector(".welcome")


def asked(page) -> list[str]:
    return [each.removeprefix("You asked: ") for each in page.locator("#log .turn:visible .you").all_text_contents()]


def edit(page, turn: int) -> None:
    page.locator("#log .turn").nth(turn).get_by_role("button", name="Edit question").click()


def test_the_last_question_is_edited_or_asked_again_in_its_place(someone, at):
    page = someone(at)
    ask(page, "maths")
    ask(page, "hello")
    edit(page, 1)
    assert box(page).input_value() == "hello" and "takes the place of the old one" in page.locator("#editing").inner_text()
    box(page).fill("yarn")
    box(page).press("Enter")
    page.wait_for_selector("#log .turn:last-child[data-status=answered] >> text=10x less tokens")
    assert eventually(lambda: asked(page) == ["maths", "yarn"]) and not page.locator("#editing").is_visible()
    page.locator("#log .turn").last.get_by_role("button", name="Ask again").click()
    page.wait_for_function("!document.querySelector('#page.answering')")
    assert eventually(lambda: asked(page) == ["maths", "yarn"])
    page.reload()
    page.wait_for_function("document.querySelectorAll('#log .turn').length === 2")
    assert asked(page) == ["maths", "yarn"]


def test_an_earlier_question_is_edited_in_place_and_what_follows_goes_when_the_new_answer_is_there(someone, at, talking):
    page = someone(at)
    for question in ("maths", "yarn", "hello"):
        ask(page, question)
    edit(page, 0)
    assert "this one and the 2 turns after it" in page.locator("#editing").inner_text()
    assert page.locator("#log .turn.edited .you").count() == 1 and page.evaluate("document.activeElement.tagName") == "TEXTAREA"
    box(page).fill("a slow one")
    box(page).press("Enter")
    page.wait_for_selector("#live .answer")
    assert asked(page) == []  # the new one is where the first was
    page.get_by_role("button", name="Stop").click()
    page.wait_for_selector("#log .turn[data-status=stopped]")
    assert eventually(lambda: asked(page) == ["maths", "yarn", "hello", "a slow one"])  # nothing is lost without an answer
    edit(page, 0)
    box(page).fill("wrong key")
    box(page).press("Enter")
    page.wait_for_selector("#log .turn[data-status=problem]")
    assert eventually(lambda: len(asked(page)) == 5) and box(page).input_value() == "wrong key" and page.locator("#editing").is_visible()
    box(page).fill("which is cheaper?")
    box(page).press("Enter")
    assert eventually(lambda: asked(page) == ["which is cheaper?"], 8)
    assert talking.before == [] and eventually(lambda: titles(page) == ["which is cheaper?"]) and page.locator("#panel .sources").count() == 1
    page.reload()
    page.wait_for_selector("#log .turn")
    assert asked(page) == ["which is cheaper?"] and page.problems == []


def test_editing_is_given_up_by_escape_or_cancel_and_what_was_being_written_comes_back(someone, at):
    page = someone(at)
    ask(page, "yarn")
    box(page).fill("half a thought")
    for give_up in (lambda: page.keyboard.press("Escape"), lambda: page.get_by_role("button", name="Cancel").click()):
        edit(page, 0)
        assert box(page).input_value() == "yarn"
        give_up()
        assert not page.locator("#editing").is_visible() and box(page).input_value() == "half a thought"
        assert page.evaluate("document.activeElement.tagName") == "TEXTAREA" and page.locator(".turn.edited").count() == 0
    edit(page, 0)
    box(page).fill("hello")
    box(page).press("Enter")
    assert eventually(lambda: asked(page) == ["hello"] and box(page).input_value() == "half a thought")


def test_what_failed_or_was_stopped_is_kept_as_such_and_takes_no_place(someone, at):
    page = someone(at)
    ask(page, "yarn")
    page.locator("#log .turn").last.get_by_role("button", name="Edit question").click()
    box(page).fill("wrong key")
    box(page).press("Enter")
    page.wait_for_selector("#log .turn[data-status=problem]")
    assert page.locator("#log .turn").count() == 2 and box(page).input_value() == "wrong key"
    page.keyboard.press("Escape")
    box(page).fill("a slow one")
    box(page).press("Enter")
    page.wait_for_selector("#live .answer")
    page.reload()  # leaving stops it, and what was there is kept
    page.wait_for_function("document.querySelectorAll('#log .turn').length === 3")
    states = [turn.get_attribute("data-status") for turn in page.locator("#log .turn").all()]
    assert states == ["answered", "problem", "stopped"]


def test_exports(someone, at):
    page = someone(at)
    ask(page, "which is cheaper?")
    page.locator("#talks summary").click()
    texts = {}
    for name in ("Export as Markdown", "Cited papers as BibTeX", "Cited papers as RIS"):
        with page.expect_download() as waiting:
            page.get_by_role("link", name=name).click()
        texts[name] = Path(waiting.value.path()).read_text(encoding="utf-8")
        assert waiting.value.suggested_filename.startswith("which is cheaper")
    entries = parse_string(texts["Cited papers as BibTeX"], "bibtex").entries
    assert list(entries) == ["chen2024longlora", "peng2024yarn"]
    assert [r["authors"][0] for r in rispy.load(io.StringIO(texts["Cited papers as RIS"]))] == ["Chen, Yukang", "Peng, Bowen"]
    markdown = texts["Export as Markdown"]
    assert "## which is cheaper?" in markdown and "\\[2\\] Bowen Peng" in markdown and "Not backed by the abstracts: “YaRN is the cheaper" in markdown


# While an answer comes


def test_the_page_changes_at_once_and_typing_ahead_is_possible(someone, at):
    page = someone(at)
    page.evaluate(
        "() => { document.addEventListener('keydown', () => { window.pressed = performance.now() }, true);"
        " new MutationObserver(() => { window.changed ??= performance.now() }).observe(document.getElementById('live'), {childList: true}) }"
    )
    box(page).fill("a slow one")
    box(page).press("Enter")
    page.wait_for_selector("#live .turn")
    assert page.evaluate("window.changed - window.pressed") < 100
    assert box(page).input_value() == "" and box(page).is_enabled()
    page.wait_for_selector("#live .answer")
    box(page).fill("yarn")
    box(page).press("Enter")
    assert "will be asked when the answer is complete" in page.locator("#note").inner_text() and box(page).input_value() == "yarn"
    page.get_by_role("button", name="Stop").click()
    page.wait_for_selector("#log .turn[data-status=answered] >> text=10x less tokens")
    assert page.locator("#log .turn").count() == 2 and box(page).input_value() == ""


def test_a_slow_answer_says_how_long_it_has_taken_and_the_top_stays(someone, at, talking):
    page = someone(at, viewport={"width": 900, "height": 600})
    talking.silence.clear()
    box(page).fill("silent")
    box(page).press("Enter")
    page.wait_for_function("document.getElementById('status').dataset.seconds?.endsWith(' s')", timeout=6000)
    page.get_by_role("button", name="Stop").click()
    page.wait_for_selector("#log .turn[data-status=stopped]")
    talking.silence.set()
    for question in ("which is cheaper?", "hostile", "list"):
        ask(page, question)
    page.mouse.wheel(0, 5000)
    assert eventually(lambda: page.evaluate("scrollY") > 100) and page.get_by_role("button", name="Library").bounding_box()["y"] >= 0


# Opinions and settings


def test_opinions_are_noted_beside_the_papers_without_their_text(someone, at, place):
    page = someone(at)
    turn = ask(page, "which is cheaper?")
    turn.get_by_role("button", name="No", exact=True).click()
    turn.get_by_role("textbox").fill("YaRN isn't compared")
    turn.get_by_role("button", name="Add").click()
    assert eventually(lambda: "Noted, thank you." in turn.inner_text())
    first, second = [json.loads(line) for line in (place / "feedback.jsonl").read_text().splitlines()[-2:]]
    assert (first["vote"], first["words"]) == ("wrong", "") and second["words"] == "YaRN isn't compared" and first["turn"] == second["turn"]
    assert second["papers"] == ["longlora", "yarn"] and second["question"] == "which is cheaper?" and "We present" not in json.dumps(second)


def test_an_opinion_is_shown_again_and_can_be_changed(someone, at, place):
    def said(turn) -> list[str]:
        return turn.locator('.rate [aria-pressed="true"]').all_inner_texts()

    page = someone(at)
    turn = ask(page, "which is cheaper?")
    assert said(turn) == []
    turn.get_by_role("button", name="No", exact=True).click()
    turn.get_by_role("textbox").fill("YaRN isn't compared")
    page.keyboard.press("Enter")
    assert eventually(lambda: "Noted, thank you." in turn.inner_text()) and said(turn) == ["No"]
    assert page.evaluate("document.activeElement.dataset.rate") == "wrong"
    page.reload()
    turn = page.locator("#log .turn")
    assert eventually(lambda: said(turn) == ["No"]) and "“YaRN isn't compared”" in turn.inner_text()
    turn.get_by_role("button", name="Yes", exact=True).click()
    assert eventually(lambda: said(turn) == ["Yes"]) and turn.get_by_role("textbox").input_value() == "YaRN isn't compared"
    turn.get_by_role("textbox").fill("")
    turn.get_by_role("button", name="Add").click()
    assert eventually(lambda: turn.get_by_role("textbox").count() == 0)
    page.get_by_role("button", name="New conversation").click()
    page.locator("#talks .talk").click()
    turn = page.locator("#log .turn")
    assert eventually(lambda: said(turn) == ["Yes"]) and "compared" not in turn.locator(".rate").inner_text()
    lines = [json.loads(line) for line in (place / "feedback.jsonl").read_text().splitlines()[-4:]]
    assert [(line["vote"], line["words"]) for line in lines] == [("wrong", ""), ("wrong", "YaRN isn't compared"), ("right", "YaRN isn't compared"), ("right", "")]


def test_settings_show_where_each_value_comes_from_and_never_a_key(someone, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_MODEL", "tiny")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-123")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with Library.open(tmp_path / "m", settings=Settings.from_environment(), embedder=WordEmbedder(), seeds=False) as library:
        library.add(*[made_up(n) for n in range(20)])
        page = someone(served(library))
        assert "Answers by tiny" in page.locator("#masthead").inner_text()
        assert "Connection" in (text := ask(page, f"{topic(5)} studies").inner_text()) or "tiny" in text or "model" in text
        view = sheet(page, "Settings")
        rows = {row.locator("code").inner_text(): row.locator("td").all_inner_texts() for row in view.locator("tbody tr").all()}
        assert rows["model"] == ["tiny", "OPENAI_MODEL"] and rows["api_key"] == ["set, not shown", "OPENAI_API_KEY"]
        assert rows["papers_in_prompt"] == ["6", "default"] and "sk-secret" not in page.content()
        view.get_by_label(re.compile("Second check")).select_option("on")
        page.keyboard.press("Escape")
        view = sheet(page, "Settings")
        assert view.get_by_label(re.compile("Second check")).input_value() == "on"
        view.get_by_role("radio", name=re.compile("quoted")).check()
        page.keyboard.press("Escape")
        assert eventually(lambda: "Quoting abstracts" in page.locator("#masthead").inner_text())
        quoted = ask(page, f"{topic(5)} studies")
        assert quoted.locator(".notice").count() == 0
        page.reload()
        page.wait_for_selector("#log .turn")
        assert "Quoting abstracts" in page.locator("#masthead").inner_text()


def test_panels_on_a_phone(someone, shelf):
    page = someone(shelf[1], viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    for name in ("Library", "Settings"):
        sheet(page, name)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360 and page.evaluate("document.getElementById('sheet').scrollWidth") <= 360
        page.get_by_role("button", name="Close").tap()
    ask(page, topic(3))
    page.get_by_role("button", name="Conversations").tap()
    assert page.locator("#talks .talk").is_visible()
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, a, summary, input, select')].filter(e => e.checkVisibility() &&"
        " !(e.innerText || e.ariaLabel || e.labels?.[0]?.textContent || '').trim()).map(e => e.outerHTML)"
    )
    assert unnamed == []


def test_an_abstract_is_read_in_the_library_and_found_by_its_words(open_page):
    page = open_page()
    sheet(page, "Library")
    page.get_by_role("searchbox").fill("vanilla attention")
    page.wait_for_function("document.querySelectorAll('#found .papers li').length === 1")
    page.locator("#found details.abstract summary").click()
    page.wait_for_selector("#found details.abstract p")
    assert "We present LongLoRA" in page.locator("#found details.abstract p").inner_text()
