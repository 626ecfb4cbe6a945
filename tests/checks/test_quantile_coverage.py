"""The simulation of percentiles judges its intervals against a truth that it knows."""

import numpy as np
import pytest
from benchmarks.quantile_coverage import held, response_time


def test_the_percentile_of_few_requests_is_estimated_too_high_and_that_of_many_is_not() -> None:
    few = held(0.99, 2, 30, 2_000, np.random.default_rng(1))
    many = held(0.99, 100, 30, 2_000, np.random.default_rng(1))
    assert few[2] > 0.01 > abs(many[2])
    assert few[1] > 2 * many[1]


def test_what_is_not_covered_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    holds, _, _ = held(0.5, 20, 10, 2_000, np.random.default_rng(1))
    assert 0.93 < holds < 0.97

    def too_small(degrees_of_freedom: int) -> float:
        return 0.5 if degrees_of_freedom else 0.0

    monkeypatch.setattr("benchmarks.quantile_coverage.t_critical", too_small)
    narrower, _, _ = held(0.5, 20, 10, 2_000, np.random.default_rng(1))
    assert narrower < 0.5


def test_the_agent_adds_most_to_the_tail() -> None:
    shares = np.array([0.5, 0.9, 0.99, 0.999])
    added = response_time(shares, traced=True) - response_time(shares, traced=False)
    assert (np.diff(added) > 0).all()
