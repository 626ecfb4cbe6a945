"""The bracket closes on the rate from which trials fail, and says no more than its trials do."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetax.statistics.threshold import (
    Bracket,
    Goal,
    Look,
    bracket,
    candidate_of,
    confirmations,
    share_at_most,
    three_digits,
)

GOAL = Goal(lowest=10.0, highest=200_000.0, start=5_000.0, resolution=0.1, further=5)


def searched(holds: Callable[[float], bool], goal: Goal = GOAL, most: int = 500) -> tuple[Bracket, list[Look]]:
    looks: list[Look] = []
    while (found := bracket(looks, goal)).next is not None:
        assert len(looks) < most
        looks.append(Look(found.next, holds(found.next)))
    return found, looks


@given(st.floats(12, 150_000), st.floats(12, 150_000))
def test_a_sharp_threshold_ends_inside_a_bracket_that_is_narrow_enough(threshold: float, start: float) -> None:
    goal = Goal(lowest=10.0, highest=200_000.0, start=start, resolution=0.1, further=2)
    found, looks = searched(lambda rate: rate <= threshold, goal)
    assert found.stage == "found"
    assert found.low is not None and found.low <= threshold < found.high <= found.low * 1.1
    assert sum(look.rate == found.low for look in looks) == 3
    assert sum(look.rate == found.high for look in looks) in (2, 3)  # full speed itself was tried before


def test_a_good_guess_saves_trials() -> None:
    near, far = (
        searched(lambda rate: rate <= 3_300, Goal(10.0, 200_000.0, start, 0.1, 5))[1] for start in (3_000.0, 20.0)
    )
    assert len(near) < len(far)


def test_where_not_even_the_lowest_rate_holds_that_is_the_answer() -> None:
    found, looks = searched(lambda _: False)
    assert (found.low, found.high, found.stage) == (None, 10.0, "none-holds")
    assert looks[-1] == Look(10.0, held=False)


def test_a_lowest_rate_of_more_digits_than_are_tried_ends_the_search_too() -> None:
    goal = Goal(lowest=1_006.0, highest=9_000.0, start=3_000.0, resolution=0.1, further=5)
    found, _ = searched(lambda _: False, goal)
    assert (found.low, found.stage) == (None, "none-holds")


def test_where_everything_but_full_speed_holds_the_bracket_ends_there() -> None:
    found, _ = searched(lambda _: True)
    assert (found.high, found.stage) == (200_000.0, "found")
    assert found.low is not None and found.low * 1.1 >= 200_000


def test_a_further_trial_that_fails_moves_the_bracket_down() -> None:
    looks = [Look(1_000.0, held=True), Look(1_100.0, held=False), Look(500.0, held=True), Look(1_000.0, held=False)]
    found = bracket(looks, GOAL)
    assert (found.low, found.high, found.stage) == (500.0, 1_000.0, "searching")
    assert found.next == three_digits((500 * 1_000) ** 0.5)


def test_what_held_above_a_rate_that_failed_counts_for_nothing() -> None:
    found = bracket([Look(100.0, held=True), Look(3_000.0, held=True), Look(200.0, held=False)], GOAL)
    assert (found.low, found.high) == (100.0, 200.0)


def test_the_order_of_trials_does_not_matter() -> None:
    _, looks = searched(lambda rate: rate <= 3_300)
    shuffled = random.Random(1).sample(looks, len(looks))
    assert bracket(shuffled, GOAL) == bracket(looks, GOAL)


def test_what_is_left_reaches_zero_one_trial_at_a_time_while_the_bracket_is_confirmed() -> None:
    looks: list[Look] = []
    left: list[int] = []
    while (found := bracket(looks, GOAL)).next is not None:
        if found.stage == "confirming":
            left.append(found.left)
        looks.append(Look(found.next, held=found.next <= 3_300))
    assert left == list(range(10, 0, -1))


@pytest.mark.parametrize(("trials", "bound"), [(0, 1.0), (1, 0.975), (5, 0.5218), (6, 0.4593), (29, 0.1194)])
def test_the_share_that_may_fail_although_none_did(trials: int, bound: float) -> None:
    assert share_at_most(trials) == pytest.approx(bound, abs=5e-5)


def test_a_bound_with_failures_is_the_share_at_which_so_few_are_as_rare_as_is_allowed() -> None:
    share = share_at_most(held=6, lost=1, candidate=2)
    seen = (1 - share) ** 7 + 7 * share * (1 - share) ** 6
    assert seen == pytest.approx(0.05 / 6)


def test_a_later_candidate_takes_more_trials_for_the_same_bound() -> None:
    assert [confirmations(6, candidate) for candidate in (1, 2, 3, 10)] == [6, 8, 9, 13]
    assert all(share_at_most(confirmations(6, k), candidate=k) <= share_at_most(6) for k in range(1, 50))


def test_candidates_are_the_rates_that_were_tried_again_after_they_had_held() -> None:
    search = [Look(400.0, held=True), Look(500.0, held=False)]
    given_up = [Look(450.0, held=True), Look(450.0, held=True), Look(450.0, held=False)]
    upper = [Look(500.0, held=True)]
    assert candidate_of([*search, *given_up, *upper], 400.0) == 2
    assert candidate_of(search, 400.0) == 1


def test_after_a_candidate_was_given_up_the_next_is_tried_more_often() -> None:
    looks = [Look(1_000.0, held=True), Look(1_050.0, held=False)]
    fresh = bracket(looks, GOAL)
    after = bracket([Look(1_040.0, held=True), Look(1_040.0, held=False), *looks], GOAL)
    assert (fresh.left, after.left) == (10, 11)  # two more below, one less above: it was tried twice there


def test_a_threshold_that_is_not_sharp_is_answered_by_a_rate_at_which_few_trials_fail() -> None:
    """Of searches over a loss whose probability grows from 5 % to 95 % within a factor of 1.35, few end too high."""
    draw = random.Random(20261121)

    def loss(rate: float) -> float:
        return 1 / (1 + (rate / 3_300.0) ** -20)

    ends = [searched(lambda rate: draw.random() >= loss(rate))[0] for _ in range(400)]
    lows = [found.low for found in ends if found.low is not None]
    assert len(lows) == len(ends)
    too_high = sum(loss(low) > share_at_most(GOAL.further) for low in lows)
    assert too_high <= 0.05 * len(lows)
