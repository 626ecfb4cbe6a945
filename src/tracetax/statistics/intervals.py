"""Student's t: the interval of a mean that everything else here is made of, and its relatives by Hall and Welch."""

from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray
from scipy import special  # pyright: ignore[reportMissingTypeStubs]

Floats = NDArray[np.float64]
CONFIDENCE = 0.95


class Estimate(Struct, frozen=True):
    """A mean over blocks, in the unit of its sample."""

    mean: float
    sd: float | None
    """Standard deviation of the sample (n − 1); None with one value."""
    ci95: tuple[float, float] | None
    """[low, high]; None with one value."""
    n: int

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval; None with one value."""
        return None if self.ci95 is None else (self.ci95[1] - self.ci95[0]) / 2


def finite(values: ArrayLike, what: str = "values") -> Floats:
    """Return a one-dimensional float array.

    Raises:
        ValueError: It is empty, has another shape, or holds NaN or infinity.

    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{what}: expected at least one number in one dimension, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{what}: {int((~np.isfinite(array)).sum())} of {array.size} are not finite")
    return array


@lru_cache(maxsize=4096)
def t_critical(degrees_of_freedom: int, confidence: float = CONFIDENCE) -> float:
    """Return the two-sided critical value of Student's t, for example 2.262 for 9 degrees of freedom.

    Raises:
        ValueError: Less than one degree of freedom.

    """
    if degrees_of_freedom < 1:
        raise ValueError(f"Student's t needs at least one degree of freedom, got {degrees_of_freedom}")
    return _evaluate("stdtrit", degrees_of_freedom, (1 + confidence) / 2)


def t_p_value(statistic: float, degrees_of_freedom: int) -> float:
    """Return the two-sided p value of a t statistic, infinity included."""
    return 2 * _evaluate("stdtr", degrees_of_freedom, -abs(statistic))


def t_interval(values: ArrayLike) -> Estimate:
    """Return the mean of independent values with Student's 95 % interval.

    Args:
        values: Shape (n,), one value per block, any unit.

    Raises:
        ValueError: No value, or one that is not finite.

    """
    sample = finite(values)
    n = sample.size
    mean = float(sample.mean())
    if n == 1:
        return Estimate(mean, None, None, 1)
    sd = float(sample.std(ddof=1))
    half = t_critical(n - 1) * sd / n**0.5
    return Estimate(mean, sd, (mean - half, mean + half), n)


def skewed_interval(values: ArrayLike) -> Estimate:
    """Return the mean of independent values with Hall's 95 % interval, which follows the skewness of the sample.

    The monotone cubic transformation of Student's statistic that takes its skewness out, inverted at Student's
    quantiles (Hall 1992: On the removal of skewness by transformation). For samples that lean to one side, as where a
    few processes are slow; of a symmetric one it is nearly :func:`t_interval`. Needs three values; of fewer it is that.

    Args:
        values: Shape (n,), one value per block, any unit.

    Raises:
        ValueError: No value, or one that is not finite.

    """
    plain = t_interval(values)
    if plain.n < 3 or not plain.sd:
        return plain
    sample = finite(values)
    centred = sample - plain.mean
    skewness = float(np.mean(centred**3) / np.mean(centred**2) ** 1.5)
    if abs(skewness) < 1e-9:
        return plain
    root, t = plain.n**0.5, t_critical(plain.n - 1)

    def inverse(quantile: float) -> float:
        inner = 1 + skewness * (quantile / root - skewness / (6 * plain.n))
        return root * 3 / skewness * float(np.cbrt(inner) - 1)

    error = plain.sd / root
    limits = plain.mean - error * inverse(t), plain.mean - error * inverse(-t)
    return Estimate(plain.mean, plain.sd, limits, plain.n)


def welch(first: Estimate, second: Estimate) -> Estimate | None:
    """Return second − first with Welch's 95 % interval, in their unit; None where one of them has a single block.

    For two runs: blocks of different runs are no pairs, their means are independent, and their variances may differ
    (Welch 1947: The generalization of "Student's" problem when several different population variances are involved).
    Only mean, standard deviation and number of blocks are needed, which every measure keeps.
    ``sd`` of the result is the standard error of the difference, ``n`` the blocks of both. The degrees of freedom are
    Welch's and Satterthwaite's, as they come: no whole number.
    """
    if first.sd is None or second.sd is None or min(first.n, second.n) < 2:
        return None
    shares = first.sd**2 / first.n, second.sd**2 / second.n
    difference, variance = second.mean - first.mean, sum(shares)
    if variance == 0:
        return Estimate(difference, 0.0, (difference, difference), first.n + second.n)
    freedom = variance**2 / (shares[0] ** 2 / (first.n - 1) + shares[1] ** 2 / (second.n - 1))
    half = float(special.stdtrit(freedom, (1 + CONFIDENCE) / 2)) * variance**0.5
    return Estimate(difference, variance**0.5, (difference - half, difference + half), first.n + second.n)


def welch_log_ratio(first: Estimate, second: Estimate) -> Estimate | None:
    """Return ln second − ln first with Welch's 95 % interval, to first order in their standard errors.

    None where :func:`welch` has none, or where one of them is not clearly positive: its own interval reaches zero.
    """
    if any(of.ci95 is None or of.ci95[0] <= 0 for of in (first, second)):
        return None
    return welch(*(_logarithm(of) for of in (first, second)))


def _logarithm(of: Estimate) -> Estimate:
    assert of.sd is not None
    return Estimate(float(special.xlogy(1.0, of.mean)), of.sd / of.mean, None, of.n)


def _evaluate(function: str, degrees_of_freedom: int, argument: float) -> float:
    """Call one of scipy's distribution functions; scipy.stats would do the same, forty times slower and untyped."""
    return float(getattr(special, function)(degrees_of_freedom, argument))
