"""The search for the highest complete rate, by real trials of a stand-in that loses records above a rate."""

import random
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.results.trials import ledger, record
from tests.run.stand_ins import configuration, experiment, fake_equipment, new_run
from tracetax.analysis.capacity import build_capacity, claim
from tracetax.kinds.calltree import TreeParameters
from tracetax.kinds.requests import RequestParameters, Weighted
from tracetax.ledger import Ledger
from tracetax.model import BASELINE, FULL, Delivery, Part, Rate, Search
from tracetax.results.capacity import CapacityFinding, CapacityTrial, CountsAs, looks, trials_of
from tracetax.results.folder import RunFolder
from tracetax.results.records import Cell, Disturbance, Durations, Moments, TrialRecord
from tracetax.run import capacity
from tracetax.run.capacity import CapacitySearch, at_rate, next_step
from tracetax.run.equipment import Equipment
from tracetax.service import Objective
from tracetax.statistics.threshold import Look, share_at_most

QUICK = Search(seconds=0.2, lowest=100.0, resolution=0.5, further=1)


class Watcher:
    """Remembers what it is told; interrupts where asked."""

    def __init__(self, interrupt_at: int = 0) -> None:
        self.steps: list[str] = []
        self.notes: list[str] = []
        self.left: list[float] = []
        self._interrupt_at = interrupt_at

    def step(self, what: str, place: int, trials: int, seconds_left: float) -> None:
        self.steps.append(what)
        self.left.append(seconds_left)
        if len(self.steps) == self._interrupt_at:
            raise KeyboardInterrupt

    def state(self, text: str) -> None: ...

    def done(self, record: TrialRecord, logs: str) -> None: ...

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture(autouse=True)
def _few_calls(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setattr("tracetax.kinds.calltree.CALLS_AT_FULL_SPEED", 200)
    monkeypatch.setattr("tracetax.results.capacity.MADE", 0.0)  # of 0.2 s a busy machine takes more than 5 %


def searched(
    path: Path, sink: Path, name: str, *flags: str, watcher: Watcher | None = None, budget: float = 300.0
) -> tuple[CapacityFinding, RunFolder, bool]:
    config = configuration(name, Delivery.LOSSY, flags)
    what = experiment(config)
    equipment: Equipment = fake_equipment(sink, config)
    if (path / "manifest.json").exists():
        folder = RunFolder(path)
    else:
        folder = new_run(path, what, config)
        folder.write_manifest(replace(folder.manifest, search=QUICK))
    interrupted = CapacitySearch(what.parts, QUICK, budget, equipment, folder, watcher or Watcher()).run()
    (found,) = build_capacity(folder).configurations
    return found, folder, interrupted


def test_what_is_complete_at_full_speed_needs_no_search(tmp_path: Path, sink_binary: Path) -> None:
    found, folder, _ = searched(tmp_path / "r", sink_binary, "flat")
    assert (found.outcome, found.incomplete_at, found.confirmed) == ("full-speed", None, True)
    assert found.complete_at and found.complete_at.trials == len(folder.records()) == 2
    assert "There is nothing to search for." in found.text


def test_the_bracket_holds_the_rate_from_which_records_are_lost(tmp_path: Path, sink_binary: Path) -> None:
    found, folder, _ = searched(tmp_path / "r", sink_binary, "loses-above", "-Dabove=450")
    assert found.outcome == "bracket"
    assert found.complete_at and found.incomplete_at
    low, high = float(found.complete_at.rate), float(found.incomplete_at.rate)
    assert low <= 450 < high <= 1.5 * low
    assert found.complete_at.complete == found.complete_at.trials == 2
    assert found.incomplete_at.complete == 0
    assert found.loss_at_most == pytest.approx(0.975)
    assert len(found.trials) == len(folder.records())
    assert found.trials[0].rate == FULL


def test_what_loses_even_at_the_lowest_rate_is_told(tmp_path: Path, sink_binary: Path) -> None:
    found, _, _ = searched(tmp_path / "r", sink_binary, "loses-above", "-Dabove=0")
    assert (found.outcome, found.complete_at) == ("none-complete", None)
    assert "even at 100 calls/s" in found.text


def test_trials_that_fail_end_the_search(tmp_path: Path, sink_binary: Path) -> None:
    found, folder, _ = searched(tmp_path / "r", sink_binary, "crash-before-main")
    assert (found.outcome, len(folder.records())) == ("failed", 2)


def test_an_interrupted_search_keeps_its_trials_and_goes_on_where_it_was(tmp_path: Path, sink_binary: Path) -> None:
    found, folder, interrupted = searched(
        tmp_path / "r", sink_binary, "loses-above", "-Dabove=450", watcher=Watcher(interrupt_at=4)
    )
    assert interrupted
    assert (found.outcome, len(found.trials)) == ("unfinished", 3)
    before = folder.records()
    found, folder, interrupted = searched(tmp_path / "r", sink_binary, "loses-above", "-Dabove=450")
    assert not interrupted
    assert folder.records()[:3] == before
    assert found.outcome == "bracket"


def test_a_spent_budget_ends_the_search_after_its_first_trial(tmp_path: Path, sink_binary: Path) -> None:
    watcher = Watcher()
    found, folder, _ = searched(tmp_path / "r", sink_binary, "loses-above", "-Dabove=450", watcher=watcher, budget=0.01)
    assert (found.outcome, found.confirmed, len(folder.records())) == ("unfinished", False, 1)
    assert "budget" in watcher.notes[0]


def test_the_budget_is_shared_equally_by_what_is_still_to_be_searched(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares: list[tuple[str, float, int]] = []

    def search(_: CapacitySearch, part: Part, ends_at: float, later: int) -> None:
        shares.append((part.name, ends_at, later))

    config = configuration("flat")
    what = experiment(config)
    parts = tuple(replace(what.parts[0], name=name) for name in ("a", "b", "c"))
    folder = new_run(tmp_path / "r", replace(what, parts=parts), config)
    monkeypatch.setattr(capacity.time, "monotonic", lambda: 1_000.0)
    monkeypatch.setattr(CapacitySearch, "_search", search)
    CapacitySearch(parts, QUICK, 90.0, fake_equipment(sink_binary, config), folder, Watcher()).run()
    assert shares == [("a", 1_030.0, 2), ("b", 1_045.0, 1), ("c", 1_090.0, 0)]


def test_a_trial_that_was_disturbed_and_lost_is_made_again() -> None:
    def trial(number: int, counts: str) -> CapacityTrial:
        return CapacityTrial(number, 1_000.0, 1_000.0, counts, 10, 9, 0)  # pyright: ignore[reportArgumentType]

    full = CapacityTrial(1, FULL, 9_000.0, "incomplete", 10, 1, 0)
    again = next_step([full, trial(2, "disturbed")], QUICK)
    assert again.rate == next_step([full], QUICK).rate
    assert next_step([full, trial(2, "incomplete")], QUICK).rate == 500.0


def simulated(loss: float, draw: random.Random, *, disturbed: float = 0.0, failing: float = 0.0) -> list[CapacityTrial]:
    """The trials of a search over a configuration that loses records in this share of trials at every rate."""
    trials: list[CapacityTrial] = []
    set_aside: set[Rate] = set()
    while (rate := next_step(trials, Search()).rate) is not None:
        counts: CountsAs = "incomplete" if draw.random() < loss else "complete"
        if draw.random() < failing:
            counts = "failed"
        elif counts == "incomplete" and rate not in set_aside and draw.random() < disturbed:
            counts = "disturbed"
            set_aside.add(rate)
        made = 200_000.0 if rate == FULL else rate
        trials.append(CapacityTrial(len(trials) + 1, rate, made, counts, 1_000, 100, 0))
    return trials


@pytest.mark.parametrize(
    ("loss", "disturbed", "failing"), [(0.47, 0.0, 0.0), (0.5, 0.0, 0.0), (0.6, 0.0, 0.0), (0.5, 0.3, 0.02)]
)
def test_whatever_loses_more_than_the_bound_is_seldom_claimed_to_lose_less(
    loss: float, disturbed: float, failing: float
) -> None:
    """Of 300 searches each; half of them and more ended with the claim while each candidate was judged by itself."""
    draw = random.Random(f"{loss}/{disturbed}")
    claims = [claim(simulated(loss, draw, disturbed=disturbed, failing=failing), Search()) for _ in range(300)]
    wrong = sum(found is not None and found.confirmed and found.loss_at_most <= loss for found in claims)
    assert wrong <= 0.05 * len(claims) + 11  # three standard errors of a true 5 %


def test_trials_set_aside_or_failed_at_the_lower_rate_count_as_lost_in_what_is_claimed() -> None:
    def trial(number: int, rate: Rate, counts: CountsAs) -> CapacityTrial:
        return CapacityTrial(number, rate, 9_000.0 if rate == FULL else rate, counts, 10, 9, 0)

    counts: tuple[CountsAs, ...] = ("complete", "disturbed", "complete", "failed")
    counts += ("complete",) * 5
    trials = [trial(1, FULL, "incomplete"), trial(2, 1_090.0, "incomplete")]
    trials += [trial(3 + place, 1_000.0, one) for place, one in enumerate(counts)]
    claimed = claim(trials, Search())
    assert claimed and claimed.confirmed
    assert (claimed.candidate, claimed.set_aside, claimed.failed) == (1, 1, 1)
    assert claimed.loss_at_most == share_at_most(held=6, lost=2) > share_at_most(held=6)


def test_full_speed_that_failed_after_it_had_held_was_the_first_candidate() -> None:
    trials = [
        CapacityTrial(1, FULL, 9_000.0, "complete", 10, 10, 0),
        CapacityTrial(2, FULL, 9_000.0, "incomplete", 10, 9, 0),
        CapacityTrial(3, 5_000.0, 5_000.0, "complete", 10, 10, 0),
    ]
    claimed = claim(trials, Search())
    assert claimed and (claimed.candidate, claimed.confirmed) == (2, False)


def test_a_rate_that_the_caller_does_not_make_is_no_lower_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetax.results.capacity.MADE", 0.95)

    def at(number: int, rate: Rate, made: float, **changes: Any) -> TrialRecord:
        moments = Moments(spawned=1, first_call=10**9, last_call=10**9 + round(1_000 * 10**9 / made))
        return record(number, parameters=TreeParameters(calls=1_000, depth=10, rate=rate), moments=moments, **changes)

    records = [
        at(1, FULL, made=10_000.0, ledger=ledger(10_000, 9_000)),
        at(2, 9_000.0, made=8_000.0),
        at(3, 8_000.0, made=7_900.0),
        at(4, 20_000.0, made=20_000.0, role="baseline-1"),
    ]
    trials = trials_of(records, "p", Search())
    assert [trial.counts for trial in trials] == ["incomplete", "not-made", "complete"]
    assert looks(trials) == [Look(9_000.0, held=False), Look(8_000.0, held=True)]
    busy = Disturbance(steal=1.0, other_cpu=0.0, tool_cpu=0.0, sink_cpu_ns=0, pressure_cpu_avg10=0.0, disturbed=True)
    first, again = replace(records[1], disturbance=busy), replace(records[1], number=5, disturbance=busy)
    assert [trial.counts for trial in trials_of([first, again], "p", Search())] == ["disturbed", "not-made"]
    folder = new_run(tmp_path / "r", experiment(configuration("flat")), configuration("flat"))
    for one in records:
        folder.scratch(one.number)
        folder.keep_trial(one)
    (found,) = build_capacity(folder).configurations
    assert found.outcome == "unfinished"
    assert "the caller itself falls behind, making 8,000" in found.text


def test_a_caller_that_makes_not_even_the_lowest_rate_has_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracetax.results.capacity.MADE", 0.95)
    folder = new_run(tmp_path / "r", experiment(configuration("flat")), configuration("flat"))
    tried: tuple[tuple[int, Rate, int], ...] = ((1, FULL, 1), (2, Search().lowest, 20))
    for number, rate, seconds in tried:
        moments = Moments(spawned=1, first_call=10**9, last_call=10**9 + seconds * 10**9)
        came = ledger(10_000, 9_000 if rate == FULL else 10_000)
        one = record(number, parameters=TreeParameters(calls=100, depth=10, rate=rate), moments=moments, ledger=came)
        folder.scratch(one.number)
        folder.keep_trial(one)
    (found,) = build_capacity(folder).configurations
    assert (found.outcome, found.complete_at) == ("none-made", None)
    assert "falls behind, making 5.00 in the mean" in found.text
    assert "loses" not in found.text


def test_a_trial_calls_for_as_long_as_was_asked() -> None:
    part: Part = experiment(configuration("flat")).parts[0]
    assert at_rate(part, 1_500.0, Search(seconds=4.0)).parameters == TreeParameters(calls=6_000, depth=3, rate=1_500.0)


def answering(number: int, rate: Rate, p99_ms: float) -> TrialRecord:
    """A good trial of a service at a rate, whose p99 was so long."""
    calls = 1_000
    lasted = round(calls / (100.0 if rate == FULL else float(rate)) * 1e9)
    times = Durations(mean=1e6, median=1e6, p90=2e6, p99=p99_ms * 1e6, p999=9e8, max=9e8, count=calls)
    return TrialRecord(
        number=number,
        block=number,
        block_size=1,
        cell=Cell(part="p", use=BASELINE, heap_bytes=0),
        parameters=RequestParameters(calls=calls, rate=rate, mix=(Weighted("one", 1),), learned=()),
        attempt=1,
        status="ok",
        verdicts=(),
        command=(),
        environment={},
        started_at="2026-01-01T00:00:00+00:00",
        moments=Moments(spawned=1, first_call=1, last_call=1 + lasted),
        ledger=Ledger(expected=0, received=0, dropped_reported=0, expected_trees=0),
        response=None if rate == FULL else times,
    )


def test_an_objective_is_searched_for_by_response_times() -> None:
    objective = Objective("p99", 50_000_000, "p99 < 50 ms")
    records = [answering(1, FULL, 0.0), answering(2, 90.0, 60.0), answering(3, 45.0, 49.0), answering(4, 45.0, 50.0)]
    trials = trials_of(records, "p", Search(objective=objective))
    assert [trial.counts for trial in trials] == ["incomplete", "incomplete", "complete", "incomplete"]


def test_the_search_ends_beside_the_rate_at_which_an_objective_breaks() -> None:
    search = Search(objective=Objective("p99", 50_000_000, "p99 < 50 ms"))
    records = [answering(1, FULL, 0.0)]
    while (rate := next_step(trials_of(records, "p", search), search).rate) is not None:
        assert len(records) < 60
        records.append(answering(len(records) + 1, rate, 40.0 if rate != FULL and float(rate) <= 70.0 else 60.0))
    held = [float(one.parameters.rate) for one in records[1:] if one.response and one.response.p99 < 50e6]
    broken = [float(one.parameters.rate) for one in records[1:] if one.response and one.response.p99 > 50e6]
    assert max(held) <= 70.0 < min(broken)
    assert min(broken) <= max(held) * (1 + search.resolution) * 1.005
