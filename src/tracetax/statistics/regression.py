"""Lines through the means of several parts: what one more of what is counted costs, and what is paid in any case.

A line is fitted by least squares in each block alone, as MooBench's papers fit theirs to the means of all starts (ICPE
'26, Table 3: y = a·x + b). The line through the means is the mean of these lines; the interval of its slope is
Student's t over blocks, so it rests on the variation between starts and not on how well the points lie on a line.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from tracetax.statistics.intervals import Estimate, Floats, t_interval

ROUNDING = 1e-9
"""Share of the largest value up to which a bend is one of the arithmetic."""


class FittedLine(Struct, frozen=True):
    """y = slope · x + intercept, each with its interval over blocks."""

    slope: Estimate
    """In the unit of y by that of x."""
    intercept: Estimate
    """In the unit of y."""
    r_squared: float | None
    """Of the line through the means: 1 where they lie on it; None with two points, or where all means are equal."""
    bent: bool
    """Whether the 95 % interval of the quadratic term excludes zero: the means follow a curve, small as it may be."""


def fitted_line(x: ArrayLike, y: ArrayLike) -> FittedLine:
    """Fit a line by least squares in each block.

    Args:
        x: Shape (k,), what is counted; at least two different values.
        y: Shape (n, k), the cost at each in each of n blocks, any unit.

    Raises:
        ValueError: No block, shapes that do not fit, fewer than two different x, or a value that is not finite.

    """
    at = np.asarray(x, dtype=np.float64)
    values = np.asarray(y, dtype=np.float64)
    if at.ndim != 1 or values.ndim != 2 or not len(values) or values.shape[1] != at.size:
        raise ValueError(f"expected x of shape (k,) and y of shape (n, k), got {at.shape} and {values.shape}")
    distinct = np.unique(at).size
    if distinct < 2 or not (np.isfinite(at).all() and np.isfinite(values).all()):
        raise ValueError("a line needs two different x, and finite values")
    slopes, intercepts = _fitted(at, values, 1)
    bent = distinct > 2 and _bent(at, values)
    return FittedLine(t_interval(slopes), t_interval(intercepts), _r_squared(at, values), bent)


def _fitted(at: Floats, values: Floats, degree: int) -> Floats:
    """The coefficients of a polynomial in each block, shape (degree + 1, n), that of the highest power first."""
    return np.asarray(np.polyfit(at, values.T, degree), dtype=np.float64)  # pyright: ignore[reportUnknownMemberType]


def _r_squared(at: Floats, values: Floats) -> float | None:
    means = values.mean(axis=0)
    around = float(((means - means.mean()) ** 2).sum())
    if at.size < 3 or not around:
        return None
    slope, intercept = _fitted(at, values.mean(axis=0, keepdims=True), 1)
    return 1 - float(((means - slope * at - intercept) ** 2).sum()) / around


def _bent(at: Floats, values: Floats) -> bool:
    quadratic = t_interval(_fitted(at, values, 2)[0])
    sag = abs(quadratic.mean) * float(np.ptp(at)) ** 2
    if quadratic.ci95 is None or sag <= ROUNDING * float(np.abs(values).max()):
        return False
    return quadratic.ci95[0] > 0 or quadratic.ci95[1] < 0
