"""After three blocks: how many calls a start of each configuration makes, chosen once and kept in the manifest.

A configuration whose starts make another number of calls from then on is not judged by its first blocks: they chose
the number, and a mean over more calls need not be the same quantity. Baselines stay as the experiment says.
"""

from collections.abc import Iterable

import numpy as np
import polars as pl

from tracetax.model import Configuration, Part
from tracetax.results import blocks as arranged
from tracetax.results.folder import RunFolder
from tracetax.results.manifest import ChosenCalls
from tracetax.results.records import Cell, TrialRecord
from tracetax.schedule import Schedule
from tracetax.statistics.allocation import best_calls, call_variance, variation

PILOT_BLOCKS = 3
LEAST_CALLS = 1_000
"""Calls of a start below which its own variance cannot be told."""


def choose(
    part: Part,
    cells: Iterable[tuple[Cell, Configuration]],
    blocks: arranged.Blocks,
    folder: RunFolder,
    schedule: Schedule,
) -> tuple[ChosenCalls, ...]:
    """The calls of every configuration of a part, by its trials so far.

    One whose heap grows with its records keeps what the experiment says: with more calls it would need another heap.
    """
    chosen: list[ChosenCalls] = []
    for cell, config in cells:
        trials = arranged.trials(blocks, cell)
        enough = part.parameters.calls >= LEAST_CALLS and len(trials) >= PILOT_BLOCKS
        if config.memory is None and enough and not part.parameters.calls_vary:
            chosen.append(_chosen(part, cell, trials, folder, schedule))
    return tuple(chosen)


def _chosen(part: Part, cell: Cell, trials: list[TrialRecord], folder: RunFolder, schedule: Schedule) -> ChosenCalls:
    calls = part.parameters.calls
    in_calls = float(np.mean([_seconds(trial.moments.first_call, trial.moments.drained) for trial in trials]))
    whole = float(np.mean([_seconds(trial.moments.spawned, trial.moments.exited) for trial in trials]))
    variances = [_call_variance(folder, trial) for trial in trials]
    values = [arranged.service_mean(trial) for trial in trials]
    of = variation(values, variances, calls, max(0.0, whole - in_calls), in_calls / calls)
    least, most = schedule.min_calls or calls, schedule.max_calls or calls
    best = best_calls(of, calls, least, most, starts=len(trials))
    return ChosenCalls(
        part=part.name,
        use=cell.use,
        calls=best,
        instead_of=calls,
        between=of.between**0.5,
        within=(of.within / calls) ** 0.5,
        start_seconds=of.start_seconds,
        calls_seconds=in_calls,
        gain=1 - of.price(best) / of.price(calls) if of.price(calls) else 0.0,
    )


def _seconds(start_ns: int, end_ns: int) -> float:
    return (end_ns - start_ns) / 1e9


def _call_variance(folder: RunFolder, trial: TrialRecord) -> float:
    """Variance of a trial's service times between calls, mean over its threads."""
    series = folder.series(trial.number).filter(pl.col("kind") == "service").sort("thread", "bin")
    threads = series.partition_by("thread")
    variances = [
        call_variance(bins["mean"].to_numpy(), float(bins["count"].mean() or 1.0))  # pyright: ignore[reportArgumentType]
        for bins in threads
    ]
    return float(np.mean(variances))


def words(chosen: Iterable[ChosenCalls]) -> str:
    """What was chosen, for the user; empty where nothing changes."""
    changed = [choice for choice in chosen if choice.calls != choice.instead_of]
    if not changed:
        return ""
    listed = "; ".join(f"{choice.use} {choice.calls:,}" for choice in changed)
    return (
        f"After {PILOT_BLOCKS} blocks the calls of a start are chosen anew where that buys narrower intervals in the "
        f"same time: {listed} instead of {changed[0].instead_of:,}. Their first {PILOT_BLOCKS} blocks do not count."
    )
