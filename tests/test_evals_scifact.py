"""SciFact's folder: what is read, what is refused, and figures that can be computed by hand on a tiny one."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared import WordEmbedder, write_jsonl

from evals import scifact
from evals.scifact import SciFactError
from rag.__main__ import main
from rag.papers import Paper
from rag.passages import Span

CORPUS = [
    {"doc_id": 1, "title": "Ants", "abstract": ["Background on beetles.", "Ants carry green leaves.", "The queen rests all day.", "Rain falls.", "Moss grows."]},
    {"doc_id": 2, "title": "Bees", "abstract": ["Bees dance. They hum.", "Pollen is yellow."]},
]
DEV = [
    {"id": 1, "claim": "Ants carry green leaves.", "evidence": {"1": [{"sentences": [1], "label": "SUPPORT"}]}, "cited_doc_ids": [1, 2]},
    {"id": 2, "claim": "The queen never rests.", "evidence": {"1": [{"sentences": [2], "label": "CONTRADICT"}]}, "cited_doc_ids": [1]},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "scifact" / "original"
    folder.mkdir(parents=True)
    write_jsonl(folder / "corpus.jsonl", CORPUS)
    for split in ("train", "dev"):
        write_jsonl(folder / f"claims_{split}.jsonl", DEV)
    return folder.parent


def test_a_claim_counts_once_for_each_abstract_that_it_cites(data: Path):
    claims = scifact.load(data, "dev")
    assert [(c.paper.id, c.label) for c in claims] == [("1", "SUPPORT"), ("2", "NEI"), ("1", "CONTRADICT")]
    assert [c.paper.abstract[s.start : s.end] for c in claims for s in c.rationale] == ["Ants carry green leaves.", "The queen rests all day."]
    assert scifact.load(data / "original", "dev") == claims


def test_the_verdict_is_measured_beside_two_that_see_less(data: Path):
    found = scifact.measure(data, embedder=WordEmbedder())
    ours = found["methods"][scifact.OURS]
    assert found["claims"] == 3 and ours["balanced_accuracy"]["value"] == 1 and ours["threshold"] is None
    assert {label: counted["said"] for label, counted in ours["labels"].items()} == {"SUPPORT": 1, "CONTRADICT": 0, "NEI": 0}
    assert found["methods"][scifact.WORDS]["threshold"] == pytest.approx(1.0)
    text = "\n".join(scifact.lines(found))
    assert "3 pairs" in text and scifact.EMBEDDING in text and "CONTRADICT" in text


def test_a_threshold_is_the_one_that_parts_best():
    assert scifact.threshold([0.1, 0.4, 0.6, 0.9], [False, False, True, True]) == 0.6
    assert scifact.threshold([0.5, 0.5], [True, False]) == 0.5


def test_chosen_sentences_are_held_against_the_rationale(data: Path):
    found = scifact.measure_sentences(data, embedder=WordEmbedder())
    assert found["claims"] == 2 and set(found["methods"]) == {scifact.QUOTED, scifact.BM25, scifact.COSINE}
    assert found["methods"][scifact.BM25]["recall"]["value"] == 1
    assert any("f1" in line for line in scifact.sentence_lines(found))


def test_precision_recall_and_f1_by_hand():
    claim = scifact.Claim("x", Paper("1", "", "a" * 40), "SUPPORT", (Span(0, 10), Span(20, 30)))
    found = scifact._agreement([claim], [[Span(0, 10), Span(30, 40), Span(10, 20)]])
    assert (found["precision"]["value"], found["recall"]["value"], found["f1"]["value"]) == (pytest.approx(1 / 3), 0.5, pytest.approx(0.4))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [("corpus.jsonl", None, "Is this SciFact's folder"), ("claims_dev.jsonl", "{\n", "line 1: not JSON"), ("claims_dev.jsonl", '{"id": 1}\n', "lacks 'cited_doc_ids'")],
)
def test_what_is_not_scifact_is_named(data: Path, name: str, content: str | None, says: str, capsys: pytest.CaptureFixture[str]):
    path = data / "original" / name
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(SciFactError, match=says):
        scifact.load(data, "dev")
    assert main(["eval", "verdicts", "--scifact", str(data), "--sentences"]) == 2
    assert says in " ".join(capsys.readouterr().err.split())
