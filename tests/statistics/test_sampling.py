"""What a sampler may let through is wide enough for chance, and no wider."""

import pytest
from scipy import special  # pyright: ignore[reportMissingTypeStubs]

from tracetax.statistics.sampling import UNLIKELY, by_chance, by_count


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
