"""`askpapers eval …`: from options to the modules that do the work, and from what they found to text, JSON and an exit code.

    exit code 0  done, or the gate is passed        1  the gate is not passed
              2  wrong usage, or data that can't be used        3  the run is incomplete

Measures nothing itself. Imports what takes long only in the command that needs it.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable, Iterator

from rag import Library, Settings, terminal
from rag.errors import AskPapersError

RUNS = Path("runs")
"""Where runs go, seen from the working directory, unless --out says otherwise."""
_EPILOG = """examples:
  askpapers eval run                                       the sample questions over the sample papers, scored and reported
  askpapers eval report runs/20261130-1200-extractive --open
  askpapers eval compare runs/BEFORE runs/AFTER
  askpapers eval gate runs/AFTER
  askpapers eval run --questions mine.jsonl --library ~/thesis
  askpapers eval beir scifact
  askpapers eval verdicts"""


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `eval` with its verbs to `commands`. `common`: the parser with --library, as a parent."""
    data = argparse.ArgumentParser(add_help=False)
    data.add_argument("--json", action="store_true", help="print JSON instead of text")
    top = commands.add_parser(
        "eval",
        help="measure the answers: run, score, report, compare, gate",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measure how well questions are answered.",
        epilog=_EPILOG,
    )
    verbs = top.add_subparsers(title="verbs", metavar="VERB", required=True)

    def verb(name: str, run: Callable[[argparse.Namespace], int], text: str, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        one = verbs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", parents=[data, *parents])
        one.set_defaults(run=lambda options: _guarded(run, options))
        return one

    asked = argparse.ArgumentParser(add_help=False)
    asked.add_argument(
        "--questions",
        type=Path,
        metavar="FILE",
        help="JSONL of questions about your own library, or that of --library (default: the sample questions over the sample papers)",
    )
    run = verb("run", _run, "ask all questions, score the answers, write the report", common, asked)
    run.add_argument(
        "--mode", choices=["extractive", "model"], default="extractive", help="quotes, or the configured model (default: extractive)"
    )
    run.add_argument("--limit", type=_positive, metavar="N", help="only N questions, spread over the file")
    run.add_argument("--resume", action="store_true", help="continue the run in --out")
    run.add_argument("--out", type=Path, metavar="DIR", help="folder of the run (default: a new one in runs/)")
    score = verb("score", _score, "score the stored answers of a run anew")
    score.add_argument("folder", type=Path, metavar="RUN")
    score.add_argument("--judge", action="store_true", help="let the configured model judge support, too, in columns of its own")
    report = verb("report", _report, "write the report of a scored run and print it")
    report.add_argument("folder", type=Path, metavar="RUN")
    report.add_argument("--open", action="store_true", help="open it in a browser")
    compare = verb("compare", _compare, "compare two scored runs, answer by answer")
    compare.add_argument("a", type=Path, metavar="A")
    compare.add_argument("b", type=Path, metavar="B")
    gate = verb("gate", _gate, "check a run against the hard rules and the baseline")
    gate.add_argument("folder", type=Path, metavar="RUN")
    gate.add_argument(
        "--baseline", metavar="DIR", help="a scored run to hold against (default: the committed one); 'none' for the hard rules only"
    )
    gate.add_argument("--rules", type=Path, metavar="FILE", help="rules in JSON (default: evals/gate.json)")
    gate.add_argument(
        "--raise", dest="raise_it", action="store_true", help="make this run the baseline if it passes and is better somewhere"
    )
    verb("validate", _validate, "check questions against the papers", common, asked)
    made = verb("questions", _made, "make a question file of what readers said on the chat page", common)
    made.add_argument("--from-feedback", type=Path, metavar="FILE", help="what the page took down (default: feedback.jsonl of the library)")
    made.add_argument("--out", type=Path, default=Path("questions.jsonl"), metavar="FILE", help="where they go (default: questions.jsonl)")
    beir = verb("beir", _beir, "measure retrieval on a folder in the format of BEIR")
    beir.add_argument("folder", type=Path, metavar="FOLDER")
    beir.add_argument("--split", default="test", help="which qrels (default: test)")
    verdicts = verb("verdicts", _verdicts, "measure the verdict on a sentence against readers' labels")
    verdicts.add_argument("--scifact", type=Path, metavar="FOLDER", help="the dev claims of SciFact in this folder, instead of our own sentences")
    verdicts.add_argument("--sentences", action="store_true", help="with --scifact: the sentences that are quoted, against the experts' rationale")


def _guarded(run: Callable[[argparse.Namespace], int], options: argparse.Namespace) -> int:
    """Exit code 1 belongs to the gate, so an error that a user can cause is 2 here."""
    try:
        return run(options)
    except AskPapersError as error:
        terminal.say(f"askpapers: {error}")
        return 2


def _run(options: argparse.Namespace) -> int:
    from . import repeat, report
    from .questions import validate
    from .runner import run
    from .score import score

    if options.resume and not options.out:
        terminal.say("askpapers: --resume needs --out, the folder of the run to continue.")
        return 2
    settings = Settings.from_environment()
    settings = settings if options.mode == "model" else replace(settings, model="")
    folder = options.out or RUNS / f"{datetime.now(timezone.utc):%Y%m%d-%H%M%S}-{options.mode}"
    questions = _questions(options)
    with _library(options, settings) as library:
        wrong = validate(questions, library.papers())
        if wrong and options.questions is None and len(wrong) > len(questions) / 2:
            terminal.say("askpapers: the sample questions are about the sample papers. For another library, pass your own with --questions FILE (evals/questions/template.jsonl shows the form).")
            return 2
        if wrong:
            _say_wrong(wrong)
            return 2
        try:
            run(library, questions, folder, options.mode, terminal.Progress(), options.resume, options.limit)
        except KeyboardInterrupt:
            terminal.say(f"Stopped. To continue: the same command with --resume --out {folder}")
            return 130
        terminal.say("Scoring, and asking some questions again" if options.mode == "extractive" else "Scoring")
        with ThreadPoolExecutor(1) as other:  # the asking is another process's work, and takes as long as the scoring
            again = other.submit(repeat.check, folder, library.folder) if options.mode == "extractive" else None
            summary = score(folder)
            if again:
                again.result()
    page = report.write_report(folder)
    _print(options, {"folder": str(folder), "report": str(page), **summary}, f"{report.terminal(folder)}\n\nRun: {folder}\nReport: {page}")
    return 3 if summary["counts"]["missing"] else 0


def _score(options: argparse.Namespace) -> int:
    from . import support
    from .score import score

    judge, name = None, ""
    if options.judge:
        settings = Settings.from_environment()
        if not settings.model:
            terminal.say("askpapers: --judge needs a model: set OPENAI_MODEL, and OPENAI_BASE_URL or OPENAI_API_KEY.")
            return 2
        from rag.model import completer

        judge, name = support.ModelJudge(completer(settings)), settings.model
    summary = score(options.folder, judge, name)
    if name and summary["manifest"].get("model") == name:
        terminal.say(f"{name} judges its own answers here; a judge of another make is fairer.")
    _print(options, summary, "\n".join(terminal.clean(line) for line in summary["headline"]))
    return 0


def _report(options: argparse.Namespace) -> int:
    from . import report

    page = report.write_report(options.folder)
    _print(options, {"report": str(page)}, f"{report.terminal(options.folder)}\n\nReport: {page}")
    if options.open:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
    return 0


def _compare(options: argparse.Namespace) -> int:
    from . import compare

    found = compare.compare(options.a, options.b)
    _print(options, found.to_dict(), compare.text(found))
    return 0


def _gate(options: argparse.Namespace) -> int:
    from . import gate

    place = Path(options.baseline or gate.BASELINE)
    first = options.raise_it and not (place / "scores.jsonl").exists()  # there is nothing to hold the very first one against
    verdict = gate.judge(options.folder, None if options.baseline == "none" or first else place, options.rules or gate.RULES)
    raised = gate.raise_baseline(options.folder, verdict, place) if options.raise_it and options.baseline != "none" else ""
    _print(options, {**verdict.to_dict(), **({"raised": raised} if raised else {})}, "\n".join(filter(None, [gate.text(verdict), raised])))
    return verdict.code


def _validate(options: argparse.Namespace) -> int:
    from .questions import validate

    questions = _questions(options)
    with _library(options, Settings.from_environment()) as library:
        wrong = validate(questions, library.papers())
    turns = sum(len(q.turns) for q in questions)
    _print(
        options,
        {"questions": len(questions), "turns": turns, "wrong": wrong},
        "" if wrong else f"{len(questions):,} questions in {turns:,} turns, and nothing is wrong with them.",
    )
    if wrong and not options.json:
        _say_wrong(wrong)
    return 2 if wrong else 0


def _made(options: argparse.Namespace) -> int:
    from . import feedback

    given = getattr(options, "library", None)
    folder = Path(given).expanduser() if given else Settings.from_environment().library_folder
    made = feedback.read(options.from_feedback or folder / "feedback.jsonl")
    rest = feedback.write(made, options.out)
    lines = [f"{len(made.settled):,} questions with a known right answer: {options.out}" if made.settled else "No answer was called right."]
    lines += [f"{len(made.unsettled):,} that were answered wrongly, for you to put the right papers in: {rest}"] if rest else []
    lines += [f"{made.scoped:,} asked of some papers only were left out."] if made.scoped else []
    data = {"settled": len(made.settled), "unsettled": len(made.unsettled), "scoped": made.scoped, "out": str(options.out), "rest": str(rest or "")}
    _print(options, data, "\n".join(lines))
    return 0


def _beir(options: argparse.Namespace) -> int:
    from . import beir

    found = beir.measure(
        options.folder, options.split, settings=replace(Settings.from_environment(), model=""), progress=terminal.Progress()
    )
    _print(options, found, "\n".join(terminal.clean(line) for line in beir.lines(found)))
    return 0


def _verdicts(options: argparse.Namespace) -> int:
    from . import scifact, verdicts

    if options.sentences and not options.scifact:
        terminal.say("askpapers: --sentences needs --scifact, the folder of SciFact.")
        return 2
    if not options.scifact:
        found, lines = verdicts.measure(), verdicts.lines
    elif options.sentences:
        found, lines = scifact.measure_sentences(options.scifact, progress=terminal.Progress()), scifact.sentence_lines
    else:
        found, lines = scifact.measure(options.scifact, progress=terminal.Progress()), scifact.lines
    _print(options, found, "\n".join(terminal.clean(line) for line in lines(found)))
    return 0


def _questions(options: argparse.Namespace) -> list[Any]:
    from . import questions

    return questions.load(options.questions) if options.questions else questions.default()


@contextmanager
def _library(options: argparse.Namespace, settings: Settings) -> Iterator[Library]:
    """The one of --library; the user's own for questions of their own; else the sample papers."""
    from .samples import sample_library

    given = getattr(options, "library", None)
    if given or options.questions:
        settings = replace(settings, library=given) if given else settings
        with Library.open(settings=settings, progress=terminal.Progress(), notice=terminal.say) as library:
            yield library
    else:
        with sample_library(settings, terminal.Progress()) as library:
            yield library


def _say_wrong(wrong: list[str]) -> None:
    for line in wrong[:20]:
        terminal.say(line)
    more = f" The first 20 of {len(wrong):,} are shown." if len(wrong) > 20 else ""
    terminal.say(f"askpapers: {len(wrong):,} {'thing is' if len(wrong) == 1 else 'things are'} wrong with the questions.{more}")


def _print(options: argparse.Namespace, data: Any, text: str) -> None:
    if options.json:
        print(json.dumps(data, ensure_ascii=False, indent=2))
    elif text:
        print(text)
    sys.stdout.flush()


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number
