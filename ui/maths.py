"""Finds LaTeX in running text and sets it as MathML, so that abstracts read well without any script in the page.

Never guesses: a dollar sign is maths only when it can't be a price, and what can't be set without losing a letter or
digit is shown as it was written. Never lets an element or attribute through that isn't on the lists below.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from xml.etree import ElementTree

from latex2mathml.converter import convert

LONGEST = 600
"""Longer spans are shown as they were written: setting them takes time, and nobody reads them in a side panel."""

WIDE = 40
"""A displayed formula longer than this may have to be scrolled on a phone: it can be focused for that."""

_SPAN = re.compile(
    r"(?<!\\)\$\$(?P<block>[^$]{1,2400})\$\$"
    r"|\\\[(?P<bracket>(?:[^\\]|\\(?![(\[])){1,2400}?)\\\]"
    r"|\\\((?P<round>(?:[^\\]|\\(?![(\[])){1,2400}?)\\\)"
    r"|(?<![\\$])\$(?P<dollar>(?:[^$\\]|\\.){1,2400})\$",
    re.DOTALL,
)
_SYMBOLS = r"A-Za-z0-9'()\[\]+\-*/=<>|,.:!%@\u2019\u2032\u00b1\u00b7\u00d7\u0370-\u03ff\u2200-\u22ff"
_TIGHT = re.compile(rf"[{_SYMBOLS}]{{1,24}}")
_LOOSE = re.compile(rf"[{_SYMBOLS} ]{{1,32}}")
_WORD = re.compile(r"[A-Za-z]{4,}|[A-Za-z]{2,} [A-Za-z]{2,}")
_PROSE = re.compile(r"(?:\b[A-Za-z]{2,}[,;:.]? +){2}[A-Za-z]{2,}")
_TEXT = re.compile(r"\\(?:text\w*|mathrm|mathit|mbox|emph|operatorname\*?)\s*\{[^{}]*\}")
_COMMAND = re.compile(r"\\(?:begin|end)\{[a-z*]+\}|\\[A-Za-z]+|\\.", re.DOTALL)
_NAMED = re.compile(
    r"\\(?:operatorname\*?|log|ln|exp|min|max|sup|inf|lim|arg|det|dim|ker|gcd|deg|Pr|sin|cos|tan|sinh|cosh"
    r"|tanh|mod|bmod|pmod|limsup|liminf|argmin|argmax)(?![A-Za-z])"
)
_TAGS = frozenset(
    ["math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "msup", "msub", "msubsup", "mover", "munder", "munderover", "mfrac", "msqrt", "mroot", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "mmultiscripts", "mprescripts", "none"]
)
_PARTS = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "mover": 2, "munder": 2, "msubsup": 3, "munderover": 3}
_ATTRIBUTES = frozenset(
    ["display", "mathvariant", "stretchy", "fence", "separator", "form", "lspace", "rspace", "accent", "accentunder", "movablelimits", "linethickness", "displaystyle", "scriptlevel", "minsize", "maxsize", "width", "columnalign", "rowspacing", "columnspacing", "largeop", "symmetric"]
)
_VALUE = re.compile(r"[A-Za-z0-9.+\- %]*")


def split(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """The text cut into runs (start, end, tex, is_block); `tex` is empty where the run is plain text. Nothing is left out."""
    at = look = 0
    while match := _SPAN.search(text, look) if "$" in text or "\\" in text else None:
        kind = match.lastgroup or ""
        if not _is_maths(match[kind], kind, text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]):
            look = match.start() + 1
            continue
        if at < match.start():
            yield at, match.start(), "", False
        yield match.start(), match.end(), match[kind], kind in ("block", "bracket")
        at = look = match.end()
    if at < len(text):
        yield at, len(text), "", False


def to_mathml(tex: str, block: bool) -> str:
    """`tex` as a <math> element, or empty where it can't be set without losing something."""
    return _mathml(tex.strip(), block)


def _is_maths(tex: str, kind: str, before: str, after: str) -> bool:
    """Whether a delimited span is maths: it has LaTeX in it, or is an expression so short that no sentence would hold it."""
    if not tex.strip() or "\n\n" in tex:
        return False
    if kind != "dollar":
        return True
    if re.search(r"\\[A-Za-z%!,;]|[\^_{}]", tex):
        if _PROSE.search(_TEXT.sub("", tex)):
            return False  # two dollar signs that don't belong together
        return bool(re.search(r"\\[A-Za-z%!,;]|^[\^_]", tex)) or not (before.isalnum() or after.isdigit())
    if tex[0].isspace() or tex[-1].isspace() or before.isalnum() or after.isdigit() or not _balanced(tex):
        return False  # prices: "$5 to $10", "US$5"
    if _WORD.search(tex):
        return bool(_TIGHT.fullmatch(tex)) and tex[0].isalpha() and not after.isalnum()
    return bool(_LOOSE.fullmatch(tex))


def _balanced(tex: str) -> bool:
    """As many brackets open as close; a half-open interval counts as balanced."""
    return sum(map(tex.count, "([")) == sum(map(tex.count, ")]"))


@lru_cache(maxsize=2048)
def _mathml(tex: str, block: bool) -> str:
    if len(tex) > LONGEST or tex.count("{") > 60:
        return ""
    try:
        root = ElementTree.fromstring(convert(tex, display="block" if block else "inline"))
    except Exception:  # whatever a LaTeX parser makes of arbitrary text, the text itself is still shown
        return ""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if element.tag not in _TAGS or len(element) != _PARTS.get(element.tag, len(element)):
            return ""
        for name in list(element.attrib):
            if name not in _ATTRIBUTES or not _VALUE.fullmatch(element.attrib[name]):
                del element.attrib[name]
    shown = "".join(root.itertext())
    if "\\" in shown or _letters(shown) != _letters(_written(tex)):
        return ""
    _space(root)
    root.set("alttext", tex)
    if block and len(tex) > WIDE:
        root.set("tabindex", "0")
    return ElementTree.tostring(root, encoding="unicode")


def _space(root: ElementTree.Element) -> None:
    """A thin space around the names of functions, which the converter sets solid (n log n, not nlogn), and none around
    bars, which it sets as if they stood between two things (|S||A|)."""
    for bar in [element for element in root.iter("mo") if element.text in ("|", "∣", "‖", "∥")]:
        bar.attrib.update(lspace="0", rspace="0", stretchy="false")
    for row in [element for element in root.iter() if element.tag in ("mrow", "math")]:
        for child in list(row):
            name = child if child.tag == "mi" else (child[0] if len(child) and child.tag.startswith("msu") else None)
            if name is None or name.tag != "mi" or len(name.text or "") < 2 or not (name.text or "").isalpha():
                continue
            at = list(row).index(child)
            if at + 1 < len(row) and row[at + 1].tag != "mo":
                row.insert(at + 1, ElementTree.Element("mspace", width="0.17em"))
            if at and (row[at - 1].tag != "mo" or row[at - 1].text == ")"):
                row.insert(at, ElementTree.Element("mspace", width="0.17em"))


def _written(tex: str) -> str:
    """The tex without its commands, keeping the names that are themselves shown (\\log shows as log)."""
    named = re.sub(r"\\ell(?![A-Za-z])", "l", tex)
    named = _NAMED.sub(lambda match: match[0].strip("\\*").replace("operatorname", ""), named)
    return _COMMAND.sub("", named)


def _letters(text: str) -> list[str]:
    """Plain letters and digits, in any order: scripts and limits may move, styles (double-struck, script) don't count."""
    return sorted(c for c in unicodedata.normalize("NFKD", text) if c.isascii() and c.isalnum())
