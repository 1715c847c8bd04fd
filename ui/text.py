"""Words of papers, models and people as HTML: escaped, with LaTeX set and quoted spans marked.

Pure. Never lets a character of its input act as markup, and never drops one.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from ui import maths

_UNSHOWABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def escape(text: str) -> str:
    """`text` as it stands, for element content and attribute values. Control characters and lone surrogates, which no
    page can hold, show as the replacement character."""
    return html.escape(_UNSHOWABLE.sub("\ufffd", text), quote=True)


def rich(text: str, marks: Iterable[tuple[int, int]] = ()) -> str:
    """`text` with its LaTeX set as MathML and the spans `marks` (start, end) inside <mark>. A formula is marked whole."""
    spans = _merged(marks, len(text))
    pieces: list[tuple[str, bool]] = []
    for start, end, tex, block in maths.split(text):
        if tex:
            source = f'<span class="tex">{escape(text[start:end])}</span>'
            pieces.append((maths.to_mathml(tex, block) or source, any(a < end and start < b for a, b in spans)))
            continue
        cuts = sorted({start, end, *(edge for span in spans for edge in span if start < edge < end)})
        for a, b in zip(cuts, cuts[1:]):
            pieces.append((escape(text[a:b]), any(s <= a < e for s, e in spans)))
    return _joined(pieces)


def shorten(text: str, limit: int) -> str:
    """At most about `limit` characters, cut between words."""
    return text if len(text) <= limit else text[:limit].rsplit(None, 1)[0].rstrip(",;:. ") + "…"


def _merged(marks: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """The spans in order, inside the text, without overlaps."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted((max(0, a), min(length, b)) for a, b in marks):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _joined(pieces: list[tuple[str, bool]]) -> str:
    out: list[str] = []
    inside = False
    for piece, marked in pieces:
        if marked != inside:
            out.append("<mark>" if marked else "</mark>")
            inside = marked
        out.append(piece)
    return "".join(out) + ("</mark>" if inside else "")
