"""Quantiles of durations read from a clock that ticks, from exact counts of distinct durations."""

import numpy as np
from msgspec.structs import replace
from numpy.typing import ArrayLike

from tracetax.statistics.intervals import Estimate, Floats, t_interval

LARGEST_EXPONENT = 50.0
"""Keeps an interval from two values that differ by all finite."""


def quantiles(values: ArrayLike, counts: ArrayLike, probabilities: ArrayLike, tick: float = 0.0) -> Floats:
    """Return quantiles, interpolated inside the clock's tick.

    A duration read as v lies somewhere in v ± tick/2; its calls are spread evenly there (the grouped-data quantile),
    so that a median moves with the share of calls at 60 and at 70 ns instead of jumping between them. Cells of values
    closer than a tick end half-way between them. On the border between two cells it is the middle of the gap: with
    ``tick = 0`` the median of an even number of values is the usual one.

    Args:
        values: Shape (m,), durations, any order, repetitions allowed (as when bins are put together).
        counts: Shape (m,), how often each occurred; zeros allowed.
        probabilities: Shape (k,), each in [0, 1].
        tick: The clock's step in the unit of the values.

    Returns:
        Shape (k,), in the unit of the values. The 0 and 1 quantile are smallest and largest value as they were read.

    Raises:
        ValueError: Nothing was counted, shapes differ, a count is negative, a probability outside [0, 1].

    """
    p = np.atleast_1d(np.asarray(probabilities, dtype=np.float64))
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("probabilities lie in [0, 1]")
    distinct, weights = _distinct(values, counts)
    cumulative = np.cumsum(weights)
    gaps = (distinct[1:] - distinct[:-1]) / 2
    reach = np.minimum(tick / 2, np.concatenate(([np.inf], gaps, [np.inf])))
    lower, upper = distinct - reach[:-1], distinct + reach[1:]
    wanted = p * cumulative[-1]
    cell = np.asarray(cumulative.searchsorted(wanted), dtype=np.intp).clip(max=distinct.size - 1)
    inside = (wanted - (cumulative[cell] - weights[cell])) / weights[cell]
    result = lower[cell] + inside * (upper[cell] - lower[cell])
    following = np.minimum(cell + 1, distinct.size - 1)
    border = (wanted == cumulative[cell]) & (cell < distinct.size - 1)
    result = np.where(border, (upper[cell] + lower[following]) / 2, result)
    return np.where(p == 0, distinct[0], np.where(p == 1, distinct[-1], result))


def quantile(values: ArrayLike, counts: ArrayLike, probability: float, tick: float = 0.0) -> float:
    """Return one quantile; see :func:`quantiles`."""
    return float(quantiles(values, counts, [probability], tick)[0])


def median(values: ArrayLike, counts: ArrayLike, tick: float = 0.0) -> float:
    """Return the median, interpolated inside the tick; see :func:`quantiles`."""
    return quantile(values, counts, 0.5, tick)


def beyond(count: int, per_mille: int) -> float:
    """Return how many of ``count`` calls lie beyond a quantile, given in thousandths: 10 of 1,000 beyond p99."""
    return count * (1000 - per_mille) / 1000


def positive_mean(values: ArrayLike, tick: float = 0.0) -> Estimate:
    """Return the mean of the starts' quantiles or maxima, with a 95 % interval that never reaches zero.

    Durations are positive and their tails skewed. The interval is Student's t on a logarithmic scale, by the delta
    method: with the mean m and its standard error e, m · exp(± t e/m). Narrow, it is the ordinary interval; wide, it
    reaches further up than down. Where the quantiles of all starts lie within one tick of the clock, they agree because
    the clock cannot tell them apart, and the interval is as wide as the tick.

    Args:
        values: Shape (n,), one of each start (mean of a block's starts), not negative.
        tick: The clock's step in the same unit; 0 where it limits nothing.

    Raises:
        ValueError: No value, or one that is not finite.

    """
    estimate = t_interval(values)
    if estimate.half_width is None:
        return estimate
    mean = estimate.mean
    if mean > 0:
        factor = float(np.exp(min(estimate.half_width / mean, LARGEST_EXPONENT)))
        estimate = replace(estimate, ci95=(mean / factor, mean * factor))
    if float(np.ptp(np.asarray(values))) < tick:
        low, high = estimate.ci95 or (mean, mean)
        estimate = replace(estimate, ci95=(min(low, max(0.0, mean - tick / 2)), max(high, mean + tick / 2)))
    return estimate


def _distinct(values: ArrayLike, counts: ArrayLike) -> tuple[Floats, Floats]:
    all_values = np.asarray(values, dtype=np.float64)
    all_counts = np.asarray(counts, dtype=np.float64)
    if all_values.ndim != 1 or all_values.shape != all_counts.shape:
        raise ValueError(f"one count per value, got shapes {all_values.shape} and {all_counts.shape}")
    if not (all_counts >= 0).all() or not all_counts.any():
        raise ValueError("counts are not negative, and something was counted")
    counted = all_counts > 0
    distinct, place = np.unique(all_values[counted], return_inverse=True)
    if not np.isfinite(distinct).all():
        raise ValueError("a duration is not finite")
    return distinct, np.bincount(place, weights=all_counts[counted]).astype(np.float64)
