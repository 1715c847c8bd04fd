"""What stands around the answers, in a real browser: conversations, the library, scope, exports, opinions, settings."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
import rispy
from pybtex.database import parse_string
from shared import WordEmbedder, made_up, topic, write_jsonl
from stand_in import StandIn, served
from test_page import ask, box, eventually

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


@pytest.fixture
def someone(chromium):
    """Opens the page in browsers of their own: each call is another person, unless `context` is given."""
    opened = []

    def open_as(at: str, context=None, **options):
        context = context or chromium.new_context(**{"viewport": {"width": 1440, "height": 860}, "accept_downloads": True, **options})
        opened.append(context)
        page = context.new_page()
        page.set_default_timeout(8000)
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


def titles(page) -> list[str]:
    return page.locator("#talks .talk").all_inner_texts()


def sheet(page, name: str):
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_selector("#sheet-body > *")
    return page.locator("#sheet")


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


def test_a_question_is_edited_or_asked_again_in_its_place(someone, at):
    page = someone(at)
    ask(page, "maths")
    ask(page, "hello")
    page.locator("#log .turn").last.get_by_role("button", name="Edit question").click()
    assert box(page).input_value() == "hello" and "take the place" in page.locator("#editing").inner_text()
    box(page).fill("yarn")
    box(page).press("Enter")
    page.wait_for_selector("#log .turn:last-child[data-status=answered] >> text=10x less tokens")
    assert page.locator("#log .turn").count() == 2 and not page.locator("#editing").is_visible()
    page.locator("#log .turn").last.get_by_role("button", name="Ask again").click()
    page.wait_for_function("!document.querySelector('#page.answering')")
    assert eventually(lambda: page.locator("#log .turn").count() == 2)
    page.locator("#log .turn").first.get_by_role("button", name="Edit question").click()
    assert not page.locator("#editing").is_visible()  # nothing that was answered since is lost
    page.reload()
    page.wait_for_function("document.querySelectorAll('#log .turn').length === 2")
    assert [t.split("\n")[0] for t in page.locator("#log .you").all_text_contents()] == ["You asked: maths", "You asked: yarn"]


def test_what_failed_or_was_stopped_is_kept_as_such_and_takes_no_place(someone, at):
    page = someone(at)
    ask(page, "yarn")
    page.locator("#log .turn").last.get_by_role("button", name="Edit question").click()
    box(page).fill("wrong key")
    box(page).press("Enter")
    page.wait_for_selector("#log .turn[data-status=problem]")
    assert page.locator("#log .turn").count() == 2 and box(page).input_value() == "wrong key"
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


# The library


def test_finding_sorting_and_leafing_through_the_library(someone, shelf):
    page = someone(shelf[1])
    found = sheet(page, "Library").locator("#found")
    assert "120 papers" in found.inner_text() and found.locator(".papers li").count() == 50
    assert topic(119) in found.locator(".title").first.inner_text()
    found.get_by_role("button", name="Later").click()
    assert eventually(lambda: topic(69) in found.locator(".title").first.inner_text()) and "Page 2 of 3" in found.inner_text()
    page.get_by_role("combobox", name="Order").select_option("title")
    assert eventually(lambda: topic(0) in found.locator(".title").first.inner_text())
    page.get_by_role("searchbox").fill("author7 made")
    assert eventually(lambda: "11 of 120 papers" in found.inner_text())  # 7 and 70 to 79
    page.get_by_role("textbox", name="From year").fill("2020")
    page.get_by_role("textbox", name="To year").fill("2024")
    assert eventually(lambda: "5 of 120 papers" in found.inner_text())
    page.get_by_role("searchbox").fill("zzz")
    assert eventually(lambda: "No paper fits" in found.inner_text())


def test_adding_good_and_bad_files_reports_what_went_in_and_what_did_not(someone, shelf, tmp_path):
    library, at = shelf
    page = someone(at)
    good = write_jsonl(tmp_path / "new.jsonl", [{"title": "Quokkas", "abstract": "We count quokkas."}, {"title": "No abstract"}, "{broken"])
    hidden = tmp_path / "export.bak"  # JSON under another name
    hidden.write_text('{"title": "Wombats", "abstract": "We weigh wombats."}\n{"title": "Numbats", "abstract": "We follow numbats."}\n')
    pdf = tmp_path / "paper.txt"
    pdf.write_bytes(b"%PDF-1.7 \x00\x01")
    view = sheet(page, "Library")
    page.locator("#files").set_input_files([good, hidden, pdf])
    assert eventually(lambda: view.locator("#adding > li:not(.going)").count() == 3, 20)
    one, two, three = view.locator("#adding > li").all_inner_texts()
    assert "new.jsonl: 1 added, 2 left out." in one and "new.jsonl, line 2" in one and "not valid JSON" in one
    assert "export.bak: 2 added." in two and "paper.txt: 1 left out." in three and "this is a PDF" in three
    assert "/tmp" not in view.inner_text() and str(tmp_path) not in view.inner_text()
    assert "123 papers" in view.locator("#found").inner_text() and "Numbats" in view.locator(".title").first.inner_text()
    assert eventually(lambda: "123 papers" in page.locator("#masthead").inner_text()) and len(library) == 123
    (tmp_path / "big.jsonl").write_bytes(b"x" * 25_000_001)
    page.locator("#files").set_input_files(tmp_path / "big.jsonl")
    assert eventually(lambda: "25 MB is the most for one file" in view.inner_text(), 10)


def test_removing_asks_first_and_then_nothing_is_left_of_it(someone, shelf):
    library, at = shelf
    page = someone(at)
    view = sheet(page, "Library")
    page.get_by_role("searchbox").fill(topic(7))
    assert eventually(lambda: view.locator(".papers li").count() == 1)
    view.get_by_role("checkbox").check()
    view.get_by_role("button", name="Remove from the library").click()
    assert view.get_by_role("button", name=re.compile("Remove “On topic00007 .*” from this library, for good")).is_visible()
    page.get_by_role("searchbox").focus()  # moving on means no
    assert view.get_by_role("button", name="Remove from the library").is_visible() and len(library) == 120
    view.get_by_role("button", name="Remove from the library").click()
    view.get_by_role("button", name=re.compile("for good")).click()
    assert eventually(lambda: "No paper fits" in view.inner_text(), 10)
    assert len(library) == 119 and eventually(lambda: "119 papers" in page.locator("#masthead").inner_text())
    assert all(topic(7).encode() not in path.read_bytes() for path in library.folder.rglob("*") if path.is_file())


def test_an_empty_library_offers_to_add_files(someone, tmp_path):
    with Library.open(tmp_path / "empty", settings=Settings(), embedder=WordEmbedder(), seeds=False) as library:
        page = someone(served(library))
        page.locator(".welcome").get_by_role("button", name="Add papers").click()
        page.wait_for_selector("#drop")
        page.locator("#files").set_input_files(write_jsonl(tmp_path / "q.jsonl", [{"title": "Quokkas", "abstract": "We count quokkas."}]))
        assert eventually(lambda: "1 paper" in page.locator("#masthead").inner_text(), 10)
        page.keyboard.press("Escape")
        assert "Ask about these papers." in page.locator(".welcome").inner_text()


# Scope


def test_a_question_is_asked_of_chosen_papers_only_and_says_so(someone, shelf):
    page = someone(shelf[1])
    view = sheet(page, "Library")
    page.get_by_role("searchbox").fill(topic(3))
    assert eventually(lambda: view.locator(".papers li").count() == 1)
    view.get_by_role("checkbox").check()
    page.get_by_role("searchbox").fill(topic(4))
    assert eventually(lambda: topic(4) in view.locator(".title").first.inner_text())
    view.get_by_role("checkbox").check()
    assert "2 chosen" in view.locator("#chosen").inner_text()
    view.get_by_role("button", name="Ask only these", exact=True).click()
    assert "Asking only 2 chosen papers" in page.locator("#scope").inner_text()
    turn = ask(page, f"Sentence 1 on {topic(9)} studies")
    assert "Asked of 2 chosen papers" in turn.inner_text()
    shown = turn.inner_text() + page.locator("#panel").inner_text()
    assert topic(9) not in shown.replace(f"Sentence 1 on {topic(9)} studies", "") and (topic(3) in shown or topic(4) in shown)
    page.reload()
    page.wait_for_selector("#log .turn")
    assert "Asked of 2 chosen papers" in page.locator("#log .turn").inner_text() and page.locator("#scope").is_visible()
    page.get_by_role("button", name="Ask all papers").click()
    turn = ask(page, f"Sentence 1 on {topic(9)} studies")
    assert "Asked of" not in turn.inner_text() and topic(9) in page.locator("#panel").inner_text()


def test_a_question_is_asked_of_a_year(someone, shelf):
    page = someone(shelf[1])
    view = sheet(page, "Library")
    page.get_by_role("textbox", name="From year").fill("2024")
    view.get_by_role("button", name="Ask only these 4").click()
    assert "Asking only 4 papers: since 2024" in page.locator("#scope").inner_text()
    turn = ask(page, f"Sentence 1 on {topic(24)} studies")
    assert "Asked of 4 papers: since 2024" in turn.inner_text()
    cards = page.locator("#panel .card").all_inner_texts()
    assert cards and all("Made Up 2024" in card for card in cards)


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
