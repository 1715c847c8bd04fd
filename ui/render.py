"""Answers, papers and messages as HTML fragments for the chat page.

Pure: values in, strings out. Never emits a string from a paper, a model or a person unescaped, a link that isn't http(s)
to a paper or to a place on the page, an image, a style or a script.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count, zip_longest

from rag import export
from rag.names import NAME
from rag.papers import Answer, Paper, Sentence
from ui import cards, prose, tables
from ui.cards import evidence
from ui.text import escape, rich, shorten

__all__ = ["draft", "evidence", "examples", "masthead", "plain", "problem", "stopped", "turn", "unreadable", "welcome"]


def turn(id: str, question: str, answer: Answer) -> str:
    """A finished turn: the question, the answer with its citations, and what there is to say about it."""
    citations = {citation.number: citation for citation in answer.citations}
    tips = count(1)

    def link(number: int, sentence: Sentence) -> str | None:
        cited = citations.get(number)
        return cards.cite(id, cited, sentence, f"{id}-t{next(tips)}") if cited else None

    if answer.form == "list" and (answer.citations or answer.doubtful):
        said = tables.listing(id, answer, link)
    elif answer.form == "comparison" and answer.citations:
        said = tables.comparison(id, answer, link)
    else:
        said = prose.answer_html(answer, link)
    label = '<p class="label">Not answered</p>' if answer.status == "refused" else ""
    notice = f'<p class="notice" dir="auto">{rich(answer.notice)}</p>' if answer.notice else ""
    body = f'<div class="answer">{label}{said}</div>{notice}{_nearest(id, answer)}{_about(question, answer)}'
    return _turn(id, question, body, answer.status, _spoken(answer))


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


def welcome(papers: int, examples: Sequence[str], may_change: bool = False) -> str:
    """What stands where the conversation will be. `may_change`: whether papers can be added on the page."""
    if papers == 0:
        here = '<p>Choose files of abstracts, or drop them anywhere on this page.</p><p><button type="button" class="button" data-sheet="desk/library">Add papers</button></p>'
        return (
            f'<div class="welcome"><p class="lead">This library holds no papers yet.</p>{here if may_change else ""}'
            f"<p>{'Or add' if may_change else 'Add'} them in a terminal:</p><pre>askpapers add FILE</pre>"
            "<p>They are found at your next question; this page need not be reloaded.</p></div>"
        )
    buttons = "".join(f'<li><button type="button" data-ask="{escape(q)}">{rich(q)}</button></li>' for q in examples)
    return (
        '<div class="welcome"><p class="lead">Ask about these papers.</p><p>Every sentence of an answer names the paper it'
        " comes from and shows the sentence of the abstract that says so. When no abstract seems to answer, it says"
        f" so.</p>{f'<ul>{buttons}</ul>' if buttons else ''}</div>"
    )


def examples(papers: Iterable[Paper], limit: int = 4) -> list[str]:
    """Questions that this library can answer, made of its own titles and names: a subject, a name, a list, a comparison."""
    papers = list(papers)
    titles = list(
        dict.fromkeys(" ".join(p.title.split()) for p in papers if p.abstract and not re.search(r"[$\\<>?“”]", p.title))
    )
    subjects = [title for title in titles if ":" not in title and 15 <= len(title) <= 60]
    names = [head for title in titles if ":" in title and _is_name(head := title.split(":")[0].strip())]
    of_subjects = _spread("What does “{}” propose?", subjects, limit)
    of_names = _spread("What is {}?", names, limit)
    both = [question for pair in zip_longest(of_subjects, of_names) for question in pair if question]
    compared = [f"How do {names[0]} and {names[len(names) // 2]} differ?"] if len(names) > 1 else []
    return [*both[: limit - 2], *_listed(papers), *compared, *both[limit - 2 :]][:limit]


def _listed(papers: Sequence[Paper]) -> list[str]:
    """A question for a list: of the papers that mention a name which some of them mention, neither one nor many."""
    told = Counter(name for paper in papers for name in set(NAME.findall(paper.abstract)) if name.isalnum() and len(name) > 3)
    some = [(count, name) for name, count in told.items() if 3 <= count <= 12]
    return [f"Which papers mention {max(some)[1]}?"] if some else []


def plain(answer: Answer) -> str:
    """The answer as text to paste elsewhere, with its sources written out."""
    sources = "\n".join(f"[{c.number}] {export.plain(c.paper)}" for c in answer.citations)
    return answer.text.strip() + (f"\n\n{sources}" if sources else "")


def _problem(label: str, sentence: str) -> str:
    return f'<div class="problem"><p class="label">{label}</p><p>{rich(sentence)}</p></div>'


def _turn(id: str, question: str, body: str, status: str, spoken: str = "") -> str:
    asked = f'<h2 class="you"><span class="sr">You asked: </span><span dir="auto">{escape(question)}</span></h2>'
    said = f' data-spoken="{escape(spoken)}"' if spoken else ""
    return f'<article class="turn" id="{id}" data-status="{status}"{said}>{asked}{body}</article>'


def _spoken(answer: Answer) -> str:
    """What a screen reader says when the answer is there: of a list only how many, of anything else the words."""
    if answer.form == "list" and answer.count is not None:
        more = f", {len(answer.doubtful):,} more may match" if answer.doubtful else ""
        return f"{answer.count:,} paper{'s' * (answer.count != 1)} found{more}."
    words = re.sub(r"(?<!\w)\*{1,2}(?=\w)|(?<=\w)\*{1,2}(?!\w)|\*\*|[ \t]?\[\d{1,3}(?:, ?\d{1,3})*\]", "", answer.text).strip()
    odd = sum(sentence.verdict == "unsupported" for sentence in answer.sentences)
    doubt = f" {odd} sentence{'s are' if odd != 1 else ' is'} not backed by the abstracts." if odd else ""
    refused = "Not answered. " if answer.status == "refused" else ""
    return f"{refused}{words}{doubt} {answer.notice}".strip()


def _nearest(id: str, answer: Answer) -> str:
    """Under a refusal: what may work, and the nearest papers. (Otherwise related papers are in the panel only.)"""
    if answer.status != "refused" or not answer.related:
        return ""
    items = "".join(
        f'<li dir="auto"><a href="#{id}-r{i}" data-turn="{id}">{rich(paper.title or "Untitled paper")}</a>'
        + (f'<span class="by" dir="auto">{escape(cards.byline(paper))}</span>' if cards.byline(paper) else "")
        + f"{cards.about_button(paper)}</li>"
        for i, paper in enumerate(answer.related, 1)
    )
    return (
        f'<section class="nearest"><h3>{cards.related_heading(answer)}</h3><ul>{items}</ul>'
        "<p>An abstract tells what was done and found. Settings, tables and proofs are mostly in the paper only.</p></section>"
    )


def _about(question: str, answer: Answer) -> str:
    """Quiet lines: how far the abstracts back the answer, what was searched, what it cost, and a button to copy it."""
    if answer.status == "chat":
        return ""
    copy = cards.copy_button("Copy answer", plain(answer)) if answer.status != "refused" else ""
    backed, told = _backing(answer), _how(question, answer)
    lines = (f'<div class="backing">{backed}{copy}</div>' if backed or copy else "") + (f'<p dir="auto">{told}</p>' if told else "")
    return f'<div class="about">{lines}</div>' if lines else ""


def _backing(answer: Answer) -> str:
    """How far the abstracts back it; a second verdict stands apart from the first."""
    total = len(answer.sentences)
    said = ""
    checked = [s for s in answer.sentences if s.verdict != "unchecked"]
    if checked and answer.status != "refused":
        backed = sum(s.verdict == "supported" for s in checked)
        if backed == total:
            said = f"<b>{'Quoted from' if answer.mode == 'extractive' else 'Backed by'} the abstracts.</b> "
        else:
            said = f"<b>{backed:,} of {total:,} sentence{'s' * (total != 1)} backed by the abstracts.</b> "
    second = [verdict for s in answer.sentences if (verdict := getattr(s, "second", ""))]
    if second:
        said += f'<span class="second">Second check, by the model: {second.count("supported"):,} of {len(second):,} backed.</span> '
    if answer.status == "partial":
        said += "<span>The abstracts answer this in part.</span> "
    return said


def _how(question: str, answer: Answer) -> str:
    """What was searched, where it isn't what was asked; what was left out; what a model was asked for."""
    said: list[str] = []
    if answer.query and _plainly(answer.query) != _plainly(question):
        said.append(f"Searched for “{rich(shorten(answer.query, 160))}”.")
    if answer.count is not None and answer.form != "list":
        said.append(f"{answer.count:,} paper{'s' * (answer.count != 1)} found in the whole library.")
    if answer.dropped:
        one = answer.dropped == 1
        said.append(f"{answer.dropped:,} citation{'' if one else 's'} that stood for no paper {'was' if one else 'were'} left out.")
    calls = answer.usage.get("calls", 0)
    if calls:
        read, written = answer.usage.get("prompt_tokens", 0), answer.usage.get("completion_tokens", 0)
        tokens = f", {read:,} tokens read and {written:,} written" if read or written else ""
        said.append(f"{calls:,} call{'s' * (calls != 1)} to the model{tokens}.")
    return " ".join(said)


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
