"""[n] markers ↔ papers: parsed as a model's text streams, renumbered in order of first appearance.

Pure. A marker resolves only against the papers that were shown; an unknown number is dropped and counted, never repaired by a
guess. What stands in code or in a formula is never a marker. Knows nothing of models or pages.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .passages import sentences

_WORD = r"(?:papers?|sources?|abstracts?|documents?|references?)"
_BEGUN = "|".join(word[:n] for word in ("paper", "source", "abstract", "document", "reference") for n in range(len(word), 0, -1))
_ITEM = rf"(?:{_WORD}:?\s?)?#?\d{{1,3}}"
_LIST = rf"\^?\s{{0,2}}{_ITEM}(?:\s{{0,2}}(?:[,;&–—-]|and)\s{{0,2}}{_ITEM}){{0,19}}\s{{0,2}}(?:(?::\d{{1,3}})?†[^\]】\n]{{0,40}})?"
_ADDRESS = r"(?:\((?:https?:|www\.|[#/])[^()\s]{0,300}\))?"
"""A model that links its markers has made the address up: addresses come from the papers' records only."""
_INDEX = r"(?-i:(?<![\s(=,][a-z]))"
"""Not behind a lone small letter: `a[1]` is an element of a list."""
_ONE = rf"(?:{_INDEX}\[{_LIST}\]{_ADDRESS}|【{_LIST}】)"
_BESIDE = r"(?:,\s(?:and\s)?|\s(?:and|or|&)\s|\s?[–—-]\s?)"
_BEHIND = "|".join(rf"(?<=\b{word} )" for word in "in from by see of to and with like both while per than as for".split())
_NAMED = (
    r"(?:(?-i:\b(?:Paper|Source|Abstract|Document|Reference))\s\d{1,3}\b"
    rf"|(?:(?<=[(,;] )|(?<=\()|{_BEHIND})(?:paper|source|abstract)\s\d{{1,3}}\b"
    rf"|\b(?:papers|sources|abstracts)\s\d{{1,3}}(?:{_BESIDE}\d{{1,3}}){{1,9}}\b)"
)
"""In words, where it can mean nothing else: not "open source 7 times" or "we document 3 cases"."""
_VERBATIM = (
    r"```[\s\S]{0,2000}?```|`[^`\n]{1,300}`"
    r"|\$\$[^$]{1,1000}\$\$|(?<!\\)\$(?=[^\s$])[^$\n]{0,300}(?<![\s\\])\$(?!\d)"
    r"|\\\((?:(?!\\[()])[^\n]){1,300}\\\)|\\\[(?:(?!\\[\[\]])[\s\S]){1,1000}\\\]"
)
"""Code and formulas. A `$` before a space is a price, and so is a closing one behind a space or before a digit (as for Pandoc)."""
_KNOWN = (
    rf"(?P<verbatim>{_VERBATIM}|\[{{4}}|[ \t]{{10}})"
    rf"|(?P<lead>[ \t]{{0,9}})(?P<round>\((?:see |cf\. |e\.g\.,? )?|\[(?=\[))?(?P<run>(?:{_ONE}|{_NAMED})(?:[ \t,;]{{0,3}}{_ONE}){{0,20}})"
    rf"(?P<close>(?(round)[)\]]{_ADDRESS}|(?!)))?(?:[ \t]{{0,9}}(?=[.,;:!?)]))?"
)
_OPEN = (
    r"(?P<open>[ \t]{0,9}(?:\((?:see |cf\. |e\.g\.,? )?)?"
    rf"(?:(?:\[{{1,3}}|【)[\w\s,;:^#&†–—-]{{0,80}}|\b(?:{_BEGUN})s?(?:\s\d{{0,3}})?|[ \t(]|\([a-z., ]{{1,5}})$"
    r"|(?:```[\s\S]{0,2000}|`{1,3}|`[^`\n]{0,300}|(?<!\\)\$(?!\s)[^$\n]{0,300}|\$\$[^$]{0,1000}\$?)$"
    r"|(?:\\|\\\((?:(?!\\[()])[^\n]){0,300}|\\\[(?:(?!\\[\[\]])[\s\S]){0,1000})\\?$)"
)
"""What may become a marker, code or a formula when more of the text arrives."""
_LONGER = (
    r"(?P<longer>[ \t]{0,9}(?:\((?:see |cf\. |e\.g\.,? )?)?\b(?:papers|sources|abstracts)\s\d{0,3}"
    rf"(?:{_BESIDE}\d{{1,3}}){{0,9}}(?:,?\s?(?:a|an|and|o|or|&)?\s?|\s?[–—-]\s?)$)"
)
"""A list in words that may go on."""
_TOKEN = re.compile(_KNOWN, re.IGNORECASE)
_FEED = re.compile(rf"{_LONGER}|{_KNOWN}|{_OPEN}", re.IGNORECASE)
_GLUE = re.compile(r"\([^()\s]{0,300}|[ \t,;]{0,9}")
"""What may stand between a marker and the next one, or be the beginning of its address."""
_PART = re.compile(rf"(?:\[|【)(?P<listed>[^\]】]*)[\]】]{_ADDRESS}|{_WORD}\s(?P<named>\d{{1,3}}(?:{_BESIDE}\d{{1,3}})*)", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,3})(?:\s{0,2}[–—-]\s{0,2}#?(\d{1,3}))?")
_INTERVAL = re.compile(r"(?:interval|range|between|scale|∈)\s{0,2}(?:of\s|from\s)?$", re.IGNORECASE)
_CUT_OFF = re.compile(r"[ \t]{0,9}(?:\[{1,2}|【)[\d\s,;–-]{0,24}$")

_LINK = re.compile(r"!?\[(?!\d{1,3}\])([^\[\]\n]{0,200})\]\((?:https?:|www\.|data:|javascript:|mailto:|[#/.?])(?:[^()\s]|\([^()\s]{0,100}\)){0,500}(?:\s[^()\n]{0,100})?\)", re.IGNORECASE)
_BARE = re.compile(r"\s?<?\bhttps?://[^\s<>()\[\]\"']+[^\s<>()\[\]\"'.,;:!?*_]>?", re.IGNORECASE)

_MARKER = re.compile(rf"{_INDEX}\[(\d{{1,3}})\]")
_AFTER_STOP = re.compile(r"([.!?…。！？]{1,3}[\"”’)*_]{0,3})(\s{0,3})((?:\[\d{1,3}\])+)(?!\s*[a-z\[])")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*•]|\d{1,2}[.)]|#{1,6})[ \t]+")
_SOURCES_HEAD = re.compile(r"[\s#*_]*(?:sources?|references?|citations?|papers? cited|bibliography)[\s*_]*:?[\s*_]*", re.IGNORECASE)
_SOURCES_LINE = re.compile(r"[\s*_]*(?:sources?|references?|citations?)[\s*_]*:[\s*_]*[\[\d].*", re.IGNORECASE)
_SOURCES_ITEM = re.compile(r"\s*(?:[-*•\[【]|\d)")
_ADDRESS_LINE = re.compile(r"\s*\[\^?\d{1,3}\]:\s.*")


class Cited(NamedTuple):
    """A sentence of a model's answer, without its markers, and the numbers that it cites."""

    text: str
    numbers: tuple[int, ...]


class Marker(NamedTuple):
    """`text[start:end]` is the marker of paper `number`."""

    start: int
    end: int
    number: int


class Renumberer:
    """Feed it a model's text piece by piece; how the text is cut into pieces changes nothing. `shown`: how many papers the
    model saw, numbered from 1.

    After `finish`, `order` lists the shown numbers in order of first citation (order[0] is what the reader sees as [1]), and
    `unknown` counts the numbers that stood for no paper; `gaps` are the places in the text where they stood.
    """

    def __init__(self, shown: int):
        self.order: list[int] = []
        self.unknown = 0
        self.gaps: list[int] = []
        self._length = 0  # of all that was handed on
        self._shown = shown
        self._held = ""
        self._before = ""  # the last characters that were resolved: what follows may depend on them
        self._last = ""
        self._swallow = False

    def feed(self, piece: str) -> str:
        """The text that is certain so far; the end is held back while it may be part of a marker."""
        text = self._before + self._held + piece
        cut, run = len(text), None
        for match in _FEED.finditer(text, len(self._before)):
            if match["open"] is not None or match["longer"] is not None:
                cut = match.start()
                break
            run = match
        if run and (_GLUE.fullmatch(text, run.end(), cut) if run["run"] else run.end() == cut):
            cut = run.start()
        self._held = text[cut:]
        return self._resolve(text[len(self._before) : cut])

    def finish(self) -> str:
        text, self._held = _CUT_OFF.sub("", self._held), ""
        return self._resolve(text.rstrip())

    def _resolve(self, text: str) -> str:
        text = self._before + text
        out, at = [], len(self._before)
        for match in _TOKEN.finditer(text, at):
            unknown = self.unknown
            shown = self._shown_as(match["run"], text[max(0, match.start("run") - 20) : match.start("run")]) if match["run"] else None
            if shown is None:
                continue
            out.append(self._plain(text[at : match.start()]))
            at = match.end()
            if self.unknown > unknown:
                self.gaps.append(self._length + sum(map(len, out)))
            lead = (" " if match["lead"] else "") + ("" if match["close"] else match["round"] or "")
            if shown or lead.strip() or (lead and (text + self._held)[at : at + 1].isalnum()):
                out.append(self._plain(lead + shown))
            self._swallow = not shown and self._last in ("", "\n", " ", "(", "[")  # where nothing is left, one space is too many
        out.append(self._plain(text[at:]))
        self._before = text[-24:]
        told = "".join(out)
        self._length += len(told)
        return told

    def _plain(self, text: str) -> str:
        text = text.lstrip(" \t") if self._swallow else text
        if text:
            self._swallow, self._last = False, text[-1]
        return text

    def _shown_as(self, run: str, before: str) -> str | None:
        """The run of markers as the reader sees it, empty if it names no paper, or None if it is no citation after all."""
        out, cited = "", []
        for part in _PART.finditer(run):
            numbers = _numbers(part["listed"] if part["named"] is None else part["named"])
            known = [number for number in numbers if 1 <= number <= self._shown]
            interval = len(numbers) > 1 and (0 in numbers or (len(numbers) == 2 and "," in part[0] and _INTERVAL.search(before)))  # [0, 1]
            self.unknown += 0 if interval else len(numbers) - len(known)
            if interval or (part["named"] and not known):  # "Source 9" is a part of its sentence and can't be cut out
                out += " " * bool(out) + part[0]
                continue
            self.order += [number for number in dict.fromkeys(known) if number not in self.order]
            cited += known
        if out and not cited:
            return None
        return out + " " * bool(out) + "".join(f"[{self.order.index(number) + 1}]" for number in dict.fromkeys(cited))


def find(text: str) -> list[Marker]:
    """The markers of a renumbered text, in order; what looks like one in code or in a formula is none."""
    return [Marker(m.start(), m.end(), int(m[1])) for m in _MARKER.finditer(_masked(text))]


def without_links(text: str, known: str) -> str:
    """The text with the words of its links and pictures only, and without addresses that don't stand in `known`: what a model
    makes up, or is told to spread, must not be clicked or loaded."""
    text = _LINK.sub(r"\1", text)
    return _BARE.sub(lambda m: m[0] if m[0].strip(" \n\t<>") in known else "", text)


def unmarked(text: str) -> str:
    """The text without its markers, for where they would mean other papers."""
    return re.sub(r"[ \t]*\0+", "", _MARKER.sub("\0", _masked(text).replace("\0", "\1"))).replace("\1", "[")


def split(text: str) -> list[Cited]:
    """The sentences of a renumbered text. A marker after a full stop belongs to the sentence that it follows; an item of a list
    is a sentence of its own."""
    found = []
    for block in _blocks(text):
        block = _AFTER_STOP.sub(r" \3\1", _masked(block))
        for start, end in sentences(block):
            sentence = block[start:end]
            numbers = tuple(dict.fromkeys(int(n) for n in _MARKER.findall(sentence)))
            bare = re.sub(r"\s+([.,;:!?])", r"\1", re.sub(r"\s{2,}", " ", _MARKER.sub("", sentence))).strip().replace("\0", "[")
            if re.search(r"\w", bare):
                found.append(Cited(bare, numbers))
    return found


def place(text: str, sentence: str, start: int = 0) -> tuple[int, int] | None:
    """Where in a renumbered text a sentence without markers stands, as `split` gives it, from `start` on; None if it can't be
    told."""
    match = re.compile(r"\s+".join(map(re.escape, sentence.split()))).search(text, start)
    return match.span() if match else None


def marked(sentence: str, number: int) -> str:
    """The sentence with a marker before its stop."""
    stop = re.search(r"[.!?…。！？]*[\"”’*_]*$", sentence)
    return f"{sentence[: stop.start()]} [{number}]{sentence[stop.start() :]}" if stop else f"{sentence} [{number}]"


def without_sources(text: str) -> str:
    """The text without the list of sources that a model may add at its end."""
    lines = text.split("\n")
    listed = addresses = True  # whether all lines below are items of a list, or addresses
    cut = len(lines)
    for number in range(len(lines) - 1, 0, -1):
        line = lines[number]
        if (listed and _SOURCES_HEAD.fullmatch(line)) or (addresses and (_SOURCES_LINE.fullmatch(line) or _ADDRESS_LINE.fullmatch(line))):
            cut = number
        if line.strip():
            listed = listed and bool(_SOURCES_ITEM.match(line))
            addresses = addresses and cut == number
        if not listed and not addresses:
            break
    return "\n".join(lines[:cut]).rstrip()


def neutral(text: str) -> str:
    """A paper's own text with its markers defused, for showing it to a model: they mean other papers."""
    return _TOKEN.sub(lambda m: m[0] if m["verbatim"] else _defused(m[0]), text)


def _defused(run: str) -> str:
    if re.search(r"\d\s*,", run) and 0 in _numbers(run):
        return run
    run = re.sub(rf"\b({_WORD})\s(?=\d)", r"\1 no. ", run, flags=re.IGNORECASE)
    return run.translate({ord("["): "(", ord("]"): ")", ord("【"): "(", ord("】"): ")"})


def _masked(text: str) -> str:
    """Of the same length, with NUL for the brackets in code and formulas."""
    return _TOKEN.sub(lambda m: m[0].replace("[", "\0") if m["verbatim"] else m[0], text)


def _blocks(text: str) -> list[str]:
    blocks: list[str] = []
    for line in text.split("\n"):
        item = _LIST_ITEM.match(line)
        if item or not blocks or not line.strip():
            blocks.append(line[item.end() :] if item else line)
        else:
            blocks[-1] += "\n" + line
    return blocks


def _numbers(listed: str) -> list[int]:
    listed, colon, _ = re.sub(rf"{_WORD}:", "", listed, flags=re.IGNORECASE).partition(":")
    if colon:
        return [0]  # 【4:0†source】 counts messages and files, not papers
    numbers: list[int] = []
    for first, last in _RANGE.findall(listed.partition("†")[0]):
        if last and int(first) < int(last) <= int(first) + 20:
            numbers.extend(range(int(first), int(last) + 1))
        else:
            numbers.extend(int(n) for n in (first, last) if n)
    return numbers
