"""Asks every question once and writes down what came back: one folder a run, one line a turn, written as it comes.

    manifest.json     what was run, with what, from when to when (see manifest.py)
    questions.jsonl   the questions that were asked, as read
    answers.jsonl     {"id", "turn", "question", "answer": Answer.to_dict() or null, "retrieved": [[paper id, score], …], "answerability",
                      "seconds", "error": null or text}
    papers.jsonl      as the library holds them, the papers that a question or an answer speaks of

Judges nothing: scoring reads the folder (score.py) and can be done again without asking again. Never changes the library that it is
given; hostile papers go into a copy of it.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Sequence

from rag import Library
from rag.embedding import Embedder
from rag.errors import AskPapersError, PaperNotFound
from rag.papers import Paper, paper_to_dict
from rag.retrieve import Found

from . import manifest
from .questions import Question, parse, sample

RETRIEVED = 10
"""Papers noted for each question: the engine's own number of candidates, and the depth of nDCG@10."""
Progress = Callable[[str, int, int], None]


class RunError(AskPapersError):
    """A run can't be made or read; the text says why and what to do."""


def run(
    library: Library,
    questions: Sequence[Question],
    folder: str | Path,
    mode: str = "extractive",
    progress: Progress = lambda *_: None,
    resume: bool = False,
    limit: int | None = None,
) -> Path:
    """Asks the questions and returns the folder. `mode`: "extractive", or "model" for the library's configured model. `limit`: a sample
    of that many, spread over the file. With `resume`, questions that were fully answered in this folder are not asked again; those that
    ended in an error are. Errors of single questions are noted and counted; raises RunError for what concerns the whole run."""
    folder = Path(folder)
    chosen = sample(questions, limit)
    if (mode == "extractive") != (library.mode == "extractive"):
        raise RunError("An extractive run needs a library without a model, a model run one with a model: set or unset OPENAI_MODEL.")
    notes = manifest.begin(library, chosen, mode)
    done = _take_up(folder, notes) if resume else _start(folder)
    notes = manifest.write(folder, notes)
    (folder / "questions.jsonl").write_text(_lines(q.to_dict() for q in chosen), encoding="utf-8", errors="replace")
    papers = _Papers(folder / "papers.jsonl", library)
    open_questions = [q for q in chosen if q.id not in done]
    errors, asked = 0, len(chosen) - len(open_questions)
    with (folder / "answers.jsonl").open("a", encoding="utf-8", errors="replace") as file, _planted(library, open_questions) as hostile:
        for question in open_questions:
            progress("Asking", asked, len(chosen))
            held = hostile if question.plant else library
            for line in _ask(held, question):
                errors += line["error"] is not None
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                file.flush()
                papers.note(held, question, line["answer"])
            asked += 1
    progress("Asking", asked, len(chosen))
    manifest.finish(folder, notes, errors, manifest.usage(_whole_lines(folder / "answers.jsonl")))
    return folder


def read_run(folder: str | Path) -> tuple[dict[str, Any], list[Question], list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """(manifest, questions, answer lines in the order of the questions, papers by id) of a run's folder. A line that was cut short is
    left out. Raises RunError if there is no run, or it can't be read."""
    folder = Path(folder)
    try:
        notes = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        asked = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
        questions = [parse(record, f"questions.jsonl:{n}") for n, record in enumerate(asked, 1)]
        answers = _whole_lines(folder / "answers.jsonl")
        papers = {paper["id"]: paper for paper in _whole_lines(folder / "papers.jsonl")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{folder} is not the folder of an eval run, or is damaged ({error}).") from error
    if notes.get("schema") != manifest.SCHEMA:
        raise RunError(f"{folder} was written by another version of Ask Papers (schema {notes.get('schema')}). Run it again.")
    place = {q.id: i for i, q in enumerate(questions)}
    by_turn = {(a["id"], a["turn"]): a for a in answers if a["id"] in place}
    return notes, questions, sorted(by_turn.values(), key=lambda a: (place[a["id"]], a["turn"])), papers


class _Listening(Library):
    """The same library, open as it is, which also notes what the engine finds: so nothing is searched twice."""

    def __init__(self, library: Library):
        self.__dict__.update(library.__dict__)
        self.heard: dict[str, list[Found]] = {}

    def find(self, query: str, *rest: Any, **named: Any) -> list[Found]:
        found = super().find(query, *rest, **named)
        if len(found) > len(self.heard.get(query, ())):  # the engine also looks at single papers
            self.heard[query] = found
        return found


def _ask(library: Library, question: Question) -> Iterator[dict[str, Any]]:
    """One line a turn. After an error in a dialogue the later turns are asked all the same, as a person would."""
    listening = _Listening(library)
    conversation = listening.conversation()
    for turn in question.turns:
        answer, error, retrieved, likely = None, None, [], None
        listening.heard.clear()
        started = time.perf_counter()
        try:
            answer = conversation.ask(turn.question)
        except Exception as problem:  # whatever it is, the other questions can still be asked
            error = f"{type(problem).__name__}: {problem}"
        seconds = time.perf_counter() - started
        try:
            query = answer.query if answer else turn.question
            found = listening.heard[query] if query in listening.heard else library.find(query, RETRIEVED)
            retrieved = [[f.hit.paper.id, round(f.hit.score, 6)] for f in found[:RETRIEVED]]
            likely = answer.answerability if answer else None
        except Exception as problem:
            error = error or f"{type(problem).__name__}: {problem}"
        yield {
            "id": question.id, "turn": turn.number, "question": turn.question, "answer": answer.to_dict() if answer else None,
            "retrieved": retrieved, "answerability": likely, "seconds": round(seconds, 4), "error": error,
        }  # fmt: skip


class _Papers:
    """Writes each paper that is spoken of once, as the library holds it. What an answer cites and the library doesn't hold is not
    written: that is how a phantom is told."""

    def __init__(self, path: Path, library: Library):
        self._path = path
        self._library = library
        self._seen = {paper["id"] for paper in _whole_lines(path)} if path.exists() else set()

    def note(self, held: Library, question: Question, answer: dict[str, Any] | None) -> None:
        wanted = [p for turn in question.turns for p in (*turn.papers, *turn.also, *turn.about)]
        wanted += [c["paper"]["id"] for c in answer["citations"]] if answer else []
        new = [paper_id for paper_id in dict.fromkeys(wanted) if paper_id not in self._seen]
        with self._path.open("a", encoding="utf-8") as file:
            for paper_id in new:
                try:
                    file.write(json.dumps(paper_to_dict(held.paper(paper_id)), ensure_ascii=False) + "\n")
                    self._seen.add(paper_id)
                except PaperNotFound:
                    pass


@contextmanager
def _planted(library: Library, questions: Sequence[Question]) -> Iterator[Library | None]:
    """A copy of the library with the hostile papers of all these questions in it, for as long as the block; None if there are none."""
    papers: list[Paper] = [paper for question in questions for paper in question.plant]
    if not papers:
        yield None
        return
    embedder: Embedder = library.index.embedder
    with tempfile.TemporaryDirectory(prefix="askpapers-eval-", ignore_cleanup_errors=True) as place:
        copy = Path(place) / "library"
        shutil.copytree(library.folder, copy, ignore=shutil.ignore_patterns("*.lock"))
        with Library.open(copy, settings=library.settings, embedder=embedder, seeds=False) as other:
            report = other.add(*papers)
            if report.rejected or report.unchanged or report.updated:
                raise RunError(f"The hostile papers could not all be planted: {report.to_dict()}.")
            yield other


def _start(folder: Path) -> set[str]:
    if (folder / "answers.jsonl").exists():
        raise RunError(f"{folder} holds a run already. Continue it with --resume, or choose another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "answers.jsonl").touch()
    (folder / "papers.jsonl").touch()
    return set()


def _take_up(folder: Path, notes: dict[str, Any]) -> set[str]:
    """The ids that are done. Cuts out of answers.jsonl what has to be asked again. Raises RunError if it was another run."""
    if not (folder / "manifest.json").exists():
        return _start(folder)
    earlier, questions, answers, _ = read_run(folder)
    for key in ("questions", "mode", "model", "embedder", "corpus", "prompts"):
        if earlier.get(key) != notes.get(key):
            raise RunError(f"{folder} can't be continued: its {key} differ from those of now. Start a new run in another folder.")
    finished = {(a["id"], a["turn"]) for a in answers if a["error"] is None}
    done = {q.id for q in questions if all((q.id, turn.number) in finished for turn in q.turns)}
    kept = folder / "answers.jsonl.new"
    kept.write_text(_lines(a for a in answers if a["id"] in done), encoding="utf-8")
    kept.replace(folder / "answers.jsonl")
    whole = _lines(_whole_lines(folder / "papers.jsonl"))
    (folder / "papers.jsonl").write_text(whole, encoding="utf-8")
    return done


def _whole_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a JSONL file; a last line that was cut short is left out."""
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].split("\n") if line]


def _lines(records: Iterable[Any]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
