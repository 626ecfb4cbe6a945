"""The whole cost of a configuration in CPU: all threads of its process, less what the block's baselines used.

A trial is charged from its first call until its last record had arrived, a baseline until its last call; what they are
compared in is CPU per call.
"""

import numpy as np
from msgspec import Struct

from tracetax.analysis.measures import INDICATIVE_BELOW, make_measure
from tracetax.model import Part, Use
from tracetax.results import blocks as arranged
from tracetax.results.blocks import Blocks, Floats
from tracetax.results.charged import Share, charged_per_call
from tracetax.results.findings import Measure, MeasureName
from tracetax.results.records import TrialRecord
from tracetax.statistics.intervals import t_interval
from tracetax.statistics.overhead import aa_band, differences

MEASURES: dict[Share, MeasureName] = {
    "all": "cpu",
    "caller": "cpu_caller",
    "agent": "cpu_agent",
    "jit": "cpu_jit",
    "gc": "cpu_gc",
}


class Added(Struct, frozen=True):
    """What a configuration used beyond its baselines, ns, shape (n blocks,) each."""

    blocks: tuple[int, ...]
    per_call: Floats
    per_record: Floats
    """Per record that arrived; NaN where none was promised or none came."""


def added(blocks: Blocks, part: Part, use: Use, heap_bytes: int, share: Share = "all") -> Added:
    """What a configuration used beyond the mean of its two baselines, in the blocks where all three were sampled."""
    found = arranged.paired(blocks, part.name, use, heap_bytes, lambda trial: charged_per_call(trial, share))
    records = arranged.paired(blocks, part.name, use, heap_bytes, _records_per_call).values
    usable = ~np.isnan(found.values + found.baseline_1 + found.baseline_2)
    numbers = tuple(number for number, use_it in zip(found.blocks, usable, strict=True) if use_it)
    if not numbers:
        return Added(blocks=(), per_call=np.empty(0), per_record=np.empty(0))
    per_call = differences(found.values[usable], found.baseline_1[usable], found.baseline_2[usable])
    return Added(blocks=numbers, per_call=per_call, per_record=per_call / records[usable])


def cpu_measures(blocks: Blocks, part: Part, use: Use, heap_bytes: int) -> list[Measure]:
    """CPU and its parts, per invocation and, where records arrived, per record."""
    band = _band(blocks, part, heap_bytes)
    result: list[Measure] = []
    for share, name in MEASURES.items():
        found = added(blocks, part, use, heap_bytes, share)
        if not found.blocks:
            continue
        per_call = t_interval(found.per_call)
        labels = ("indicative",) if per_call.n < INDICATIVE_BELOW else ()
        if share == "all" and band is not None and abs(per_call.mean) <= band:
            labels = (*labels, "within-aa-band")
        per_invocation = t_interval(found.per_call / part.parameters.depth)
        result.append(make_measure(name, "ns", "invocation", per_invocation, labels, paired=True))
        per_record = found.per_record[~np.isnan(found.per_record)]
        if len(per_record):
            result.append(make_measure(name, "ns", "record", t_interval(per_record), labels, paired=True))
    return result


def _records_per_call(trial: TrialRecord) -> float:
    if trial.ledger is None or not trial.ledger.expected or not trial.ledger.received:
        return float("nan")
    return trial.ledger.received / trial.parameters.calls


def _band(blocks: Blocks, part: Part, heap_bytes: int) -> float | None:
    first, second = arranged.baseline_pairs(blocks, part.name, heap_bytes, charged_per_call)
    usable = ~np.isnan(first + second)
    return aa_band(first[usable], second[usable]).difference if usable.any() else None
