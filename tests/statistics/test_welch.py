"""Welch's interval against scipy's, from the samples themselves."""

from typing import Any

import numpy as np
import pytest
from scipy import stats  # pyright: ignore[reportMissingTypeStubs]

from tracetax.statistics.intervals import t_interval, welch, welch_log_ratio

FIRST, SECOND = [10.0, 11.0, 12.5, 9.0, 10.5], [14.0, 19.0, 12.0]


def test_the_interval_is_that_of_the_two_samples() -> None:
    library: Any = stats
    expected = library.ttest_ind(SECOND, FIRST, equal_var=False).confidence_interval(0.95)
    found = welch(t_interval(FIRST), t_interval(SECOND))
    assert found is not None
    assert found.ci95 == pytest.approx((expected.low, expected.high))
    assert found.mean == pytest.approx(15 - 10.6)


def test_a_single_block_has_none_and_no_spread_has_one_without_width() -> None:
    assert welch(t_interval([1.0]), t_interval(FIRST)) is None
    still = welch(t_interval([1.0, 1.0]), t_interval([3.0, 3.0]))
    assert still is not None
    assert still.ci95 == (2.0, 2.0)


def test_a_ratio_needs_values_clearly_above_zero() -> None:
    assert welch_log_ratio(t_interval([-1.0, 1.0, 2.0]), t_interval(FIRST)) is None
    found = welch_log_ratio(t_interval(FIRST), t_interval([2 * value for value in FIRST]))
    assert found is not None
    assert found.mean == pytest.approx(np.log(2))


def test_it_covers_what_it_says_where_spreads_and_sizes_differ() -> None:
    noise = np.random.default_rng(7)
    covered = 0
    for _ in range(2000):
        found = welch(t_interval(noise.normal(5, 3, 5)), t_interval(noise.normal(6, 1, 12)))
        assert found is not None
        assert found.ci95 is not None
        covered += found.ci95[0] <= 1 <= found.ci95[1]
    assert 0.93 < covered / 2000 < 0.97
