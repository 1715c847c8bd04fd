"""What axe-core finds on each state of the page (nothing), and what it can't see: keys, focus, motion, and the narrowest and widest windows."""

from __future__ import annotations

import pytest
from stand_in import StandIn, served
from test_page import ask, box, eventually, sheet

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
LIGHT = {"viewport": {"width": 1280, "height": 860}, "color_scheme": "light"}
DARK = {**LIGHT, "color_scheme": "dark"}
STATES = ["which is cheaper?", "list twelve", "which meant", "second verdict", "compare three", "wrong key please", "maths"]


def violations(page, *within: str) -> list[str]:
    """What axe finds in these parts of the page, or in the whole of it."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    context = {"include": [[part] for part in within if page.locator(part).count()]} if within else None
    found = axe.run(page, context, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{each['id']}: {node['html'][:140]} {node.get('failureSummary', '')[:200]}" for each in found for node in each["nodes"]]


def settled(page) -> None:
    """axe takes a colour in the middle of a change for the colour."""
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(150)


@pytest.mark.parametrize(
    ("options", "states"),
    [(LIGHT, STATES), (DARK, STATES), ({**PHONE, "color_scheme": "light"}, STATES[:3]), ({**PHONE, "color_scheme": "dark"}, STATES[3:5])],
    ids=["light", "dark", "phone", "dark phone"],
)
def test_axe_finds_nothing_on_any_state(open_page, options, states):
    page = open_page(**options)
    if page.get_by_text("Use a model").is_visible():
        page.get_by_text("Use a model").click()
    settled(page)
    found = {"welcome": violations(page)}
    for question in states:
        turn = ask(page, question)
        if turn.locator("a.cite, .nearest a").count():
            turn.locator("a.cite, .nearest a").first.click()
            page.wait_for_selector(".card.on")
        settled(page)
        found[f"{question}, evidence open"] = violations(page, "#log .turn:last-child", "#panel")
    box(page).fill("a slow one")
    box(page).press("Enter")
    page.wait_for_selector("#live .answer")
    found["draft"] = violations(page, "#top", "#live", "#status", "#ask")
    page.keyboard.press("Escape")
    page.wait_for_selector("#log .turn:last-child[data-status=stopped]")
    assert {state: each for state, each in found.items() if each} == {}


def test_axe_finds_nothing_on_an_empty_library(open_page):
    assert violations(open_page(served(StandIn(papers=False)))) == []


def test_everything_is_reached_by_tab_and_its_focus_is_seen(open_page):
    page = open_page()
    turn = ask(page, "list forty")
    turn.locator("a.cite").first.click()
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    wanted = page.evaluate(
        "[...document.querySelectorAll('a[href], button, summary, input, textarea')].filter(e => e.checkVisibility() && !e.disabled && e.tabIndex >= 0)"
        ".map((e, i) => e.dataset.stop = String(i)).length"
    )
    reached, unseen = set(), []
    for _ in range(wanted + 6):
        page.keyboard.press("Tab")
        stop, outline, what = page.evaluate(
            "(() => { const e = document.activeElement, s = getComputedStyle(e), r = e.closest('#ask') && getComputedStyle(document.getElementById('ask'));"
            " return [e.dataset.stop, parseFloat(s.outlineWidth) > 0 && s.outlineStyle !== 'none' || Boolean(r && r.outlineStyle !== 'none'), e.outerHTML.slice(0, 90)] })()"
        )
        if stop is not None:
            reached.add(stop)
            if not outline:
                unseen.append(what)
    assert len(reached) == wanted and unseen == []


def test_the_focused_citation_is_not_under_the_box(open_page):
    page = open_page()
    turn = ask(page, "essay")
    page.evaluate("scrollTo(0, 0)")
    for link in turn.locator("a.cite").all()[:20]:
        link.focus()
        place, ask_box = link.bounding_box(), page.locator("#foot").bounding_box()
        assert place["y"] + place["height"] <= ask_box["y"] + 30


def test_nothing_moves_when_no_motion_is_wanted(open_page):
    page = open_page(**LIGHT, reduced_motion="reduce")
    box(page).fill("a slow one")
    box(page).press("Enter")
    page.wait_for_selector("#live .answer")
    assert page.evaluate("document.getAnimations().filter(a => a.playState === 'running').length") == 0
    page.keyboard.press("Escape")
    page.wait_for_selector("#log .turn:last-child[data-status=stopped]")
    turn = ask(page, "essay")
    turn.locator("a.cite").last.click()
    at = page.locator("#panel").evaluate("p => p.scrollTop")
    page.wait_for_timeout(150)
    assert page.locator("#panel").evaluate("p => p.scrollTop") == at


def test_nothing_is_cut_off_at_any_width(open_page):
    page = open_page(viewport={"width": 360, "height": 900})
    for question in ("which is cheaper?", "list", "compare three", "which meant", "hostile", "other scripts", "maths"):
        turn = ask(page, question)
        turn.locator("a.cite, .nearest a").first.click()
        assert eventually(lambda: page.locator(".card.on").count() == 1)
        for width in (360, 768, 1024, 2560):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            cut = page.evaluate(
                "[...document.querySelectorAll('#log .turn:last-child *, #panel *')].filter(e => e.checkVisibility() && !e.closest('math, .sr, .tip, pre')"
                " && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 100))"
            )
            assert cut == []


def focused(page) -> str:
    return page.evaluate("(e => e.id || e.ariaLabel || e.name || e.textContent.trim() || e.tagName)(document.activeElement)")


def test_the_focus_goes_to_a_sensible_place(someone, shelf):
    library, at = shelf
    page = someone(at)
    in_box = "document.activeElement.matches('#question textarea')"
    for question in ("topic00001", "topic00002", "topic00003"):
        ask(page, question)
        assert eventually(lambda: page.evaluate(in_box))  # after sending
        page.get_by_role("button", name="New conversation").press("Enter")
        assert page.evaluate(in_box)
    for name, inside in (("Library", "find"), ("Settings", "Close")):  # after a dialog, where one was before
        page.get_by_role("button", name=name, exact=True).focus()
        page.keyboard.press("Enter")
        assert eventually(lambda inside=inside: focused(page) == inside)
        page.keyboard.press("Escape")
        assert focused(page) == name
    page.get_by_label("Rename, export or delete “topic00002”").press("Enter")  # after deleting, what has come to its place
    remove = page.get_by_role("button", name="Delete", exact=True)
    remove.press("Enter")
    page.keyboard.press("Enter")
    assert eventually(lambda: focused(page) == "topic00001")
    view = sheet(page, "Library")
    view.get_by_role("button", name="Later").press("Enter")  # after leafing, on it
    assert eventually(lambda: "Page 2 of 3" in view.inner_text()) and focused(page) == "Later"
    view.get_by_role("checkbox").first.press("Space")
    view.get_by_role("button", name="Remove from the library").press("Enter")
    page.keyboard.press("Enter")
    assert eventually(lambda: "119 papers" in view.inner_text(), 10)
    assert eventually(lambda: page.evaluate("document.activeElement.matches('#found [data-pick]')"))
    page.keyboard.press("Space")
    view.get_by_role("button", name="Choose none").press("Enter")
    assert page.evaluate("document.activeElement.matches('#found [data-pick]')")
    page.keyboard.press("Space")
    view.get_by_role("button", name="Ask only these", exact=True).press("Enter")
    assert page.evaluate(in_box)
    page.get_by_role("button", name="Ask all papers").press("Enter")
    assert page.evaluate(in_box)


def test_everything_in_the_sheets_is_reached_by_tab_and_its_focus_is_seen(someone, shelf):
    page = someone(shelf[1])
    ask(page, "topic00001")
    for name in ("Library", "Settings"):
        sheet(page, name)
        page.wait_for_timeout(200)
        wanted = page.evaluate(
            "[...document.querySelectorAll('#sheet :is(a[href], button, summary, input, select, [tabindex])')].filter(e => e.checkVisibility() && !e.disabled"
            " && e.tabIndex >= 0 && !(e.type === 'radio' && !e.checked)).map((e, i) => e.dataset.stop = String(i)).length"
        )
        reached, unseen = set(), []
        for _ in range(wanted + 3):
            page.keyboard.press("Tab")
            stop, seen, what = page.evaluate(
                "(() => { const e = document.activeElement, lit = e => e && parseFloat(getComputedStyle(e).outlineWidth) > 0 && getComputedStyle(e).outlineStyle !== 'none';"
                " return [e.dataset.stop, lit(e) || (e.id === 'files' && lit(document.querySelector('label[for=files]'))), e.outerHTML.slice(0, 90)] })()"
            )
            if stop is not None:
                reached.add(stop)
                if not seen:
                    unseen.append(what)
        assert len(reached) == wanted and unseen == []
        page.keyboard.press("Escape")


def test_axe_finds_nothing_on_the_sheets_and_tools(someone, shelf):
    page = someone(shelf[1], color_scheme="light")
    turn = ask(page, "Sentence 1 on topic00009 studies the graph")
    turn.get_by_role("button", name="Edit question").click()
    found = {"editing": violations(page, "#log", "#foot")}
    turn.get_by_role("button", name="Yes", exact=True).click()
    turn.get_by_role("textbox").wait_for()
    found["opinion"] = violations(page, "#log")
    for name in ("Library", "Settings"):
        view = sheet(page, name)
        if name == "Library":
            view.get_by_role("checkbox").first.check()
        settled(page)
        found[name] = violations(page, "#sheet")
        page.emulate_media(color_scheme="dark")
        settled(page)
        found[name + ", dark"] = violations(page, "#sheet")
        page.emulate_media(color_scheme="light")
        page.keyboard.press("Escape")
    assert {state: each for state, each in found.items() if each} == {}
