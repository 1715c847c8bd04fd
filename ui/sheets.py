"""What the page shows around the answers, as HTML fragments: the library, the conversations, the settings, the tools of a turn.

Pure: values in, strings out; nothing of a paper or a person goes in unescaped. Where a fragment says what to do when it is used
(`data-get`, `data-post`, `data-into`, `data-do`), ui/panels.js and its neighbours do it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import urlencode

from rag.history import Kept
from rag.papers import Paper
from rag.readers import FORMATS
from ui.adding import Adding
from ui.guard import LARGEST_FILE
from ui.shelf import ON_A_PAGE, SORTS, Row, Scope, arranged
from ui.text import escape, rich

_SHOWN_REASONS = 50


def library(found: str, venues: Sequence[tuple[str, int]], may_change: bool, reports: str = "") -> str:
    """The sheet with the library. `found`: the list as of now. `reports`: of files on their way in."""
    sorts = "".join(f'<option value="{name}">{words}</option>' for name, words in SORTS.items())
    return (
        '<h2 id="sheet-title">Library</h2>'
        + (_add(reports) if may_change else "")
        + '<form id="seek" role="search" aria-label="Papers" data-get="desk/shelf" data-into="#found" data-live>'
        '<label class="wide"><span class="sr">Search titles, authors, abstracts</span>'
        '<input name="find" type="search" placeholder="Search titles, authors, abstracts" maxlength="200" autocomplete="off"></label>'
        '<label>From <input name="first" inputmode="numeric" pattern="[0-9]*" maxlength="4" size="4" placeholder="year" aria-label="From year"></label>'
        '<label>to <input name="last" inputmode="numeric" pattern="[0-9]*" maxlength="4" size="4" placeholder="year" aria-label="To year"></label>'
        f'<label{"" if venues else " hidden"}><span class="sr">Venue</span><select name="venue">{places(venues)}</select></label>'
        f'<label><span class="sr">Order</span><select name="sort">{sorts}</select></label></form><div id="found">{found}</div>'
    )


def places(venues: Sequence[tuple[str, int]]) -> str:
    """The venues as options."""
    return '<option value="">Any venue</option>' + "".join(f'<option value="{escape(venue)}">{escape(venue)} ({count:,})</option>' for venue, count in venues)


def asking(scope: Scope, found: Sequence[Row]) -> str:
    """What stands above the box when not all papers are asked."""
    return f"Asking only {rich(scope.says(found))}"


def _add(reports: str) -> str:
    return (
        '<div id="drop"><label class="button" for="files">Add papers</label>'
        f'<input type="file" id="files" multiple class="sr" data-most="{LARGEST_FILE}"><p>or drop files here: {escape(FORMATS)}, up to {LARGEST_FILE // 1_000_000} MB each.</p>'
        f'</div><ul id="adding" aria-live="polite">{reports}</ul>'
        '<details id="added-before" hidden><summary>Earlier files</summary><ul></ul></details>'
    )


def shelf(rows: Sequence[Row], total: int, scope: Scope, sort: str, page: int, may_change: bool) -> str:
    """One page of the papers that `scope` lets through. `rows`: all of these, as they were added; `total`: papers in the library."""
    pages = max(1, -(-len(rows) // ON_A_PAGE))
    page = min(max(1, page), pages)
    if not total:
        return '<p class="none" id="no-papers">This library holds no papers yet. What you add is listed here.</p>'
    if not rows:
        return f'<p class="count" role="status">None of {total:,} papers.</p><p class="none">No paper fits. Try fewer words, or other years.</p>'
    count = f"{total:,} papers" if len(rows) == total else f"{len(rows):,} of {total:,} papers"
    items = "".join(_item(row, n) for n, row in enumerate(arranged(rows, sort, scope.find)[(page - 1) * ON_A_PAGE : page * ON_A_PAGE]))
    asks = _asks(scope, scope.says(rows), f"Ask only these {len(rows):,}") if scope and len(rows) < total else ""
    remove = '<button type="button" class="quiet" data-do="remove">Remove from the library</button>' if may_change else ""
    return (
        f'<div class="line"><p class="count" role="status">{count.replace("1 papers", "1 paper") if len(rows) == total == 1 else count}</p>{asks}</div>'
        '<div class="line" id="chosen" hidden><p><b></b> chosen</p><button type="button" class="quiet" data-do="ask-chosen">Ask only these</button>'
        f'{remove}<button type="button" class="quiet" data-do="choose-none">Choose none</button></div>'
        f'<ul class="papers">{items}</ul>{_pages(scope, sort, page, pages)}'
    )


def _item(row: Row, place: int) -> str:
    link = ""
    if row.link:
        link = f' <a href="{escape(row.link)}" target="_blank" rel="noopener noreferrer" aria-label="Open {escape(row.title)}">Open ↗</a>'
    by = f'<span class="by" dir="auto">{escape(row.byline)}</span>' if row.byline else ""
    return (
        f'<li><label><input type="checkbox" data-pick="{escape(row.id)}" data-title="{escape(row.title)}">'
        f'<span class="title" dir="auto">{rich(row.title)}</span></label><span class="under">{by}{link}</span>'
        f'<details class="abstract" data-paper="{escape(row.id)}"><summary aria-label="Abstract of {escape(row.title)}">Abstract</summary><div id="abstract-{place}" dir="auto"></div></details></li>'
    )


def abstract(paper: Paper) -> str:
    """A paper's abstract, for reading in the list."""
    return f"<p>{rich(paper.abstract, links=True)}</p>"


def _asks(scope: Scope, words: str, label: str) -> str:
    data = escape(json.dumps(scope.to_dict()))
    return f'<button type="button" class="quiet" data-do="scope" data-scope="{data}" data-words="{escape(words)}">{label}</button>'


def _pages(scope: Scope, sort: str, page: int, pages: int) -> str:
    if pages == 1:
        return ""
    query = {name: value for name, value in scope.to_dict().items() if name != "ids"} | {"sort": sort}

    def to(number: int, words: str) -> str:
        if not 1 <= number <= pages:
            return f"<span>{words}</span>"
        path = escape("desk/shelf?" + urlencode({**query, "page": number}))
        return f'<button type="button" class="quiet" data-get="{path}" data-into="#found">{words}</button>'

    return f'<nav class="pages" aria-label="Pages">{to(page - 1, "Earlier")}<p>Page {page:,} of {pages:,}</p>{to(page + 1, "Later")}</nav>'


def adding(key: str, work: Adding, over: bool, so_far: int) -> str:
    """How the adding of one file goes, or what came of it: what went in, and what did not and why."""
    name = f'<b dir="auto">{escape(work.name)}</b>'
    if not over:
        more = f" {so_far:,} in so far." if so_far > 0 else ""
        return f'<li data-poll="desk/adding/{escape(key)}" class="going">{name}: reading and indexing…{more}</li>'
    if work.report is None:
        return f'<li class="bad">{name} was not added. {rich(work.error)}</li>'
    report = work.report
    counts = [(len(report.added), "added"), (len(report.updated), "updated"), (len(report.unchanged), "known already"), (len(report.rejected), "left out")]
    said = ", ".join(f"{count:,} {words}" for count, words in counts if count) or "nothing in it"
    reasons = [f"<b>{escape(where)}</b>: {escape(why)}" for where, why in report.rejected] + [escape(note) for note in report.notes]
    more = f"<li>and {len(reasons) - _SHOWN_REASONS:,} more</li>" if len(reasons) > _SHOWN_REASONS else ""
    why = f'<ul>{"".join(f"<li>{reason}</li>" for reason in reasons[:_SHOWN_REASONS])}{more}</ul>' if reasons else ""
    return f'<li class="{"bad" if report.rejected else "good"}">{name}: {said}.{why}</li>'


def talks(kept: Sequence[Kept], open_id: str) -> str:
    """The list of conversations, the one used last first."""
    return "".join(_talk(each, each.id == open_id) for each in kept) or '<li class="none">Your conversations will be listed here.</li>'


def _talk(kept: Kept, is_open: bool) -> str:
    id, title = escape(kept.id), escape(kept.title)
    here = ' aria-current="true"' if is_open else ""
    return (
        f'<li data-talk="{id}"><button type="button" class="talk" data-do="open" title="{title}"{here}><span dir="auto">{title}</span></button>'
        f'<details class="more"><summary aria-label="Rename, export or delete “{title}”">⋯</summary><div>'
        f'<form data-post="desk/talks/{id}/title" data-into="#talks"><label><span class="sr">Name</span>'
        f'<input name="title" value="{title}" maxlength="120" required autocomplete="off"></label><button class="quiet">Rename</button></form>'
        + "".join(f'<a class="quiet" href="desk/talks/{id}/{file}" download>{words}</a>' for file, words in _EXPORTS)
        + f'<button type="button" class="quiet" data-post="desk/talks/{id}/delete" data-into="#talks" data-sure="Delete it for good?">Delete</button>'
        "</div></details></li>"
    )


_EXPORTS = (("markdown", "Export as Markdown"), ("bibtex", "Cited papers as BibTeX"), ("ris", "Cited papers as RIS"))


def turn(html: str, number: int, question: str, scope: str = "", rated: str = "") -> str:
    """A turn with what can be done with it. `html`: the turn as ui.render made it; `scope`: which papers were asked, in words;
    `rated`: the `rating` of its answer, if it is one that can be right or wrong."""
    tools = (
        f'<div class="tools" data-number="{number}" data-question="{escape(question)}">'
        '<button type="button" class="quiet" data-do="edit">Edit question</button><button type="button" class="quiet again" data-do="again">Ask again</button>'
        + (f'<div class="rate">{rated}</div>' if rated else "")
        + "</div>"
    )
    head, end, rest = html.partition("</h2>")
    asked_of = f'<p class="asked-of">Asked of {rich(scope)}</p>' if scope else ""
    body, close, after = (head + end + (asked_of if end else "") + rest).rpartition("</article>")
    return f"{body}{tools}{close}{after}"


def rating(vote: str = "", words: str = "", asking: bool = False, noted: bool = False) -> str:
    """Whether the answer was right: the question and what the reader has said. `asking`: with room for a few words, as after a click."""

    def button(value: str, label: str) -> str:
        return f'<button type="button" class="quiet" data-rate="{value}" aria-pressed="{"true" if vote == value else "false"}">{label}</button>'

    buttons = f'<span role="group" aria-label="Was this right?">Right? {button("right", "Yes")} {button("wrong", "No")}</span>'
    said = f'<span class="said-of-it" dir="auto">“{escape(words)}”</span>' if words and not asking else ""
    thanks = '<span role="status">Noted, thank you.</span>' if noted else ""
    if not asking:
        return f"{said}{thanks}{buttons}"
    asks = "What was right about it?" if vote == "right" else "What was wrong, or missing?"
    return (
        f'{buttons}<form data-rate="{escape(vote)}"><label><span class="sr" role="status">Noted.</span><input name="words" maxlength="1000" value="{escape(words)}"'
        f' placeholder="{asks}" aria-label="{asks} (optional)" autocomplete="off"></label><button class="quiet">Add</button></form>'
    )
