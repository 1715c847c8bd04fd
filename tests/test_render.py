"""What the page shows, as HTML strings: nothing from a paper, a model or a person may act as markup, and nothing may get lost."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from rag.papers import REFUSAL, Answer, Citation, Paper, Quote, Sentence
from ui import maths, prose, render, sheets, text
from ui.shelf import Row, Scope

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "</p></article></template><style>*{display:none}</style>",
    '" onmouseover="alert(1)',
    "' onfocus='alert(1)",
    "javascript:alert(1)",
    "![x](http://127.0.0.1/x) [y](javascript:alert(1))",
    "`<b>` &lt;b&gt; &amp; ${value} {{value}} </textarea>",
    "$<img src=x>$ \\(<img src=x>\\) $$\\text{<script>}$$ $\\href{javascript:alert(1)}{x}$",
]
EXACT = [
    "x<y>z",
    "a_b_c",
    "**",
    "$5 to $10",
    "p < 0.05 and x > 3",
    "2**3 and 4**5",
    "A* and B*",
    "1 < 2 & 3 > 2",
    "US$5",
    "# of [7]",
]


class Page(HTMLParser):
    """What a browser would make of it: elements, attributes, and text as displayed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        self.text += data


ALLOWED = {
    "article", "section", "header", "aside", "h1", "h2", "h3", "p", "div", "span", "a", "b", "bdi", "em", "strong", "ul", "ol", "li",
    "details", "summary", "mark", "button", "pre", "code", "table", "thead", "tbody", "tr", "th", "td", "input", *maths._TAGS,
}  # fmt: skip


def checked(html: str) -> Page:
    page = Page(html)
    assert not page.open, f"left open: {page.open}"
    assert set(page.tags) <= ALLOWED, set(page.tags) - ALLOWED
    for name, value in page.attributes:
        assert not name.startswith("on") and name not in ("style", "src", "srcset", "srcdoc", "action"), (name, value)
        if name == "href":
            assert value.startswith(("#", "http://", "https://")), value
    return page


def paper(abstract="One. Two.", title="A title", **more) -> Paper:
    return Paper(id=more.pop("id", "p"), title=title, abstract=abstract, **more)


def cited(number=1, of=None, *quotes: str) -> Citation:
    of = of or paper()
    return Citation(number, of, tuple(Quote(q, of.abstract.index(q), of.abstract.index(q) + len(q)) for q in quotes))


def answer_html(answer: Answer) -> str:
    return render.turn("q1", "Why?", answer)


@pytest.mark.parametrize("words", HOSTILE + EXACT)
def test_hostile_words_everywhere_are_text(words):
    of = Paper(
        id=words, title=words, abstract=f"Before {words} after.", authors=(words,), venue=words, url=f"https://x.org/{words}",
        doi=words, year=2020, source=words,
    )  # fmt: skip
    sentence = f"Before {words} after."
    answer = Answer(
        f"{sentence} [1] {words}", "partial", (Sentence(sentence, (1,), "unsupported"),),
        (cited(1, of, sentence),), mode=words, query=words + "?", related=(of,), notice=words,
    )  # fmt: skip
    for html in (
        render.turn("q1", words, answer),
        render.turn("q1", words, Answer(words, "refused", related=(of,))),
        render.evidence("q1", words, answer),
        render.draft("q1", words, words),
        render.stopped("q1", words, words),
        render.problem("q1", words, words),
        render.masthead(3, words, words, words),
        render.welcome(1, [words]),
    ):
        checked(html)
    assert of.abstract in Page(text.rich(of.abstract)).text or "$" in words or "\\(" in words


@pytest.mark.parametrize("words", EXACT)
def test_text_that_looks_like_markup_is_shown_as_written(words):
    abstract = f"We say {words} here."
    of = paper(abstract)
    assert checked(text.rich(abstract)).text == abstract
    assert (
        abstract
        in checked(render.evidence("q1", "Why?", Answer("x", "answered", citations=(cited(1, of, abstract),)))).text
    )
    shown = checked(
        prose.answer_html(
            Answer(f"{abstract} [1]", "answered", (Sentence(abstract, (1,)),), (cited(1, of),)), lambda n, s: ""
        )
    )
    assert shown.text.startswith(abstract)


def test_controls_and_surrogates_can_be_sent():
    html = render.turn("q1", "nul \x00 and \ud800", Answer("bell \x07 \udfff", "answered"))
    html.encode("utf-8")
    assert "\x00" not in html and "\ufffd" in html


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r"$O(n \log n)$", "O(nlogn)"),
        (r"\(x\)", "x"),
        ("$$a+b$$", "a+b"),
        (r"\[\frac{1}{2}\]", "12"),
        ("$k$", "k"),
        (r"35$\times$", "35×"),
        (r"$5.81\%$", "5.81%"),
        ("$n-1$", "n−1"),
        (r"VA-RED$^2$", "VA-RED2"),
    ],
)
def test_latex_is_set(source, shown):
    html = text.rich(source)
    assert "<math" in html and "$" not in Page(html).text
    assert Page(html).text.replace(" ", "") == shown
    ElementTree.fromstring(f"<p>{html}</p>")


@pytest.mark.parametrize(
    "source",
    [
        "$5 to $10", "US$5 and CA$7", "$HOME and $PATH", "$5-$10", "costs $1,000 or $2_000", "a $ b $ c", "$", "$$", "$ $", r"\(", r"\[x",
        "between $x and y",
    ],
)  # fmt: skip
def test_prices_and_lone_dollars_are_not_maths(source):
    assert text.rich(source) == text.escape(source)


@pytest.mark.parametrize(
    "source", [r"$\cO(\eps)$", r"$\href{x}{y}$", r"$\begin{array}{cc}1&2\end{array}$", r"$\frac{1}$", "$" + "{" * 80 + "x" + "}" * 80 + "$", "$x^{" + "y" * 700 + "}$"]
)  # fmt: skip
def test_what_cannot_be_set_is_shown_as_written(source):
    assert Page(text.rich(source)).text == source


def test_two_dollars_that_do_not_belong_together():
    source = r"costs $5 while the method of choice keeps running and $\alpha$ and $k$ are set"
    shown = Page(text.rich(source)).text
    assert shown.startswith("costs $5 while the method of choice keeps running and ") and "α" in shown


def test_split_loses_nothing():
    source = r"a $x$ b \(y\) c $$z$$ d $5 \[w\] e"
    assert "".join(source[start:end] for start, end, _, _ in maths.split(source)) == source


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("*de facto* and **bold**", "<em>de facto</em> and <strong>bold</strong>"),
        ("**Tan**dem **Hop**field", "<strong>Tan</strong>dem <strong>Hop</strong>field"),
        ("_in-context_, a_b_c, __init__", "<em>in-context</em>, a_b_c, __init__"),
        ("`x` and `PerCo'' for `", "<code>x</code> and `PerCo&#x27;&#x27; for `"),
        (r"\emph{a} \textit{b} \textbf{c} \texttt{d} \url{http://x.org/a_b}", "<em>a</em> <em>b</em> <strong>c</strong> <code>d</code> http://x.org/a_b"),
        (r"6.16\% of R\&D costs \$5 and \$6", "6.16% of R&amp;D costs $5 and $6"),
        ("*two\nlines* and \\emph{open", "*two\nlines* and \\emph{open"),
        ("*<b>*", "<em>&lt;b&gt;</em>"),
        ("**One *two* three *four***", "<strong>One </strong><strong><em>two</em></strong><strong> three </strong><strong><em>four</em></strong>"),
    ],
)
def test_emphasis_is_set(source, shown):
    assert text.rich(source) == shown


def test_emphasis_around_formulas_and_across_marks():
    assert re.fullmatch(r"<strong>to <math.*</math> of it\.</strong>", text.rich("**to $N$ of it.**"))
    assert text.rich("a *b c* d", [(0, 4)]) == "<mark>a <em>b</em></mark><em> c</em> d"
    of = paper("We *do* it.", title="On `x` and *y*")
    for html in (answer_html(Answer("“We *do* it.” [1]", "answered", (Sentence("We *do* it.", (1,)),), (cited(1, of, of.abstract),))),
                 render.evidence("q1", "?", Answer("x", "answered", citations=(cited(1, of, of.abstract),))),
                 answer_html(listed(of, of))):  # fmt: skip
        assert "We <em>do</em> it." in html and checked(html)
    assert "On <code>x</code> and <em>y</em>" in html and "On <code>x</code>" in sheets.library(sheets.shelf([Row("i", of.title, "", None, "", "", "")], 1, Scope(), "added", 1, True), [], True)


def test_marks_are_exact_and_merge():
    source = "One <two> three. Four."
    assert text.rich(source, [(4, 9)]) == "One <mark>&lt;two&gt;</mark> three. Four."
    assert text.rich(source, [(0, 5), (3, 9), (50, 60), (9, 2)]) == "<mark>One &lt;two&gt;</mark> three. Four."
    assert text.rich("a $x$ b", [(0, 3)]).startswith("<mark>a <math") and text.rich("a $x$ b", [(0, 3)]).endswith(
        "</mark> b"
    )


def test_a_quote_whose_offsets_are_wrong_is_found_or_left_out():
    of = paper("Alpha beta. Gamma delta.")
    html = render.evidence(
        "q1", "Why?", Answer("x", "answered", citations=(Citation(1, of, (Quote("Gamma delta.", 0, 5),)),))
    )
    assert "<mark>Gamma delta.</mark>" in html
    html = render.evidence("q1", "Why?", Answer("x", "answered", citations=(Citation(1, of, (Quote("Nowhere.", 0, 5),)),)))
    assert "<mark>" not in html


def test_only_known_markers_become_links():
    html = answer_html(Answer("Known [1]. Unknown [9]. Both [1, 9].", "answered", citations=(cited(1),)))
    assert html.count('href="#q1-c1"') == 1
    assert "Unknown [9]." in html and "Both [1, 9]." in html


def test_markers_inside_a_quoted_sentence_stay_text():
    of = paper("As shown in [1], it works.")
    html = answer_html(
        Answer("As shown in [1], it works. [1]", "answered", (Sentence(of.abstract, (1,), "supported"),), (cited(1, of),))
    )
    assert "As shown in [1], it works.<span" in html and html.count('class="cite"') == 1


def test_markers_inside_a_models_sentence_are_links_behind_the_full_stop():
    sentences = (Sentence("A does x and B does y.", (1, 2), "supported"),)
    html = answer_html(Answer("A does x [1] and B does y [2].", "answered", sentences, (cited(1), cited(2))))
    assert html.count('class="cite"') == 2
    assert re.search(r"A does x<span.*</span> and B does y\.<span", html)


def test_a_sentence_without_its_marker_still_gets_its_citation():
    html = answer_html(
        Answer("One. Two. [2]", "answered", (Sentence("One.", (1,)), Sentence("Two.", (2,))), (cited(1), cited(2)))
    )
    assert html.index("#q1-c1") < html.rindex("Two.", 0, html.index("about")) < html.index("#q1-c2")


def test_quotations_carry_one_number_each():
    of = paper("Alpha is one. Beta is two.", authors=("Ann",), year=2024)
    text_ = "**A title** (Ann, 2024): “Alpha is one.” [1] “Beta is two.” [1]"
    sentences = (Sentence("Alpha is one.", (1,), "supported"), Sentence("Beta is two.", (1,), "supported"))
    html = answer_html(Answer(text_, "answered", sentences, (cited(1, of, "Alpha is one.", "Beta is two."),)))
    assert html.count('class="cite"') == 2 and re.search("<strong>A title</strong> .Ann, 2024.: “Alpha is one.”<span", html)
    assert html.index('said" dir="auto">“Alpha') < html.index('said" dir="auto">“Beta')


def test_unsupported_sentences_say_so():
    sentences = (
        Sentence("Fine.", (1,), "supported"),
        Sentence("Odd.", (1, 2), "unsupported"),
        Sentence("Bare.", (), "unsupported"),
    )
    page = Page(answer_html(Answer("Fine. [1] Odd. [1][2] Bare.", "partial", sentences, (cited(1), cited(2)), mode="m")))
    assert "not backed by the cited abstracts" in page.text and "not backed by any abstract" in page.text
    assert "1 of 3 sentences backed by the abstracts." in page.text


def test_verdicts_survive_a_text_that_does_not_hold_the_sentences():
    page = Page(answer_html(Answer("Something else.", "answered", (Sentence("Odd.", (1,), "unsupported"),), (cited(1),))))
    assert "Odd." in page.text and "not backed by the cited abstract" in page.text


def test_layout_of_lists_headings_and_bold():
    html = prose.draft_html("Intro\nmore.\n\n## Head\n\n- **one** [1]\n- two\n\n3. three\n4. four\n\nEnd 2**3 and 4**5.")
    assert '<p dir="auto">Intro\nmore.</p><h3 dir="auto">Head</h3><ul><li dir="auto"><strong>one</strong>' in html
    assert '<ol><li value="3" dir="auto">three</li><li value="4" dir="auto">four</li></ol>' in html
    assert "End 2**3 and 4**5." in html
    checked(html)


def test_stress_is_set_where_it_is_meant():
    assert "match <em>federated learning</em>:" in prose.draft_html("4 papers match *federated learning*:")
    for words in ("A* and B*", "2 * 3 * 4", "f*g*h", r"\*not\*", "* one"):
        assert "<em>" not in prose.draft_html("x " + words)


def test_refusals_look_like_refusals():
    near = paper(title="Near one")
    page = checked(answer_html(Answer(REFUSAL, "refused", related=(near,))))
    assert (
        "Not answered" in page.text
        and "Nearest papers (not an answer)" in page.text
        and ("href", "#q1-r1") in page.attributes
    )
    assert "Nearest papers (not an answer)" in render.evidence("q1", "Why?", Answer(REFUSAL, "refused", related=(near,)))
    assert "Related papers" in render.evidence("q1", "Why?", Answer("x", "answered", citations=(cited(),), related=(near,)))


def test_links_lead_to_papers_only():
    good = checked(
        render.evidence("q1", "?", Answer("x", "answered", citations=(cited(1, paper(url="https://x.org/a?b=1&c=2")),)))
    )
    assert ("href", "https://x.org/a?b=1&c=2") in good.attributes and ("rel", "noopener noreferrer") in good.attributes
    bad = checked(
        render.evidence("q1", "?", Answer("x", "answered", citations=(cited(1, paper(url="javascript:alert(1)")),)))
    )
    assert not [value for name, value in bad.attributes if name == "href"]


def test_the_tip_shows_the_quote_that_belongs_to_the_sentence():
    of = paper("Cats sleep all day. Dogs run all night.")
    html = answer_html(
        Answer(
            "Dogs run. [1]",
            "answered",
            (Sentence("Dogs run.", (1,)),),
            (cited(1, of, "Cats sleep all day.", "Dogs run all night."),),
        )
    )
    assert "“Dogs run all night.”" in html and "Cats" not in html


def test_masthead_and_welcome():
    assert "94 papers" in render.masthead(94, "extractive") and "no model configured" in render.masthead(94, "extractive")
    named = Page(render.masthead(1, "gpt-x", "api.example.org")).text
    assert "1 paper" in named and "Answers by gpt-x at api.example.org" in named and "1 papers" not in named
    assert "askpapers add FILE" in render.welcome(0, [])


def test_examples_come_from_the_library():
    papers = [
        paper(id=str(i), title=f"{name}: Something long about it")
        for i, name in enumerate(["LongLoRA", "YaRN", "AgentBench", "MetaMath", "RA-DIT"])
    ]
    questions = render.examples([*papers, paper(title="<b>$x$</b>"), paper(title="")])
    assert len(questions) == 4 and all(any(p.title.split(":")[0] in q for p in papers) for q in questions)
    assert render.examples([]) == []


def test_copied_text_names_its_sources():
    of = paper(authors=("Ann Lee",), year=2024, url="https://x.org")
    assert (
        render.plain(Answer("Yes. [1]", "answered", citations=(cited(1, of),)))
        == "Yes. [1]\n\n[1] Ann Lee. A title. 2024. https://x.org"
    )


@pytest.mark.parametrize("bomb", ["[" * 50_000, "[1" * 20_000, " " * 50_000, "$" * 20_000, "$x" * 20_000, "**a" * 20_000, r"\(" * 20_000, "\\" * 50_000, "- " * 20_000, "<" * 50_000])  # fmt: skip
def test_long_odd_text_takes_no_long_time(bomb):
    begun = time.perf_counter()
    prose.draft_html(bomb)
    answer_html(Answer(bomb, "answered", (Sentence(bomb, (1,)),), (cited(1, paper(bomb)),)))
    assert time.perf_counter() - begun < 3


def listed(*papers: Paper, doubtful: tuple[Paper, ...] = (), text: str = "", **more) -> Answer:
    found = tuple(cited(i, of, of.abstract) for i, of in enumerate(papers, 1))
    lines = "\n".join(f"- **{c.paper.title}**{f' ({c.paper.byline})' if c.paper.byline else ''}: “{c.paper.abstract}” [{c.number}]" for c in found)
    sentences = tuple(Sentence(c.paper.abstract, (c.number,), "supported") for c in found)
    may = tuple(cited(i, of, of.abstract) for i, of in enumerate(doubtful, len(found) + 1))
    return Answer(f"{text or f'{len(found)} papers match.'}\n\n{lines}", "answered", sentences, found, len(found), form="list", doubtful=may, **more)


@pytest.mark.parametrize("words", HOSTILE + EXACT)
def test_hostile_words_in_lists_and_comparisons_are_text(words):
    of = Paper(id=words, title=words, abstract=f"Before {words} after.", authors=(words,), venue=words, year=2020, url="https://x.org")
    html = [render.turn("q1", words, listed(of, of, doubtful=(of,), text=words)), render.evidence("q1", words, listed(of, doubtful=(of,)))]
    answer = listed(of, of)
    html.append(render.turn("q1", words, Answer(answer.text, "answered", answer.sentences, answer.citations, form="comparison")))
    for each in html:
        assert Page(each).text.count(words.strip()) >= 2 or "$" in words or "\\(" in words
        checked(each)


def test_a_list_says_everything_once():
    one, two = paper("Alpha is one.", "First"), paper("Beta is two.", "Second", authors=("Ann",), year=2020)
    html = answer_html(listed(one, two))
    page = checked(html.partition("<pre hidden>")[0] + "</span></div></div></article>")
    assert page.tags.count("tr") == 3 and page.text.count("“Alpha is one.”") == 1 and page.text.count("“Beta is two.”") == 1
    assert page.text.count("Second") == 1 and '<h3 class="howmany" id="q1-found" dir="auto">2 papers match.</h3>' in html


def test_what_a_list_adds_around_its_papers_stays():
    one = paper("Alpha is one.", "First")
    answer = listed(one, text="Some are old. 1 paper matches.")
    html = answer_html(Answer(answer.text + "\n\nNone is recent [1].", "answered", answer.sentences, answer.citations, 1, form="list"))
    assert "Some are old. 1 paper matches.</h3>" in html and html.index("</table>") < html.index("None is recent")


@pytest.mark.parametrize("by", [" (Ann, ICLR 2024)", " (ICLR 2024)", ""])
def test_a_line_of_a_list_is_known_by_its_title_and_any_of_its_byline(by):
    one = paper("Alpha is one.", "First", authors=("Ann",), venue="ICLR 2024")
    sentences = (Sentence("Alpha is one.", (1,), "supported"),)
    html = answer_html(Answer(f"1 paper matches:\n\n- **First**{by}: “Alpha is one.” [1]", "answered", sentences, (cited(1, one),), 1, form="list"))
    assert "<ul>" not in html and html.partition("<pre hidden>")[0].count("“Alpha is one.”") == 1


def test_a_list_without_a_first_line_gets_its_number_anyway():
    answer = listed(paper("Alpha is one.", "First"), paper("Beta is two.", "Second"), text="Here they are:")
    html = answer_html(answer)
    assert ">2 papers match</h3>" in html and "Here they are:" in html


def test_a_row_that_is_not_backed_says_so():
    one = paper("Alpha is one.", "First")
    sentences = (Sentence("It is about omega.", (1,), "unsupported"),)
    html = answer_html(Answer("1 paper matches.\n\n- **First**: It is about omega. [1]", "answered", sentences, (cited(1, one),), 1, form="list"))
    assert "It is about omega." in Page(html).text and "not backed by the cited abstract" in Page(html).text


def test_papers_with_the_same_title_keep_to_their_own_rows():
    one, two = paper("Alpha is one.", "Same"), paper("Beta is two.", "Same", id="p2")
    html = answer_html(listed(one, two))
    rows = html.split("<tr ")[1:]
    assert "Alpha is one." in rows[0] and "Beta is two." in rows[1]


def test_doubtful_papers_stand_apart_and_are_not_counted():
    html = answer_html(listed(paper("Alpha is one.", "First"), doubtful=(paper("Beta is two.", "Second"),)))
    assert html.index("</table>") < html.rindex("1 more may match") < html.rindex(">Second<") and 'href="#q1-c2"' in html
    panel = render.evidence("q1", "Why?", listed(paper("Alpha is one.", "First"), doubtful=(paper("Beta is two.", "Second"),)))
    assert panel.index("Matching papers") < panel.index("First") < panel.index("May match (not counted)") < panel.index("Second")


def test_sides_of_a_comparison_keep_their_words_and_their_numbers():
    one, two = paper("Alpha is one. It ends.", "First"), paper("Beta is two.", "Second")
    text_ = "**First**: “Alpha is one.” [1] “It ends.” [1]\n\n**Second**: “Beta is two.” [2]\n\nThey differ."
    sentences = tuple(Sentence(words, n, "supported") for words, n in (("Alpha is one.", (1,)), ("It ends.", (1,)), ("Beta is two.", (2,))))
    html = answer_html(Answer(text_, "answered", (*sentences, Sentence("They differ.", (), "unsupported")), (cited(1, one), cited(2, two)), form="comparison"))
    first, second = html.split('<section class="side">')[1:]
    assert first.count('href="#q1-c1"') == 2 and "Beta" not in first and second.count('href="#q1-c2"') == 1
    assert second.index("</section></div>") < second.index("They differ.") < second.index("not backed by any abstract")
    checked(html)


def test_five_hundred_rows_take_no_long_time():
    papers = [paper(f"We study subject {i} with $O(n^{i})$ steps. " * 8, f"On subject {i}", id=f"p{i}", authors=("Ann", "Bob"), year=2020) for i in range(500)]
    begun = time.perf_counter()
    answer = listed(*papers)
    html = answer_html(answer) + render.evidence("q1", "Why?", answer)
    assert time.perf_counter() - begun < 3 and html.count("<tr hidden") == 470


def test_what_it_cost_and_what_was_left_out_is_said_quietly():
    said = Page(answer_html(Answer("Yes. [1]", "answered", (Sentence("Yes.", (1,), "supported"),), (cited(),), mode="m", usage={"calls": 1}, dropped=2))).text
    assert "1 call to the model." in said and "2 citations that stood for no paper were left out." in said and "Backed by the abstracts." in said
    assert "call" not in Page(answer_html(Answer("Yes. [1]", "answered", citations=(cited(),)))).text


def test_what_a_screen_reader_says():
    assert 'data-spoken="Yes."' in answer_html(Answer("**Yes**. [1]", "answered", citations=(cited(),)))
    assert 'data-spoken="1 paper found."' in answer_html(listed(paper()))
    assert f'data-spoken="Not answered. {text.escape(REFUSAL)}"' in answer_html(Answer(REFUSAL, "refused"))


def test_a_card_cites_its_paper():
    of = paper(title="<b>On $x^2$</b>", authors=("Ann Lee",), year=2024, url="https://x.org/a")
    panel = checked(render.evidence("q1", "?", Answer("x", "answered", citations=(cited(1, of),))))
    assert "@misc{lee2024" in panel.text and "Ann Lee. <b>On" in panel.text and ("data-paper", "p") in panel.attributes


def test_a_web_address_in_an_abstract_is_a_link_where_links_are_wanted_and_never_anything_else():
    said = "See https://github.com/a/b_c. Or javascript:alert(1), <http://x.org/\"onclick=\"y> & https://y.org)."
    shown = text.rich(said, links=True)
    assert '<a href="https://github.com/a/b_c" target="_blank" rel="noopener noreferrer nofollow">https://github.com/a/b_c</a>. Or' in shown
    assert shown.count("<a ") == 3 and 'href="javascript' not in shown and 'onclick="' not in shown.replace("&quot;", "")
    assert "<a " not in text.rich(said)
