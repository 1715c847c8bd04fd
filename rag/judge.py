"""Which of these papers meet the criterion of a question? Asked of the model, many papers at a time, for a bounded number of calls.

Decides nothing that the model doesn't say plainly: a paper without one clear word, a reply that can't be read and a model that
fails leave it undecided, as whoever asks had it. Which papers were asked about depends on the order of the candidates only if
there are too many; what the model sees of them never does.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_right
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Sequence

from . import prompts
from .calls import Complete, reply, tokens
from .errors import ModelFailed
from .lexical import searchable
from .listing import Match
from .papers import Paper
from .shown import fit, source, sources

log = logging.getLogger(__name__)

BATCH = 10
"""Papers a call: with many more, models lose count."""
_REPLY_TOKENS = 12
"""A paper, with room to spare."""
_VERDICT = re.compile(r"(?<![\d.])(\d{1,3})[\"'\])\s:.=|*_–—-]{1,12}(yes|no|true|false)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Judged:
    """`matches`: by id of a paper, whether it meets the criterion; undecided papers are absent. `calls` that were made.
    `failure`: what went wrong with the model, in a sentence, or empty."""

    matches: dict[str, bool] = field(default_factory=dict)
    calls: int = 0
    failure: str = ""


def judge(
    question: str, candidates: Sequence[Paper], complete: Complete, calls: int, context_tokens: int, answer_tokens: int
) -> Generator[str, None, Judged]:
    """Returns a Judged; yields an empty piece for every one that the model gives, so that it can be stopped. `candidates`: those
    that matter most first, as there may be more than `calls` calls can take. Makes no call for no candidate. Never raises
    ModelFailed: after a failed call, or two replies of which nothing could be read, no other is made, and what was decided before
    stands."""
    question = searchable(question)
    room = context_tokens - sum(tokens(text) for _, text in _messages((), question))
    size = max(1, min(BATCH, answer_tokens // _REPLY_TOKENS))
    matches: dict[str, bool] = {}
    made = unreadable = 0
    for batch in _batches(candidates, max(0, calls), size, room):
        made += 1
        try:
            said = yield from reply(complete, _messages(batch, question), 80 * len(batch) + 200)
        except ModelFailed as error:
            return Judged(matches, made, str(error))
        decided = read(said, len(batch))
        if len(decided) < len(batch):
            log.info("The model left %d of %d papers undecided", len(batch) - len(decided), len(batch))
        matches |= {batch[number - 1].id: yes for number, yes in decided.items()}
        unreadable = 0 if decided else unreadable + 1
        if unreadable == 2:
            break
    return Judged(matches, made)


def most_doubtful_first(matches: Sequence[Match], sure: float) -> list[Paper]:
    """The doubtful papers, then the sure ones; of both, those next to the border first."""
    return [match.paper for match in sorted(matches, key=lambda m: (m.sure >= sure, abs(m.sure - sure)))]


def settled(matches: Sequence[Match], judged: Judged, sure: float) -> list[Match]:
    """The matches as the model has them, surest first: without those that it turned down, and with no doubt (at least `sure`) about
    those that it took. The undecided stay as they are."""
    kept = [match for match in matches if judged.matches.get(match.paper.id, True)]
    taken = [m._replace(sure=sure + (1 - sure) * m.sure) if m.paper.id in judged.matches else m for m in kept]
    return sorted(taken, key=lambda match: -match.sure)


def read(said: str, count: int) -> dict[int, bool]:
    """Number of the paper → yes or no, for the numbers from 1 to `count` of which the reply says one thing and not the other."""
    found: dict[int, set[bool]] = {}
    for number, word in _VERDICT.findall(said):
        found.setdefault(int(number), set()).add(word.lower() in ("yes", "true"))
    return {number: yes for number, (yes, *more) in found.items() if not more and 1 <= number <= count}


def _messages(papers: Sequence[Paper], question: str) -> list[tuple[str, str]]:
    return prompts.load("judge").fill(papers=sources(papers), question=question, count=str(len(papers)))


def _batches(candidates: Sequence[Paper], calls: int, size: int, room: int) -> list[list[Paper]]:
    """The first candidates, as many as fit into so many calls, each batch in an order of its own."""
    chosen = [_small_enough(paper, room) for paper in list({paper.id: paper for paper in candidates}.values())[: calls * size]]
    costs = {paper.id: tokens(source(1, paper)) + _REPLY_TOKENS for paper in chosen if paper}
    kept = [paper for paper in chosen if paper]

    def packed(count: int) -> list[list[Paper]]:
        return _packed(sorted(kept[:count], key=lambda paper: paper.id), costs, size, room)

    return packed(bisect_right(range(1, len(kept) + 1), calls, key=lambda count: len(packed(count))))[:calls]


def _small_enough(paper: Paper, room: int) -> Paper | None:
    """The paper, cut at the end of a sentence if it is too large for a call of its own; None if that doesn't help."""
    return next(iter(fit([paper], room - _REPLY_TOKENS)), None)


def _packed(papers: Sequence[Paper], costs: dict[str, int], size: int, room: int) -> list[list[Paper]]:
    """In this order, no more than `size` in a batch, and none larger than `room` tokens."""
    batches: list[list[Paper]] = []
    left = 0
    for paper in papers:
        if not batches or len(batches[-1]) == size or costs[paper.id] > left:
            batches.append([])
            left = room
        batches[-1].append(paper)
        left -= costs[paper.id]
    return batches
