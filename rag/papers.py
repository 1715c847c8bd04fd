"""The nouns of the product: frozen values that every other module speaks in.

Pure: imports no vendor library, reads no file, knows no index. Identity, storage and search are other modules' concerns.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field, replace
from typing import Any

REFUSAL = "The abstracts in this library don't answer that."
"""The one sentence that every refusal says, whatever the mode or the turn."""


@dataclass(frozen=True)
class Paper:
    """One record. `abstract` is kept character for character; `source` says which file and place it came from."""

    id: str
    title: str
    abstract: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    url: str = ""
    doi: str = ""
    keywords: tuple[str, ...] = ()
    source: str = ""

    @property
    def link(self) -> str:
        """An http(s) address for the paper: its url, else its DOI's resolver, else empty."""
        if self.url.lower().startswith(("https://", "http://")):
            return self.url
        return f"https://doi.org/{self.doi}" if self.doi else ""

    @property
    def byline(self) -> str:
        """Authors, venue and year on one line: 'Xiao Liu, Hao Yu et al., ICLR 2024'. Parts not known are left out."""
        names = list(self.authors)
        who = ", ".join(names) if len(names) <= 3 else f"{names[0]}, {names[1]} et al."
        year = str(self.year) if self.year and str(self.year) not in self.venue else ""
        where = " ".join(part for part in (self.venue, year) if part)
        return ", ".join(part for part in (who, where) if part)


@dataclass(frozen=True)
class Passage:
    """A run of whole sentences: `paper.abstract[start:end] == text`. Offsets count characters, end excluded."""

    id: str
    paper_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Hit:
    """A paper found for a query. `score` is the fused score (higher is better, about 0 to 1); `dense` and `lexical` are
    its two parts: cosine similarity, and BM25 divided by the best BM25 of this query. `passages`: best first."""

    paper: Paper
    score: float
    dense: float = 0.0
    lexical: float = 0.0
    passages: tuple[Passage, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        scores = {name: round(getattr(self, name), 4) for name in ("score", "dense", "lexical")}
        return {"paper": paper_to_dict(self.paper), **scores, "passages": [asdict(p) for p in self.passages]}


@dataclass(frozen=True)
class Quote:
    """An exact span of one abstract: `paper.abstract[start:end] == text`."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Citation:
    """A number in the answer's text, the paper that it stands for, and the spans of its abstract that are relied on."""

    number: int
    paper: Paper
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True)
class Sentence:
    """A sentence of the answer without its markers; `verdict` is "supported", "unsupported" or "unchecked". `second` is what a
    model said when it was asked to check, "supported" or "unsupported"; empty if it wasn't, or said nothing clear."""

    text: str
    citations: tuple[int, ...] = ()
    verdict: str = "unchecked"
    second: str = ""


@dataclass(frozen=True)
class Answer:
    """What came back. `status`: "answered" | "partial" | "refused" | "chat". `text` is Markdown with [1]-style markers.

    `count` is the number of matching papers for a which / list / how-many question, else None. `mode` is "extractive" or
    the model's name. `query` is the standalone query that was searched. `related` are near papers that the answer does not
    rely on. `notice` is a sentence about how the answer came to be (a model failed, say), else empty. `timings` are seconds.
    `form` tells how it is meant to be laid out: "prose"; "list" (each citation is a matching paper, surest first); or
    "comparison" (each citation is a side). `doubtful` are papers that may match a list's criterion, each with the sentence
    that comes nearest, numbered on after the citations; they are neither counted nor cited. `usage` counts what a model was
    asked for: "calls", and "prompt_tokens" and "completion_tokens" as far as it told. `dropped` is how many markers of the
    model's stood for no paper and were left out. `answerability`: how likely it is, 0 to 1, that the abstracts answer; below one
    half an answer without a model refuses. None where that was not judged.
    """

    text: str
    status: str
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    count: int | None = None
    mode: str = "extractive"
    query: str = ""
    related: tuple[Paper, ...] = ()
    notice: str = ""
    timings: dict[str, float] = field(default_factory=dict)
    form: str = "prose"
    doubtful: tuple[Citation, ...] = ()
    usage: dict[str, int] = field(default_factory=dict)
    dropped: int = 0
    answerability: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain, JSON-ready data; what `askpapers ask --json` prints."""
        return {
            "text": self.text,
            "status": self.status,
            "sentences": [asdict(s) | {"citations": list(s.citations)} for s in self.sentences],
            "citations": [_citation_to_dict(c) for c in self.citations],
            "count": self.count,
            "mode": self.mode,
            "query": self.query,
            "related": [paper_to_dict(p) for p in self.related],
            "notice": self.notice,
            "timings": {stage: round(seconds, 4) for stage, seconds in self.timings.items()},
            "form": self.form,
            "doubtful": [_citation_to_dict(c) for c in self.doubtful],
            "usage": dict(self.usage),
            "dropped": self.dropped,
            "answerability": None if self.answerability is None else round(self.answerability, 4),
        }


@dataclass(frozen=True)
class Event:
    """A piece of a streamed answer. `kind`: "stage" (what is going on, in `text`), "text" (more of the answer's text), or
    "answer" (the last: `answer` is the whole Answer, whose text replaces what was streamed)."""

    kind: str
    text: str = ""
    answer: Answer | None = None


@dataclass(frozen=True)
class Rejected:
    """A record that did not go in: `where` names file and place, `why` says what to do about it."""

    where: str
    why: str


@dataclass(frozen=True)
class AddReport:
    """What `Library.add` did. The first three hold paper ids; `rejected` holds (where, why) pairs; `notes` are lines on
    records that went in, but not quite as they stood in the file."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    rejected: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "added": list(self.added),
            "updated": list(self.updated),
            "unchanged": list(self.unchanged),
            "rejected": [{"where": where, "why": why} for where, why in self.rejected],
            "notes": list(self.notes),
        }


def paper_to_dict(paper: Paper) -> dict[str, Any]:
    """JSON-ready, with lists for tuples."""
    return asdict(replace(paper)) | {"authors": list(paper.authors), "keywords": list(paper.keywords)}


def _citation_to_dict(citation: Citation) -> dict[str, Any]:
    return {"number": citation.number, "paper": paper_to_dict(citation.paper), "quotes": [asdict(q) for q in citation.quotes]}


def as_text(text: str) -> str:
    """`text` with a "?" for every half of a surrogate pair: Python's stand-ins for bytes that are no characters."""
    return text.encode(errors="replace").decode()


def fold(text: str) -> str:
    """Letters and digits only, lower case, single spaces: for telling whether two titles or texts are the same."""
    return " ".join(re.findall(r"\w+", text.lower()))
