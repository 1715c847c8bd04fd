"""Whether a paper meets a literal criterion: its words, its links, its record.

Pure and exact: whatever the case, hyphens and plurals, and never a part of another word or version. Judges no subject.
"""

from __future__ import annotations

import re

from .criteria import GITHUB, LINK, PAGE, PERCENT, Criterion
from .papers import Paper
from .passages import Span, sentences

_FEATURES = {
    PAGE: re.compile(r"\.github\.io\b|\bproject (?:web)?(?:page|site)|https?://(?!(?:www\.)?(?:github|gitlab|huggingface)\.co|anonymous|(?:dx\.)?doi\.org|arxiv\.org)", re.IGNORECASE),
    GITHUB: re.compile(r"\bgit(?:hub|lab)\.(?:com|io)\b|\.github\.io\b", re.IGNORECASE),
    LINK: re.compile(r"https?://|\bwww\.\w|\b[\w-]+\.(?:com|org|io|net|edu|ai|dev)/|\b[\w-]+\.github\.io\b", re.IGNORECASE),
    PERCENT: re.compile(r"\d\s*(?:\\?%|\bper ?cent\b)", re.IGNORECASE),
}


def pattern(phrase: str, inside: bool = False) -> re.Pattern[str]:
    """Finds a phrase in a text: whole words, whatever their case, hyphens and plural endings; a name may carry a version, but
    GPT-3 is not found in GPT-3.5, and GPT3 is the same as GPT-3."""
    words = re.findall(r"[^\W_]+(?:[+.^][^\W_]+)*\+*", phrase)
    if words and len(words[-1]) > 3 and words[-1].endswith("s") and not words[-1].endswith("ss"):
        words[-1] = words[-1][:-1]
    joined = r"(?:['’]s)?[\s–—_-]*(?:(?<=\s)(?:and|or) \w+ )?".join(re.sub(r"(?<=[^\W\d_]{2})(?=\d)", r"[\\s–—_-]?", re.escape(word)) for word in words)
    ending = r"(?![\w])(?!\.\d)" if words and words[-1][-1].isdigit() else r"(?:s|es|['’]s|d|ed)?(?:[- ]?v?\d[\d.]*\w?)?(?![\w])"
    return re.compile(joined if inside else rf"(?<![^\W_]){joined}{ending}", re.IGNORECASE)


def mention(criterion: Criterion, paper: Paper) -> tuple[bool, Span | None]:
    """Whether the paper meets a "mention" criterion, and the first sentence of its abstract that shows it (none if the title
    does, or if it is met by an absence)."""
    patterns = [_FEATURES[criterion.feature]] if criterion.feature else [pattern(phrase, criterion.inside) for phrase in criterion.phrases]
    if criterion.title_only or criterion.opens:
        where = (paper.title if criterion.title_only else paper.abstract).strip()
        there = any((p.match if criterion.opens else p.search)(where) for p in patterns)
        if any(pattern(phrase).search(f"{paper.title}\n{paper.abstract}") for phrase in criterion.unwanted):
            return False, None
        return there != criterion.negated, sentences(paper.abstract)[0] if there and criterion.opens and not criterion.title_only else None
    some = all if criterion.every else any
    where = paper.abstract if criterion.abstract_only or not criterion.every else f"{paper.title}\n{paper.abstract}"
    found = some(p.search(where) for p in patterns)
    spans = sentences(paper.abstract) if found else []
    shows = next((span for span in spans if any(p.search(paper.abstract, span.start, span.end) for p in patterns)), None)
    if any(pattern(phrase).search(f"{paper.title}\n{paper.abstract}") for phrase in criterion.unwanted):
        return False, None
    there = found or not criterion.abstract_only and any(p.search(paper.title) for p in patterns)
    return (not there, None) if criterion.negated else (there, shows)


def gives(criterion: Criterion, paper: Paper) -> bool:
    """Whether the paper has the feature that a topical criterion asks for besides its subject, if it does."""
    return not criterion.feature or bool(_FEATURES[criterion.feature].search(paper.abstract)) != criterion.negated


def recorded(criterion: Criterion, paper: Paper) -> bool:
    """Whether the paper's authors and year meet a "record" criterion."""
    if criterion.years != (0, 9999) and not (paper.year and criterion.years[0] <= paper.year <= criterion.years[1]):
        return False
    wanted = criterion.author.lower().replace(".", " ").split()
    return all(any(_is_name(word, name.lower().replace(".", " ").split()) for name in paper.authors) for word in [wanted]) if wanted else True


def _is_name(wanted: list[str], name: list[str]) -> bool:
    """Every word of the wanted name is in the name, in order; an initial stands for a first name."""
    rest = iter(name)
    return all(any(part == word or (len(word) == 1 and part.startswith(word)) for part in rest) for word in wanted)
