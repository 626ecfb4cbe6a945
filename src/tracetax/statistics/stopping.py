"""When a run has measured enough: intervals as narrow as asked, never a significant result.

Looking at *whether* an effect is significant and stopping when it is inflates false positives without bound; looking
at the *width* of the interval does not depend on the estimate. What it costs in coverage is simulated in
``benchmarks/coverage.py``.
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from tracetax.statistics.equivalence import asked_half_width, differs_beyond_doubt
from tracetax.statistics.intervals import Estimate, spread_lower_factor, t_critical, t_interval
from tracetax.statistics.overhead import compare

Status = Literal["settled", "open", "unsettleable"]
Reason = Literal["settled", "unsettleable", "budget", "max-blocks"]
FAR = 100_000
"""Blocks beyond which a projection says no more than "never"."""


class StopRule(Struct, frozen=True):
    """What is asked of a run. Half-widths are those of 95 % intervals."""

    min_blocks: int = 10
    max_blocks: int = 30
    half_width_ratio: float = 0.01
    """Of the log ratio r."""
    half_width_ns: float = 2.0
    """Of the difference d, ns per call."""


class BlockValues(Struct, frozen=True):
    """One configuration's overhead in the blocks so far, from ``overhead.log_ratios`` and ``overhead.differences``."""

    log_ratios: ArrayLike
    """Shape (n,)."""
    differences_ns: ArrayLike
    """Shape (n,), ns per call."""


class BuildValues(Struct, frozen=True):
    """Two builds of one configuration in the blocks so far."""

    first: ArrayLike
    """Shape (n,), ns per call."""
    second: ArrayLike
    """Shape (n,), in the same blocks."""


class Progress(Struct, frozen=True):
    """How far one configuration, or one comparison of two builds, is."""

    status: Status
    n_blocks: int
    half_width_ratio: float | None
    half_width_ns: float | None
    """None also for a comparison, which is judged by its ratio."""
    projected_blocks: int | None
    """Blocks in total at which it is expected to settle, its spread staying as it is; None with fewer than two."""


class Decision(Struct, frozen=True):
    """Whether to stop after the block just finished."""

    reason: Reason | None
    """Why to stop; None means: another block. ``settled`` only where every configuration has."""
    configurations: dict[str, Progress]
    """With the comparisons of builds, by their own names."""

    @property
    def stop(self) -> bool:
        """Whether no further block is to be measured."""
        return self.reason is not None


def decide(
    samples: Mapping[str, BlockValues | BuildValues], rule: StopRule, blocks_done: int, blocks_affordable: int
) -> Decision:
    """Decide after a block whether the run has measured enough. The only stop rule: simulated as it is.

    Planned points are every block from ``min_blocks`` on; before that only the budget stops. A configuration is
    *settled* when the half-width of r's interval is at most ``half_width_ratio`` or that of d's at most
    ``half_width_ns``. One that cannot settle in the blocks that still fit, even if its true spread were at the lower
    90 % limit of what its sample tells, is *unsettleable*: it no longer holds up the others. A run stops when nothing
    is open and something is settled; where nothing is settled nobody is held up, and the budget is used.
    The status is judged anew after every block.

    A comparison of two builds is one more that has to settle: its log ratio's half-width is at most
    ``equivalence.asked_half_width``, or the builds differ beyond doubt.

    The reason is ``settled`` when every configuration is, whatever else holds; else ``max-blocks`` with the last block
    that the rule allows, ``budget`` when no further block fits, ``unsettleable`` when the run stops before both because
    what is not settled would not be with all blocks that still fit.

    Args:
        samples: By configuration or comparison; those set aside after failures are left out. May lack blocks.
        rule: What is asked.
        blocks_done: Blocks finished so far.
        blocks_affordable: Further blocks that fit into what is left of the time budget.

    Raises:
        ValueError: A sample holds a value that is not finite.

    """
    possible = min(rule.max_blocks, blocks_done + max(0, blocks_affordable))
    early = blocks_done < rule.min_blocks
    progress = {
        name: _progress(values, rule, further=max(0, possible - blocks_done), early=early)
        for name, values in samples.items()
    }
    statuses = {one.status for one in progress.values()}
    reason: Reason | None = None
    if statuses == {"settled"}:
        reason = "settled"
    elif blocks_done >= rule.max_blocks:
        reason = "max-blocks"
    elif blocks_affordable <= 0:
        reason = "budget"
    elif "settled" in statuses and "open" not in statuses:
        reason = "unsettleable"
    return Decision(reason, progress)


def narrow_enough(log_ratio: Estimate, difference: Estimate, half_width_ratio: float, half_width_ns: float) -> bool:
    """Return whether an overhead's intervals are as narrow as asked: r's or d's; without an interval they are not.

    Args:
        log_ratio: Mean of ``overhead.log_ratios`` over blocks.
        difference: Mean of ``overhead.differences`` over the same blocks, ns per call.
        half_width_ratio: Asked of the log ratio.
        half_width_ns: Asked of the difference.

    """
    r, d = log_ratio.half_width, difference.half_width
    return r is not None and d is not None and (r <= half_width_ratio or d <= half_width_ns)


def projected_blocks(sd: float, half_width: float) -> int:
    """Return the smallest n ≥ 2 with t(n − 1) · sd / √n ≤ half_width, at most ``FAR``."""
    if sd <= 0:
        return 2
    if half_width <= 0:
        return FAR
    low, high = 2, FAR
    while low < high:
        middle = (low + high) // 2
        if t_critical(middle - 1) * sd / middle**0.5 <= half_width:
            high = middle
        else:
            low = middle + 1
    return low


def _progress(values: BlockValues | BuildValues, rule: StopRule, further: int, early: bool) -> Progress:
    if isinstance(values, BuildValues):
        return _progress_of_builds(values, rule, further, early)
    n = np.asarray(values.log_ratios).size
    if n < 2:
        return Progress("open", n, None, None, None)
    r, d = t_interval(values.log_ratios), t_interval(values.differences_ns)
    status: Status = "open"
    if not early:
        if narrow_enough(r, d, rule.half_width_ratio, rule.half_width_ns):
            status = "settled"
        elif _needed(r, d, rule, spread_lower_factor(n - 1)) > n + further:
            status = "unsettleable"
    return Progress(status, n, r.half_width, d.half_width, max(rule.min_blocks, _needed(r, d, rule)))


def _progress_of_builds(values: BuildValues, rule: StopRule, further: int, early: bool) -> Progress:
    ratio = compare(values.second, values.first, "log-ratio")
    if ratio.half_width is None or ratio.sd is None:
        return Progress("open", ratio.n, None, None, None)
    asked = asked_half_width(values.first, rule.half_width_ratio, rule.half_width_ns)
    status: Status = "open"
    if not early:
        if ratio.half_width <= asked or differs_beyond_doubt(ratio):
            status = "settled"
        elif projected_blocks(ratio.sd * spread_lower_factor(ratio.n - 1), asked) > ratio.n + further:
            status = "unsettleable"
    return Progress(status, ratio.n, ratio.half_width, None, max(rule.min_blocks, projected_blocks(ratio.sd, asked)))


def _needed(r: Estimate, d: Estimate, rule: StopRule, factor: float = 1.0) -> int:
    return min(
        projected_blocks((r.sd or 0.0) * factor, rule.half_width_ratio),
        projected_blocks((d.sd or 0.0) * factor, rule.half_width_ns),
    )
