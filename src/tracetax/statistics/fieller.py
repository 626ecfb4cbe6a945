"""The ratio of two means of the same blocks, with the interval of Fieller (1954, J. Roy. Statist. Soc. B 16, 175)."""

import numpy as np
from numpy.typing import ArrayLike

from tracetax.statistics.intervals import Estimate, finite, t_critical


def ratio_of_means(numerator: ArrayLike, denominator: ArrayLike) -> Estimate | None:
    """Return mean(numerator) / mean(denominator) with its 95 % interval; None where that has no bounds.

    It has none where the denominator's mean cannot be told from zero, or there is one block only. The two may be
    correlated, as differences to the same baseline are.

    Args:
        numerator: Shape (n,), one value per block.
        denominator: Shape (n,), in the same blocks and the same unit.

    Raises:
        ValueError: No block, lengths differ, or a value is not finite.

    """
    a, b = finite(numerator, "numerator"), finite(denominator, "denominator")
    if a.size != b.size:
        raise ValueError(f"numerator and denominator: {a.size} and {b.size} blocks")
    n = a.size
    if n == 1:
        return None
    covariance = np.cov(a, b, ddof=1) / n
    variance_a, variance_b, both = float(covariance[0, 0]), float(covariance[1, 1]), float(covariance[0, 1])
    t, mean = t_critical(n - 1), float(b.mean())
    g = t**2 * variance_b / mean**2 if mean else np.inf
    if g >= 1:
        return None
    ratio = float(a.mean()) / mean
    rest = variance_a - both**2 / variance_b if variance_b else variance_a
    inside = variance_a - 2 * ratio * both + ratio**2 * variance_b - g * rest
    half = t / abs(mean) * max(0.0, inside) ** 0.5 / (1 - g)
    middle = (ratio - g * both / variance_b if variance_b else ratio) / (1 - g)
    return Estimate(ratio, None, (middle - half, middle + half), n)
