"""BEIR folders: what is read, what is refused, and figures that can be computed by hand on a tiny one."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from shared import WordEmbedder, write_jsonl

from evals import beir
from evals.beir import BeirError

DOCUMENTS = [
    {"_id": "1", "title": "Ants", "text": "Ants carry leaves. The queen rests.", "metadata": {}},
    {"_id": "2", "title": "Bees", "text": "Bees carry pollen. The queen dances."},
    {"_id": "3", "title": "", "text": "Moths circle a lamp at night."},
]
QUERIES = [{"_id": "q1", "text": "who carries pollen"}, {"_id": "q2", "text": "moths lamp"}, {"_id": "q3", "text": "unjudged"}]
QRELS = "query-id\tcorpus-id\tscore\nq1\t2\t1\nq2\t3\t1\nq2\t9\t1\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    (folder / "qrels").mkdir(parents=True)
    write_jsonl(folder / "corpus.jsonl", DOCUMENTS)
    write_jsonl(folder / "queries.jsonl", QUERIES)
    (folder / "qrels" / "test.tsv").write_text(QRELS)
    return folder


def test_only_judged_queries_are_read(data: Path):
    read = beir.load(data)
    assert (read.name, len(read.papers), read.queries) == ("tiny", 3, {"q1": "who carries pollen", "q2": "moths lamp"})
    assert read.qrels == {"q1": {"2": 1}, "q2": {"3": 1, "9": 1}}


def test_every_method_is_measured(data: Path):
    found = beir.measure(data, embedder=WordEmbedder())
    assert (found["documents"], found["queries"], found["embedder"]) == (3, 2, "words")
    assert set(found["methods"]) == {*beir.PARTS.values(), beir.FUSED}
    # document 9 is judged and not there: of two, one is found, first
    ideal = 1 / math.log2(2) + 1 / math.log2(3)
    for name in (beir.PARTS["BM25"], beir.FUSED):
        assert found["methods"][name]["ndcg_10"]["value"] == pytest.approx((1 + 1 / ideal) / 2, abs=1e-6)
        assert found["methods"][name]["recall_100"]["value"] == pytest.approx(0.75) and found["methods"][name]["recall_100"]["n"] == 2
    text = "\n".join(beir.lines(found))
    assert "tiny, test: 3 documents, 2 queries" in text and "n = 2" in text and "BM25" in text


def test_bm25_ranks_by_words_alone(data: Path):
    write_jsonl(data / "corpus.jsonl", [*DOCUMENTS, {"_id": "4", "title": "Pollen", "text": "Pollen pollen pollen."}])
    found = beir.measure(data, embedder=WordEmbedder())
    # "who" is a stop word; document 4 holds pollen four times, document 2 holds carry and pollen once each
    assert found["methods"][beir.PARTS["BM25"]]["recall_100"]["value"] == pytest.approx(0.75)


def test_a_library_can_be_kept_and_used_again(data: Path, tmp_path: Path):
    embedder = WordEmbedder()
    first = beir.measure(data, embedder=embedder, place=tmp_path / "kept")
    embedder.embedded.clear()
    second = beir.measure(data, embedder=embedder, place=tmp_path / "kept")
    assert first["methods"] == second["methods"] and len(embedder.embedded) == 2 * 2  # queries only


def test_a_document_that_is_left_out_is_told(data: Path):
    write_jsonl(data / "corpus.jsonl", [*DOCUMENTS, {"_id": "5", "title": "Empty", "text": ""}])
    found = beir.measure(data, embedder=WordEmbedder())
    assert found["left_out"] == 1 and any("1 documents were left out" in line for line in beir.lines(found))


@pytest.mark.parametrize(
    "name, content, says",
    [
        ("corpus.jsonl", None, "Is this the folder of a BEIR data set?"),
        ("corpus.jsonl", "{\n", "line 1: not JSON"),
        ("corpus.jsonl", '{"_id": "1"}\n', "line 1: a record needs"),
        ("queries.jsonl", '{"_id": "q1", "text": "x"}\n', "lacks the query 'q2'"),
        ("qrels/test.tsv", None, "qrels/SPLIT.tsv"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n", "holds no judgements"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1 2 1\n", "line 2: expected query, document and grade"),
    ],
)
def test_what_is_not_beir_is_named(data: Path, name: str, content: str | None, says: str):
    if content is None:
        (data / name).unlink()
    else:
        (data / name).write_text(content)
    with pytest.raises(BeirError) as caught:
        beir.load(data)
    assert says in str(caught.value)
