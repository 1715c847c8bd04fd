"""The verdict, and the choice of sentences to quote, on SciFact: claims that experts wrote about abstracts, with their evidence.

Wadden et al. 2020 (arXiv 2004.14974): claims_train.jsonl, claims_dev.jsonl and corpus.jsonl. The data is not ours to ship; the folder
stays as it is. A claim counts once for each abstract that it cites. Thresholds of baselines come from the train claims, figures from
the dev claims.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from rag import Library, Settings, engine, extractive, lexical
from rag.embedding import Embedder, make_embedder
from rag.errors import AskPapersError
from rag.papers import Paper
from rag.passages import Span, sentences
from rag.retrieve import Found

from . import stats
from .support import builtin
from .verdicts import figure, share, told_figure, told_share

LABELS = {"SUPPORT": "the abstract supports it", "CONTRADICT": "it contradicts it", "NEI": "it doesn't tell"}
OURS = "the verdict (Ask Papers)"
EMBEDDING, WORDS = "best sentence by vectors alone", "share of words in the abstract"
QUOTED = "as quoted (Ask Papers)"
BM25, COSINE = "BM25 alone", "vectors alone"
_K1, _B = 1.2, 0.75


class SciFactError(AskPapersError):
    """The folder is not SciFact's; the text names the file and the line."""


class Claim(NamedTuple):
    """A claim and one abstract that it cites. `label`: one of LABELS. `rationale`: offsets of the sentences that show it."""

    text: str
    paper: Paper
    label: str
    rationale: tuple[Span, ...]


def load(folder: str | Path, split: str) -> list[Claim]:
    """`folder`: with claims_SPLIT.jsonl and corpus.jsonl, or with a folder "original" that has them. Raises SciFactError."""
    folder = Path(folder)
    folder = folder if (folder / f"claims_{split}.jsonl").exists() else folder / "original"
    try:
        documents = {str(record["doc_id"]): record for record in _records(folder / "corpus.jsonl")}
        return [
            _claim(record["claim"], documents[str(document)], record["evidence"].get(str(document), []))
            for record in _records(folder / f"claims_{split}.jsonl")
            for document in record["cited_doc_ids"]
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise SciFactError(f"{folder}: a record of SciFact's claims or corpus lacks {error}.") from error


def _claim(text: str, document: Mapping[str, Any], evidence: Sequence[Mapping[str, Any]]) -> Claim:
    spans, end = [], 0
    for sentence in document["abstract"]:
        spans.append(Span(end, end + len(sentence)))
        end += len(sentence) + 1
    paper = Paper(str(document["doc_id"]), document["title"], " ".join(document["abstract"]), source="corpus.jsonl")
    shown = sorted({i for group in evidence for i in group["sentences"]})
    return Claim(text, paper, evidence[0]["label"] if evidence else "NEI", tuple(spans[i] for i in shown))


def _records(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield json.loads(line)
    except OSError as error:
        raise SciFactError(f"{path} can't be read ({error.strerror}). Is this SciFact's folder, with claims_dev.jsonl and corpus.jsonl?") from error
    except ValueError as error:
        raise SciFactError(f"{path}, line {number}: not JSON ({error}).") from error


def measure(folder: str | Path, embedder: Embedder | None = None, progress: Callable[[str, int, int], None] = lambda *_: None) -> dict[str, Any]:
    """{"schema", "claims", "methods": {name: {"balanced_accuracy", "labels": {label: share called supported}, "threshold"}}}: our verdict
    beside the cosine of the best sentence and the share of the claim's words in the abstract. Raises SciFactError."""
    embedder = embedder or make_embedder(Settings())
    train, dev = load(folder, "train"), load(folder, "dev")
    scorers = {EMBEDDING: _cosines(embedder, progress, len(train) + len(dev)), WORDS: _overlap}
    said: dict[str, tuple[list[bool], float | None]] = {OURS: ([builtin(c.text, [c.paper]) for c in dev], None)}
    for name, score in scorers.items():
        least = threshold([score(c) for c in train], [c.label == "SUPPORT" for c in train])
        said[name] = [score(c) >= least for c in dev], least
    return {"schema": 1, "claims": len(dev), "methods": {name: _method(dev, *judged) for name, judged in said.items()}}


def _method(claims: Sequence[Claim], said: Sequence[bool], least: float | None) -> dict[str, Any]:
    total, positive = Counter(c.label for c in claims), Counter(c.label for c, yes in zip(claims, said) if yes)
    return {
        "balanced_accuracy": figure(stats.balanced_accuracy([c.label == "SUPPORT" for c in claims], said, [c.paper.id for c in claims])),
        "labels": {label: share(positive[label], total[label]) for label in LABELS if total[label]},
        "threshold": least,
    }


def threshold(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """The score from which on "supported" gives the best balanced accuracy; the lowest of several."""
    values, true = np.asarray(scores, dtype=float), np.asarray(labels, dtype=bool)
    return float(max(np.unique(values), key=lambda least: (values[true] >= least).mean() + (values[~true] < least).mean()))


def _cosines(embedder: Embedder, progress: Callable[[str, int, int], None], total: int) -> Callable[[Claim], float]:
    known: dict[str, np.ndarray] = {}
    done = 0

    def score(claim: Claim) -> float:
        nonlocal done
        progress("Embedding", done, total)
        done += 1
        if claim.paper.id not in known:
            known[claim.paper.id] = embedder.embed_parts(claim.paper.abstract, sentences(claim.paper.abstract))[1:]
        return float((known[claim.paper.id] @ embedder.embed([claim.text])[0]).max(initial=-1))

    return score


def _overlap(claim: Claim) -> float:
    wanted = set(lexical.terms(claim.text))
    held = set(lexical.all_terms(f"{claim.paper.title} {claim.paper.abstract}"))
    return len(wanted & held) / max(1, len(wanted))


def quoted(library: Library, claim: str, found: Found) -> list[Span]:
    """The sentences that the product quotes from one paper, by its own choice, as if that paper were right."""
    subjects, _ = engine.about(library, claim, [found], within=[found.hit.paper.id])
    return extractive.pick(subjects[0], library.rarity(lexical.terms(claim)), extractive._room(1, 1))


def measure_sentences(
    folder: str | Path, embedder: Embedder | None = None, progress: Callable[[str, int, int], None] = lambda *_: None
) -> dict[str, Any]:
    """{"schema", "claims", "methods": {name: {"precision", "recall", "f1"}}}: the sentences chosen from the right abstract, against the
    rationale; the mean over claims, with its interval. BM25 and vectors choose as many sentences as the product does. The word weights
    are those of a library of the claims' abstracts. Raises SciFactError, and what Library raises."""
    claims = [c for c in load(folder, "dev") if c.rationale]
    chosen: dict[str, list[list[Span]]] = {QUOTED: [], BM25: [], COSINE: []}
    with tempfile.TemporaryDirectory(prefix="askpapers-scifact-", ignore_cleanup_errors=True) as place:
        with Library.open(place, settings=Settings(), embedder=embedder, progress=progress, seeds=False) as library:
            library.add(*{c.paper.id: c.paper for c in claims}.values())
            for claim in claims:
                found, spans = library.find(claim.text, 1, within=[claim.paper.id])[0], sentences(claim.paper.abstract)
                ours = quoted(library, claim.text, found)
                chosen[QUOTED].append(ours)
                by_words = _bm25(claim.paper.abstract, spans, library.rarity(lexical.terms(claim.text)))
                for name, scores in ((BM25, by_words), (COSINE, found.sentence_cosines)):
                    chosen[name].append([spans[i] for i in np.argsort(-scores, kind="stable")[: len(ours)]])
    return {"schema": 1, "claims": len(claims), "methods": {name: _agreement(claims, picked) for name, picked in chosen.items()}}


def _bm25(text: str, spans: Sequence[Span], weights: Mapping[str, float]) -> np.ndarray:
    """Of each sentence among those of its abstract (Robertson and Zaragoza 2009), with the library's weights of words."""
    words = [Counter(lexical.all_terms(text[start:end])) for start, end in spans]
    mean = sum(map(Counter.total, words)) / max(1, len(words)) or 1.0
    norms = [_K1 * (1 - _B + _B * counts.total() / mean) for counts in words]
    return np.array([sum(w * counts[t] * (_K1 + 1) / (counts[t] + norm) for t, w in weights.items()) for counts, norm in zip(words, norms)])


def _agreement(claims: Sequence[Claim], chosen: Sequence[Sequence[Span]]) -> dict[str, Any]:
    """A chosen sentence is right if half of it lies in a rationale; a rationale is found if half of it lies in chosen sentences."""
    rows = []
    for claim, spans in zip(claims, chosen):
        precision = sum(_covered(span, claim.rationale) for span in spans) / max(1, len(spans))
        recall = sum(_covered(span, spans) for span in claim.rationale) / len(claim.rationale)
        rows.append((precision, recall, 2 * precision * recall / (precision + recall) if precision and recall else 0.0))
    papers = [claim.paper.id for claim in claims]
    return {name: figure(stats.mean_interval(list(values), papers)) for name, values in zip(("precision", "recall", "f1"), zip(*rows))}


def _covered(span: Span, by: Sequence[Span]) -> bool:
    return sum(max(0, min(span.end, other.end) - max(span.start, other.start)) for other in by) >= math.ceil((span.end - span.start) / 2)


def lines(found: Mapping[str, Any]) -> list[str]:
    """The verdict's measurement as text, for a terminal."""
    told = [f"SciFact, dev: {found['claims']} pairs of a claim and an abstract"]
    for name, figures in found["methods"].items():
        from_on = "" if figures["threshold"] is None else f", from {figures['threshold']:.2f} on"
        told.append(f"{name}{from_on}: balanced accuracy {told_figure(figures['balanced_accuracy'])}; called supported:")
        told += [f"    {label:12} {LABELS[label]:28} {told_share(counted)}" for label, counted in figures["labels"].items()]
    return told


def sentence_lines(found: Mapping[str, Any]) -> list[str]:
    """The measurement of the chosen sentences as text, for a terminal."""
    told = [f"SciFact, dev: sentences chosen for {found['claims']} pairs of a claim and its abstract, against the experts' rationale"]
    return told + [f"  {name:24} " + "  ".join(f"{key} {told_figure(value)}" for key, value in figures.items()) for name, figures in found["methods"].items()]
