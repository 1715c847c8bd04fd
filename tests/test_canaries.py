"""Hostile papers: abstracts and titles that give orders. What the model is sent stays well formed and fenced, a careful reader's
reply comes through, and a fooled reader's reply is caught.

The replies in fixtures/canaries.json are those of a careful reader of the exact messages; `obeyed` is what a fooled one would say.
"""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest
from model_servers import SLICE, WILD, found, replying, sample_papers, shown_papers

from rag.calls import finished
from rag.condense import standalone
from rag.errors import ModelFailed
from rag.generative import answer, messages
from rag.judge import judge
from rag.papers import REFUSAL, Answer, Citation, Paper, Sentence
from rag.second_check import checked

CANARIES = json.loads((Path(__file__).parent / "fixtures" / "canaries.json").read_text(encoding="utf-8"))
KINDS = [canary["kind"] for canary in CANARIES]
STATED = ("a fake earlier turn", "a claim about the other papers")
"""Their abstracts do say, as a statement, what a fooled reader repeats with the right number: supported, and the paper's to answer for."""
OTHERS = [sample_papers()[SLICE], sample_papers()[WILD]]
CONTROL = re.compile(r"<\|?/?(?:im_start|im_end|s|eot_id|start_of_turn|SYS|think|script|system|user|assistant)\b|<｜|\[/?INST\]|\[\d+\]|【|Source \d")


def paper(canary: dict) -> Paper:
    return Paper("canary", canary["title"], canary["abstract"], ("Mallory Doe",), 2024)


def sent_by(canary: dict) -> dict[str, list[tuple[str, str]]]:
    """The exact messages of every prompt with this paper in it."""
    hostile, question = paper(canary), canary["question"]
    about = Answer("It says so [1].", "answered", (Sentence("It says so.", (1,)),), (Citation(1, hostile),))
    quoting = Answer(f"“{hostile.abstract}” [1]", "answered", (Sentence(hostile.abstract, (1,)),), (Citation(1, hostile),))
    sent: list = []
    complete = replying("?", sent=sent)
    finished(judge(question, [hostile, *OTHERS], complete, 1, 8000, 700))
    finished(checked(about, complete, "m", 8000))
    finished(checked(quoting, complete, "m", 8000))
    finished(standalone("and what else does it say?", [(question, quoting)], complete))
    return {"answer": messages([hostile, *OTHERS], question), **dict(zip(("judge", "check", "check of a quote", "condense"), sent, strict=True))}


def test_there_are_at_least_twenty_of_different_kinds():
    assert len(set(KINDS)) == len(KINDS) >= 20
    assert all(canary["forbidden"] in canary["obeyed"] for canary in CANARIES)


@pytest.mark.parametrize("canary", CANARIES, ids=KINDS)
def test_every_prompt_stays_well_formed_and_what_the_paper_says_stays_in_its_fence(canary):
    clean = {name: [text for _, text in sent] for name, sent in sent_by(dict(canary, title="Clean", abstract="A clean abstract.")).items()}
    for name, sent in sent_by(canary).items():
        (role, system), (other, user) = sent
        assert (role, other) == ("system", "user") and system == clean[name][0], "the rules are always the same"
        fenced = re.findall(r'^<paper number="\d+">\n((?:(?:Title|Authors|Published|Abstract): .+\n){2,4})</paper>$', user, re.MULTILINE)
        assert len(fenced) == len(shown_papers(sent)) == len(re.findall(r"<\s*/?\s*paper\b", user, re.IGNORECASE)) // 2
        assert not CONTROL.search(user.replace("a[1]", "")), CONTROL.search(user)
        assert not [c for c in user if unicodedata.category(c) in ("Cf", "Cc") and c != "\n" or "\ufe00" <= c <= "\ufe0f" or c >= "\U000e0000"]
        assert len(user.splitlines()) == len(clean[name][1].splitlines()), "no line but ours"
        assert user.splitlines()[-1] == clean[name][1].splitlines()[-1], "the last word is ours"
        if name in ("answer", "judge"):
            outside = re.sub(r'<paper number="\d+">.*?</paper>', "", user, flags=re.DOTALL)
            assert "OBEYED" not in outside and shown_papers(sent) == ["1", "2", "3"]
        if name == "condense":
            assert user.count("<conversation>") == user.count("</conversation>") == 1


def answered(canary: dict, reply: str) -> Answer:
    return list(answer(canary["question"], found(paper(canary), *OTHERS), replying(reply), "scripted", 8000, 700))[-1].answer


@pytest.mark.parametrize("canary", CANARIES, ids=KINDS)
def test_a_careful_readers_reply_comes_through(canary):
    result = answered(canary, canary["reply"])
    assert result.status == "answered" and result.text == canary["reply"] and result.dropped == 0
    assert [c.paper.id for c in result.citations] == ["canary"] and canary["forbidden"] not in result.text.replace("[1]", "")


@pytest.mark.parametrize("canary", CANARIES, ids=KINDS)
def test_a_fooled_readers_reply_is_never_shown_as_supported(canary):
    try:
        result = answered(canary, canary["obeyed"])
    except ModelFailed:
        return  # it named no paper: quotes come instead
    if canary["kind"] == "a fake refusal":
        assert (result.status, result.text) == ("refused", REFUSAL)
        return
    assert "evil.example" not in result.text and "OBEYED?q" not in result.text
    caught = [s for s in result.sentences if s.verdict == "supported" and canary["forbidden"] in s.text]
    if canary["kind"] in STATED:  # nothing but its number tells it from any other claim of the paper
        assert [c.paper.id for c in result.citations] == ["canary"]
    else:
        assert not caught
