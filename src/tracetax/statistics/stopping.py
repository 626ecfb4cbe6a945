"""When a run has measured enough: intervals as narrow as asked, never a significant result.

Looking at *whether* an effect is significant and stopping when it is inflates false positives without bound; looking
at the *width* of the interval does not depend on the estimate. What it costs in coverage is simulated in
``benchmarks/coverage.py``.

A narrow interval may be narrow because no slow start was met. No method knows of what it has not seen; therefore a
configuration is started further, alone, before it counts as measured, and more blocks follow if a slow start turns up.
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from tracetax.statistics.equivalence import asked_half_width, differs_beyond_doubt
from tracetax.statistics.intervals import Estimate, finite, t_critical, t_interval
from tracetax.statistics.overhead import OverheadRegimes, compare_paired, judged_overhead
from tracetax.statistics.regimes import Starts

SampleStatus = Literal["settled", "open"]
Reason = Literal["settled", "budget", "max-blocks"]
FAR = 100_000
"""Blocks beyond which a projection says no more than "never"."""
CPU_WIDER = 2.0
"""CPU is asked to be within twice the half-width of the ratio: it is what is added alone, of all threads, compilers
and collector included, where the ratio is of the whole call."""
BLOCKS_WITH_REGIMES = 30
"""Blocks at least where a slow start was seen."""
MOST_WITH_REGIMES = 60
SLOW_WANTED = 3
"""Starts of the rarer regime until which more blocks are measured than usual."""


class StopRule(Struct, frozen=True):
    """What is asked of a run. Half-widths are those of 95 % intervals."""

    min_blocks: int = 10
    max_blocks: int = 30
    half_width_ratio: float = 0.01
    """Of the log ratio r."""
    half_width_ns: float = 2.0
    """Of the difference d, ns per call."""
    starts: int = 0
    """Starts of each configuration, and of the baseline, that its regimes are judged by: those of the blocks, and
    further ones alone. 0: those of the blocks, and no more blocks where one was slow."""


class BlockValues(Struct, frozen=True):
    """One configuration in the blocks so far, ns per call, and its starts beyond them."""

    values: ArrayLike
    """Shape (n,), the configuration's value in each block."""
    baseline_1: ArrayLike
    baseline_2: ArrayLike
    cpu_ns: ArrayLike | None = None
    """CPU that it adds, shape (m,), ns per call, where it is ranked by that; else None."""
    further: Starts = Starts()


class BuildValues(Struct, frozen=True):
    """Two builds of one configuration in the blocks so far."""

    first: ArrayLike
    """Shape (n,), ns per call."""
    second: ArrayLike
    """Shape (n,), in the same blocks."""


class SampleProgress(Struct, frozen=True):
    """How far one configuration, or one comparison of two builds, is."""

    status: SampleStatus
    n_blocks: int
    half_width_ratio: float | None
    half_width_ns: float | None
    """None also for a comparison, which is judged by its ratio."""
    projected_blocks: int | None
    """Blocks in total at which it is expected to settle, its spread staying as it is; None with fewer than two."""
    wants_block: bool = True
    """Whether it is measured in one more block, if that fits."""
    attainable: float | None = None
    """Half-width of the log ratio that all blocks which still fit will buy, its spread staying as it is."""
    half_width_cpu: float | None = None
    """Of the CPU that it adds, as a share of that; None where it is not ranked by CPU."""
    starts_wanted: int = 0
    """Further starts alone, before it counts as measured."""
    baseline_starts_wanted: int = 0
    """Of the baseline that it is compared with."""


class Decision(Struct, frozen=True):
    """Whether to stop after the block just finished."""

    reason: Reason | None
    """Why to stop; None means: another block. ``settled`` only where every configuration has."""
    configurations: dict[str, SampleProgress]
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
    *narrow* when the half-width of r's interval is at most ``half_width_ratio`` or that of d's at most
    ``half_width_ns``, and, where CPU ranks it, that of its CPU at most ``CPU_WIDER`` times the first of its mean or the
    second. Where its starts, or the baseline's, fell into regimes, it is measured in ``BLOCKS_WITH_REGIMES`` blocks at
    least, and in up to ``MOST_WITH_REGIMES`` until ``SLOW_WANTED`` starts of the rarer regime were seen. Else it has
    *settled* when it is narrow, and is measured no more; the run goes on with the others while blocks and budget are
    left, also where they will not get as narrow as asked: every block narrows them. What needs no further block is
    started alone until ``starts`` are known, and judged anew.

    A comparison of two builds is one more that has to settle: its log ratio's half-width is at most
    ``equivalence.asked_half_width``, or the builds differ beyond doubt.

    The reason is ``settled`` when every configuration is, whatever else holds; else ``max-blocks`` when none may have a
    further block, ``budget`` when none fits.

    Args:
        samples: By configuration or comparison; those set aside after failures are left out. May lack blocks.
        rule: What is asked.
        blocks_done: Blocks finished so far.
        blocks_affordable: Further blocks that fit into what is left of the time budget.

    Raises:
        ValueError: A sample holds a value that is not finite.

    """
    early = blocks_done < rule.min_blocks
    further = max(0, blocks_affordable)
    standings = {name: _standing(values, rule, further, early) for name, values in samples.items()}
    wanted = any(sample.wants_block for sample in standings.values()) if standings else blocks_done < rule.max_blocks
    reason: Reason | None = None
    if {sample.status for sample in standings.values()} == {"settled"}:
        reason = "settled"
    elif not wanted:
        reason = "max-blocks"
    elif blocks_affordable <= 0:
        reason = "budget"
    return Decision(reason, standings)


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


def cpu_narrow_enough(cpu: Estimate, half_width_ratio: float, half_width_ns: float) -> bool:
    """Return whether the interval of a CPU that ranks is as narrow as asked; without an interval it is not.

    Args:
        cpu: Mean over blocks of the CPU that a configuration adds, ns per call.
        half_width_ratio: Asked of the log ratio; of the mean of CPU, ``CPU_WIDER`` times as much is enough.
        half_width_ns: Asked of a difference, ns per call, CPU included.

    """
    half = cpu.half_width
    return half is not None and half <= max(CPU_WIDER * half_width_ratio * abs(cpu.mean), half_width_ns)


def _standing(values: BlockValues | BuildValues, rule: StopRule, further: int, early: bool) -> SampleProgress:
    if isinstance(values, BuildValues):
        return _standing_of_builds(values, rule, further, early)
    n = finite(values.values).size
    early = early or n < rule.min_blocks  # also where its first blocks do not count
    if n < 2:
        return SampleProgress("open", n, None, None, None, wants_block=early or n < rule.max_blocks)
    overhead = judged_overhead(values.values, values.baseline_1, values.baseline_2, values.further)
    r, d = overhead.log_ratio, overhead.difference
    cpu = None if values.cpu_ns is None or np.asarray(values.cpu_ns).size == 0 else t_interval(values.cpu_ns)
    narrow = narrow_enough(r, d, rule.half_width_ratio, rule.half_width_ns)
    if cpu is not None:
        narrow = narrow and cpu_narrow_enough(cpu, rule.half_width_ratio, rule.half_width_ns)
    due = _due_for_regimes(overhead.regimes, n, rule)
    settled = narrow and not early and not due
    wants_block = early or due or (not settled and n < rule.max_blocks)
    known = n + len(values.further.own), 2 * n + len(values.further.baseline)
    own, baseline = (0 if wants_block else max(0, rule.starts - starts) for starts in known)
    return SampleProgress(
        status="settled" if settled else "open",
        n_blocks=n,
        half_width_ratio=r.half_width,
        half_width_ns=d.half_width,
        projected_blocks=max(rule.min_blocks, _needed(r, d, cpu, rule)),
        wants_block=wants_block,
        attainable=_attainable(r, min(max(n, rule.max_blocks), n + further)),
        half_width_cpu=cpu.half_width / abs(cpu.mean) if cpu is not None and cpu.half_width and cpu.mean else None,
        starts_wanted=own,
        baseline_starts_wanted=baseline,
    )


def _due_for_regimes(regimes: OverheadRegimes, blocks: int, rule: StopRule) -> bool:
    """Whether regimes that were seen ask for one more block; a rule of few blocks has no room for as many."""
    if not rule.starts or not regimes.two:
        return False
    least = min(BLOCKS_WITH_REGIMES, rule.max_blocks)
    most = max(MOST_WITH_REGIMES, rule.max_blocks) if rule.max_blocks >= BLOCKS_WITH_REGIMES else rule.max_blocks
    return blocks < least or (regimes.rare < SLOW_WANTED and blocks < most)


def _standing_of_builds(values: BuildValues, rule: StopRule, further: int, early: bool) -> SampleProgress:
    ratio = compare_paired(values.second, values.first, "log-ratio")
    if ratio.half_width is None or ratio.sd is None:
        return SampleProgress("open", ratio.n, None, None, None, wants_block=ratio.n < rule.max_blocks)
    asked = asked_half_width(values.first, rule.half_width_ratio, rule.half_width_ns)
    settled = not early and (ratio.half_width <= asked or differs_beyond_doubt(ratio))
    needed = max(rule.min_blocks, projected_blocks(ratio.sd, asked))
    status: SampleStatus = "settled" if settled else "open"
    wants_block = not settled and ratio.n < rule.max_blocks
    attainable = _attainable(ratio, min(max(ratio.n, rule.max_blocks), ratio.n + further))
    return SampleProgress(status, ratio.n, ratio.half_width, None, needed, wants_block, attainable)


def _needed(r: Estimate, d: Estimate, cpu: Estimate | None, rule: StopRule) -> int:
    by_ratio = projected_blocks(r.sd or 0.0, rule.half_width_ratio)
    needed = min(by_ratio, projected_blocks(d.sd or 0.0, rule.half_width_ns))
    if cpu is None:
        return needed
    asked = max(CPU_WIDER * rule.half_width_ratio * abs(cpu.mean), rule.half_width_ns)
    return max(needed, projected_blocks(cpu.sd or 0.0, asked))


def _attainable(estimate: Estimate, blocks: int) -> float | None:
    """Half-width that a sample of so many blocks would have, its standard deviation staying as it is."""
    return None if estimate.sd is None else t_critical(blocks - 1) * estimate.sd / blocks**0.5
