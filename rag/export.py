"""Papers as references for other programs (BibTeX, RIS, a line of text), and a conversation as Markdown.

Pure: values in, text out. Never lets a character of a title, a name or an abstract act as markup of the format that it is written
in; formulas, which are LaTeX already, stay as they are where the format is LaTeX or Markdown.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Callable, Iterable, NamedTuple, Sequence

from .citations import find
from .papers import Answer, Paper

_FORMULA = re.compile(r"\$\$[^$]{1,2000}\$\$|(?<![\\$])\$(?=[^\s$])(?:[^$\\\n]|\\.){0,500}?(?<!\s)\$(?!\d)|\\\((?:[^\\\n]|\\(?![()])){1,500}?\\\)", re.DOTALL)
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~])")
_MEETING = re.compile(
    r"\b(?:proc\w*|conference|workshop|symposium|meeting|congress|findings|(?:AAAI|ACL|AISTATS|CHI|COLING|COLM|COLT|CVPR|EACL|ECCV|EMNLP|ICASSP"
    r"|ICCV|ICLR|ICML|ICRA|IJCAI|INTERSPEECH|KDD|MICCAI|NAACL|NeurIPS|NIPS|SIGIR|UAI|WSDM|WWW)\b)",
    re.IGNORECASE,
)
_SUFFIXES = {"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"}
_DULL = set("a an the on of for in to and with from by is are do does can how what why when towards toward".split())


class Exchange(NamedTuple):
    """One turn, for `markdown`. `answer` is None where there is none; `scope` says which papers were asked, empty for all."""

    question: str
    answer: Answer | None
    scope: str = ""


def bibtex(*papers: Paper) -> str:
    """An entry a paper, in order, with keys that differ (liu2024agentbench). UTF-8, as biber and today's BibTeX read it."""
    entries, used = [], set()
    for paper in papers:
        key = _unlike(_key(paper), used)
        kind = _kind(paper)
        where = {"inproceedings": "booktitle", "article": "journal"}.get(kind, "howpublished")
        fields = {
            "author": " and ".join(_bibtex_name(name) for name in paper.authors if name.strip()),
            "title": _capitals_kept(paper.title),
            where: _latex(paper.venue),
            "year": str(paper.year or ""),
            "doi": _address(paper.doi),
            "url": _address(paper.link),
            "keywords": _latex(", ".join(paper.keywords)),
            "abstract": _latex(paper.abstract),
        }
        lines = "".join(f",\n  {name} = {{{value}}}" for name, value in fields.items() if value)
        entries.append(f"@{kind}{{{key}{lines}\n}}\n")
    return "\n".join(entries)


def ris(*papers: Paper) -> str:
    """A record a paper, in order, as reference managers import them."""
    records = []
    for paper in papers:
        kind = {"inproceedings": "CPAPER", "article": "JOUR"}.get(_kind(paper), "GEN")
        rows = [("TY", kind), ("TI", paper.title)]
        rows += [("AU", ", ".join(part for part in _name(author) if part)) for author in paper.authors]
        rows += [("PY", str(paper.year or "")), ("T2", paper.venue), ("AB", paper.abstract), ("DO", paper.doi), ("UR", paper.link)]
        rows += [("KW", keyword) for keyword in paper.keywords]
        lines = [f"{tag}  - {_line(value)}\r\n" for tag, value in rows if _line(value)]
        records.append("".join(lines) + "ER  - \r\n")
    return "\r\n".join(records)


def plain(paper: Paper) -> str:
    """One line for a list of references: names, title, venue and year, address."""
    names = [_line(name) for name in paper.authors]
    who = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
    year = str(paper.year) if paper.year and str(paper.year) not in paper.venue else ""
    where = " ".join(part for part in (_line(paper.venue), year) if part)
    parts = [who, _line(paper.title) or "Untitled paper", where]
    text = " ".join(part if part[-1] in ".?!" else part + "." for part in parts if part)
    return f"{text} {paper.link}".strip()


def cited(answers: Iterable[Answer | None]) -> list[Paper]:
    """The papers that the answers cite, each once, in order of first citation."""
    return list({citation.paper.id: citation.paper for answer in answers if answer for citation in answer.citations}.values())


def markdown(title: str, turns: Sequence[Exchange]) -> str:
    """The conversation, its citations renumbered into one list of references, each with the sentences that were relied on. What is
    not backed by an abstract is named below its answer."""
    papers = cited(turn.answer for turn in turns)
    numbers = {paper.id: number for number, paper in enumerate(papers, 1)}
    parts = [f"# {_marked_down(_line(title))}"]
    for question, answer, scope in turns:
        parts.append(f"## {_marked_down(_line(question))}")
        if scope:
            parts.append(f"*Asked of: {_marked_down(_line(scope))}.*")
        parts.append(_renumbered(answer, numbers) if answer else "*No answer is kept.*")
        if answer:
            by = "" if answer.mode == "extractive" else f"Written by {answer.mode}."
            notes = [answer.notice, by, *(f"Not backed by the abstracts: “{s.text}”" for s in answer.sentences if s.verdict == "unsupported")]
            parts += [f"> {_marked_down(_line(note))}" for note in notes if note]
    if papers:
        parts.append("## References")
        parts += [_reference(paper, number, turns) for paper, number in zip(papers, range(1, len(papers) + 1))]
    return "\n\n".join(parts) + "\n"


def _reference(paper: Paper, number: int, turns: Sequence[Exchange]) -> str:
    quotes = [q for t in turns if t.answer for c in t.answer.citations if c.paper.id == paper.id for q in c.quotes]
    lines = dict.fromkeys(_line(quote.text) for quote in quotes)
    address = f" <{_address(paper.link)}>" if paper.link else ""
    text = plain(paper)
    text = _marked_down(text[: len(text) - len(paper.link)].strip() if paper.link else text)
    return f"\\[{number}\\] {text}{address}" + "".join(f"\n>\n> “{_marked_down(line)}”" if i else f"\n\n> “{_marked_down(line)}”" for i, line in enumerate(lines))


def _renumbered(answer: Answer, numbers: dict[str, int]) -> str:
    """The answer's text with the list's numbers; a bracket inside a sentence that is quoted from an abstract is no marker."""
    known = {citation.number: numbers[citation.paper.id] for citation in answer.citations}
    abstracts = [citation.paper.abstract for citation in answer.citations]
    quoted, at = [], 0
    for sentence in answer.sentences:
        start = answer.text.find(sentence.text, at) if sentence.text else -1
        if start >= 0 and any(sentence.text in abstract for abstract in abstracts):
            quoted.append((start, start + len(sentence.text)))
            at = start + len(sentence.text)
    out, at = [], 0
    for marker in find(answer.text):
        if marker.number in known and not any(start <= marker.start < end for start, end in quoted):
            out += [answer.text[at : marker.start], f"[{known[marker.number]}]"]
            at = marker.end
    return ("".join(out) + answer.text[at:]).strip()


def _kind(paper: Paper) -> str:
    if not paper.venue or re.search(r"\b(?:arxiv|biorxiv|medrxiv|ssrn|preprint)\b", paper.venue, re.IGNORECASE):
        return "misc"
    return "inproceedings" if _MEETING.search(paper.venue) else "article"


def _name(author: str) -> tuple[str, str, str]:
    """(family, given, suffix) of "Laurens van der Maaten", "King, Martin Luther, Jr." or "Martin Luther King Jr."."""
    author = _line(author)
    if "," in author:
        family, *rest = (part.strip() for part in author.split(","))
        if len(rest) > 1:
            rest.sort(key=lambda part: part.lower() in _SUFFIXES)
        return family, rest[0], ", ".join(rest[1:])
    words = author.split()
    suffix = words.pop() if len(words) > 2 and words[-1].lower() in _SUFFIXES else ""
    if len(words) < 2:
        return author, "", ""
    first = next((i for i, word in enumerate(words[1:-1], 1) if word[0].islower()), len(words) - 1)
    return " ".join(words[first:]), " ".join(words[:first]), suffix


def _bibtex_name(author: str) -> str:
    family, given, suffix = _name(author)
    if not given:  # one word, or a group: braces keep it whole
        return "{" + _latex(family) + "}"
    return ", ".join(_joined(part) for part in (family, suffix, given) if part)


def _joined(part: str) -> str:
    """A part of a name; "and" inside it would begin another author."""
    return "{" + _latex(part) + "}" if re.search(r"\band\b", part, re.IGNORECASE) else _latex(part)


def _key(paper: Paper) -> str:
    family = _name(paper.authors[0])[0] if paper.authors else ""
    words = [word for word in re.findall(r"[^\W_]+", _FORMULA.sub(" ", paper.title)) if word.lower() not in _DULL]
    return "".join(_ascii(part) for part in (family, str(paper.year or ""), words[0] if words else "")) or "paper"


def _unlike(key: str, used: set[str]) -> str:
    candidates = (key, *(key + letter for letter in "bcdefghijklmnopqrstuvwxyz"))
    found = next((c for c in candidates if c not in used), None) or f"{key}{len(used) + 1}x"
    used.add(found)
    return found


def _ascii(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower())


def _capitals_kept(title: str) -> str:
    """Braces around each word that has a capital past its first letter: BibTeX styles would write Agentbench."""
    return _outside_formulas(title, lambda text: " ".join(
        f"{{{word}}}" if any(c.isupper() for c in raw[1:]) else word for raw in text.split(" ") for word in [_escaped(raw)]
    ))  # fmt: skip


def _latex(text: str) -> str:
    return _outside_formulas(text, _escaped)


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _marked_down(text: str) -> str:
    return _outside_formulas(text, lambda part: _MARKDOWN.sub(r"\\\1", part), line=False)


def _outside_formulas(text: str, change: Callable[[str], str], line: bool = True) -> str:
    """`change` applied to everything but formulas. One with braces that don't match is text: it would swallow what follows."""
    text = _line(text) if line else text
    out, at = [], 0
    for match in _FORMULA.finditer(text):
        if not _balanced(match[0]):
            continue
        out += [change(text[at : match.start()]), match[0]]
        at = match.end()
    return "".join(out) + change(text[at:])


def _balanced(tex: str) -> bool:
    depth = 0
    for character in tex:  # BibTeX counts an escaped brace, too
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0


def _address(address: str) -> str:
    """For a field that is read verbatim: what would end it, percent-encoded."""
    return re.sub(r"[{}\\<>\s]", lambda m: f"%{ord(m[0]):02X}" if ord(m[0]) < 256 else "", _line(address))


def _line(text: str) -> str:
    """On one line, without control characters."""
    return " ".join(re.sub(r"[\x00-\x1f\x7f\u2028\u2029\ud800-\udfff]", " ", text).split())
