"""Is the answer the same when it is asked again? A sample of a run's questions, asked once more in a process of its own.

Another process has another hash seed, which is what shows an answer that hangs on the order of a set. Compares everything but the
times. Only for extractive runs: a language model promises nothing of the kind.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag import Library, Settings

from .questions import sample
from .runner import RunError, read_run, run

FILE = "repeat.json"
SAMPLE = 40
"""Questions asked again; a few seconds."""
_ROOT = Path(__file__).resolve().parent.parent


def check(folder: Path, library_folder: Path, limit: int = SAMPLE) -> dict[str, Any]:
    """Asks again, writes repeat.json into the run's folder and returns it: {"schema", "turns": how many were compared, "different":
    [{"id", "turn", "keys": what differs}]}. Raises RunError if the other process fails."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")]),
        "PYTHONHASHSEED": "20261130",
    }
    command = [sys.executable, "-m", "evals.repeat", str(folder.resolve()), str(library_folder.resolve()), str(limit)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RunError(f"The questions could not be asked again: {(done.stderr.strip() or 'no reason given').splitlines()[-1]}")
    found = json.loads(done.stdout)
    (folder / FILE).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


def again(folder: Path, library: Library, limit: int = SAMPLE) -> dict[str, Any]:
    """What `check` writes, found in this process with a library that is open. Questions with hostile papers are left out."""
    _, questions, answers, _ = read_run(folder)
    asked = sample([q for q in questions if not q.plant], limit)
    with tempfile.TemporaryDirectory(prefix="askpapers-repeat-", ignore_cleanup_errors=True) as place:
        run(library, asked, Path(place) / "run")
        second = {(a["id"], a["turn"]): a for a in read_run(Path(place) / "run")[2]}
    first = {(a["id"], a["turn"]): a for a in answers}
    pairs = [(key, first[key], second[key]) for key in second if key in first]
    different = [{"id": key[0], "turn": key[1], "keys": _differing(one, other)} for key, one, other in pairs if _differing(one, other)]
    return {"schema": 1, "turns": len(pairs), "different": different}


def _differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    flat_one, flat_other = _timeless(one), _timeless(other)
    return sorted(key for key in flat_one.keys() | flat_other.keys() if flat_one.get(key) != flat_other.get(key))


def _timeless(line: dict[str, Any]) -> dict[str, Any]:
    answer = {f"answer.{k}": v for k, v in (line["answer"] or {}).items() if k != "timings"}
    return {**{k: v for k, v in line.items() if k not in ("seconds", "answer")}, **answer}


if __name__ == "__main__":
    settings = replace(Settings.from_environment(), model="")
    with Library.open(sys.argv[2], settings=settings, seeds=False) as opened:
        print(json.dumps(again(Path(sys.argv[1]), opened, int(sys.argv[3]))))
