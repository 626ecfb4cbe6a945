from importlib import import_module
from typing import Any

import numpy as np
import pytest

from tracetax.statistics.intervals import skewed_interval, t_critical, t_interval, t_p_value

stats: Any = import_module("scipy.stats")  # scipy comes without types


@pytest.mark.parametrize(("degrees", "value"), [(1, 12.7062), (2, 4.3027), (9, 2.2622), (29, 2.0452)])
def test_critical_values_are_those_of_the_tables(degrees: int, value: float) -> None:
    assert t_critical(degrees) == pytest.approx(value, abs=5e-5)


def test_p_values_are_two_sided() -> None:
    assert t_p_value(2.2622, 9) == pytest.approx(0.05, abs=1e-5)
    assert t_p_value(-2.2622, 9) == t_p_value(2.2622, 9)
    assert t_p_value(np.inf, 9) == 0


def test_the_interval_is_scipys() -> None:
    sample = np.random.default_rng(1).normal(100, 7, 15)
    expected = stats.ttest_1samp(sample, 0).confidence_interval(0.95)
    estimate = t_interval(sample)
    assert estimate.ci95 == pytest.approx((expected.low, expected.high))
    assert estimate.half_width == pytest.approx((expected.high - expected.low) / 2)


def test_equal_values_have_an_interval_without_width() -> None:
    assert t_interval([3.0, 3.0]).ci95 == (3.0, 3.0)


def test_students_t_needs_a_degree_of_freedom() -> None:
    with pytest.raises(ValueError, match="degree of freedom"):
        t_critical(0)


def test_halls_interval_is_where_his_cubic_takes_students_quantiles() -> None:
    # For 1, 1, 1, 1, 6: mean 2, sd √5, standard error 1, skewness 12 / 4^1.5 = 1.5; t(4) = 2.77645.
    # Hall 1992: T + γ(T²/3 + 1/6)/√n + γ²T³/(27n) = ±t, solved for T = 2 − μ by bisection.
    assert skewed_interval([1, 1, 1, 1, 6]).ci95 == pytest.approx((0.1782373, 10.8490848), abs=1e-7)
    assert skewed_interval([-1, -1, -1, -1, -6]).ci95 == pytest.approx((-10.8490848, -0.1782373), abs=1e-7)


def test_halls_interval_of_what_has_no_skewness_is_students() -> None:
    assert skewed_interval([1, 2, 3]).ci95 == t_interval([1, 2, 3]).ci95
    assert skewed_interval([1, 5]).ci95 == t_interval([1, 5]).ci95
