"""What a configuration adds to its block's baselines: CPU of all threads, and what is paid once per process or build.

A trial is charged from its first call until its last record had arrived, a baseline until its last call; what they are
compared in is CPU per call.
"""

import numpy as np
from msgspec import Struct

from tracetax.analysis.measures import (
    FEWEST_BEYOND,
    INDICATIVE_BELOW,
    PER_MILLE,
    MeasuredValue,
    Per,
    Unit,
    build_cpu,
    build_time,
    make_measure,
    start_up,
)
from tracetax.kinds import declaration_of
from tracetax.parameters import Parameters
from tracetax.program import Runtime
from tracetax.results import blocks as arranged
from tracetax.results.blocks import Blocks, Share, TrialValue, charged_per_call
from tracetax.results.findings import ConfigurationFinding, Measure, MeasureName, find_measure
from tracetax.results.records import Cell, TrialRecord
from tracetax.statistics.intervals import Estimate, Floats, t_interval
from tracetax.statistics.overhead import aa_band, as_ratio, differences, paired_log_ratio
from tracetax.statistics.quantiles import beyond

CPU_MEASURES: dict[Share, MeasureName] = {
    "all": "cpu",
    "caller": "cpu_caller",
    "agent": "cpu_agent",
    "jit": "cpu_jit",
    "gc": "cpu_gc",
}
PAID_ONCE: tuple[tuple[MeasureName, MeasuredValue], ...] = (
    ("startup_first_call_added", start_up),
    ("build_time_added", build_time),
    ("build_cpu_added", build_cpu),
)


RESPONSES: tuple[tuple[MeasureName, str], ...] = (
    ("response_time_median_added", "median"),
    ("response_time_p90_added", "p90"),
    ("response_time_p99_added", "p99"),
    ("response_time_p99_9_added", "p999"),
)


class AddedCpu(Struct, frozen=True):
    """What a configuration used beyond its baselines, ns, shape (n blocks,) each."""

    blocks: tuple[int, ...]
    per_call: Floats
    per_record: Floats
    """Per record that arrived; NaN where none was promised or none came."""


def added_cpu(blocks: Blocks, cell: Cell, share: Share = "all") -> AddedCpu:
    """What a configuration used beyond the mean of its two baselines, in the blocks where all three were sampled."""
    used = arranged.paired(blocks, cell, lambda trial: charged_per_call(trial, share))
    records = dict(zip(used.blocks, arranged.paired(blocks, cell, _records_per_call).values, strict=True))
    used = used.known()
    if not used.blocks:
        return AddedCpu(blocks=(), per_call=np.empty(0), per_record=np.empty(0))
    per_call = differences(used.values, used.baseline_1, used.baseline_2)
    per_record = per_call / np.array([records[number] for number in used.blocks])
    return AddedCpu(blocks=used.blocks, per_call=per_call, per_record=per_record)


def cpu_measures(blocks: Blocks, cell: Cell, parameters: Parameters, runtime: Runtime | None = None) -> list[Measure]:
    """CPU and its parts, per unit of the calls' kind and, where records arrived, per record.

    Of a ``runtime`` whose compilers' or collectors' threads have no known names, their CPU is not told: it is in that
    of other threads, and a zero would be no measure. Nor is it told which threads are the agent's where the program is
    called by another: those that answer run its code too.
    """
    groups: dict[Share, tuple[str, ...]] = {"jit": runtime.threads.jit, "gc": runtime.threads.gc} if runtime else {}
    untold = [share for share, names in groups.items() if not names]
    band = _band(blocks, cell, charged_per_call)
    measures: list[Measure] = []
    kind = declaration_of(parameters)
    if not kind.calls_itself:
        untold += ["caller", "agent"]
    for share, name in CPU_MEASURES.items():
        added = added_cpu(blocks, cell, share)
        if share in untold or not added.blocks:
            continue
        per_call = t_interval(added.per_call)
        labels = ("indicative",) if per_call.n < INDICATIVE_BELOW else ()
        if share == "all" and band is not None and abs(per_call.mean) <= band:
            labels = (*labels, "within-aa-band")
        per_unit = t_interval(added.per_call / kind.units(parameters, 1))
        measures.append(make_measure(name, "ns", kind.unit, per_unit, labels, paired=True))
        per_record = added.per_record[~np.isnan(added.per_record)]
        if len(per_record):
            measures.append(make_measure(name, "ns", "record", t_interval(per_record), labels, paired=True))
    return measures


def once_measures(blocks: Blocks, cell: Cell) -> list[Measure]:
    """What is paid once, in the blocks where the configuration and both baselines have the value."""
    return [measure for name, value in PAID_ONCE for measure in added_measures(blocks, cell, (name, "ns", ""), value)]


def response_measures(blocks: Blocks, cell: Cell, parameters: Parameters) -> list[Measure]:
    """What a service's answers, memory and CPU have more than the baselines' of the block; of others nothing.

    A quantile is a start's own, and told only where at least ten requests of every start lie beyond it. Its difference
    is taken inside the block, as that of means.
    """
    if declaration_of(parameters).calls_itself:
        return []
    of_part = [trial for block in blocks.values() for own, trial in block.items() if own.part == cell.part]
    counts = [trial.response.count for trial in of_part if trial.response]
    told: list[tuple[MeasureName, str]] = [
        (name, field)
        for name, field in RESPONSES
        if counts and min(beyond(count, PER_MILLE[field]) for count in counts) >= FEWEST_BEYOND
    ]

    def quantile(field: str) -> MeasuredValue:
        return lambda trial: float(getattr(trial.response, field)) if trial.response else None

    measures = [
        one for name, field in told for one in added_measures(blocks, cell, (name, "ns", "call"), quantile(field))
    ]
    measures += added_measures(
        blocks, cell, ("rss_peak_added", "bytes", ""), lambda trial: trial.rss_peak_bytes or None
    )
    used = arranged.paired(blocks, cell, charged_per_call).known()
    columns = used.values, used.baseline_1, used.baseline_2
    if used.blocks and all((column > 0).all() for column in columns):
        ratio = as_ratio(paired_log_ratio(*columns))
        measures.append(make_measure("cpu_ratio", "1", "call", ratio, _few(ratio), paired=True))
    return measures


def added_measures(
    blocks: Blocks, cell: Cell, what: tuple[MeasureName, Unit, Per], value: MeasuredValue
) -> list[Measure]:
    """A value less the baselines' as a measure; none where no block has all three."""
    by_block = added_once(blocks, cell, value)
    if not by_block:
        return []
    added = t_interval(list(by_block.values()))
    labels = _few(added)
    band = _band(blocks, cell, _or_nan(value))
    if band is not None and abs(added.mean) <= band:
        labels = (*labels, "within-aa-band")
    name, unit, per = what
    return [make_measure(name, unit, per, added, labels, paired=True)]


def _few(estimate: Estimate) -> tuple[str, ...]:
    return ("indicative",) if estimate.n < INDICATIVE_BELOW else ()


def added_once(blocks: Blocks, cell: Cell, value: MeasuredValue) -> dict[int, float]:
    """A value of a configuration's trials less the baselines', by the number of the block."""
    known = arranged.paired(blocks, cell, _or_nan(value)).known()
    if not known.blocks:
        return {}
    added = differences(known.values, known.baseline_1, known.baseline_2)
    return dict(zip(known.blocks, added.tolist(), strict=True))


def _or_nan(value: MeasuredValue) -> TrialValue:
    def number(trial: TrialRecord) -> float:
        known = value(trial)
        return float("nan") if known is None else known

    return number


def charged_cpu(row: ConfigurationFinding) -> Measure | None:
    """The CPU by which a row is ranked: per record, or of a service per request."""
    return find_measure(row, "cpu", declaration_of(row.parameters).charged_per)


def charged_by_block(row: ConfigurationFinding, blocks: Blocks) -> dict[int, float]:
    """The same by the number of the block."""
    added = added_cpu(blocks, row.cell)
    per_call = declaration_of(row.parameters).charged_per == "call"
    values = zip(added.blocks, added.per_call if per_call else added.per_record, strict=True)
    return {number: float(value) for number, value in values if not np.isnan(value)}


def _records_per_call(trial: TrialRecord) -> float:
    if trial.ledger is None or not trial.ledger.expected or not trial.ledger.received:
        return float("nan")
    return trial.ledger.received / trial.parameters.calls


def _band(blocks: Blocks, cell: Cell, value: TrialValue) -> float | None:
    """Half-width of the A/A band of a value; None where no block has it of both baselines."""
    first, second = arranged.baseline_pairs(blocks, cell, value)
    usable = ~np.isnan(first + second)
    return aa_band(first[usable], second[usable]).difference if usable.any() else None
