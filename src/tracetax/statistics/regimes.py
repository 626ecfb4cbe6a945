"""Whether processes fell into two regimes: most fast, a few slower by more than noise explains.

A runtime that inlines differently in one start of ten gives such values. Student's interval is then no longer a 95 %
interval (``docs/statistics.md`` has the coverage), and a mean describes neither regime: such intervals get a label.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike
from scipy import special  # pyright: ignore[reportMissingTypeStubs]

from tracetax.statistics.intervals import finite

MIN_VALUES = 5
MIN_RATIO = 1.02
"""Regimes closer than 2 % are not worth a label."""
CRITICAL = (20.114, 12.465, 9.268, 7.439, 6.295, 5.515, 4.981, 4.535, 4.225, 4.003, 3.789, 3.607, 3.482,
            3.351, 3.260, 3.171, 3.092, 3.030, 2.975, 2.905, 2.866, 2.824, 2.789, 2.766, 2.723, 2.687)  # fmt: skip
"""What 1 in 300 normal samples of 5, 6, …, 30 values exceeds; from 1,000,000 simulated samples each."""


class Regimes(Struct, frozen=True):
    """A sample split at its largest gap."""

    two: bool
    """Whether the gap is too wide for one normal regime; then the next three say what the regimes are."""
    fast: int
    """Values below the gap."""
    slow: int
    """Values above it."""
    ratio: float
    """Geometric mean above ÷ below."""

    @property
    def rare(self) -> int:
        """Values of the rarer regime; 0 where there is one only."""
        return min(self.fast, self.slow) if self.two else 0


def two_regimes(values: ArrayLike) -> Regimes:
    """Judge whether one configuration's values over processes look like two regimes.

    The statistic is the largest gap between neighbouring logarithms divided by their standard deviation inside the
    two sides of the gap (n − 2). It does not depend on the unit. One normal sample in 300 is called two regimes for
    n = 5 to 30, fewer above 30, and none below 5: too few to tell. One slow process is enough, so the label also
    means "or one stray process".

    Args:
        values: Shape (n,), one positive value per process.

    Raises:
        ValueError: No value, or one that is not finite and positive.

    """
    sample = finite(values)
    if not (sample > 0).all():
        raise ValueError(f"regimes of positive values only, got {float(sample.min())}")
    if sample.size < MIN_VALUES:
        return Regimes(False, sample.size, 0, 1.0)
    logs = np.sort(np.log(sample))
    gaps = np.diff(logs)
    split = int(gaps.argmax()) + 1
    fast, slow = logs[:split], logs[split:]
    inside = float(np.sqrt((fast.var() * fast.size + slow.var() * slow.size) / (logs.size - 2)))
    gap = float(gaps[split - 1])
    critical = CRITICAL[min(logs.size, MIN_VALUES + len(CRITICAL) - 1) - MIN_VALUES]
    two = gap > critical * inside and gap > np.log(MIN_RATIO)
    return Regimes(bool(two), fast.size, slow.size, float(np.exp(slow.mean() - fast.mean())))


class Starts(Struct, frozen=True):
    """Starts beyond those of the blocks, made to see how many are slow: a trial's value each, ns per call."""

    own: tuple[float, ...] = ()
    """Of the configuration."""
    baseline: tuple[float, ...] = ()


NO_FURTHER = Starts()


def share_below(slow: int, starts: int, confidence: float = 0.95) -> float:
    """Return the share of slow starts that would show so few of them with a chance of 1 − ``confidence``.

    The upper one-sided limit of Clopper and Pearson (1934): 0.26 where none of 10 was slow, 0.08 where none of 36.

    Raises:
        ValueError: No start, or more slow ones than there are.

    """
    if starts < 1 or not 0 <= slow <= starts:
        raise ValueError(f"a share needs 0 ≤ slow ≤ starts and a start, got {slow} of {starts}")
    return 1.0 if slow == starts else float(special.betaincinv(slow + 1, starts - slow, confidence))
