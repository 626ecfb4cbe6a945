"""How cost grows where parts differ in one parameter alone: families of parts, and lines through those that count.

What one more monitored invocation, or method, costs is the slope; what is paid however many there are, the intercept.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from tracetax.analysis import cost
from tracetax.analysis.measures import INDICATIVE_BELOW, build_cpu, build_time, make_measure, start_up
from tracetax.analysis.once import added_once
from tracetax.analysis.published import published_lines
from tracetax.model import BASELINE, FULL, Experiment, Part, Use
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
from tracetax.statistics.intervals import Estimate
from tracetax.statistics.overhead import differences
from tracetax.statistics.regression import line

Factor = Literal["rate", "depth", "threads", "method_time_ns", "start_up_monitored"]
FACTORS: tuple[Factor, ...] = ("rate", "depth", "threads", "method_time_ns", "start_up_monitored")
OTHERS = ("wait", "start_up_methods", "start_up_built")
"""Parameters in which parts may differ, too, but over which nothing is shown to grow."""
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


class Kind(Struct, frozen=True):
    """A cost to which a line is fitted: its values by block, ns, and what its slope is per."""

    measure: MeasureName
    per: Literal["invocation", "method"]
    paired: bool
    by_block: Callable[[Blocks, Part, Use, int], ByBlock]


def families(parts: Sequence[PartFinding]) -> list[Family]:
    """Every set of two or more parts that are alike but for one factor that is a number, and the number of calls."""
    found: list[Family] = []
    for factor in FACTORS:
        alike: dict[tuple[object, ...], dict[float, PartFinding]] = {}
        for part in parts:
            value = getattr(part.parameters, factor)
            if value != FULL:
                alike.setdefault(_others(part, factor), {}).setdefault(float(value), part)
        found += [Family(factor, tuple(sorted(points.items()))) for points in alike.values() if len(points) > 1]
    return found


def _others(part: PartFinding, factor: Factor) -> tuple[object, ...]:
    return (part.jvm, *(getattr(part.parameters, name) for name in (*FACTORS, *OTHERS) if name != factor))


def by_configuration(family: Family, rows: Sequence[ConfigurationFinding]) -> list[list[ConfigurationFinding | None]]:
    """The rows of each configuration at each value; those with two at least that are results."""
    found: dict[tuple[str, ...], list[ConfigurationFinding | None]] = {}
    places = {part.name: place for place, (_, part) in enumerate(family.points)}
    for row in rows:
        place = places.get(row.part)
        if place is None or any(verdict.severity == "error" for verdict in row.verdicts):
            continue
        points = found.setdefault((row.agent, row.configuration, row.build, row.backend), [None] * len(places))
        points[place] = points[place] or row
    return [points for points in found.values() if sum(row is not None for row in points) > 1]


def growth(
    experiment: Experiment,
    parts: Sequence[PartFinding],
    rows: Sequence[ConfigurationFinding],
    blocks: Blocks,
) -> tuple[GrowthFinding, ...]:
    """The lines of every configuration of every family over something that is counted."""
    by_name = {part.name: part for part in experiment.parts}
    found = [
        line
        for family in families(parts)
        for points in by_configuration(family, rows)
        for kind in KINDS.get(family.factor, ())
        if (line := _line(family, points, kind, by_name, blocks))
    ]
    return tuple(replace(line, published=_printed(experiment, line)) for line in found)


def _printed(experiment: Experiment, line: GrowthFinding) -> tuple[PublishedLineValue, ...]:
    """What a paper printed: lines through the time of a call over its depth."""
    if (line.factor, line.slope.name) != ("depth", "service_time"):
        return ()
    return published_lines(experiment, Use(agent=line.agent, configuration=line.configuration))


def _line(
    family: Family,
    points: list[ConfigurationFinding | None],
    kind: Kind,
    parts: dict[str, Part],
    blocks: Blocks,
) -> GrowthFinding | None:
    """A line, in the blocks that have all its points; None where fewer than two points have the cost."""
    columns = [
        (value, row, found)
        for (value, _), row in zip(family.points, points, strict=True)
        if row and (found := kind.by_block(blocks, parts[row.part], use_of(row), row.heap_bytes))
    ]
    whole = sorted(set[int].intersection(*(set(found) for _, _, found in columns))) if columns else []
    if len(columns) < 2 or not whole:
        return None
    fitted = line([value for value, _, _ in columns], [[found[block] for _, _, found in columns] for block in whole])
    rows = [row for _, row, _ in columns]
    labels = ("indicative",) if fitted.slope.n < INDICATIVE_BELOW else ()
    labels += ("bent",) if fitted.bent else ()
    labels += ("lost-records",) if any(row.records.blocks_incomplete for row in rows) else ()
    labels += ("truncated",) if any(row.records.truncated for row in rows) else ()

    def measure(of: Estimate, per: Literal["call", "invocation", "method", ""]) -> Measure:
        return make_measure(kind.measure, "ns", per, of, labels, paired=kind.paired)

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
        slope=measure(fitted.slope, kind.per),
        intercept=measure(fitted.intercept, "call" if kind.per == "invocation" else ""),
        r_squared=fitted.r_squared,
        cut=tuple(value for value, row, _ in columns if row.records.truncated),
    )


def use_of(row: ConfigurationFinding) -> Use:
    """What a row measured."""
    return Use(agent=row.agent, configuration=row.configuration, build=row.build, backend=row.backend)


def _service_time(blocks: Blocks, part: Part, use: Use, heap_bytes: int) -> ByBlock:
    if use == BASELINE:
        found = arranged.pairs(blocks, part.name, heap_bytes)
        return {pair[0].block: sum(service_mean(trial) for trial in pair) / len(pair) for pair in found}
    trials = arranged.trials(blocks, part.name, use, "configuration", heap_bytes)
    return {trial.block: service_mean(trial) for trial in trials}


def overhead_by_block(blocks: Blocks, part: Part, use: Use, heap_bytes: int) -> ByBlock:
    """What a configuration adds to a call, ns, in the blocks that have both baselines."""
    found = arranged.paired(blocks, part.name, use, heap_bytes, service_mean)
    if not found.blocks:
        return {}
    values = differences(found.values, found.baseline_1, found.baseline_2)
    return dict(zip(found.blocks, values.tolist(), strict=True))


def _cpu(blocks: Blocks, part: Part, use: Use, heap_bytes: int) -> ByBlock:
    found = cost.added(blocks, part, use, heap_bytes)
    return dict(zip(found.blocks, found.per_call.tolist(), strict=True))


KINDS: dict[str, tuple[Kind, ...]] = {
    "depth": (
        Kind("service_time", "invocation", False, _service_time),
        Kind("overhead", "invocation", True, overhead_by_block),
        Kind("cpu", "invocation", True, _cpu),
    ),
    "start_up_monitored": (
        Kind("startup_first_call_added", "method", True, added_once(start_up)),
        Kind("build_time_added", "method", True, added_once(build_time)),
        Kind("build_cpu_added", "method", True, added_once(build_cpu)),
    ),
}
"""What grows by a line, by the parameter that counts what is monitored."""
