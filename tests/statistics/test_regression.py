from importlib import import_module
from typing import Any

import numpy as np
import pytest

from tracetax.statistics.intervals import t_interval
from tracetax.statistics.regression import fitted_line

stats: Any = import_module("scipy.stats")  # scipy comes without types
DEPTHS = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0]


def test_points_on_a_line_give_it_back() -> None:
    found = fitted_line(DEPTHS, [[130 * depth + 200 for depth in DEPTHS]] * 3)
    assert (found.slope.mean, found.intercept.mean) == (pytest.approx(130), pytest.approx(200))
    assert found.r_squared == pytest.approx(1)
    assert not found.bent


def test_the_line_is_scipys_in_every_block_and_its_interval_is_over_blocks() -> None:
    noise = np.random.default_rng(1).normal(0, 50, (10, 7))
    values = np.array(DEPTHS) * 130 + 200 + noise
    fits = [stats.linregress(DEPTHS, block) for block in values]
    found = fitted_line(DEPTHS, values)
    for mine, theirs in ((found.slope, "slope"), (found.intercept, "intercept")):
        expected = t_interval([getattr(fit, theirs) for fit in fits])
        assert mine.mean == pytest.approx(expected.mean)
        assert mine.ci95 == pytest.approx(expected.ci95)
        assert mine.n == 10
    through_means = stats.linregress(DEPTHS, values.mean(axis=0))
    assert found.slope.mean == pytest.approx(through_means.slope)
    assert found.r_squared == pytest.approx(through_means.rvalue**2)


def test_the_interval_of_the_slope_holds_the_true_one_in_95_percent_of_runs() -> None:
    """Blocks differ in their slope and their level, and points in a block too; more where there is more to measure."""
    rng = np.random.default_rng(7)
    at, runs, held = np.array(DEPTHS), 2_000, 0
    for _ in range(runs):
        slopes, levels = rng.normal(130, 8, (10, 1)), rng.normal(200, 30, (10, 1))
        found = fitted_line(at, slopes * at + levels + rng.normal(0, 0.03, (10, 7)) * 130 * at)
        assert found.slope.ci95
        held += found.slope.ci95[0] <= 130 <= found.slope.ci95[1]
    assert held / runs == pytest.approx(0.95, abs=0.015)


def test_a_curve_is_told_from_a_line() -> None:
    noise = np.random.default_rng(3).normal(0, 5, (10, 7))
    straight = np.array(DEPTHS) * 10 + noise
    assert not fitted_line(DEPTHS, straight).bent
    assert fitted_line(DEPTHS, straight + np.array(DEPTHS) ** 2 / 100).bent


def test_two_points_have_a_slope_and_nothing_that_tells_how_straight_it_is() -> None:
    found = fitted_line([10.0, 20.0], [[100.0, 300.0], [100.0, 302.0]])
    assert found.slope.mean == pytest.approx(20.1)
    assert (found.r_squared, found.bent) == (None, False)


def test_one_block_has_no_interval() -> None:
    found = fitted_line(DEPTHS, [[depth**2 for depth in DEPTHS]])
    assert (found.slope.ci95, found.intercept.ci95, found.bent) == (None, None, False)


def test_a_cost_that_does_not_grow_has_no_r_squared() -> None:
    assert fitted_line(DEPTHS, [[7.0] * 7] * 2).r_squared is None


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1.0, 2.0], []),
        ([1.0, 2.0], [[1.0, 2.0, 3.0]]),
        ([1.0, 1.0], [[1.0, 2.0]]),
        ([1.0, 2.0], [[1.0, float("nan")]]),
        ([1.0], [[1.0]]),
    ],
)
def test_what_has_no_line_is_refused(x: list[float], y: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"a line needs|expected x of shape"):
        fitted_line(x, y)
