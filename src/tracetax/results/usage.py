"""The way to the rate at which a service uses so much CPU: from what each trial used to the next rate."""

import math
from collections.abc import Sequence

from tracetax.model import FULL, Search
from tracetax.results.capacity import CapacityTrial, SearchStep, given_up, judged
from tracetax.statistics.threshold import three_digits

FIRST_RATE = 100.0
"""Of the first trial, requests per second."""
NEAR = 0.1
"""How far the use of a trial may be from what is looked for, for its rate to be kept."""
LARGEST_STEP = 8.0
"""Between the rates of two trials: a service that idles tells little about one that is busy."""
LEAST_GROWTH = 0.5
"""Of the power of the rate by which the use is taken to grow: a single trial is no more certain than that."""
TRIES = 6
"""After so many trials at several rates the last one is kept, however near it is."""
USUAL_WAY = 3
"""Trials until a rate is kept, usually."""


def next_at_usage(trials: Sequence[CapacityTrial], search: Search) -> SearchStep:
    """The next rate to try: scaled by what the last trial used, until one is near; that is tried further.

    The trial that found the rate chose it, so that only the further ones count. A rate that the load could not make
    ends the search where the service was not at its limit: there is no answer on this machine.
    """
    if given_up(trials):
        return SearchStep(rate=None, left=0)
    kept = kept_rate(trials, search)
    if kept is not None:
        missing = 1 + search.further - sum(1 for trial in judged(trials) if trial.rate == kept)
        return SearchStep(rate=kept if missing > 0 else None, left=missing)
    left = search.further + USUAL_WAY
    seen = judged(trials)
    if not seen:
        return SearchStep(rate=max(FIRST_RATE, search.lowest), left=left)
    assert search.usage
    used = seen[-1].cores
    if not used or (seen[-1].counts == "not-made" and used < search.usage.busy):
        return SearchStep(rate=None, left=0)
    return SearchStep(rate=_scaled(seen, search), left=left)


def kept_rate(trials: Sequence[CapacityTrial], search: Search) -> float | None:
    """The first rate at which a trial used nearly what is looked for; None where no trial has."""
    assert search.usage
    seen = [trial for trial in judged(trials) if trial.rate != FULL and trial.counts == "complete" and trial.cores]
    for place, trial in enumerate(seen, start=1):
        assert trial.cores
        at_end = float(trial.rate) == search.lowest and trial.cores >= search.usage.busy
        if abs(trial.cores / search.usage.busy - 1) <= NEAR or place == TRIES or at_end:
            return float(trial.rate)
    return None


def _scaled(seen: Sequence[CapacityTrial], search: Search) -> float:
    """The rate at which the last trial would have used what is looked for.

    A busy service often needs less for each request. So the step goes by how the use grew between the last two trials.
    """
    last = seen[-1]
    assert last.cores and search.usage and last.rate != FULL
    by = (search.usage.busy / last.cores) ** (1 / _growth(seen, search.usage.busy))
    return three_digits(max(search.lowest, last.offered * min(LARGEST_STEP, max(1 / LARGEST_STEP, by))))


def _growth(seen: Sequence[CapacityTrial], busy: float) -> float:
    """By which power of the rate the use grew between the last two trials near enough; 1 where that is not known."""
    near = [trial for trial in seen if trial.counts == "complete" and trial.cores and trial.cores > busy / 4]
    if len(near) < 2 or near[-1] is not seen[-1] or near[-1].offered <= near[-2].offered * (1 + NEAR):
        return 1.0
    rates, uses = near[-1].offered / near[-2].offered, (near[-1].cores or 0.0) / (near[-2].cores or 1.0)
    return min(1.0, max(LEAST_GROWTH, math.log(uses) / math.log(rates) if uses > 0 else 1.0))
