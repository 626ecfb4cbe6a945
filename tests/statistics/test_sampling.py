"""What a sampler may let through is wide enough for chance, and no wider."""

import pytest
from scipy import special  # pyright: ignore[reportMissingTypeStubs]

from tracetax.statistics.sampling import UNLIKELY, by_chance, by_count, by_time


@pytest.mark.parametrize(
    ("calls", "one_in", "between"), [(10_000, 20, (499, 501)), (1_010, 20, (49, 52)), (5, 20, (0, 2)), (3, 1, (2, 3))]
)
def test_one_that_counts_may_be_off_by_one_call(calls: int, one_in: int, between: tuple[int, int]) -> None:
    assert by_count(calls, one_in) == between


def test_wherever_it_stands_in_its_count_what_it_lets_through_is_within_that() -> None:
    for one_in in (1, 2, 7, 20):
        for calls in (1, 6, 20, 99, 140):
            least, most = by_count(calls, one_in)
            for begun in range(one_in):
                assert least <= sum((begun + call) % one_in == 0 for call in range(calls)) <= most


@pytest.mark.parametrize(("calls", "one_in"), [(100, 10), (10_000, 10), (200_000, 50), (2_000_000, 3)])
def test_what_lies_outside_is_one_in_a_million(calls: int, one_in: int) -> None:
    least, most = by_chance(calls, one_in)
    below = float(special.bdtr(least - 1, calls, 1 / one_in)) if least else 0.0
    above = float(special.bdtrc(most, calls, 1 / one_in))
    assert below <= UNLIKELY
    assert above <= UNLIKELY
    assert float(special.bdtr(least + 1, calls, 1 / one_in)) > UNLIKELY / 2
    assert float(special.bdtrc(most - 2, calls, 1 / one_in)) > UNLIKELY / 2


def test_one_that_keeps_every_call_keeps_every_call() -> None:
    assert by_chance(1_000, 1) == (1_000, 1_000)


SECOND = 10**9


@pytest.mark.parametrize(
    ("calls", "seconds", "between"),
    [
        (10_000, 10, (2 * 60, 5 * 60)),  # three windows fit into 10 s: two are surely whole, five may be touched
        (2_000_000, 2, (0, 2 * 60)),  # all of it may lie in a window whose calls were recorded before
        (300, 30, (9 * 15, 300)),  # 30 calls a window, all recorded; half of them are counted on
        (0, 10, (0, 0)),
        (10, 0, (0, 0)),
    ],
)
def test_one_that_goes_by_time_owes_its_number_for_whole_windows(
    calls: int, seconds: int, between: tuple[int, int]
) -> None:
    assert by_time(calls, 60, 3 * SECOND, seconds * SECOND) == between


@pytest.mark.parametrize("calls", [40, 400, 4_000, 40_000])
@pytest.mark.parametrize("seconds", [2, 3, 7, 10, 31])
def test_wherever_its_windows_begin_what_it_lets_through_is_within_that(calls: int, seconds: int) -> None:
    least, most = by_time(calls, 60, 3 * SECOND, seconds * SECOND)
    times = [call * seconds * SECOND // calls for call in range(calls)]
    for begun in range(0, 3 * SECOND, SECOND // 7):
        for spent in (0, 60):  # of the first window's, by calls before the ones that are looked at
            windows: dict[int, int] = {(times[0] + begun) // (3 * SECOND): spent}
            through = 0
            for time in times:
                window = (time + begun) // (3 * SECOND)
                windows[window] = windows.get(window, 0) + 1
                through += windows[window] <= 60
            assert least <= through <= most
