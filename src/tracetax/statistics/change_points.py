"""Where a series changes its mean or its variance: PELT with outliers set aside first.

Killick, Fearnhead and Eckley (2012), "Optimal detection of changepoints with a linear computational cost"; penalty
15 ln n, cost and treatment of outliers as Barrett et al. (2017), "Virtual machine warmup blows hot and cold".
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from tracetax.statistics.intervals import Floats, finite

Booleans = NDArray[np.bool_]
MIN_SEGMENT = 5
WINDOW = 200
NEIGHBOURS = 2
RELATIVE_RESOLUTION = 1e-4
"""No change smaller than 0.01 % of the level is of interest; keeps the logarithm of a constant segment finite."""


def change_points(
    series: ArrayLike, *, penalty: float | None = None, min_segment: int = MIN_SEGMENT
) -> tuple[int, ...]:
    """Return the first index of every segment but the first.

    The exact minimum over all segmentations of Σ cost + penalty · segments, where the cost of k values is minus twice
    their normal log-likelihood with mean and variance of their own, k (ln v + 1) up to a constant. The standard
    deviation is not let below ``RELATIVE_RESOLUTION`` of the series' median.

    Args:
        series: Shape (n,), in order, any unit. Fewer than two segments' worth of values have no change.
        penalty: Per change; 15 ln n unless given.
        min_segment: Fewest values in a segment, at least 2.

    Raises:
        ValueError: Empty, or a value is not finite (leave out empty bins), or ``min_segment`` < 2.

    """
    y = finite(series, "series")
    if min_segment < 2:
        raise ValueError("a segment with a variance has at least two values")
    n = y.size
    if n < 2 * min_segment:
        return ()
    level = float(np.median(y))
    scale = float(np.abs(y - level).max())
    if scale == 0:
        return ()
    least = max((RELATIVE_RESOLUTION * level / scale) ** 2, 1e-18)
    return _pelt((y - level) / scale, 15 * np.log(n) if penalty is None else penalty, min_segment, least)


def _pelt(y: Floats, penalty: float, min_segment: int, least: float) -> tuple[int, ...]:
    n = y.size
    sums = np.concatenate(([0.0], np.cumsum(y)))
    squares = np.concatenate(([0.0], np.cumsum(y * y)))
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    previous = np.zeros(n + 1, dtype=np.intp)
    starts = np.zeros(1, dtype=np.intp)
    doomed: Booleans = np.zeros(1, dtype=np.bool_)
    # A segment that ends among the next ``min_segment`` places began before all of them, so these are done at once.
    for first in range(min_segment, n + 1, min_segment):
        ends = np.arange(first, min(first + min_segment, n + 1))
        lengths = ends[:, None] - starts
        means = (sums[ends, None] - sums[starts]) / lengths
        variances = (squares[ends, None] - squares[starts]) / lengths - means * means
        # The likelihood at its maximum under "variance ≥ least". Being a true maximum, splitting never lowers it,
        # which is what pruning rests on.
        costs = lengths * (np.log(np.maximum(variances, least)) + np.minimum(variances / least, 1.0))
        totals = np.where(lengths >= min_segment, best[starts] + costs, np.inf)
        winners = totals.argmin(axis=1)
        best[ends] = totals.min(axis=1) + penalty
        previous[ends] = starts[winners]
        # A start that loses against a change at ``end`` may be dropped for segments that end ``min_segment`` later,
        # not before, else the minimum length makes the result inexact: at once for the first of these ends, one round
        # later for the others.
        lost: Booleans = np.isfinite(totals) & (totals > best[ends, None])
        keep = ~(doomed | lost[0])
        starts = np.concatenate((starts[keep], ends))
        doomed = np.concatenate((np.asarray(lost.any(axis=0))[keep], np.zeros(ends.size, dtype=np.bool_)))
    changes: list[int] = []
    start = int(previous[n])
    while start > 0:
        changes.append(start)
        start = int(previous[start])
    return tuple(reversed(changes))


def without_outliers(series: ArrayLike, *, window: int = WINDOW) -> Floats:
    """Return the series with outliers replaced by the median around them; for finding change points only.

    An outlier lies outside median ± 3 (P90 − P10) of the window around it (Barrett et al. 2017). Near the ends that is
    the first or the last whole window. In the first half
    window, where warm-up is a run of high values and not an outlier, only isolated ones are replaced: those whose
    neighbours' median lies inside.

    Args:
        series: Shape (n,), in order.
        window: Values in a window; a shorter series is its own window.

    Raises:
        ValueError: Empty or not finite.

    """
    y = finite(series, "series")
    width = min(window, y.size)
    windows = np.sort(sliding_window_view(y, width), axis=1)
    low, median, high = (_percentile(windows, probability) for probability in (0.1, 0.5, 0.9))
    around_place = (np.arange(y.size) - width // 2).clip(0, y.size - width)
    middle = median[around_place]
    band = 3 * (high - low)[around_place]
    outlier = np.abs(y - middle) > band
    first = min(width // 2, y.size)
    around = sliding_window_view(np.pad(y, NEIGHBOURS, mode="symmetric"), 2 * NEIGHBOURS + 1)
    isolated = np.abs(np.median(around, axis=1) - middle) <= band
    outlier[:first] &= isolated[:first]
    return np.where(outlier, middle, y)


def _percentile(windows: Floats, probability: float) -> Floats:
    """Return a percentile of each row of sorted values, linear between two of them."""
    place = probability * (windows.shape[1] - 1)
    below = int(place)
    above = min(below + 1, windows.shape[1] - 1)
    return windows[:, below] + (place - below) * (windows[:, above] - windows[:, below])
