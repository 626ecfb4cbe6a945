"""What functions have beyond services: time inside the function, the parts of a cold start, and money."""

from collections.abc import Mapping, Sequence

from tracetax.analysis.cost import added_measures
from tracetax.analysis.measures import FEWEST_BEYOND, PER_MILLE, MeasuredValue, Per, Unit, make_measure
from tracetax.kinds import declaration_of
from tracetax.results.blocks import Blocks
from tracetax.results.findings import Measure
from tracetax.results.measure_names import MeasureName
from tracetax.results.records import Cell, TrialRecord
from tracetax.statistics.intervals import t_interval
from tracetax.statistics.quantiles import beyond, positive_mean

PARTS: Mapping[MeasureName, tuple[str, str]] = {
    "start_runtime": ("", "runtime"),
    "start_agent": ("runtime", "agent"),
    "start_imports": ("agent", "imported"),
    "start_ready": ("imported", "first-begin"),
    "start_invocation": ("first-begin", ""),
}
"""The parts of a cold start, each from one moment to the next: empty at its begin is the spawn, and at its end the
first answer. They add up to the whole."""
ADDED: Mapping[MeasureName, MeasureName] = {
    "start_runtime": "start_runtime_added",
    "start_agent": "start_agent_added",
    "start_imports": "start_imports_added",
    "start_ready": "start_ready_added",
    "start_invocation": "start_invocation_added",
}


MOMENTS = ("runtime", "agent", "imported", "first-begin")
"""In the order in which they come."""


def moments_of_start(trial: TrialRecord) -> dict[str, int]:
    """The moments of a trial's start, ns, none before the one that it follows; those behind a missing one are missing.

    Without an agent its set-up is over when the runtime has begun. An agent that imports the function itself is set up
    after that: the import is then part of its set-up.
    """
    known: dict[str, int] = {}
    latest = trial.moments.spawned
    for name in MOMENTS:
        at = trial.marks.get(name, latest if name == "agent" else None)
        if at is None:
            break
        known[name] = latest = max(latest, at)
    return known


def part_of_start(name: MeasureName) -> MeasuredValue:
    """How long a part of a cold start took, ns; None of other trials, and where a moment was not told."""
    begin, end = PARTS[name]

    def value(trial: TrialRecord) -> float | None:
        if declaration_of(trial.parameters).warms_up(trial.parameters):
            return None
        known = moments_of_start(trial) | {"": trial.moments.spawned}
        since, until = known.get(begin), known.get(end) if end else trial.moments.first_monitored
        return float(until - since) if since and until else None

    return value


def inside_time(trial: TrialRecord) -> float | None:
    """How long the work of an invocation took by itself, mean, ns."""
    return trial.inside.mean if trial.inside else None


def price(trial: TrialRecord) -> float | None:
    """What a million invocations cost that each take as long as the trial's, in money."""
    if trial.service is None:
        return None
    return declaration_of(trial.parameters).price_per_million(trial.parameters, trial.service.mean)


def bytes_per_call(trial: TrialRecord) -> float | None:
    """Bytes on the wire of an invocation, of trials whose function says how long its work took."""
    if trial.inside is None or trial.ledger is None or trial.cell.use.backend or not trial.ledger.received:
        return None
    return trial.ledger.bytes / trial.parameters.calls


def records_of_call(trial: TrialRecord) -> float | None:
    """Records that arrived of an invocation, of trials whose function says how long its work took."""
    if trial.inside is None or trial.ledger is None or not trial.ledger.expected:
        return None
    return trial.ledger.received / trial.parameters.calls


def function_measures(by_block: Sequence[Sequence[TrialRecord]]) -> list[Measure]:
    """What every row of functions has; nothing of other kinds."""
    measures = [
        *_of(by_block, ("inside_time", "ns", "call"), inside_time),
        *_inside_p99(by_block),
        *_of(by_block, ("records_per_call", "1", "call"), records_of_call),
        *_of(by_block, ("bytes_per_call", "bytes", "call"), bytes_per_call),
        *_of(by_block, ("price_million", "1", ""), price),
    ]
    return measures + [one for name in PARTS for one in _of(by_block, (name, "ns", ""), part_of_start(name))]


def function_added(blocks: Blocks, cell: Cell) -> list[Measure]:
    """The same less the baselines' of the block."""
    own: list[tuple[MeasureName, Unit, Per, MeasuredValue]] = [
        ("inside_time_added", "ns", "call", inside_time),
        ("price_million_added", "1", "", price),
        *((added, "ns", "", part_of_start(name)) for name, added in ADDED.items()),
    ]
    return [one for name, unit, per, value in own for one in added_measures(blocks, cell, (name, unit, per), value)]


def _of(
    by_block: Sequence[Sequence[TrialRecord]], what: tuple[MeasureName, Unit, Per], value: MeasuredValue
) -> list[Measure]:
    known = [[number for trial in block if (number := value(trial)) is not None] for block in by_block]
    values = [sum(block) / len(block) for block in known if block]
    name, unit, per = what
    return [make_measure(name, unit, per, t_interval(values), ())] if values else []


def _inside_p99(by_block: Sequence[Sequence[TrialRecord]]) -> list[Measure]:
    """Told where ten invocations lie beyond it in every start, as of all quantiles."""
    told = [trial.inside for block in by_block for trial in block if trial.inside]
    if not told or min(beyond(durations.count, PER_MILLE["p99"]) for durations in told) < FEWEST_BEYOND:
        return []
    blocks = [[trial.inside.p99 for trial in block if trial.inside] for block in by_block]
    values = [sum(block) / len(block) for block in blocks if block]
    return [make_measure("inside_time_p99", "ns", "call", positive_mean(values, 0.0), ())]
