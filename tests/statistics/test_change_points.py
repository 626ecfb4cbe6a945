from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tracetax.statistics.change_points import RELATIVE_RESOLUTION, change_points, without_outliers

# Annual flow of the Nile at Aswan, 1871 to 1970, 10^8 m^3 (Cobb 1978, Table 1), the standard example of the field;
# public domain. The change published for it lies after 1898, the 28th value.
NILE = np.array(
    [
        *(1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180, 799, 958),
        *(1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701, 916, 692, 1020),
        *(1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845, 864, 862, 698, 845, 744, 796),
        *(1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874),
        *(848, 890, 744, 749, 838, 1050, 918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718),
        *(714, 740),
    ],
    dtype=np.float64,
)


def segmentation_cost(y: NDArray[np.float64], changes: Sequence[int], penalty: float, floor: float = 1e-12) -> float:
    """Minus twice the normal log-likelihood of every segment, plus the penalty per change; no variance < ``floor``."""
    return sum(cost(part, floor) for part in np.split(y, changes)) + penalty * len(changes)


def cost(part: NDArray[np.float64], floor: float) -> float:
    variance = float(part.var())
    return part.size * (np.log(2 * np.pi * max(variance, floor)) + min(variance / floor, 1.0))


def optimal_partition(
    y: NDArray[np.float64], penalty: float, min_segment: int, floor: float = 1e-12
) -> tuple[int, ...]:
    """Jackson et al. (2005): every start for every end, nothing pruned."""
    best: list[tuple[float, tuple[int, ...]]] = [(-penalty, ())]
    for end in range(1, y.size + 1):
        options = [
            (best[start][0] + cost(y[start:end], floor) + penalty, (*best[start][1], start))
            for start in range(end - min_segment + 1)
        ]
        best.append(min(options) if options else (np.inf, ()))
    return best[-1][1][1:]


def three_segments(seed: int = 4) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(150, 3, 60), rng.normal(120, 3, 150), rng.normal(100, 3, 290)])


def test_it_finds_the_published_change_in_the_flow_of_the_nile() -> None:
    assert change_points(NILE, penalty=4 * np.log(100), min_segment=2) == (28,)


def worth_of_the_change(y: NDArray[np.float64]) -> float:
    return segmentation_cost(y, (), 0) - segmentation_cost(y, (28,), 0)


def test_the_default_penalty_is_15_ln_n() -> None:
    just_below, just_above = NILE.copy(), NILE.copy()
    just_below[:28] += 32.0
    just_above[:28] += 33.0
    assert 15 * np.log(100) - 1 < worth_of_the_change(just_below) < 15 * np.log(100)
    assert 15 * np.log(100) < worth_of_the_change(just_above) < 15 * np.log(100) + 1
    assert change_points(just_below) == ()
    assert change_points(just_above) == (28,)


def test_a_change_is_found_exactly_when_it_is_worth_its_penalty() -> None:
    worth = worth_of_the_change(NILE)
    assert change_points(NILE, penalty=worth - 0.01) == (28,)
    assert change_points(NILE, penalty=worth + 0.01) == ()


def test_it_finds_three_levels() -> None:
    assert change_points(three_segments()) == (60, 210)


def test_it_finds_a_change_of_variance_alone() -> None:
    rng = np.random.default_rng(5)
    quiet_then_noisy = np.concatenate([rng.normal(100, 1, 200), rng.normal(100, 10, 200)])
    (change,) = change_points(quiet_then_noisy)
    assert abs(change - 200) <= 5


@settings(deadline=None, max_examples=60)
@example(seed=3489, levels=[(8, 50.0, 0.5)], min_segment=2, penalty=10.0)  # two values in a row are nearly the same
@given(
    seed=st.integers(0, 10**6),
    levels=st.lists(st.tuples(st.integers(5, 25), st.floats(50, 150), st.floats(0.5, 10)), min_size=1, max_size=5),
    min_segment=st.integers(2, 7),
    penalty=st.floats(3, 80),
)
def test_pruning_never_changes_the_optimum(
    seed: int, levels: list[tuple[int, float, float]], min_segment: int, penalty: float
) -> None:
    rng = np.random.default_rng(seed)
    y = np.concatenate([rng.normal(mean, sd, n) for n, mean, sd in levels])
    floor = float(RELATIVE_RESOLUTION * np.median(y)) ** 2
    expected = optimal_partition(y, penalty, min_segment, floor)
    found = change_points(y, penalty=penalty, min_segment=min_segment)
    lowest = segmentation_cost(y, expected, penalty, floor)
    assert segmentation_cost(y, found, penalty, floor) == pytest.approx(lowest, abs=1e-6)


def test_pruning_waits_for_the_shortest_segment() -> None:
    # One series in 14 of this kind is segmented worse when a start is dropped as soon as it loses.
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = 100 + np.where(rng.random(40) < 0.15, rng.normal(0, 20, 40), rng.normal(0, 1, 40))
        assert change_points(y, penalty=1.0, min_segment=5) == optimal_partition(y, 1.0, 5)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), unit=st.sampled_from([1e-9, 1e-3, 7.0, 1e6]))
def test_the_unit_does_not_matter(seed: int, unit: float) -> None:
    y = three_segments(seed)
    assert change_points(y * unit) == change_points(y)


def test_a_segment_is_never_shorter_than_asked() -> None:
    y = np.concatenate([np.full(20, 100.0), np.full(4, 900.0), np.full(20, 100.0)])
    y += np.random.default_rng(6).normal(0, 1, y.size)
    changes = change_points(y, penalty=1.0, min_segment=5)
    assert min(np.diff([0, *changes, y.size])) >= 5


def test_a_constant_series_has_no_change() -> None:
    assert change_points(np.full(1000, 70.0)) == ()
    assert change_points(np.zeros(1000)) == ()


def test_two_constant_levels_have_one_change() -> None:
    assert change_points([70.0] * 300 + [80.0] * 200) == (300,)


def test_a_series_shorter_than_two_segments_has_no_change() -> None:
    assert change_points([1.0, 1.0, 1.0, 1.0, 99.0, 99.0, 99.0, 99.0, 99.0]) == ()


def test_what_is_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="1 of 3 are not finite"):
        change_points([1.0, np.nan, 2.0])
    with pytest.raises(ValueError, match="at least one number"):
        change_points([])


def test_an_outlier_is_replaced_by_the_median_around_it() -> None:
    y = np.random.default_rng(8).normal(100, 1, 500)
    y[300] = 5000.0
    cleaned = without_outliers(y)
    assert cleaned[300] == pytest.approx(np.median(y[200:400]), abs=0.2)
    np.testing.assert_array_equal(np.delete(cleaned, 300), np.delete(y, 300))


def test_the_band_is_three_times_p10_to_p90() -> None:
    y = np.tile(np.arange(1.0, 12.0), 50)  # P10 = 2, median 6, P90 = 10: the band reaches 24 to either side.
    inside, outside = y.copy(), y.copy()
    inside[300], outside[300] = 29.0, 31.0
    assert without_outliers(inside)[300] == 29.0
    assert without_outliers(outside)[300] == 6.0


def test_warm_up_at_the_start_is_no_outlier_but_a_spike_there_is() -> None:
    y = np.random.default_rng(9).normal(100, 1, 1000)
    y[:20] = np.linspace(900, 200, 20)
    y[60] = 5000.0
    cleaned = without_outliers(y)
    np.testing.assert_array_equal(cleaned[:20], y[:20])
    assert cleaned[60] < 200


def test_the_level_of_a_window_is_that_around_its_place() -> None:
    y = np.concatenate([np.random.default_rng(10).normal(100, 1, 500), np.random.default_rng(11).normal(300, 1, 500)])
    np.testing.assert_array_equal(without_outliers(y), y)


@pytest.mark.parametrize("seed", [2, 9, 17, 18])
@pytest.mark.parametrize("size", [150, 600])
def test_the_band_of_every_bin_is_that_of_the_window_around_it(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    noisy_later = np.where(np.arange(size) > 290, rng.normal(0, 8, size), rng.normal(0, 1, size))
    y = 100 + noisy_later + np.where(rng.random(size) < 0.1, 12, 0)
    width = min(200, size)
    kept = without_outliers(y) == y
    for place in range(width // 2, size):
        first = min(place - width // 2, size - width)
        low, middle, high = np.percentile(y[first : first + width], [10, 50, 90])
        assert kept[place] == (abs(y[place] - middle) <= 3 * (high - low))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 9, 199, 200, 201])
def test_any_length_keeps_its_length(size: int) -> None:
    y = np.random.default_rng(size).normal(100, 1, size)
    assert without_outliers(y).shape == y.shape
