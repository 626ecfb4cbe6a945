"""What a configuration adds once per process and once per build, less what the block's baselines take."""

from collections.abc import Callable

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
        values = added_once(value)(blocks, part, use, heap_bytes)
        if not values:
            continue
        added = t_interval(list(values.values()))
        labels = ("indicative",) if added.n < INDICATIVE_BELOW else ()
        first, second = arranged.baseline_pairs(blocks, part.name, heap_bytes, _or_nan(value))
        usable = ~np.isnan(first + second)
        if abs(added.mean) <= aa_band(first[usable], second[usable]).difference:
            labels = (*labels, "within-aa-band")
        result.append(make_measure(name, "ns", "", added, labels, paired=True))
    return result


def added_once(value: Value) -> Callable[[Blocks, Part, Use, int], dict[int, float]]:
    """What takes blocks, a part, a use and a heap to the value less the baselines', by the number of the block."""

    def by_block(blocks: Blocks, part: Part, use: Use, heap_bytes: int) -> dict[int, float]:
        found = arranged.paired(blocks, part.name, use, heap_bytes, _or_nan(value))
        usable = ~np.isnan(found.values + found.baseline_1 + found.baseline_2)
        numbers = [number for number, use_it in zip(found.blocks, usable.tolist(), strict=True) if use_it]
        if not numbers:
            return {}
        added = differences(found.values[usable], found.baseline_1[usable], found.baseline_2[usable])
        return dict(zip(numbers, added.tolist(), strict=True))

    return by_block


def _or_nan(value: Value) -> Callable[[TrialRecord], float]:
    def number(trial: TrialRecord) -> float:
        found = value(trial)
        return float("nan") if found is None else found

    return number
