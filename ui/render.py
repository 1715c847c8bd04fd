"""Answers, papers and messages as HTML fragments for the chat page.

Pure: values in, strings out. Never emits a string from a paper, a model or a person unescaped, a link that isn't http(s)
to a paper or to a place on the page, an image, a style or a script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import count, zip_longest

from rag.papers import Answer, Citation, Paper
from ui import prose
from ui.text import escape, rich, shorten

OPEN_CARDS = 4
"""With more papers than this, the cards show titles only until one is opened."""


def turn(id: str, question: str, answer: Answer) -> str:
    """A finished turn: the question, the answer with its citations, and what there is to say about it."""
    citations = {citation.number: citation for citation in answer.citations}
    tips = count(1)

    def link(number: int, sentence: str) -> str:
        cited = citations.get(number)
        return _cite(id, cited, sentence, f"{id}-t{next(tips)}") if cited else ""

    refused = answer.status == "refused"
    label = '<p class="label">Not answered</p>' if refused else ""
    notice = f'<p class="notice">{rich(answer.notice)}</p>' if answer.notice else ""
    body = f'<div class="answer">{label}{prose.answer_html(answer, link)}</div>'
    return _turn(id, question, body + notice + _nearest(id, answer) + _about(id, question, answer), answer.status)


def draft(id: str, question: str, text: str = "") -> str:
    """A turn that is still being answered."""
    body = f'<div class="answer">{prose.draft_html(text)}</div>' if text.strip() else ""
    return _turn(id, question, body, "draft")


def stopped(id: str, question: str, text: str = "") -> str:
    """A turn that the reader stopped, with what had arrived of it."""
    body = f'<div class="answer">{prose.draft_html(text)}</div>' if text.strip() else ""
    return _turn(
        id,
        question,
        body + '<p class="notice">Stopped. What was written has not been checked.</p>'
        if body
        else '<p class="notice">Stopped before anything was written.</p>',
        "stopped",
    )


def problem(id: str, question: str, sentence: str) -> str:
    """A turn that could not be answered, with a sentence that says why."""
    return _turn(id, question, _problem("No answer", sentence), "problem")


def unreadable(sentence: str) -> str:
    """What stands where the conversation will be when the library can't be read."""
    return f'<div class="welcome">{_problem("The library can’t be read", sentence)}</div>'


def evidence(id: str, question: str, answer: Answer) -> str:
    """What the panel shows for one turn: a card for each cited paper, then the papers near the question."""
    if not answer.citations and not answer.related:
        return ""
    few = len(answer.citations) <= OPEN_CARDS
    cards = "".join(_card(f"{id}-c{c.number}", c.paper, c, opened=few) for c in answer.citations)
    near = "".join(_card(f"{id}-r{i}", paper) for i, paper in enumerate(answer.related, 1))
    asked = f'<p class="for" dir="auto">for “{rich(shorten(question, 120))}”</p>'
    cited = f"<h2>Evidence</h2>{asked}{cards}" if cards else ""
    related = f"<h2>{_related_heading(answer)}</h2>{'' if cards else asked}{near}" if near else ""
    return f'<section class="sources" id="{id}-sources" data-turn="{id}" hidden>{cited}{related}</section>'


def masthead(papers: int, mode: str, mode_detail: str = "", trouble: str = "") -> str:
    """The top of the page: name, size of the library, and who writes the answers."""
    how = (
        "To have a language model write the answers, set <code>OPENAI_API_KEY</code> (and <code>OPENAI_MODEL</code>) for"
        " OpenAI, or <code>OPENAI_BASE_URL</code> and <code>OPENAI_MODEL</code> for a model of your own, then start Ask Papers again."
    )
    if mode == "extractive":
        state = "<span>Quoting abstracts</span><span>no model configured</span>"
        how = f"Answers are sentences of the abstracts themselves. {how}"
        ask = "Use a model"
    else:
        at = f" at {escape(mode_detail)}" if mode_detail else ""
        state = f"<span>Answers by {escape(mode)}{at}</span>"
        how = (
            f"Your questions and the abstracts found for them go to {escape(mode_detail) or 'that model'}. What it writes is"
            " checked against the abstracts; sentences that they don't back are marked. To answer without a model, start Ask"
            " Papers without one configured."
        )
        ask = "What this means"
    size = "no papers yet" if papers == 0 else f"{papers:,} paper{'s' * (papers != 1)}"
    facts = f'<span class="size">{escape(trouble) if trouble else size}</span>{state}'
    return (
        '<h1>Ask Papers</h1><div class="facts">' + facts + "</div>"
        f'<details class="how"><summary>{ask}</summary><p>{how}</p></details>'
        '<button type="button" class="quiet" data-do="new" hidden>New conversation</button>'
    )


def welcome(papers: int, examples: Sequence[str]) -> str:
    """What stands where the conversation will be."""
    if papers == 0:
        return (
            '<div class="welcome"><p class="lead">This library holds no papers yet.</p><p>Add some in a terminal:</p>'
            "<pre>askpapers add FILE</pre><p>They are found at your next question; this page need not be reloaded.</p></div>"
        )
    buttons = "".join(f'<li><button type="button" data-ask="{escape(q)}">{rich(q)}</button></li>' for q in examples)
    return (
        '<div class="welcome"><p class="lead">Ask about these papers.</p><p>Every sentence of an answer names the paper it'
        " comes from and shows the sentence of the abstract that says so. When no abstract seems to answer, it says"
        f" so.</p>{f'<ul>{buttons}</ul>' if buttons else ''}</div>"
    )


def examples(papers: Iterable[Paper], limit: int = 4) -> list[str]:
    """Questions that this library can answer, made of its own titles, from all over the library: a subject, a name, ..."""
    titles = list(
        dict.fromkeys(" ".join(p.title.split()) for p in papers if p.abstract and not re.search(r"[$\\<>?“”]", p.title))
    )
    subjects = [title for title in titles if ":" not in title and 15 <= len(title) <= 60]
    names = [head for title in titles if ":" in title and _is_name(head := title.split(":")[0].strip())]
    of_subjects = _spread("What does “{}” propose?", subjects, limit)
    of_names = _spread("What is {}?", names, limit)
    both = [question for pair in zip_longest(of_subjects, of_names) for question in pair if question]
    return both[:limit]


def plain(answer: Answer) -> str:
    """The answer as text to paste elsewhere, with its sources written out."""
    sources = "\n".join(
        f"[{c.number}] " + ". ".join(part for part in (c.paper.title, c.paper.byline, c.paper.link) if part)
        for c in answer.citations
    )
    return answer.text.strip() + (f"\n\n{sources}" if sources else "")


def _problem(label: str, sentence: str) -> str:
    return f'<div class="problem"><p class="label">{label}</p><p>{rich(sentence)}</p></div>'


def _turn(id: str, question: str, body: str, status: str) -> str:
    asked = f'<h2 class="you"><span class="sr">You asked: </span><span dir="auto">{escape(question)}</span></h2>'
    return f'<article class="turn" id="{id}" data-status="{status}">{asked}{body}</article>'


def _cite(turn: str, citation: Citation, sentence: str, tip: str) -> str:
    """The small number behind a sentence, and what hovering over it or focusing it shows."""
    paper = citation.paper
    title = paper.title or "Untitled paper"
    year = f' <span class="year">{paper.year}</span>' if paper.year else ""
    quote = _closest(citation, sentence)
    said = f'<span class="said" dir="auto">“{rich(shorten(quote, 420))}”</span>' if quote else ""
    return (
        f'<span class="ref"><a class="cite" href="#{turn}-c{citation.number}" data-turn="{turn}" aria-describedby="{tip}"'
        f' aria-label="Source {citation.number}: {escape(title)}">{citation.number}</a>'
        f'<span class="tip" role="tooltip" id="{tip}"><b dir="auto">{rich(title)}</b>{year}{said}</span></span>'
    )


def _closest(citation: Citation, sentence: str) -> str:
    """The quote of this citation that shares most words with the sentence it stands behind."""
    words = set(re.findall(r"\w+", sentence.lower()))

    def shared(text: str) -> int:
        return len(words & set(re.findall(r"\w+", text.lower())))

    return max((quote.text for quote in citation.quotes), key=shared, default="")


def _card(id: str, paper: Paper, citation: Citation | None = None, opened: bool = False) -> str:
    title = rich(paper.title or f"Untitled paper ({paper.id})")
    name = f"<bdi>{title}</bdi>"
    if paper.link:
        name = f'<a href="{escape(paper.link)}" target="_blank" rel="noopener noreferrer">{name}</a>'
    number = f'<span class="cite">{citation.number}</span> ' if citation else ""
    by = paper.byline or (f"from {paper.source}" if paper.source else "")
    spans = (
        [span for quote in citation.quotes for span in _spans(paper, quote.text, quote.start, quote.end)]
        if citation
        else []
    )
    return (
        f'<article class="card" id="{id}" tabindex="-1"><h3>{number}{name}</h3>'
        + (f'<p class="by" dir="auto">{escape(by)}</p>' if by else "")
        + f'<details{" open" * opened}><summary>Abstract</summary><p class="abstract" dir="auto">'
        + f"{rich(paper.abstract, spans)}</p></details>"
        + '<button type="button" class="quiet back" data-do="back">Back to the answer</button></article>'
    )


def _spans(paper: Paper, text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The quote's own offsets if they hold, else where its text stands, else nothing: a wrong mark is worse than none."""
    if text and paper.abstract[start:end] == text:
        return [(start, end)]
    at = paper.abstract.find(text) if text else -1
    return [(at, at + len(text))] if at >= 0 else []


def _nearest(id: str, answer: Answer) -> str:
    """Under a refusal: the nearest papers by title. (Otherwise related papers are in the panel only.)"""
    if answer.status != "refused" or not answer.related:
        return ""
    items = "".join(
        f'<li dir="auto"><a href="#{id}-r{i}" data-turn="{id}">{rich(paper.title or "Untitled paper")}</a></li>'
        for i, paper in enumerate(answer.related, 1)
    )
    return f'<div class="nearest"><p>{_related_heading(answer)}</p><ul>{items}</ul></div>'


def _related_heading(answer: Answer) -> str:
    return "Nearest papers (not an answer)" if answer.status == "refused" else "Related papers"


def _about(id: str, question: str, answer: Answer) -> str:
    """One quiet line: how far the abstracts back the answer, what was searched, and a button to copy it."""
    if answer.status == "chat":
        return ""
    said: list[str] = []
    checked = [s for s in answer.sentences if s.verdict != "unchecked"]
    backed = sum(s.verdict == "supported" for s in checked)
    if checked and answer.status != "refused":
        total = len(answer.sentences)
        if backed == total:
            said.append(f"<b>{'Quoted from' if answer.mode == 'extractive' else 'Backed by'} the abstracts.</b>")
        else:
            said.append(f"<b>{backed} of {total} sentence{'s' * (total != 1)} backed by the abstracts.</b>")
    if answer.status == "partial":
        said.append("The abstracts answer this in part.")
    if answer.count is not None:
        said.append(f"{answer.count:,} paper{'s' * (answer.count != 1)} found in the whole library.")
    if answer.query and _plainly(answer.query) != _plainly(question):
        said.append(f"Searched for “{rich(shorten(answer.query, 160))}”.")
    copy = f'<button type="button" class="quiet" data-do="copy">Copy</button><pre hidden>{escape(plain(answer))}</pre>'
    if answer.status == "refused":
        copy = ""
    if not said and not copy:
        return ""
    return f'<div class="about"><p>{" ".join(said)}</p>{copy}</div>'


def _plainly(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _spread(form: str, names: list[str], limit: int) -> list[str]:
    """`limit` of the names, evenly from the whole list, in the form of a question."""
    return [form.format(name) for name in names[:: max(1, len(names) // limit)][:limit]]


def _is_name(head: str) -> bool:
    """Whether what stands before a title's colon is the name of something (LongLoRA) and no phrase or plain word."""
    return (
        3 < len(head) <= 20 and " " not in head and sum(c.isupper() for c in head) >= 2 and any(c.islower() for c in head)
    )
