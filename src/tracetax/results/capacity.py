"""``capacity.json``: up to which rate each configuration delivers every record, and the trials that show it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from tracetax.model import FULL, Rate, Search, Settings
from tracetax.program import RuntimeVersion
from tracetax.results.earlier import Java, JvmSettings, upgraded_capacity
from tracetax.results.folder import disk_errors, read_upgraded, write_json
from tracetax.results.records import TrialRecord
from tracetax.statistics.intervals import Estimate
from tracetax.statistics.threshold import Bracket, Look

SCHEMA_VERSION = 2
FILE = "capacity.json"
FIELDS = {"median": "median", "p90": "p90", "p99": "p99", "p99_9": "p999"}
"""Quantiles of an objective, as a trial's durations have them."""
TRIES = 2
"""A rate at which so many trials in a row fail ends the search of its configuration."""
MADE = 0.95
"""The share of the rate asked for that the caller must make, for a trial to say anything about that rate."""

CapacityOutcome = Literal["bracket", "full-speed", "none-complete", "none-made", "unfinished", "failed"]
"""``full-speed``: complete back to back as well; ``none-complete``: incomplete even at the lowest rate; ``none-made``:
the caller makes not even that one; ``unfinished``: the budget ended, or the user did."""

CountsAs = Literal["complete", "incomplete", "not-made", "disturbed", "failed"]
"""What a trial says. ``not-made``: all arrived, but the caller made fewer calls per second than were asked for;
``disturbed``: incomplete or not made while others used the machine, so repeated once; ``failed``: no result."""


class CapacityTrial(Struct, frozen=True):
    """One trial of the search."""

    number: int
    rate: Rate
    """Calls per second that were asked for."""
    offered: float
    """Calls per second that were made."""
    counts: CountsAs
    expected: int
    received: int
    dropped_reported: int
    cores: float | None = None
    """Cores that the workload's processes used from the first call to the last; None where that is not known."""


class RateAtUsage(Struct, frozen=True):
    """The rate at which a service uses so much CPU, by the trials near it; calls per second."""

    rate: Estimate
    """Each trial's rate, times what was asked for over what it used: mean over fresh starts with its 95 % interval."""
    at: float
    """The rate of these trials."""
    cores: float
    """Cores that were used at it, mean."""
    ratio: Estimate | None = None
    """To the rate without an agent, paired by the rounds of the search; None of the baseline, or without pairs."""


class CapacityEnd(Struct, frozen=True):
    """One end of a bracket."""

    rate: Rate
    records_per_second: float
    trials: int
    complete: int
    not_made: int = 0
    """Trials in which all arrived, but the caller made fewer calls per second."""
    offered: float = 0.0
    """Calls per second that were made in the mean."""
    set_aside: int = 0
    """Further trials that were incomplete or not made while others used the machine."""
    failed: int = 0
    """Further trials without a result."""

    @property
    def lossy(self) -> int:
        """Trials in which records were missing."""
        return self.trials - self.complete - self.not_made


class CapacityFinding(Struct, frozen=True):
    """Up to which rate one configuration delivers every record. Rates are calls per second, all threads together."""

    part: str
    agent: str
    agent_name: str
    version: str
    artifact_sha256: str
    configuration: str
    title: str
    delivery: str
    depth: int
    threads: int
    jvm: JvmSettings | None
    """Older name of ``settings`` where they are those of a Java."""
    java: Java | None
    """Older name of ``ran_on`` where that is a Java."""
    outcome: CapacityOutcome
    complete_at: CapacityEnd | None
    """The highest rate at which every trial was complete, below every rate at which one was not."""
    incomplete_at: CapacityEnd | None
    """The lowest rate at which a trial was not complete, or the caller did not make it."""
    confirmed: bool
    """Whether each end was tried as often as was asked."""
    loss_at_most: float | None
    """Upper end of the one-sided interval of the share of trials at ``complete_at`` that are not complete. Those that
    were set aside or failed count as such, and the bounds of all candidates hold together with 95 % confidence."""
    hidden_per_second: float | None
    """Calls per second beyond what it carries that its queue can take in for the length of a trial, unseen."""
    text: str
    trials: tuple[CapacityTrial, ...]
    candidate: int = 1
    """Which of the rates ``complete_at`` is that were tried again after they had held, from 1: the others failed."""
    settings: Settings = {}
    """What was set of the runtime, sizes in bytes."""
    ran_on: RuntimeVersion | None = None
    """The version of the runtime that its trials ran on."""
    at_usage: RateAtUsage | None = None
    """Of a search for a use of CPU: its answer."""


class Capacity(Struct, frozen=True):
    """The whole file."""

    schema_version: int
    tool_version: str
    command: tuple[str, ...]
    started_at: str
    machine: dict[str, Any]
    search: Search
    configurations: tuple[CapacityFinding, ...]


class SearchStep(Struct, frozen=True):
    """What to do next for one configuration."""

    rate: Rate | None
    """None where its search has ended."""
    left: int
    """Trials that are still needed, about."""
    bracket: Bracket | None = None


def offered(record: TrialRecord) -> float:
    """Calls per second that a good trial really made."""
    return record.parameters.calls / ((record.moments.last_call - record.moments.first_call) / 1e9)


def cores_used(record: TrialRecord) -> float | None:
    """Cores that the processes of a good trial's workload used from the first call to the last."""
    if record.cpu is None:
        return None
    return record.cpu.to_last_call.total / (record.moments.last_call - record.moments.first_call)


def trials_of(records: Iterable[TrialRecord], part: str, search: Search) -> list[CapacityTrial]:
    """The trials of one configuration in order, judged by what ``search`` looks for: records, response times or CPU.

    A trial that was incomplete or not made while others used the machine is set aside once for each rate: the next
    one counts. Where CPU is looked for, each trial that others disturbed is.
    """
    trials: list[CapacityTrial] = []
    disturbed: set[Rate] = set()
    for record in sorted(records, key=lambda record: record.number):
        if (record.cell.part, record.cell.role) != (part, "configuration"):
            continue
        rate = record.parameters.rate
        held = _held(record, search)
        counts: CountsAs
        if record.status == "failed" or record.ledger is None:
            counts = "failed"
        elif (shown := held and (rate == FULL or offered(record) >= MADE * rate)) and not search.usage:
            counts = "complete"
        elif record.disturbance and record.disturbance.disturbed and rate not in disturbed:
            counts = "disturbed"
            disturbed.add(rate)
        elif shown:
            counts = "complete"
        else:
            counts = "not-made" if held else "incomplete"
        ledger = record.ledger if counts != "failed" else None
        trials.append(
            CapacityTrial(
                number=record.number,
                rate=rate,
                offered=offered(record) if ledger else 0.0,
                counts=counts,
                expected=ledger.expected if ledger else 0,
                received=ledger.received if ledger else 0,
                dropped_reported=ledger.dropped_reported if ledger else 0,
                cores=cores_used(record) if ledger else None,
            )
        )
    return trials


def _held(record: TrialRecord, search: Search) -> bool:
    """Whether a good trial shows what is looked for; back to back no request is due, so no objective is kept.

    Of CPU each trial shows something: how much it used.
    """
    if search.usage:
        return True
    if search.objective is None:
        return record.ledger is not None and record.ledger.complete
    times = record.response
    return times is not None and getattr(times, FIELDS[search.objective.quantile]) < search.objective.limit_ns


def judged(trials: Iterable[CapacityTrial]) -> list[CapacityTrial]:
    """The trials that say something about their rate."""
    return [trial for trial in trials if trial.counts in ("complete", "incomplete", "not-made")]


def full_speed(trials: Iterable[CapacityTrial]) -> list[CapacityTrial]:
    """The judged trials that issued their calls back to back."""
    return [trial for trial in judged(trials) if trial.rate == FULL]


def candidate_at_full(trials: Iterable[CapacityTrial]) -> bool:
    """Whether full speed was complete at first, and so was the first candidate for the answer."""
    return [trial.counts for trial in full_speed(trials)][:1] == ["complete"]


def looks(trials: Iterable[CapacityTrial]) -> list[Look]:
    """The judged trials at a rate. One that was not made does not hold: nothing was shown there."""
    return [
        Look(rate=float(trial.rate), held=trial.counts == "complete") for trial in judged(trials) if trial.rate != FULL
    ]


def given_up(trials: Sequence[CapacityTrial]) -> bool:
    """Whether so many have failed in a row that the search of their configuration has ended."""
    return [trial.counts for trial in trials[-TRIES:]] == ["failed"] * TRIES


def write_capacity(run: Path, capacity: Capacity) -> Path:
    """Write the file into a run's folder, and return its path."""
    with disk_errors(run):
        write_json(run / FILE, capacity, indent=True)
    return run / FILE


def read_capacity(run: Path) -> Capacity:
    """Read the file. Raises UserError."""
    return read_upgraded(run / FILE, Capacity, upgraded_capacity)
