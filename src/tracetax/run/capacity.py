"""The search for the highest rate at which a configuration delivers every record: one fresh trial after the other."""

import time
from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from tracetax.errors import UserError
from tracetax.kinds import declaration_of
from tracetax.model import FULL, Configuration, Delivery, Part, Rate, Search
from tracetax.results.capacity import (
    CapacityTrial,
    SearchStep,
    candidate_at_full,
    full_speed,
    given_up,
    looks,
    trials_of,
)
from tracetax.results.folder import RunFolder
from tracetax.results.records import Cell, TrialRecord
from tracetax.results.usage import next_at_usage
from tracetax.run.equipment import Equipment
from tracetax.run.plan import TrialPlan, Turn, expected_seconds, heap_for
from tracetax.run.trial import run_trial
from tracetax.signals import undivided
from tracetax.statistics.threshold import Goal, bracket

USUAL_TRIALS = 24
"""What a search takes, for the time left before there is a bracket."""


class SearchProgress(Protocol):
    """Who is told how the search goes."""

    def step(self, what: str, place: int, trials: int, seconds_left: float) -> None:
        """Trial number ``place`` of about ``trials`` begins."""

    def state(self, text: str) -> None:
        """What the trial is doing."""

    def done(self, record: TrialRecord, logs: str) -> None:
        """A trial has ended."""

    def note(self, text: str) -> None:
        """Something that the user should read now."""


def next_step(trials: list[CapacityTrial], search: Search) -> SearchStep:
    """The next rate to try; full speed comes first, because what is complete there needs no search."""
    if given_up(trials):
        return SearchStep(rate=None, left=0)
    at_full = full_speed(trials)
    failed = [trial for trial in at_full if trial.counts == "incomplete"]
    if not failed:
        missing = 1 + search.further - len(at_full)
        return SearchStep(rate=FULL if missing else None, left=missing if at_full else USUAL_TRIALS)
    goal = replace(goal_of(failed[0], search), given_up=int(candidate_at_full(trials)))
    following = bracket(looks(trials), goal)
    return SearchStep(rate=following.next, left=following.left, bracket=following)


def goal_of(failed: CapacityTrial, search: Search) -> Goal:
    """Where to look, after a trial at full speed that was not complete: from the share that it delivered."""
    share = failed.received / failed.expected if failed.expected else float(search.of_service)
    highest = max(failed.offered, search.lowest * 2)
    start = min(max(highest * share, search.lowest), highest / (1 + search.resolution))
    return Goal(
        lowest=search.lowest, highest=highest, start=start, resolution=search.resolution, further=search.further
    )


def at_rate(part: Part, rate: Rate, search: Search) -> Part:
    """The part with the calls of one trial at a rate. Raises UserError where its kind has no rate to search for."""
    parameters = declaration_of(part.parameters).at_rate(part.parameters, rate, search.seconds)
    if parameters is None:
        kind = part.parameters.kind
        raise UserError(f'{part.title}: workloads of the kind "{kind}" have no rate whose limit could be searched for.')
    return replace(part, parameters=parameters)


class CapacitySearch:
    """Searches part after part, each of which has one configuration; what the folder holds already counts."""

    def __init__(
        self,
        parts: tuple[Part, ...],
        search: Search,
        budget_seconds: float,
        equipment: Equipment,
        folder: RunFolder,
        progress: SearchProgress,
        concluded: Callable[[], None] = lambda: None,
    ) -> None:
        """``concluded`` is called after every trial, so that what was found is on disk at any moment."""
        self.parts = parts
        self.search = search
        self.equipment = equipment
        self.folder = folder
        self.progress = progress
        self.concluded = concluded
        self.records = folder.records()
        self.ends_at = time.monotonic() + budget_seconds
        self.spent: list[float] = []
        self.failed_trials: list[int] = []
        """Those of this session, whether or not another one took their place."""

    def run(self) -> bool:
        """Search until every part has its answer or the budget is spent; whether an interrupt ended it."""
        try:
            waiting = [part for part in self.parts if self._next(part).rate is not None]
            if self.search.usage:
                self._in_rounds(waiting)
                return False
            for place, part in enumerate(waiting):
                later = len(waiting) - place - 1
                share = max(0.0, self.ends_at - time.monotonic()) / (later + 1)
                self._search(part, time.monotonic() + share, later)
        except KeyboardInterrupt:
            with undivided():
                self.folder.discard_unfinished()
            return True
        return False

    def _search(self, part: Part, ends_at: float, later: int) -> None:
        """Search one part within its share of the budget; ``later`` parts follow it."""
        place = 0
        while (step := self._next(part)).rate is not None:
            seconds = self._seconds(part, step.rate)
            if place and time.monotonic() + seconds > ends_at:
                self.progress.note(f"{part.title}: its share of the budget is spent before the search has ended.")
                return
            place += 1
            left = min(seconds * (step.left + later * USUAL_TRIALS), self.ends_at - time.monotonic())
            self._at(part, step.rate, place, step.left, left)

    def _in_rounds(self, waiting: list[Part]) -> None:
        """Make a trial of each part in turn, so that parts can be compared by what they met in a round."""
        while waiting:
            still: list[Part] = []
            for place, part in enumerate(waiting):
                step = self._next(part)
                if step.rate is None:
                    continue
                still.append(part)
                seconds = self._seconds(part, step.rate)
                if self.spent and time.monotonic() + seconds > self.ends_at:
                    self.progress.note("The budget is spent before the search has ended.")
                    return
                left = min(seconds * step.left * (len(waiting) - place), self.ends_at - time.monotonic())
                self._at(part, step.rate, len(trials_of(self.records, part.name, self.search)) + 1, step.left, left)
            waiting = still

    def _at(self, part: Part, rate: Rate, place: int, trials_left: int, seconds_left: float) -> None:
        """Make one trial of a part at a rate: its number ``place`` of about as many as that and those left."""
        words = "full speed" if rate == FULL else f"{rate:,g} {declaration_of(part.parameters).noun}s/s"
        self.progress.step(f"{part.title} · {words}", place, place + trials_left - 1, seconds_left)
        self._trial(at_rate(part, rate, self.search))
        self.concluded()

    def _next(self, part: Part) -> SearchStep:
        trials = trials_of(self.records, part.name, self.search)
        return next_at_usage(trials, self.search) if self.search.usage else next_step(trials, self.search)

    def _trial(self, part: Part) -> None:
        begun = time.monotonic()
        (use,) = part.uses
        config = self._configuration(part)
        cell = Cell(part=part.name, use=use, heap_bytes=heap_for(config, part))
        number = self.folder.next_number()
        plan = TrialPlan(number=number, turn=Turn(block=number, block_size=1, cell=cell), part=part, config=config)
        record = run_trial(plan, self.equipment.of(part), self.folder, self.progress.state)
        self.records.append(record)
        if record.status == "failed":
            self.failed_trials.append(number)
        self.spent.append(time.monotonic() - begun)
        self.progress.done(record, str(self.folder.path / "logs" / f"{number:04d}"))

    def _configuration(self, part: Part) -> Configuration:
        """That of a part. Where a service is asked about, its records are sent and not waited for."""
        (use,) = part.uses
        config = self.equipment.of(part).configuration(use.agent, use.configuration)
        return replace(config, delivery=Delivery.NONE) if self.search.of_service else config

    def _seconds(self, part: Part, rate: Rate) -> float:
        """How long the next trial takes: as those before it, or a first guess."""
        if self.spent:
            return sum(self.spent) / len(self.spent)
        part = at_rate(part, rate, self.search)
        (use,) = part.uses
        config = self._configuration(part)
        cell = Cell(part=part.name, use=use, heap_bytes=heap_for(config, part))
        return expected_seconds(cell, part, config)
