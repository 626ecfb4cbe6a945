"""What the workload calltree/java does with its calls, its files and its commands."""

import json
import shutil
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tracetax.artifacts.start_up import build_start_up
from tracetax.catalog.workload_file import load_workload

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "workloads/calltree/java"
START_UP = load_workload("calltree/java", ROOT)[0].start_up
LIMIT_S = 60
CLASS_LOADED = "tracetax.calltree.Warmth "
"""Loaded after the first burst; the next class to be loaded ought to be one that writes."""

pytestmark = pytest.mark.skipif(shutil.which("javac") is None, reason="needs a JDK")


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calltree-classes")
    subprocess.run(
        ["javac", "--release", "8", "-Xlint:all,-options", "-Werror", "-d", folder, *SOURCES.rglob("*.java")],
        check=True,
    )
    return folder


class Program:
    """A running workload, driven as the runner does."""

    def __init__(self, process: subprocess.Popen[str], out: Path, status: Path) -> None:
        self.process = process
        self.out = out
        self.status = status

    def command(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def events(self, name: str) -> list[str]:
        """The texts of all events of a name so far, without its time."""
        lines = self.status.read_text().splitlines() if self.status.exists() else []
        return [line.split(" ", 2)[2] if line.count(" ") > 1 else "" for line in lines if line.split(" ")[0] == name]

    def await_event(self, name: str, count: int = 1, interval: float = 0.005) -> str:
        deadline = time.monotonic() + LIMIT_S
        while len(self.events(name)) < count:
            assert time.monotonic() < deadline, f"no {name}"
            assert self.process.poll() is None or len(self.events(name)) >= count, self.status.read_text()
            time.sleep(interval)
        return self.events(name)[count - 1]

    def end(self) -> int:
        """Closes standard input and waits for the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(LIMIT_S)

    def trial(self) -> dict[str, Any]:
        return json.loads((self.out / "trial.json").read_text())

    def values(self, name: str) -> npt.NDArray[np.int64]:
        return np.fromfile(self.out / name, "<i8")


@contextmanager
def started(classes: Path, folder: Path, *options: object, jvm: tuple[str, ...] = ()) -> Generator[Program]:
    out, status = folder / "out", folder / "status"
    arguments = ["java", "-Xmx256m", *jvm, "-cp", str(classes), "tracetax.calltree.Main"]
    arguments += ["--out", str(out), "--status", str(status), *map(str, options)]
    with (
        (folder / "stderr").open("w") as errors,
        subprocess.Popen(arguments, stdin=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        try:
            yield Program(process, out, status)
        finally:
            process.kill()


def measured(classes: Path, folder: Path, *options: object, warm_up: int = 100, jvm: tuple[str, ...] = ()) -> Program:
    """A whole trial, to its ordinary end."""
    with started(classes, folder, *options, jvm=jvm) as program:
        program.command(f"warm-up {warm_up}")
        program.command("measure")
        program.command("drained")
        program.await_event("written")
        assert program.end() == 0
    return program


def test_every_call_leaves_one_sample(classes: Path, tmp_path: Path) -> None:
    program = measured(classes, tmp_path, "--calls", 1_003, "--depth", 10)
    assert len(program.values("samples-0.i64")) == 1_003
    assert program.values("samples-0.i64").min() > 0
    caller = program.trial()["caller"][0]
    assert program.values("samples-0.i64").sum() <= caller["last_ns"] - caller["first_ns"]


def test_the_trial_counts_calls_and_invocations(classes: Path, tmp_path: Path) -> None:
    trial = measured(classes, tmp_path, "--calls", 1_003, "--depth", 10).trial()
    assert (trial["calls"], trial["invocations"], trial["threads"]) == (1_003, 10_030, 1)
    assert trial["files"] == {"samples": ["samples-0.i64"], "start": [], "late": []}


def test_the_trial_has_five_snapshots_in_order(classes: Path, tmp_path: Path) -> None:
    snapshots = measured(classes, tmp_path, "--calls", 100, "--depth", 1).trial()["snapshots"]
    assert set(snapshots) == {"main", "first_call", "last_call", "drained", "collected"}
    times = [snapshots[name]["monotonic_ns"] for name in ("main", "first_call", "last_call", "drained", "collected")]
    assert times == sorted(times)
    assert snapshots["collected"]["gc_count"] > snapshots["drained"]["gc_count"]


def test_the_status_tells_the_course_of_the_trial(classes: Path, tmp_path: Path) -> None:
    program = measured(classes, tmp_path, "--calls", 100, "--depth", 1)
    lines = [line.split(" ") for line in program.status.read_text().splitlines()]
    stages = ["main", "ready", "first-monitored", "warmed", "first-call", "last-call", "drained", "written"]
    assert [line[0] for line in lines] == stages
    assert [int(line[1]) for line in lines] == sorted(int(line[1]) for line in lines)


def test_a_rate_is_a_schedule_of_intended_starts(classes: Path, tmp_path: Path) -> None:
    program = measured(classes, tmp_path, "--calls", 100, "--depth", 1, "--rate", 2_000)
    assert program.values("start-0.i64").tolist() == [k * 500_000 for k in range(100)]


@pytest.mark.parametrize("wait", ["spin", "park"])
def test_no_call_starts_before_its_time(classes: Path, tmp_path: Path, wait: str) -> None:
    program = measured(classes, tmp_path, "--calls", 100, "--depth", 1, "--rate", 2_000, "--wait", wait)
    assert len(program.values("late-0.i64")) == 100
    assert program.values("late-0.i64").min() >= 0


def test_a_parked_caller_leaves_its_core(classes: Path, tmp_path: Path) -> None:
    program = measured(classes, tmp_path, "--calls", 200, "--depth", 1, "--rate", 500, "--wait", "park")
    caller = program.trial()["caller"][0]
    assert caller["cpu_ns"] < (caller["last_ns"] - caller["first_ns"]) / 2


def test_late_calls_are_made_all_the_same_on_the_old_schedule(classes: Path, tmp_path: Path) -> None:
    options = ("--calls", 300, "--depth", 1, "--rate", 1e6, "--method-time-ns", 20_000)
    program = measured(classes, tmp_path, *options)
    assert program.values("start-0.i64").tolist() == [k * 1_000 for k in range(300)]
    assert program.values("late-0.i64")[-1] >= 299 * (20_000 - 1_000)
    began = program.values("start-0.i64") + program.values("late-0.i64")
    ended = began + program.values("samples-0.i64")
    assert (began[1:] >= ended[:-1]).all(), "a call is timed from its real start, when the one before has ended"


def test_calls_divide_over_threads_with_the_remainder_to_the_first(classes: Path, tmp_path: Path) -> None:
    program = measured(classes, tmp_path, "--calls", 101, "--depth", 2, "--threads", 3)
    assert [len(program.values(f"samples-{t}.i64")) for t in range(3)] == [34, 34, 33]
    assert program.trial()["files"]["samples"] == [f"samples-{t}.i64" for t in range(3)]


def test_threads_share_the_rate(classes: Path, tmp_path: Path) -> None:
    program = measured(classes, tmp_path, "--calls", 101, "--depth", 2, "--threads", 2, "--rate", 10_000)
    both = np.concatenate([program.values("start-0.i64"), program.values("start-1.i64")])
    assert np.sort(both).tolist() == [k * 100_000 for k in range(101)]


def test_a_burst_smaller_than_the_threads_is_made(classes: Path, tmp_path: Path) -> None:
    program = measured(classes, tmp_path, "--calls", 10, "--depth", 1, "--threads", 2, warm_up=1)
    assert program.trial()["warm_up"]["calls"] == 1


def test_the_method_works_as_long_as_asked(classes: Path, tmp_path: Path) -> None:
    program = measured(classes, tmp_path, "--calls", 200, "--depth", 10, "--method-time-ns", 50_000)
    assert program.values("samples-0.i64").min() >= 50_000


def test_the_method_calls_itself_as_deep_as_asked(classes: Path, tmp_path: Path) -> None:
    with started(classes, tmp_path, "--calls", 10, "--depth", 10**8) as program:
        program.command("measure")
        assert "StackOverflowError" in program.await_event("error")


def test_a_failing_caller_ends_the_program_with_code_1(classes: Path, tmp_path: Path) -> None:
    with started(classes, tmp_path, "--calls", 10, "--depth", 10**8) as program:
        program.command("measure")
        assert program.process.wait(LIMIT_S) == 1
    assert not program.out.exists()


@pytest.mark.parametrize("rate", ["full", "50000"])
def test_warm_up_reaches_the_top_tier_and_says_so(classes: Path, tmp_path: Path, rate: str) -> None:
    with started(classes, tmp_path, "--calls", 10, "--depth", 10, "--rate", rate) as program:
        warmed: dict[str, str] = {}
        bursts = 0
        until = time.monotonic() + LIMIT_S
        while not (warmed.get("driver") == "4" and warmed.get("method") == "4") and time.monotonic() < until:
            bursts += 1
            program.command("warm-up 1000")
            warmed = dict(pair.split("=") for pair in program.await_event("warmed", bursts).split(" "))
        program.end()
    assert warmed == {"calls": str(bursts * 1_000), "driver": "4", "method": "4", "how": "codelist"}


def test_bursts_of_one_call_reach_the_top_tier(classes: Path, tmp_path: Path) -> None:
    bursts = 4_000
    with started(classes, tmp_path, "--calls", 10, "--depth", 64) as program:
        program.command("\n".join(["warm-up 1"] * bursts))
        warmed = program.await_event("warmed", bursts, interval=0.2)
        program.end()
    assert "driver=4 method=4" in warmed


def test_interpreted_code_is_not_called_warm(classes: Path, tmp_path: Path) -> None:
    trial = measured(classes, tmp_path, "--calls", 10, "--depth", 1, jvm=("-Xint",)).trial()
    assert (trial["warm_up"]["driver_level"], trial["warm_up"]["method_level"]) == (0, 0)


@pytest.mark.parametrize("pace", [(), ("--rate", 200_000)], ids=["closed", "paced"])
def test_calls_allocate_nothing(classes: Path, tmp_path: Path, pace: tuple[object, ...]) -> None:
    trial = measured(classes, tmp_path, "--calls", 100_000, "--depth", 10, *pace, warm_up=30_000).trial()
    assert trial["caller"][0]["allocated_bytes"] == 0


@pytest.mark.parametrize("pace", [(), ("--rate", 20_000), ("--rate", 20_000, "--wait", "park")])
def test_no_class_is_loaded_during_measured_calls(classes: Path, tmp_path: Path, pace: tuple[object, ...]) -> None:
    log = tmp_path / "classes.log"
    measured(classes, tmp_path, "--calls", 2_000, "--depth", 2, *pace, jvm=(f"-Xlog:class+load:file={log}",))
    loaded = log.read_text().split(CLASS_LOADED)[1].splitlines()[1:]
    assert "tracetax.calltree.TrialFolder" in loaded[0]


@pytest.mark.parametrize("stage", ["main", "ready", "warmed", "last-call"])
def test_the_end_of_input_ends_it_without_results(classes: Path, tmp_path: Path, stage: str) -> None:
    with started(classes, tmp_path, "--calls", 1_000, "--depth", 10) as program:
        if stage != "main":
            program.await_event("ready")
        if stage in ("warmed", "last-call"):
            program.command("warm-up 100")
            program.await_event("warmed")
        if stage == "last-call":
            program.command("measure")
            program.await_event("last-call")
        assert program.end() == 0
    assert not program.out.exists()
    assert program.events("error") == []


@pytest.mark.parametrize("pace", [(), ("--rate", 2_000)], ids=["closed", "paced"])
def test_the_end_of_input_stops_the_measured_calls(classes: Path, tmp_path: Path, pace: tuple[object, ...]) -> None:
    options = ("--calls", 1_000_000, "--depth", 10, "--method-time-ns", 100_000, *pace)
    with started(classes, tmp_path, *options) as program:
        program.command("measure")
        program.await_event("first-call")
        assert program.end() == 0
    assert program.events("last-call") == []
    assert not program.out.exists()


def test_the_end_runs_shutdown_hooks(classes: Path, tmp_path: Path) -> None:
    recording = tmp_path / "hook.jfr"
    measured(
        classes,
        tmp_path,
        *("--calls", 10, "--depth", 1),
        jvm=(f"-XX:StartFlightRecording=filename={recording},settings=none",),
    )
    assert recording.exists(), "the recording is written by a shutdown hook"


def test_classes_for_the_start_are_run_before_it_is_ready(classes: Path, tmp_path: Path) -> None:
    assert START_UP
    start_up = build_start_up(START_UP, 5, 2, tmp_path / "cache")
    options = ("--calls", 10, "--depth", 1, "--start-up", START_UP.entry)
    seen = tmp_path / "classes.txt"
    log = f"-Xlog:class+load:file={seen}"
    measured(Path(f"{classes}:{start_up}"), tmp_path, *options, jvm=(log,))
    loaded = seen.read_text()
    assert 0 < loaded.index("tracetax.generated.Monitored ") < loaded.index("tracetax.calltree.Caller ")


def test_a_class_for_the_start_that_is_not_there_is_an_error(classes: Path, tmp_path: Path) -> None:
    with started(classes, tmp_path, "--calls", 10, "--depth", 1, "--start-up", "tracetax.generated.Gone") as program:
        assert "tracetax.generated.Gone" in program.await_event("error")
        assert program.process.wait(LIMIT_S) == 1


def test_an_unknown_command_is_an_error(classes: Path, tmp_path: Path) -> None:
    with started(classes, tmp_path, "--calls", 10, "--depth", 1) as program:
        program.command("mesure")
        assert "mesure" in program.await_event("error")
        assert program.process.wait(LIMIT_S) == 1


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--calls", 0, "--depth", 1), "--calls 0"),
        (("--calls", 10), "--depth"),
        (("--calls", 10, "--depth", 1, "--rate", "fast"), "--rate fast"),
        (("--calls", 10, "--depth", 1, "--wait", "sleep"), "--wait sleep"),
        (("--calls", 10, "--depth", 1, "--dept", 1), "--dept"),
    ],
)
def test_a_wrong_option_is_named(classes: Path, tmp_path: Path, options: tuple[object, ...], named: str) -> None:
    with started(classes, tmp_path, *options) as program:
        assert program.process.wait(LIMIT_S) == 1
    said = (tmp_path / "stderr").read_text()
    assert named in said
    assert "\tat " not in said


def test_its_own_checks_pass(classes: Path) -> None:
    subprocess.run(["java", "-cp", str(classes), "tracetax.calltree.SelfTest"], check=True)


def test_the_loop_of_the_measured_calls_is_compiled_before_them(classes: Path, tmp_path: Path) -> None:
    log = tmp_path / "compiled.txt"
    options = ("--calls", 800_000, "--depth", 1)
    with started(classes, tmp_path, *options, jvm=(f"-Xlog:jit+compilation=debug:file={log}",)) as program:
        for burst in range(1, 200):
            program.command("warm-up 2000")
            if "driver=4 method=4" in program.await_event("warmed", burst):
                break
        program.command("measure")
        program.command("drained")
        program.await_event("written")
        assert program.end() == 0
    lines = [line.split() for line in log.read_text().splitlines() if "CallLoop::run " in line]
    assert any("4" in line for line in lines), "compiled in the top tier"
    assert not any("%" in line for line in lines), "compiled while it ran"


@pytest.mark.skipif(shutil.which("jcmd") is None, reason="needs a JDK with jcmd")
def test_every_collection_is_told_with_the_heap_before_and_after(classes: Path, tmp_path: Path) -> None:
    with started(classes, tmp_path, "--calls", 400, "--depth", 1, "--rate", 100) as program:
        program.command("warm-up 100")
        program.command("measure")
        program.await_event("first-call")
        for _ in range(2):
            subprocess.run(["jcmd", str(program.process.pid), "GC.run"], check=True, stdout=subprocess.DEVNULL)
        program.command("drained")
        program.await_event("written")
        assert program.end() == 0
    trial = program.trial()
    told, snapshots = trial["collections"], trial["snapshots"]
    within = snapshots["last_call"]["gc_count"] - snapshots["first_call"]["gc_count"]
    assert len(told["each"]) >= within >= 2
    begun_ns = told["monotonic_ns"] - told["uptime_ms"] * 1_000_000
    for one in told["each"][-2:]:
        at_ns = begun_ns + one["start_ms"] * 1_000_000
        assert snapshots["first_call"]["monotonic_ns"] < at_ns < snapshots["last_call"]["monotonic_ns"]
        assert 0 < one["after_bytes"] < one["before_bytes"] + (1 << 20)
