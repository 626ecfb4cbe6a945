"""After three blocks the calls of a start are chosen, within the schedule's bounds; what chose them does not count."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import configuration, experiment
from tests.run.test_session import Watcher, session, undisturbed
from tracetax.analysis.findings import build
from tracetax.model import Experiment, heap_of
from tracetax.results.blocks import paired, service_mean, whole_blocks
from tracetax.results.records import Cell

__all__ = ["undisturbed"]
FLAT, OTHER = configuration("flat"), configuration("warming-up")


def bounded(what: Experiment, most: int | None) -> Experiment:
    """Five blocks, and up to so many calls in a start of 1,000."""
    part = what.parts[0]
    part = replace(part, parameters=replace(part.parameters, calls=1_000))
    wide = replace(what.schedule, min_blocks=4, max_blocks=5, half_width_ratio=50.0, starts=0, max_calls=most)
    return replace(what, parts=(part,), schedule=wide)


@pytest.fixture
def longer_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    def best(of: object, calls: int, least: int, most: int, starts: int) -> int:
        return most

    monkeypatch.setattr("tracetax.run.pilot.best_calls", best)


@pytest.mark.usefixtures("longer_is_better")
def test_its_first_blocks_do_not_count_and_are_made_up_for(tmp_path: Path, sink_binary: Path) -> None:
    watcher = Watcher()
    what = bounded(experiment(FLAT), most=2_000)
    ended, folder = session(tmp_path / "r", sink_binary, what, (FLAT,), watcher)
    assert ended.parts == {"p": "settled"}
    calls = {r.block: r.parameters.calls for r in folder.records() if r.cell.use.configuration == "flat"}
    assert calls == {1: 1_000, 2: 1_000, 3: 1_000, 4: 2_000, 5: 2_000, 6: 2_000, 7: 2_000}
    assert {r.parameters.calls for r in folder.records() if r.cell.use.configuration == "baseline"} == {1_000}
    use, heap = what.parts[0].uses[0], heap_of(what.parts[0].settings)
    assert paired(whole_blocks(folder.records()), Cell("p", use, heap), service_mean).blocks == (4, 5, 6, 7)
    assert watcher.notes == [
        "After 3 blocks the calls of a start are chosen anew where that buys narrower intervals in the same time: "
        "fake flat 2,000 instead of 1,000. Their first 3 blocks do not count."
    ]
    (row,) = [row for row in build(folder).configurations if row.configuration == "flat"]
    assert (row.parameters.calls, row.records.blocks, row.records.expected) == (2_000, 4, 4 * 2_000 * 3)
    assert any(verdict.code == "calls-chosen" for verdict in row.verdicts)


@pytest.mark.usefixtures("longer_is_better")
def test_without_bounds_the_experiments_calls_hold(tmp_path: Path, sink_binary: Path) -> None:
    _, folder = session(tmp_path / "r", sink_binary, bounded(experiment(FLAT), most=None), (FLAT,), Watcher())
    assert {record.parameters.calls for record in folder.records()} == {1_000}
    assert folder.manifest.chosen_calls == ()


@pytest.mark.usefixtures("longer_is_better")
def test_a_resumed_run_keeps_what_was_chosen(tmp_path: Path, sink_binary: Path) -> None:
    what = bounded(experiment(FLAT), most=2_000)
    ended, folder = session(tmp_path / "r", sink_binary, what, (FLAT,), Watcher(interrupt_at=11))
    assert ended.interrupted
    before = folder.manifest.chosen_calls
    assert [one.calls for one in before] == [2_000]
    watcher = Watcher()
    _, folder = session(tmp_path / "r", sink_binary, what, (FLAT,), watcher)
    assert folder.manifest.chosen_calls == before
    assert watcher.notes == []
    later = [r for r in folder.records() if r.cell.use.configuration == "flat" and r.block > 3]
    assert {record.parameters.calls for record in later} == {2_000}


def test_what_is_chosen_rests_on_the_trials_themselves(tmp_path: Path, sink_binary: Path) -> None:
    _, folder = session(tmp_path / "r", sink_binary, bounded(experiment(FLAT), most=4_000), (FLAT,), Watcher())
    (chosen,) = folder.manifest.chosen_calls
    assert chosen.instead_of == 1_000
    assert chosen.start_seconds > 0
    assert chosen.calls_seconds >= 0
    assert chosen.between < 0.01
    assert 0 <= chosen.within < 0.01
