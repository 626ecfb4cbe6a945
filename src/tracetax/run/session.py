"""A run: block after block until the intervals are narrow enough, the blocks are done or the budget is spent."""

import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from tracetax.kinds import declaration_of
from tracetax.model import Configuration, Experiment, Part
from tracetax.results import blocks as arranged
from tracetax.results.folder import RunFolder
from tracetax.results.records import BASELINES, Cell, TrialRecord
from tracetax.run import judging, pilot
from tracetax.run.equipment import Equipment
from tracetax.run.plan import TrialPlan, Turn, block, cells, expected_seconds, memory_cells
from tracetax.run.progress import line_of, so_far
from tracetax.run.trial import run_trial
from tracetax.signals import undivided
from tracetax.statistics.stopping import decide

WORST_FIRST = ("failed", "interrupted", "budget", "max-blocks", "settled")
CELLS_THAT_CORRECT = 3
"""Cells that must be measured before guesses of others' lengths are corrected by theirs."""


class RunProgress(Protocol):
    """Who is told how the run goes."""

    def block(self, number: int, most: int, trials: int) -> None:
        """A block of ``trials`` trials begins; number 0 are trials outside the blocks."""

    def trial(self, turn: Turn, seconds_left: tuple[float, float]) -> None:
        """A trial begins; ``seconds_left`` is the estimate for the whole run: at least, and at most."""

    def state(self, text: str) -> None:
        """What the trial is doing."""

    def done(self, record: TrialRecord, logs: str) -> None:
        """A trial has ended."""

    def note(self, text: str) -> None:
        """Something that the user should read now."""

    def known(self, lines: Sequence[str]) -> None:
        """A block has ended: what is known of each part so far."""


class Ended(Struct, frozen=True):
    """How a run ended."""

    parts: dict[str, str]
    interrupted: bool
    failed_trials: tuple[int, ...]
    """Numbers of the trials that failed in this session; also those that a repetition made good."""


class Session:
    """Runs an experiment into a run folder, from the first block or from where an earlier session ended."""

    def __init__(self, experiment: Experiment, equipment: Equipment, folder: RunFolder, progress: RunProgress) -> None:
        """Take up the run in ``folder``: finished trials in it count."""
        self.experiment = experiment
        self.equipment = equipment
        self.folder = folder
        self.progress = progress
        self.seed = folder.manifest.seed
        self.parts = {part.name: part for part in experiment.parts}
        self.cells = cells(experiment, folder.manifest.agents)
        self.records = folder.records()
        self.started = time.monotonic()
        self.spent = defaultdict[Cell, list[float]](list)
        self.ended: dict[str, str] = {}
        self.failed: list[int] = []
        self.repeating = judging.Repeating()
        self.set_aside = self._set_aside_before()
        self.resting: set[Cell] = set()
        """Configurations that have settled: they need no further block."""
        self.forewarned: set[str] = set()
        """Parts whose users were told what the time left will buy."""
        self.calls = {(choice.part, choice.use): choice.calls for choice in folder.manifest.chosen_calls}
        """Calls of a start, where they were chosen by the first blocks."""
        self.out_of_time: set[Cell] = set()
        """Cells that were not started further because the budget was spent."""
        wanted = memory_cells(self.cells) if experiment.schedule.memory else []
        self.memory_due = [cell for cell in wanted if self._grows(cell) and not self._memory_known(cell)]

    def run(self) -> Ended:
        """Measure until every part has ended. An interrupt ends the run in order and keeps what was measured."""
        number = max((record.block for record in self.records), default=0)
        try:
            self._judge()
            self._memory()
            while (active := [cell for cell in self.cells if self._active(cell)]) or self._further():
                if active:
                    number += 1
                    self._block(block(number, active, self.seed))
                    self._tell_so_far()
                    self._choose_calls()
                self._judge()
                self._memory()
        except KeyboardInterrupt:
            with undivided():
                self.folder.discard_unfinished()
                self._close("interrupted")
            return Ended(parts=self.ended, interrupted=True, failed_trials=tuple(self.failed))
        self._close(min(self.ended.values(), key=WORST_FIRST.index))
        return Ended(parts=self.ended, interrupted=False, failed_trials=tuple(self.failed))

    def _active(self, cell: Cell) -> bool:
        """Whether a cell is still measured: its part goes on, and both baselines and configurations are there."""
        if cell.part in self.ended or cell in self.set_aside or cell in self.resting:
            return False
        family = [other for other in self.cells if (other.part, other.heap_bytes) == (cell.part, cell.heap_bytes)]
        if any(other in self.set_aside for other in family if other.role != "configuration"):
            return False
        out = self.set_aside | self.resting
        return any(other not in out for other in family if other.role == "configuration")

    def _block(self, turns: list[Turn]) -> None:
        """Measure a block; what failed or was disturbed is repeated once at its end, as long as that helps."""
        self.progress.block(turns[0].block, self.experiment.schedule.max_blocks, len(turns))
        repeats: list[Turn] = []
        for place, turn in enumerate(turns):
            record = self._trial(turn, turns[place:])
            if record.status == "failed" or (record.disturbance and record.disturbance.disturbed):
                repeats.append(replace(turn, attempt=2))
        for turn in repeats:
            if not self.repeating.helps and self._measured(turn):
                continue
            record = self._trial(turn, [])
            if record.status == "failed" and not self._measured(turn):
                self.set_aside.add(turn.cell)
                self.progress.note(f"{turn.cell.label} failed twice and is set aside; the others go on.")

    def _tell_so_far(self) -> None:
        """Say what is known of each part after the blocks so far."""
        whole = arranged.whole_blocks(self.records)
        lines: list[str] = []
        for part in self.parts.values():
            count, known = so_far(part, self.cells, whole, self.equipment.of(part).agents)
            if known:
                noun = declaration_of(part.parameters).noun
                lines.append(line_of(part.title if len(self.parts) > 1 else "", count, known, noun))
        self.progress.known(lines)

    def _choose_calls(self) -> None:
        """Once for each part, after its first blocks: the calls of a start, where the schedule leaves them open."""
        schedule, manifest = self.experiment.schedule, self.folder.manifest
        if schedule.min_calls is None and schedule.max_calls is None:
            return
        for part in self.parts.values():
            measured = self._measured_of(part)
            known = any(choice.part == part.name for choice in manifest.chosen_calls)
            if part.name in self.ended or known or measured.blocks_done < pilot.PILOT_BLOCKS:
                continue
            configs = [(cell, self._configuration(cell)) for cell in measured.cells]
            chosen = pilot.choose(part, configs, measured.blocks, self.folder, schedule)
            manifest = replace(manifest, chosen_calls=(*manifest.chosen_calls, *chosen))
            self.folder.write_manifest(manifest)
            if text := pilot.words(chosen):
                self.progress.note(text)
            for choice in (choice for choice in chosen if choice.calls != choice.instead_of):
                self.calls[choice.part, choice.use] = choice.calls
                cell = next(cell for cell in measured.cells if cell.use == choice.use)
                self.spent[cell] = [choice.start_seconds + choice.calls_seconds * choice.calls / choice.instead_of]

    def _part_of(self, cell: Cell) -> Part:
        """The part under which a trial is made, with the calls that were chosen for it."""
        part = self.parts[cell.part]
        calls = self.calls.get((cell.part, cell.use))
        if calls is None or cell.role == "memory":
            return part
        return replace(part, parameters=replace(part.parameters, calls=calls))

    def _further(self) -> bool:
        """Start once more, alone, what is measured and of which too few starts are known; whether there was any.

        It comes last, when no part wants a block: what a slow start asks for is then judged anew.
        """
        rule = judging.rule_of(self.experiment.schedule)
        due: dict[Cell, int] = {}
        for part in (part for part in self.parts.values() if self.ended.get(part.name) in ("settled", "max-blocks")):
            measured = self._measured_of(part)
            due |= judging.starts_due(measured, decide(measured.samples(), rule, measured.blocks_done, 0))
        due = {cell: starts for cell, starts in due.items() if cell not in self.out_of_time}
        self.out_of_time |= {cell for cell in due if self.estimate(cell) > self._budget_left()}
        turns = [Turn(block=0, block_size=len(due), cell=cell) for cell in due if cell not in self.out_of_time]
        if len(turns) < len(due):
            self.progress.note(judging.OUT_OF_TIME)
        if not turns:
            return False
        self.progress.block(0, self.experiment.schedule.max_blocks, len(turns))
        for place, turn in enumerate(turns):
            self._trial(turn, turns[place:])
        for part in {turn.cell.part for turn in turns}:
            del self.ended[part]
        return True

    def _measured_of(self, part: Part) -> judging.MeasuredPart:
        cells = [cell for cell in self.cells if cell not in self.set_aside]
        return judging.measured_part(self.experiment, part, cells, self.records)

    def _memory(self) -> None:
        """Measure the memory of parts that have ended, as far as the budget holds out.

        These trials belong to no block, and a failed one sets nothing aside: its row has no such numbers then.
        """
        ready = [cell for cell in self.memory_due if cell.part in self.ended and self._wants_memory(cell)]
        self.memory_due = [cell for cell in self.memory_due if cell.part not in self.ended]
        if not ready:
            return
        self.progress.block(0, self.experiment.schedule.max_blocks, len(ready))
        turns = [Turn(block=0, block_size=len(ready), cell=cell) for cell in ready]
        for place, turn in enumerate(turns):
            for attempt in range(len(self._memory_trials(turn.cell)) + 1, arranged.TRIES + 1):
                if self.estimate(turn.cell) > self._budget_left():
                    self.progress.note("The budget leaves no time to measure the memory of what remains.")
                    return
                if self._trial(replace(turn, attempt=attempt), turns[place:]).status == "ok":
                    break

    def _grows(self, cell: Cell) -> bool:
        """Whether a cell's program has a memory that can begin small."""
        return self.equipment.of(self.parts[cell.part]).runtime.grows

    def _wants_memory(self, cell: Cell) -> bool:
        """Whether there is a result beside which a cell's memory would stand."""
        aside = any(cell.playing(role) in self.set_aside for role in (*BASELINES, "configuration"))
        return not aside and self.ended[cell.part] != "failed"

    def _memory_known(self, cell: Cell) -> bool:
        """Whether a cell's memory was measured before, or could not be."""
        tried = self._memory_trials(cell)
        return len(tried) >= arranged.TRIES or any(record.status == "ok" for record in tried)

    def _memory_trials(self, cell: Cell) -> list[TrialRecord]:
        return arranged.memory_trials(self.records, cell)

    def _measured(self, turn: Turn) -> bool:
        """Whether the cell has a good trial in this block after all."""
        return any(
            record.block == turn.block and record.status == "ok" and record.cell == turn.cell for record in self.records
        )

    def _trial(self, turn: Turn, rest: list[Turn]) -> TrialRecord:
        self.progress.trial(turn, self._seconds_left(rest))
        begun = time.monotonic()
        number = self.folder.next_number()
        part = self._part_of(turn.cell)
        plan = TrialPlan(
            number=number,
            turn=turn,
            part=part,
            config=self._configuration(turn.cell),
            first=not any(record.status == "ok" and record.cell.row == turn.cell.row for record in self.records),
        )
        record = run_trial(plan, self.equipment.of(part), self.folder, self.progress.state)
        self.spent[turn.cell].append(time.monotonic() - begun)
        self.records.append(record)
        self.repeating.seen(record)
        if record.status == "failed":
            self.failed.append(record.number)
        self.progress.done(record, str(self.folder.path / "logs" / f"{number:04d}"))
        if news := self.repeating.news():
            self.progress.note(news)
        return record

    def _judge(self) -> None:
        """Decide for every part whether it goes on, and for each of its configurations whether it rests."""
        rule = judging.rule_of(self.experiment.schedule)
        going = [part for part in self.parts.values() if part.name not in self.ended]
        for part in going:
            self.resting -= {cell for cell in self.resting if cell.part == part.name}
            if not any(self._active(cell) for cell in self.cells if cell.part == part.name):
                self.ended[part.name] = "failed"
                continue
            measured = self._measured_of(part)
            done, samples = measured.blocks_done, measured.samples()
            decision = decide(samples, rule, done, 1)
            self.resting |= judging.resting(measured, decision)
            # the first block is always made, so that there is something to show
            affordable = self._affordable_blocks() if done else 1
            decision = decide(samples, rule, done, affordable)
            if decision.reason:
                self.ended[part.name] = decision.reason
            elif done >= rule.min_blocks and part.name not in self.forewarned:
                self._forewarn(judging.attainable_words(part, decision, rule, min(rule.max_blocks, done + affordable)))
                self.forewarned.add(part.name)

    def _forewarn(self, text: str) -> None:
        if text:
            self.progress.note(text)

    def estimate(self, cell: Cell) -> float:
        """Seconds that a trial of this cell takes: as measured in this session, or a guess."""
        for alike in (cell, *(cell.playing(role) for role in ("configuration", *BASELINES))):
            if measured := self.spent.get(alike):
                return sum(measured) / len(measured)
        return self._guess(cell) * self._off_by(baselines=cell.is_baseline)

    def _guess(self, cell: Cell) -> float:
        return expected_seconds(cell, self._part_of(cell), self._configuration(cell))

    def _configuration(self, cell: Cell) -> Configuration:
        equipment = self.equipment.of(self.parts[cell.part])
        return equipment.configuration(cell.use.agent, cell.use.configuration)

    def _off_by(self, *, baselines: bool) -> float:
        """How many times longer than guessed the trials of this session took; 1 before three cells are measured."""
        known = {cell: took for cell, took in self.spent.items() if took and cell.is_baseline == baselines}
        if len(known) < CELLS_THAT_CORRECT:
            return 1.0
        took = sum(sum(seconds) / len(seconds) for seconds in known.values())
        return took / sum(map(self._guess, known))

    def _block_seconds(self) -> float:
        return sum(self.estimate(cell) for cell in self.cells if self._active(cell))

    def _affordable_blocks(self) -> int:
        return max(0, int((self._budget_left() - self._memory_seconds()) // max(0.1, self._block_seconds())))

    def _budget_left(self) -> float:
        return self.experiment.schedule.budget_ns / 1e9 - (time.monotonic() - self.started)

    def _memory_seconds(self) -> float:
        return sum(self.estimate(cell) for cell in self.memory_due)

    def _seconds_left(self, rest: list[Turn]) -> tuple[float, float]:
        """Time left: what remains of this block, and the fewest and most further blocks that the schedule allows."""
        schedule = self.experiment.schedule
        further = len(arranged.whole_blocks(self.records)) + 1
        affordable = self._affordable_blocks()
        fewest, most = (max(0, min(n - further, affordable)) for n in (schedule.min_blocks, schedule.max_blocks))
        block = self._block_seconds()
        still = sum(self.estimate(turn.cell) for turn in rest) + self._memory_seconds()
        further = 0.0 if self.experiment.schedule.starts_wanted == 0 else self._further_seconds()
        ends = (still + number * block for number in (fewest, most))
        least, longest = (max(end, min(end + further, self._budget_left())) for end in ends)
        return least, longest

    def _further_seconds(self) -> float:
        """What all further starts take where no more blocks are made than at least."""
        wanted, blocks = self.experiment.schedule.starts_wanted, self.experiment.schedule.min_blocks
        missing = {"configuration": max(0, wanted - blocks), BASELINES[0]: max(0, wanted - 2 * blocks)}
        return sum(missing.get(cell.role, 0) * self.estimate(cell) for cell in self.cells)

    def _set_aside_before(self) -> set[Cell]:
        """Cells that had failed for good before this session."""
        failed = {
            cell
            for block in arranged.whole_blocks(self.records).values()
            for cell, record in block.items()
            if record.status == "failed"
        }
        return failed & set(self.cells)

    def _close(self, ending: str) -> None:
        """Write into the manifest how the run ended."""
        for part in self.parts:
            self.ended.setdefault(part, ending)
        manifest = self.folder.manifest
        last = replace(manifest.invocations[-1], ended=ending)
        self.folder.write_manifest(
            replace(manifest, invocations=(*manifest.invocations[:-1], last), part_endings=self.ended)
        )
