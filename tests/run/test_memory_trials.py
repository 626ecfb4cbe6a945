"""Memory is measured in an extra trial of each configuration, after the blocks, which disturbs nothing else."""

from pathlib import Path

from msgspec.structs import replace

from tests.run.stand_ins import HEAP, RUNTIME, configuration, experiment, fake_equipment, new_run, with_schedule
from tests.run.test_session import Watcher, session, undisturbed
from tracetax.model import Configuration, Delivery
from tracetax.results.blocks import whole_blocks
from tracetax.results.folder import RunFolder
from tracetax.results.records import TrialRecord
from tracetax.run.describe import estimated_seconds, plan_lines
from tracetax.run.plan import cells, memory_cells
from tracetax.run.session import Session

__all__ = ["undisturbed"]
FLAT = configuration("flat")


def memory(folder: RunFolder) -> list[TrialRecord]:
    return [record for record in folder.records() if record.cell.role == "memory"]


def test_one_for_each_configuration_and_one_baseline_come_after_the_last_block(
    tmp_path: Path, sink_binary: Path
) -> None:
    configs = (FLAT, configuration("warming-up"))
    watcher = Watcher()
    _, folder = session(tmp_path / "r", sink_binary, experiment(*configs, memory=True), configs, watcher)
    records = folder.records()
    assert [record.cell.use.configuration for record in records[-3:]] == ["baseline", "flat", "warming-up"]
    assert [record.cell.role for record in records[-3:]] == ["memory"] * 3
    assert len(records) == 2 * 4 + 3
    assert [slot.cell.label for slot in watcher.trials[-3:]] == ["baseline", "fake flat", "fake warming-up"]


def test_they_belong_to_no_block(tmp_path: Path, sink_binary: Path) -> None:
    _, folder = session(tmp_path / "r", sink_binary, experiment(FLAT, memory=True), (FLAT,), Watcher())
    blocks = whole_blocks(folder.records())
    assert sorted(blocks) == [1, 2]
    assert all(cell.role != "memory" for block in blocks.values() for cell in block)


def test_their_heap_begins_small_and_nothing_is_touched_beforehand(tmp_path: Path, sink_binary: Path) -> None:
    _, folder = session(tmp_path / "r", sink_binary, experiment(FLAT, memory=True), (FLAT,), Watcher())
    for record in folder.records():
        small = record.cell.role == "memory"
        assert (f"-Xms{32 << 20}" in record.command) is small
        assert ("-XX:+AlwaysPreTouch" in record.command) is not small
        assert f"-Xmx{HEAP}" in record.command
    assert all(record.rss_peak_bytes > 1 << 20 for record in memory(folder))


def test_an_experiment_may_do_without(tmp_path: Path, sink_binary: Path) -> None:
    _, folder = session(tmp_path / "r", sink_binary, experiment(FLAT, memory=False), (FLAT,), Watcher())
    assert memory(folder) == []


def test_what_has_no_memory_that_begins_small_is_not_measured_so(tmp_path: Path, sink_binary: Path) -> None:
    what, equipment = experiment(FLAT, memory=True), fake_equipment(sink_binary, FLAT)
    assert Session(what, equipment, new_run(tmp_path / "r", what, FLAT), Watcher()).memory_due
    without = replace(equipment, runtime=replace(RUNTIME, settings={"jdk": RUNTIME.settings["jdk"]}))
    assert Session(what, without, new_run(tmp_path / "s", what, FLAT), Watcher()).memory_due == []


def test_a_failed_one_is_repeated_once_and_sets_nothing_aside(tmp_path: Path, sink_binary: Path) -> None:
    config = configuration("fails-small")
    watcher = Watcher()
    ended, folder = session(tmp_path / "r", sink_binary, experiment(config, memory=True), (config,), watcher)
    tried = [(record.cell.use.configuration, record.attempt, record.status) for record in memory(folder)]
    assert tried == [("baseline", 1, "ok"), ("fails-small", 1, "failed"), ("fails-small", 2, "failed")]
    assert ended.parts["p"] in ("settled", "max-blocks")
    assert watcher.notes == []
    assert len(ended.failed_trials) == 2


def test_a_resumed_run_makes_the_missing_ones_only(tmp_path: Path, sink_binary: Path) -> None:
    what = experiment(FLAT, memory=True)
    ended, folder = session(tmp_path / "r", sink_binary, what, (FLAT,), Watcher(interrupt_at=8))
    assert ended.interrupted
    assert [record.cell.use.configuration for record in memory(folder)] == ["baseline"]
    session(tmp_path / "r", sink_binary, what, (FLAT,), Watcher())
    assert [record.cell.use.configuration for record in memory(folder)] == ["baseline", "flat"]
    watcher = Watcher()
    session(tmp_path / "r", sink_binary, what, (FLAT,), watcher)
    assert watcher.trials == []


def test_a_run_resumed_for_more_blocks_keeps_those_it_has(tmp_path: Path, sink_binary: Path) -> None:
    what = experiment(FLAT, memory=True)
    session(tmp_path / "r", sink_binary, what, (FLAT,), Watcher())
    _, folder = session(tmp_path / "r", sink_binary, with_schedule(what, 3), (FLAT,), Watcher())
    assert sorted(whole_blocks(folder.records())) == [1, 2, 3]
    assert len(memory(folder)) == 2


def test_those_it_has_take_no_time_of_a_resumed_runs_budget(tmp_path: Path, sink_binary: Path) -> None:
    what = experiment(FLAT, memory=True)
    _, folder = session(tmp_path / "r", sink_binary, what, (FLAT,), Watcher())
    assert len(memory(folder)) == 2
    assert Session(what, fake_equipment(sink_binary, FLAT), folder, Watcher()).memory_due == []


def test_what_was_set_aside_gets_none(tmp_path: Path, sink_binary: Path) -> None:
    configs = (FLAT, configuration("records-nothing"))
    _, folder = session(tmp_path / "r", sink_binary, experiment(*configs, memory=True), configs, Watcher())
    assert [record.cell.use.configuration for record in memory(folder)] == ["baseline", "flat"]


def test_a_spent_budget_leaves_them_out_and_says_so(tmp_path: Path, sink_binary: Path) -> None:
    what = experiment(FLAT, blocks=50, budget_s=0.5, memory=True)
    watcher = Watcher()
    ended, folder = session(tmp_path / "r", sink_binary, what, (FLAT,), watcher)
    assert ended.parts == {"p": "budget"}
    assert memory(folder) == []
    assert any("memory" in note for note in watcher.notes)


def test_each_heap_has_a_baseline_of_its_own() -> None:
    agents = fake_equipment(Path("sink"), FLAT).agents
    every = cells(experiment(FLAT), agents)
    larger = [replace(cell, heap_bytes=2 * HEAP) for cell in every]
    found = memory_cells([*every, *larger])
    assert [(cell.label, cell.heap_bytes, cell.role) for cell in found] == [
        ("baseline", HEAP, "memory"),
        ("fake flat", HEAP, "memory"),
        ("baseline", 2 * HEAP, "memory"),
        ("fake flat", 2 * HEAP, "memory"),
    ]


def test_the_plan_tells_them_and_counts_their_time() -> None:
    def planned(memory: bool) -> tuple[float, str]:
        what = experiment(FLAT, memory=memory)
        agents = fake_equipment(Path("sink"), FLAT).agents
        return estimated_seconds(what, agents)[0], "\n".join(plan_lines(what, agents, 1, RUNTIME))

    (without, silent), (more, told) = planned(memory=False), planned(memory=True)
    assert more > without
    assert "measures memory" in told
    assert "measures memory" not in silent


def test_a_lossy_configuration_gets_one_as_well(tmp_path: Path, sink_binary: Path) -> None:
    config: Configuration = configuration("admits-drops", Delivery.LOSSY)
    _, folder = session(tmp_path / "r", sink_binary, experiment(config, memory=True), (config,), Watcher())
    assert [record.status for record in memory(folder)] == ["ok", "ok"]
