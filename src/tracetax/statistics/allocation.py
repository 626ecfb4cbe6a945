"""Starts against calls: how many calls a start makes so that a mean is known best in the time that there is.

A start costs time before its first call and after its last, and starts differ; calls of one start differ too. With the
variance between starts T², the variance of a call within a start S² (both relative), the time of a start without calls
s and that of a call c, n starts of m calls take n (s + m c) and leave the variance (T² + S²/m)/n. Their product, time ×
variance, does not depend on n; it is least at m = √(s/c · S²/T²) (Kalibera and Jones 2013: Rigorous benchmarking in
reasonable time, section 6).
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import ArrayLike
from scipy import special  # pyright: ignore[reportMissingTypeStubs]

from tracetax.statistics.intervals import finite

BATCHES = 10
"""Into which a start's calls are divided: their means show what remains of the calls' dependence on each other."""
LIMIT = 0.9
WORTHWHILE = 0.9
"""Another number of calls is taken only where it leaves at most this share of time × variance."""


class Variation(Struct, frozen=True):
    """What starts of one configuration vary by, and what they cost."""

    between: float
    """T²: variance of starts' means beyond what the calls explain, relative to the mean squared."""
    within: float
    """S²: long-run variance of a call within a start, relative to the mean squared."""
    start_seconds: float
    """Time of a start without its calls."""
    call_seconds: float
    """Time of a call, its records' delivery included."""

    def price(self, calls: int) -> float:
        """Time × variance of starts of so many calls, seconds."""
        return (self.start_seconds + calls * self.call_seconds) * (self.between + self.within / calls)

    def limits(self, calls: int, starts: int) -> tuple["Variation", "Variation"]:
        """With the least and the most that starts may vary by: one-sided 90 % limits from so many starts of ``calls``.

        Few starts agree by chance: three show a tenth of their variance in one case of ten (chi-square, 2 degrees).
        """
        seen = self.between + self.within / calls
        degrees = starts - 1
        tails = (1 - LIMIT, LIMIT)
        variances = (seen * degrees / float(special.chdtri(degrees, tail)) for tail in tails)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        least, most = (replace(self, between=max(0.0, variance - self.within / calls)) for variance in variances)
        return least, most


def call_variance(bin_means: ArrayLike, calls_per_bin: float) -> float:
    """Return the long-run variance of one call, relative to the mean squared.

    From batch means of a start's second half, so that calls which depend on their neighbours are taken as they are.

    Args:
        bin_means: Shape (bins,), mean duration of each bin of equally many calls, in order.
        calls_per_bin: Calls in each.

    Raises:
        ValueError: Fewer bins than batches need, or a value that is not finite.

    """
    means = finite(bin_means)
    half = means[means.size // 2 :]
    size = half.size // BATCHES
    if size < 1:
        raise ValueError(f"{means.size} bins are too few for {BATCHES} batches of their second half")
    batches = half[-size * BATCHES :].reshape(BATCHES, size).mean(axis=1)
    return float(batches.var(ddof=1) * size * calls_per_bin / batches.mean() ** 2)


def variation(
    values: ArrayLike, call_variances: Sequence[float], calls: int, start_seconds: float, call_seconds: float
) -> Variation:
    """Return the variances of starts that made ``calls`` each.

    Args:
        values: Shape (n,), at least two, the starts' means; positive.
        call_variances: Of the same starts, by :func:`call_variance`.
        calls: In each start.
        start_seconds: Time of a start without its calls.
        call_seconds: Time of a call.

    """
    seen = float(np.log(finite(values)).var(ddof=1))
    within = float(np.mean(call_variances))
    return Variation(max(0.0, seen - within / calls), within, start_seconds, call_seconds)


def best_calls(of: Variation, calls: int, least: int, most: int, starts: int = 0) -> int:
    """Return how many calls a start makes best: ``calls`` doubled or halved, within bounds, or as it is.

    Whole doublings keep what a number of calls was chosen for, such as to fill an agent's batches. Where the variances
    come from a few ``starts``, the choice has to be worth it at both limits of what they may be; 0: they are known.
    """
    candidates = [calls]
    while candidates[-1] * 2 <= most:
        candidates.append(candidates[-1] * 2)
    fewer = calls
    while fewer % 2 == 0 and fewer // 2 >= least:
        fewer //= 2
        candidates.append(fewer)
    judges = (of, *of.limits(calls, starts)) if starts else (of,)

    def worthwhile(other: int) -> bool:
        return all(judge.price(other) <= WORTHWHILE * judge.price(calls) for judge in judges)

    good = [other for other in candidates if worthwhile(other)]
    return min(good, key=of.price, default=calls)
