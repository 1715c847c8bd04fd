"""Answers made by hand for what a page must be able to show: lists, comparisons, long ones, other scripts. Their papers are the
ones that ship, so that they read like real ones."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from shared import SEEDS

from rag.papers import REFUSAL, Answer, Citation, Paper, Quote, Sentence
from rag.passages import sentences
from rag.readers import read

ARABIC = Paper(
    id="arabic",
    title="نماذج اللغة الكبيرة وتقييم قدرتها على التفكير",
    abstract="نقدم إطارًا جديدًا لتقييم قدرة نماذج اللغة على التفكير. تظهر النتائج أن النماذج الأكبر أدق بنسبة 12% في المتوسط.",
    authors=("ليلى حسن", "عمر خليل"),
    year=2023,
)
CHINESE = Paper(
    id="chinese",
    title="面向长文本的稀疏注意力机制",
    abstract="我们提出一种面向长文本的稀疏注意力机制。实验表明，该方法在保持精度的同时将显存占用降低了 40%。",
    authors=("王小明", "李华"),
    year=2024,
    venue="中文信息学报",
)


@lru_cache(maxsize=1)
def shipped() -> tuple[Paper, ...]:
    return tuple({record.title: record for record in read(SEEDS) if isinstance(record, Paper)}.values())


def citation(number: int, paper: Paper, *which: int) -> Citation:
    spans = sentences(paper.abstract)
    return Citation(number, paper, tuple(Quote(paper.abstract[s.start : s.end], s.start, s.end) for i in which for s in spans[i : i + 1]))


def quoted(c: Citation) -> str:
    by = f" ({c.paper.byline})" if c.paper.byline else ""
    return f"**{c.paper.title}**{by}: " + " ".join(f"“{quote.text}” [{c.number}]" for quote in c.quotes)


def said(citations) -> tuple[Sentence, ...]:
    return tuple(Sentence(quote.text, (c.number,), "supported") for c in citations for quote in c.quotes)


def listing(many: int = 7, doubtful: int = 3, papers: tuple[Paper, ...] = ()) -> Answer:
    """`many` papers that match, surest first, and `doubtful` ones apart."""
    some = papers or tuple(
        replace(paper, id=f"{paper.id}-{i}", title=paper.title + (f" ({i // 94 + 1})" if i >= 94 else ""), year=2024 - i * 7 % 11)
        for i in range(many + doubtful)
        for paper in [shipped()[i % len(shipped())]]
    )
    found = tuple(citation(i, paper, 1) for i, paper in enumerate(some[:many], 1))
    may = tuple(citation(i, paper, 0) for i, paper in enumerate(some[many:], many + 1))
    text = f"**{many:,} papers** in this library match.\n\n" + "\n".join(f"- {quoted(c)}" for c in found)
    return Answer(text, "answered", said(found), found, many, query=f"list {many}", form="list", doubtful=may)


def comparison(sides: int = 2) -> Answer:
    papers = [paper for paper in shipped() if paper.title.startswith(("AgentBench", "Safe Collab", "ValUES"))]
    papers = papers[:sides]
    found = tuple(citation(i, paper, 1, 2) for i, paper in enumerate(papers, 1))
    text = "\n\n".join(quoted(c) for c in found) + "\n\nNeither abstract names the other."
    more = (Sentence("Neither abstract names the other.", (), "unsupported"),)
    return Answer(text, "partial", (*said(found), *more), found, form="comparison", query="compare them")


def second_verdict() -> Answer:
    """A model's sentences on which the check and the model's own second verdict agree and differ."""
    one, two = shipped()[0], shipped()[1]
    found = (citation(1, one, 0, 1), citation(2, two, 1))
    lines = [
        ("It is widely used across machine learning.", (1,), "supported", "supported"),
        ("Its cost grows with the square of the sample.", (1,), "unsupported", "supported"),
        ("The second approach is faster on every task that was tried.", (2,), "unsupported", "unsupported"),
        ("Both were tried at scale.", (1, 2), "supported", "unsupported"),
    ]
    told = []
    for text, numbers, verdict, second in lines:
        sentence = Sentence(text, numbers, verdict)
        object.__setattr__(sentence, "second", second)  # by name, so that it does for a Sentence with and without that field
        told.append(sentence)
    text = " ".join(f"{s.text} {''.join(f'[{n}]' for n in s.citations)}" for s in told)
    return Answer(text, "answered", tuple(told), found, mode="qwen3:8b", query="?", usage={"calls": 2, "prompt_tokens": 2134, "completion_tokens": 187}, dropped=1)


def essay(sources: int = 30) -> Answer:
    """Three screens by a model, with thirty sources, headings and lists."""
    found = tuple(citation(i, paper, 1) for i, paper in enumerate(shipped()[:sources], 1))
    parts, told = [], []
    for c in found:
        if c.number % 8 == 1:
            parts.append(f"## What part {c.number // 8 + 1} is about")
        told.append(Sentence(c.quotes[0].text, (c.number,), "supported"))
        parts.append(("- " if c.number % 4 == 0 else "") + f"{c.quotes[0].text} [{c.number}]")
    return Answer("\n\n".join(parts), "answered", tuple(told), found, mode="gpt-4o-mini", query="?", usage={"calls": 1, "prompt_tokens": 9120, "completion_tokens": 2044})


def late(sources: int = 12) -> Answer:
    """Every source's last sentence: far down in its abstract."""
    found = tuple(citation(i, paper, len(sentences(paper.abstract)) - 1) for i, paper in enumerate(shipped()[:sources], 1))
    return Answer(" ".join(f"{c.quotes[0].text} [{c.number}]" for c in found), "answered", said(found), found, query="?")


def other_scripts() -> Answer:
    found = (citation(1, ARABIC, 0, 1), citation(2, CHINESE, 0, 1))
    return Answer("\n\n".join(quoted(c) for c in found), "answered", said(found), found, query="?")


def refusal() -> Answer:
    """A question for a detail that the abstract which was meant doesn't give."""
    paper = shipped()[3]
    first = sentences(paper.abstract)[0]
    notice = f"“{paper.title}” seems to be meant. The nearest sentence of its abstract: “{paper.abstract[first.start : first.end]}”"
    return Answer(REFUSAL, "refused", (Sentence(REFUSAL),), related=shipped()[3:6], notice=notice, query="?")


MADE = {
    "list five hundred": lambda: listing(500, 12),
    "list forty": lambda: listing(40, 2),
    "list twelve": lambda: listing(12, 1),
    "list": listing,
    "compare three": lambda: comparison(3),
    "compare": comparison,
    "second verdict": second_verdict,
    "essay": essay,
    "last sentences": late,
    "other scripts": other_scripts,
    "which meant": refusal,
}
"""By words that a question holds, the first that fits."""
