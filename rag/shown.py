"""Papers as a model is shown them: numbered, fenced, defused, and no more of them than fit.

What a paper says is data. Whatever in it could be taken for something else is made harmless: markers (they mean other papers),
our own fences, the control words of chat models, characters that no reader sees, and line breaks that would make one field look
like more. Nothing else of its text is changed.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import replace
from typing import Sequence

from .calls import tokens
from .citations import neutral
from .lexical import searchable
from .papers import Paper
from .passages import Span, sentences

_AUTHORS = 12
"""Authors of a paper that the model is told; some papers have hundreds."""
_MOST = 8
"""Characters that a token can stand for, more than any guess: what is longer need not be looked at."""
_TAG = re.compile(r"[<＜﹤](?=\s*/?\s*(?:paper|conversation)\b|\s*/?[\w|｜!][^<>＜＞\s]{0,40}[>＞﹥])", re.IGNORECASE)
"""A fence of ours, or what looks like a tag: servers turn `<|im_start|>` and the like into control words wherever they stand."""
_BRACKETED = re.compile(r"\[(/?[A-Z_]{3,20})\]")
"""[INST] and the like: control words of other chat models."""
_HIDDEN = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Variation selectors, which can carry any text unseen."""


def source(number: int, paper: Paper) -> str:
    """One paper, fenced: title, authors, where and when it was published, abstract, each on one line."""
    more = len(paper.authors) - _AUTHORS
    authors = ", ".join(paper.authors[:_AUTHORS]) + (f" and {more} more" if more > 0 else "")
    year = str(paper.year) if paper.year and str(paper.year) not in paper.venue else ""
    lines = {"Title": paper.title, "Authors": authors, "Published": " ".join(filter(None, (paper.venue, year))), "Abstract": paper.abstract}
    return "\n".join((f'<paper number="{number}">', *(f"{name}: {defused(text)}" for name, text in lines.items() if text), "</paper>"))


def sources(papers: Sequence[Paper]) -> str:
    """All of them, numbered from 1."""
    return "\n\n".join(source(number, paper) for number, paper in enumerate(papers, 1))


def defused(text: str) -> str:
    """A text of a paper's on one line, with nothing in it that could be taken for ours."""
    text = _HIDDEN.sub("", "".join(c for c in searchable(text) if unicodedata.category(c) != "Cf"))
    return " ".join(_BRACKETED.sub(r"(\1)", _TAG.sub("‹", neutral(text))).split())


def fit(papers: Sequence[Paper], room: int) -> list[Paper]:
    """As many of the papers, best first, as fit into so many tokens. The best one is cut at the end of a sentence if it does not
    fit whole; no paper if nothing of it does."""
    kept: list[Paper] = []
    for paper in papers:
        size = tokens(source(1, paper)) if len(paper.abstract) < _MOST * max(room, 1) else room + 1
        if size > room:
            return kept or _cut(paper, room)
        room -= size
        kept.append(paper)
    return kept


def _cut(paper: Paper, limit: int) -> list[Paper]:
    def until(span: Span) -> Paper:
        return replace(paper, abstract=paper.abstract[: span.end])

    spans = [span for span in sentences(paper.abstract[: _MOST * max(limit, 1)]) if span.end < _MOST * limit]
    fitting = bisect_right(spans, limit, key=lambda span: tokens(source(1, until(span))))
    return [until(spans[fitting - 1])] if fitting else []
