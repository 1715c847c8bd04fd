"""[n] markers ↔ papers: parsed as a model's text streams, renumbered in order of first appearance.

Pure. A marker resolves only against the papers that were shown; an unknown number is dropped and counted, never repaired by a
guess. Knows nothing of models or pages.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .passages import sentences

_MARKER = re.compile(r"\[\[?\s*(\d{1,3}(?:\s*(?:[,;]|[-–])\s*\d{1,3})*)\s*\]\]?|【\s*(\d{1,3}(?:\s*(?:[,;]|[-–])\s*\d{1,3})*)[^】\n]{0,12}】")
_OPEN = re.compile(r"(?:\s*)(?:\[\[?|【)[\d\s,;–\-]{0,24}\]?$|\s+$")
"""What may still become a marker, or the space before one, at the end of a piece of stream."""
_AFTER_STOP = re.compile(r"([.!?]+[\"”’)]*)(\s*)((?:\[\d+\])+)")
_NUMBER = re.compile(r"\[(\d+)\]")
_SOURCES = re.compile(r"\n+\s*(?:#+\s*|\*\*)?(?:sources?|references?|citations?)\s*:?\s*(?:\*\*)?\s*:?\s*\n(?:\s*(?:[-*•]\s*)?\[?\d.*\n?)*\s*$", re.IGNORECASE)


class Cited(NamedTuple):
    """A sentence of a model's answer, without its markers, and the numbers that it cites."""

    text: str
    numbers: tuple[int, ...]


class Renumberer:
    """Feed it a model's text piece by piece. `shown`: how many papers the model saw, numbered from 1.

    After `finish`, `order` lists the shown numbers in order of first citation (order[0] is what the reader sees as [1]), and
    `unknown` counts the numbers that stood for no paper.
    """

    def __init__(self, shown: int):
        self.order: list[int] = []
        self.unknown = 0
        self._shown = shown
        self._held = ""

    def feed(self, piece: str) -> str:
        """The text that is certain so far; the end is held back while it may be part of a marker."""
        text = self._held + piece
        pending = _OPEN.search(text)
        cut = pending.start() if pending else len(text)
        self._held = text[cut:]
        return self._resolve(text[:cut])

    def finish(self) -> str:
        text, self._held = self._held, ""
        return self._resolve(text.rstrip())

    def _resolve(self, text: str) -> str:
        text = re.sub(r"\s+(?=\[\[?\s*\d|【\s*\d)", lambda m: "\0" if "\n" not in m.group() else m.group(), text)
        text = _MARKER.sub(self._renumber, text)
        return text.replace("\0[", " [").replace("\0", "")

    def _renumber(self, match: re.Match[str]) -> str:
        out = []
        for number in _numbers(match.group(1) or match.group(2)):
            if not 1 <= number <= self._shown:
                self.unknown += 1
                continue
            if number not in self.order:
                self.order.append(number)
            out.append(f"[{self.order.index(number) + 1}]")
        return "".join(dict.fromkeys(out))


def split(text: str) -> list[Cited]:
    """The sentences of a renumbered text. A marker after a full stop belongs to the sentence that it follows."""
    text = _AFTER_STOP.sub(r" \3\1", text)
    found = []
    for start, end in sentences(text):
        sentence = text[start:end]
        numbers = tuple(dict.fromkeys(int(n) for n in _NUMBER.findall(sentence)))
        bare = re.sub(r"\s+([.,;:!?])", r"\1", re.sub(r"\s{2,}", " ", _NUMBER.sub("", sentence))).strip()
        if re.search(r"\w", bare):
            found.append(Cited(bare, numbers))
    return found


def without_sources(text: str) -> str:
    """The text without a list of sources that the model added at its end."""
    return _SOURCES.sub("", text).rstrip()


def _numbers(inside: str) -> list[int]:
    numbers: list[int] = []
    for part in re.split(r"[,;]", inside):
        ends = [int(n) for n in re.split(r"[-–]", part) if n.strip()]
        if len(ends) == 2 and ends[0] < ends[1] <= ends[0] + 20:
            numbers.extend(range(ends[0], ends[1] + 1))
        else:
            numbers.extend(ends)
    return numbers
