"""A workload of several processes: what they use is its own, and none of them is left however a trial ends."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.faults.scene import children
from tests.run import test_trial
from tests.run.stand_ins import WORKLOAD, configuration, fake_equipment
from tests.run.test_trial import codes
from tests.test_process import gone
from tracetax.machine import disturbance
from tracetax.machine.processes import ProcessTree
from tracetax.process import Ending
from tracetax.results.records import TrialRecord
from tracetax.run.equipment import Equipment
from tracetax.run.verdicts import of_processes

MS = 1_000_000
BURNT = 300
"""CPU that each of the two workers uses, ms."""
WORKERS = (f"-Dworkers={BURNT}",)


@pytest.fixture(params=[True, False], ids=["tree", "one"])
def follows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the workload's file says that its processes belong to it."""
    follow(monkeypatch, request.param)
    return request.param


def follow(monkeypatch: pytest.MonkeyPatch, tree: bool) -> None:
    def equipment(*args: Any, **options: Any) -> Equipment:
        return replace(fake_equipment(*args, **options), workload=replace(WORKLOAD, process_tree=tree))

    monkeypatch.setattr(test_trial, "fake_equipment", equipment)


@pytest.fixture
def own_ns(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What counted as the workload's own when others' work was told apart; 0 for the stores that it does not have."""
    counted: list[int] = []
    really = disturbance.programs_cpu_ns

    def programs(programs: Iterable[int | ProcessTree]) -> int:
        counted.append(really(programs))
        return counted[-1]

    monkeypatch.setattr(disturbance, "programs_cpu_ns", programs)
    return counted


def workers(folder: Path) -> list[int]:
    lines = (folder / "run" / "logs" / "0001" / "stdout.txt").read_text().splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("worker ")]


def measured(folder: Path, sink: Path, behaviour: str = "flat") -> TrialRecord:
    return test_trial.trial(folder, sink, configuration(behaviour, flags=WORKERS))


def test_what_workers_use_is_in_the_account_and_not_others_where_the_tree_is_followed(
    tmp_path: Path, sink_binary: Path, own_ns: list[int], follows: bool
) -> None:
    record = measured(tmp_path, sink_binary)
    assert record.status == "ok"
    assert record.cpu
    seen = record.cpu.to_drained.total, record.cpu.to_last_call.total, max(own_ns)
    assert [used > 2 * BURNT * 0.9 * MS for used in seen] == [follows] * 3
    assert codes(record) == (set() if follows else {"cpu-differs"})
    assert all(map(gone, workers(tmp_path)))


SPAWNS = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"


def test_a_program_behind_a_wrapper_that_waits_for_it_is_the_workloads(
    tmp_path: Path, sink_binary: Path, own_ns: list[int], follows: bool
) -> None:
    config = replace(configuration("flat", flags=WORKERS), wrapper=(sys.executable, "-c", SPAWNS))
    record = test_trial.trial(tmp_path, sink_binary, config)
    assert (record.status, record.exit_status) == ("ok", 0)
    assert record.cpu
    assert [used > 2 * BURNT * 0.9 * MS for used in (record.cpu.to_drained.total, max(own_ns))] == [follows] * 2
    assert codes(record) == (set() if follows else {"cpu-differs"})
    assert all(map(gone, workers(tmp_path)))


def test_memory_is_that_of_all_processes_where_the_tree_is_followed(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pss(_tree: ProcessTree) -> int:
        return 4711

    monkeypatch.setattr(ProcessTree, "pss_bytes", pss)
    follow(monkeypatch, tree=True)
    assert measured(tmp_path, sink_binary).rss_peak_bytes == 4711


def test_one_process_is_looked_at_as_if_there_were_no_others(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No search for others, no further account, no shares of memory: what a look costs is what it was."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a program of one process pays for a tree")

    for name in ("look", "pss_bytes", "_search"):
        monkeypatch.setattr(ProcessTree, name, never)
    record = test_trial.trial(tmp_path, sink_binary, configuration("flat"))
    assert (record.status, codes(record)) == ("ok", set())
    assert record.cpu and record.rss_peak_bytes


@pytest.mark.parametrize("behaviour", ["flat", "aborts-in-calls", "hangs-in-calls", "reports-error", "does-not-end"])
def test_however_a_trial_ends_no_process_of_it_is_left(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    follow(monkeypatch, tree=True)
    opened = len(list(Path("/proc/self/fd").iterdir()))
    record = measured(tmp_path, sink_binary, behaviour)
    assert len(list(Path("/proc/self/fd").iterdir())) == opened
    assert record.status == ("ok" if behaviour == "flat" else "failed")
    left = workers(tmp_path)
    assert len(left) == 2
    assert all(map(gone, left))
    assert children() == {}


def test_ctrl_c_in_mid_trial_leaves_no_process(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(monkeypatch, tree=True)

    def interrupt(stage: str) -> None:
        if stage == "calling":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        test_trial.trial(tmp_path, sink_binary, configuration("flat", flags=WORKERS), watch=interrupt)
    left = workers(tmp_path)
    assert len(left) == 2
    assert all(map(gone, left))
    assert children() == {}


ENDING = Ending(status=0, cpu_ns=1_000 * MS, max_rss_bytes=0, ended_ns=0, asked="itself")


@pytest.mark.parametrize(
    ("seen", "left", "told"),
    [
        (1_000, 0, ""),
        (1_025, 0, ""),
        (1_500, 500, ""),
        (1_000, 500, 'processes = "tree"'),
        (1_300, 0, "without a parent that waits for them"),
        (None, 500, ""),
    ],
)
def test_looks_that_differ_from_what_the_kernel_says_at_the_end_are_told(
    seen: int | None, left: int, told: str
) -> None:
    verdicts = of_processes(None if seen is None else seen * MS, ENDING, left * MS)
    assert [(verdict.code, verdict.severity) for verdict in verdicts] == ([("cpu-differs", "note")] if told else [])
    assert all(told in verdict.text for verdict in verdicts)


def test_one_that_kill_does_not_end_has_no_account_to_compare() -> None:
    assert of_processes(1_000 * MS, replace(ENDING, cpu_ns=0, left_behind=4711), 0) == []
