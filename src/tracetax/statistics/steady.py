"""Which part of a trial is steady: the part its value is the mean of.

Change points and classes as Barrett et al. (2017), "Virtual machine warmup blows hot and cold", relative tolerances.
Whether a change point is a change of level, or a wave of a series whose bins depend on each other, is judged by the
long-run variance, estimated from differences of neighbouring batch means: Wu and Zhao (2007), "Inference of trends in
time series", section 4.
"""

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from tracetax.statistics.change_points import change_points, without_outliers
from tracetax.statistics.intervals import Floats, finite

Kind = Literal["flat", "warm-up", "slow-down", "no-steady-state"]
EQUIVALENCE = 0.05
"""Levels that differ by less are the same (Traini et al. 2022 use ± 5 % too)."""
STANDARD_ERRORS = 3.0
"""Levels that differ by less are the same too; more than the usual 2, as the clearest of many is judged."""
OF_A_SEGMENT = 4.0
"""The same for a single segment, which PELT has chosen for its level."""
BATCHES = (0.001, 0.01, 0.04, 0.08)
"""Lengths of batches as shares of the series, one bin at least. What swings more slowly than the longest of them cannot
be told from a change."""
LAST_PART = 0.25
"""A steady part that does not begin before the last quarter is none (Barrett: the last 500 of 2,000 iterations)."""
STALL = 0.05
"""A departure no longer than this, from a level and back to it, is a stall: part of the steady part, not its end."""

Places = NDArray[np.intp]


class Steady(Struct, frozen=True):
    """The bins a trial's value is taken from."""

    kind: Kind
    first_bin: int
    """Where it begins; it goes on to the end."""
    bins: int
    change_points: tuple[int, ...]
    """First bin of every segment but the first, as PELT finds them. Bins that depend on each other have more of them
    than changes of level."""


def steady_part(bin_means: ArrayLike, *, equivalence: float = EQUIVALENCE) -> Steady:
    """Return the steady part of a trial: from the first bin behind which no change of level is found.

    At every change point the mean of all that lies before, and that of the segment before, are compared with the mean
    of all that follows. Two means are the same when they differ by at most ``equivalence`` of the latter, or by three
    standard errors (a segment's by four), in the series as it is or without its outliers and stalls. The standard error
    rests on the long-run variance: the waves of a series whose bins depend on each other are no changes. (Barrett's
    tolerance adds a variance to a mean, which depends on the unit.) Behind the clearest change the search begins again,
    until there is none.

    A stall is a departure over at most 5 % of the bins and back to the same level. When the steady part begins within
    the last quarter there is none, and the last half stands in, labelled. ``slow-down``: something before it was
    faster; ``warm-up``: all that differs was slower; ``flat``: nothing differs.

    Args:
        bin_means: Shape (n,), mean duration of consecutive bins of equally many calls, ns.
        equivalence: Relative tolerance.

    Raises:
        ValueError: No bin, or a mean that is not finite.

    """
    y = finite(bin_means, "bin means")
    calm = without_outliers(y)
    changes = change_points(calm)
    calm = _without_stalls(calm, changes, equivalence)
    places = np.array(changes, dtype=np.intp)
    first = 0
    while (later := places[places > first]).size:
        segments = np.concatenate(([first], later[:-1]))
        ranges = _ranges(np.full_like(later, first), segments, later, later)
        differences, clearness = _differences((y, calm), first, ranges, equivalence)
        if not differences.any():
            break
        first = int(ranges.end[np.where(differences != 0, clearness, -1).argmax()])
    kind: Kind = "flat"
    if first:
        begins = np.concatenate(([0], places[places < first]))
        ends = np.concatenate((begins[1:], [first]))
        ranges = _ranges(np.zeros_like(ends), begins, ends, np.full_like(ends, first))
        differences, _ = _differences((y, calm), first, ranges, equivalence)
        kind = "slow-down" if differences.min() < 0 else "warm-up"
    if first > (1 - LAST_PART) * y.size:
        kind, first = "no-steady-state", y.size // 2
    return Steady(kind, first, y.size - first, changes)


def long_run_variance(series: ArrayLike, lengths: Collection[int]) -> float:
    """Return n times the variance of the mean of n values, for large n, of a series whose values depend on each other.

    The mean of k values in a row varies by this ÷ k, if k is large enough. Half the mean squared difference of the
    means of neighbouring batches of k values, times k, is therefore an estimate; of several k the largest is taken. A
    single change of level enters few of these differences, and so hardly hides itself.

    Args:
        series: Shape (n,), in order, any unit.
        lengths: Values in a batch; a length that does not fit twice into the series is passed over.

    Raises:
        ValueError: Empty or not finite.

    """
    sums = _running(finite(series, "series"))
    estimates = [0.0]
    for length in lengths:
        means = (sums[length:] - sums[:-length]) / length
        if means.size > length:
            estimates.append(length * float(np.square(means[length:] - means[:-length]).mean()) / 2)
    return max(estimates)


class _Series(Struct, frozen=True):
    """A series of bins, ready for the means of its ranges."""

    median: float
    sums: Floats
    """Of the distances from the median over the first k bins, k from 0."""
    squares: Floats
    """Of their squares."""
    variance: float
    """Its long-run variance."""

    def mean(self, start: Places, end: Places) -> tuple[Floats, Floats]:
        """Return the means of ranges and their variances, from the long-run variance or their own if larger."""
        size = (end - start).astype(np.float64)
        distance = (self.sums[end] - self.sums[start]) / size
        own = (self.squares[end] - self.squares[start]) / size - np.square(distance)
        return self.median + distance, np.maximum(own, self.variance) / size


def _series(y: Floats, first: int) -> _Series:
    """Return a series whose long-run variance is that of the bins from ``first`` on."""
    lengths = {max(1, round(share * y.size)) for share in BATCHES}
    median = float(np.median(y))
    variance = long_run_variance(y[first:], lengths)
    return _Series(median, _running(y - median), _running(np.square(y - median)), variance)


class _Ranges(Struct, frozen=True):
    """Ranges of bins that are compared with all bins from a place on; arrays of the same shape (k,)."""

    start: Places
    end: Places
    after: Places
    errors: Floats
    """Standard errors within which both are the same."""


def _ranges(starts: Places, segments: Places, ends: Places, after: Places) -> _Ranges:
    """Return all that lies between ``starts`` and ``ends``, and then the segments with these ends alone."""
    allowed = np.repeat([STANDARD_ERRORS, OF_A_SEGMENT], ends.size)
    return _Ranges(np.concatenate((starts, segments)), np.tile(ends, 2), np.tile(after, 2), allowed)


def _differences(judged: Sequence[Floats], first: int, ranges: _Ranges, equivalence: float) -> tuple[Floats, Floats]:
    """Return by how much the mean of each range exceeds the mean of what it is compared with.

    A difference is 0 where one of the judged series, each of shape (n,), calls both the same. The second array holds
    the differences in allowed standard errors. The long-run variance is that of the bins from ``first`` on.
    """
    judgements: list[tuple[Floats, Floats]] = []
    for y in judged:
        series = _series(y, first)
        before = series.mean(ranges.start, ranges.end)
        after = series.mean(ranges.after, np.full_like(ranges.after, y.size))
        judgements.append(_apart(before, after, ranges.errors, equivalence))
    differences = np.array([difference for difference, _ in judgements])
    nearest = np.abs(differences).argmin(axis=0)
    return differences[nearest, np.arange(ranges.end.size)], np.min([clearness for _, clearness in judgements], axis=0)


def _apart(
    before: tuple[Floats, Floats], after: tuple[Floats, Floats], errors: Floats | float, equivalence: float
) -> tuple[Floats, Floats]:
    """Return differences of means with variances, 0 where they are the same, and all of them in allowed errors."""
    difference = before[0] - after[0]
    allowed = errors * np.sqrt(before[1] + after[1])
    clearness = np.divide(np.abs(difference), allowed, out=np.full(allowed.size, np.inf), where=allowed > 0)
    same = np.abs(difference) <= np.maximum(equivalence * np.abs(after[0]), allowed)
    return np.where(same, 0.0, difference), clearness


def _without_stalls(calm: Floats, changes: tuple[int, ...], equivalence: float) -> Floats:
    """Return the series with each stall replaced by the level around it, judged by 10 % of the bins on either side."""
    longest = STALL * calm.size
    around = int(2 * longest)
    series = _series(calm, 0)
    filled = calm.copy()
    done = 0
    for start in changes:
        ends = np.array([change for change in changes if start < change <= start + longest][::-1], dtype=np.intp)
        if start < done or not ends.size:
            continue
        before = series.mean(np.full_like(ends, max(0, start - around)), np.full_like(ends, start))
        behind = series.mean(ends, np.minimum(ends + around, calm.size))
        back = np.flatnonzero(_apart(before, behind, STANDARD_ERRORS, equivalence)[0] == 0)
        if back.size:
            done = int(ends[back[0]])
            filled[start:done] = (before[0][back[0]] + behind[0][back[0]]) / 2
    return filled


def _running(values: Floats) -> Floats:
    return np.concatenate(([0.0], np.cumsum(values)))
