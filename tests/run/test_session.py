"""A run: blocks in random order, failures that stop nobody else, interruptions that lose nothing."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import configuration, experiment, fake_equipment, new_run, with_schedule
from tracetax.model import Configuration, Delivery, Experiment
from tracetax.results.blocks import whole_blocks
from tracetax.results.folder import RunFolder
from tracetax.results.records import TrialRecord
from tracetax.run.plan import Turn, block, cells
from tracetax.run.progress import between_words
from tracetax.run.session import Ended, Session


class Watcher:
    """Remembers what a session tells; interrupts it at a given trial."""

    def __init__(self, interrupt_at: int = 0) -> None:
        self.trials: list[Turn] = []
        self.notes: list[str] = []
        self.so_far: list[str] = []
        self.left: list[tuple[float, float]] = []
        self.interrupt_at = interrupt_at

    def block(self, number: int, most: int, trials: int) -> None: ...

    def trial(self, turn: Turn, seconds_left: tuple[float, float]) -> None:
        self.trials.append(turn)
        self.left.append(seconds_left)

    def state(self, text: str) -> None:
        if text == "calling" and len(self.trials) == self.interrupt_at:
            raise KeyboardInterrupt

    def known(self, lines: Sequence[str]) -> None:
        self.so_far.extend(lines)

    def done(self, record: TrialRecord, logs: str) -> None: ...

    def note(self, text: str) -> None:
        self.notes.append(text)


def session(
    path: Path, sink: Path, what: Experiment, configs: tuple[Configuration, ...], watcher: Watcher
) -> tuple[Ended, RunFolder]:
    folder = RunFolder(path) if path.exists() else new_run(path, what, *configs)
    return Session(what, fake_equipment(sink, *configs), folder, watcher).run(), folder


@pytest.fixture(autouse=True)
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetax.machine.disturbance.DISTURBED_ABOVE", 99.0)


def test_every_block_holds_each_configuration_once_and_the_baseline_twice(tmp_path: Path, sink_binary: Path) -> None:
    configs = (configuration("flat"), configuration("warming-up"))
    _, folder = session(tmp_path / "r", sink_binary, experiment(*configs), configs, Watcher())
    for number in (1, 2):
        roles = sorted(r.cell.role + "/" + r.cell.use.configuration for r in folder.records() if r.block == number)
        assert roles == [
            "baseline-1/baseline",
            "baseline-2/baseline",
            "configuration/flat",
            "configuration/warming-up",
        ]


def test_what_the_machine_lacks_sets_a_configuration_aside_and_nothing_else(tmp_path: Path, sink_binary: Path) -> None:
    configs = (configuration("flat"), configuration("native"))
    watcher, what = Watcher(), experiment(*configs)
    equipment = replace(fake_equipment(sink_binary, *configs), lacks={"fake": {"native": "no compiler: install one"}})
    folder = new_run(tmp_path / "r", what, *configs)
    Session(what, equipment, folder, watcher).run()
    records = [record for record in folder.records() if record.cell.use.configuration == "native"]
    assert [(verdict.code, verdict.text) for verdict in records[0].verdicts] == [
        ("not-prepared", "no compiler: install one")
    ]
    assert len(records) == 2
    assert "set aside; the others go on" in watcher.notes[-1]
    flat = [record for record in folder.records() if record.cell.use.configuration == "flat"]
    assert [record.status for record in flat] == ["ok", "ok"]


def test_the_time_left_is_that_of_the_fewest_and_of_the_most_blocks(tmp_path: Path, sink_binary: Path) -> None:
    config = configuration("flat")
    fixed, open_ended = Watcher(), Watcher(interrupt_at=1)
    session(tmp_path / "fixed", sink_binary, experiment(config), (config,), fixed)
    assert fixed.left and all(least == most > 0 for least, most in fixed.left)
    what = experiment(config)
    what = replace(what, schedule=replace(what.schedule, max_blocks=4, starts=0))
    session(tmp_path / "open", sink_binary, what, (config,), open_ended)
    ((least, most),) = open_ended.left
    assert most == pytest.approx(2 * least)
    assert between_words(least=240.0, most=5_000.0) == "4 min 00 s to 1 h 23 min"
    assert between_words(least=240.0, most=250.0) == "4 min 00 s"


def test_guesses_of_lengths_are_corrected_by_what_trials_took(tmp_path: Path, sink_binary: Path) -> None:
    configs = tuple(configuration(name) for name in "abcdefgh")
    what = experiment(*configs)
    run = Session(what, fake_equipment(sink_binary, *configs), new_run(tmp_path / "r", what, *configs), Watcher())
    baseline, other = (next(cell for cell in run.cells if cell.is_baseline == same) for same in (True, False))
    *measured, left = (cell for cell in run.cells if not cell.is_baseline)
    guessed, of_baseline = run.estimate(left), run.estimate(baseline)
    for cell in measured[:2]:
        run.spent[cell] = [4 * guessed]
    assert run.estimate(left) == guessed  # two are no reason yet
    run.spent[measured[2]] = [3 * guessed, 5 * guessed]
    assert run.estimate(left) == pytest.approx(4 * guessed)
    assert run.estimate(other) == 4 * guessed
    assert run.estimate(baseline) == of_baseline  # what an agent takes says nothing about the baseline


def test_the_order_depends_on_the_seed_alone() -> None:
    configs = tuple(configuration(name) for name in "abcdef")
    active = cells(experiment(*configs), fake_equipment(Path("sink"), *configs).agents)
    assert block(1, active, seed=1) == block(1, active, seed=1)
    assert len({tuple(turn.cell.label for turn in block(1, active, seed)) for seed in range(5)}) > 1
    assert block(1, active, 1) != block(2, active, 1)


def test_a_failing_configuration_is_repeated_once_then_set_aside_and_the_others_go_on(
    tmp_path: Path, sink_binary: Path
) -> None:
    configs = (configuration("flat"), configuration("records-nothing"))
    watcher = Watcher()
    ended, folder = session(tmp_path / "r", sink_binary, experiment(*configs), configs, watcher)
    failed = [r for r in folder.records() if r.status == "failed"]
    assert [(r.block, r.attempt, r.cell.use.configuration) for r in failed] == [
        (1, 1, "records-nothing"),
        (1, 2, "records-nothing"),
    ]
    assert sum(r.cell.use.configuration == "flat" and r.status == "ok" for r in folder.records()) == 2
    assert "set aside" in watcher.notes[0]
    assert ended.parts["p"] in ("settled", "max-blocks")


def test_a_trial_that_fails_once_is_made_good_by_its_repetition(tmp_path: Path, sink_binary: Path) -> None:
    config = configuration("fails-once", flags=(f"-Dmarker={tmp_path / 'marker'}",))
    ended, folder = session(tmp_path / "r", sink_binary, experiment(config), (config,), Watcher())
    assert len(whole_blocks(folder.records())) == 2
    assert len(ended.failed_trials) == 1


def test_when_everything_fails_the_run_ends_and_says_so(tmp_path: Path, sink_binary: Path) -> None:
    config = configuration("crash-before-main")
    ended, _ = session(tmp_path / "r", sink_binary, experiment(config), (config,), Watcher())
    assert ended.parts == {"p": "failed"}


def test_without_a_baseline_the_part_ends_at_once(tmp_path: Path, sink_binary: Path) -> None:
    config = configuration("flat")
    what = experiment(config, blocks=5)
    equipment = fake_equipment(sink_binary, config)
    broken = replace(equipment.agents["none"].configurations["baseline"], flags=("-Dfake=crash-before-main",))
    none = replace(equipment.agents["none"], configurations={"baseline": broken})
    folder = new_run(tmp_path / "r", what, config)
    ended = Session(what, replace(equipment, agents={**equipment.agents, "none": none}), folder, Watcher()).run()
    assert ended.parts == {"p": "failed"}
    assert {record.block for record in folder.records()} == {1}


def test_an_interrupted_block_is_repeated_whole_and_its_trials_stay(tmp_path: Path, sink_binary: Path) -> None:
    config = configuration("flat")
    what = experiment(config)
    ended, folder = session(tmp_path / "r", sink_binary, what, (config,), Watcher(interrupt_at=5))
    assert ended.interrupted
    before = folder.records()
    assert len(before) == 4
    ended, folder = session(tmp_path / "r", sink_binary, what, (config,), Watcher())
    assert not ended.interrupted
    after = folder.records()
    assert after[:4] == before
    assert sorted(whole_blocks(after)) == [1, 3]


def test_a_resumed_run_may_have_more_blocks(tmp_path: Path, sink_binary: Path) -> None:
    config = configuration("flat")
    what = experiment(config)
    session(tmp_path / "r", sink_binary, what, (config,), Watcher())
    _, folder = session(tmp_path / "r", sink_binary, with_schedule(what, 3), (config,), Watcher())
    assert sorted(whole_blocks(folder.records())) == [1, 2, 3]


def test_a_spent_budget_ends_the_run_after_its_first_block(tmp_path: Path, sink_binary: Path) -> None:
    config = configuration("flat")
    ended, folder = session(
        tmp_path / "r", sink_binary, experiment(config, blocks=50, budget_s=0.5), (config,), Watcher()
    )
    assert ended.parts == {"p": "budget"}
    assert len(whole_blocks(folder.records())) == 1


def test_a_lossy_configuration_is_a_result_and_no_failure(tmp_path: Path, sink_binary: Path) -> None:
    config = configuration("admits-drops", Delivery.LOSSY)
    _, folder = session(tmp_path / "r", sink_binary, experiment(config), (config,), Watcher())
    assert all(record.status == "ok" for record in folder.records())


def test_after_each_block_it_is_said_what_is_known(tmp_path: Path, sink_binary: Path) -> None:
    config, watcher = configuration("flat"), Watcher()
    session(tmp_path / "r", sink_binary, experiment(config), (config,), watcher)
    assert [line.split(":")[0] for line in watcher.so_far] == [
        f"after {blocks}, added per call" for blocks in ("1 block", "2 blocks")
    ]
    assert "Fake 0.0 ± 0.0 ns" in watcher.so_far[-1]


def test_on_a_machine_that_is_always_busy_trials_are_not_repeated_for_ever(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracetax.machine.disturbance.DISTURBED_ABOVE", -99.0)
    config, watcher = configuration("flat"), Watcher()
    _, folder = session(tmp_path / "r", sink_binary, experiment(config, blocks=4), (config,), watcher)
    assert [record.attempt for record in folder.records()] == [1] * 3 + [2] * 3 + [1] * 9
    assert sorted(whole_blocks(folder.records())) == [1, 2, 3, 4]
    assert len(watcher.notes) == 1
    assert "not repeated any more" in watcher.notes[0]
