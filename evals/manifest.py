"""What a run was made with: enough to know whether two runs may be compared, and to make one again. Never holds a secret."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from dataclasses import asdict
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

from rag import Library, prompts
from rag.settings import Secret, host_of

from .questions import Question

SCHEMA = 1
SEED = 0
"""Of every resampling in scores made from the run."""
_ROOT = Path(__file__).resolve().parent.parent
_PACKAGES = ("askpapers", "llama-index-core", "chromadb", "tantivy", "onnxruntime", "tokenizers", "numpy", "openai")


def begin(library: Library, questions: Sequence[Question], mode: str) -> dict[str, Any]:
    """The manifest at the start of a run; `finished` and `errors` are null until its end."""
    asked = [q.to_dict() for q in questions]
    return {
        "schema": SCHEMA,
        "started": _now(),
        "finished": None,
        "errors": None,
        "mode": mode,
        "model": library.mode,
        "questions": {"count": len(questions), "turns": sum(len(q.turns) for q in questions), "sha256": _hash(asked)},
        "papers": len(library),
        "corpus": library.index.current().manifest.corpus if len(library) else "",
        "embedder": library.index.embedder.fingerprint,
        "prompts": {path.stem: prompts.load(path.stem).hash for path in sorted(prompts.FOLDER.glob("*.md"))},
        "settings": _settings(library),
        "seed": SEED,
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}},
        "git": _git(),
        "machine": {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()},
    }


def write(folder: Path, notes: dict[str, Any]) -> dict[str, Any]:
    """Writes the manifest and returns it. Of a run that is taken up again, the first start is kept."""
    path = folder / "manifest.json"
    if path.exists():
        notes = {**notes, "started": json.loads(path.read_text(encoding="utf-8"))["started"], "resumed": notes["started"]}
    path.write_text(json.dumps(notes, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return notes


def finish(folder: Path, notes: dict[str, Any], errors: int, usage: dict[str, int]) -> None:
    """Says that every question was asked, how many turns ended in an error, and what the model was asked for."""
    text = json.dumps({**notes, "finished": _now(), "errors": errors, "usage": usage}, ensure_ascii=False, indent=1)
    (folder / "manifest.json").write_text(text + "\n", encoding="utf-8")


def usage(answers: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Of the lines of answers.jsonl: "calls" of the model, "prompt_tokens" and "completion_tokens" as far as it told, and in how many
    answers it "failed", so that quotes stand in its place; empty if no model was asked."""
    total: dict[str, int] = {}
    for answer in (line["answer"] for line in answers if line["answer"]):
        for what, count in answer.get("usage", {}).items():
            total[what] = total.get(what, 0) + count
        if answer.get("usage", {}).get("calls") and answer["mode"] == "extractive" and answer["notice"]:
            total["failed"] = total.get("failed", 0) + 1
    return {"failed": 0, **total} if total else {}


def _settings(library: Library) -> dict[str, Any]:
    """Without secrets, and with hosts for addresses and no folders: the manifest may be published."""
    shown = {}
    for name, value in asdict(library.settings).items():
        if isinstance(value, Secret) or name == "library":
            continue
        shown[name] = host_of(value) if name.endswith("base_url") and value else value
    return shown


def _git() -> dict[str, Any] | None:
    """Commit of the checkout and whether files differ from it; None for an installed copy."""
    if not (_ROOT / ".git").exists():
        return None
    try:
        commit = _run_git("rev-parse", "HEAD")
        return {"commit": commit, "dirty": bool(_run_git("status", "--porcelain"))}
    except (OSError, subprocess.SubprocessError):
        return None


def _run_git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(_ROOT), *arguments], capture_output=True, text=True, timeout=20, check=True)
    return done.stdout.strip()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _hash(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
