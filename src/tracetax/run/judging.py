"""What the stop rule is asked of a part, who rests after its answer, and whether repeating disturbed trials helps."""

from collections import deque
from collections.abc import Iterable, Sequence

from msgspec import Struct

from tracetax.model import Experiment, Part, Schedule
from tracetax.results import blocks as arranged
from tracetax.results.blocks import Blocks, charged_per_call
from tracetax.results.records import Cell, TrialRecord
from tracetax.statistics.intervals import Floats
from tracetax.statistics.overhead import differences
from tracetax.statistics.stopping import BlockValues, BuildValues, Decision, SampleProgress, StopRule

OUT_OF_TIME = (
    "The budget leaves no time for all further starts. How many starts of each are known, and what share of slow ones "
    "that leaves possible, stands beside the result."
)
TRIALS_LOOKED_AT = 20
"""Trials, repetitions included, by which it is judged whether repeating helps."""
FEWEST_TRIALS = 8
"""Trials below which repeating is taken to help."""
NEARLY_ALL = 0.9
"""Share of disturbed trials from which on repeating does not help."""
Samples = dict[str, BlockValues | BuildValues]


def rule_of(schedule: Schedule) -> StopRule:
    """What a schedule asks of each part."""
    return StopRule(
        min_blocks=schedule.min_blocks,
        max_blocks=schedule.max_blocks,
        half_width_ratio=schedule.half_width_ratio,
        half_width_ns=schedule.half_width_ns,
        starts=schedule.starts_wanted,
    )


class MeasuredPart(Struct, frozen=True):
    """A part and what was measured of it so far."""

    part: Part
    cells: tuple[Cell, ...]
    """Configurations of the part that were not set aside."""
    blocks: Blocks
    further: tuple[TrialRecord, ...]
    """Starts outside the blocks, of all parts."""
    by_cpu: bool
    """Whether CPU per record ranks."""

    @property
    def blocks_done(self) -> int:
        """Whole blocks with a trial of the part."""
        return sum(1 for block in self.blocks.values() if any(cell.part == self.part.name for cell in block))

    def samples(self) -> Samples:
        """Every configuration's values over its blocks, and every pair of builds'."""
        samples: Samples = {}
        for cell in self.cells:
            pairs = arranged.paired(self.blocks, cell, arranged.service_mean)
            if pairs.blocks:
                cpu = self._cpu(cell) if self.by_cpu else None
                samples[str(cell.use)] = BlockValues(
                    pairs.values,
                    pairs.baseline_1,
                    pairs.baseline_2,
                    cpu,
                    arranged.further_starts(self.further, cell),
                )
        cells = {cell.use: cell for cell in self.cells}
        for first, second in self.part.build_pairs:
            if {str(first), str(second)} <= samples.keys():
                values = arranged.side_by_side(self.blocks, cells[first], cells[second], arranged.service_mean)
                if len(values[0]):
                    samples[_comparison(first, second)] = BuildValues(*values)
        return samples

    def _cpu(self, cell: Cell) -> Floats | None:
        """CPU that a configuration adds per call, by block; None where it is not ranked: records promised, all here."""
        ledgers = [trial.ledger for trial in arranged.trials(self.blocks, cell)]
        if any(ledger is None or not 0 < ledger.expected <= ledger.received for ledger in ledgers):
            return None
        used = arranged.paired(self.blocks, cell, charged_per_call).known()
        return differences(used.values, used.baseline_1, used.baseline_2) if used.blocks else None


def measured_part(
    experiment: Experiment, part: Part, cells: Iterable[Cell], records: Sequence[TrialRecord]
) -> MeasuredPart:
    """What was measured of a part: ``cells`` are those that were not set aside, ``records`` all, of all parts."""
    mine = tuple(cell for cell in cells if cell.part == part.name and cell.role == "configuration")
    return MeasuredPart(
        part=part,
        cells=mine,
        blocks=arranged.whole_blocks(records),
        further=tuple(record for record in records if record.cell.role == "further"),
        by_cpu=experiment.rank_by == "cpu",
    )


def resting(of: MeasuredPart, decision: Decision) -> set[Cell]:
    """The configurations that need no further block, and are part of no comparison that does."""
    unsettled = {name for name, standing in decision.configurations.items() if standing.wants_block}
    compared = {
        use for pair in of.part.build_pairs if _comparison(*pair) in unsettled for use in pair
    }  # a comparison is measured in the same blocks
    return {
        cell
        for cell in of.cells
        if str(cell.use) in decision.configurations and str(cell.use) not in unsettled and cell.use not in compared
    }


def starts_due(of: MeasuredPart, decision: Decision) -> dict[Cell, int]:
    """How many starts alone are wanted yet, of configurations and, once for each heap, of the baseline.

    One that was made counts, whatever came of it: what fails or is disturbed is not repeated.
    """
    due: dict[Cell, int] = {}
    for cell in of.cells:
        standing = decision.configurations.get(str(cell.use))
        if standing is None:
            continue
        for alone, wanted in (
            (cell.playing("further"), standing.starts_wanted),
            (cell.baseline("further"), standing.baseline_starts_wanted),
        ):
            made = arranged.further_trials(of.further, alone)
            known = arranged.further_starts(of.further, alone).own
            wanted -= len(made) - len(known)
            if wanted > 0:
                due[alone] = max(wanted, due.get(alone, 0))
    return due


def _comparison(first: object, second: object) -> str:
    return f"{second} against {getattr(first, 'build', '')}"


def attainable_words(part: Part, decision: Decision, rule: StopRule, blocks_possible: int) -> str:
    """What the blocks that still fit will buy for those that do not get as narrow as asked; empty where all do."""
    wide = [
        _attainable(name, standing)
        for name, standing in decision.configurations.items()
        if standing.status == "open"
        and standing.attainable is not None
        and (standing.projected_blocks or 0) > blocks_possible
    ]
    if not wide:
        return ""
    asked = [f"{100 * rule.half_width_ratio:g} % of the ratio"] if rule.half_width_ratio else []
    asked += [f"{rule.half_width_ns:g} ns per call"] if rule.half_width_ns else []
    return (
        f"{part.title}: the time and blocks left will not make every interval as narrow as asked "
        f"(± {' or '.join(asked)}). Expected at the end: {_listed(wide)}. The run goes on with what is not settled."
    )


def _attainable(name: str, standing: SampleProgress) -> str:
    now, then = standing.half_width_ratio or 0.0, standing.attainable or 0.0
    return f"{name} ± {100 * then:.2g} % of its ratio (now ± {100 * now:.2g} %)"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


class Repeating:
    """Decides whether a disturbed trial is repeated: not while nearly all trials are disturbed."""

    def __init__(self) -> None:
        self._disturbed: deque[bool] = deque(maxlen=TRIALS_LOOKED_AT)
        self._told = False

    def seen(self, record: TrialRecord) -> None:
        """Take a trial into account that has just been made; a failed one tells nothing."""
        if record.disturbance:
            self._disturbed.append(record.disturbance.disturbed)

    @property
    def helps(self) -> bool:
        """Whether a repetition has a chance to be less disturbed than what it repeats."""
        seen = len(self._disturbed)
        return seen < FEWEST_TRIALS or sum(self._disturbed) < NEARLY_ALL * seen

    def news(self) -> str:
        """A sentence where the answer has changed since this was asked last; else empty."""
        if self.helps is not self._told:
            return ""
        self._told = not self.helps
        if not self._told:
            return "The machine has become quieter: disturbed trials are repeated again."
        return (
            f"{sum(self._disturbed)} of the last {len(self._disturbed)} trials were disturbed by others, so repeating "
            "them does not help: disturbed trials are not repeated any more, and count as they are."
        )
