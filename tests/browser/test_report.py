"""An eval report opened from disk in a real Chromium: text from outside runs nothing and fetches nothing, and the page works."""

from __future__ import annotations

import pytest
from made_run import PAPERS, QUESTIONS, made_run, quoting

from evals.report import write_report
from rag import Paper

pytestmark = pytest.mark.browser


def evil(host: str) -> str:
    return (
        f'<script>window.ran=1;fetch("{host}/script")</script></script><script src="{host}/file.js"></script></style></title></textarea>'
        f'<img src="{host}/img" onerror="window.ran=2"><svg onload="window.ran=3"><use href="{host}/use"/></svg>'
        f'<link rel="stylesheet" href="{host}/style"><style>@import "{host}/import"; body{{background:url({host}/bg)}}</style>'
        f'<iframe src="{host}/frame"></iframe><meta http-equiv="refresh" content="0;url={host}/refresh"><base href="{host}/">'
        f'"\' onmouseover="window.ran=4" style="background:url({host}/attr)" <a href="javascript:window.ran=5">x</a> {{{{ 7*7 }}}} \u202e end'
    )


@pytest.fixture
def hostile(tmp_path, listener):
    """A report in which everything that comes from a file, a paper or a model is hostile."""
    bad = evil(f"http://127.0.0.1:{listener.port}")
    paper = Paper("p:evil", f"Title {bad}", f"Abstract {bad} says so.", (bad,), 2024, bad, url=f'https://example.org/"{bad}')
    other = Paper("p:js", "Script link", "A paper with a link of another kind.", url="javascript:window.ran=6")
    question = {
        "id": bad,
        "kind": bad,
        "half": "tuning",
        "question": bad,
        "papers": ["p:evil", "p:js"],
        "evidence": [{"paper": "p:evil", "text": bad}],
        "facts": [[bad]],
        "answerable": True,
    }
    answer = quoting((paper, f"Abstract {bad} says so."), (other, "A paper with a link of another kind."), notice=bad, query=bad)
    run = made_run(
        tmp_path / "run",
        {(bad, 0): answer},
        [*QUESTIONS, question],
        (*PAPERS, paper, other),
        model=bad,
        mode="model",
        embedder=bad,
        settings={bad: bad},
    )
    return write_report(run), bad


@pytest.fixture
def opened(chromium, hostile, listener):
    page = chromium.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.asked, page.problems = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.goto(hostile[0].as_uri())
    page.set_default_timeout(30_000)
    yield page
    page.context.close()


def test_a_hostile_paper_runs_nothing_and_fetches_nothing(opened, hostile, listener):
    heard = len(listener.heard)
    opened.locator(".switch button[value=all]").click()
    for details in opened.locator("details").all():
        details.evaluate("each => each.open = true")
    for place in opened.locator(".card:visible a, .card:visible .asked").all():
        place.hover()
    opened.wait_for_timeout(300)
    assert opened.evaluate("window.ran") is None and opened.problems == []
    assert len(listener.heard) == heard and [url for url in opened.asked if not url.startswith("file:")] == []
    assert opened.locator(".card h3.asked", has_text="window.ran=1").count() == 1
    assert (
        opened.evaluate("document.scripts.length") == 1
        and opened.locator("body img, body iframe, .card svg, body style, body base").count() == 0
    )


def test_a_hostile_abstract_is_shown_letter_for_letter(opened, hostile):
    shown = opened.locator(".paper .text").all_text_contents()
    assert f"Abstract {hostile[1]} says so." in shown
    links = opened.evaluate("Array.from(document.links, link => link.protocol)")
    assert set(links) <= {"file:", "https:"}


def test_no_inline_handler_would_run_even_if_one_got_in(opened):
    opened.evaluate(
        'document.body.insertAdjacentHTML(\'beforeend\', \'<img src="data:," onerror="window.ran = 7"><p id="late" onclick="window.ran = 8">late</p>\')'
    )
    opened.locator("#late").click()
    assert opened.evaluate("window.ran") is None


def test_the_switch_and_the_filters_choose_what_is_seen(opened):
    assert opened.locator("h1:visible").inner_text() == "1 of 3 answers are right."
    assert opened.locator(".card:visible").count() == 3
    opened.locator(".switch button[value=all]").click()
    assert opened.locator("h1:visible").inner_text().startswith("5 of 8")
    assert opened.locator(".card:visible").count() == 8
    assert "(1)" in opened.locator("#check option[value=false_answer]").inner_text()
    opened.locator("#check").select_option("false_answer")
    assert opened.locator(".card:visible .asked").all_text_contents() == ["Who invented the harp?"]
    opened.locator("#check").select_option("")
    opened.locator("#kind").select_option("dialogue")
    assert opened.locator(".card:visible").count() == 2
    opened.locator("#words").fill("no such words")
    assert opened.locator("#tally").inner_text() == "No answer fits these filters."


def test_a_link_to_an_answer_shows_it_whatever_the_filters_hide(opened, hostile):
    opened.goto(hostile[0].as_uri() + "#q-talk-1-2")
    opened.reload()
    assert opened.locator("#q-talk-1-2").is_visible()


@pytest.mark.parametrize("width", [360, 2000])
def test_nothing_is_cut_off_at_any_width(opened, width):
    opened.set_viewport_size({"width": width, "height": 800})
    assert opened.evaluate("document.documentElement.scrollWidth") <= width


def test_without_script_everything_is_shown(chromium, hostile):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(hostile[0].as_uri())
    assert page.locator(".card:visible").count() == 8 and page.locator(".filters").is_hidden()
    context.close()
