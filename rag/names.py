"""The names by which papers are called (AgentBench, D2 Pruning, Uni-O4), and which of them a question says.

Made from titles and abstracts; no list of names is shipped. Finds whole names only, whatever their case, hyphens and LaTeX; a name
that is also a plain word counts in lower case only if few papers use the word.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter, defaultdict
from typing import Callable, Iterable, NamedTuple

from .lexical import STOP_WORDS
from .papers import Paper

_LATEX = re.compile(r"\\(?:mathbb|mathcal|mathrm|mathbf|mathit|mathsf|textbf|textit|texttt|textsc|text|emph|rm|bf|it)\b\s*|[${}\\^~]")
NAME = re.compile(r"(?<![\w-])(?:[A-Z]{2,}[\w@+.-]*\w|[A-Z][a-z]*[A-Z][\w@+-]*|[a-z]+[A-Z][\w@+-]*|[A-Z][\w@-]*\d[\w@-]*|[A-Z]\w*-[A-Z][\w@-]*)(?![\w])")
_CALLED = re.compile(
    r"\b(?:called|named|dubbed|termed|coined|namely|(?:introduce|present|propose|release|develop|describe|design|create|construct|compile|build)[sd]?(?: the| a| an)?)\s+"
    r"[\"“'*]{0,2}(?:the )?((?:[A-Z][\w@+-]*|[a-z]+[A-Z][\w@+-]*)(?:[ -][A-Z0-9][\w@+-]*){0,3})"
)
_BRACKETED = re.compile(r"\(\s*[*\"“']{0,2}([A-Z][\w@$^{}\\+-]{1,20})[*\"”']{0,2}\s*\)")
_CAPITALISED = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{3,}\b")
_WORDS = re.compile(r"[^\s,;:?!()\[\]\"“”«»/、。？！\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af\u0400-\u04ff\u0600-\u06ff\u0900-\u097f]+")
"""Runs that may be part of a name: no script but Latin and Greek writes any here, and Korean and Chinese leave no blank after one."""
ADDRESS = re.compile(r"https?://[^\s<>\"]+|\b10\.\d{4,}/[^\s<>\"]+|\b(?:openreview|arxiv|doi):\s?[^\s<>\"]+", re.IGNORECASE)
_LONGEST = 5
"""Words in a name."""
_TYPED, _LIKE = 6, 0.84
"""Letters, and likeness as difflib has it, from which an unknown word is taken for a name that was typed wrong."""
_RARE, _RARER = 0.62, 0.75
_SHARED = 3
"""Papers that may write a name before it stands for none of them."""


class Mention(NamedTuple):
    """A name in a question: its place there and the ids of the papers that it stands for. `own`: they are called so; otherwise
    they are just the only ones to write that name. `coined`: no common English word is spelled so."""

    start: int
    end: int
    papers: tuple[str, ...]
    own: bool
    coined: bool = False


class Names:
    """Names to papers."""

    def __init__(self, papers: Iterable[Paper]):
        self._own: dict[str, set[str]] = defaultdict(set)
        self._head: dict[str, set[str]] = defaultdict(set)
        """Names that stand at the head of a title: a paper is called by its own title before what another says of it."""
        self._written: Counter[str] = Counter()
        """In how many papers a name stands, as written, but for a plural s."""
        self._by: dict[str, set[str]] = defaultdict(set)
        self._single: list[str] | None = None
        self._addresses: dict[str, set[str]] = defaultdict(set)
        for paper in papers:
            for address in (paper.id, paper.link, paper.doi):
                if tail := _tail(address):
                    self._addresses[tail].add(paper.id)
            heads, others = names_of(paper)
            for name in heads:
                self._head[name].add(paper.id)
            for name in heads | others:
                self._own[name].add(paper.id)
            for name in written(paper):
                self._written[name] += 1
                self._by[name].add(paper.id)

    def mentions(self, question: str, rarity: Callable[[str], float]) -> list[Mention]:
        """The names that the question says, longest first where they overlap, in the order of the question. A name that more
        than three papers share names none of them. `rarity(text)`: 0 to 1, how few papers hold the rarest word of a text."""
        words = list(_WORDS.finditer(question))
        found = [Mention(m.start(), m.end(), tuple(sorted(ids)), True) for m in ADDRESS.finditer(question) if (ids := self._addresses.get(_tail(m[0])))]
        taken = {n for n, word in enumerate(words) if any(m.start <= word.start() < m.end for m in found)}
        for length in range(_LONGEST, 0, -1):
            for first in range(len(words) - length + 1):
                place = range(first, first + length)
                if taken.intersection(place):
                    continue
                text = re.sub(r"(?:['’]s?|[.*]+)$", "", question[words[first].start() : words[first + length - 1].end()]).lstrip("'‘’*")
                papers, own = self._papers(text, length)
                if not papers and length == 1 and len(text) >= _TYPED and rarity(text) >= 1:
                    papers, own = self._misspelt(text), True
                    if papers:
                        taken.update(place)
                        found.append(Mention(words[first].start(), words[first].end(), tuple(sorted(papers)), own))
                    continue
                if papers and len(papers) <= _SHARED and self._meant(text, length, rarity):
                    taken.update(place)
                    found.append(Mention(words[first].start(), words[first + length - 1].end(), tuple(sorted(papers)), own))
        return sorted(found)

    def _papers(self, text: str, length: int) -> tuple[set[str], bool]:
        name = folded(text)
        called = self._head.get(name) or self._own.get(name)
        if called or length > 1:
            return called or set(), True
        return self._by.get(_singular(text)) or set(), False

    def _misspelt(self, text: str) -> set[str]:
        """The papers of the name that a word which no paper holds comes near to, if one does."""
        if self._single is None:
            self._single = [name for name in self._head if len(name) >= _TYPED - 1 and len(name) < 25]
        name = folded(text)
        alike = [other for other in self._single if other[:1] == name[:1] and abs(len(other) - len(name)) <= 1]
        near = difflib.get_close_matches(name, alike, 1, _LIKE)
        return self._head[near[0]] if near else set()

    def _meant(self, text: str, length: int, rarity: Callable[[str], float]) -> bool:
        if length > 1:
            return rarity(text) >= _RARE - 0.1
        if text.lower() in STOP_WORDS and not text.isupper():
            return False
        if NAME.fullmatch(text) and self._written[_singular(text)]:
            return self._written[_singular(text)] <= _SHARED  # LLM and CLIP are in the names of some papers, and in the abstracts of many
        if "-" in text[1:-1] and folded(text) in self._own:
            return rarity(text) >= _RARE - 0.1
        return len(text) > 2 and rarity(text) >= (_RARE if text[:1].isupper() else _RARER) and (len(text) > 3 or any(map(str.isdigit, text)) or text[:1].isupper())


def names_of(paper: Paper) -> tuple[set[str], set[str]]:
    """The folded names by which this one paper may be called: from the head of its title; and what it says that it presents,
    with runs of its title's words."""
    title, abstract = without_latex(paper.title), without_latex(paper.abstract)
    head, colon, _ = title.partition(":")
    heads = {head} if colon and len(head.split()) <= _LONGEST - 1 else set()
    heads |= {title}
    others = set(NAME.findall(head)) if colon else set()
    others |= set(_CALLED.findall(abstract))
    others |= {m for m in _BRACKETED.findall(abstract) if sum(c.isupper() for c in m) >= 2 and _is_presented(m, abstract)}
    words = re.findall(r"[\w’'-]+", title)
    for length in range(3, _LONGEST + 1):
        for first in range(len(words) - length + 1):
            run = words[first : first + length]
            if sum(word.lower() not in STOP_WORDS and len(word) > 2 for word in run) >= 2 and run[0].lower() not in STOP_WORDS and run[-1].lower() not in STOP_WORDS:
                others.add(" ".join(run))
    return tuple({plain for name in names if len(plain := folded(name)) > 1} for names in (heads, others))


def written(paper: Paper) -> set[str]:
    """The names that stand in a paper, its own and others': words with capitals or digits inside, and capitalised words within
    a sentence; without a plural s."""
    text = without_latex(f"{paper.title}. {paper.abstract}")
    return {_singular(name) for name in NAME.findall(text)} | set(_CAPITALISED.findall(without_latex(paper.abstract)))


def _tail(address: str) -> str:
    """What is left of an address, a DOI or an id behind its last divider; empty if that is too short to stand for a paper."""
    tail = re.split(r"[/=:]", address.strip().rstrip("/.,;)>]"))[-1]
    return tail if len(tail) >= 6 else ""


def _singular(name: str) -> str:
    return name[:-1] if len(name) > 2 and name[-1] == "s" and name[-2].isupper() else name


def _is_presented(acronym: str, abstract: str) -> bool:
    """Whether an acronym in brackets is the paper's own: it is used again, and first stands in a sentence that presents."""
    at = abstract.find(f"({acronym})")
    start = max(abstract.rfind(". ", 0, at), 0)
    return bool(re.search(r"\b(?:we|our|this (?:paper|work)|propos|introduc|present|novel|called|named)", abstract[start:at], re.IGNORECASE))


def without_latex(text: str) -> str:
    """Without LaTeX."""
    return _LATEX.sub("", text).replace("Δ", "Delta")


def folded(text: str) -> str:
    """Letters and digits only, in lower case."""
    return re.sub(r"[\W_]", "", without_latex(text)).lower()


def without(question: str, mentions: Iterable[Mention]) -> str:
    """The question without these names."""
    for mention in sorted(mentions, reverse=True):
        question = question[: mention.start] + " " + question[mention.end :]
    return " ".join(question.split())
