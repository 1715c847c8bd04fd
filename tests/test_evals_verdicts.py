"""The labelled sentences behind the trust in a verdict: what the file holds, and figures that can be computed by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from evals import questions, verdicts
from evals.stats import balanced_accuracy
from evals.verdicts import VerdictError
from rag.__main__ import main

PAIRS = verdicts.load()


def test_there_are_enough_pairs_of_every_kind_in_both_halves():
    counts = Counter((pair.half, pair.kind) for pair in PAIRS)
    assert len(PAIRS) >= 200 and min(counts[half, kind] for half in questions.HALVES for kind in verdicts.KINDS) >= 7
    assert sum(pair.supported for pair in PAIRS) >= 90 and sum(not pair.supported for pair in PAIRS) >= 150


def test_no_pair_is_there_twice_and_none_is_a_copy_of_its_abstract():
    assert len({pair.id for pair in PAIRS}) == len({pair.sentence for pair in PAIRS}) == len(PAIRS)
    assert not [pair.id for pair in PAIRS if pair.sentence in pair.paper.abstract]


def test_a_paper_is_in_the_half_that_the_questions_have_it_in():
    halves: dict[str, set[str]] = {}
    for question in questions.load(questions.SEEDS):
        if question.cluster != question.id:
            halves.setdefault(question.cluster, set()).add(question.half)
    assert not [pair.id for pair in PAIRS if halves.get(pair.paper.id, {pair.half}) != {pair.half}]


def test_figures_by_hand():
    pairs = [pair for pair in PAIRS if pair.half == "tuning"]
    numbers = sum(pair.kind == "number" for pair in pairs)
    found = verdicts.measure(pairs, lambda sentence, papers: "19" in sentence or "DiffCSP++" in sentence)
    half = found["halves"]["tuning"]
    assert set(found["halves"]) == {"tuning"} and half["pairs"] == len(pairs)
    assert half["kinds"]["number"]["n"] == numbers and half["kinds"]["faithful"]["said"] == 3
    everything = verdicts.measure(pairs, lambda sentence, papers: True)["halves"]["tuning"]
    assert everything["balanced_accuracy"]["value"] == 0.5 and everything["kinds"]["number"]["said"] == numbers
    assert any("balanced accuracy 0.500" in line for line in verdicts.lines(verdicts.measure(pairs, lambda sentence, papers: True)))


def test_balanced_accuracy_weighs_both_labels_alike():
    found = balanced_accuracy([True, True, False, False, False, False], [True, False, False, False, False, True], list("aabbcc"))
    assert found.value == pytest.approx((1 / 2 + 3 / 4) / 2) and found.low <= found.value <= found.high and found.n == 6
    assert balanced_accuracy([True, True], [True, False], ["a", "b"]) is None


@pytest.mark.parametrize(
    "line", ["{", "{}", '{"id": "x"}', json.dumps({"id": "x", "half": "tuning", "kind": "number", "paper": "nowhere", "sentence": "x", "label": "unsupported"})]
)
def test_a_line_that_is_no_pair_is_named(tmp_path: Path, line: str):
    good = verdicts.PAIRS.read_text().splitlines()[0]
    (tmp_path / "pairs.jsonl").write_text(f"{good}\n{line}\n")
    with pytest.raises(VerdictError, match="line 2"):
        verdicts.load(tmp_path / "pairs.jsonl")
    (tmp_path / "pairs.jsonl").write_text(good.replace('"supported"', '"unsupported"'))
    with pytest.raises(VerdictError, match="don't go together"):
        verdicts.load(tmp_path / "pairs.jsonl")


def test_the_command_prints_both_halves_and_says_what_it_needs(capsys: pytest.CaptureFixture[str]):
    assert main(["eval", "verdicts"]) == 0
    told = capsys.readouterr().out
    assert "tuning: " in told and "reporting: " in told and "swapped subjects" in told and "ms of the processor" in told
    assert main(["eval", "verdicts", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["halves"]["reporting"]["pairs"] == sum(p.half == "reporting" for p in PAIRS)
    assert main(["eval", "verdicts", "--sentences"]) == 2 and "--scifact" in capsys.readouterr().err


def test_the_verdict_is_as_good_as_the_documentation_says():
    reporting = verdicts.measure()["halves"]["reporting"]
    assert reporting["balanced_accuracy"]["value"] >= 0.9
    assert reporting["kinds"]["number"]["said"] <= reporting["kinds"]["number"]["n"] / 20
