"""Where something that works at low rates stops working: a bracket, found by bisection on the log of the rate.

Each look is a trial with two outcomes, and may come out differently when it is repeated. So a bracket counts only once
its lower rate has held in further trials; where one of those fails, the search goes on below. What further trials show
is bounded as Clopper and Pearson (1934, The use of confidence or fiducial limits) do.

A rate that loses half of its trials holds in five of them now and then. A search that tries one rate after the other
ends at the first that does, so the bound must hold for all of them together. The error that is allowed, 5 %, is spent
on the candidates in turn: α / (k (k + 1)) on the k-th. Those shares add up to α, so by Bonferroni's inequality the
claim is wrong in at most 5 % of searches, however many candidates there are and however they are chosen.
"""

import math
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from scipy import special  # pyright: ignore[reportMissingTypeStubs]

CONFIDENCE = 0.95
STEP = 2.0
"""By what the rate changes while only one side of the bracket is known."""


class Look(Struct, frozen=True):
    """One trial at a rate: whether what is looked for held."""

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
    """Trials at each end of the bracket, beyond the one that made it an end; later candidates take more."""
    given_up: int = 0
    """Candidates that the looks do not show: full speed, where it had held before it failed."""


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
    """The bracket that follows from the looks so far, in their order, and what to look at next.

    The order counts only where looks at one rate differ: it says whether further trials there were to confirm it.
    """
    high = min((look.rate for look in looks if not look.held), default=goal.highest)
    held = [look.rate for look in looks if look.held and look.rate < high]
    low = max(held, default=None)
    ends = 2 * goal.further
    if low is None:
        below = three_digits(max(goal.lowest, high / STEP) if looks else goal.start)
        if high <= goal.lowest or (looks and below >= high):
            return Bracket(low=None, high=high, next=None, stage="none-holds", left=0)
        left = 1 + _halvings(STEP, goal.resolution) + ends
        return Bracket(low=None, high=high, next=below, stage="searching", left=left)
    if high > low * (1 + goal.resolution) and (middle := _between(low, high)):
        # where nothing but full speed has failed so far, it may be far away: steps are quicker than halves
        above = low * STEP if high == goal.highest and low * STEP**2 < high else middle
        left = _halvings(high / low, goal.resolution) + ends
        return Bracket(low=low, high=high, next=three_digits(above), stage="searching", left=left)
    at_low, at_high = (sum(look.rate == rate for look in looks) for rate in (low, high))
    at_high += high == goal.highest
    confirming = confirmations(goal.further, goal.given_up + candidate_of(looks, low))
    missing = [max(0, 1 + due - count) for due, count in ((confirming, at_low), (goal.further, at_high))]
    left = sum(missing)
    if not left:
        return Bracket(low=low, high=high, next=None, stage="found", left=0)
    return Bracket(low=low, high=high, next=low if missing[0] else high, stage="confirming", left=left)


def candidate_of(looks: Sequence[Look], low: float) -> int:
    """Which candidate for the lower end ``low`` is, from 1: those before it held at first, and failed when repeated."""
    at: dict[float, list[bool]] = {}
    for look in looks:
        at.setdefault(look.rate, []).append(look.held)
    return 1 + sum(own[0] and len(own) > 1 for rate, own in at.items() if rate != low)


def confirmations(further: int, candidate: int) -> int:
    """Further trials that the k-th candidate must hold in, for the bound that ``further`` give the first one."""
    return math.ceil(further * math.log(_error(candidate)) / math.log(_error(1)) - 1e-9)


def share_at_most(held: int, lost: int = 0, candidate: int = 1) -> float:
    """Upper end of the interval of the share of trials that fail, of which ``lost`` did and ``held`` did not.

    The exact one-sided bound of Clopper and Pearson (1934), at the error that is spent on the k-th candidate; where
    none failed it is 1 − error^(1/held). It holds too where trials were made until so many had held: the last one did.
    """
    return float(special.betaincinv(lost + 1, held, 1.0 - _error(candidate))) if held else 1.0


def _error(candidate: int) -> float:
    """What the k-th candidate may spend of the error that is allowed."""
    return (1.0 - CONFIDENCE) / (candidate * (candidate + 1))


def three_digits(rate: float) -> float:
    """A rate to three significant digits: what is tried is what is told."""
    place = 2 - math.floor(math.log10(rate))
    return float(round(rate, place))


def _between(low: float, high: float) -> float | None:
    """The middle of two rates on the log scale; None where three digits have none."""
    middle = three_digits(math.sqrt(low * high))
    return middle if low < middle < high else None


def _halvings(ratio: float, resolution: float) -> int:
    """How often a bracket of this ratio must be halved on the log scale until it is narrow enough."""
    return max(0, math.ceil(math.log2(math.log(ratio) / math.log1p(resolution)))) if ratio > 1 + resolution else 0
