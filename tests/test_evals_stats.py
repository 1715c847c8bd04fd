"""Intervals and tests against numbers from papers, from hand, and from scipy where it is installed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evals import stats


def test_wilson_gives_the_published_interval():
    # Wilson's interval of 81 in 263 as in Newcombe 1998, Statistics in Medicine 17, table I, method 3: .2553 to .3662
    assert stats.wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert stats.wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert stats.wilson(29, 29) == pytest.approx((0.8830, 1.0), abs=5e-5)
    assert stats.wilson(0, 0) == (0.0, 1.0)


def test_the_rule_of_three():
    assert stats.rule_of_three(300) == pytest.approx(0.01)
    assert stats.rule_of_three(1) == stats.rule_of_three(0) == 1.0


def test_the_mean_is_over_values_and_n_leaves_out_what_does_not_apply():
    found = stats.mean_interval([1, 0, None, 1], ["a", "b", "c", "a"])
    assert (found.value, found.n, found.clusters) == (pytest.approx(2 / 3), 3, 2)
    assert stats.mean_interval([None, None], ["a", "b"]) is None
    assert stats.mean_interval([], []) is None


def test_clusters_widen_the_interval():
    values = [1, 1, 1, 1, 0, 0, 0, 0] * 10
    apart = stats.mean_interval(values, [str(n) for n in range(80)])
    together = stats.mean_interval(values, [str(n // 4) for n in range(80)])
    # four equal values a cluster: the standard error doubles (a design effect of 4)
    assert (together.high - together.low) / (apart.high - apart.low) == pytest.approx(2, rel=0.1)
    assert (apart.high - apart.low) == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(80), rel=0.1)


def test_no_failure_seen_is_not_certainty():
    none = stats.mean_interval([0] * 60, [str(n) for n in range(60)])
    assert (none.value, none.low, none.high) == (0, 0, pytest.approx(0.05))
    every = stats.mean_interval([1] * 60, [str(n // 2) for n in range(60)])
    assert (every.value, every.low, every.high) == (1, pytest.approx(0.9), 1)
    words = stats.mean_interval([1.0] * 60, [str(n) for n in range(60)], bounded=False)
    assert (words.low, words.high) == (1, 1)


def test_the_same_scores_give_the_same_interval():
    values, clusters = [0.2, 0.9, 0.4, 0.7, 0.1, 0.33, 0.56, 0.81], list("abcdefgh")
    assert stats.mean_interval(values, clusters) == stats.mean_interval(values, clusters)
    assert stats.mean_interval(values, clusters) != stats.mean_interval(values, clusters, seed=1)


def test_a_column_is_the_same_alone_and_among_others():
    table = np.array([[1, np.nan, 5], [0, np.nan, 7], [1, np.nan, np.nan]])
    first, nothing, last = stats.mean_intervals(table, ["a", "b", "c"])
    assert nothing is None and last.n == 2 and last.value == 6
    assert first == stats.mean_interval([1, 0, 1], ["a", "b", "c"])


def test_a_paired_difference_takes_pairs_in_which_both_apply():
    found = stats.paired_difference([0, 1, None, 0.5], [1, 1, 1, 0.0], list("abcd"))
    assert (found.value, found.n) == (pytest.approx(0.5 / 3), 3) and found.low < 0 < found.high
    same = stats.paired_difference([1, 0], [1, 0], list("ab"))
    assert (same.value, same.low, same.high, same.n) == (0, 0, 0, 2)
    assert stats.paired_difference([None], [1], ["a"]) is None


def test_the_permutation_test_counts_by_hand():
    # three pairs, all better by 1: of 8 sign patterns, +++ and --- are as extreme
    assert stats.paired_permutation([0, 0, 0], [1, 1, 1], list("abc")) == 2 / 8
    # the same three as one cluster: both signs are as extreme
    assert stats.paired_permutation([0, 0, 0], [1, 1, 1], list("aaa")) == 1.0
    # differences 1, 1, -1: |sum| = 1 or 3 always reaches 1
    assert stats.paired_permutation([0, 0, 1], [1, 1, 0], list("abc")) == 1.0
    # differences 3, 1: |3 + 1| = 4 is reached by ++ and -- only
    assert stats.paired_permutation([0, 0], [3, 1], list("ab")) == 0.5
    assert stats.paired_permutation([1, 0], [1, 0], list("ab")) == 1.0
    assert stats.paired_permutation([None], [1], ["a"]) is None


def test_the_permutation_test_agrees_with_scipy():
    scipy = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(3)
    a, b = random.normal(0, 1, 40), random.normal(0.35, 1, 40)
    expected = scipy.permutation_test((b, a), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=20_000, rng=1).pvalue
    assert stats.paired_permutation(list(a), list(b), [str(n) for n in range(40)]) == pytest.approx(expected, abs=0.02)


def test_holm_corrects_in_order():
    # Holm 1979: .01 x 4, .02 x 3, .03 x 2, .04 x 1, never falling
    corrected = stats.holm([0.04, 0.01, None, 0.03, 0.02])
    assert corrected.pop(2) is None and corrected == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert stats.holm([0.9, 0.8]) == [1.0, 1.0]
    assert stats.holm([]) == []


def test_auroc_counts_pairs_and_halves_ties():
    # pairs: .9>.5 .9>.1 .5=.5 .5>.1 -> 3.5 of 4
    assert stats.auroc([0.9, 0.5], [0.5, 0.1]) == 3.5 / 4
    assert stats.auroc([1], [0]) == 1 and stats.auroc([0], [1]) == 0
    assert stats.auroc([], [1]) is None


def test_auroc_agrees_with_scipy():
    scipy = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(5)
    high, low = random.integers(0, 9, 30) + 2, random.integers(0, 9, 50)
    assert stats.auroc(high, low) == pytest.approx(scipy.mannwhitneyu(high, low).statistic / 1500)


def test_the_bootstrap_agrees_with_scipy():
    scipy = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(7).beta(2, 3, 120)
    expected = scipy.bootstrap((values,), np.mean, method="percentile", n_resamples=9999, rng=1).confidence_interval
    found = stats.mean_interval(list(values), [str(n) for n in range(120)])
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.006)


def test_rows_and_clusters_must_match():
    with pytest.raises(ValueError):
        stats.mean_intervals(np.zeros((2, 1)), ["a"])
