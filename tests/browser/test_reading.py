"""What answers look like to a reader: citations and verdicts, lists, comparisons, refusals, the evidence and what can be copied."""

from __future__ import annotations

import pytest
from made_answers import listing, shipped
from test_page import ask, eventually

from rag import export

pytestmark = pytest.mark.browser


def titles(part) -> list[str]:
    return [title for title in part.locator("tbody tr:visible a.title").all_inner_texts()]


def clipboard(page) -> str:
    return page.evaluate("navigator.clipboard.readText()")


def test_a_second_verdict_stands_apart(page):
    turn = ask(page, "second verdict")
    flags = turn.locator(".flag").all_inner_texts()
    assert flags == [
        "not backed by the cited abstract",
        "second check: backed",
        "not backed by the cited abstract",
        "second check agrees",
        "second check: not backed",
    ]
    about = turn.locator(".about").inner_text()
    assert "2 of 4 sentences backed by the abstracts." in about and "Second check, by the model: 2 of 4 backed." in about
    assert "2 calls to the model, 2,134 tokens read and 187 written." in about and "1 citation that stood for no paper was left out." in about
    turn.locator("a.cite").nth(1).focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    assert page.locator(".tip.show").inner_text().split("\n")[1].startswith("Doesn’t back this sentence.")


def test_a_list_is_a_table_with_its_number_and_the_doubtful_apart(page):
    turn = ask(page, "list")
    assert turn.get_by_role("heading", level=3).all_inner_texts() == ["7 papers in this library match.", "3 more may match"]
    table = turn.get_by_role("table", name="7 papers in this library match.")
    made = listing()
    assert titles(table) == [c.paper.title for c in made.citations]
    row = table.get_by_role("row").nth(1)
    assert made.citations[0].quotes[0].text in row.inner_text() and made.citations[0].paper.byline in row.inner_text()
    doubtful = turn.get_by_role("table", name="3 more may match")
    assert titles(doubtful) == [c.paper.title for c in made.doubtful]
    doubtful.locator("a.cite").nth(1).click()
    card = page.locator(".card.on")
    assert made.doubtful[1].paper.title in card.inner_text() and card.locator("mark").inner_text() == made.doubtful[1].quotes[0].text
    assert page.locator("#panel h2:visible").all_inner_texts() == ["Matching papers", "May match (not counted)"]
    card.get_by_role("button", name="Back to the answer").click()
    assert page.evaluate("document.activeElement.textContent") == "9"


def test_a_list_is_sorted_by_its_headers_and_by_keyboard(page):
    turn = ask(page, "list")
    table = turn.locator("table.matches").first
    made = listing().citations
    header = {name: table.get_by_role("columnheader", name=name) for name in ("No.", "Paper", "Year")}
    assert [h.get_attribute("aria-sort") for h in header.values()] == ["ascending", "none", "none"]
    header["Paper"].get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert titles(table) == sorted((c.paper.title for c in made), key=str.lower)
    assert [h.get_attribute("aria-sort") for h in header.values()] == ["none", "ascending", "none"]
    page.keyboard.press("Space")
    assert titles(table) == sorted((c.paper.title for c in made), key=str.lower, reverse=True)
    header["Year"].get_by_role("button").click()
    assert table.locator("tbody td.year").all_inner_texts() == sorted((str(c.paper.year) for c in made), reverse=True)
    header["No."].get_by_role("button").click()
    assert titles(table) == [c.paper.title for c in made] and header["No."].get_attribute("aria-sort") == "ascending"
    assert titles(turn.locator("table.matches").nth(1)) == [c.paper.title for c in listing().doubtful]


def test_a_long_list_shows_thirty_then_all_and_can_be_filtered(page):
    turn = ask(page, "list five hundred")
    found = turn.locator(".found").first
    assert "500 papers in this library match." in turn.inner_text() and found.locator("tbody tr:visible").count() == 30
    assert found.get_by_role("status").inner_text() == "30 of 500 shown"
    rows = turn.bounding_box()["height"]
    filter = found.get_by_role("searchbox", name="Filter these 500 papers")
    filter.fill("collaborative FILTERING")
    wanted = [c.paper.title for c in listing(500).citations if "collaborative filtering" in (c.paper.title + c.quotes[0].text).lower()]
    assert titles(found) == wanted and found.get_by_role("status").inner_text() == f"{len(wanted)} shown"
    filter.fill("no such words")
    assert titles(found) == [] and found.get_by_role("status").inner_text() == "No paper fits"
    filter.fill("")
    found.get_by_role("button", name="Show all 500").click()
    assert found.locator("tbody tr:visible").count() == 500 and turn.bounding_box()["height"] > rows * 5
    found.locator("a.cite").nth(321).click()
    assert listing(500).citations[321].paper.title in page.locator(".card.on h3").inner_text()
    assert page.locator("#panel .card:visible").count() == 30 + 1 + 12
    page.locator("#panel").get_by_role("button", name="Show all 500 papers here").click()
    assert page.locator("#panel .card:visible").count() == 512
    found.get_by_role("button", name="Show the first 30 only").click()
    assert found.locator("tbody tr:visible").count() == 30


def test_a_comparison_is_side_by_side_and_on_a_phone_stacked(page, open_page):
    def tops(turn):
        return [side.bounding_box()["y"] for side in turn.locator(".side").all()]

    turn = ask(page, "compare three")
    assert turn.locator(".side h3").all_inner_texts() == [p.title for p in shipped() if p.title.startswith(("AgentBench", "Safe Collab", "ValUES"))]
    assert len(set(tops(turn))) == 1 and turn.locator(".side").first.locator("a.cite").count() == 2
    assert "Neither abstract names the other." in turn.inner_text() and turn.inner_text().count("AgentBench: Evaluating") == 1
    phone = open_page(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    turn = ask(phone, "compare three")
    assert len(set(tops(turn))) == 3 and phone.evaluate("document.documentElement.scrollWidth") <= 360
    assert len(tops(ask(phone, "list five hundred"))) == 0 and phone.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_refusal_offers_the_nearest_papers_and_a_question_about_each(page, library, monkeypatch):
    turn = ask(page, "which meant")
    paper = shipped()[3]
    monkeypatch.setattr(library, "_papers", [*library.papers(), paper])
    assert "Not answered" in turn.inner_text() and "seems to be meant. The nearest sentence of its abstract" in turn.inner_text()
    assert turn.get_by_role("heading", level=3).inner_text() == "Nearest papers (not an answer)" and turn.locator("a.cite").count() == 0
    turn.get_by_role("button", name=f"Ask about this paper: {paper.title}").click()
    assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"
    page.wait_for_timeout(300)  # the server has said it, too
    assert f"Asking only “{paper.title}”" in page.locator("#scope").inner_text()
    page.get_by_role("button", name="Ask all papers").click()


def test_a_card_has_everything_and_gives_its_citation(page):
    page.bring_to_front()
    ask(page, "compare").locator("a.cite").first.click()
    card = page.locator(".card.on")
    paper = next(p for p in shipped() if p.title.startswith("AgentBench"))
    text = card.inner_text()
    assert paper.title in text and ", ".join(paper.authors[:12]) in text and "and 10 more" in text and "ICLR 2024" in text and paper.abstract in text
    assert card.get_by_role("link", name=f"Open {paper.title} at openreview.net in a new tab").get_attribute("href") == paper.link
    card.get_by_role("button", name="Copy BibTeX").click()
    assert eventually(lambda: clipboard(page).startswith("@inproceedings{liu2024agentbench")) and "abstract =" not in clipboard(page)
    assert page.locator("#spoken").inner_text() == "Copied"
    card.get_by_role("button", name="Copy citation").click()
    assert eventually(lambda: clipboard(page) == export.plain(paper))
    assert eventually(lambda: "Copy citation" in card.inner_text())


def test_other_scripts_read_in_their_own_direction(page):
    turn = ask(page, "other scripts")
    directions = turn.locator(".answer > p").evaluate_all("all => all.map(p => getComputedStyle(p).direction)")
    assert directions == ["rtl", "ltr"]
    turn.locator("a.cite").first.click()
    assert page.locator(".card.on .abstract").evaluate("p => getComputedStyle(p).direction") == "rtl"
    assert page.locator(".card.on mark").count() == 2


@pytest.mark.parametrize(("size", "motion"), [((1440, 520), "no-preference"), ((1440, 520), "reduce"), ((800, 420), "no-preference")])
def test_the_marked_sentence_is_brought_into_view(open_page, size, motion):
    page = open_page(viewport={"width": size[0], "height": size[1]}, reduced_motion=motion)
    links = ask(page, "last sentences").locator("a.cite")
    in_view = """() => { const mark = document.querySelector('mark.now')?.getBoundingClientRect(), panel = document.getElementById('panel').getBoundingClientRect();
        return Boolean(mark) && mark.top >= Math.max(0, panel.top) && mark.bottom <= Math.min(innerHeight, panel.bottom) }"""
    for number in (0, 11, 5, 6, 2):
        links.nth(number).click()
        if motion == "reduce":
            page.wait_for_timeout(60)  # a frame or two, and no way on which it would still be
            assert page.evaluate(in_view), number
        assert eventually(lambda: page.evaluate(in_view)), number
        page.wait_for_timeout(900 if motion != "reduce" else 0)
        assert page.evaluate(in_view), number
