"""The report as a file and in the terminal: what it shows, in which order, and that text from outside stays text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from made_run import MAPS, PAPERS, QUESTIONS, TUNE, made_run, quoting

from evals import plots, words
from evals.cards import cards, pieces
from evals.report import read_scored, terminal, write_report
from evals.runner import RunError, read_run
from rag import Paper


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return made_run(tmp_path / "run")


def cards_of(folder: Path):
    _, questions, told, papers = read_run(folder)
    return cards(questions, told, read_scored(folder)[1], papers)


class Outline(HTMLParser):
    """Every tag with its attributes, and the text outside of style and script."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._in: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._in.append(tag)

    def handle_endtag(self, tag):
        if tag in self._in:
            while self._in.pop() != tag:
                pass

    def handle_data(self, data):
        if not {"style", "script"} & set(self._in[-1:]):
            self.text.append(data)


def test_the_report_is_one_file_that_names_no_other(run):
    page = write_report(run).read_text(encoding="utf-8")
    outline = Outline(page)
    assert not [tag for tag, _ in outline.tags if tag in ("link", "img", "iframe", "object", "embed", "base", "video", "audio", "source")]
    assert not [a for _, a in outline.tags if "src" in a or "srcset" in a]
    assert "@import" not in page and " url(" not in page and ":url(" not in page
    policy = next(a["content"] for _, a in outline.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ") and "script-src 'sha256-" in policy


def test_it_opens_with_how_many_are_right_and_gives_every_figure_its_n(run):
    text = " ".join(Outline(write_report(run).read_text(encoding="utf-8")).text)
    assert "1 of 3 answers are right." in text and "4 of 7 answers are right." in text
    assert re.search(r"Facts that are said\s.*?50\.0 %\s.*?\s2\s", text, re.DOTALL)


def test_the_worst_answers_come_first_and_their_failures_are_named(run):
    shown = cards_of(run)
    assert [c.id for c in shown[:3]] == ["absent-1", "fact-2", "fact-3"]
    assert [c.words for c in shown[0].checks] == ["answered, though the abstracts don't say"]
    assert [c.words for c in shown[2].checks] == ["refused, though the abstracts say", "right paper not found first"]
    assert "cites a wrong paper" in [c.words for c in shown[1].checks]
    assert shown[-1].checks == () and shown[-1].badness == 0


def test_each_sentence_says_in_words_what_backs_it(run):
    by_id = {(c.id, c.turn): c for c in cards_of(run)}
    assert [s.state for s in by_id["fact-1", 0].said] == ["backed"]
    assert [s.state for s in by_id["fact-2", 0].said] == ["elsewhere"]
    assert [s.state for s in by_id["fact-3", 0].said] == ["refusal"]
    page = write_report(run).read_text(encoding="utf-8")
    assert "Backed by [1]" in page and "Backed, but not by a paper that answers this: [1]" in page


def test_unbacked_and_uncited_sentences_are_told_apart(tmp_path):
    answer = quoting((MAPS, "We map moss on 12 islands."))
    answer["sentences"] = [
        {"text": "Moss is blue.", "citations": [1], "verdict": "unsupported"},
        {"text": "Moss is old.", "citations": [], "verdict": "unchecked"},
    ]
    run = made_run(tmp_path / "run", {("fact-1", 0): answer})
    card = next(c for c in cards_of(run) if c.id == "fact-1")
    assert [s.state for s in card.said] == ["unbacked", "uncited"]


def test_gold_evidence_is_underlined_in_the_abstract_and_quotations_are_marked(run):
    card = next(c for c in cards_of(run) if c.id == "talk-1" and c.turn == 1)
    assert [(p.text, p.marks) for p in card.papers[0].pieces][1] == ("The maps are drawn by hand.", ("quote",))
    page = write_report(run).read_text(encoding="utf-8")
    assert '<mark><span class="gold">We map moss on 12 islands.</span></mark>' in page
    assert '<span class="gold">We ask 30 guests.</span>' in page


def test_pieces_joined_are_the_text_whatever_the_marks_are():
    text = "abcdefghij"
    marks = [("gold", (2, 6)), ("quote", (4, 99)), ("gold", (-3, 1)), ("quote", (5, 5)), ("gold", (8, 3))]
    cut = pieces(text, marks)
    assert "".join(p.text for p in cut) == text
    assert ("ef", ("gold", "quote")) in [(p.text, p.marks) for p in cut]
    assert pieces("", []) == ()


def test_an_error_is_shown_counted_and_first(tmp_path):
    run = made_run(tmp_path / "run", errors=[("fact-1", 0)])
    assert cards_of(run)[0].checks == (words.ERROR,)
    page = write_report(run).read_text(encoding="utf-8")
    assert "1 of 7 turns ended in an error" in page and "&lt;b&gt;broken&lt;/b&gt;" in page


def test_an_unfinished_run_says_so(tmp_path):
    assert "was not finished" in write_report(made_run(tmp_path / "run", finished=None)).read_text(encoding="utf-8")


def test_markup_from_papers_questions_and_answers_stays_text(tmp_path):
    bad = '<script>x()</script><img src=x onerror="x()">{{ 7 * 7 }}</style></title>\'"'
    evil = Paper("p:evil", f"T {bad}", f"A {bad} ends.", (bad,), 2020, bad, url="javascript:x()")
    question = {
        "id": f'e"{bad}',
        "kind": bad,
        "half": "tuning",
        "question": bad,
        "papers": ["p:evil"],
        "evidence": [{"paper": "p:evil", "text": bad}],
        "facts": [[bad]],
        "answerable": True,
    }
    run = made_run(
        tmp_path / "run",
        {(question["id"], 0): quoting((evil, f"A {bad} ends."), notice=bad, query=bad)},
        [*QUESTIONS, question],
        (*PAPERS, evil),
        model=bad,
        mode="model",
    )
    page = write_report(run).read_text(encoding="utf-8")
    outline = Outline(page)
    assert [tag for tag, _ in outline.tags].count("script") == 1 and "img" not in [tag for tag, _ in outline.tags]
    assert not [name for _, a in outline.tags for name in a if name.startswith("on")]
    assert not [a["href"] for _, a in outline.tags if "href" in a and not a["href"].startswith(("#", "https://", "http://"))]
    assert "{{ 7 * 7 }}" in page


def test_a_link_of_a_paper_opens_elsewhere_and_tells_nothing(run):
    links = [a for _, a in Outline(write_report(run).read_text(encoding="utf-8")).tags if a.get("href") == TUNE.url]
    assert links and all(a["target"] == "_blank" and a["rel"] == "noopener noreferrer" for a in links)


def test_one_half_alone_needs_no_choice_of_halves(tmp_path):
    only = [q for q in QUESTIONS if q["half"] == "reporting"]
    page = write_report(made_run(tmp_path / "run", questions=only)).read_text(encoding="utf-8")
    assert 'class="switch' not in page and "All questions" in page


def test_the_terminal_shows_the_same_figures_and_five_answers_without_control_characters(tmp_path):
    answer = quoting((MAPS, "We map moss on 12 islands."))
    answer["sentences"][0]["text"] = "We map\x1b[2J moss."
    text = terminal(made_run(tmp_path / "run", {("fact-1", 0): answer}))
    assert "\x1b" not in text and "Answers that are right" in text and "4 of 7 right" in text
    assert text.index("absent-1") < text.index("fact-2") and "How many strings?" in text


def test_a_folder_without_scores_says_what_to_run(tmp_path):
    with pytest.raises(RunError, match="askpapers eval score"):
        write_report(tmp_path)


def test_hard_rules_are_told_with_their_bound_or_as_broken():
    figure = {"value": 0.0, "low": 0.0, "high": 0.03, "n": 100, "better": "lower", "unit": "count", "hard": True}
    assert words.rule("phantom_citations", figure) == ("no citations that lead nowhere (n 100, 3.0 % at most)", False)
    assert words.rule("phantom_citations", {**figure, "value": 0.02}) == ("2 citations that lead nowhere (n 100)", True)


def test_failures_that_follow_from_a_refusal_are_not_named_again():
    metrics = dict.fromkeys(words.CHECKS) | {
        "right": 0.0,
        "false_refusal": 1.0,
        "citation_recall": 0.0,
        "must_include": 0.0,
        "evidence_recall": 0.0,
    }
    checks, badness = words.failed(metrics)
    assert [c.name for c in checks] == ["false_refusal"] and badness == 54
    assert words.failed(dict.fromkeys(words.CHECKS)) == ([], 0)


def test_every_check_tile_and_panel_is_a_metric():
    from evals.metrics import METRICS

    assert {*words.CHECKS, *words.TILES, *words.PANELS, *words.MEANINGS} <= METRICS.keys()
    assert {name for names in words.GROUPS.values() for name in names} == METRICS.keys()


def test_figures_are_written_as_people_write_them():
    share = {"value": 0.934, "low": 0.9, "high": 1.0, "n": 1234, "better": "higher", "unit": "share", "hard": False}
    assert plots.row("right", share) | {} == {
        "name": "right", "value": "93.4 %", "short": "93 %", "range": "90.0 to 100.0 %", "n": "1,234", "less": False, "drawn": True, "at": 93.4, "low_at": 90.0, "wide": 10.0,
    }  # fmt: skip
    assert words.figure(0.031, "s") == "0.031 s" and words.figure(41.4, "words") == "41 words" and words.figure(0, "count") == "0"


def test_the_curve_of_refusals_begins_and_ends_in_the_corners_and_marks_today(run):
    drawn = plots.refusal(read_scored(run)[0]["refusal"])
    assert drawn["path"].startswith("M52.0 340.0 L") and drawn["path"].endswith("482.0 10.0")
    assert "1 of 2 unanswerable" in drawn["words"] and "1 of 5 answerable" in drawn["words"]
    assert plots.refusal({"answerable": 3, "unanswerable": 0, "auroc": None}) is None
