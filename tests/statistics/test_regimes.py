from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tracetax.statistics.intervals import skewed_interval, t_interval
from tracetax.statistics.overhead import judged_overhead, log_ratios, overhead_regimes
from tracetax.statistics.regimes import Regimes, Starts, share_below, two_regimes

EVEN = [100.0, 101.0, 99.0, 102.0, 98.0, 100.5, 99.5, 101.5, 98.5, 100.2]


def test_even_processes_are_one_regime() -> None:
    assert not two_regimes(EVEN).two


def test_one_slow_process_of_ten_is_a_second_regime() -> None:
    regimes = two_regimes([*EVEN[:9], 170.0])
    assert (regimes.two, regimes.fast, regimes.slow) == (True, 9, 1)
    assert regimes.ratio == pytest.approx(1.7, abs=0.01)


def test_one_fast_process_of_ten_is_a_second_regime() -> None:
    regimes = two_regimes([*EVEN[:9], 60.0])
    assert (regimes.two, regimes.fast, regimes.slow) == (True, 1, 9)


def test_half_and_half_are_two_regimes() -> None:
    assert two_regimes([*EVEN, *(1.7 * value for value in EVEN)]).two


@pytest.mark.parametrize("values", [[100.0], [1.0, 1.0, 1.0, 99.0]])
def test_fewer_than_five_processes_tell_nothing(values: list[float]) -> None:
    assert two_regimes(values) == Regimes(False, len(values), 0, 1.0)


def test_equal_values_are_one_regime() -> None:
    assert not two_regimes([70.0] * 10).two


def test_regimes_closer_than_two_percent_are_not_worth_a_label() -> None:
    assert not two_regimes([100.0] * 9 + [101.9]).two
    assert two_regimes([100.0] * 9 + [102.1]).two


@pytest.mark.parametrize("n", [5, 6, 8, 10, 15, 20, 30, 60])
def test_at_most_one_normal_sample_in_300_is_called_two_regimes(n: int) -> None:
    samples = np.exp(np.random.default_rng(n).normal(0, 0.05, (6000, n)))
    called = sum(two_regimes(sample).two for sample in samples)
    assert called <= 34  # 20 expected; more than 34 has a chance of 1 in 600
    if n <= 30:
        assert called >= 8


def two(c: Sequence[float], a1: Sequence[float], a2: Sequence[float]) -> bool:
    return overhead_regimes(c, a1, a2).two


def test_an_overhead_is_labelled_when_any_of_its_three_samples_has_two_regimes() -> None:
    slow = [*EVEN[:9], 170.0]
    assert not two(EVEN, EVEN, EVEN)
    assert two(slow, EVEN, EVEN)
    assert two(EVEN, slow, EVEN)
    assert two(EVEN, EVEN, slow)


@given(st.lists(st.floats(50, 200), min_size=5, max_size=40), st.sampled_from([1e-6, 0.1, 42.0]))
def test_neither_unit_nor_order_matters(values: list[float], unit: float) -> None:
    gaps = np.sort(np.diff(np.sort(np.log(values))))
    assume(gaps[-1] > gaps[-2] + 1e-9)  # else two splits are equally good
    before, after = two_regimes(values), two_regimes([unit * value for value in reversed(values)])
    assert after.two == before.two
    assert (after.fast, after.slow) == (before.fast, before.slow)
    assert after.ratio == pytest.approx(before.ratio)


def test_what_is_not_positive_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        two_regimes([1.0, 2.0, 0.0, 3.0, 4.0])


def test_regimes_that_blocks_hide_show_in_the_paired_ratio() -> None:
    """Three of ten starts 1.15 times slower, blocks that drift by 5 %: the values themselves show no gap."""
    drift = np.exp(0.05 * np.sin(np.arange(10) * 2.1))
    slow = np.where(np.arange(10) % 4 == 1, 1.15, 1.0)
    baseline = 100.0 * drift
    c = np.array(EVEN) ** 0.3 * 100**0.7 * drift * slow
    assert not two_regimes(c).two
    assert two_regimes(baseline).two is False
    assert two(c.tolist(), baseline.tolist(), baseline.tolist())


def test_a_slow_start_outside_the_blocks_counts() -> None:
    further = Starts(own=(101.0, 171.0))
    assert not overhead_regimes(EVEN, EVEN, EVEN).two
    found = overhead_regimes(EVEN, EVEN, EVEN, further)
    assert (found.two, found.own.slow, found.rare, found.one_sided) == (True, 1, 1, True)


def test_how_many_starts_were_slow_bounds_how_many_are() -> None:
    assert share_below(0, 10) == pytest.approx(1 - 0.05 ** (1 / 10))
    assert share_below(0, 36) == pytest.approx(0.0798, abs=0.0001)
    assert share_below(3, 36) == pytest.approx(0.2015, abs=0.001)
    assert share_below(4, 4) == 1.0
    with pytest.raises(ValueError, match="a share needs"):
        share_below(3, 2)


def test_the_interval_leans_where_one_side_alone_has_slow_starts() -> None:
    slow = [*EVEN[:9], 170.0]
    alone, both = judged_overhead(slow, EVEN, EVEN), judged_overhead(slow, EVEN, [170.0, *EVEN[1:]])
    assert alone.log_ratio == skewed_interval(log_ratios(slow, EVEN, EVEN))
    assert alone.log_ratio.ci95 is not None
    assert alone.log_ratio.ci95[1] - alone.log_ratio.mean > alone.log_ratio.mean - alone.log_ratio.ci95[0]
    assert both.log_ratio == t_interval(log_ratios(slow, EVEN, [170.0, *EVEN[1:]]))
    assert judged_overhead(EVEN, EVEN, EVEN).difference == t_interval([0.0] * 10)


def test_of_few_blocks_the_skewness_cannot_be_told() -> None:
    slow, even = [*EVEN[:4], 170.0], EVEN[:5]
    judged = judged_overhead(slow, even, even)
    assert judged.regimes.one_sided
    assert judged.log_ratio == t_interval(log_ratios(slow, even, even))
