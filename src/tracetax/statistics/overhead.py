"""Overhead of a configuration against its block's two baselines, and the band of no difference.

The unit of replication is the block: a configuration C and the baselines A1 and A2, each in fresh processes, close
in time. Differences are taken inside the block, so that what the block's processes share (temperature, neighbours)
cancels. Iterations of one process are never pooled (facts: such intervals cover 35 % instead of 95 %).
"""

from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from tracetax.statistics.intervals import Estimate, Floats, finite, skewed_interval, t_critical, t_interval
from tracetax.statistics.regimes import NO_FURTHER, Regimes, Starts, two_regimes

Scale = Literal["difference", "log-ratio"]
SKEWNESS_FROM = 10
"""Blocks from which the skewness of their differences can be told."""


class Band(Struct, frozen=True):
    """What this machine calls no difference: half-widths around zero."""

    n_blocks: int
    difference: float
    """In the unit of the values."""
    log_ratio: float | None
    """Of ln C − (ln A1 + ln A2)/2; None where a value is not positive."""


def differences(c: ArrayLike, a1: ArrayLike, a2: ArrayLike) -> Floats:
    """Return d = C − (A1 + A2)/2 of every block, in the unit of the values.

    Args:
        c: Shape (n,), the configuration's value in each block.
        a1: Shape (n,), the first baseline's.
        a2: Shape (n,), the second baseline's.

    Raises:
        ValueError: No block, lengths differ, or a value is not finite.

    """
    c_, a1_, a2_ = _same_blocks(c, a1, a2)
    return c_ - (a1_ + a2_) / 2


def log_ratios(c: ArrayLike, a1: ArrayLike, a2: ArrayLike) -> Floats:
    """Return r = ln C − (ln A1 + ln A2)/2 of every block; arguments as for :func:`differences`.

    Raises:
        ValueError: No block, lengths differ, or a value is not finite or not positive.

    """
    c_, a1_, a2_ = (_logarithms(values) for values in _same_blocks(c, a1, a2))
    return c_ - (a1_ + a2_) / 2


def paired_difference(c: ArrayLike, a1: ArrayLike, a2: ArrayLike) -> Estimate:
    """Return the mean of :func:`differences` with Student's t interval over blocks."""
    return t_interval(differences(c, a1, a2))


def paired_log_ratio(c: ArrayLike, a1: ArrayLike, a2: ArrayLike) -> Estimate:
    """Return the mean of :func:`log_ratios` with Student's t interval over blocks; for a ratio: :func:`as_ratio`."""
    return t_interval(log_ratios(c, a1, a2))


def as_ratio(log_ratio: Estimate) -> Estimate:
    """Return a mean log ratio as a ratio: exp of the mean and of the limits; sd to first order (mean × sd)."""
    mean = float(np.exp(log_ratio.mean))
    limits = log_ratio.ci95
    return Estimate(
        mean,
        None if log_ratio.sd is None else mean * log_ratio.sd,
        None if limits is None else (float(np.exp(limits[0])), float(np.exp(limits[1]))),
        log_ratio.n,
    )


def compare_paired(first: ArrayLike, second: ArrayLike, scale: Scale = "difference") -> Estimate:
    """Return first − second, or ln first − ln second, paired by block, with Student's t interval.

    For two configurations, whose common baselines cancel.

    Args:
        first: Shape (n,), one value per block.
        second: Shape (n,), in the same blocks.
        scale: ``difference`` in the unit of the values, or ``log-ratio``.

    Raises:
        ValueError: As :func:`differences`, :func:`log_ratios`.

    """
    a, b = _same_blocks(first, second)
    return t_interval(a - b if scale == "difference" else _logarithms(a) - _logarithms(b))


class OverheadRegimes(Struct, frozen=True):
    """Whether the starts that an overhead rests on fell into regimes, by side of the comparison."""

    own: Regimes
    """Of the configuration's starts, blocks and further ones."""
    baseline: Regimes
    """Of the baselines' starts, both in one sample."""
    paired: Regimes
    """Of C ÷ √(A1 · A2) over blocks, free of what a block's trials share."""

    @property
    def shown(self) -> Regimes:
        """What is told of the configuration's starts: by themselves, or else beside their baselines."""
        return self.paired if self.paired.two and not self.own.two and not self.baseline.two else self.own

    @property
    def two(self) -> bool:
        """Whether any of them has two regimes: the label."""
        return self.own.two or self.baseline.two or self.paired.two

    @property
    def rare(self) -> int:
        """Starts of the rarest regime that was seen; 0 where there is none."""
        return min((side.rare for side in (self.own, self.baseline, self.paired) if side.two), default=0)

    @property
    def one_sided(self) -> bool:
        """Whether the configuration or the baselines split, and not both: then the overhead's distribution leans."""
        return (self.own.two or self.paired.two) != self.baseline.two


def overhead_regimes(c: ArrayLike, a1: ArrayLike, a2: ArrayLike, further: Starts = NO_FURTHER) -> OverheadRegimes:
    """Judge whether the starts that an overhead rests on fell into two regimes.

    The configuration and the baselines are each judged by all their starts. Their ratio inside blocks is judged as
    well: it shows regimes that differ by less than blocks do.

    Args:
        c: Shape (n,), the configuration's value in each block; positive.
        a1: Shape (n,), the first baseline's.
        a2: Shape (n,), the second baseline's.
        further: Starts outside the blocks.

    Raises:
        ValueError: As :func:`two_regimes`.

    """
    return OverheadRegimes(
        two_regimes([*finite(c), *further.own]),
        two_regimes([*finite(a1), *finite(a2), *further.baseline]),
        two_regimes(np.exp(log_ratios(c, a1, a2))),
    )


class Overhead(Struct, frozen=True):
    """The overhead of a configuration as it is published: intervals that fit its regimes."""

    difference: Estimate
    """Of C − (A1 + A2)/2, in the unit of the values."""
    log_ratio: Estimate
    """Of ln C − (ln A1 + ln A2)/2."""
    regimes: OverheadRegimes


def judged_overhead(c: ArrayLike, a1: ArrayLike, a2: ArrayLike, further: Starts = NO_FURTHER) -> Overhead:
    """Return an overhead with its intervals: Hall's where one side alone has regimes, else Student's.

    Where both sides have slow starts, or none, the differences inside blocks are about symmetric. Of fewer than
    ``SKEWNESS_FROM`` blocks the skewness cannot be told, and the interval is Student's. Arguments and errors
    as :func:`overhead_regimes`.
    """
    regimes = overhead_regimes(c, a1, a2, further)
    leans = regimes.one_sided and finite(c).size >= SKEWNESS_FROM
    interval = skewed_interval if leans else t_interval
    return Overhead(interval(differences(c, a1, a2)), interval(log_ratios(c, a1, a2)), regimes)


def aa_band(a1: ArrayLike, a2: ArrayLike) -> Band:
    """Return the half-width inside which the overhead of a configuration that costs nothing lies in 95 % of runs.

    t(n) · √(0.75 · Σ(A1 − A2)²/n) / √n. Derivation: let σ² be the variance of a trial inside its block. The overhead
    of a configuration that is a baseline has the variance Var(C − (A1+A2)/2) = σ² + σ²/2 = 1.5 σ²; A1 − A2 has 2 σ²,
    so 1.5 σ² = 0.75 · Var(A1 − A2). Both baselines are the same program in random order, so the expectation of
    A1 − A2 *is* zero: nothing is estimated for it, Σ(A1 − A2)²/n has n degrees of freedom (not n − 1), and so has t.
    A1 − A2 and A1 + A2 are uncorrelated, so the mean overhead divided by this is exactly Student's t with n degrees.

    Args:
        a1: Shape (n,), the first baseline's value in each block, any unit.
        a2: Shape (n,), the second baseline's.

    Raises:
        ValueError: As :func:`differences`.

    """
    first, second = _same_blocks(a1, a2)
    positive = bool((first > 0).all() and (second > 0).all())
    log_ratio = _band(np.log(first) - np.log(second)) if positive else None
    return Band(first.size, _band(first - second), log_ratio)


def _band(pair_differences: Floats) -> float:
    n = pair_differences.size
    return float(t_critical(n) * np.sqrt(0.75 * np.mean(pair_differences**2) / n))


def _same_blocks(*samples: ArrayLike) -> tuple[Floats, ...]:
    arrays = tuple(finite(sample) for sample in samples)
    if len({array.size for array in arrays}) > 1:
        raise ValueError(f"values of different blocks: lengths {', '.join(str(array.size) for array in arrays)}")
    return arrays


def _logarithms(values: Floats) -> Floats:
    if not (values > 0).all():
        raise ValueError(f"a log ratio needs positive values, got {float(values.min())}")
    return np.log(values)
