"""How cost grows where parts differ in one parameter alone: families of parts, and lines through those that count.

What one more monitored invocation, or method, costs is the slope; what is paid however many there are, the intercept.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from tracetax.analysis.cost import added_cpu, added_once
from tracetax.analysis.measures import (
    INDICATIVE_BELOW,
    MeasuredValue,
    build_cpu,
    build_time,
    make_measure,
    start_up,
)
from tracetax.model import FULL, Experiment, Use, settings_key
from tracetax.results import blocks as arranged
from tracetax.results.blocks import Blocks, service_mean
from tracetax.results.findings import (
    ConfigurationFinding,
    GrowthFinding,
    Measure,
    MeasureName,
    PartFinding,
    PublishedLineValue,
)
from tracetax.results.records import Cell
from tracetax.statistics.intervals import Estimate
from tracetax.statistics.overhead import differences
from tracetax.statistics.regression import fitted_line

Factor = Literal["rate", "depth", "threads", "method_time_ns", "start_up_monitored"]
FACTORS: tuple[Factor, ...] = ("rate", "depth", "threads", "method_time_ns", "start_up_monitored")
MAY_DIFFER = ("calls", "learned")
"""Parameters in which the parts of a family may differ too: more calls tell the same, and others were counted."""
ByBlock = dict[int, float]


class Family(Struct, frozen=True):
    """Parts that differ in one parameter: its name and its values, ascending, with the part of each."""

    factor: Factor
    points: tuple[tuple[float, PartFinding], ...]

    @property
    def levels(self) -> str:
        """The levels of other factors, which its parts share: ``JDK 21``; empty where there is none."""
        own = f"{self.factor.replace('_', ' ')} "
        return ", ".join(level for level in self.points[0][1].levels.split(", ") if not level.startswith(own))


class GrowingCost(Struct, frozen=True):
    """A cost to which a line is fitted: its values by block, ns, and what its slope is per."""

    measure: MeasureName
    per: Literal["invocation", "method"]
    paired: bool
    by_block: Callable[[Blocks, Cell], ByBlock]


def families(parts: Sequence[PartFinding]) -> list[Family]:
    """Every set of two or more parts that are alike but for one factor that is a number, and the number of calls."""
    result: list[Family] = []
    for factor in FACTORS:
        alike: dict[tuple[object, ...], dict[float, PartFinding]] = {}
        for part in parts:
            value = getattr(part.parameters, factor, FULL)
            if value != FULL:
                alike.setdefault(_others(part, factor), {}).setdefault(float(value), part)
        result += [Family(factor, tuple(sorted(points.items()))) for points in alike.values() if len(points) > 1]
    return result


def _others(part: PartFinding, factor: Factor) -> tuple[object, ...]:
    own = (factor, *MAY_DIFFER)
    parameters = [(name, repr(value)) for name, value in asdict(part.parameters).items() if name not in own]
    return (part.workload, settings_key(part.settings), *parameters)


def by_configuration(family: Family, rows: Sequence[ConfigurationFinding]) -> list[list[ConfigurationFinding | None]]:
    """The rows of each configuration at each value; those with two at least that are results."""
    by_use: dict[Use, list[ConfigurationFinding | None]] = {}
    places = {part.name: place for place, (_, part) in enumerate(family.points)}
    for row in rows:
        place = places.get(row.part)
        if place is None or any(verdict.severity == "error" for verdict in row.verdicts):
            continue
        points = by_use.setdefault(row.use, [None] * len(places))
        points[place] = points[place] or row
    return [points for points in by_use.values() if sum(row is not None for row in points) > 1]


def growth_lines(
    experiment: Experiment,
    parts: Sequence[PartFinding],
    rows: Sequence[ConfigurationFinding],
    blocks: Blocks,
) -> tuple[GrowthFinding, ...]:
    """The lines of every configuration of every family over something that is counted."""
    lines = [
        line
        for family in families(parts)
        for points in by_configuration(family, rows)
        for cost in COSTS.get(family.factor, ())
        if (line := _line(family, points, cost, blocks))
    ]
    return tuple(replace(line, published=_printed(experiment, line)) for line in lines)


def _printed(experiment: Experiment, line: GrowthFinding) -> tuple[PublishedLineValue, ...]:
    """What a paper printed, one line per platform: lines through the time of a call over its depth."""
    if (line.factor, line.slope.name) != ("depth", "service_time"):
        return ()
    return tuple(
        PublishedLineValue(printed.platform, printed.slope, printed.intercept, printed.r_squared, printed.source)
        for printed in experiment.published_lines
        if (printed.use.agent, printed.use.configuration) == (line.agent, line.configuration)
    )


def _line(
    family: Family, points: list[ConfigurationFinding | None], cost: GrowingCost, blocks: Blocks
) -> GrowthFinding | None:
    """A line, in the blocks that have all its points; None where fewer than two points have the cost."""
    columns = [
        (value, row, by_block)
        for (value, _), row in zip(family.points, points, strict=True)
        if row and (by_block := cost.by_block(blocks, row.cell))
    ]
    whole = sorted(set[int].intersection(*(set(by_block) for _, _, by_block in columns))) if columns else []
    if len(columns) < 2 or not whole:
        return None
    costs = [[by_block[block] for _, _, by_block in columns] for block in whole]
    fitted = fitted_line([value for value, _, _ in columns], costs)
    rows = [row for _, row, _ in columns]
    labels = ("indicative",) if fitted.slope.n < INDICATIVE_BELOW else ()
    labels += ("bent",) if fitted.bent else ()
    labels += ("lost-records",) if any(row.records.blocks_incomplete for row in rows) else ()
    labels += ("truncated",) if any(row.records.truncated for row in rows) else ()

    def measure(of: Estimate, per: Literal["call", "invocation", "method", ""]) -> Measure:
        return make_measure(cost.measure, "ns", per, of, labels, paired=cost.paired)

    first = rows[0]
    return GrowthFinding(
        factor=family.factor,
        levels=family.levels,
        values=tuple(value for value, _, _ in columns),
        parts=tuple(row.part for row in rows),
        agent=first.agent,
        agent_name=first.agent_name,
        configuration=first.configuration,
        title=first.title,
        build=first.build,
        backend=first.backend,
        backend_name=first.backend_name,
        slope=measure(fitted.slope, cost.per),
        intercept=measure(fitted.intercept, "call" if cost.per == "invocation" else ""),
        r_squared=fitted.r_squared,
        cut=tuple(value for value, row, _ in columns if row.records.truncated),
    )


def _service_time(blocks: Blocks, cell: Cell) -> ByBlock:
    if cell.is_baseline:
        pairs = arranged.pairs(blocks, cell)
        return {pair[0].block: sum(service_mean(trial) for trial in pair) / len(pair) for pair in pairs}
    return {trial.block: service_mean(trial) for trial in arranged.trials(blocks, cell)}


def overhead_by_block(blocks: Blocks, cell: Cell) -> ByBlock:
    """What a configuration adds to a call, ns, in the blocks that have both baselines."""
    beside = arranged.paired(blocks, cell, service_mean)
    if not beside.blocks:
        return {}
    added = differences(beside.values, beside.baseline_1, beside.baseline_2)
    return dict(zip(beside.blocks, added.tolist(), strict=True))


def _cpu(blocks: Blocks, cell: Cell) -> ByBlock:
    added = added_cpu(blocks, cell)
    return dict(zip(added.blocks, added.per_call.tolist(), strict=True))


def _once(value: MeasuredValue) -> Callable[[Blocks, Cell], ByBlock]:
    return lambda blocks, cell: added_once(blocks, cell, value)


COSTS: dict[str, tuple[GrowingCost, ...]] = {
    "depth": (
        GrowingCost("service_time", "invocation", False, _service_time),
        GrowingCost("overhead", "invocation", True, overhead_by_block),
        GrowingCost("cpu", "invocation", True, _cpu),
    ),
    "start_up_monitored": (
        GrowingCost("startup_first_call_added", "method", True, _once(start_up)),
        GrowingCost("build_time_added", "method", True, _once(build_time)),
        GrowingCost("build_cpu_added", "method", True, _once(build_cpu)),
    ),
}
"""What grows by a line, by the parameter that counts what is monitored."""
