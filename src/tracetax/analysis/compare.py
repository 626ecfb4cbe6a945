"""Two runs against each other: what differs in how they were made, then their rows by name.

Blocks of two runs are no pairs. What changed between the runs, such as a neighbour or the temperature, is in the
difference, and no interval knows of it. The baselines, which were the same program, say how much that was.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from tracetax.kinds import declaration_of
from tracetax.model import BASELINE, Parameters
from tracetax.results.findings import (
    ConfigurationFinding,
    Findings,
    Measure,
    MeasureName,
    PartFinding,
    find_measure,
)
from tracetax.results.records import Cell
from tracetax.results.runtime import RuntimeFinding
from tracetax.statistics.intervals import Estimate, welch, welch_log_ratio

Direction = Literal["more", "less", "not told apart"]
ANY_HEAP = 0
"""In the cell of a row that is compared with one of another heap as well."""
MACHINE = ("cpu", "architecture", "cores", "memory_bytes", "virtualised")
"""Facts in which runs on the same machine agree. Two machines of one kind cannot be told apart by them."""
SURROUNDINGS = ("kernel", "os", "smt", "numa_nodes", "governor", "turbo", "clock_source", "transparent_huge_pages")
PER_UNIT = "unit"
"""In the place of what the kind of a row's calls has as its unit."""
TIMES = {"service": ("service_time", "service_time_p99"), "response": ("response_time", "response_time_p99")}
"""Of these measures, those that are compared, by what the kind of a row's calls compares."""
COMPARED: tuple[tuple[MeasureName, str], ...] = (
    ("overhead", PER_UNIT),
    ("cpu", "record"),
    ("cpu", PER_UNIT),
    ("service_time", "call"),
    ("service_time_p99", "call"),
    ("response_time", "call"),
    ("response_time_p99", "call"),
    ("startup_first_call", ""),
    ("allocation", "call"),
    ("bytes", "record"),
    ("drain_time", ""),
)


class Difference(Struct, frozen=True):
    """Something in which the runs were made differently, in words."""

    kind: Literal["machine", "version", "setting"]
    what: str
    first: str
    second: str


class Ratio(Struct, frozen=True):
    """The second run's value ÷ the first's."""

    estimate: float
    ci95: tuple[float, float]


class Change(Struct, frozen=True):
    """One measure of one row in both runs."""

    name: MeasureName
    unit: str
    per: str
    first: Measure
    second: Measure
    difference: float
    """Second − first."""
    ci95: tuple[float, float] | None
    """Of the difference, Welch's; None where a run has one block only, or the machines differ."""
    ratio: Ratio | None
    """None too where one of the values is not clearly above zero."""
    verdict: Direction | None
    """By the whole interval; None where there is none."""


class RowChange(Struct, frozen=True):
    """A row that both runs have."""

    part: str
    part_title: str
    agent: str
    agent_name: str
    configuration: str
    title: str
    build: str
    backend: str
    technology: str
    completeness: tuple[float | None, float | None]
    changes: tuple[Change, ...]
    noun: str = "call"
    """What a call is called."""


class RunComparison(Struct, frozen=True):
    """What ``./tracetax compare`` shows and its JSON holds."""

    runs: tuple[str, str]
    same_machine: bool
    differences: tuple[Difference, ...]
    baselines: tuple[RowChange, ...]
    rows: tuple[RowChange, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


def compare_runs(first: Findings, second: Findings) -> RunComparison:
    """Compare two runs. Rows are paired by part, agent, configuration (its technology included), build and backend."""
    same = all(first.machine.get(fact) == second.machine.get(fact) for fact in MACHINE)
    names = _common_parts(first, second)
    mine, theirs = _by_cell(first), _by_cell(second, names)
    titles = {part.name: part.title for part in (*second.experiment.parts, *first.experiment.parts)}
    rows = [
        (cell, _row(mine[cell], theirs[cell], titles.get(cell.part, cell.part), same))
        for cell in mine
        if cell in theirs
    ]
    return RunComparison(
        runs=(first.experiment.run, second.experiment.run),
        same_machine=same,
        differences=tuple(_differences(first, second)),
        baselines=tuple(row for cell, row in rows if cell.is_baseline),
        rows=tuple(row for cell, row in rows if not cell.is_baseline),
        only_first=tuple(_named(cell) for cell in mine if cell not in theirs),
        only_second=tuple(_named(cell) for cell in theirs if cell not in mine),
    )


def slower(comparison: RunComparison, by: float) -> list[RowChange]:
    """Rows whose overhead grew: the whole interval of its difference above zero, of its ratio above 1 + ``by``.

    A row whose overhead is not clearly above zero in both runs has no ratio; it counts only where ``by`` is 0.
    """
    rows: list[RowChange] = []
    for row in comparison.rows:
        change = next((change for change in row.changes if change.name == "overhead"), None)
        if change is None or change.verdict != "more":
            continue
        if not by or (change.ratio and change.ratio.ci95[0] > 1 + by):
            rows.append(row)
    return rows


def _common_parts(first: Findings, second: Findings) -> dict[str, str]:
    """Parts of the second run by their own names, with the name of the part of the first that they are compared with.

    It is that of the same name, or else the only one whose calls are made alike.
    """
    names = {part.name for part in first.experiment.parts}
    common = {part.name: part.name for part in second.experiment.parts if part.name in names}
    for part in second.experiment.parts:
        alike = [candidate.name for candidate in first.experiment.parts if _calls(candidate) == _calls(part)]
        if part.name not in common and len(alike) == 1 and alike[0] not in common.values():
            common[part.name] = alike[0]
    return common


def _calls(part: PartFinding) -> tuple[Parameters, Any]:
    """How the calls of a part are made, however many, and what was chosen for them, sizes apart."""
    chosen = {name: value for name, value in part.settings.items() if isinstance(value, str)}
    return replace(part.parameters, calls=0), chosen


def _by_cell(findings: Findings, names: Mapping[str, str] | None = None) -> dict[Cell, ConfigurationFinding]:
    """Rows by their cells, whatever the heap; of several baselines of a part, with heaps of their own, by that too.

    ``names`` are the parts' names in the other run.
    """
    rows: dict[Cell, ConfigurationFinding] = {}
    for row in findings.configurations:
        cell = replace(row.cell, part=(names or {}).get(row.part, row.part), heap_bytes=ANY_HEAP)
        rows[cell if cell not in rows else replace(cell, heap_bytes=row.heap_bytes)] = row
    return rows


def _named(cell: Cell) -> str:
    names = (cell.part, cell.use.agent, cell.use.configuration, cell.use.build, cell.use.backend)
    return "/".join(name for name in (*names, str(cell.heap_bytes or "")) if name)


def _row(first: ConfigurationFinding, second: ConfigurationFinding, part_title: str, same: bool) -> RowChange:
    changes: list[Change] = []
    kind = declaration_of(first.parameters)
    other_times = [name for compared, names in TIMES.items() if compared != kind.compared for name in names]
    for name, asked in COMPARED:
        if name in other_times:
            continue
        per = kind.unit if asked == PER_UNIT else asked
        before, after = find_measure(first, name, per), find_measure(second, name, per)
        if before and after:
            changes.append(_change(before, after, same))
    return RowChange(
        part=first.part,
        part_title=part_title,
        agent=first.agent,
        agent_name=first.agent_name,
        configuration=first.configuration,
        title=first.title,
        build=first.build,
        backend=first.backend,
        technology=first.technology,
        completeness=(first.records.completeness, second.records.completeness),
        changes=tuple(changes),
        noun=kind.noun,
    )


def _change(first: Measure, second: Measure, same: bool) -> Change:
    before, after = _estimate(first), _estimate(second)
    difference = welch(before, after) if same else None
    log_ratio = welch_log_ratio(before, after) if same else None
    ci95 = difference.ci95 if difference else None
    verdict: Direction | None = None
    if ci95:
        verdict = "more" if ci95[0] > 0 else "less" if ci95[1] < 0 else "not told apart"
    ratio = None
    if log_ratio and log_ratio.ci95:
        low, high = (math.exp(limit) for limit in log_ratio.ci95)
        ratio = Ratio(math.exp(log_ratio.mean), (low, high))
    return Change(
        name=first.name,
        unit=first.unit,
        per=first.per,
        first=first,
        second=second,
        difference=second.estimate - first.estimate,
        ci95=ci95,
        ratio=ratio,
        verdict=verdict,
    )


def _estimate(of: Measure) -> Estimate:
    return Estimate(of.estimate, of.sd, of.ci95, of.n_blocks)


def _differences(first: Findings, second: Findings) -> Iterator[Difference]:
    for fact in (*MACHINE, *SURROUNDINGS):
        yield from _if_unlike("machine", fact.replace("_", " "), first.machine.get(fact), second.machine.get(fact))
    yield from _if_unlike("version", "tracetax", first.tool_version, second.tool_version)
    versions = _versions(first), _versions(second)
    for agent in versions[0].keys() & versions[1].keys():
        yield from _if_unlike("version", agent, *(", ".join(sorted(of_run[agent])) for of_run in versions))
    yield from _if_unlike("setting", "experiment", first.experiment.key, second.experiment.key)
    yield from _if_unlike("setting", "workload", first.experiment.workload, second.experiment.workload)
    mine = {part.name: part for part in first.experiment.parts}
    names = _common_parts(first, second)
    for part in second.experiment.parts:
        if part.name in names:
            before = mine[names[part.name]]
            runtimes = first.experiment.runtime_of(before), second.experiment.runtime_of(part)
            yield from _of_parts(before, part, runtimes)


def _versions(findings: Findings) -> dict[str, set[str]]:
    """Version and the beginning of the checksum of every agent."""
    versions: dict[str, set[str]] = {}
    for row in findings.configurations:
        if row.agent != BASELINE.agent:
            digest = f" ({row.artifact_sha256[:8]}…)" if row.artifact_sha256 else ""
            versions.setdefault(row.agent_name, set()).add(f"{row.version}{digest}")
    return versions


def _of_parts(
    first: PartFinding, second: PartFinding, runtimes: tuple[RuntimeFinding | None, RuntimeFinding | None]
) -> Iterator[Difference]:
    """Runtime, its settings, parameters and blocks of a part that both runs have."""
    called = {runtime.name for runtime in runtimes if runtime}
    name = called.pop() if len(called) == 1 else "runtime"
    yield from _if_unlike("version", f"{name} of {first.name}", first.ran_on, second.ran_on)
    settings: Iterable[tuple[str, Any, Any]] = [
        *(
            (field, getattr(first.parameters, field, None), getattr(second.parameters, field, None))
            for field in dict.fromkeys((*first.parameters.__struct_fields__, *second.parameters.__struct_fields__))
        ),
        *(
            (f"{name}_bytes" if kind == "size" else name, first.settings.get(name), second.settings.get(name))
            for name, kind in {name: kind for of in runtimes if of for name, kind in of.settings.items()}.items()
            if kind != "release"  # which its version says
        ),
        ("blocks", first.blocks, second.blocks),
    ]
    for what, before, after in settings:
        yield from _if_unlike("setting", f"{what.replace('_', ' ')} of {first.name}", before, after)


def _if_unlike(
    kind: Literal["machine", "version", "setting"], what: str, first: Any, second: Any
) -> Iterator[Difference]:
    if first != second:
        yield Difference(kind, what, _word(first), _word(second))


def _word(value: Any) -> str:
    return "unknown" if value is None else f"{value:,}" if type(value) is int else str(value)
