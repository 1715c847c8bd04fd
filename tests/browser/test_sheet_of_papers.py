"""The library on the page, in a real browser: finding, adding, dropping and removing papers, and asking only some of them."""

from __future__ import annotations

import re
import threading

import pytest
from shared import WordEmbedder, made_up, topic, write_jsonl
from stand_in import served
from test_page import ask, eventually, sheet

from rag import Library, Settings

pytestmark = pytest.mark.browser


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


def test_the_venues_to_choose_from_follow_what_is_added_and_removed(someone, tmp_path):
    with Library.open(tmp_path / "venues", settings=Settings(), embedder=WordEmbedder(), seeds=False) as library:
        library.add(made_up(1), made_up(2))
        page = someone(served(library))
        view = sheet(page, "Library")
        venue = page.get_by_role("combobox", name="Venue")
        more = {"title": "Quokkas", "abstract": "We count quokkas.", "venue": "Marsupials"}
        page.locator("#files").set_input_files(write_jsonl(tmp_path / "q.jsonl", [more]))
        assert eventually(lambda: venue.locator("option").all_inner_texts() == ["Any venue", "Made Up (2)", "Marsupials (1)"], 10)
        venue.select_option("Marsupials")
        assert eventually(lambda: view.locator(".papers li").count() == 1)
        view.get_by_role("checkbox").check()
        view.get_by_role("button", name="Remove from the library").click()
        view.get_by_role("button", name=re.compile("for good")).click()
        assert eventually(lambda: venue.locator("option").all_inner_texts() == ["Any venue", "Made Up (2)"], 10)
        assert venue.input_value() == "" and eventually(lambda: "2 papers" in view.locator("#found").inner_text())
        assert eventually(lambda: page.evaluate("document.activeElement.closest('#sheet') !== null"))
        orders = page.get_by_role("combobox", name="Order").locator("option").all_inner_texts()
        assert orders == ["Recently added first", "Recently published first", "By title"]


def test_the_reports_of_earlier_files_are_folded_away(someone, shelf, tmp_path):
    page = someone(shelf[1])
    view = sheet(page, "Library")
    for n in range(3):
        page.locator("#files").set_input_files(write_jsonl(tmp_path / f"part{n}.jsonl", [{"title": f"Quokkas {n}", "abstract": f"We count {n} quokkas."}]))
        assert eventually(lambda n=n: f"part{n}.jsonl: 1 added." in view.locator("#adding").inner_text(), 20)
        assert view.locator("#adding > li").count() == 1
    earlier = view.get_by_text("Earlier files (2)")
    assert not view.locator("#added-before li").first.is_visible()
    earlier.click()
    assert view.locator("#added-before li").all_inner_texts() == ["part1.jsonl: 1 added.", "part0.jsonl: 1 added."]
    page.get_by_role("button", name="Close").click()
    view = sheet(page, "Library")
    assert view.locator("#adding > li").count() == 0 and not view.get_by_text("Earlier files").is_visible()


def test_a_file_is_heard_of_again_when_the_library_was_closed_meanwhile(someone, shelf, tmp_path, monkeypatch):
    library, at = shelf
    go, add = threading.Event(), type(library).add
    monkeypatch.setattr(type(library), "add", lambda self, *sources: go.wait(20) and add(self, *sources))
    page = someone(at)
    view = sheet(page, "Library")
    page.locator("#files").set_input_files(write_jsonl(tmp_path / "slow.jsonl", [{"title": "Quokkas", "abstract": "We count quokkas."}]))
    assert eventually(lambda: "slow.jsonl: reading and indexing…" in view.inner_text())
    page.keyboard.press("Escape")
    view = sheet(page, "Library")
    assert eventually(lambda: "slow.jsonl: reading and indexing…" in view.inner_text())
    page.keyboard.press("Escape")
    go.set()
    assert eventually(lambda: "121 papers" in page.locator("#masthead").inner_text(), 10)
    view = sheet(page, "Library")
    assert eventually(lambda: "slow.jsonl: 1 added." in view.inner_text())


def drop(page, *files, on: str = "#drop") -> None:
    """As from a file manager, through the browser's own drag and drop."""
    place = page.locator(on).bounding_box()
    at = {"x": place["x"] + 40, "y": place["y"] + 20}
    devtools = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": kind, **at, "data": {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}})
    devtools.detach()


def test_files_are_dropped_several_at_once_and_what_is_none_is_told(someone, shelf, tmp_path):
    library, at = shelf
    page = someone(at)
    one, two = (write_jsonl(tmp_path / f"{name}.jsonl", [{"title": name, "abstract": f"We count {name}."}]) for name in ("quokkas", "wombats"))
    picture, folder, empty = tmp_path / "plot.png", tmp_path / "notes", tmp_path / "empty.txt"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(300))
    folder.mkdir()
    (folder / "a.txt").write_text("A heading\n\nAn abstract about numbats.\n")
    empty.write_bytes(b"")
    drop(page, one, on="#talk")  # the library opens
    view = page.locator("#sheet")
    assert eventually(lambda: "quokkas.jsonl: 1 added." in view.inner_text(), 20)
    drop(page, two, picture, folder, empty)
    assert eventually(lambda: view.locator("#adding > li:not(.going)").count() == 4, 20)
    told = view.locator("#adding > li").all_inner_texts()
    assert told[0] == "wombats.jsonl: 1 added." and "notes was not added. It is a folder: drop the files in it" in told[2]
    assert "plot.png" in told[1] and "1 left out" in told[1] and "empty.txt" in told[3] and len(library) == 122
    assert view.locator("#drop.over").count() == 0 and page.url == at and page.problems == []


def test_a_file_over_the_limit_is_not_even_sent(someone, shelf, tmp_path):
    page = someone(shelf[1])
    view = sheet(page, "Library")
    sent = []
    page.on("request", lambda request: sent.append(request.url) if "desk/papers" in request.url else None)
    with open(tmp_path / "big.jsonl", "wb") as file:
        file.truncate(31_000_000)
    drop(page, tmp_path / "big.jsonl")
    said = "big.jsonl was not added. It has 31.0 MB, and 25 MB is the most for one file. Divide it, or add it in a terminal with: askpapers add FILE"
    assert eventually(lambda: said in view.inner_text()) and sent == []


def test_an_empty_library_offers_to_add_files(someone, tmp_path):
    with Library.open(tmp_path / "empty", settings=Settings(), embedder=WordEmbedder(), seeds=False) as library:
        page = someone(served(library))
        page.locator(".welcome").get_by_role("button", name="Add papers").click()
        page.wait_for_selector("#drop")
        page.locator("#files").set_input_files(write_jsonl(tmp_path / "q.jsonl", [{"title": "Quokkas", "abstract": "We count quokkas."}]))
        assert eventually(lambda: "1 paper" in page.locator("#masthead").inner_text(), 10)
        page.keyboard.press("Escape")
        assert "Ask about these papers." in page.locator(".welcome").inner_text()


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


def test_a_new_conversation_asks_all_papers_again(someone, shelf):
    page = someone(shelf[1])
    ask(page, f"Sentence 1 on {topic(3)}")
    page.locator('#panel [data-do="about"]').first.click()
    assert eventually(lambda: page.locator("#scope").is_visible())
    page.get_by_role("button", name="New conversation").click()
    assert eventually(lambda: not page.locator("#scope").is_visible())


def test_the_scope_follows_what_is_removed(someone, shelf):
    library, at = shelf
    page = someone(at)
    view = sheet(page, "Library")
    for number in (3, 4, 5):
        page.get_by_role("searchbox").fill(topic(number))
        assert eventually(lambda number=number: topic(number) in view.locator(".title").first.inner_text())
        view.get_by_role("checkbox").check()
    view.get_by_role("button", name="Ask only these", exact=True).click()
    bar = page.locator("#scope")
    assert bar.locator("p").inner_text() == "Asking only 3 chosen papers"
    library.remove("made:5")  # in a terminal, say
    assert "Asked of 2 chosen papers (1 more is no longer in the library)" in ask(page, f"Sentence 1 on {topic(3)}").inner_text()
    assert eventually(lambda: bar.locator("p").inner_text() == "Asking only 2 chosen papers (1 more is no longer in the library)")
    view = sheet(page, "Library")
    page.get_by_role("searchbox").fill(topic(4))
    assert eventually(lambda: view.locator(".papers li").count() == 1)
    view.get_by_role("checkbox").check()
    view.get_by_role("button", name="Remove from the library").click()
    view.get_by_role("button", name=re.compile("for good")).click()
    assert eventually(lambda: re.fullmatch(r"Asking only “On topic00003 .*” \(2 more are no longer in the library\)", bar.locator("p").inner_text()), 10)
    library.remove("made:3")
    page.reload()
    assert eventually(lambda: bar.locator("p").inner_text() == "Asking only papers that are no longer in the library")
    bar.get_by_role("button", name="Ask all papers").click()
    assert not bar.is_visible()


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
