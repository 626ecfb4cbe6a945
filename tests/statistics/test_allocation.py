"""Starts against calls: where starts differ, short ones; where calls do, long ones."""

import numpy as np
import pytest

from tracetax.statistics.allocation import Variation, best_calls, call_variance, variation


def test_the_best_number_of_calls_is_that_of_kalibera_and_jones() -> None:
    """m = √(s/c · S²/T²): 0.04 s and 1 µs, S² = 40,000 T² leave 40,000 calls."""
    of = Variation(between=1e-4, within=4.0, start_seconds=0.04, call_seconds=1e-6)
    best = (0.04 / 1e-6 * 4.0 / 1e-4) ** 0.5
    assert best == pytest.approx(40_000)
    assert of.price(40_000) == pytest.approx(min(of.price(calls) for calls in range(10_000, 100_000, 1_000)))
    assert best_calls(of, 5_000, 1_000, 1_000_000) == 40_000
    assert best_calls(of, 320_000, 1_000, 1_000_000) == 40_000
    assert best_calls(of, 30_000, 1_000, 1_000_000) == 30_000  # 60,000 would save less than a tenth


def test_starts_that_differ_beyond_their_calls_are_made_short_and_those_that_do_not_long() -> None:
    between = Variation(between=1e-2, within=1e-3, start_seconds=1.0, call_seconds=1e-5)
    calls = Variation(between=0.0, within=1e3, start_seconds=4.0, call_seconds=1e-6)
    assert best_calls(between, 800_000, 100_000, 4_000_000) == 100_000
    assert best_calls(calls, 500_000, 100_000, 4_000_000) == 4_000_000


def test_the_bounds_hold_and_without_room_nothing_changes() -> None:
    of = Variation(between=0.0, within=1e3, start_seconds=4.0, call_seconds=1e-6)
    assert best_calls(of, 500_000, 500_000, 1_900_000) == 1_000_000
    assert best_calls(of, 500_000, 500_000, 500_000) == 500_000


def test_the_variance_of_a_call_is_the_long_run_one() -> None:
    """Bins of 100 calls with sd 10 %: of independent bins 100 · 0.01; of an AR(0.9) series (1.9/0.1) times as much."""
    rng = np.random.default_rng(1)
    white = [call_variance(1 + rng.normal(0, 0.1, 1_000), 100) for _ in range(300)]
    assert np.mean(white) == pytest.approx(1.0, rel=0.1)
    slow: list[float] = []
    for _ in range(300):
        noise, values = rng.normal(0, 0.1 * (1 - 0.9**2) ** 0.5, 2_000), np.zeros(2_000)
        for place in range(1, 2_000):
            values[place] = 0.9 * values[place - 1] + noise[place]
        slow.append(call_variance(1 + values, 100))
    assert np.mean(slow) == pytest.approx(19.0, rel=0.2)


def test_what_calls_explain_is_no_difference_between_starts() -> None:
    rng = np.random.default_rng(2)
    values = np.exp(rng.normal(0, 0.05, 4_000))
    alone = variation(values, [0.05**2 * 1_000] * 3, 1_000, 1.0, 1e-6)
    assert alone.between == pytest.approx(0.0, abs=3e-4)
    half = variation(values, [0.05**2 * 500] * 3, 1_000, 1.0, 1e-6)
    assert half.between == pytest.approx(0.05**2 / 2, rel=0.1)


def test_the_choice_leaves_less_time_times_variance_in_simulated_runs() -> None:
    """Three starts choose; over 500 runs the choice needs less time for its variance than the number begun with."""
    rng = np.random.default_rng(3)
    truth = Variation(between=0.01**2, within=(0.1**2) * 200_000, start_seconds=3.0, call_seconds=2e-6)
    chosen: list[int] = []
    cautious: list[int] = []
    for _ in range(500):
        sd = (truth.between + truth.within / 200_000) ** 0.5
        values = np.exp(rng.normal(0, sd, 3))
        within = [truth.within * rng.chisquare(9) / 9 for _ in range(3)]
        seen = variation(values, within, 200_000, 3.0, 2e-6)
        chosen.append(best_calls(seen, 200_000, 200_000, 3_200_000))
        cautious.append(best_calls(seen, 200_000, 200_000, 3_200_000, starts=3))
    assert np.mean([truth.price(calls) for calls in chosen]) < 0.6 * truth.price(200_000)
    assert np.mean([truth.price(calls) for calls in cautious]) < truth.price(200_000)


def test_three_starts_that_agree_by_chance_make_no_start_longer() -> None:
    """Three starts of a file writer differed by no more than their calls explain; the next eleven by 17 %."""
    of = Variation(between=0.0, within=0.022**2 * 1_000_000, start_seconds=3.5, call_seconds=2.9e-6)
    assert best_calls(of, 1_000_000, 1_000_000, 4_000_000) == 4_000_000
    assert best_calls(of, 1_000_000, 1_000_000, 4_000_000, starts=3) == 1_000_000
    assert best_calls(of, 1_000_000, 1_000_000, 4_000_000, starts=60) > 1_000_000
    least, most = of.limits(1_000_000, starts=3)
    assert least.between == 0
    assert most.between == pytest.approx(0.022**2 * (2 / 0.2107 - 1), rel=0.01)
