import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tracetax.statistics.steady import Steady, long_run_variance, steady_part

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


@pytest.mark.parametrize(("before", "kind"), [(104, "flat"), (107, "warm-up"), (96, "flat"), (93, "slow-down")])
def test_levels_within_five_percent_of_the_last_one_are_equivalent(before: float, kind: str) -> None:
    assert steady_part(np.concatenate([noise(before, 500), noise(100, 500)])).kind == kind


def test_a_level_that_is_known_only_roughly_is_equivalent_within_two_standard_errors() -> None:
    rough = np.tile([68.0, 148.0], 30)  # 108 ± 5: eight percent above the rest
    steady = steady_part(np.concatenate([rough, noise(100, 940)]))
    assert steady.change_points == (60,)
    assert (steady.kind, steady.first_bin) == ("flat", 0)


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


def test_a_departure_longer_than_a_stall_ends_the_steady_part() -> None:
    series = noise(100, 1000)
    series[300:400] *= 3
    assert steady_part(series).first_bin == 400


@pytest.mark.parametrize("seed", range(10))
def test_pauses_do_not_make_a_steady_series_unsteady(seed: int) -> None:
    assert steady_part(stalling(1000, seed)).kind == "flat"


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_pauses_do_not_move_the_end_of_a_warm_up(seed: int) -> None:
    series = stalling(1000, seed) * np.where(np.arange(1000) < 150, 1.5, 1)
    assert steady_part(series).first_bin == 150


@pytest.mark.parametrize("size", [1, 2, 5, 9, 10, 11])
def test_a_short_trial_is_flat(size: int) -> None:
    assert steady_part(noise(100, size)) == Steady("flat", 0, size, ())


@pytest.mark.parametrize("means", [[], [1.0, np.nan], [1.0, np.inf]])
def test_what_cannot_be_a_trial_is_refused(means: list[float]) -> None:
    with pytest.raises(ValueError, match="bin"):
        steady_part(means)


def dependent(seed: int, phi: float = 0.95, sd: float = 20.0, size: int = 1000) -> Series:
    """Stationary bins of which each takes ``phi`` of the distance of the one before from 100."""
    rng = np.random.default_rng(seed)
    values = np.empty(size)
    distance = float(rng.normal(0, sd))
    for place in range(size):
        distance = phi * distance + float(rng.normal(0, sd * math.sqrt(1 - phi**2)))
        values[place] = 100 + distance
    return np.maximum(values, 5)


def on_and_off(seed: int, mean_bins: float = 30, size: int = 1000) -> Series:
    """A queue that is full for a while and then not, three times slower while it is."""
    rng = np.random.default_rng(seed)
    levels: list[float] = []
    while len(levels) < size:
        levels += [300.0 if len(levels) and levels[-1] == 100 else 100.0] * int(1 + rng.geometric(1 / mean_bins))
    return np.array(levels[:size]) * rng.normal(1, 0.03, size)


@pytest.mark.parametrize(("series", "flat"), [(dependent, 21), (on_and_off, 24)])
def test_bins_that_depend_on_each_other_are_mostly_steady(series: Callable[[int], Series], flat: int) -> None:
    kinds = Counter(steady_part(series(seed)).kind for seed in range(30))
    assert kinds["flat"] >= flat
    assert kinds["no-steady-state"] <= 3


def test_a_warm_up_is_found_where_bins_depend_on_each_other() -> None:
    decay = 1 + np.exp(-np.arange(1000) / 60)
    parts = [steady_part(dependent(seed, sd=10) * decay) for seed in range(20)]
    assert sum(part.kind == "warm-up" and part.first_bin >= 30 for part in parts) >= 17


def test_a_late_step_is_found_where_bins_depend_on_each_other() -> None:
    late = np.where(np.arange(1000) < 850, 1.0, 1.5)
    assert all(steady_part(dependent(seed, sd=10) * late).kind == "no-steady-state" for seed in range(20))


def test_a_slow_drift_is_a_slow_down_or_never_steady() -> None:
    drift = 1 + np.arange(1000) / 2000
    kinds = {steady_part(dependent(seed, phi=0.8, sd=10) * drift).kind for seed in range(20)}
    assert kinds <= {"slow-down", "no-steady-state"}


def test_a_large_warm_up_hides_no_later_change() -> None:
    series = np.concatenate([noise(900, 100), noise(100, 750), noise(120, 150)])
    assert steady_part(series).kind == "no-steady-state"


def test_the_long_run_variance_of_independent_values_is_their_variance() -> None:
    rng = np.random.default_rng(1)
    assert long_run_variance(rng.normal(0, 3, 20_000), [1]) == pytest.approx(9, rel=0.05)
    assert long_run_variance(rng.normal(0, 3, 20_000), [100]) == pytest.approx(9, rel=0.25)


def test_the_long_run_variance_counts_dependence() -> None:
    # of an autoregressive series: its variance · (1 + φ) / (1 − φ)
    series = dependent(2, phi=0.8, size=20_000)
    assert long_run_variance(series, [1]) < 400 < long_run_variance(series, [1, 200])
    assert long_run_variance(series, [1, 200]) == pytest.approx(400 * 9, rel=0.25)


def test_the_long_run_variance_passes_over_batches_that_do_not_fit_twice() -> None:
    assert long_run_variance([1.0, 2.0, 1.0, 2.0], [1, 3]) == 0.5
    assert long_run_variance([1.0], [1]) == 0


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
    assert steady_part(series * unit) == steady_part(series)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(0, 1e9, allow_subnormal=False), min_size=1, max_size=300))
def test_any_series_has_a_steady_part_that_reaches_to_its_end(series: list[float]) -> None:
    steady = steady_part(series)
    assert 0 <= steady.first_bin < len(series)
    assert steady.first_bin + steady.bins == len(series)
