"""Does an answer say what its papers say, letter for letter: quotes, numbers, names, citations that exist.

Pure, and needs no model. What passes may still be wrong: a turned negation, a swapped subject (support.py sees some of these), or a true
sentence that answers another question. Functions take a turn and an answer record (see metrics.py) and return None where there is nothing to check.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Iterable, Mapping

from rag import citations
from rag.papers import REFUSAL

from .questions import Turn

Record = Mapping[str, Any]
"""`Answer.to_dict()` with "retrieved" [[paper id, score], …], "answerability", "seconds", and "known" {id: paper as the library holds it};
without "known", the papers are taken as the answer has them."""

_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
_QUOTES = {ord(a): b for a, b in {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "`": "'"}.items()}
_QUOTED = re.compile(r"“([^“”]+)”")
_SPELLED = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
)
_NUMBER_WORDS = {word: str(value) for value, word in enumerate(_SPELLED.split(), 2)}
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|(?<![\w)])\.\d+")
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)
_NAME = re.compile(r"(?<![\w$\\])(?:[A-Z]{2,}[\w-]*|[A-Z][a-z]+[A-Z]\w*|[A-Za-z]+-?\d[\w-]*)(?!\w)")
_META = re.compile(
    r"^\W*(?:here (?:is|are)\b.*|(?:i|we) found \d+ .*|(?:in )?(?:summary|short|conclusion)\W*|sources?\W*|"
    r"\d+ papers? (?:match|in|of)\b.*|.*:)\W*$",
    re.IGNORECASE,
)


def fold(text: str) -> str:
    """For comparing texts: NFKC, dashes and quotation marks made alike, runs of white space to one blank. Case stays."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(_DASHES).translate(_QUOTES).split())


def answered(record: Record) -> bool:
    """Whether it makes claims: neither a refusal, nor small talk, nor an error."""
    return record["status"] in ("answered", "partial")


def claims(record: Record) -> list[dict[str, Any]]:
    """The sentences that need a source: not the refusal, not a question, not a heading or an announcement ("Here are three papers:").
    After CiteEval (arXiv 2506.01829), which leaves out the sentences that need no citation."""
    return [s for s in record["sentences"] if s["text"] != REFUSAL and not s["text"].rstrip().endswith("?") and not _META.match(s["text"])]


def papers_of(record: Record, numbers: Iterable[int] | None = None) -> list[dict[str, Any]]:
    """The cited papers (all, or those of these citation numbers) as the library holds them; unknown ones are left out."""
    known = record.get("known")
    found = []
    for citation in record["citations"]:
        if numbers is None or citation["number"] in numbers:
            paper = citation["paper"] if known is None else known.get(citation["paper"]["id"])
            if paper:
                found.append(paper)
    return found


def phantom_citations(turn: Turn, record: Record) -> float | None:
    """How many citations lead nowhere: a paper that the library doesn't hold, or a number (of a sentence, or a marker in the text outside
    of quotations) without a citation. Applies to every answer. Source: TREC RAG's and ALCE's out-of-range citations, counted apart."""
    known = record.get("known")
    numbers = {c["number"] for c in record["citations"]}
    missing = {c["paper"]["id"] for c in record["citations"] if known is not None and c["paper"]["id"] not in known}
    own = record["text"]
    for text in [q["text"] for c in record["citations"] for q in c["quotes"]] + [c["paper"]["title"] for c in record["citations"]]:
        own = own.replace(text, "")
    told = {n for s in record["sentences"] for n in s["citations"]} | {m.number for m in citations.find(own)}
    return float(len(missing) + len(told - numbers))


def quote_fidelity(turn: Turn, record: Record) -> float | None:
    """Share of quotations that are exact. A Quote must be that very span of the abstract as stored, to the character; a passage between
    “ ” in the text must stand in a cited abstract or title, or in the question, after `fold`. Applies to answers with a quotation."""
    good = total = 0
    for citation in record["citations"]:
        abstract = next((p["abstract"] for p in papers_of(record, [citation["number"]])), "")
        for quote in citation["quotes"]:
            total += 1
            good += abstract[quote["start"] : quote["end"]] == quote["text"] != ""
    if answered(record):
        told = fold(" ".join([turn.question, *(f"{p['title']} {p['abstract']}" for p in papers_of(record))]))
        for passage in _QUOTED.findall(record["text"]):
            total += 1
            good += fold(passage) in told
    return good / total if total else None


def numbers(text: str) -> list[str]:
    """The numbers of a text in one form: 2,294 → 2294, 0.50 → 0.5, twelve → 12; `$1.2\\times$` gives 1.2. A sign is dropped, and so are
    "one" and "zero", which are seldom meant as numbers."""
    text = unicodedata.normalize("NFKC", text.replace("{,}", ","))
    spelled = [_NUMBER_WORDS[word.lower()] for word in _NUMBER_WORD.findall(text)]
    return [_plain(match.group()) for match in _NUMBER.finditer(text)] + spelled


def _plain(number: str) -> str:
    whole, point, part = number.replace(",", "").partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if part else "")


def unbacked_numbers(turn: Turn, record: Record) -> float | None:
    """How many numbers of its claims are in none of the abstracts, titles, authors, venues and years that the sentence cites (all cited
    papers, if it cites none). 85 % for 0.85 counts as unbacked. Applies to answers whose claims hold a number. Source: reference, number
    fidelity; the total of a list question is not counted here but by `count_exact`."""
    total = unbacked = 0
    for sentence in claims(record) if answered(record) else ():
        papers = papers_of(record, sentence["citations"] or None)
        backed = {n for paper in papers for n in numbers(_told(paper))}
        backed |= {str(record["count"])} if record.get("count") is not None else set()
        found = numbers(sentence["text"])
        total += len(found)
        unbacked += sum(n not in backed for n in found)
    return float(unbacked) if total else None


def name_fidelity(turn: Turn, record: Record) -> float | None:
    """Share of the names in its claims (acronyms, CamelCase, words with digits) that stand in a cited paper or in the question. Applies to
    answers whose claims hold a name."""
    total = good = 0
    for sentence in claims(record) if answered(record) else ():
        told = fold(" ".join([turn.question, *map(_told, papers_of(record, sentence["citations"] or None))])).lower()
        found = _NAME.findall(fold(sentence["text"]))
        total += len(found)
        good += sum(name.lower() in told for name in found)
    return good / total if total else None


def _told(paper: Mapping[str, Any]) -> str:
    return f"{paper['title']} {paper['abstract']} {' '.join(paper['authors'])} {paper['venue']} {paper['year'] or ''}"
