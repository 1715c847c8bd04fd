"""Answers that are no prose: a list of papers as a table, a comparison as sides next to each other.

Pure. What the text of the answer says and the table doesn't is shown around it: no word gets lost. Papers that may match stand
apart from those that do, and are counted by nothing.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import replace

from rag.papers import Answer, Citation
from ui import prose
from ui.cards import byline, number_link
from ui.prose import Link, Piece
from ui.text import escape, rich

FIRST_ROWS = 30
"""Rows that a long list shows at first."""
FILTER_FROM = 11
"""A list of at least this many papers can be filtered."""


def listing(id: str, answer: Answer, link: Link) -> str:
    """The matching papers as a table under a heading with their number, and apart from it those that may match."""
    before, by_paper, after = _shared_out(answer, link, bare=True)
    count = answer.count if answer.count is not None else len(answer.citations)
    if before and re.search(rf"\b({count:,}|{count})\b", _bare(before[0].html)):  # the text's own first line says how many
        heading, before = before[0].html.rstrip(":"), before[1:]
    else:
        heading = f"{count:,} paper{'s' * (count != 1)} match{'es' * (count == 1)}" if count else "No paper matches"
    rows = [_row(id, c, _paragraphs(by_paper.get(c.number, [])) or _quotes(c)) for c in answer.citations]
    return (
        f'<section class="listing"><h3 class="howmany" id="{id}-found" dir="auto">{heading}</h3>{prose.laid_out(before)}'
        f"{_table(rows, f'{id}-found')}{prose.laid_out(after)}{_doubtful(id, answer)}</section>"
    )


def comparison(id: str, answer: Answer, link: Link) -> str:
    """A column for each side, and around them what the text says of no side or of several."""
    before, by_paper, after = _shared_out(answer, link)
    sides = []
    for citation in answer.citations:
        title, by = citation.paper.title or "Untitled paper", byline(citation.paper)
        said = _paragraphs(by_paper.get(citation.number, [])) or f"<p>{number_link(id, citation)}</p>{_quotes(citation)}"
        under = f'<p class="by" dir="auto">{escape(by)}</p>' if by else ""
        sides.append(f'<section class="side"><h3 dir="auto">{rich(title)}</h3>{under}{said}</section>')
    return f'{prose.laid_out(before)}<div class="sides">{"".join(sides)}</div>{prose.laid_out(after)}'


def _shared_out(answer: Answer, link: Link, bare: bool = False) -> tuple[list[Piece], dict[int, list[str]], list[Piece]]:
    """What the text says of no single paper before it comes to them, what it says of each by its number, and what comes after."""
    before: list[Piece] = []
    after: list[Piece] = []
    by_paper: dict[int, list[str]] = {}
    for piece in prose.pieces(answer, link, {c.number: _heads(c) for c in answer.citations if c.paper.title}, bare):
        if piece.of:
            by_paper.setdefault(piece.of, []).append(piece.html)
        else:
            (after if by_paper else before).append(piece)
    return before, by_paper, after


def _heads(citation: Citation) -> list[str]:
    """What a piece of the text on this paper may begin with: its title, and what there is of its byline."""
    bylines = (citation.paper.byline, replace(citation.paper, authors=()).byline)
    return [f"**{citation.paper.title}**{f' ({by})' if by else ''}: " for by in dict.fromkeys((*bylines, ""))]


def _doubtful(id: str, answer: Answer) -> str:
    if not answer.doubtful:
        return ""
    many = len(answer.doubtful)
    rows = [_row(id, c, _quotes(c)) for c in answer.doubtful]
    return (
        f'<section class="doubtful"><h3 id="{id}-may">{many:,} more may match</h3>'
        "<p>Not counted: their abstracts come near without plainly saying so.</p>"
        f"{_table(rows, f'{id}-may', 'Nearest sentence')}</section>"
    )


def _table(rows: Sequence[str], named: str, why: str = "Why it matches") -> str:
    """`rows` under headers that sort them. `named`: the id of the heading that names the table."""
    if not rows:
        return ""
    many = len(rows)
    tools = more = ""
    if many >= FILTER_FROM:
        words = f"Filter these {many:,} papers"
        tools = (
            f'<div class="sift"><input type="search" class="filter" placeholder="{words}" aria-label="{words}" autocomplete="off"'
            f' spellcheck="false"><span class="shown" role="status">{_shown(many)}</span></div>'
        )
    if many > FIRST_ROWS:
        more = f'<p class="rest"><button type="button" class="quiet" data-do="rows">Show all {many:,}</button></p>'
    body = "".join(row.replace("<tr", "<tr hidden", 1) if i >= FIRST_ROWS else row for i, row in enumerate(rows))
    return (
        f'<div class="found" data-first="{FIRST_ROWS}">{tools}<table class="matches" aria-labelledby="{named}"><thead><tr>'
        f"{_header('number', 'No.', 'ascending')}{_header('title', 'Paper')}{_header('year', 'Year')}"
        f'<th scope="col" class="why">{why}</th></tr></thead><tbody>{body}</tbody></table>{more}</div>'
    )


def _header(key: str, label: str, sorted: str = "none") -> str:
    return (
        f'<th scope="col" class="{key}" aria-sort="{sorted}"><button type="button" data-sort="{key}">{label}'
        '<span class="arrow" aria-hidden="true"></span></button></th>'
    )


def _row(id: str, citation: Citation, why: str) -> str:
    paper = citation.paper
    by = f'<p class="by" dir="auto">{escape(byline(paper))}</p>' if byline(paper) else ""
    title = f'<a class="title" href="#{id}-c{citation.number}" data-turn="{id}" tabindex="-1"><bdi>{rich(paper.title or "Untitled paper")}</bdi></a>'
    return (
        f'<tr data-number="{citation.number}" data-year="{paper.year or ""}"><td class="number">{number_link(id, citation)}</td>'
        f'<th scope="row" class="title">{title}{by}</th><td class="year">{paper.year or ""}</td><td class="why">{why}</td></tr>'
    )


def _quotes(citation: Citation) -> str:
    return _paragraphs([f"“{rich(quote.text, links=True)}”" for quote in citation.quotes])


def _paragraphs(htmls: Sequence[str]) -> str:
    return "".join(f'<p dir="auto">{each}</p>' for each in htmls if each)


def _shown(many: int) -> str:
    return f"{min(many, FIRST_ROWS):,} of {many:,} shown" if many > FIRST_ROWS else f"{many:,} shown"


def _bare(markup: str) -> str:
    """The words of a fragment, for looking at; never for showing."""
    return html.unescape(re.sub(r"<[^>]*>", "", markup))
