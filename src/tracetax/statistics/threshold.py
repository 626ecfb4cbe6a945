"""Where something that works at low rates stops working: a bracket, found by bisection on the log of the rate.

Each look is a trial with two outcomes, and may come out differently when it is repeated. So a bracket counts only once
its lower rate has held in further trials; where one of those fails, the search goes on below. What further trials show
is bounded as Clopper and Pearson (1934, The use of confidence or fiducial limits) do.
"""

import math
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

CONFIDENCE = 0.95
STEP = 2.0
"""By what the rate changes while only one side of the bracket is known."""


class Look(Struct, frozen=True):
    """One trial at a rate."""

    rate: float
    held: bool


class Goal(Struct, frozen=True):
    """Where to look, and how narrow and how sure the bracket is to be."""

    lowest: float
    highest: float
    """A rate at which one trial has failed already; the looks are without that one."""
    start: float
    """Where to begin: a guess, between the two."""
    resolution: float
    """The bracket is narrow enough when its upper rate is at most (1 + resolution) times its lower one."""
    further: int
    """Trials at each end of the bracket, beyond the one that made it an end."""


class Bracket(Struct, frozen=True):
    """How far a search has come."""

    low: float | None
    """The highest rate at which every trial held, below every rate at which one did not."""
    high: float
    """The lowest rate at which a trial did not hold."""
    next: float | None
    """The rate of the next trial; None where there is nothing left to do."""
    stage: Literal["searching", "confirming", "found", "none-holds"]
    """``none-holds``: not even the lowest rate did."""
    left: int
    """Trials that are still needed at least, if no further one changes the bracket."""


def bracket(looks: Sequence[Look], goal: Goal) -> Bracket:
    """The bracket that follows from the looks so far, in any order, and what to look at next."""
    high = min((look.rate for look in looks if not look.held), default=goal.highest)
    held = [look.rate for look in looks if look.held and look.rate < high]
    low = max(held, default=None)
    ends = 2 * goal.further
    if low is None:
        below = rounded(max(goal.lowest, high / STEP) if looks else goal.start)
        if high <= goal.lowest or (looks and below >= high):
            return Bracket(low=None, high=high, next=None, stage="none-holds", left=0)
        left = 1 + _halvings(STEP, goal.resolution) + ends
        return Bracket(low=None, high=high, next=below, stage="searching", left=left)
    if high > low * (1 + goal.resolution) and (middle := _between(low, high)):
        # where nothing but full speed has failed so far, it may be far away: steps are quicker than halves
        above = low * STEP if high == goal.highest and low * STEP**2 < high else middle
        left = _halvings(high / low, goal.resolution) + ends
        return Bracket(low=low, high=high, next=rounded(above), stage="searching", left=left)
    at_low, at_high = (sum(look.rate == rate for look in looks) for rate in (low, high))
    at_high += high == goal.highest
    missing = [max(0, 1 + goal.further - count) for count in (at_low, at_high)]
    left = sum(missing)
    if not left:
        return Bracket(low=low, high=high, next=None, stage="found", left=0)
    return Bracket(low=low, high=high, next=low if missing[0] else high, stage="confirming", left=left)


def most_likely_to_fail(trials: int) -> float:
    """The upper end of the one-sided 95 % interval of a share of which none was seen in so many trials.

    The exact interval of Clopper and Pearson (1934): 1 − 0.05^(1/n), about 3/n.
    """
    return 1.0 - (1.0 - CONFIDENCE) ** (1.0 / trials) if trials else 1.0


def rounded(rate: float) -> float:
    """A rate to three significant digits: what is tried is what is told."""
    place = 2 - math.floor(math.log10(rate))
    return float(round(rate, place))


def _between(low: float, high: float) -> float | None:
    """The middle of two rates on the log scale; None where three digits have none."""
    middle = rounded(math.sqrt(low * high))
    return middle if low < middle < high else None


def _halvings(ratio: float, resolution: float) -> int:
    """How often a bracket of this ratio must be halved on the log scale until it is narrow enough."""
    return max(0, math.ceil(math.log2(math.log(ratio) / math.log1p(resolution)))) if ratio > 1 + resolution else 0
