"""The way to the rate at which a service uses so much CPU: from what each trial used to the next rate."""

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
TRIES = 6
"""After so many trials at several rates the last one is kept, however near it is."""
USUAL_WAY = 3
"""Trials until a rate is kept, usually."""


def next_at_usage(trials: Sequence[CapacityTrial], search: Search) -> SearchStep:
    """The next rate to try: scaled by what the last trial used, until one is near; that is tried further.

    The trial that found the rate chose it, so that only the further ones count. A rate that the load could not make
    ends the search: there is no answer on this machine.
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
    if seen[-1].counts == "not-made" or not seen[-1].cores:
        return SearchStep(rate=None, left=0)
    return SearchStep(rate=_scaled(seen[-1], search), left=left)


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


def _scaled(trial: CapacityTrial, search: Search) -> float:
    assert trial.cores and search.usage and trial.rate != FULL
    by = min(LARGEST_STEP, max(1 / LARGEST_STEP, search.usage.busy / trial.cores))
    return three_digits(max(search.lowest, trial.offered * by))
