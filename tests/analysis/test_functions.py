"""The parts of a cold start add up to the whole, whatever a host tells and in which order."""

import pytest
from msgspec.structs import replace

from tests.functions.trials import COLD, WARM
from tracetax.analysis.functions import PARTS, part_of_start, price
from tracetax.model import Use
from tracetax.results.records import Cell, Durations, Moments, TrialRecord

MS = 1_000_000
TRIAL = TrialRecord(
    number=1, block=1, block_size=1, cell=Cell("p", Use("fake", "sent"), 0), parameters=COLD, attempt=1, status="ok",
    verdicts=(), command=(), environment={}, started_at="", moments=Moments(spawned=5 * MS, first_monitored=305 * MS),
    marks={"runtime": 25 * MS, "agent": 105 * MS, "imported": 205 * MS, "first-begin": 265 * MS, "first-end": 300 * MS},
)  # fmt: skip


def parts(trial: TrialRecord) -> list[float | None]:
    return [None if (ns := part_of_start(name)(trial)) is None else ns / MS for name in PARTS]


def test_each_part_begins_where_the_one_before_ends() -> None:
    assert parts(TRIAL) == [20, 80, 100, 60, 40]


def test_without_an_agent_its_set_up_takes_no_time() -> None:
    marks = {name: at for name, at in TRIAL.marks.items() if name != "agent"}
    assert parts(replace(TRIAL, marks=marks)) == [20, 0, 180, 60, 40]


def test_an_agent_that_imports_the_function_has_that_in_its_set_up() -> None:
    late = replace(TRIAL, marks={**TRIAL.marks, "agent": 225 * MS})
    assert parts(late) == [20, 200, 0, 40, 40]
    assert sum(part or 0 for part in parts(late)) == 300


def test_behind_a_moment_that_is_missing_no_part_is_known() -> None:
    marks = {name: at for name, at in TRIAL.marks.items() if name != "imported"}
    assert parts(replace(TRIAL, marks=marks)) == [20, 80, None, None, None]


def test_of_a_warm_trial_no_part_is_known() -> None:
    assert parts(replace(TRIAL, parameters=WARM)) == [None] * 5


def test_money_is_the_memorys_as_long_as_it_takes_and_the_invocations() -> None:
    second = Durations(mean=1e9, median=1e9, p90=1e9, p99=1e9, p999=1e9, max=1e9, count=1)
    gigabyte = replace(COLD, memory_bytes=1 << 30)
    assert price(replace(TRIAL, service=second, parameters=gigabyte)) == pytest.approx(16.6667 + 0.20)
    assert price(replace(TRIAL, service=second, parameters=COLD)) == pytest.approx(16.6667 / 4 + 0.20)
