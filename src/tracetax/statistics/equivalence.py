"""Whether the second of two builds is slower, faster or the same: by intervals of their ratio, paired by block.

Not to have found a difference is not to have shown that there is none. *Same* is therefore claimed only where the
difference is shown to be smaller than a margin, by two one-sided tests at 5 %, which is where the 90 % interval lies
inside the margin (Schuirmann 1987: A comparison of the two one-sided tests procedure and the power approach).

The margin is twice the half-width that a run is asked for. That ties the verdict to the stop rule: an interval as
narrow as asked lies outside zero, or its mean is less than half the margin away from it, and then the 90 % interval,
which is narrower still, lies inside the margin. So a comparison that has settled is decided, and nothing stops because
a difference has become significant.
"""

from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from tracetax.statistics.intervals import Estimate, finite, t_critical, t_p_value
from tracetax.statistics.overhead import compare_paired

BuildVerdict = Literal["slower", "faster", "same", "undecided"]
EQUIVALENCE_CONFIDENCE = 0.90
"""Of the interval that two one-sided tests at 5 % amount to."""
BEYOND_DOUBT = 0.001
"""p value below which a difference may end the measuring early. Looking after every block at so strict a limit hardly
adds to the errors of the last look (Haybittle 1971, Peto et al. 1976)."""


class Judgement(Struct, frozen=True):
    """The second build against the first."""

    verdict: BuildVerdict
    log_ratio: Estimate
    """Of ln second − ln first over blocks, with Student's 95 % interval."""
    ci90: tuple[float, float] | None
    """The interval that decides on *same*; None with one block."""
    margin: float
    """Of the log ratio: differences smaller than this count as none."""


def asked_half_width(first: ArrayLike, half_width_ratio: float, half_width_ns: float) -> float:
    """Return how narrow the log ratio of two builds is asked to be: by ratio, or by time where that is more.

    Args:
        first: Shape (n,), the first build's value in each block, ns per call, positive.
        half_width_ratio: Asked of a log ratio; 0 where none was asked.
        half_width_ns: Asked of a difference, ns per call; 0 where none was asked.

    """
    return max(half_width_ratio, half_width_ns / float(finite(first).mean()))


def judge(first: ArrayLike, second: ArrayLike, half_width_ratio: float, half_width_ns: float) -> Judgement:
    """Judge the second build against the first.

    *Slower* or *faster* where the 95 % interval of the log ratio excludes zero, however small the difference; else
    *same* where the 90 % interval lies inside the margin; else *undecided*, as with a single block.

    Args:
        first: Shape (n,), its value in each block, ns per call.
        second: Shape (n,), in the same blocks.
        half_width_ratio: Asked of a log ratio; half of the margin.
        half_width_ns: Asked of a difference, ns per call; half of the margin where that is wider.

    Raises:
        ValueError: No block, lengths differ, or a value is not finite or not positive.

    """
    ratio = compare_paired(second, first, "log-ratio")
    margin = 2 * asked_half_width(first, half_width_ratio, half_width_ns)
    if ratio.ci95 is None or ratio.sd is None:
        return Judgement("undecided", ratio, None, margin)
    half = t_critical(ratio.n - 1, EQUIVALENCE_CONFIDENCE) * ratio.sd / ratio.n**0.5
    ci90 = ratio.mean - half, ratio.mean + half
    verdict: BuildVerdict = "undecided"
    if ratio.ci95[0] > 0:
        verdict = "slower"
    elif ratio.ci95[1] < 0:
        verdict = "faster"
    elif max(abs(limit) for limit in ci90) <= margin:
        verdict = "same"
    return Judgement(verdict, ratio, ci90, margin)


def differs_beyond_doubt(log_ratio: Estimate) -> bool:
    """Return whether a difference is so certain that more blocks would only say by how much."""
    if log_ratio.sd is None or not log_ratio.mean:
        return False
    error = log_ratio.sd / log_ratio.n**0.5
    statistic = log_ratio.mean / error if error else float(np.inf)
    return t_p_value(statistic, log_ratio.n - 1) < BEYOND_DOUBT
