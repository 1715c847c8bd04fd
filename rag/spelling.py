"""Words typed wrong: letters that changed places, one too many or one too few, put right where the library writes the word.

Corrects towards words of the papers and the commonest words of English only, and leaves whatever is a word (of English, or of any
paper) as it is: a subject that the library doesn't know is never bent into one that it does. Never touches names.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Callable, Iterable

from .lexical import STOP_WORDS, all_terms
from .papers import Paper

_VOCABULARY = Path(__file__).parent / "models" / "all-MiniLM-L6-v2" / "tokenizer.json"
"""The bundled model's own words: 30,522 pieces, of which those that begin words tell English from slips."""
_WORD = re.compile(r"(?<![\w'’/.:@-])[a-z]{3,}(?![\w'’/@-])")
_ENDINGS = ("s", "es", "ed", "d", "ing", "ings", "er", "ers", "r", "rs", "or", "ors", "ly", "able", "ness", "ion", "ions", "ation", "al", "ive", "est", "ment", "ments")
_BRITISH = re.compile(r"is(e|es|ed|er|ers|ing|ation|ations)$")
_LONG, _SHORT = 9, 5
"""Letters from which two slips are put right, and below which only letters that changed places are."""
_TWICE = 2
"""Papers that must write a short word before others are corrected to it."""


class Spelling:
    """What the library's words are, for putting questions right."""

    def __init__(self, papers: Iterable[Paper]) -> None:
        counts: Counter[str] = Counter()
        for paper in papers:
            counts.update(set(re.findall(r"[a-z]{3,}", f"{paper.title} {paper.abstract}".lower())))
        self._known = counts
        self._near: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in {w for w, n in counts.items() if n >= _TWICE or len(w) > _SHORT + 1} | {w for w in STOP_WORDS if len(w) > 2}:
            self._near[word[0], len(word)].append(word)

    def corrected(self, question: str, is_name: Callable[[str], bool]) -> str:
        """The question with its slips put right; the question itself if it has none. In capitals, nothing is."""

        def put_right(match: re.Match[str]) -> str:
            word = self._word(match[0])
            return match[0] if word == match[0] or is_name(match[0]) else word

        return _WORD.sub(put_right, question)

    def _word(self, word: str) -> str:
        if word in self._known or _is_english(word) or any(word.removesuffix(ending) in self._known for ending in _ENDINGS):
            return word
        american = _BRITISH.sub(r"iz\1", word)
        if american in self._known or american in _english():
            return american
        slips = 2 if len(word) >= _LONG else 1
        near = [(distance, -self._known[other], other) for n in range(-slips, slips + 1) for other in self._near.get((word[0], len(word) + n), ()) if (distance := _slips(word, other, slips)) <= slips]
        if len(word) < _SHORT:
            near = [found for found in near if sorted(found[2]) == sorted(word)]
        best = min(near)[2] if near else word
        return word if all_terms(best) == all_terms(word) else best  # the search knows no endings


def _is_english(word: str) -> bool:
    """Whether it is a word, or one with an ending, or one that only its forms with an ending are known of."""
    pieces = _english()
    if word in pieces or word in STOP_WORDS:
        return True
    for ending in _ENDINGS:
        base = word.removesuffix(ending)
        if base != word and len(base) > 2 and {base, f"{base}e", f"{base}y" if base[-1:] != "i" else f"{base[:-1]}y", base[:-1] if base[-1] == base[-2] else base} & pieces:
            return True
        if len(word) > 4 and word.rstrip("e") + ending in pieces:
            return True
    return any(word.startswith(start) and word[len(start) :] in pieces and len(word) - len(start) > 3 for start in ("re", "un", "de", "pre", "non", "over", "mis", "multi"))


@lru_cache(maxsize=1)
def _english() -> frozenset[str]:
    pieces = json.loads(_VOCABULARY.read_text(encoding="utf-8"))["model"]["vocab"]
    return frozenset(piece for piece in pieces if piece.isalpha() and len(piece) > 2)


def _slips(a: str, b: str, most: int) -> int:
    """Optimal string alignment distance (insertions, deletions, replacements, neighbours that changed places), or `most` + 1 if it
    is more."""
    if sum((Counter(a) - Counter(b)).values()) > most:
        return most + 1
    before, last = [0] * (len(b) + 1), list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            least = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                least = min(least, before[j - 2] + 1)
            row.append(least)
        before, last = last, row
    return last[-1]
