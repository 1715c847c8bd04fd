"""Kept replies of a careful reader to the exact messages of the prompts that judge, check and condense: in the form that is asked
for, read as they were meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from model_servers import replying, sample_papers, shown_papers

from rag.calls import finished
from rag.condense import standalone
from rag.judge import judge
from rag.papers import Answer, Citation, Sentence
from rag.second_check import checked

PAPERS = sample_papers()


def kept(name: str) -> list[dict]:
    return json.loads((Path(__file__).parent / "fixtures" / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", kept("judged.json"), ids=lambda case: case["question"])
def test_papers_are_judged(case):
    sent: list = []
    papers = [PAPERS[i] for i in case["papers"]]
    result = finished(judge(case["question"], papers, replying(*case["reply"], sent=sent), 1, 12000, 700))
    assert len(shown_papers(sent[0])) == len(papers) and result.calls == 1
    assert [result.matches[p.id] for p in papers] == ["yes" in line for line in case["reply"].splitlines()]


@pytest.mark.parametrize("case", kept("checked.json"))
def test_sentences_are_checked_swaps_and_wrong_papers_included(case):
    sentences = tuple(Sentence(text, tuple(numbers), "supported") for text, numbers, _ in case["sentences"])
    answer = Answer("…", "answered", sentences, tuple(Citation(n, PAPERS[i]) for n, i in enumerate(case["papers"], 1)))
    result = finished(checked(answer, replying(*case["reply"]), "m", 8000))
    assert [s.second == "supported" for s in result.sentences] == [true for _, _, true in case["sentences"]]


@pytest.mark.parametrize("case", kept("condensed.json"), ids=lambda case: case["question"])
def test_follow_ups_are_put_in_full(case):
    sent: list = []
    turns = [(q, Answer(text, "answered", citations=tuple(Citation(n, PAPERS[i]) for n, i in enumerate(ids, 1)))) for q, text, ids in case["turns"]]
    put = finished(standalone(case["question"], turns, replying(*case["reply"], sent=sent), "by rules"))
    assert put == case["reply"] and len(sent) == 1
    assert all(PAPERS[i].title.split(":")[0] in sent[0][1][1] for *_, ids in case["turns"] for i in ids if i != "hostile")
