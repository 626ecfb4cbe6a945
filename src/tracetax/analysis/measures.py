"""The measures of one row: means over blocks with intervals, and its overhead against the baselines."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec.structs import replace

from tracetax.analysis.delivery import carried_per_second
from tracetax.kinds import declaration_of
from tracetax.model import Parameters, Schedule
from tracetax.results.blocks import Paired, charged_per_call
from tracetax.results.findings import Measure, MeasureName
from tracetax.results.records import Durations, TrialRecord
from tracetax.statistics.intervals import Estimate, Floats, t_interval
from tracetax.statistics.overhead import Band, as_ratio, judged_overhead
from tracetax.statistics.quantiles import beyond, positive_mean
from tracetax.statistics.regimes import Starts
from tracetax.statistics.stopping import narrow_enough

INDICATIVE_BELOW = 10
"""Blocks below which an interval is marked."""

FEWEST_BEYOND = 10
"""Calls that must lie beyond a quantile in every start for it to be told."""
PER_MILLE = {"median": 500, "p90": 900, "p99": 990, "p999": 999}
OF_SHAPE: tuple[MeasureName, ...] = (
    "service_time_median",
    "service_time_p90",
    "service_time_p99",
    "service_time_p99_9",
    "service_time_max",
    "response_time_median",
    "response_time_p90",
    "response_time_p99",
    "response_time_p99_9",
    "lateness_median",
    "lateness_p99",
)
"""Means of the starts' quantiles and maxima."""

Unit = Literal["ns", "bytes", "1", "1/s"]
Per = Literal["call", "invocation", "record", "method", ""]
MeasuredValue = Callable[[TrialRecord], float | None]
"""A value of a trial; None where it has none."""
BinMeans = Mapping[int, Floats]
"""By trial: mean service times of its bins, ns, shape (threads, bins)."""
SECOND_NS = 1e9
QUARTILES: dict[MeasureName, float] = {"throughput_q1": 0.25, "throughput_median": 0.5, "throughput_q3": 0.75}


def of_blocks(by_block: Sequence[Sequence[TrialRecord]]) -> list[Measure]:
    """What every row has: durations of calls, allocation, what reached the sink and what that cost it.

    The block is the unit: of several trials in one block (the two baselines) the mean is taken first. A quantile is the
    mean of the starts' quantiles, told only where at least ten calls lie beyond it in every start.
    """
    ticks = [trial.clock_resolution_ns for block in by_block for trial in block if trial.clock_resolution_ns]
    tick = float(np.median(ticks)) if ticks else 0.0  # one trial that takes its clock for a coarse one changes nothing

    def pick(kind: Literal["service", "response", "lateness"], field: str) -> MeasuredValue:
        def value(trial: TrialRecord) -> float | None:
            durations: Durations | None = getattr(trial, kind)
            return None if durations is None else float(getattr(durations, field))

        known: list[Durations | None] = [getattr(trial, kind) for block in by_block for trial in block]
        counts = [durations.count for durations in known if durations is not None]
        rare = field in PER_MILLE and any(beyond(count, PER_MILLE[field]) < FEWEST_BEYOND for count in counts)
        return (lambda _: None) if rare else value

    compared = next((declaration_of(trial.parameters).compared for block in by_block for trial in block), "service")
    wanted: list[tuple[MeasureName, Unit, Per, MeasuredValue]] = [
        ("service_time", "ns", "call", pick("service", "mean")),
        ("service_time_median", "ns", "call", pick("service", "median")),
        ("service_time_p90", "ns", "call", pick("service", "p90")),
        ("service_time_p99", "ns", "call", pick("service", "p99")),
        ("service_time_p99_9", "ns", "call", pick("service", "p999")),
        ("service_time_max", "ns", "call", pick("service", "max")),
        ("response_time", "ns", "call", pick("response", "mean")),
        ("response_time_median", "ns", "call", pick("response", "median")),
        ("response_time_p90", "ns", "call", pick("response", "p90") if compared == "response" else lambda _: None),
        ("response_time_p99", "ns", "call", pick("response", "p99")),
        ("response_time_p99_9", "ns", "call", pick("response", "p999")),
        ("lateness_median", "ns", "call", pick("lateness", "median")),
        ("lateness_p99", "ns", "call", pick("lateness", "p99")),
        ("allocation", "bytes", "call", lambda trial: trial.allocated_bytes_per_call),
        ("heap_used_cv", "1", "", lambda trial: trial.heap.cv if trial.heap else None),
        ("collections", "1", "", lambda trial: float(trial.heap.collections) if trial.heap else None),
        ("collection_pause", "ns", "", lambda trial: float(trial.heap.pause_ns) if trial.heap else None),
        ("collection_pause_longest", "ns", "", _longest_pause),
        ("delivery_rate", "1/s", "", carried_per_second),
        ("sink_cpu", "ns", "record", _sink_cpu_per_record),
        ("receiver_cpu", "ns", "record", _receiver_cpu_per_record),
        ("cpu_of_program", "ns", "call", _of_each(charged_per_call)),
        ("cpu_of_stores", "ns", "call", _of_each(lambda trial: trial.stores_cpu_ns / trial.parameters.calls)),
        ("cpu_of_load", "ns", "call", _of_each(lambda trial: trial.load_cpu_ns / trial.parameters.calls)),
        ("cpu_of_receiver", "ns", "call", _of_each(lambda trial: trial.receiver_cpu_ns / trial.parameters.calls)),
        ("cpu_waiting", "1", "", lambda trial: trial.cpu.waiting_cores if trial.cpu else None),
        ("startup_main", "ns", "", lambda trial: _since_start(trial, trial.moments.main)),
        ("startup_first_call", "ns", "", start_up),
        ("build_time", "ns", "", build_time),
        ("build_cpu", "ns", "", build_cpu),
        ("drain_time", "ns", "", _drain_time),
        ("bytes", "bytes", "record", _bytes_per_record),
    ]
    measures: list[Measure] = []
    for name, unit, per, value in wanted:
        known = [[number for trial in block if (number := value(trial)) is not None] for block in by_block]
        values = [sum(block) / len(block) for block in known if block]
        if not values:
            continue
        if name in OF_SHAPE:
            estimate = positive_mean(values, 0.0 if name == "service_time_max" else tick)
        else:
            estimate = t_interval(values)
        measures.append(make_measure(name, unit, per, estimate, ()))
    return [*measures, *_second_half(by_block)]


def of_memory(trials: Sequence[TrialRecord]) -> list[Measure]:
    """What the last good one of the extra trials tells: heap alive after a forced collection, and the peak of RSS."""
    trial = next((trial for trial in reversed(trials) if trial.status == "ok"), None)
    if trial is None:
        return []
    heap = trial.snapshots.get("collected", {}).get("heap_used_bytes")
    sizes: list[tuple[MeasureName, float | None]] = [("heap_live", heap), ("rss_peak", trial.rss_peak_bytes)]
    return [make_measure(name, "bytes", "", t_interval([size]), ()) for name, size in sizes if size]


def resident(by_block: Sequence[Sequence[TrialRecord]]) -> list[Measure]:
    """The peak of RSS in ordinary trials, for a runtime whose heap cannot begin small in a trial of its own."""
    known = [[trial.rss_peak_bytes for trial in block if trial.rss_peak_bytes] for block in by_block]
    values = [sum(block) / len(block) for block in known if block]
    return [make_measure("rss_peak", "bytes", "", t_interval(values), ())] if values else []


def throughput(by_block: Sequence[Sequence[TrialRecord]], bins: BinMeans) -> list[Measure]:
    """Calls per second at full speed, in the columns of Waller et al. (2014), Tables 1 to 5; nothing without bins.

    The value of a start is its calls ÷ the time that they took, so its interval over blocks is one of throughput, not
    of the mean rate of bins, which a few fast bins would raise. A bin is a thousandth of a start's calls; its rate is
    1 s ÷ their mean service time, the sum over threads. Quartiles are over the bins of all starts, pooled. Only bins
    of the steady part count. Where calls overlap, as a load's do, a start's time is that from its first call to its
    last, and there are no quartiles.
    """
    if any(not declaration_of(trial.parameters).calls_itself for block in by_block for trial in block):
        return _overlapping(by_block, bins)
    steady = [
        [bins[trial.number][:, trial.steady.first_bin :] for trial in block if trial.number in bins and trial.steady]
        for block in by_block
    ]
    steady = [[means for means in block if means.size] for block in steady]
    starts = [[float((SECOND_NS / means.mean(axis=1)).sum()) for means in block] for block in steady if block]
    if not starts:
        return []
    over_blocks = t_interval([sum(block) / len(block) for block in starts])
    rates = np.concatenate([(SECOND_NS / means).sum(axis=0) for block in steady for means in block])
    measures = [make_measure("throughput", "1/s", "call", over_blocks, ())]
    for name, share in QUARTILES.items():
        quartile = Estimate(float(np.quantile(rates, share)), None, None, over_blocks.n)
        measures.append(make_measure(name, "1/s", "call", quartile, ()))
    return measures


def overhead_measures(
    beside: Paired, parameters: Parameters, band: Band | None, schedule: Schedule, further: Starts
) -> list[Measure]:
    """The overhead against the block's two baselines: difference per call and per unit of its kind, and ratio.

    ``further`` are starts outside the blocks, which only say whether there are regimes.
    """
    if not beside.blocks:
        return []
    columns = beside.values, beside.baseline_1, beside.baseline_2
    judged = judged_overhead(*columns, further)
    difference, log_ratio = judged.difference, judged.log_ratio
    labels: list[str] = []
    if difference.n < INDICATIVE_BELOW:
        labels.append("indicative")
    if band is not None and abs(difference.mean) <= band.difference:
        labels.append("within-aa-band")
    if judged.regimes.two:
        labels.append("two-regimes")
    narrow = narrow_enough(log_ratio, difference, schedule.half_width_ratio, schedule.half_width_ns)
    if difference.n >= INDICATIVE_BELOW and not narrow:
        labels.append("not-settled")
    marks = tuple(labels)
    kind, ratio = declaration_of(parameters), as_ratio(log_ratio)
    per_unit = _divided(difference, kind.units(parameters, 1))
    by_unit: dict[Per, Estimate] = {"call": difference, kind.unit: per_unit}
    return [
        *(make_measure("overhead", "ns", unit, added, marks, paired=True) for unit, added in by_unit.items()),
        make_measure("overhead_ratio", "1", "call", ratio, marks, paired=True),
    ]


def _overlapping(by_block: Sequence[Sequence[TrialRecord]], bins: BinMeans) -> list[Measure]:
    """Calls per second of what a load calls; nothing of a first answer."""

    def rate(trial: TrialRecord) -> float:
        return trial.parameters.calls * SECOND_NS / (trial.moments.last_call - trial.moments.first_call)

    warm = [
        [
            rate(trial)
            for trial in block
            if trial.number in bins and declaration_of(trial.parameters).warms_up(trial.parameters)
        ]
        for block in by_block
    ]
    values = [sum(block) / len(block) for block in warm if block]
    return [make_measure("throughput", "1/s", "call", t_interval(values), ())] if values else []


def labelled(measures: list[Measure], *, unsteady: bool) -> list[Measure]:
    """The measures of a row, marked where they rest on trials that never became steady."""
    marked = ("service_time", "overhead", "overhead_ratio", "throughput") if unsteady else ()
    return [
        replace(measure, labels=(*measure.labels, "no-steady-state")) if measure.name in marked else measure
        for measure in measures
    ]


def _second_half(by_block: Sequence[Sequence[TrialRecord]]) -> list[Measure]:
    """MooBench's estimator as its papers print it: mean and deviation over all starts."""
    starts = [[trial.second_half_mean_ns for trial in block if trial.second_half_mean_ns] for block in by_block]
    values = [value for block in starts for value in block]
    if not values:
        return []
    over_blocks = t_interval([sum(block) / len(block) for block in starts if block])
    over_starts = t_interval(values)
    estimate = Estimate(over_starts.mean, over_starts.sd, over_blocks.ci95, over_blocks.n)
    return [make_measure("service_time_second_half", "ns", "call", estimate, ())]


def start_up(trial: TrialRecord) -> float | None:
    """From the start of the process to the end of the first call into the monitored method."""
    return _since_start(trial, trial.moments.first_monitored)


def build_time(trial: TrialRecord) -> float | None:
    """Wall time of the processes that built the trial's program, ns; None where it was built before any trial."""
    return float(trial.building.wall_ns) if trial.building else None


def build_cpu(trial: TrialRecord) -> float | None:
    """CPU of the processes that built the trial's program, ns; None where it was built before any trial."""
    return float(trial.building.cpu_ns) if trial.building else None


def _since_start(trial: TrialRecord, moment_ns: int) -> float | None:
    return float(moment_ns - trial.moments.spawned) if moment_ns else None


def _drain_time(trial: TrialRecord) -> float | None:
    if trial.ledger is None or not trial.ledger.expected:
        return None
    return float(trial.moments.drained - trial.moments.last_call)


def _longest_pause(trial: TrialRecord) -> float | None:
    return float(trial.heap.longest_pause_ns) if trial.heap else None


def _bytes_per_record(trial: TrialRecord) -> float | None:
    if trial.ledger is None or not trial.ledger.received:
        return None
    if trial.cell.use.backend:
        return None  # a backend does not tell them
    return trial.ledger.bytes / trial.ledger.received


def _sink_cpu_per_record(trial: TrialRecord) -> float | None:
    if trial.ledger is None or not trial.ledger.received or trial.disturbance is None or trial.cell.use.backend:
        return None
    return trial.disturbance.sink_cpu_ns / trial.ledger.received


def _of_each(value: Callable[[TrialRecord], float]) -> MeasuredValue:
    """What a request to a service takes of one of the processes; None where it took nothing, and of other kinds.

    A run of an earlier version knows neither load nor stores, so there it is none of any.
    """

    def known(trial: TrialRecord) -> float | None:
        if declaration_of(trial.parameters).calls_itself or not trial.load_cpu_ns:
            return None
        number = value(trial)
        return number if number > 0 else None  # NaN is not

    return known


def _receiver_cpu_per_record(trial: TrialRecord) -> float | None:
    if trial.ledger is None or not trial.ledger.received or not trial.receiver_cpu_ns:
        return None
    return trial.receiver_cpu_ns / trial.ledger.received


def _divided(estimate: Estimate, by: float) -> Estimate:
    ci95 = None if estimate.ci95 is None else (estimate.ci95[0] / by, estimate.ci95[1] / by)
    return Estimate(estimate.mean / by, None if estimate.sd is None else estimate.sd / by, ci95, estimate.n)


def make_measure(
    name: MeasureName, unit: Unit, per: Per, estimate: Estimate, labels: tuple[str, ...], *, paired: bool = False
) -> Measure:
    """An estimate as a measure; ``paired``: against the block's baselines."""
    return Measure(
        name=name,
        unit=unit,
        per=per,
        estimate=estimate.mean,
        sd=estimate.sd,
        ci95=estimate.ci95,
        n_blocks=estimate.n,
        paired_with="baseline" if paired else None,
        labels=labels,
    )
