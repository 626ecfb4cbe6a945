from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetax.statistics.intervals import t_interval
from tracetax.statistics.overhead import aa_band, as_ratio, compare_paired, paired_difference, paired_log_ratio

stats: Any = import_module("scipy.stats")  # scipy comes without types

C, A1, A2 = [110.0, 114.0, 112.0], [100.0, 101.0, 99.0], [100.0, 103.0, 101.0]
VALUES = st.floats(1, 1e6)
BLOCKS = st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=2, max_size=30)


def test_the_difference_is_against_the_mean_of_both_baselines() -> None:
    # d = 10, 12, 12: mean 34/3, sd 2/√3, t(2) = 4.302653.
    estimate = paired_difference(C, A1, A2)
    assert estimate.mean == pytest.approx(34 / 3)
    assert estimate.sd == pytest.approx(2 / 3**0.5)
    assert estimate.ci95 == pytest.approx((34 / 3 - 4.302653 * 2 / 3, 34 / 3 + 4.302653 * 2 / 3))


def test_the_interval_is_that_of_the_paired_t_test() -> None:
    rng = np.random.default_rng(1)
    c, a1, a2 = rng.normal(110, 5, 12), rng.normal(100, 5, 12), rng.normal(100, 5, 12)
    expected = stats.ttest_rel(c, (a1 + a2) / 2).confidence_interval(0.95)
    assert paired_difference(c, a1, a2).ci95 == pytest.approx((expected.low, expected.high))
    expected = stats.ttest_rel(np.log(c), np.log(a1 * a2) / 2).confidence_interval(0.95)
    assert paired_log_ratio(c, a1, a2).ci95 == pytest.approx((expected.low, expected.high))


def test_the_ratio_is_against_the_geometric_mean_of_both_baselines() -> None:
    assert as_ratio(paired_log_ratio([60.0], [20.0], [45.0])).mean == pytest.approx(2.0)


def test_a_ratio_has_the_exponentials_of_the_limits() -> None:
    log_ratio = paired_log_ratio(C, A1, A2)
    ratio = as_ratio(log_ratio)
    assert ratio.ci95 == pytest.approx(tuple(np.exp(log_ratio.ci95 or ())))
    assert ratio.sd == pytest.approx(ratio.mean * (log_ratio.sd or 0))


def test_one_block_has_a_mean_and_no_interval() -> None:
    estimate = paired_difference([110.0], [100.0], [104.0])
    assert (estimate.mean, estimate.sd, estimate.ci95, estimate.n, estimate.half_width) == (8.0, None, None, 1, None)
    assert as_ratio(estimate).ci95 is None


@pytest.mark.parametrize(("c", "a1", "a2"), [([], [], []), ([1.0], [1.0], [1.0, 2.0]), ([np.nan], [1.0], [1.0])])
def test_blocks_that_are_none_are_refused(c: list[float], a1: list[float], a2: list[float]) -> None:
    with pytest.raises(ValueError, match=r"at least one|different blocks|not finite"):
        paired_difference(c, a1, a2)


def test_a_ratio_of_what_is_not_positive_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        paired_log_ratio([1.0, 0.0], [1.0, 1.0], [1.0, 1.0])


@given(BLOCKS)
def test_what_multiplies_a_whole_block_cancels_in_the_ratio(blocks: list[tuple[float, float, float]]) -> None:
    c, a1, a2 = np.array(blocks).T
    drift = np.linspace(0.5, 2, len(blocks))
    assert paired_log_ratio(c * drift, a1 * drift, a2 * drift).mean == pytest.approx(
        paired_log_ratio(c, a1, a2).mean, abs=1e-9
    )


@given(BLOCKS)
def test_what_is_added_to_a_whole_block_cancels_in_the_difference(blocks: list[tuple[float, float, float]]) -> None:
    c, a1, a2 = np.array(blocks).T
    drift = np.linspace(0, 1000, len(blocks))
    assert paired_difference(c + drift, a1 + drift, a2 + drift).mean == pytest.approx(
        paired_difference(c, a1, a2).mean, abs=1e-6
    )


@given(BLOCKS)
def test_neither_the_order_of_blocks_nor_which_baseline_is_first_matters(
    blocks: list[tuple[float, float, float]],
) -> None:
    c, a1, a2 = np.array(blocks).T
    order = np.argsort(np.sin(np.arange(len(blocks)) * 7.0))
    before, after = paired_difference(c, a1, a2), paired_difference(c[order], a2[order], a1[order])
    assert after.ci95 == pytest.approx(before.ci95, rel=1e-6, abs=1e-6)
    assert aa_band(a2[order], a1[order]).difference == pytest.approx(aa_band(a1, a2).difference)


def test_two_configurations_are_compared_inside_blocks() -> None:
    assert compare_paired([10.0, 20.0, 30.0], [8.0, 19.0, 27.0]) == t_interval([2.0, 1.0, 3.0])
    assert compare_paired([8.0], [4.0], "log-ratio").mean == pytest.approx(np.log(2))


def test_comparing_two_configurations_is_comparing_their_overheads() -> None:
    other = [120.0, 119.0, 121.0]
    assert compare_paired(other, C).mean == pytest.approx(
        paired_difference(other, A1, A2).mean - paired_difference(C, A1, A2).mean
    )


def test_the_aa_band_by_hand() -> None:
    # A1 − A2 = 0, −2, −2; Σ² = 8, n = 3, t(3) = 3.182446: 3.182446 · √(0.75 · 8/3) / √3.
    band = aa_band(A1, A2)
    assert band.n_blocks == 3
    assert band.difference == pytest.approx(3.182446 * 2**0.5 / 3**0.5)
    assert band.log_ratio == pytest.approx(
        3.182446 * (0.75 * np.mean(np.log([1, 101 / 103, 99 / 101]) ** 2)) ** 0.5 / 3**0.5
    )


def test_the_aa_band_of_values_that_are_not_positive_has_no_ratio() -> None:
    assert aa_band([0.0, 1.0], [1.0, 1.0]).log_ratio is None


@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_a_configuration_that_costs_nothing_lies_within_the_aa_band_in_95_percent_of_runs(n: int) -> None:
    rng = np.random.default_rng(n)
    runs = 4000
    samples = rng.normal(100, 3, (runs, 3, n))
    inside = [abs(paired_difference(c, a1, a2).mean) <= aa_band(a1, a2).difference for c, a1, a2 in samples]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.012)
