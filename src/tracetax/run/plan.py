"""From an experiment to blocks of trials: every configuration once per block, in random order, the baseline twice."""

import random
from collections.abc import Mapping
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace

from tracetax.backend import Backend
from tracetax.errors import UserError
from tracetax.kinds import declaration_of
from tracetax.model import BASELINE, SCRAPED, Agent, Configuration, Delivery, Experiment, Part, Use, heap_of
from tracetax.results.records import BASELINES, Cell
from tracetax.statistics.sampling import by_chance, by_count, by_time

OWN_HEAP_BYTES = 16 << 20
"""What the driver needs besides its samples."""


class Turn(Struct, frozen=True):
    """A cell's turn to be measured, in a block or outside of all (block 0)."""

    block: int
    block_size: int
    """Turns of the block, repetitions not counted."""
    cell: Cell
    attempt: int = 1


class TrialPlan(Struct, frozen=True):
    """One trial to be made: whose turn it is, its number, and under which parameters."""

    number: int
    turn: Turn
    part: Part
    config: Configuration
    first: bool = False
    """Whether it is the first of its cell in a run."""

    @property
    def learns(self) -> bool:
        """Whether it is made only to learn how many records a call makes."""
        return self.cell.role == "calibration"

    @property
    def calibrates(self) -> bool:
        """Whether the records of single calls are counted first, where calls differ in them.

        That needs records that are sent while the program runs.
        """
        config = self.config
        warms_up = declaration_of(self.part.parameters).warms_up(self.part.parameters)
        seen = config.protocol not in (None, SCRAPED) and not config.writes_files and not config.held_until_exit
        return (
            self.first
            and warms_up
            and seen
            and not self.use.backend
            and config.delivery in (Delivery.COMPLETE, Delivery.LOSSY)
        )

    @property
    def cell(self) -> Cell:
        """The cell that the trial measures."""
        return self.turn.cell

    @property
    def use(self) -> Use:
        """The configuration that the trial measures."""
        return self.turn.cell.use

    @property
    def delivers(self) -> bool:
        """Whether records are promised one by one."""
        return self.expected > 0

    @property
    def expected(self) -> int:
        """Records that the measured calls of the trial must produce."""
        return expected_records(self.config, self.part)


def having_made(plan: TrialPlan, calls: int) -> TrialPlan:
    """The plan of a trial that has made so many calls, as of which its records are judged."""
    return replace(plan, part=replace(plan.part, parameters=replace(plan.part.parameters, calls=calls)))


def configuration(agents: Mapping[str, Agent], use: Use, part: Part) -> Configuration:
    """The configuration that ``use`` names in a part; ``agents`` are those of the run, by what its parts call them."""
    return agents[part.agent_key(use.agent)].configurations[use.configuration]


def expected_records(config: Configuration, part: Part) -> int:
    """Records that the measured calls of a trial must produce; 0 where none are promised one by one."""
    if config.delivery in (Delivery.NONE, Delivery.AGGREGATED, Delivery.SAMPLED):
        return 0
    return records_made(config, part)


def records_made(config: Configuration, part: Part) -> int:
    """Records that the measured calls of a trial make, whatever becomes of them."""
    return declaration_of(part.parameters).records_made(part.parameters, config, part.parameters.calls)


def records_due(config: Configuration, part: Part, lasted_ns: int) -> tuple[int, int]:
    """The least and the most records that a sampler lets through of measured calls that lasted so long, in ns.

    Zeros where it does not sample, or where its file does not say how.
    """
    sampling, calls = config.sampling, part.parameters.calls
    if sampling is None:
        return 0, 0
    if sampling.by == "time":
        least, most = by_time(calls, sampling.at_most, sampling.per_ns, lasted_ns)
    else:
        least, most = {"count": by_count, "chance": by_chance}[sampling.by](calls, sampling.one_in)
    kind = declaration_of(part.parameters)
    return kind.records_made(part.parameters, config, least), kind.records_made(part.parameters, config, most)


def heap_for(config: Configuration, part: Part) -> int:
    """The part's heap, or the larger one that the configuration declares to need, in whole 64 MiB; 0 without a heap."""
    heap = heap_of(part.settings)
    if config.memory is None or not heap:
        return heap
    need = config.memory.base_bytes + config.memory.per_record_bytes * records_made(config, part)
    if need <= heap:
        return heap
    step = 64 << 20
    return -(-need // step) * step


def cells(experiment: Experiment, agents: dict[str, Agent]) -> list[Cell]:
    """Every cell of a block, baselines first: a pair for each part, and one more for each deviating heap."""
    result: list[Cell] = []
    for part in experiment.parts:
        uses = [(use, heap_for(configuration(agents, use, part), part)) for use in part.uses if use != BASELINE]
        heaps = dict.fromkeys([heap_of(part.settings), *(heap for _, heap in uses)])
        result += [
            Cell(part=part.name, use=BASELINE, heap_bytes=heap, role=role) for heap in heaps for role in BASELINES
        ]
        result += [Cell(part=part.name, use=use, heap_bytes=heap) for use, heap in uses]
    return result


def memory_cells(every: list[Cell]) -> list[Cell]:
    """The extra trials in which memory is measured: one for each configuration, and one baseline for each heap.

    Where no heap is set there are none: such a trial begins with a small one.
    """
    once = [cell for cell in every if cell.heap_bytes and cell.role != BASELINES[1] and not cell.use.backend]
    return [cell.playing("memory") for cell in once]


def block(number: int, active: list[Cell], seed: int) -> list[Turn]:
    """The block's trials in their random order, which depends on the seed and the block's number alone."""
    order = list(active)
    random.Random(f"{seed}/{number}").shuffle(order)
    return [Turn(block=number, block_size=len(order), cell=cell) for cell in order]


def memory_needed(cell: Cell, backends: Mapping[str, Backend]) -> int:
    """Bytes that a trial takes: its heap, what else the workload and the sink need, and what a backend does."""
    backend = backends.get(cell.use.backend)
    return cell.heap_bytes + (512 << 20) + (backend.start.memory_bytes if backend else 0)


def check_memory(every: list[Cell], backends: Mapping[str, Backend], available_bytes: int) -> None:
    """Refuse an experiment whose largest trial does not fit into the machine, before anything is measured."""
    needed, largest = max(((memory_needed(cell, backends), cell) for cell in every), key=itemgetter(0))
    if needed > available_bytes:
        raise UserError(
            f"{largest.label} in part {largest.part} needs {needed / 2**30:.1f} GiB of memory, and this machine has "
            f"{available_bytes / 2**30:.1f} GiB free. Lower the number of calls, or take the configuration out."
        )


def check_samples(experiment: Experiment, every: list[Cell]) -> None:
    """Refuse an experiment whose samples do not fit into the heap of each trial, before anything is measured.

    Where a heap has no bound that is set, the machine's memory is one.
    """
    parts = {part.name: part for part in experiment.parts}
    for cell in every:
        parameters = parts[cell.part].parameters
        needed = declaration_of(parameters).sample_bytes(parameters) + OWN_HEAP_BYTES
        if 0 < cell.heap_bytes < needed:
            raise UserError(
                f"The samples of {parameters.calls:,} calls in part {cell.part} take {needed / 2**20:,.0f} MiB of the "
                f"heap, and it has {cell.heap_bytes / 2**20:,.0f} MiB. Lower the number of calls, or raise the heap "
                "(--heap)."
            )


def expected_seconds(cell: Cell, part: Part, config: Configuration) -> float:
    """A first guess at a trial's length, before any was measured: what its kind says, its heap and its backend.

    The constants are what trials took on a 2-core virtual machine; from the second block on, measured times replace it.
    """
    seconds = 0.15 * cell.heap_bytes / 2**30
    if cell.use.backend:  # to start and to warm up: 4 s of a program, 24 s of one that compiles itself
        seconds += 14.0
    agent = None if cell.is_baseline else config
    return seconds + declaration_of(part.parameters).trial_seconds(part.parameters, agent)
