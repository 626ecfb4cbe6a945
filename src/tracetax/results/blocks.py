"""Finished trials arranged as blocks, and their values: what both the stop rule and the findings read."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from tracetax.kinds import declaration_of
from tracetax.model import Use
from tracetax.results.records import BASELINES, OUTSIDE_BLOCKS, Cell, TrialRecord
from tracetax.statistics.intervals import Floats
from tracetax.statistics.regimes import Starts

Blocks = dict[int, dict[Cell, TrialRecord]]
"""The trial that counts for each cell, by the number of its block."""
TrialValue = Callable[[TrialRecord], float]
"""What is compared of a trial; NaN where it has no such value."""
Share = Literal["all", "caller", "agent", "jit", "gc"]
TRIES = 2
"""A trial that fails is repeated once; failing again settles it."""


class Paired(Struct, frozen=True):
    """One configuration's values beside its two baselines', shape (n blocks,) each, in order of blocks."""

    blocks: tuple[int, ...]
    values: Floats
    baseline_1: Floats
    baseline_2: Floats

    def known(self) -> "Paired":
        """The blocks in which all three have a value."""
        usable = ~np.isnan(self.values + self.baseline_1 + self.baseline_2)
        numbers = tuple(number for number, known in zip(self.blocks, usable.tolist(), strict=True) if known)
        return Paired(numbers, self.values[usable], self.baseline_1[usable], self.baseline_2[usable])


def whole_blocks(records: Iterable[TrialRecord]) -> Blocks:
    """Blocks in which every cell was measured, or failed for good; of a repeated trial the one that ``counting`` names.

    An interrupted block is left out as a whole: its trials stay on disk and count for nothing. The extra trials in
    which memory is measured belong to none, nor do further starts.
    """
    tries: dict[int, dict[Cell, list[TrialRecord]]] = defaultdict(lambda: defaultdict(list))
    for record in sorted(records, key=lambda record: record.number):
        if record.cell.role not in OUTSIDE_BLOCKS:
            tries[record.block][record.cell].append(record)
    blocks: Blocks = {}
    for number, block in sorted(tries.items()):
        settled = {
            cell: counting(trials)
            for cell, trials in block.items()
            if any(trial.status == "ok" for trial in trials) or len(trials) >= TRIES
        }
        size = next(iter(block.values()))[0].block_size
        if len(settled) >= size:
            blocks[number] = settled
    return _with_the_same_calls(blocks)


def _with_the_same_calls(blocks: Blocks) -> Blocks:
    """Of a cell whose calls were chosen anew after its first blocks, only the trials with that many count."""
    latest = {cell: trial.parameters.calls for block in blocks.values() for cell, trial in block.items()}

    def counts(cell: Cell, trial: TrialRecord) -> bool:
        return trial.parameters.calls_vary or trial.parameters.calls == latest[cell]

    return {
        number: {cell: trial for cell, trial in block.items() if counts(cell, trial)}
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


def memory_trials(records: Iterable[TrialRecord], cell: Cell) -> list[TrialRecord]:
    """The extra trials in which a row's memory was measured, failed ones too, in the order they were made."""
    return _of_cell(records, cell.playing("memory"))


def further_trials(records: Iterable[TrialRecord], cell: Cell) -> list[TrialRecord]:
    """The starts of a row alone, failed and disturbed ones too, in the order they were made."""
    return _of_cell(records, cell.playing("further"))


def _of_cell(records: Iterable[TrialRecord], cell: Cell) -> list[TrialRecord]:
    return sorted((record for record in records if record.cell == cell), key=lambda record: record.number)


def further_starts(records: Iterable[TrialRecord], cell: Cell) -> Starts:
    """What the starts outside the blocks say, of a row and of its baseline; disturbed ones say nothing."""
    alone = [record for record in records if record.cell.role == "further"]

    def values(of: Cell) -> tuple[float, ...]:
        good = (trial for trial in further_trials(alone, of) if trial.status == "ok")
        return tuple(service_mean(trial) for trial in good if not (trial.disturbance and trial.disturbance.disturbed))

    return Starts(own=values(cell), baseline=values(cell.baseline("further")))


def configuration_cells(blocks: Blocks, part: str) -> dict[Use, Cell]:
    """The cells of a part's configurations, without the baselines."""
    cells = {cell for block in blocks.values() for cell in block}
    own = (cell for cell in cells if cell.part == part and cell.role == "configuration")
    return {cell.use: cell for cell in sorted(own, key=lambda cell: cell.heap_bytes)}


def trials(blocks: Blocks, cell: Cell) -> list[TrialRecord]:
    """The good trials of one cell, one per block at most, in order of blocks."""
    return [block[cell] for block in blocks.values() if cell in block and block[cell].status == "ok"]


def pairs(blocks: Blocks, cell: Cell) -> list[tuple[TrialRecord, ...]]:
    """The good baselines beside a cell, at most two of each block."""
    cells = _baselines(cell)
    good = [
        tuple(block[cell] for cell in cells if cell in block and block[cell].status == "ok")
        for block in blocks.values()
    ]
    return [pair for pair in good if pair]


def paired(blocks: Blocks, cell: Cell, value: TrialValue) -> Paired:
    """Values of a cell and of the baselines with its heap, in the blocks where all three are good."""
    return _complete(blocks, [cell, *_baselines(cell)], value)


def side_by_side(blocks: Blocks, first: Cell, second: Cell, value: TrialValue) -> tuple[Floats, Floats]:
    """Values of two cells, shape (n blocks,) each, in the blocks where both are good."""
    both = _complete(blocks, [first, second, first], value)
    return both.values, both.baseline_1


def baseline_pairs(blocks: Blocks, cell: Cell, value: TrialValue) -> tuple[Floats, Floats]:
    """Values of both baselines beside a cell, shape (n blocks,) each, in the blocks where both are good."""
    first, second = _baselines(cell)
    both = _complete(blocks, [first, first, second], value)
    return both.baseline_1, both.baseline_2


def _baselines(cell: Cell) -> list[Cell]:
    return [cell.baseline(role) for role in BASELINES]


def _complete(blocks: Blocks, cells: list[Cell], value: TrialValue) -> Paired:
    numbers = [
        number
        for number, block in blocks.items()
        if all(cell in block and block[cell].status == "ok" for cell in cells)
    ]
    columns = [np.array([value(blocks[number][cell]) for number in numbers], dtype=np.float64) for cell in cells]
    return Paired(blocks=tuple(numbers), values=columns[0], baseline_1=columns[1], baseline_2=columns[2])


def service_mean(record: TrialRecord) -> float:
    """A trial's value: the mean duration of a call in its steady part, ns, of the durations that its kind compares."""
    kind = declaration_of(record.parameters)
    durations = (record.response if kind.compared == "response" else None) or record.service
    assert durations is not None
    return durations.mean


def charged_per_call(trial: TrialRecord, share: Share = "all") -> float:
    """CPU that a trial is charged, ns per call; NaN where it was not sampled.

    A caller that spins until its next call is due burns a core in either case: its share is the time inside its calls,
    as far as it had a core then (a caller always wants one, so the share of time in which it had one is known).
    The runtime's own threads are charged to the last call only, since the baselines end there and a longer wait is
    none of the agent's doing.
    """
    cpu = trial.cpu
    if cpu is None or trial.in_calls_ns is None:
        return float("nan")
    times = cpu.to_drained
    caller = trial.in_calls_ns * _had_a_core(trial, times.caller) if _callers_spin(trial) else times.caller
    if share == "all":
        used = caller + times.agent + times.jit + times.gc + times.ended + cpu.to_last_call.jvm
    else:
        used = caller if share == "caller" else getattr(times, share)
    return used / trial.parameters.calls


def _had_a_core(trial: TrialRecord, used_ns: int) -> float:
    """Share of the time between first and last call in which spinning callers were on a processor."""
    wanted = (trial.moments.last_call - trial.moments.first_call) * trial.parameters.threads
    return min(1.0, used_ns / wanted) if wanted > 0 else 1.0


def _callers_spin(trial: TrialRecord) -> bool:
    """Whether a caller keeps its core busy between its calls."""
    return declaration_of(trial.parameters).callers_spin(trial.parameters)
