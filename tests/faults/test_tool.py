"""The tool killed at any moment, a second one beside it, and a wall clock that jumps."""

import os
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest

from tests.end_to_end.command import processes_naming
from tests.faults.scene import Harm, codes, finished, is_complete, measured
from tests.run.stand_ins import ROOT
from tracetax.commands.report import show_run
from tracetax.errors import ExitCode, UserError
from tracetax.machine.lock import sole_run
from tracetax.results.folder import RunFolder


@pytest.mark.parametrize("moment", [4, 8, 11, 17])
def test_a_tool_that_is_killed_at_any_write_loses_no_finished_trial_and_leaves_no_process(
    tmp_path: Path, sink_binary: Path, moment: int
) -> None:
    run, sink = tmp_path / "run", tmp_path / "sink"
    sink.symlink_to(sink_binary)  # its command line names no run, but then this path
    command = (sys.executable, "-m", "tests.faults.killed", str(run), str(sink), str(moment))
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    deadline = time.monotonic() + 20
    while (left := processes_naming(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert left == []
    before = finished(run)
    RunFolder(run).discard_unfinished()  # as every resume does
    _, folder = measured(run, sink_binary)
    assert before.items() <= finished(run).items()
    assert is_complete(folder)
    assert not list((run / "trials").glob(".*"))


def test_what_a_second_run_is_refused_it_does_not_touch(tmp_path: Path, sink_binary: Path) -> None:
    run = tmp_path / "run"
    measured(run, sink_binary, blocks=1)
    before = sorted(run.iterdir())
    with sole_run(), pytest.raises(UserError, match=f"process {os.getpid()}") as caught:
        show_run(run)
    assert caught.value.exit_code == ExitCode.BUSY
    assert sorted(run.iterdir()) == before


def test_no_number_follows_the_wall_clock(tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jumps = [timedelta(days=day) for day in (0, -1, 1, -400)]

    class Jumping(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # pyright: ignore[reportIncompatibleMethodOverride]
            jumps.append(jumps.pop(0))
            return datetime.now(tz) + jumps[0]

    seconds, nanoseconds = time.time, time.time_ns
    monkeypatch.setattr("tracetax.run.trial.datetime", Jumping)
    monkeypatch.setattr("time.time", lambda: seconds() + jumps[0].total_seconds())
    monkeypatch.setattr("time.time_ns", lambda: nanoseconds() + int(jumps[0].total_seconds()) * 10**9)
    harm = Harm()
    _, folder = measured(tmp_path / "run", sink_binary, harm)
    assert codes(harm.ended) == []
    assert len({record.started_at[:10] for record in harm.ended}) > 1
    for record in harm.ended:
        moments = record.moments
        order = (moments.spawned, moments.main, moments.first_call, moments.last_call, moments.drained, moments.exited)
        assert list(order) == sorted(order)
        assert moments.exited - moments.spawned < 60 * 10**9
        assert record.started_at.endswith(datetime.now(UTC).isoformat()[-6:])
    assert is_complete(folder)


def test_nothing_that_measures_reads_the_wall_clock() -> None:
    clock = re.compile(r"\btime\.time(_ns)?\(|CLOCK_REALTIME|currentTimeMillis|Instant\.now")
    sources = [*(ROOT / "workloads").rglob("*.java")]
    for folder in ("run", "companions", "workloads", "machine", "results"):
        sources += (ROOT / "src" / "tracetax" / folder).rglob("*.py")
    assert len(sources) > 30
    assert [file.name for file in sources if clock.search(file.read_text())] == []
