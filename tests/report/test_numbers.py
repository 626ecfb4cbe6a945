import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetax.report import numbers


@pytest.mark.parametrize(
    ("estimate", "half_width", "shown"),
    [
        (412.3, 11.2, ("412", "11")),
        (147.21, 2.13, ("147.2", "2.1")),
        (0.61, 0.53, ("0.6", "0.5")),
        (1_234.0, 230.0, ("1,230", "230")),
        (-3.42, 1.04, ("−3.4", "1.0")),
        (-0.04, 0.5, ("0.0", "0.5")),
        (64.1, None, ("64.1", "")),
    ],
)
def test_the_half_width_decides_the_digits(estimate: float, half_width: float | None, shown: tuple[str, str]) -> None:
    assert numbers.measured(estimate, half_width) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [(1.0, "100 %"), (0.0, "0 %"), (0.0203, "2.0 %"), (0.999, "99.9 %"), (0.9999999, "99.99999 %"), (4e-5, "0.0040 %")],
)
def test_a_share_is_shown_as_per_cent(share: float, shown: str) -> None:
    assert numbers.percent(share) == shown


@given(st.integers(1, 10**9 - 1))
def test_one_missing_record_in_a_billion_is_not_a_hundred_per_cent(received: int) -> None:
    shown = numbers.percent(received / 10**9)
    assert shown not in ("100 %", "0 %")
    assert float(shown.split()[0]) < 100


@pytest.mark.parametrize(
    ("rates", "shown"),
    [
        ([3_311_000.0], "3.3 million records/s"),
        ([33_100.0], "33,000 records/s"),
        ([999_600.0], "1.0 million records/s"),
        ([33_000.0, 41_000.0], "33,000–41,000 records/s"),
        ([2.1e6, 3.4e6], "2.1–3.4 million records/s"),
        ([33_000.0, 3.4e6], "33,000–3.4 million records/s"),
    ],
)
def test_rates_are_given_in_words(rates: list[float], shown: str) -> None:
    assert numbers.per_second(rates, "records") == shown


def test_a_time_and_its_half_width_share_the_unit_that_fits_the_time() -> None:
    assert numbers.measured_duration(18_420.0, 1_510.0) == ("18.4", "1.5", "µs")
    assert numbers.measured_duration(90.0, 10.0) == ("90", "10", "ns")
    assert numbers.measured_duration(400.0, 30e6) == ("0", "30", "ms")


TIMES = st.floats(-1e18, 1e18) | st.sampled_from([float("nan"), float("inf"), float("-inf")])


@given(TIMES, st.none() | st.floats(0, 1e18) | st.just(float("inf")))
def test_no_number_is_too_strange_to_print(estimate: float, half_width: float | None) -> None:
    numbers.measured(estimate, half_width)
    numbers.measured_duration(estimate, half_width)


def test_no_line_may_end_inside_a_number_with_its_half_width_and_unit() -> None:
    assert numbers.unbroken("costs 603 ± 119 ns per call") == "costs 603\u00a0±\u00a0119\u00a0ns per call"
    assert numbers.unbroken("about 2.5 µs, 17 % of 5 seconds") == "about 2.5\u00a0µs, 17\u00a0% of 5 seconds"


@pytest.mark.parametrize(
    ("estimate", "half_width", "shown"),
    [(24.0, 0.33, "24.0"), (6.5, 31.0, "6"), (0.42, 9.0, "0.4"), (1234.0, 80.0, "1,234"), (1234.0, 8000.0, "1,200")],
)
def test_a_number_shown_without_its_margin_keeps_one_digit_at_least(
    estimate: float, half_width: float, shown: str
) -> None:
    assert numbers.alone(estimate, half_width) == shown


def test_a_lopsided_interval_is_given_by_its_ends_in_the_unit_of_the_time() -> None:
    assert numbers.spanned_duration(3.0e6, 0.217e6, 41.8e6) == ("3.0", "0.22\u00a0–\u00a042", "ms")
    assert numbers.spanned_duration(9_000, 1_700, 47_600) == ("9.0", "1.7\u00a0–\u00a048", "µs")
