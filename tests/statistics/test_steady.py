from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tracetax.statistics.steady import Steady, steady_part, trial_value

Series = NDArray[np.float64]


def noise(level: float, size: int, sd: float = 3.0, seed: int = 1) -> Series:
    return np.random.default_rng(seed).normal(level, sd, size)


def stalling(size: int, seed: int = 2) -> Series:
    """Steady, but one bin in 30 holds a pause of five times its length."""
    rng = np.random.default_rng(seed)
    return rng.normal(100, 3, size) * np.where(rng.random(size) < 1 / 30, 5, 1)


def test_a_flat_series_is_steady_from_its_first_bin() -> None:
    assert steady_part(noise(100, 1000)) == Steady("flat", 0, 1000, ())


def test_a_warm_up_is_cut_off_where_it_ends() -> None:
    series = np.concatenate([noise(200, 150), noise(100, 850)])
    assert steady_part(series) == Steady("warm-up", 150, 850, (150,))


def test_a_series_that_gets_slower_for_good_is_a_slow_down() -> None:
    series = np.concatenate([noise(100, 400), noise(140, 600)])
    assert steady_part(series) == Steady("slow-down", 400, 600, (400,))


def test_slower_and_then_faster_than_at_the_end_is_a_slow_down() -> None:
    series = np.concatenate([noise(300, 100), noise(80, 200), noise(100, 700)])
    assert steady_part(series).kind == "slow-down"


def test_faster_and_then_slower_than_at_the_end_is_a_slow_down() -> None:
    series = np.concatenate([noise(80, 100), noise(300, 200), noise(100, 700)])
    assert steady_part(series).kind == "slow-down"


def test_a_change_in_the_last_quarter_leaves_no_steady_state_and_the_last_half_stands_in() -> None:
    series = np.concatenate([noise(100, 800), noise(140, 200)])
    assert steady_part(series) == Steady("no-steady-state", 500, 500, (800,))


def test_a_change_just_before_the_last_quarter_is_early_enough() -> None:
    series = np.concatenate([noise(140, 740), noise(100, 260)])
    assert steady_part(series) == Steady("warm-up", 740, 260, (740,))


def test_the_steady_part_extends_backwards_over_equivalent_segments() -> None:
    series = np.concatenate([noise(200, 100), noise(100, 400, sd=1), noise(103, 500, sd=1)])
    steady = steady_part(series)
    assert (steady.kind, steady.first_bin, steady.change_points) == ("warm-up", 100, (100, 500))


def test_equivalence_is_relative_and_can_be_asked_for_narrower() -> None:
    series = np.concatenate([noise(103, 500), noise(100, 500)])
    assert steady_part(series).kind == "flat"
    assert steady_part(series, equivalence=0.01).kind == "warm-up"


def test_a_change_of_noise_alone_in_the_last_quarter_is_still_steady() -> None:
    series = np.concatenate([noise(100, 850, sd=1), noise(100, 150, sd=4)])
    steady = steady_part(series)
    assert steady.change_points
    assert (steady.kind, steady.first_bin) == ("flat", 0)


def test_a_stall_that_ends_where_it_began_is_part_of_the_steady_part() -> None:
    series = noise(100, 1000)
    series[880:910] *= 3
    steady = steady_part(series)
    assert (steady.kind, steady.first_bin) == ("flat", 0)
    assert trial_value(series, None, steady) == pytest.approx(106, abs=0.5)


def test_a_departure_longer_than_a_stall_ends_the_steady_part() -> None:
    series = noise(100, 1000)
    series[300:400] *= 3
    assert steady_part(series).first_bin == 400


@pytest.mark.parametrize("seed", range(10))
def test_pauses_do_not_make_a_steady_series_unsteady(seed: int) -> None:
    assert steady_part(stalling(1000, seed)).kind == "flat"


def test_pauses_count_in_the_value() -> None:
    series = stalling(1000)
    value = trial_value(series, None, steady_part(series))
    assert value == pytest.approx(series.mean(), rel=1e-12)
    assert value > 110


def test_the_value_weighs_bins_by_their_calls_and_leaves_out_what_is_before() -> None:
    steady = Steady("warm-up", 1, 3, (1,))
    assert trial_value([900.0, 10.0, 20.0, 40.0], [100, 1, 1, 2], steady) == pytest.approx(27.5)


def test_without_counts_bins_weigh_alike() -> None:
    assert trial_value([900.0, 10.0, 20.0], None, Steady("warm-up", 1, 2, (1,))) == 15.0


def test_empty_bins_are_left_out_and_places_stay_those_of_all_bins() -> None:
    series = np.concatenate([noise(200, 150), noise(100, 850)])
    counts = np.full(1000, 20)
    series[:50], counts[:50] = np.nan, 0
    steady = steady_part(series, counts)
    assert (steady.kind, steady.first_bin, steady.bins) == ("warm-up", 150, 850)
    assert trial_value(series, counts, steady) == pytest.approx(100, abs=0.5)


def test_a_bin_without_calls_has_no_say_whatever_its_mean() -> None:
    means, counts = np.array([10.0, 0.0, 10.0]), np.array([1, 0, 1])
    assert trial_value(means, counts, steady_part(means, counts)) == 10.0


def test_ties_at_the_tick_are_flat() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        assert steady_part(60.0 + 10.0 * (rng.random(1000) < 0.3), tick=10.0).kind == "flat"


@pytest.mark.parametrize("size", [1, 2, 5, 9, 10, 11])
def test_a_short_trial_has_a_value(size: int) -> None:
    series = noise(100, size)
    assert trial_value(series, None, steady_part(series)) == pytest.approx(series.mean())


@pytest.mark.parametrize(
    ("means", "counts"),
    [
        ([], None),
        ([np.nan, np.nan], None),
        ([1.0, 2.0], [0, 0]),
        ([1.0, np.inf], None),
        ([1.0, 2.0], [1]),
        ([1.0], [-1]),
    ],
)
def test_what_cannot_be_a_trial_is_refused(means: list[float], counts: list[int] | None) -> None:
    with pytest.raises(ValueError, match="bin"):
        steady_part(means, counts)


SHAPES: list[Callable[[int], Series]] = [
    lambda seed: noise(100, 1000, seed=seed),
    lambda seed: np.concatenate([noise(200, 150, seed=seed), noise(100, 850, seed=seed + 1)]),
    lambda seed: np.concatenate([noise(100, 850, seed=seed), noise(150, 150, seed=seed + 1)]),
    lambda seed: stalling(1000, seed),
]


@settings(deadline=None, max_examples=30)
@given(st.sampled_from(SHAPES), st.integers(0, 10**6), st.sampled_from([1e-9, 1e-3, 13.0, 1e6]))
def test_the_unit_does_not_matter(shape: Callable[[int], Series], seed: int, unit: float) -> None:
    series = shape(seed)
    steady = steady_part(series)
    assert steady_part(series * unit) == steady
    assert trial_value(series * unit, None, steady) == pytest.approx(unit * trial_value(series, None, steady))


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(0, 1e9, allow_subnormal=False), min_size=1, max_size=300))
def test_any_series_has_a_steady_part_within_it_and_a_value_between_its_extremes(series: list[float]) -> None:
    steady = steady_part(series)
    assert 0 <= steady.first_bin < len(series)
    assert steady.first_bin + steady.bins == len(series)
    assert min(series) - 1e-6 <= trial_value(series, None, steady) <= max(series) * (1 + 1e-9)
