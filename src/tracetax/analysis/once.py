"""What a configuration adds once per process and once per build, less what the block's baselines take."""

import numpy as np

from tracetax.analysis.measures import INDICATIVE_BELOW, Value, build_cpu, build_time, make_measure, start_up
from tracetax.model import Part, Use
from tracetax.results import blocks as arranged
from tracetax.results.blocks import Blocks
from tracetax.results.findings import Measure, MeasureName
from tracetax.results.records import TrialRecord
from tracetax.statistics.intervals import t_interval
from tracetax.statistics.overhead import aa_band, differences

MEASURES: tuple[tuple[MeasureName, Value], ...] = (
    ("startup_first_call_added", start_up),
    ("build_time_added", build_time),
    ("build_cpu_added", build_cpu),
)


def once_measures(blocks: Blocks, part: Part, use: Use, heap_bytes: int) -> list[Measure]:
    """The paired differences, in the blocks where configuration and both baselines have the value."""
    result: list[Measure] = []
    for name, value in MEASURES:

        def number(trial: TrialRecord, value: Value = value) -> float:
            found = value(trial)
            return float("nan") if found is None else found

        found = arranged.paired(blocks, part.name, use, heap_bytes, number)
        columns = np.stack([found.values, found.baseline_1, found.baseline_2])
        columns = columns[:, ~np.isnan(columns).any(axis=0)]
        if not columns.size:
            continue
        added = t_interval(differences(*columns))
        labels = ("indicative",) if added.n < INDICATIVE_BELOW else ()
        first, second = arranged.baseline_pairs(blocks, part.name, heap_bytes, number)
        usable = ~np.isnan(first + second)
        if abs(added.mean) <= aa_band(first[usable], second[usable]).difference:
            labels = (*labels, "within-aa-band")
        result.append(make_measure(name, "ns", "", added, labels, paired=True))
    return result
