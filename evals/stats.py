"""How sure a figure is: intervals by resampling papers, bounds for "0 of n", and whether two runs differ.

Questions about one paper rise and fall together, so what is resampled are clusters (papers, dialogues), not questions; see Miller 2024,
"Adding Error Bars to Evals" (arXiv 2411.00640). Seeded: the same scores give the same intervals. Needs numpy only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Sequence

import numpy as np

RESAMPLES = 2000
LEVEL = 0.95
_Z = 1.959963984540054
"""Of the normal distribution, for 95 % on both sides."""
_EXACT = 12
"""Up to this many clusters, every assignment of signs is tried."""
_PERMUTATIONS = 10_000


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % interval. `n`: values it is the mean of; `clusters`: independent groups that they form."""

    value: float
    low: float
    high: float
    n: int
    clusters: int


def mean_intervals(
    values: np.ndarray, clusters: Sequence[str], seed: int = 0, bounded: Sequence[bool] | None = None
) -> list[Interval | None]:
    """An interval for each column of `values`, shape (rows, columns), NaN where a column does not apply to a row; None for a column of
    NaN only. `clusters`: the group of each row.

    Percentile bootstrap of the mean over clusters, 2000 resamples (Efron and Tibshirani 1993, ch. 13; clusters as in Cameron, Gelbach and
    Miller 2008). Where all values are 0, or all are 1 and the column is `bounded` to 0..1 (default: every column), resampling would show
    no doubt at all: there the rule of three over clusters stands in for it.
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 2 or len(values) != len(clusters):
        raise ValueError("values must have one row for each entry of clusters")
    names, place = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    held = ~np.isnan(values)
    sums = np.zeros((len(names), values.shape[1]))
    counts = np.zeros_like(sums)
    np.add.at(sums, place, np.where(held, values, 0.0))
    np.add.at(counts, place, held)
    found: list[Interval | None] = []
    draws = _draws(len(names), seed) if len(names) else np.empty((0, 0))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (draws @ sums) / (draws @ counts)
    for column in range(values.shape[1]):
        n, groups = int(counts[:, column].sum()), int((counts[:, column] > 0).sum())
        if not n:
            found.append(None)
            continue
        value = float(sums[:, column].sum() / n)
        low, high = np.nanpercentile(means[:, column], [50 * (1 - LEVEL), 100 - 50 * (1 - LEVEL)])
        within = bounded is None or bounded[column]
        seen = values[held[:, column], column]
        if not seen.any():
            high = rule_of_three(groups)
        elif within and (seen == 1).all():
            low = 1 - rule_of_three(groups)
        found.append(Interval(value, float(low), float(high), n, groups))
    return found


def mean_interval(values: Sequence[float | None], clusters: Sequence[str], seed: int = 0, bounded: bool = True) -> Interval | None:
    """`mean_intervals` of one list of values, None for not applicable."""
    column = np.array([[math.nan if v is None else v] for v in values], dtype=float).reshape(len(values), 1)
    return mean_intervals(column, clusters, seed, [bounded])[0]


def wilson(successes: int, n: int) -> tuple[float, float]:
    """95 % interval of a share, for independent trials (Wilson 1927). (0, 1) for no trials."""
    if not n:
        return 0.0, 1.0
    share, square = successes / n, _Z * _Z
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = _Z * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def rule_of_three(n: int) -> float:
    """Upper 95 % bound of a rate after none was seen in n (Hanley and Lippman-Hand 1983): 3 / n, at most 1."""
    return min(1.0, 3 / n) if n else 1.0


def balanced_accuracy(labels: Sequence[bool], said: Sequence[bool], clusters: Sequence[str], seed: int = 0) -> Interval | None:
    """Mean of the share of true labels that were said to be true and of false ones said to be false (Brodersen et al. 2010), with its
    cluster bootstrap interval; None unless both labels are there."""
    true, right = np.asarray(labels, dtype=bool), np.asarray(labels, dtype=bool) == np.asarray(said, dtype=bool)
    if not true.any() or true.all():
        return None
    names, place = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    counts = np.zeros((len(names), 4))
    np.add.at(counts, place, np.stack([true & right, true, ~true & right, ~true], axis=1).astype(float))
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = _draws(len(names), seed) @ counts
        means = (drawn[:, 0] / drawn[:, 1] + drawn[:, 2] / drawn[:, 3]) / 2
    low, high = np.nanpercentile(means, [50 * (1 - LEVEL), 100 - 50 * (1 - LEVEL)])
    hits, all_true, quiet, all_false = counts.sum(axis=0)
    return Interval(float((hits / all_true + quiet / all_false) / 2), float(low), float(high), len(true), len(names))


def paired_difference(a: Sequence[float | None], b: Sequence[float | None], clusters: Sequence[str], seed: int = 0) -> Interval | None:
    """Mean of b − a over the pairs in which both apply, with its cluster bootstrap interval; None if there is no such pair. If no pair
    differs, the interval is 0 to 0: read it with n."""
    kept = [(y - x, c) for x, y, c in zip(a, b, clusters, strict=True) if x is not None and y is not None]
    if not kept:
        return None
    differences = [d for d, _ in kept]
    if not any(differences):
        return Interval(0.0, 0.0, 0.0, len(kept), len({c for _, c in kept}))
    return mean_interval(differences, [c for _, c in kept], seed, bounded=False)


def paired_permutation(a: Sequence[float | None], b: Sequence[float | None], clusters: Sequence[str], seed: int = 0) -> float | None:
    """Two-sided p that the mean of b − a is no chance: the share of assignments of signs to the clusters' differences whose sum is at
    least as large (Fisher 1935). All assignments for up to 12 clusters that differ, else 10,000 random ones, counted with the observed
    one (Phipson and Smyth 2010). None if there is no pair, 1 if no pair differs."""
    sums: dict[str, float] = {}
    for x, y, cluster in zip(a, b, clusters, strict=True):
        if x is not None and y is not None:
            sums[cluster] = sums.get(cluster, 0.0) + y - x
    if not sums:
        return None
    differences = np.array([d for d in sums.values() if abs(d) > 1e-12])
    if not len(differences):
        return 1.0
    observed = abs(differences.sum()) - 1e-9
    if len(differences) <= _EXACT:
        signs = 1 - 2 * ((np.arange(2 ** len(differences))[:, None] >> np.arange(len(differences))) & 1)
        return float((np.abs(signs @ differences) >= observed).mean())
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (_PERMUTATIONS, len(differences)))
    return float((1 + (np.abs(signs @ differences) >= observed).sum()) / (1 + _PERMUTATIONS))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """The p values corrected for being several, in their order (Holm 1979); None stays None and is not counted."""
    order = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, i) in enumerate(order):
        highest = max(highest, min(1.0, p * (len(order) - rank)))
        corrected[i] = highest
    return corrected


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """Chance that a positive scores above a negative, ties counting half: the Mann-Whitney U statistic / (positives × negatives). None
    without either."""
    if not len(positive) or not len(negative):
        return None
    negatives = np.sort(np.asarray(negative, dtype=float))
    below = np.searchsorted(negatives, positive, "left")
    not_above = np.searchsorted(negatives, positive, "right")
    return float((below + not_above).sum() / 2 / (len(positive) * len(negative)))


def _draws(clusters: int, seed: int) -> np.ndarray:
    """How often each cluster is drawn in each resample, shape (RESAMPLES, clusters)."""
    return np.random.default_rng(seed).multinomial(clusters, np.full(clusters, 1 / clusters), size=RESAMPLES).astype(float)
