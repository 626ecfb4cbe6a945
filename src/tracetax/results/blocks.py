"""Finished trials arranged as blocks: the form in which both the stop rule and the findings read them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tracetax.model import BASELINE, Use
from tracetax.results.records import BASELINES, OUTSIDE_BLOCKS, Role, TrialRecord
from tracetax.statistics.regimes import Starts

Floats = NDArray[np.float64]
CellKey = tuple[str, str, str, Role, int, str, str]
"""Part, agent, configuration, role, heap, build, backend."""
Blocks = dict[int, dict[CellKey, TrialRecord]]
"""The trial that counts for each cell, by the number of its block."""
TRIES = 2
"""A trial that fails is repeated once; failing again settles it."""


class Paired(Struct, frozen=True):
    """One configuration's values beside its two baselines', shape (n blocks,) each, in order of blocks."""

    blocks: tuple[int, ...]
    values: Floats
    baseline_1: Floats
    baseline_2: Floats


def cell_key(record: TrialRecord) -> CellKey:
    """What a trial measured, apart from its block and attempt."""
    return (
        *(record.part, record.agent, record.configuration),
        *(record.role, record.heap_bytes, record.build, record.backend),
    )


def whole_blocks(records: Iterable[TrialRecord]) -> Blocks:
    """Blocks in which every cell was measured, or failed for good; of a repeated trial the one that ``counting`` names.

    An interrupted block is left out as a whole: its trials stay on disk and count for nothing. The extra trials in
    which memory is measured belong to none, nor do further starts.
    """
    blocks: dict[int, dict[CellKey, list[TrialRecord]]] = defaultdict(lambda: defaultdict(list))
    for record in sorted(records, key=lambda record: record.number):
        if record.role in OUTSIDE_BLOCKS:
            continue
        blocks[record.block][cell_key(record)].append(record)
    result: Blocks = {}
    for number, block in sorted(blocks.items()):
        settled = {
            key: counting(trials)
            for key, trials in block.items()
            if any(trial.status == "ok" for trial in trials) or len(trials) >= TRIES
        }
        size = next(iter(block.values()))[0].block_size
        if len(settled) >= size:
            result[number] = settled
    return _with_the_same_calls(result)


def _with_the_same_calls(blocks: Blocks) -> Blocks:
    """Of a cell whose calls were chosen anew after its first blocks, only the trials with that many count."""
    latest = {key: trial.parameters.calls for block in blocks.values() for key, trial in block.items()}
    return {
        number: {key: trial for key, trial in block.items() if trial.parameters.calls == latest[key]}
        for number, block in blocks.items()
    }


def counting(tries: Sequence[TrialRecord]) -> TrialRecord:
    """The trial that counts of one that was repeated: the good one during which others took least of the machine.

    Of equally disturbed ones it is the first; where none is good it is the last. ``tries`` are in the order in which
    they were made. Nothing that was measured plays a part in the choice.
    """
    good = [record for record in tries if record.status == "ok"]
    return min(good, key=_taken_by_others) if good else tries[-1]


def _taken_by_others(record: TrialRecord) -> float:
    """Cores that were stolen or used by others during a trial."""
    return record.disturbance.steal + record.disturbance.other_cpu if record.disturbance else 0.0


def memory_trials(records: Iterable[TrialRecord], part: str, use: Use, heap_bytes: int) -> list[TrialRecord]:
    """The extra trials in which a configuration's memory was measured, failed ones too, in the order they were made."""
    key: CellKey = (part, use.agent, use.configuration, "memory", heap_bytes, use.build, use.backend)
    return sorted((one for one in records if cell_key(one) == key), key=lambda record: record.number)


def further_trials(records: Iterable[TrialRecord], part: str, use: Use, heap_bytes: int) -> list[TrialRecord]:
    """The starts of a configuration alone, failed and disturbed ones too, in the order they were made."""
    key: CellKey = (part, use.agent, use.configuration, "further", heap_bytes, use.build, use.backend)
    return sorted((one for one in records if cell_key(one) == key), key=lambda record: record.number)


def further_starts(records: Iterable[TrialRecord], part: str, use: Use, heap_bytes: int) -> Starts:
    """What the starts outside the blocks say, of a configuration and of its baseline; disturbed ones say nothing."""
    every = [record for record in records if record.role == "further"]

    def values(of: Use) -> tuple[float, ...]:
        good = (trial for trial in further_trials(every, part, of, heap_bytes) if trial.status == "ok")
        return tuple(service_mean(one) for one in good if not (one.disturbance and one.disturbance.disturbed))

    return Starts(own=values(use), baseline=values(BASELINE))


def uses(blocks: Blocks, part: str) -> list[tuple[Use, int]]:
    """Configurations of a part with their heap, without the baselines, in order of appearance by name."""
    found = {
        (key[1], key[2], key[4], key[5], key[6])
        for block in blocks.values()
        for key in block
        if key[0] == part and key[3] == "configuration"
    }
    return [(Use(agent, name, build, backend), heap) for agent, name, heap, build, backend in sorted(found)]


def trials(blocks: Blocks, part: str, use: Use, role: Role, heap_bytes: int) -> list[TrialRecord]:
    """The good trials of one cell, one per block at most, in order of blocks."""
    key: CellKey = (part, use.agent, use.configuration, role, heap_bytes, use.build, use.backend)
    return [block[key] for block in blocks.values() if key in block and block[key].status == "ok"]


def pairs(blocks: Blocks, part: str, heap_bytes: int) -> list[tuple[TrialRecord, ...]]:
    """The good baselines of each block, at most two of them."""
    keys = _baseline_keys(part, heap_bytes)
    found = [
        tuple(block[key] for key in keys if key in block and block[key].status == "ok") for block in blocks.values()
    ]
    return [pair for pair in found if pair]


def paired(
    blocks: Blocks,
    part: str,
    use: Use,
    heap_bytes: int,
    value: Callable[[TrialRecord], float],
) -> Paired:
    """Values of a configuration and of the baselines with its heap, in the blocks where all three are good."""
    keys: list[CellKey] = [_key(part, use, heap_bytes)]
    return _complete(blocks, [*keys, *_baseline_keys(part, heap_bytes)], value)


def side_by_side(
    blocks: Blocks,
    part: str,
    first: Use,
    second: Use,
    heap_bytes: int,
    value: Callable[[TrialRecord], float],
) -> tuple[Floats, Floats]:
    """Values of two configurations, shape (n blocks,) each, in the blocks where both are good."""
    keys = [_key(part, first, heap_bytes), _key(part, second, heap_bytes)]
    found = _complete(blocks, [*keys, keys[0]], value)
    return found.values, found.baseline_1


def baseline_pairs(
    blocks: Blocks,
    part: str,
    heap_bytes: int,
    value: Callable[[TrialRecord], float],
) -> tuple[Floats, Floats]:
    """Both baselines' values in the blocks where both are good."""
    keys = _baseline_keys(part, heap_bytes)
    found = _complete(blocks, [keys[0], *keys], value)
    return found.baseline_1, found.baseline_2


def _baseline_keys(part: str, heap_bytes: int) -> list[CellKey]:
    return [(part, BASELINE.agent, BASELINE.configuration, role, heap_bytes, "", "") for role in BASELINES]


def _key(part: str, use: Use, heap_bytes: int) -> CellKey:
    return (part, use.agent, use.configuration, "configuration", heap_bytes, use.build, use.backend)


def _complete(blocks: Blocks, keys: list[CellKey], value: Callable[[TrialRecord], float]) -> Paired:
    numbers = [
        number for number, block in blocks.items() if all(key in block and block[key].status == "ok" for key in keys)
    ]
    columns = [np.array([value(blocks[number][key]) for number in numbers], dtype=np.float64) for key in keys]
    return Paired(blocks=tuple(numbers), values=columns[0], baseline_1=columns[1], baseline_2=columns[2])


def service_mean(record: TrialRecord) -> float:
    """A trial's value: the mean service time of its steady part, ns per call."""
    assert record.service is not None
    return record.service.mean
