"""Findings as the reports show them: parts, and in each part groups of rows. Terminal and page share it."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from pathlib import Path
from typing import Literal

from msgspec import Struct

from tracetax.analysis.measures import INDICATIVE_BELOW
from tracetax.kinds import declaration_of
from tracetax.model import Delivery, Parameters
from tracetax.place import PROGRAM
from tracetax.report import numbers
from tracetax.report.kinds import teller_of
from tracetax.results.findings import (
    AABand,
    ConfigurationFinding,
    Findings,
    GrowthFinding,
    Measure,
    MeasureName,
    PartFinding,
)
from tracetax.results.findings import find_measure as measure
from tracetax.results.records import Verdict
from tracetax.results.runtime import RuntimeFinding
from tracetax.words import share

NO_RESULT = "No result: a check that everything works. Do not quote its numbers."

STOPPED = {
    "settled": "as narrow as asked for",
    "unsettleable": "the rest would not settle in the time and blocks allowed",
    "budget": "stopped by the budget",
    "max-blocks": "all blocks done",
    "interrupted": "interrupted",
    "failed": "stopped by failures",
}
LABELS = {
    "deferred": "deferred",
    "within-aa-band": "within the A/A band",
    "two-regimes": "two regimes",
    "not-settled": "not settled",
    "no-steady-state": "no steady state",
    "indicative": "indicative",
}
LABEL_MEANINGS = {
    "deferred": "Most records arrived after the last call: their export is in the CPU, not in the overhead.",
    "within the A/A band": "Its mean lies where a second baseline's would: no difference was shown.",
    "two regimes": "Starts of it or of its baselines fell into two groups of different speed; its mean is over both.",
    "not settled": "The interval is still wider than asked for.",
    "no steady state": "Some processes did not become steady within the trial; the mean of their last half was taken.",
    "indicative": f"Fewer than {INDICATIVE_BELOW} blocks.",
}


MeasureOf = Callable[[ConfigurationFinding], Measure | None]
"""Takes a row to one of its measures; None where it has none."""
LOPSIDED = 1.5
"""The longer side of an interval over the shorter from which both its ends are printed: a half-width of 40 %."""


class Group(Enum):
    """Where a row stands in its part. The order is the order of the report."""

    DELIVERS = "delivers everything"
    DROPS = "drops by policy"
    PARTIAL = "delivers a part by design"
    COUNTS = "delivers metrics, no record of a call"
    UNCOUNTED = "delivers records, and nobody knows how many are due"
    EMPTY = "no record arrived, and none was known to be due"
    LOST = "lost records that it should deliver"
    SILENT = "delivers nothing, by design"
    FAILED = "no result"


class PartView(Struct, frozen=True):
    """One part: its baselines, its bands and its rows by group."""

    part: PartFinding
    baselines: tuple[ConfigurationFinding, ...]
    bands: tuple[AABand, ...]
    groups: dict[Group, tuple[ConfigurationFinding, ...]]
    runtime: RuntimeFinding | None = None

    @property
    def rows(self) -> tuple[ConfigurationFinding, ...]:
        """Every row without the baselines, in the order of the report."""
        return tuple(row for rows in self.groups.values() for row in rows)

    @property
    def band(self) -> AABand | None:
        """The band of the heap that most rows share."""
        heaps = [row.heap_bytes for row in self.rows if row.heap_bytes in {band.heap_bytes for band in self.bands}]
        if not heaps:
            return self.bands[0] if self.bands else None
        return self.band_of(max(heaps, key=heaps.count))

    def band_of(self, heap_bytes: int) -> AABand | None:
        """The band of the baselines with this heap."""
        return next((band for band in self.bands if band.heap_bytes == heap_bytes), None)

    def half_width(self, band: AABand | None) -> float | None:
        """The band's half-width in ns per unit of the part's calls."""
        if band is None or band.overhead_ns_per_call is None:
            return None
        return band.overhead_ns_per_call / units_of_call(self.part)


def views(findings: Findings) -> list[PartView]:
    """The parts in the experiment's order."""
    return [_view(findings, part) for part in findings.experiment.parts]


def ranked_by(findings: Findings) -> Literal["cpu", "overhead"]:
    """What the ranks follow: the experiment's choice, or the overhead where CPU was not measured."""
    measured = any(cpu(row) for row in findings.configurations)
    return findings.experiment.rank_by if measured else "overhead"


def _view(findings: Findings, part: PartFinding) -> PartView:
    mine = [row for row in findings.configurations if row.part == part.name]
    rows = [row for row in mine if not row.is_baseline]
    by = ranked_by(findings)
    groups = {group: _ordered((row for row in rows if group_of_row(row) is group), by) for group in Group}
    return PartView(
        part=part,
        baselines=tuple(row for row in mine if row.is_baseline),
        bands=tuple(band for band in findings.aa if band.part == part.name),
        groups={group: members for group, members in groups.items() if members},
        runtime=findings.experiment.runtime_of(part),
    )


def _ordered(rows: Iterable[ConfigurationFinding], by: str) -> tuple[ConfigurationFinding, ...]:
    def place(row: ConfigurationFinding) -> tuple[float, float]:
        cost = cpu(row) if by == "cpu" else overhead(row)
        return (row.rank if row.rank is not None else float("inf"), cost.estimate if cost else float("inf"))

    return tuple(sorted(rows, key=place))


def group_of_row(row: ConfigurationFinding) -> Group:
    """Where a row stands: an error verdict comes before anything that was measured."""
    if errors(row) or overhead(row) is None:
        return Group.FAILED
    designed = {Delivery.NONE: Group.SILENT, Delivery.SAMPLED: Group.PARTIAL, Delivery.AGGREGATED: Group.COUNTS}
    if row.delivery in designed:
        return designed[Delivery(row.delivery)]
    if not row.records.expected:
        return Group.UNCOUNTED if row.records.received else Group.EMPTY
    if not row.records.blocks_incomplete:
        return Group.DELIVERS
    return Group.DROPS if row.delivery == Delivery.LOSSY else Group.LOST


def errors(row: ConfigurationFinding) -> list[Verdict]:
    """The verdicts for which a row is no result."""
    return [verdict for verdict in row.verdicts if verdict.severity == "error"]


def overhead(row: ConfigurationFinding) -> Measure | None:
    """What a row adds to a call: overhead per unit of it."""
    return per_unit(row, "overhead")


def cpu(row: ConfigurationFinding) -> Measure | None:
    """CPU of all threads: per delivered record, and per unit of calls where no record is promised or none came.

    Of a service it is always per request.
    """
    by_record = promises(row) and declaration_of(row.parameters).charged_per == "record"
    return (measure(row, "cpu", "record") if by_record else None) or per_unit(row, "cpu")


def unit_of(told: ConfigurationFinding | PartFinding) -> str:
    """What cost is told per where it is not per record, in words: ``invocation``, or ``request``."""
    return declaration_of(told.parameters).unit_noun


def units_of_call(part: PartFinding) -> int:
    """How many of these a call of a part has."""
    return declaration_of(part.parameters).units(part.parameters, 1)


def per_unit(row: ConfigurationFinding, name: MeasureName) -> Measure | None:
    """A cost of a row per unit of its calls."""
    return measure(row, name, declaration_of(row.parameters).unit)


def time_of_call(row: ConfigurationFinding) -> Measure | None:
    """The mean of the durations that the calls' kind compares."""
    return measure(row, "response_time" if _by_response(row) else "service_time")


def p99_of_call(row: ConfigurationFinding) -> Measure | None:
    """The 99 % quantile of the durations that the calls' kind compares."""
    return measure(row, "response_time_p99" if _by_response(row) else "service_time_p99")


def _by_response(row: ConfigurationFinding) -> bool:
    """Whether a row's calls are compared from when they were due; back to back they have no such moment."""
    kind = declaration_of(row.parameters)
    return kind.compared == "response" and measure(row, "response_time") is not None


def promises(row: ConfigurationFinding) -> bool:
    """Whether the configuration promises a record per invocation."""
    return row.delivery != Delivery.NONE


def title_of(row: ConfigurationFinding | GrowthFinding) -> str:
    """The configuration, which build where two are compared, and the backend where one is in the sink's place."""
    build = f" [{row.build}]" if row.build else ""
    return f"{row.title}{build}" + (f" → {row.backend_name}" if row.backend else "")


def half_width(of: Measure | None) -> float | None:
    """Half the width of a measure's interval."""
    return None if of is None or of.ci95 is None else (of.ci95[1] - of.ci95[0]) / 2


def lopsided(of: Measure) -> bool:
    """Whether a measure's interval reaches so much further to one side that a half-width would mislead."""
    if of.ci95 is None:
        return False
    sides = sorted((of.estimate - of.ci95[0], of.ci95[1] - of.estimate))
    return sides[1] > LOPSIDED * sides[0]


def labels(row: ConfigurationFinding, part: PartFinding) -> list[str]:
    """What a reader must know about the row's overhead, or a baseline's time.

    ``indicative`` is left to the part where it holds for all.
    """
    cost = overhead(row) or time_of_call(row)
    codes = [code for code in (cost.labels if cost else ()) if not (code == "indicative" and part.indicative)]
    return [LABELS.get(code, code) for code in (["deferred"] if row.deferred else []) + codes]


def caveat(row: ConfigurationFinding) -> str:
    """What belongs to a row's numbers wherever they stand: that records are missing, or came late; often empty."""
    if row.delivery == Delivery.SAMPLED and row.records.made and not errors(row):
        sampled = f"sampled: {numbers.percent(row.records.received / row.records.made)} of all records arrived"
        lost = row.records.missing_of_sample
        return f"{sampled}, {numbers.percent(lost / row.records.due)} of the sample is missing" if lost else sampled
    if group_of_row(row) is Group.COUNTS:
        return counted(row)
    if group_of_row(row) in (Group.DROPS, Group.LOST, Group.PARTIAL):
        return f"{numbers.percent(row.records.completeness or 0.0)} of its records arrived"
    return LABELS["deferred"] if row.deferred else ""


def remarks(row: ConfigurationFinding, told: Iterable[str] = ()) -> list[Verdict]:
    """A row's warnings and notes, warnings first; without those whose codes are ``told`` of the whole run."""
    known = set(told)
    verdicts = [verdict for verdict in row.verdicts if verdict.severity != "error" and verdict.code not in known]
    return sorted(verdicts, key=lambda verdict: verdict.severity != "warning")


def apart(row: ConfigurationFinding) -> Measure | None:
    """CPU per unit of calls, of a row whose CPU per delivered record carries that of the records that are missing."""
    of, missing = cpu(row), group_of_row(row) in (Group.DROPS, Group.LOST, Group.PARTIAL)
    return per_unit(row, "cpu") if missing and of and of.per == "record" else None


def rows_id(row: ConfigurationFinding) -> str:
    """Where on the page the trials behind a row are listed."""
    heap = str(row.heap_bytes >> 20) if row.heap_bytes else ""
    parts = (row.part, row.agent, row.configuration, row.build, row.backend, heap)
    return "rows-" + "-".join("".join(c if c.isalnum() else "-" for c in part) for part in parts if part)


def loss(row: ConfigurationFinding) -> str:
    """What a row lost, with the rate at which it was offered: never one without the other.

    Of one that promises no record of each call: how many it sampled or counted.
    """
    records = row.records
    if row.delivery == Delivery.AGGREGATED:
        return counted(row)
    if row.delivery == Delivery.SAMPLED:
        arrived = f"{numbers.count(records.received)} of {numbers.count(records.made)} possible records arrived"
        lost = records.missing_of_sample
        return (
            f"{arrived}, {numbers.count(lost)} of {numbers.count(records.due)} sampled are missing" if lost else arrived
        )
    missing, of, what = records.expected - records.received, records.expected, "records missing"
    if missing <= 0:
        missing, of, what = records.expected_trees - records.complete_trees, records.expected_trees, "trees incomplete"
    blocks = f"{share(records.blocks_incomplete, records.blocks, 'block')}"
    rate = records.offered_per_second
    offered = f", at {numbers.per_second([rate], 'records')}" if rate else ""
    return f"{numbers.count(max(0, missing))} of {numbers.count(of)} {what} in {blocks}{offered}"


def counted(row: ConfigurationFinding) -> str:
    """How many calls a row's metrics tell of, and how many there were."""
    records = row.records
    if not records.received:
        return "its metrics have no number of calls"
    return f"counted {records.received:,} of {records.made:,} {unit_of(row)}s"


def group_title(group: Group, rows: tuple[ConfigurationFinding, ...]) -> str:
    """The group's name; for what drops by policy with the rates offered and carried."""
    if group is not Group.DROPS:
        return group.value
    offered = [row.records.offered_per_second for row in rows if row.records.offered_per_second]
    carried = [m.estimate for row in rows if (m := measure(row, "delivery_rate"))]
    rates = [f"offered {numbers.per_second(offered, 'records')}"] if offered else []
    rates += [f"carries about {numbers.per_second(carried)} here"] if carried else []
    return f"{group.value} ({'; '.join(rates)})" if rates else group.value


def group_heading(group: Group, rows: tuple[ConfigurationFinding, ...]) -> str:
    """The group's name; where its CPU is not per record, what it is per."""
    charged = next((of for row in rows if (of := cpu(row))), None)
    per = declaration_of(rows[0].parameters).charged_per
    apart = group is not Group.FAILED and charged is not None and charged.per != per
    return f"{group_title(group, rows)}{f': CPU per {unit_of(rows[0])}' if apart else ''}"


def workload_words(parameters: Parameters) -> str:
    """How calls were issued: ``1,000 calls/s × 10 invocations``."""
    return teller_of(parameters).called(parameters)


def building_words(row: ConfigurationFinding) -> str | None:
    """What building the program took, or what was added to that of the baselines; None where no trial built any."""
    if row.is_baseline:
        wall, used, says = measure(row, "build_time"), measure(row, "build_cpu"), "building the program takes"
    else:
        wall, used, says = measure(row, "build_time_added"), measure(row, "build_cpu_added"), "added to the build:"
    return f"{says} {measured_time(wall)}, {measured_time(used)} of CPU" if wall and used else None


def measured_time(measured: Measure, largest: float = 0.0) -> str:
    """A time with its half-width and the unit that fits it, or that fits the ``largest`` of several times."""
    estimate, margin, unit = numbers.measured_duration(measured.estimate, half_width(measured), largest)
    return f"{estimate} ± {margin} {unit}" if margin else f"{estimate} {unit}"


def added_time(of: Measure, largest: float) -> str:
    """A time that was added, in the unit of the ``largest`` beside it; where none was shown, its upper limit."""
    if of.ci95 and of.ci95[0] <= 0:
        return f"at most {numbers.duration(max(0.0, of.ci95[1]), 2)}"
    return measured_time(of, largest) if abs(of.estimate) >= largest / 20 else measured_time(of)


def slow_share_words(rows: Sequence[ConfigurationFinding]) -> list[str]:
    """What share of slow starts is possible where none was seen in any row; those with slow ones have notes."""
    known = [row.starts for row in rows if row.starts]
    if not known or len(known) < len(rows) or any(starts.slow for starts in known):
        return []
    fewest = min(known, key=lambda starts: starts.starts)
    upper = f"{100 * fewest.upper:.2g} %"
    return [f"none of {fewest.starts} starts was slow: that rules out, at 95 % confidence, only that over {upper} are"]


def platform_words(part: PartFinding, runtime: RuntimeFinding | None) -> str:
    """What a part ran on: ``JDK 21.0.8 (Debian), G1, heap 2 GiB``; empty where that is not known."""
    if part.ran_on is None:
        return ""
    kinds = runtime.settings if runtime else {}
    chosen = [(name, kinds.get(name), value) for name, value in part.settings.items()]
    choices = [str(value) for _, kind, value in chosen if kind == "choice"]
    sizes = [f"{name.replace('_', ' ')} {numbers.size(float(value))}" for name, kind, value in chosen if kind == "size"]
    return ", ".join((str(part.ran_on), *choices, *sizes))


def heap_words(heap_bytes: int) -> str:
    """A heap in words, ``heap 2 GiB``; empty where the runtime has none that is set."""
    return f"heap {numbers.size(heap_bytes)}" if heap_bytes else ""


def baseline_title(row: ConfigurationFinding) -> str:
    """What a table calls a baseline: ``baseline, heap 2 GiB``."""
    return ", ".join(text for text in ("baseline", heap_words(row.heap_bytes)) if text)


def shown_path(path: Path) -> str:
    """A path as a user types it: relative where it lies below the working directory."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def next_line(findings: Findings, run: Path) -> tuple[str, str]:
    """What makes the run's intervals better, and the command for it."""
    if any(part.indicative for part in findings.experiment.parts):
        return (
            f"For {INDICATIVE_BELOW} blocks",
            f"{PROGRAM} run --resume {shown_path(run)} --blocks {INDICATIVE_BELOW}",
        )
    return "Narrower", f"{PROGRAM} run --resume {shown_path(run)} --half-width 0.5%"
