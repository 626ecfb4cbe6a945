"""A configuration that is measured is started further, alone, to see whether a start is slow."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import RUNTIME, configuration, experiment, fake_equipment
from tests.run.test_session import Watcher, session, undisturbed
from tracetax.analysis.findings import build
from tracetax.model import Experiment, Schedule, heap_of
from tracetax.results.blocks import further_starts, whole_blocks
from tracetax.results.records import Cell
from tracetax.run.describe import estimated_seconds, plan_lines
from tracetax.statistics import stopping

__all__ = ["undisturbed"]
FLAT, OTHER = configuration("flat"), configuration("warming-up")


def quick(what: Experiment, starts: int | None) -> Experiment:
    """Two to three blocks in which every width is narrow enough, and further starts."""
    wide = replace(what.schedule, min_blocks=2, max_blocks=3, half_width_ratio=50.0, starts=starts)
    return replace(what, schedule=wide)


def test_each_is_started_alone_until_so_many_starts_are_known(tmp_path: Path, sink_binary: Path) -> None:
    watcher = Watcher()
    what = quick(experiment(FLAT, OTHER), starts=4)
    ended, folder = session(tmp_path / "r", sink_binary, what, (FLAT, OTHER), watcher)
    further = [record for record in folder.records() if record.cell.role == "further"]
    assert ended.parts == {"p": "settled"}
    assert sorted(record.cell.use.configuration for record in further) == ["flat", "flat", "warming-up", "warming-up"]
    assert {record.block for record in further} == {0}
    assert sorted(whole_blocks(folder.records())) == [1, 2]


def test_baselines_have_two_starts_in_each_block(tmp_path: Path, sink_binary: Path) -> None:
    _, folder = session(tmp_path / "r", sink_binary, quick(experiment(FLAT), starts=5), (FLAT,), Watcher())
    alone = [record.cell.use.configuration for record in folder.records() if record.cell.role == "further"]
    assert sorted(alone) == ["baseline", "flat", "flat", "flat"]


def test_where_the_number_of_blocks_is_fixed_no_start_is_added() -> None:
    assert Schedule(min_blocks=5, max_blocks=5).starts_wanted == 0
    assert Schedule().starts_wanted == 36
    assert Schedule(min_blocks=5, max_blocks=5, starts=12).starts_wanted == 12
    assert Schedule(starts=0).starts_wanted == 0


def test_a_resumed_run_makes_the_missing_ones_only(tmp_path: Path, sink_binary: Path) -> None:
    what = quick(experiment(FLAT), starts=4)
    ended, _ = session(tmp_path / "r", sink_binary, what, (FLAT,), Watcher(interrupt_at=8))
    assert ended.interrupted
    watcher = Watcher()
    _, folder = session(tmp_path / "r", sink_binary, what, (FLAT,), watcher)
    assert len(watcher.trials) == 1
    cell = Cell("p", what.parts[0].uses[0], heap_of(what.parts[0].settings))
    assert len(further_starts(folder.records(), cell).own) == 2


def test_one_that_fails_is_not_repeated_and_says_nothing(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configuration("fails-once", flags=(f"-Dmarker={tmp_path / 'marker'}",))
    what = quick(experiment(config), starts=4)
    (tmp_path / "marker").touch()
    watcher = Watcher()
    watching = watcher.trial

    def trial(slot: object, seconds_left: tuple[float, float]) -> None:
        watching(slot, seconds_left)  # pyright: ignore[reportArgumentType]
        if len(watcher.trials) == 9:  # eight are those of two blocks
            (tmp_path / "marker").unlink()

    monkeypatch.setattr(watcher, "trial", trial)
    _, folder = session(tmp_path / "r", sink_binary, what, (config,), watcher)
    further = [record for record in folder.records() if record.cell.role == "further"]
    assert [record.status for record in further].count("failed") <= 1
    assert len(further) == 2


def test_a_spent_budget_leaves_them_out_and_says_so(tmp_path: Path, sink_binary: Path) -> None:
    what = quick(experiment(FLAT), starts=400)
    what = replace(what, schedule=replace(what.schedule, budget_ns=12 * 10**9))
    watcher = Watcher()
    ended, folder = session(tmp_path / "r", sink_binary, what, (FLAT,), watcher)
    assert ended.parts["p"] in ("settled", "budget")
    assert len(folder.records()) < 100
    assert ended.parts["p"] == "budget" or any("no time for all further starts" in note for note in watcher.notes)


def test_a_slow_one_asks_for_more_blocks(tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judgement of regimes is the statistics' own; here it is told that one was slow."""
    judged = stopping.judged_overhead
    monkeypatch.setattr("tracetax.statistics.stopping.BLOCKS_WITH_REGIMES", 3)

    def one_slow(c: object, a1: object, a2: object, further: stopping.Starts) -> object:
        found = judged(c, a1, a2, further)  # pyright: ignore[reportArgumentType]
        own = replace(found.regimes.own, two=len(further.own) >= 2, fast=4, slow=3)
        return replace(found, regimes=replace(found.regimes, own=own))

    monkeypatch.setattr("tracetax.statistics.stopping.judged_overhead", one_slow)
    _, folder = session(tmp_path / "r", sink_binary, quick(experiment(FLAT), starts=4), (FLAT,), Watcher())
    assert sorted(whole_blocks(folder.records())) == [1, 2, 3]


def test_a_row_says_how_many_starts_it_rests_on_and_what_share_may_be_slow(tmp_path: Path, sink_binary: Path) -> None:
    _, folder = session(tmp_path / "r", sink_binary, quick(experiment(FLAT), starts=6), (FLAT,), Watcher())
    rows = {row.configuration: row.starts for row in build(folder).configurations}
    flat, baseline = rows["flat"], rows["baseline"]
    assert flat and baseline
    assert (flat.slow, flat.starts, flat.outside_blocks) == (0, 6, 4)
    assert flat.upper == pytest.approx(1 - 0.05 ** (1 / 6))
    assert (baseline.starts, baseline.outside_blocks) == (6, 2)


def test_fewer_than_five_starts_tell_no_slow_one(tmp_path: Path, sink_binary: Path) -> None:
    _, folder = session(tmp_path / "r", sink_binary, quick(experiment(FLAT), starts=0), (FLAT,), Watcher())
    assert {row.starts for row in build(folder).configurations} == {None}


def test_the_plan_tells_them_and_counts_their_time() -> None:
    def planned(starts: int) -> tuple[float, str]:
        what = quick(experiment(FLAT), starts)
        agents = fake_equipment(Path("sink"), FLAT).agents
        return estimated_seconds(what, agents)[0], "\n".join(plan_lines(what, agents, 1, RUNTIME))

    (without, silent), (more, told) = planned(0), planned(20)
    assert more > without
    assert "until 20 starts of it are known" in told
    assert "started alone" not in silent
