import pytest

from tracetax.catalog import CatalogError, rescheduled
from tracetax.model import Schedule

FIVE = Schedule(min_blocks=5, max_blocks=5)


def test_without_options_a_schedule_stays_as_it_is() -> None:
    assert rescheduled(FIVE) == FIVE


@pytest.mark.parametrize("blocks", [2, 7, 40])
def test_blocks_means_exactly_so_many(blocks: int) -> None:
    changed = rescheduled(Schedule(), blocks=blocks)
    assert (changed.min_blocks, changed.max_blocks) == (blocks, blocks)


def test_a_half_width_replaces_both_bounds() -> None:
    only_ratio = rescheduled(FIVE, half_width="0.5%")
    assert (only_ratio.half_width_ratio, only_ratio.half_width_ns) == (0.005, 0.0)
    only_ns = rescheduled(FIVE, half_width="1 ns")
    assert (only_ns.half_width_ratio, only_ns.half_width_ns) == (0.0, 1.0)
    both = rescheduled(FIVE, half_width="2 % or 5 ns")
    assert (both.half_width_ratio, both.half_width_ns) == (0.02, 5.0)


@pytest.mark.parametrize(
    ("schedule", "expected"), [(FIVE, (10, 100)), (Schedule(min_blocks=20, max_blocks=200), (20, 200))]
)
def test_a_half_width_makes_room_for_the_blocks_that_it_takes(schedule: Schedule, expected: tuple[int, int]) -> None:
    changed = rescheduled(schedule, half_width="1 %")
    assert (changed.min_blocks, changed.max_blocks) == expected


def test_a_half_width_leaves_blocks_that_were_asked_for_alone() -> None:
    changed = rescheduled(FIVE, blocks=3, half_width="1 %")
    assert (changed.min_blocks, changed.max_blocks) == (3, 3)


def test_a_budget_changes_nothing_else() -> None:
    assert rescheduled(FIVE, budget="5min") == Schedule(min_blocks=5, max_blocks=5, budget_ns=300 * 10**9)


def test_every_wrong_option_is_reported_at_once() -> None:
    with pytest.raises(CatalogError) as caught:
        rescheduled(Schedule(), blocks=0, half_width="1", budget="5")
    (report,) = caught.value.reports
    assert {problem.key for problem in report.problems} == {"--blocks", "--half-width", "--budget"}


def test_an_empty_option_is_wrong_rather_than_absent() -> None:
    with pytest.raises(CatalogError) as caught:
        rescheduled(Schedule(), half_width="", budget="")
    (report,) = caught.value.reports
    assert {problem.key for problem in report.problems} == {"--half-width", "--budget"}
