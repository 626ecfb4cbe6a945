import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetax.statistics.intervals import t_interval
from tracetax.statistics.quantiles import beyond, median, positive_mean, quantile, quantiles

HISTOGRAMS = st.lists(st.tuples(st.integers(0, 500), st.integers(1, 1000)), min_size=1, max_size=30)


def test_the_median_lies_inside_the_tick_where_half_of_the_calls_are_reached() -> None:
    # 30 calls read as 60 ns (55 to 65), 70 as 70 ns (65 to 75): the 50th is 20/70 into the second.
    assert median([60, 70], [30, 70], tick=10) == pytest.approx(65 + 10 * 20 / 70)


def test_the_median_moves_with_the_share_of_calls_not_in_ticks() -> None:
    shares = [median([60, 70], [1000 - share, share], tick=10) for share in range(300, 701, 100)]
    assert np.diff(shares).min() > 1
    assert shares[2] == pytest.approx(65)


def test_without_a_tick_the_median_of_an_even_number_is_the_middle() -> None:
    assert median([1, 2, 3, 10], [1, 1, 1, 1]) == 2.5
    assert median([1, 2, 3], [1, 1, 1]) == 2


def test_cells_of_values_closer_than_a_tick_end_half_way() -> None:
    # Values 60 and 62 with a tick of 10: cells 55–61 and 61–67.
    assert quantile([60, 62], [1, 1], 0.25, tick=10) == pytest.approx(58)
    assert quantile([60, 62], [1, 1], 0.75, tick=10) == pytest.approx(64)


def test_between_cells_that_do_not_touch_it_is_the_middle_of_the_gap() -> None:
    assert median([60, 100], [5, 5], tick=10) == pytest.approx(80)


def test_the_ends_are_the_smallest_and_largest_reading() -> None:
    np.testing.assert_array_equal(quantiles([70, 60, 900], [5, 3, 1], [0, 1], tick=10), [60, 900])


def test_repeated_values_are_put_together_and_order_does_not_matter() -> None:
    assert quantile([70, 60, 70], [20, 30, 50], 0.7, tick=10) == quantile([60, 70], [30, 70], 0.7, tick=10)


def test_large_percentiles_of_many_calls() -> None:
    calls = np.random.default_rng(1).exponential(1000, 200_000).round(-1)
    values, counts = np.unique(calls, return_counts=True)
    np.testing.assert_allclose(
        quantiles(values, counts, [0.5, 0.9, 0.99, 0.999], tick=10),
        np.quantile(calls, [0.5, 0.9, 0.99, 0.999]),
        atol=10,
    )


@given(HISTOGRAMS, st.sampled_from([0.0, 1.0, 10.0]))
def test_quantiles_never_fall_as_the_probability_rises(histogram: list[tuple[int, int]], tick: float) -> None:
    values, counts = zip(*histogram, strict=True)
    assert np.diff(quantiles(values, counts, np.linspace(0.001, 0.999, 200), tick)).min() >= -1e-9


@given(HISTOGRAMS, st.floats(0.001, 0.999), st.sampled_from([0.5, 3.0, 100.0]))
def test_the_unit_does_not_matter(histogram: list[tuple[int, int]], p: float, unit: float) -> None:
    values, counts = zip(*histogram, strict=True)
    scaled = quantile(np.array(values) * unit, counts, p, tick=10 * unit)
    assert scaled == pytest.approx(unit * quantile(values, counts, p, tick=10))


@given(HISTOGRAMS, st.floats(0.001, 0.999))
def test_no_quantile_is_further_than_half_a_tick_from_the_ordinary_one(
    histogram: list[tuple[int, int]], p: float
) -> None:
    values, counts = zip(*histogram, strict=True)
    assert abs(quantile(values, counts, p, tick=10) - quantile(values, counts, p)) <= 5 + 1e-9


def test_quantiles_that_agree_in_all_starts_are_known_to_a_tick() -> None:
    assert positive_mean([70.0, 70.0, 70.0], tick=10).ci95 == (65, 75)
    assert positive_mean([69.0, 70.0, 71.0, 70.0] * 5, tick=10).ci95 == (65, 75)


def test_quantiles_that_differ_by_more_than_a_tick_are_not_limited_by_it() -> None:
    values = [64.0, 76.0] * 50
    low, high = positive_mean(values, tick=10).ci95 or (0, 0)
    assert high - low < 5


def test_a_tick_around_zero_begins_at_zero() -> None:
    assert positive_mean([2.0, 2.0], tick=10).ci95 == (0, 7)


def test_a_single_start_has_no_interval() -> None:
    assert positive_mean([70.0], tick=10).ci95 is None


def test_an_interval_never_reaches_zero_and_holds_its_mean() -> None:
    values = [0.2, 0.3, 0.4, 14.1]
    ordinary = t_interval(values).ci95 or (0, 0)
    estimate = positive_mean(values)
    low, high = estimate.ci95 or (0, 0)
    assert ordinary[0] < 0 < low < estimate.mean == 3.75 < ordinary[1] < high


def test_a_narrow_interval_is_the_ordinary_one() -> None:
    values = 1000 + np.random.default_rng(1).normal(0, 5, 10)
    assert positive_mean(values).ci95 == pytest.approx(t_interval(values).ci95, rel=1e-4)


def test_zero_throughout_is_zero() -> None:
    assert positive_mean([0.0, 0.0]).ci95 == (0, 0)


def test_calls_beyond_a_quantile_are_counted_exactly() -> None:
    assert (beyond(100, 900), beyond(1_000, 990), beyond(10_000, 999), beyond(9_999, 999)) == (10, 10, 10, 9.999)


@pytest.mark.parametrize(
    ("values", "counts", "p"), [([], [], 0.5), ([1], [0], 0.5), ([1], [-1], 0.5), ([1, 2], [1], 0.5), ([1], [1], 1.1)]
)
def test_what_has_no_quantile_is_refused(values: list[int], counts: list[int], p: float) -> None:
    with pytest.raises(ValueError, match=r"count|probabilities"):
        quantile(values, counts, p)
