"""What a call tree in any language does with its calls, its files and its commands: the driver's contract."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from msgspec import Struct

from tracetax.workloads.driver import parse_status
from tracetax.workloads.driver_output import Output, read_output

FOLDER = Path(__file__).resolve().parents[2] / "workloads/calltree"
LIMIT_S = 60
STAGES = ["main", "ready", "first-monitored", "warmed", "first-call", "last-call", "drained", "written"]
TOO_DEEP = 10**8


class Language(Struct, frozen=True):
    """How a program is built and started, ``{sources}`` and ``{built}`` being folders, and what it is like."""

    runtime: str
    start: tuple[str, ...]
    too_deep: str
    """What it says of a depth that no stack holds."""
    build: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    threads: bool = True


LANGUAGES = {
    "go": Language(
        runtime="go",
        build=("go", "build", "-buildvcs=false", "-o", "{built}/calltree", "./cmd/calltree"),
        start=("{built}/calltree",),
        too_deep=f"--depth {TOO_DEEP}",
    ),
    "java": Language(
        runtime="javac",
        build=("javac", "--release", "8", "-Xlint:-options", "-d", "{built}"),
        start=("java", "-Xmx256m", "-cp", "{built}", "tracetax.calltree.Main"),
        too_deep="StackOverflowError",
    ),
    "node": Language(
        runtime="node",
        start=("node", "{sources}/main.js"),
        too_deep="RangeError",
        threads=False,
    ),
    "python": Language(
        runtime=sys.executable,
        start=(sys.executable, "-m", "tracetax_calltree"),
        environment={"PYTHONPATH": "{sources}", "PYTHONDONTWRITEBYTECODE": "1"},
        too_deep="RecursionError",
    ),
}
"""One line for each folder of ``workloads/calltree``."""


class Program:
    """A running workload, driven as the runner does."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self.process = process
        self.out = folder / "out"
        self.status = folder / "status"
        self.errors = folder / "stderr"

    def command(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def lines(self) -> list[tuple[str, str]]:
        """Name and text of all status lines so far."""
        lines = self.status.read_text().splitlines() if self.status.exists() else []
        return [(status.name, status.text) for status in map(parse_status, lines)]

    def texts(self, name: str) -> list[str]:
        return [text for each, text in self.lines() if each == name]

    def await_event(self, name: str, count: int = 1) -> str:
        deadline = time.monotonic() + LIMIT_S
        while len(self.texts(name)) < count:
            assert time.monotonic() < deadline, f"no {name}"
            assert self.process.poll() is None or len(self.texts(name)) >= count, self.errors.read_text()
            time.sleep(0.005)
        return self.texts(name)[count - 1]

    def end(self) -> int:
        """Closes standard input and waits for the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(LIMIT_S)

    def output(self) -> Output:
        return read_output(self.out)

    def trial(self) -> dict[str, Any]:
        return json.loads((self.out / "trial.json").read_text())

    def values(self, kind: str, thread: int = 0) -> npt.NDArray[np.int64]:
        return np.fromfile(self.out / f"{kind}-{thread}.i64", "<i8")


class Workload:
    """A language's program, built."""

    def __init__(self, name: str, built: Path) -> None:
        self.name = name
        self.language = LANGUAGES[name]
        self._places = {"{sources}": str(FOLDER / name), "{built}": str(built)}
        if self.language.build:
            sources = map(str, (FOLDER / name / "src").rglob("*.java")) if name == "java" else ()
            subprocess.run([*self._filled(self.language.build), *sources], check=True, cwd=FOLDER / name)

    def _filled(self, words: tuple[str, ...]) -> list[str]:
        for place, path in self._places.items():
            words = tuple(word.replace(place, path) for word in words)
        return list(words)

    @contextmanager
    def started(self, folder: Path, *options: object) -> Generator[Program]:
        arguments = [*self._filled(self.language.start), *map(str, options)]
        arguments += ["--out", str(folder / "out"), "--status", str(folder / "status")]
        keys = self.language.environment
        environment = dict(zip(keys, self._filled(tuple(keys.values())), strict=True))
        with (
            (folder / "stderr").open("w") as errors,
            subprocess.Popen(
                arguments, stdin=subprocess.PIPE, stderr=errors, text=True, env=os.environ | environment
            ) as process,
        ):
            try:
                yield Program(process, folder)
            finally:
                process.kill()

    def measured(self, folder: Path, *options: object, warm_up: int = 100) -> Program:
        """A whole trial, to its ordinary end."""
        folder.mkdir(exist_ok=True)
        with self.started(folder, *options) as program:
            program.command(f"warm-up {warm_up}")
            program.command("measure")
            program.command("drained")
            program.await_event("written")
            assert program.end() == 0
        return program


@pytest.fixture(scope="session", params=sorted(LANGUAGES))
def workload(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Workload:
    name: str = request.param
    if shutil.which(LANGUAGES[name].runtime) is None:
        pytest.skip(f"needs {LANGUAGES[name].runtime}")
    return Workload(name, tmp_path_factory.mktemp(f"calltree-{name}"))


def test_every_language_is_here() -> None:
    assert sorted(LANGUAGES) == sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())


def test_every_call_leaves_one_sample(workload: Workload, tmp_path: Path) -> None:
    program = workload.measured(tmp_path, "--calls", 1_003, "--depth", 10)
    assert len(program.values("samples")) == 1_003
    assert program.values("samples").min() > 0
    caller = program.output().caller[0]
    assert program.values("samples").sum() <= caller["last_ns"] - caller["first_ns"]
    assert caller["cpu_ns"] > 0


def test_the_trial_can_be_read_and_says_what_was_made(workload: Workload, tmp_path: Path) -> None:
    output = workload.measured(tmp_path, "--calls", 1_003, "--depth", 10).output()
    assert (output.format, output.workload) == (1, f"calltree/{workload.name}")
    assert (output.calls, output.invocations, output.threads) == (1_003, 10_030, 1)
    assert output.files == {"samples": ["samples-0.i64"], "start": [], "late": []}
    assert (output.warm_up["calls"], output.warm_up["bursts"]) == (100, 1)
    assert set(output.warm_up) == {"calls", "bursts", "driver_level", "method_level", "how"}
    assert output.clock["resolution_ns"] >= 1
    assert output.clock["read_ns"] > 0
    assert output.versions


def test_the_trial_has_five_snapshots_in_order(workload: Workload, tmp_path: Path) -> None:
    snapshots = workload.measured(tmp_path, "--calls", 100, "--depth", 1).output().snapshots
    assert set(snapshots) == {"main", "first_call", "last_call", "drained", "collected"}
    ordered = [snapshots[name] for name in ("main", "first_call", "last_call", "drained", "collected")]
    for counter in ("monotonic_ns", "process_cpu_ns"):
        assert [each[counter] for each in ordered] == sorted(each[counter] for each in ordered)


def test_the_status_tells_the_course_of_the_trial(workload: Workload, tmp_path: Path) -> None:
    before = time.monotonic_ns()
    program = workload.measured(tmp_path, "--calls", 100, "--depth", 1)
    lines = [parse_status(line) for line in program.status.read_text().splitlines()]
    assert [line.name for line in lines] == STAGES
    times = [before, *(line.at_ns for line in lines), time.monotonic_ns()]
    assert times == sorted(times), "the clock is CLOCK_MONOTONIC"
    warmed = lines[STAGES.index("warmed")]
    assert set(warmed.values) == {"calls", "driver", "method", "how"}
    assert warmed.number("calls") == 100


def test_bursts_are_counted_together_and_told_one_by_one(workload: Workload, tmp_path: Path) -> None:
    with workload.started(tmp_path, "--calls", 10, "--depth", 1) as program:
        for burst in (1, 40, 3):
            program.command(f"warm-up {burst}")
        program.await_event("warmed", 3)
        assert program.end() == 0
    warmed = [text.split(" ")[0] for text in program.texts("warmed")]
    assert warmed == ["calls=1", "calls=41", "calls=44"]
    assert len(program.texts("first-monitored")) == 1


def test_warm_up_comes_to_an_end_and_says_how_it_knows(workload: Workload, tmp_path: Path) -> None:
    warmed: dict[str, str] = {}
    with workload.started(tmp_path, "--calls", 10, "--depth", 10) as program:
        until = time.monotonic() + LIMIT_S
        for burst in range(1, 1_000):
            program.command("warm-up 1000")
            warmed = dict(pair.split("=") for pair in program.await_event("warmed", burst).split(" "))
            if (warmed["driver"], warmed["method"]) == ("4", "4") or time.monotonic() > until:
                break
        assert program.end() == 0
    assert (warmed["driver"], warmed["method"]) == ("4", "4")
    assert warmed["how"]


def test_a_rate_is_a_schedule_of_intended_starts(workload: Workload, tmp_path: Path) -> None:
    program = workload.measured(tmp_path, "--calls", 100, "--depth", 1, "--rate", 2_000)
    assert program.values("start").tolist() == [k * 500_000 for k in range(100)]
    assert program.output().files == {kind: [f"{kind}-0.i64"] for kind in ("samples", "start", "late")}


@pytest.mark.parametrize("wait", ["spin", "park"])
def test_no_call_starts_before_its_time(workload: Workload, tmp_path: Path, wait: str) -> None:
    program = workload.measured(tmp_path, "--calls", 100, "--depth", 1, "--rate", 2_000, "--wait", wait)
    assert len(program.values("late")) == 100
    assert program.values("late").min() >= 0
    snapshots = program.output().snapshots
    assert snapshots["last_call"]["monotonic_ns"] - snapshots["first_call"]["monotonic_ns"] >= 99 * 500_000


def test_late_calls_are_made_all_the_same_on_the_old_schedule(workload: Workload, tmp_path: Path) -> None:
    options = ("--calls", 300, "--depth", 1, "--rate", 1e6, "--method-time-ns", 20_000)
    program = workload.measured(tmp_path, *options)
    assert program.values("start").tolist() == [k * 1_000 for k in range(300)]
    assert program.values("late")[-1] >= 299 * (20_000 - 1_000)
    began = program.values("start") + program.values("late")
    ended = began + program.values("samples")
    assert (began[1:] >= ended[:-1]).all(), "a call is timed from its real start, when the one before has ended"


def test_calls_divide_over_threads_with_the_remainder_to_the_first(workload: Workload, tmp_path: Path) -> None:
    if not workload.language.threads:
        pytest.skip("one thread")
    program = workload.measured(tmp_path, "--calls", 101, "--depth", 2, "--threads", 3, "--rate", 10_000, warm_up=1)
    assert [len(program.values("samples", thread)) for thread in range(3)] == [34, 34, 33]
    assert [caller["thread"] for caller in program.output().caller] == [0, 1, 2]
    starts = np.concatenate([program.values("start", thread) for thread in range(3)])
    assert np.sort(starts).tolist() == [k * 100_000 for k in range(101)]


def test_threads_that_it_has_not_are_refused(workload: Workload, tmp_path: Path) -> None:
    if workload.language.threads:
        pytest.skip("has threads")
    with workload.started(tmp_path, "--calls", 10, "--depth", 1, "--threads", 2) as program:
        assert program.process.wait(LIMIT_S) == 1
    assert "--threads 2: this program has one thread" in program.errors.read_text()


def test_the_method_works_as_long_as_asked(workload: Workload, tmp_path: Path) -> None:
    program = workload.measured(tmp_path, "--calls", 200, "--depth", 10, "--method-time-ns", 50_000)
    assert program.values("samples").min() >= 50_000
    assert program.values("samples").min() < 10 * 50_000, "only the innermost execution works"


def test_the_method_calls_itself_as_deep_as_asked(workload: Workload, tmp_path: Path) -> None:
    flat = workload.measured(tmp_path / "flat", "--calls", 300, "--depth", 1)
    deep = workload.measured(tmp_path / "deep", "--calls", 300, "--depth", 2_000)
    assert np.median(deep.values("samples")) > 5 * np.median(flat.values("samples"))


def test_a_depth_that_no_stack_holds_is_told_and_ends_the_program_with_code_1(
    workload: Workload, tmp_path: Path
) -> None:
    with workload.started(tmp_path, "--calls", 10, "--depth", TOO_DEEP) as program:
        assert program.process.stdin is not None
        try:
            program.command("measure")
        except BrokenPipeError:
            program.process.stdin = None
        assert program.process.wait(LIMIT_S) == 1
    said = [program.errors.read_text(), *program.texts("error")]
    assert all(workload.language.too_deep in text for text in said)
    assert not program.out.exists()


@pytest.mark.parametrize("stage", ["main", "ready", "warmed", "last-call"])
def test_the_end_of_input_ends_it_without_results(workload: Workload, tmp_path: Path, stage: str) -> None:
    with workload.started(tmp_path, "--calls", 1_000, "--depth", 10) as program:
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
    assert program.texts("error") == []


@pytest.mark.parametrize("pace", [(), ("--rate", 2_000), ("--rate", 2_000, "--wait", "park")])
def test_the_end_of_input_stops_the_measured_calls(
    workload: Workload, tmp_path: Path, pace: tuple[object, ...]
) -> None:
    options = ("--calls", 1_000_000, "--depth", 10, "--method-time-ns", 100_000, *pace)
    with workload.started(tmp_path, *options) as program:
        program.command("measure")
        program.await_event("first-call")
        assert program.end() == 0
    assert program.texts("last-call") == []
    assert not program.out.exists()


@pytest.mark.parametrize("command", ["mesure", "warm-up", "warm-up 0", "warm-up -1", "warm-up 1 2"])
def test_an_unknown_command_is_an_error(workload: Workload, tmp_path: Path, command: str) -> None:
    with workload.started(tmp_path, "--calls", 10, "--depth", 1) as program:
        program.command(command)
        assert program.process.wait(LIMIT_S) == 1
    assert command in program.texts("error")[0]
    assert f"calltree: command '{command}'" in program.errors.read_text()


@pytest.mark.parametrize("commands", [("drained",), ("measure", "measure")])
def test_a_command_out_of_turn_is_an_error(workload: Workload, tmp_path: Path, commands: tuple[str, ...]) -> None:
    with workload.started(tmp_path, "--calls", 10, "--depth", 1) as program:
        for command in commands:
            program.command(command)
        assert program.process.wait(LIMIT_S) == 1
    assert commands[-1] in program.texts("error")[0]
    assert not program.out.exists()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--calls", 0, "--depth", 1), "--calls 0"),
        (("--calls", "1e3", "--depth", 1), "--calls 1e3"),
        (("--calls", 10), "--depth"),
        (("--calls", 10, "--depth", 0), "--depth 0"),
        (("--calls", 10, "--depth", 1, "--threads", 0), "--threads 0"),
        (("--calls", 10, "--depth", 1, "--method-time-ns", -1), "--method-time-ns -1"),
        (("--calls", 10, "--depth", 1, "--rate", "fast"), "--rate fast"),
        (("--calls", 10, "--depth", 1, "--rate", 0), "--rate 0"),
        (("--calls", 10, "--depth", 1, "--rate", "nan"), "--rate nan"),
        (("--calls", 10, "--depth", 1, "--wait", "sleep"), "--wait sleep"),
        (("--calls", 10, "--depth", 1, "--dept", 1), "--dept"),
    ],
)
def test_a_wrong_option_is_named(workload: Workload, tmp_path: Path, options: tuple[object, ...], named: str) -> None:
    with workload.started(tmp_path, *options) as program:
        assert program.process.wait(LIMIT_S) == 1
    said = program.errors.read_text()
    assert said.startswith("calltree: ")
    assert named in said
    assert len(said.splitlines()) == 2, "what is wrong, how it is used, and no stack trace"


def test_an_option_without_a_value_is_named(workload: Workload, tmp_path: Path) -> None:
    with workload.started(tmp_path, "--calls", 10, "--depth", 1, "--rate") as program:
        assert program.process.wait(LIMIT_S) == 1
    assert "calltree: " in program.errors.read_text()
