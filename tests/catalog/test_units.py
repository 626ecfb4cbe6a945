import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetax.catalog import units
from tracetax.catalog.units import HalfWidth, UnitError


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("5s", 5 * 10**9),
        ("3 s", 3 * 10**9),
        ("0ns", 0),
        ("0.5 us", 500),
        ("2 µs", 2_000),
        ("200 ms", 200 * 10**6),
        ("5min", 300 * 10**9),
        ("2h", 7_200 * 10**9),
        ("1,000 s", 10**12),
        ("1_000 s", 10**12),
    ],
)
def test_a_time_is_read_as_nanoseconds(text: str, ns: int) -> None:
    assert units.duration(text) == ns


@pytest.mark.parametrize(
    ("text", "size"),
    [("800 B", 800), ("1 GiB", 2**30), ("1.5 GiB", 3 * 2**29), ("512MiB", 2**29), ("1 GB", 10**9)],
)
def test_a_size_is_read_as_bytes(text: str, size: int) -> None:
    assert units.size(text) == size


def test_a_share_is_above_nothing_and_at_most_all() -> None:
    assert (units.part_of_all("50 %"), units.part_of_all("100%")) == (0.5, 1.0)
    for wrong in ("0 %", "101 %", "0.5", 0.5):
        with pytest.raises(UnitError, match="50 %"):
            units.part_of_all(wrong)


@pytest.mark.parametrize(("text", "rate"), [("1000/s", 1000.0), ("1,000 /s", 1000.0), ("0.5/s", 0.5), ("full", "full")])
def test_a_rate_is_read_per_second_or_as_full(text: str, rate: object) -> None:
    assert units.rate(text) == rate


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("1 %", HalfWidth(0.01, None)),
        ("0.5%", HalfWidth(0.005, None)),
        ("2 ns", HalfWidth(None, 2.0)),
        ("2.5ns", HalfWidth(None, 2.5)),
        ("1 % or 2 ns", HalfWidth(0.01, 2.0)),
        ("2 ns or 1 %", HalfWidth(0.01, 2.0)),
    ],
)
def test_a_half_width_is_of_the_ratio_or_of_the_difference_or_either(text: str, width: HalfWidth) -> None:
    assert units.half_width(text) == width


@pytest.mark.parametrize("value", ["1", 1, 0.5])
def test_a_half_width_without_its_unit_is_refused_with_both_right_forms(value: object) -> None:
    with pytest.raises(UnitError, match='needs a unit: "1 %" or "2 ns"'):
        units.half_width(value)


@pytest.mark.parametrize(
    "value", ["1 apple", "1 % or", "1 % or 2 %", "0 %", "0 ns", "-1 %", "", None, True, "1 % and 2 ns"]
)
def test_what_is_no_half_width_is_refused(value: object) -> None:
    with pytest.raises(UnitError):
        units.half_width(value)


@pytest.mark.parametrize(
    ("text", "busy", "words"),
    [("75 % of 1 core", 0.75, "75 % of 1 core"), ("50% of 2 cores", 1.0, "50 % of 2 cores")],
)
def test_a_use_of_cpu_is_a_share_of_some_cores(text: str, busy: float, words: str) -> None:
    read = units.usage(text)
    assert (read.busy, read.text) == (busy, words)


@pytest.mark.parametrize(
    "value", ["75 %", "75 of 1 core", "0 % of 1 core", "101 % of 1 core", "75 % of 0 cores", "", 75, None, True]
)
def test_what_is_no_use_of_cpu_is_refused_with_the_right_form(value: object) -> None:
    with pytest.raises(UnitError, match="75 % of 1 core"):
        units.usage(value)


@pytest.mark.parametrize(
    "value", [5, 5.0, "5", "5 sec", "s", "-5 s", "1,5 s", "1e3 s", "0.5 ns", "5 s s", "", None, True, []]
)
def test_what_is_no_time_is_refused(value: object) -> None:
    with pytest.raises(UnitError):
        units.duration(value)


@pytest.mark.parametrize("value", [1000, "1000", "1000/min", "0/s", "FULL", "all"])
def test_what_is_no_rate_is_refused(value: object) -> None:
    with pytest.raises(UnitError):
        units.rate(value)


def test_a_unit_with_the_wrong_capitals_is_answered_with_the_right_one() -> None:
    with pytest.raises(UnitError, match='Did you mean "kB"'):
        units.size("8 KB")


@given(st.integers(0, 8_760), st.sampled_from(sorted(units.TIME)), st.sampled_from(["", " ", "  "]))
def test_every_whole_number_of_every_unit_of_time_is_exact(amount: int, unit: str, space: str) -> None:
    assert units.duration(f"{amount}{space}{unit}") == amount * units.TIME[unit]


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused_but_never_breaks(text: str) -> None:
    for read in (units.duration, units.size, units.rate, units.half_width):
        try:
            read(text)
        except UnitError as error:
            assert str(error)
