"""Words of papers, models and people as HTML: escaped, with LaTeX and emphasis set and quoted spans marked.

Pure. Never lets a character of its input act as markup of the page, and never drops one, but those that only say how others are set
(the stars around *this*, `\\emph{…}`).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

from ui import maths

_UNSHOWABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
IN_BOLD = r"(?:(?!\*\*)[^\n]|\*(?=\*\*(?!\*))){1,400}?"
_SET = re.compile(
    rf"(?<![\w*\\])(?P<o1>\*\*)(?=\*?[^\s*])(?P<strong>{IN_BOLD})(?<=\S)(?P<c1>\*\*)(?![\w*])"
    r"|(?<![\w*\\])(?P<o2>\*\*)(?P<strong2>[^\W\d_]{1,12})(?P<c2>\*\*)(?=[a-z])"  # **Tan**dem **Hop**field **Net**work
    r"|(?<![\w*\\])(?P<o3>\*)(?=[^\s*])(?P<em>[^\n*]{1,200}?)(?<=\S)(?P<c3>\*)(?![\w*])"
    r"|(?<![\w*\\/])(?P<o4>_)(?=[^\s_])(?P<em2>[^\n_]{1,200}?)(?<=\S)(?P<c4>_)(?![\w/])"
    r"|(?<![\w`\\])(?P<o5>`)(?=[^\s`'])(?P<code>[^`\n]{1,100}?)(?<=\S)(?P<c5>`)(?![\w`'])"
    r"|(?P<o6>\\(?:emph|textit|textsl)\s?\{)(?P<em3>[^{}]{1,400})(?P<c6>\})"
    r"|(?P<o7>\\textbf\s?\{)(?P<strong3>[^{}]{1,400})(?P<c7>\})"
    r"|(?P<o8>\\texttt\s?\{)(?P<code2>[^{}]{1,400})(?P<c8>\})"
    r"|(?P<o9>\\(?:textsc|textsf|textrm|text|underline|url)\s?\{)(?P<span>[^{}]{1,400})(?P<c9>\})"
    r"|(?P<o10>\\(?=[%&#_$]))"
)
"""How words are emphasised in abstracts, as Markdown and as LaTeX; o… and c… are what only says so. Never over the end of a line."""


_ADDRESS = re.compile(r"https?://[^\s<>\"'’”“()\[\]{}]*[\w/]")
_MAY_SET = re.compile(r"[*_`\\]")


def escape(text: str) -> str:
    """`text` as it stands, for element content and attribute values. Control characters and lone surrogates, which no
    page can hold, show as the replacement character."""
    return html.escape(_UNSHOWABLE.sub("\ufffd", text), quote=True)


def rich(text: str, marks: Iterable[tuple[int, int]] = (), links: bool = False) -> str:
    """`text` with its LaTeX set as MathML, its emphasis as such, and the spans `marks` (start, end) inside <mark>. A formula is
    marked whole. `links`: whether web addresses become links (not where a link is no good, as within another)."""
    words = _linked if links else escape
    spans = _merged(marks, len(text))
    runs = list(maths.split(text))
    styles = list(_styles("".join("\ue000" * (end - start) if tex else text[start:end] for start, end, tex, _ in runs)))
    edges = {edge for span in spans for edge in span} | {edge for start, end, _ in styles for edge in (start, end)}
    pieces: list[tuple[str, bool, tuple[str, ...]]] = []
    for start, end, tex, block in runs:
        if tex:
            source = f'<span class="tex">{escape(text[start:end])}</span>'
            style = tuple(tag for a, b, tag in styles if tag and a <= start < b)
            pieces.append((maths.to_mathml(tex, block) or source, any(a < end and start < b for a, b in spans), style))
            continue
        cuts = sorted({start, end, *(edge for edge in edges if start < edge < end)})
        for a, b in zip(cuts, cuts[1:]):
            tags = [tag for s, e, tag in styles if s <= a < e]
            if None not in tags:
                pieces.append((words(text[a:b]), any(s <= a < e for s, e in spans), tuple(tag for tag in tags if tag)))
    return _joined(pieces)


def _linked(text: str) -> str:
    parts, at = [], 0
    for match in _ADDRESS.finditer(text):
        address = escape(match[0])
        parts += [escape(text[at : match.start()]), f'<a href="{address}" target="_blank" rel="noopener noreferrer nofollow">{address}</a>']
        at = match.end()
    return "".join([*parts, escape(text[at:])])


def shorten(text: str, limit: int) -> str:
    """At most about `limit` characters, cut between words."""
    return text if len(text) <= limit else text[:limit].rsplit(None, 1)[0].rstrip(",;:. ") + "…"


def _styles(text: str) -> Iterator[tuple[int, int, str | None]]:
    """(start, end, element) of what is emphasised, and (start, end, None) of what only says so."""
    for match in _SET.finditer(text) if _MAY_SET.search(text) else ():
        for name, value in match.groupdict().items():
            if value is not None:
                tag = name.rstrip("0123456789")
                yield match.start(name), match.end(name), {"o": None, "c": None, "span": ""}.get(tag, tag)
                if tag in ("strong", "span"):
                    yield from ((match.start(name) + start, match.start(name) + end, inner) for start, end, inner in _styles(value))


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


def _joined(pieces: list[tuple[str, bool, tuple[str, ...]]]) -> str:
    """Elements inside marks: all are closed where one changes."""
    out: list[str] = []
    marked = False
    style: tuple[str, ...] = ()
    for piece, now_marked, now_style in [*pieces, ("", False, ())]:
        if (now_marked, now_style) != (marked, style):
            out.extend(f"</{tag}>" for tag in reversed(style))
            if now_marked != marked:
                out.append("<mark>" if now_marked else "</mark>")
            out.extend(f"<{tag}>" for tag in now_style)
            marked, style = now_marked, now_style
        out.append(piece)
    return "".join(out)
