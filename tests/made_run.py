"""A small eval run made by hand, scored by the real scorer: three papers, six questions, seven answers, some of which fail, each otherwise.

Imports nothing of the tests' own, so that the browser's tests can use it too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Iterable

from evals import repeat
from evals.score import score
from rag import REFUSAL, Paper
from rag.papers import paper_to_dict

MAPS = Paper(
    "p:maps", "Maps of moss", "We map moss on 12 islands. The maps are drawn by hand. Moss grows slowly.", ("Ada Moss",), 2021, "Bryology"
)
TUNE = Paper(
    "p:tune",
    "Tuning a lute",
    "We tune a lute with 24 strings. It takes an hour.",
    ("Bo String",),
    2022,
    "Lutes",
    url="https://example.org/lute",
)
SALT = Paper("p:salt", "Salt in soup", "Soup with salt is eaten sooner. We ask 30 guests.", ("Cy Cook",), 2023, "Soups")
PAPERS = (MAPS, TUNE, SALT)

QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "fact-1",
        "kind": "fact",
        "half": "reporting",
        "question": "How many islands?",
        "papers": ["p:maps"],
        "evidence": [{"paper": "p:maps", "text": "We map moss on 12 islands."}],
        "facts": [["12 islands"]],
        "answerable": True,
    },
    {
        "id": "fact-2",
        "kind": "fact",
        "half": "tuning",
        "question": "How many strings?",
        "papers": ["p:tune"],
        "evidence": [{"paper": "p:tune", "text": "We tune a lute with 24 strings."}],
        "facts": [["24 strings", "twenty-four"]],
        "answerable": True,
    },
    {
        "id": "fact-3",
        "kind": "fact",
        "half": "reporting",
        "question": "How many guests?",
        "papers": ["p:salt"],
        "evidence": [{"paper": "p:salt", "text": "We ask 30 guests."}],
        "facts": [["30 guests"]],
        "answerable": True,
    },
    {
        "id": "absent-1",
        "kind": "subject-absent",
        "half": "reporting",
        "question": "Who invented the harp?",
        "papers": [],
        "answerable": False,
    },
    {"id": "absent-2", "kind": "subject-absent", "half": "tuning", "question": "What is a fern?", "papers": [], "answerable": False},
    {
        "id": "talk-1",
        "kind": "dialogue",
        "half": "tuning",
        "turns": [
            {"question": "What is mapped?", "papers": ["p:maps"], "facts": [["moss"]], "answerable": True},
            {"question": "and how is it drawn?", "papers": ["p:maps"], "facts": [["by hand"]], "answerable": True},
        ],
    },
]


def quoting(*quoted: tuple[Paper, str], status: str = "answered", **more: Any) -> dict[str, Any]:
    """An answer as of Answer.to_dict() that quotes these sentences."""
    citations = [
        {"number": n, "paper": paper_to_dict(p), "quotes": [{"text": q, "start": p.abstract.find(q), "end": p.abstract.find(q) + len(q)}]}
        for n, (p, q) in enumerate(quoted, 1)
    ]
    sentences = [{"text": q, "citations": [n], "verdict": "supported"} for n, (_, q) in enumerate(quoted, 1)]
    text = " ".join(f"“{q}” [{n}]" for n, (_, q) in enumerate(quoted, 1))
    return {
        "text": text,
        "status": status,
        "sentences": sentences,
        "citations": citations,
        "count": None,
        "mode": "extractive",
        "query": "",
        "related": [],
        "notice": "",
        "timings": {"total": 0.01},
        **more,
    }


def refusal() -> dict[str, Any]:
    return quoting(status="refused", text=REFUSAL, sentences=[{"text": REFUSAL, "citations": [], "verdict": "unchecked"}])


def answers() -> dict[tuple[str, int], dict[str, Any]]:
    """Right, wrong paper, wrongly refused, wrongly answered, rightly refused, right, right."""
    return {
        ("fact-1", 0): quoting((MAPS, "We map moss on 12 islands.")),
        ("fact-2", 0): quoting((SALT, "Soup with salt is eaten sooner.")),
        ("fact-3", 0): refusal(),
        ("absent-1", 0): quoting((TUNE, "It takes an hour.")),
        ("absent-2", 0): refusal(),
        ("talk-1", 0): quoting((MAPS, "We map moss on 12 islands.")),
        ("talk-1", 1): quoting((MAPS, "The maps are drawn by hand.")),
    }


def _write(path: Path, records: Iterable[Any]) -> None:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")


def made_run(
    folder: Path,
    given: dict[tuple[str, int], dict[str, Any]] | None = None,
    questions: list[dict[str, Any]] | None = None,
    papers=PAPERS,
    errors=(),
    **notes: Any,
) -> Path:
    """Writes and scores a run; `given` replaces answers, `errors` are turns that ended in one, `notes` go into the manifest."""
    folder.mkdir(parents=True)
    questions = QUESTIONS if questions is None else questions
    told = answers() | (given or {})
    lines = []
    for question in questions:
        for turn, asked in enumerate(question.get("turns") or [question]):
            key, broken = (question["id"], turn), (question["id"], turn) in errors
            lines.append(
                {
                    "id": key[0],
                    "turn": turn,
                    "question": asked["question"],
                    "answer": None if broken else told[key],
                    "retrieved": [[p.id, 0.9 - 0.1 * i] for i, p in enumerate(papers)],
                    "answerability": 0.4 if told[key]["status"] == "refused" else 0.8,
                    "seconds": 0.02,
                    "error": "ValueError: <b>broken</b>" if broken else None,
                }
            )
    manifest = {
        "schema": 1,
        "started": "2026-11-30T12:00:00+00:00",
        "finished": "2026-11-30T12:01:00+00:00",
        "errors": len(errors),
        "mode": "extractive",
        "model": "extractive",
        "questions": {"count": len(questions), "turns": len(lines), "sha256": "0" * 64},
        "papers": len(papers),
        "corpus": "1" * 64,
        "embedder": "words",
        "prompts": {"answer": "abc"},
        "settings": {"model": ""},
        "seed": 0,
        "versions": {"python": "3"},
        "git": {"commit": "a" * 40, "dirty": True},
        "machine": {"system": "Any", "processor": "any", "cores": 2},
        **notes,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    _write(folder / "questions.jsonl", questions)
    _write(folder / "answers.jsonl", lines)
    _write(folder / "papers.jsonl", [paper_to_dict(p) for p in papers])
    (folder / repeat.FILE).write_text(json.dumps({"schema": 1, "turns": len(lines), "different": []}), encoding="utf-8")
    score(folder)
    return folder
