"""Answers, hits and reports as text for a terminal, and progress while something takes long.

Results go to standard output, everything else to standard error. No text of a paper reaches the terminal with its control
characters, which could move the cursor or hide words.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from typing import Iterable, Sequence

from .papers import AddReport, Answer, Hit, Paper

_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_BOLD_START = re.compile(r"^((?:- )?)\*\*(.+?)\*\*(?=[ :(])")
_MOST_REASONS = 20
_PLACE = re.compile(r", (?:line|record|paragraph) \d+$")


def clean(text: str) -> str:
    """Without control and direction characters; line breaks become spaces."""
    return _CONTROL.sub("", text.replace("\n", " "))


class Progress:
    """Called as progress(stage, done, total): a bar on a terminal once half a second has passed, a line a stage elsewhere."""

    def __init__(self) -> None:
        self._stage = ""
        self._bar = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if not sys.stderr.isatty():
            if stage != self._stage and total > 1:
                print(f"{stage}: {total:,}", file=sys.stderr, flush=True)
            self._stage = stage if done < total else ""
            return
        if stage != self._stage:
            from tqdm import tqdm

            self.close()
            self._stage = stage
            self._bar = tqdm(total=total, desc=stage, unit="paper", delay=0.5, leave=False, file=sys.stderr)
        self._bar.update(done - self._bar.n)
        if done >= total:
            self.close()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar, self._stage = None, ""


def say(line: str) -> None:
    """A line about what is going on."""
    print(clean(line), file=sys.stderr, flush=True)


def show_answer(answer: Answer) -> None:
    if answer.notice:
        say(answer.notice)
    for paragraph in answer.text.split("\n\n"):
        lines = paragraph.split("\n") if answer.form == "list" else [paragraph]
        print("\n".join(_wrapped(_bold(clean(line)), hang=2 * line.startswith("- ")) for line in lines) + "\n")
    _show_verdicts(answer)
    _show_doubtful(answer)
    told = answer.citations if answer.form != "list" else ()  # a list names them itself
    if told:
        print(_heading("Sources"))
    for citation in told:
        print(_wrapped(f"[{citation.number}] {_reference(citation.paper)}", hang=4))
        for quote in citation.quotes if answer.mode != "extractive" else ():  # else the text itself is the quotes
            print(_wrapped(f"“{clean(quote.text)}”", indent=4))
    if answer.related:
        print(("\n" if answer.citations else "") + _heading("Nearest papers (not an answer)" if answer.status == "refused" else "Related papers"))
        for paper in answer.related:
            print(_wrapped(f"-   {_reference(paper)}", hang=4))


def _show_doubtful(answer: Answer) -> None:
    """What may match a list's criterion, apart from what does."""
    if answer.doubtful:
        print(_heading("May match too (not counted)"))
    for citation in answer.doubtful:
        quote = f": “{clean(citation.quotes[0].text)}”" if citation.quotes else ""
        print(_wrapped(f"-   {_reference(citation.paper)}{quote}", hang=4))
    if answer.doubtful:
        print()


def _show_verdicts(answer: Answer) -> None:
    """What a model wrote and the abstracts don't back, sentence by sentence."""
    unbacked = [sentence for sentence in answer.sentences if sentence.verdict == "unsupported"]
    if answer.mode == "extractive" or answer.status == "refused" or not answer.sentences:
        return
    total = len(answer.sentences)
    print(_wrapped(f"{total - len(unbacked)} of {total} sentence{'s' * (total != 1)} backed by the cited abstracts." + (" Not backed:" if unbacked else "")))
    for sentence in unbacked:
        print(_wrapped(f"!   {clean(sentence.text)}", hang=4))
    print()


def show_hits(hits: Sequence[Hit]) -> None:
    if not hits:
        say("No papers found.")
    for rank, hit in enumerate(hits, 1):
        print(_wrapped(f"{rank:2}. {_reference(hit.paper)}", hang=4))
        print(_wrapped(f"score {hit.score:.2f} · id {clean(hit.paper.id)}", indent=4))
        if hit.passages:
            print(_wrapped(textwrap.shorten(clean(hit.passages[0].text), 300, placeholder=" …"), indent=4) + "\n")


def show_papers(papers: Iterable[Paper]) -> None:
    for paper in papers:
        print(f"{clean(paper.id)}\t{paper.year or ''}\t{clean(paper.title)}")


def show_report(report: AddReport) -> None:
    parts = [f"{len(ids):,} {word}" for ids, word in ((report.added, "added"), (report.updated, "updated"), (report.unchanged, "already there"), (report.rejected, "rejected")) if ids]  # fmt: skip
    print(", ".join(parts) + "." if parts else "Nothing to add.")
    for note in report.notes:
        say(f"Note: {note}")
    whole_files_first = sorted(report.rejected, key=lambda one: bool(_PLACE.search(one[0])))
    for where, why in whole_files_first[:_MOST_REASONS]:
        say(f"Rejected: {where}: {why}")
    if len(report.rejected) > _MOST_REASONS:
        say(f"… and {len(report.rejected) - _MOST_REASONS:,} more; --json lists all.")


def _reference(paper: Paper) -> str:
    return ". ".join(clean(part) for part in (paper.title.rstrip("."), paper.byline, paper.link) if part)


def _bold(paragraph: str) -> str:
    return _BOLD_START.sub("\\1\033[1m\\2\033[0m" if sys.stdout.isatty() else r"\1\2", paragraph)


def _heading(text: str) -> str:
    return f"\033[2m{text}\033[0m" if sys.stdout.isatty() else text


def _wrapped(text: str, indent: int = 0, hang: int = 0) -> str:
    width = min(shutil.get_terminal_size().columns, 100) if sys.stdout.isatty() else 100
    return textwrap.fill(text, width, initial_indent=" " * indent, subsequent_indent=" " * (indent + hang), break_long_words=False, break_on_hyphens=False)
