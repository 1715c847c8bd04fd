"""Trains the model of rag.reading: `python -m evals.train --papers FILE... --out rag/models/reader.onnx`. Needs torch, which nothing else does.

The questions are questions/reading.jsonl.gz (written over 1,001 ICLR 2024 abstracts, which are not shipped: give them with --papers)
and the tuning half of the question set. Never looks at the reporting half. The shipped file took 9 epochs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Iterator, NamedTuple

import numpy as np

from rag import Library, Settings, reading
from rag.about import bare
from rag.passages import sentences
from rag.retrieve import Found

from . import calibrate, questions

QUESTIONS = Path(__file__).parent / "questions" / "reading.jsonl.gz"
WIDTH, LAYERS, HEADS, DROPOUT = 128, 2, 4, 0.2
BATCH, RATE, DECAY = 64, 1e-3, 0.02
OTHERS, OTHERS_WEIGHT = 0.6, 0.5
"""Share of the answerable questions that are also put to a paper near by, which is to say that it doesn't answer; their weight."""
_NEAR = 5
_SCALE = 8.0
"""Unit vectors of 384 numbers are brought to the size of token vectors."""


class Case(NamedTuple):
    """A question put to an abstract. `answers`: the sentences that answer it, none if it doesn't."""

    tokens: np.ndarray
    vectors: np.ndarray
    rows: np.ndarray
    row: np.ndarray
    answers: tuple[int, ...]
    weight: float


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.train", description=__doc__)
    parser.add_argument("--papers", nargs="+", required=True, help="files with the abstracts that the questions are about")
    parser.add_argument("--library", default=None, help="library of the sample papers (default: your own)")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=9)
    parser.add_argument("--limit", type=int, default=None, help="papers at most, to try it out")
    options = parser.parse_args()
    if any(find_spec(needed) is None for needed in ("torch", "onnx")):
        parser.error("training needs PyTorch and ONNX: pip install torch onnx")
    random.seed(0)
    with Library.open(options.library, settings=Settings()) as seeds, tempfile.TemporaryDirectory() as folder:
        with Library.open(folder, settings=Settings(), seeds=False) as library:
            library.add(*options.papers)
            cases = [*_written(library, options.limit), *_tuning(seeds), *_tuning(seeds)]
    print(f"{len(cases):,} cases, {sum(not c.answers for c in cases):,} without an answer")
    train(cases, options.epochs, options.out)
    return 0


def _written(library: Library, limit: int | None) -> Iterator[Case]:
    by_title = {paper.title: paper.id for paper in library.papers()}
    with gzip.open(QUESTIONS, "rt", encoding="utf-8") as lines:
        for line in list(lines)[:limit]:
            paper = json.loads(line)
            if paper["title"] in by_title:
                for question, answers in paper["questions"]:
                    yield from _cases(library, question, by_title[paper["title"]], answers)


def _tuning(seeds: Library) -> Iterator[Case]:
    """The tuning questions about one paper each, later turns as they are typed."""
    papers = {paper.id: paper for paper in seeds.papers()}
    for question in questions.default():
        if question.half != "tuning" or question.plant or question.kind in ("list", "comparison"):
            continue
        for turn in question.turns:
            about = {e.paper for e in turn.evidence} if turn.answerable else set(turn.about)
            if len(about) == 1:
                paper = papers[about.pop()]
                places = [(paper.abstract.find(e.text), len(e.text)) for e in turn.evidence]
                spans = sentences(paper.abstract)
                answers = [i for i, span in enumerate(spans) if any(calibrate._overlap(span, at, at + n) > min(15, n - 1) for at, n in places)]
                if answers or not turn.answerable:
                    yield from _cases(seeds, turn.question, paper.id, answers)


def _cases(library: Library, question: str, paper_id: str, answers: list[int]) -> Iterator[Case]:
    yield _case(library, question, library.find(question, 1, within=[paper_id])[0], answers, 1.0)
    if answers and random.random() < OTHERS:
        near = [found for found in library.find(question, _NEAR) if found.hit.paper.id != paper_id]
        if near:
            yield _case(library, question, random.choice(near), [], OTHERS_WEIGHT)


def _case(library: Library, question: str, found: Found, answers: list[int], weight: float) -> Case:
    rows, row = reading.signs(*bare(library, question, found, None))
    tokens = library.tokens(question)[: reading.MAX_TOKENS].astype(np.float16)
    return Case(tokens, found.sentence_vectors.astype(np.float16), rows, row, tuple(answers), weight)


def train(cases: list[Case], epochs: int, out: Path) -> None:
    """Writes the model as rag.reading wants it: for one question and one abstract, signs as they are. Loss: the log probability of
    the sentences that answer, or of none, under one softmax over the sentences and none."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    every, each = np.concatenate([c.rows for c in cases]), np.stack([c.row for c in cases])
    scaling = {"rows.mean": every.mean(0), "rows.scale": every.std(0) + 1e-3, "row.mean": each.mean(0), "row.scale": each.std(0) + 1e-3}

    class Layer(nn.Module):
        """Pre-norm attention and feed-forward, in operations that can be exported for any length."""

        def __init__(self) -> None:
            super().__init__()
            self.before, self.between, self.drop = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH), nn.Dropout(DROPOUT)
            self.qkv, self.out, self.up, self.down = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

        def forward(self, x, mask):
            q, k, v = self.qkv(self.before(x)).unflatten(-1, (3, HEADS, WIDTH // HEADS)).permute(2, 0, 3, 1, 4)
            shares = (q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)).masked_fill(~mask[:, None, None], -1e4).softmax(-1)
            x = x + self.drop(self.out((self.drop(shares) @ v).transpose(1, 2).flatten(-2)))
            return x + self.drop(self.down(self.drop(self.up(self.between(x)).relu())))

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q, self.v = nn.Linear(cases[0].tokens.shape[1], WIDTH), nn.Linear(cases[0].tokens.shape[1], WIDTH)
            self.f, self.p = nn.Linear(every.shape[1], WIDTH), nn.Linear(each.shape[1], WIDTH)
            self.ty, self.pos = nn.Parameter(torch.zeros(3, WIDTH)), nn.Embedding(reading.MAX_TOKENS, WIDTH)
            nn.init.normal_(self.pos.weight, std=0.02)
            self.ln, self.drop = nn.LayerNorm(WIDTH), nn.Dropout(DROPOUT)
            self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
            self.out, self.nul = nn.Linear(WIDTH, 1), nn.Linear(WIDTH, 1)
            self.w, self.wp = nn.Linear(every.shape[1], 1, bias=False), nn.Linear(each.shape[1], 1)

        def forward(self, tokens, spoken, vectors, rows, there, row):
            places = self.pos.weight[: tokens.shape[1]][None]
            parts = [self.p(row)[:, None] + self.ty[0], self.q(tokens) + places + self.ty[1], self.v(vectors * _SCALE) + self.f(rows) + self.ty[2]]
            mask = torch.cat([torch.ones(len(row), 1, dtype=torch.bool), spoken, there], 1)
            states = self.drop(self.ln(torch.cat(parts, 1)))
            for layer in self.layers:
                states = layer(states, mask)
            none = self.nul(states[:, 0]) - self.wp(row)
            scores = self.out(states[:, 1 + tokens.shape[1] :])[..., 0] + self.w(rows)[..., 0]
            return torch.log_softmax(torch.cat([none, scores.masked_fill(~there, -1e4)], 1), 1)

    def padded(arrays: list[np.ndarray]):
        there = torch.zeros(len(arrays), max(map(len, arrays)), dtype=torch.bool)
        values = torch.zeros(*there.shape, arrays[0].shape[1])
        for i, array in enumerate(arrays):
            there[i, : len(array)], values[i, : len(array)] = True, torch.from_numpy(array.astype(np.float32))
        return values, there

    def loss_of(batch: list[Case]):
        tokens, spoken = padded([c.tokens for c in batch])
        vectors, there = padded([c.vectors for c in batch])
        rows, _ = padded([(c.rows - scaling["rows.mean"]) / scaling["rows.scale"] for c in batch])
        row = torch.from_numpy(np.stack([(c.row - scaling["row.mean"]) / scaling["row.scale"] for c in batch]).astype(np.float32))
        told = network(tokens, spoken, vectors, rows, there, row)
        total = torch.zeros(())
        for logs, case in zip(told, batch):
            wanted = logs[[i + 1 for i in case.answers] or [0]]
            total = total - case.weight * (torch.logsumexp(wanted, 0) + (0.3 * wanted.mean() if len(wanted) > 1 else 0))
        return total / len(batch)

    network = Network()
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    steps = epochs * math.ceil(len(cases) / BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps + 1, pct_start=0.15)
    for epoch in range(epochs):
        network.train()
        ordered = sorted(cases, key=lambda c: len(c.tokens) + random.random() * 8)  # little padding, another order each time
        batches = [ordered[i : i + BATCH] for i in range(0, len(ordered), BATCH)]
        random.shuffle(batches)
        total = 0.0
        for batch in batches:
            loss = loss_of(batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += float(loss.detach())
        print(f"epoch {epoch + 1} of {epochs}: loss {total / len(batches):.3f}", flush=True)
    class Single(nn.Module):
        def __init__(self, network: Network, scaling: dict) -> None:
            super().__init__()
            self.network, self.scaling = network, scaling

        def forward(self, tokens, vectors, rows, row):
            rows, row = (rows - self.scaling["rows.mean"]) / self.scaling["rows.scale"], (row - self.scaling["row.mean"]) / self.scaling["row.scale"]
            every = [torch.ones_like(part[:, 0], dtype=torch.bool)[None] for part in (tokens, vectors)]
            told = self.network(tokens[None], every[0], vectors[None], rows[None], every[1], row[None])[0]
            return told[:1], told[1:]

    network.eval()
    torch.onnx.export(
        Single(network, {name: torch.from_numpy(value.astype(np.float32)) for name, value in scaling.items()}),
        tuple(torch.from_numpy(np.asarray(value, dtype=np.float32)) for value in cases[0][:4]),
        str(out),
        input_names=["tokens", "vectors", "rows", "row"],
        output_names=["none", "scores"],
        dynamic_axes={"tokens": {0: "n"}, "vectors": {0: "s"}, "rows": {0: "s"}, "scores": {0: "s"}},
        opset_version=17,
        dynamo=False,
    )


if __name__ == "__main__":
    sys.exit(main())
