"""[n] markers ↔ papers: parsed as a model's text streams, renumbered in order of first appearance.

Pure. A marker resolves only against the papers that were shown; an unknown number is dropped and counted, never repaired by a
guess. What stands in code or in a formula is never a marker. Knows nothing of models or pages.
"""

from __future__ import annotations

import re
from typing import Iterator, NamedTuple

from .passages import sentences

_WORD = r"(?:papers?|sources?|abstracts?|documents?|references?)"
_ITEM = rf"(?:{_WORD}\s?)?#?\d{{1,3}}"
_LIST = rf"{_ITEM}(?:\s{{0,2}}(?:[,;&–—-]|and)\s{{0,2}}{_ITEM}){{0,19}}"
_TAIL = r"\s{0,2}(?::\d{1,3})?(?:†[^\]】\n]{0,40})?"
_ADDRESS = r"(?:\((?:https?:|www\.|[#/])[^()\s]{0,300}\))?"
"""A model that links its markers made the address up: addresses come from the papers' records only."""
_INDEX = r"(?<![\s(=,$][a-z])"
"""Not behind a lone small letter: `a[1]` is an element of a list."""
_ONE = rf"(?:{_INDEX}\[\^?\s{{0,2}}{_LIST}{_TAIL}\]{_ADDRESS}|【\s{{0,2}}{_LIST}{_TAIL}】|\b{_WORD}\s\d{{1,3}}\b)"
_RUN = rf"{_ONE}(?:[ \t,;]{{0,3}}{_ONE}){{0,20}}"
_VERBATIM = (
    r"```[\s\S]{0,2000}?```|`[^`\n]{1,300}`"
    r"|\$\$[^$]{1,1000}\$\$|(?<!\\)\$(?=[^\s$])[^$\n]{0,300}(?<![\s\\])\$(?!\d)"
    r"|\\\((?:(?!\\[()]).){1,300}\\\)|\\\[(?:(?!\\[\[\]])[\s\S]){1,1000}\\\]"
)
"""Code and formulas. A `$` before a space or behind one is a price, as for Pandoc."""
_TOKEN = re.compile(
    rf"(?P<verbatim>{_VERBATIM})"
    rf"|(?P<lead>[ \t]{{0,9}})(?:\((?:see |cf\. |e\.g\.,? )?\s?(?P<round>{_RUN})\s?\)|\[\s?(?P<square>{_RUN})\s?\]{_ADDRESS}|(?P<run>{_RUN}))(?P<trail>[ \t]{{0,9}}(?=[.,;:!?)]))?",
    re.IGNORECASE,
)
_PARTS = re.compile(rf"(?P<indexed>\[|【)[^\]】]*[\]】]{_ADDRESS}|{_WORD}\s(?P<named>\d{{1,3}})", re.IGNORECASE)
_LISTED = re.compile(r"(\d{1,3})(?:\s{0,2}[–—-]\s{0,2}#?(\d{1,3}))?")
_OPEN = re.compile(
    r"(?:"
    r"[ \t]{0,9}[(\[]?\s?[\[【][\w\s,;:^#&†–—-]{0,80}"  # a bracket not closed
    r"|[ \t]{0,9}[\[(](?:see |cf\. |e\.g\.,? )?\s?"
    rf"|[ \t]{{0,9}}[(\[]?\s?{_RUN}\]{{0,1}}[ \t,;)]{{0,9}}(?:[\[【(][^\]】()\s]{{0,300}})?"  # a marker that may go on
    r"|\b[a-z]{1,10}(?:\s\d{0,3})?"  # "Source 2", perhaps
    r"|```[\s\S]{0,2000}|`{1,2}|`[^`\n]{0,300}"
    r"|(?<!\\)\${1,2}(?!\s)[^$\n]{0,300}|\$\$[^$]{0,1000}\$?"
    r"|\\|\\\((?:(?!\\[()]).){0,300}|\\\[(?:(?!\\[\[\]])[\s\S]){0,1000}"
    r"|[ \t]{1,9}"
    r")$",
    re.IGNORECASE,
)
