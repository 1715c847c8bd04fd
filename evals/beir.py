"""Retrieval on a BEIR data set (corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv): words alone, vectors alone, and our sum of both.

Format and measures of Thakur et al. 2021 (arXiv 2104.08663): nDCG@10 and R@100. Everything is asked of the library's own
indexes. Judges documents as wholes; no answer is made. Never changes the folder of the data set.
"""

from __future__ import annotations

import csv
import json
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, NamedTuple

from rag import Library, Settings, lexical
from rag.errors import AskPapersError
from rag.generations import Generation
from rag.papers import Paper
from rag.store import Store

from . import retrieval
from .stats import mean_interval, paired_difference, paired_permutation

DEPTH = 100
NEIGHBOURS = 600
"""Passages asked of Chroma for the vectors alone: more than a hundred papers' worth."""
MEASURES = {"ndcg_10": retrieval.ndcg, "recall_100": lambda grades, found: retrieval.recall(grades, found, DEPTH)}
FUSED = "words and vectors (Ask Papers)"
PARTS = {"BM25": "words alone, BM25", "whole": "vectors alone, whole abstract", "dense": "vectors alone, whole abstract and best passage"}


class BeirError(AskPapersError):
    """The folder is not a BEIR data set; the text names the file and the line."""


class Dataset(NamedTuple):
    """`queries`: id → text, of the judged ones; `qrels`: query → document → grade, as in the file."""

    name: str
    papers: list[Paper]
    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]


def load(folder: str | Path, split: str = "test") -> Dataset:
    """Raises BeirError."""
    folder = Path(folder)
    documents = _records(folder / "corpus.jsonl", "text")
    papers = [Paper(str(d["_id"]), (d.get("title") or "").strip(), d["text"], source="corpus.jsonl") for d in documents]
    qrels = _qrels(folder / "qrels" / f"{split}.tsv")
    texts = {str(q["_id"]): q["text"] for q in _records(folder / "queries.jsonl", "text")}
    unknown = [query for query in qrels if query not in texts]
    if unknown:
        raise BeirError(f"{folder / 'queries.jsonl'} lacks the query '{unknown[0]}', which is judged in qrels/{split}.tsv.")
    return Dataset(folder.name, papers, {query: texts[query] for query in qrels}, qrels)


def measure(
    folder: str | Path,
    split: str = "test",
    settings: Settings | None = None,
    embedder: Any = None,
    place: str | Path | None = None,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> dict[str, Any]:
    """Every method on one split. `place`: a folder for the library, kept and used again; without it a temporary one.

    {"schema", "dataset", "split", "documents", "left_out": documents that the library did not take, "queries", "embedder", "methods":
    {name: {measure: {"value", "low", "high", "n"}}}, "gains": {part: {measure: {"value", "low", "high", "n", "p"}}} of our sum over each part,
    "seconds": {"indexing", "a_search"}}. Raises BeirError, and what Library raises.
    """
    data = load(folder, split)
    started = time.perf_counter()
    with _library(data, settings or Settings(), embedder, place, progress) as library:
        indexing = time.perf_counter() - started
        runs: dict[str, dict[str, list[str]]] = {name: {} for name in (*PARTS.values(), FUSED)}
        searching = 0.0
        for done, (query, text) in enumerate(data.queries.items()):
            progress("Searching", done, len(data.queries))
            for name, found in _parts(text, library).items():
                runs[name][query] = found
            began = time.perf_counter()
            runs[FUSED][query] = [found.hit.paper.id for found in library.find(text, DEPTH)]
            searching += time.perf_counter() - began
        values = {
            name: {key: {query: measured(data.qrels[query], found) for query, found in run.items()} for key, measured in MEASURES.items()}
            for name, run in runs.items()
        }
        return {
            "schema": 1, "dataset": data.name, "split": split, "documents": len(data.papers), "left_out": len(data.papers) - len(library),
            "queries": len(data.queries), "embedder": library.index.embedder.fingerprint,
            "methods": {name: {key: _figure(values[name][key]) for key in MEASURES} for name in runs},
            "gains": {name: {key: _gain(values[name][key], values[FUSED][key]) for key in MEASURES} for name in PARTS.values()},
            "seconds": {"indexing": round(indexing, 1), "a_search": round(searching / max(1, len(data.queries)), 4)},
        }  # fmt: skip


def lines(found: Mapping[str, Any]) -> list[str]:
    """A measurement as text, for a terminal."""
    told = [f"{found['dataset']}, {found['split']}: {found['documents']:,} documents, {found['queries']:,} queries, {found['embedder']}"]
    if found["left_out"]:
        told.append(f"{found['left_out']} documents were left out: empty, or the same as another one; if judged, they count as not found.")
    told.append(f"{'':48}{'nDCG@10':>24}{'R@100':>24}")
    for name, figures in found["methods"].items():
        cells = (f"{f['value']:.3f} ({f['low']:.3f} to {f['high']:.3f})" for f in (figures[key] for key in MEASURES))
        told.append(f"{name:48}" + "".join(f"{cell:>24}" for cell in cells))
    for name, gains in found["gains"].items():
        gain = gains["ndcg_10"]
        interval = f"{gain['value']:+.3f} ({gain['low']:+.3f} to {gain['high']:+.3f})"
        told.append(f"over {name}: nDCG@10 {interval}, p {gain['p']:.4f}, n = {gain['n']}")
    return told


def _parts(text: str, library: Library) -> dict[str, list[str]]:
    """The rankings of BM25, of whole abstracts, and of whole abstract and best passage, each at most DEPTH long."""
    generation = library.index.current()
    vector = library.index.embedder.embed([text])[0]
    neighbours = generation.vectors.search(vector, min(NEIGHBOURS, generation.manifest.passages))
    stamps = list(dict.fromkeys(n.passage_id.rpartition("-")[0] for n in neighbours))
    block = library.store.vectors(stamps, generation.manifest.fingerprint)
    whole, both = {}, {}
    for stamp, count, first in zip(block.stamps, block.passages, block.edges):
        cosines = block.matrix[first : first + count] @ vector
        whole[stamp] = float(cosines[0])
        both[stamp] = float(cosines[0] + cosines[min(1, count - 1) :].max()) / 2
    orders = {"BM25": _bm25(text, generation), "whole": _best(whole), "dense": _best(both)}
    return {PARTS[key]: _ids(stamps, library.store) for key, stamps in orders.items()}


def _bm25(text: str, generation: Generation) -> list[str]:
    """Stamps by Tantivy's own BM25 (k1 1.2, b 0.75) over title, abstract and authors, stemmed, without stop words."""
    import tantivy

    index = tantivy.Index.open(str(generation.folder / "words"))
    asked = [(tantivy.Occur.Should, tantivy.Query.term_query(index.schema, "words", word, "freq")) for word in lexical.terms(text)]
    if not asked:
        return []
    searcher = index.searcher()
    hits = searcher.search(tantivy.Query.boolean_query(asked), DEPTH, count=False).hits
    return [searcher.doc(address)["stamp"][0] for _, address in hits]


def _best(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda stamp: (-scores[stamp], stamp))[:DEPTH]


def _ids(stamps: list[str], store: Store) -> list[str]:
    papers = store.by_stamp(stamps)
    return [papers[stamp].id for stamp in stamps if stamp in papers]


def _figure(by_query: Mapping[str, float]) -> dict[str, Any]:
    found = mean_interval(list(by_query.values()), list(by_query))
    return {"value": found.value, "low": found.low, "high": found.high, "n": found.n}


def _gain(part: Mapping[str, float], fused: Mapping[str, float]) -> dict[str, Any]:
    pairs = list(part.values()), [fused[query] for query in part], list(part)
    found = paired_difference(*pairs)
    return {"value": found.value, "low": found.low, "high": found.high, "n": found.n, "p": paired_permutation(*pairs)}


@contextmanager
def _library(data: Dataset, settings: Settings, embedder: Any, place: str | Path | None, progress: Any) -> Iterator[Library]:
    with tempfile.TemporaryDirectory(prefix="askpapers-beir-", ignore_cleanup_errors=True) as temporary:
        with Library.open(place or temporary, settings=settings, embedder=embedder, progress=progress, seeds=False) as library:
            library.add(*data.papers)
            yield library


def _records(path: Path, *needed: str) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    record = json.loads(line)
                    if not isinstance(record, dict) or not all(isinstance(record.get(key), str) for key in needed) or "_id" not in record:
                        raise BeirError(f"{path}, line {number}: a record needs '_id' and {', '.join(map(repr, needed))}.")
                    yield record
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise BeirError(f"{path} can't be read ({why}). Is this the folder of a BEIR data set?") from error
    except ValueError as error:
        raise BeirError(f"{path}, line {number}: not JSON ({error}).") from error


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE), 1):
                if number == 1 or not row:
                    continue  # the heading
                query, document, grade = row
                grades.setdefault(query, {})[document] = int(grade)
    except OSError as error:
        raise BeirError(f"{path} can't be read ({error.strerror}). Judgements are expected in qrels/SPLIT.tsv.") from error
    except ValueError as error:
        raise BeirError(f"{path}, line {number}: expected query, document and grade with tabs between ({error}).") from error
    if not grades:
        raise BeirError(f"{path} holds no judgements.")
    return grades
