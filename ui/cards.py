"""The evidence: the number behind a sentence, what it shows at once, and the card with the paper that it stands for.

Pure. A sentence is marked in an abstract only where it stands, letter for letter; a card belongs to one turn, and its id says
to which. Never emits a string of a paper unescaped.
"""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlsplit

from rag import export
from rag.papers import Answer, Citation, Paper, Sentence
from ui.text import escape, rich, shorten

OPEN_CARDS = 4
"""With more papers than this, the cards show titles only until one is opened."""
FIRST_CARDS = 30
"""With more papers than this, the others' cards come into view when they are asked for."""
NAMES = 12
"""More authors than this are cut short."""


def evidence(id: str, question: str, answer: Answer) -> str:
    """What the panel shows for one turn: a card for each cited paper, then the doubtful ones, then the papers near the question."""
    if not (answer.citations or answer.doubtful or answer.related):
        return ""
    opened = len(answer.citations) <= OPEN_CARDS and answer.form != "list"
    cited = "".join(_card(f"{id}-c{c.number}", c.paper, c, opened, i >= FIRST_CARDS) for i, c in enumerate(answer.citations))
    doubtful = "".join(_card(f"{id}-c{c.number}", c.paper, c, False, i >= FIRST_CARDS) for i, c in enumerate(answer.doubtful))
    near = "".join(_card(f"{id}-r{i}", paper) for i, paper in enumerate(answer.related, 1))
    asked = f'<p class="for" dir="auto">for “{rich(shorten(question, 120))}”</p>'
    parts = [
        (_heading("Matching papers" if answer.form == "list" else "Evidence"), cited, len(answer.citations)),
        (_heading("May match (not counted)"), doubtful, len(answer.doubtful)),
        (_heading(related_heading(answer)), near, 0),
    ]
    shown = [(heading, cards, size) for heading, cards, size in parts if cards]
    inner = "".join(_part(heading + asked * (not i), cards, size) for i, (heading, cards, size) in enumerate(shown))
    return f'<section class="sources" id="{id}-sources" data-turn="{id}" hidden>{inner}</section>'


def related_heading(answer: Answer) -> str:
    return "Nearest papers (not an answer)" if answer.status == "refused" else "Related papers"


def cite(turn: str, citation: Citation, sentence: Sentence, tip: str) -> str:
    """The small number behind a sentence, and what hovering over it or focusing it shows."""
    paper = citation.paper
    title = paper.title or "Untitled paper"
    year = f' <span class="year">{paper.year}</span>' if paper.year else ""
    quote = closest(citation, sentence.text)
    doubt = ""
    if sentence.verdict == "unsupported":
        doubt = f'<span class="doubt">Doesn’t back this sentence.{" Nearest in its abstract:" if quote else ""}</span>'
    said = f'<span class="said" dir="auto">“{rich(shorten(quote, 420))}”</span>' if quote else ""
    return (
        f'<span class="ref">{number_link(turn, citation, f" aria-describedby={chr(34)}{tip}{chr(34)}")}'
        f'<span class="tip" role="tooltip" id="{tip}"><b dir="auto">{rich(title)}</b>{year}{doubt}{said}</span></span>'
    )


def number_link(turn: str, citation: Citation, more: str = "") -> str:
    """The number as a link to the paper's card."""
    name = escape(citation.paper.title or "Untitled paper")
    number = citation.number
    return f'<a class="cite" href="#{turn}-c{number}" data-turn="{turn}"{more} aria-label="Source {number}: {name}">{number}</a>'


def closest(citation: Citation, sentence: str) -> str:
    """The quote of this citation that shares most words with the sentence it stands behind; empty if it has none."""
    words = set(re.findall(r"\w+", sentence.lower()))

    def shared(text: str) -> int:
        return len(words & set(re.findall(r"\w+", text.lower())))

    return max((quote.text for quote in citation.quotes), key=shared, default="")


def about_button(paper: Paper) -> str:
    """Leads to a question about this paper only."""
    name = escape(paper.title or "this paper")
    return (
        f'<button type="button" class="quiet" data-do="about" data-paper="{escape(paper.id)}" data-title="{name}"'
        f' aria-label="Ask about this paper: {name}">Ask about this paper</button>'
    )


def copy_button(label: str, text: str, name: str = "") -> str:
    """Copies `text`. `name` is what a screen reader says, if the label alone doesn't tell."""
    named = f' aria-label="{escape(name)}"' if name else ""
    return f'<span class="copying"><button type="button" class="quiet" data-do="copy"{named}>{label}</button><pre hidden>{escape(text)}</pre></span>'


def byline(paper: Paper) -> str:
    """Authors, venue and year; for a paper with none of these the file that it comes from."""
    return paper.byline or (f"from {paper.source}" if paper.source else "")


def _heading(words: str) -> str:
    return f"<h2>{words}</h2>"


def _part(heading: str, cards: str, size: int) -> str:
    more = ""
    if size > FIRST_CARDS:
        more = f'<p class="rest"><button type="button" class="quiet" data-do="cards">Show all {size:,} papers here</button></p>'
    return f'<div class="part">{heading}{cards}{more}</div>'


def _card(id: str, paper: Paper, citation: Citation | None = None, opened: bool = False, later: bool = False) -> str:
    title = paper.title or f"Untitled paper ({paper.id})"
    number = f'<span class="cite">{citation.number}</span> ' if citation else ""
    spans = [span for quote in citation.quotes for span in _spans(paper, quote.text, quote.start, quote.end)] if citation else []
    return (
        f'<article class="card" id="{id}" tabindex="-1"{" hidden" * later}><h3 dir="auto">{number}<span>{rich(title)}</span></h3>{_by(paper)}'
        f'<details{" open" * opened}><summary aria-label="Abstract of {escape(title)}">Abstract</summary><p class="abstract" dir="auto">'
        f"{rich(paper.abstract, spans, links=True)}</p></details>"
        f'<div class="acts">{_open(paper)}{about_button(paper)}{_copies(paper)}'
        '<button type="button" class="quiet back" data-do="back">Back to the answer</button></div></article>'
    )


def _by(paper: Paper) -> str:
    """Every author (up to a dozen), then venue and year."""
    names = ", ".join(paper.authors[:NAMES]) + (f" and {len(paper.authors) - NAMES} more" if len(paper.authors) > NAMES else "")
    line = ", ".join(part for part in (names, replace(paper, authors=()).byline) if part) or byline(paper)
    return f'<p class="by" dir="auto">{escape(line)}</p>' if line else ""


def _open(paper: Paper) -> str:
    """The link to the paper itself, named by its host."""
    if not paper.link:
        return ""
    try:
        host = urlsplit(paper.link).hostname or "its page"
    except ValueError:  # an address that no browser could read either
        host = "its page"
    title = escape(paper.title or "this paper")
    return (
        f'<a class="quiet" href="{escape(paper.link)}" target="_blank" rel="noopener noreferrer"'
        f' aria-label="Open {title} at {escape(host)} in a new tab">{escape(shorten(host.removeprefix("www."), 40))}&nbsp;↗</a>'
    )


def _copies(paper: Paper) -> str:
    name = paper.title or "this paper"
    return copy_button("Copy citation", export.plain(paper), f"Copy citation of {name}") + copy_button(
        "Copy BibTeX", export.bibtex(replace(paper, abstract="")), f"Copy BibTeX of {name}"
    )


def _spans(paper: Paper, text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The quote's own offsets if they hold, else where its text stands, else nothing: a wrong mark is worse than none."""
    if text and paper.abstract[start:end] == text:
        return [(start, end)]
    at = paper.abstract.find(text) if text else -1
    return [(at, at + len(text))] if at >= 0 else []
