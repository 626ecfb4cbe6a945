"""The call tree workload: start its driver, speak the control protocol with it, read what it leaves."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tracetax.model import Parameters
from tracetax.process import Process
from tracetax.workloads.heap import Collections

TOP_TIER = 4
LONGEST_NUMBER = 19
"""Digits of the largest int64."""
CHUNK_CALLS = 16
"""Calls that the driver makes in one go; HotSpot counts these chunks when it decides what to compile."""


class WorkloadFailed(Exception):
    """The workload did not do what it was told; ``code`` is the verdict's."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class Status(Struct, frozen=True):
    """One line of the status file."""

    name: str
    at_ns: int
    values: dict[str, str]
    text: str

    def number(self, key: str) -> int:
        """A whole number that the line gives. Raises WorkloadFailed where it does not."""
        number = whole_number(self.values.get(key, "").removeprefix("-"))
        if number is None:
            said = f"{self.name} {self.text}"[:80]
            raise WorkloadFailed("output-broken", f"the workload's status file gives no number {key!r}: {said!r}")
        return -number if self.values[key].startswith("-") else number


class Output(Struct, frozen=True):
    """The workload's ``trial.json``."""

    format: int
    workload: str
    files: dict[str, list[str]]
    threads: int
    calls: int
    invocations: int
    clock: dict[str, float]
    snapshots: dict[str, dict[str, float]]
    caller: list[dict[str, float]]
    versions: dict[str, str]
    vm_flags: str = ""
    collections: Collections | None = None
    warm_up: dict[str, Any] = {}


def arguments(parameters: Parameters, output: Path, status: Path, start_up: str) -> tuple[str, ...]:
    """The driver's own options; ``start_up`` is what it runs first where methods are called at the start."""
    rate = "full" if parameters.rate == "full" else f"{parameters.rate!r}"
    return (
        *("--calls", str(parameters.calls)),
        *("--depth", str(parameters.depth)),
        *("--method-time-ns", str(parameters.method_time_ns)),
        *("--threads", str(parameters.threads)),
        *("--rate", rate),
        *("--wait", parameters.wait),
        *(("--start-up", start_up) if parameters.start_up_methods else ()),
        *("--out", str(output)),
        *("--status", str(status)),
    )


class Driver:
    """A running driver: says commands on its standard input and follows its status file."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        status: Path,
        logs: Path,
        meanwhile: Callable[[], None] = lambda: None,
        cores: Collection[int] = (),
    ) -> None:
        """Start it, on ``cores`` alone where some are named. ``status`` must be the file named in its options.

        ``meanwhile`` is called while it is waited for, and may raise where waiting has become useless.
        """
        self._meanwhile = meanwhile
        self.status = status
        self.logs = logs
        status.touch()
        self._read = 0
        self._partial = b""
        self._lines: list[Status] = []
        self._taken = 0
        self.process = Process(
            command,
            environment=environment,
            stdout=logs / "stdout.txt",
            stderr=logs / "stderr.txt",
            directory=logs,
            cores=cores,
        )

    def say(self, command: str) -> None:
        """Say one command. Raises WorkloadFailed where nobody listens."""
        try:
            self.process.write_line(command)
        except BrokenPipeError:
            self.process.wait(2.0)
            raise self._ended(f"before the command {command!r}") from None

    def wait_for(self, name: str, seconds: float, *, interval: float = 0.02) -> Status:
        """The next status line called ``name``; lines before it are passed over.

        Raises WorkloadFailed: ``workload-error`` (it says so itself), ``jvm-ended``, ``jvm-hangs``.
        """
        deadline = time.monotonic() + seconds
        while True:
            ended = self.process.poll()
            self._follow()
            while self._taken < len(self._lines):
                line = self._lines[self._taken]
                self._taken += 1
                if line.name == name:
                    return line
                if line.name == "error":
                    raise WorkloadFailed("workload-error", f"the workload reports: {line.text}")
            if ended:
                self._meanwhile()  # what ended beside it may be the cause, and is named then
                raise self._ended(f"while waiting for {name!r}")
            if time.monotonic() > deadline:
                raise WorkloadFailed(
                    "jvm-hangs", f"the JVM did not get to {name!r} within {seconds:.0f} s and was ended"
                )
            self._meanwhile()
            time.sleep(interval)

    def moment(self, name: str) -> int:
        """When a status was reached, the last time if often, CLOCK_MONOTONIC ns; 0 where it was not."""
        self._follow()
        return next((line.at_ns for line in reversed(self._lines) if line.name == name), 0)

    def _follow(self) -> None:
        with self.status.open("rb") as stream:
            stream.seek(self._read)
            data = stream.read()
        self._read += len(data)
        *whole, self._partial = (self._partial + data).split(b"\n")
        self._lines.extend(parse_status(line.decode(errors="replace")) for line in whole if line)

    def _ended(self, when: str) -> WorkloadFailed:
        ending = self.process.poll()
        how = ending.description if ending else "closed its input"
        after = (time.monotonic_ns() - self.process.started_ns) / 1e9
        return WorkloadFailed("jvm-ended", f"the JVM {how} after {after:.1f} s, {when}")


def whole_number(text: str) -> int | None:
    """The number that a foreign text is, if it is one of at most ``LONGEST_NUMBER`` ASCII digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER else None


def parse_status(line: str) -> Status:
    """Read ``name monotonic_ns key=value …``; what is no such line gives a status that nobody waits for."""
    name, _, rest = line.partition(" ")
    at, _, text = rest.partition(" ")
    values = dict(word.split("=", 1) for word in text.split() if "=" in word)
    return Status(name=name, at_ns=whole_number(at) or 0, values=values, text=text)


def read_output(folder: Path) -> Output:
    """Read ``trial.json``. Raises WorkloadFailed where it is missing or broken."""
    path = folder / "trial.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Output)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WorkloadFailed("output-broken", f"the workload left no readable trial.json: {error}") from None


def read_samples(folder: Path, name: str, expected: int | None = None) -> NDArray[np.int64]:
    """Read one file of little-endian int64. Raises WorkloadFailed where its length is not ``expected`` values."""
    try:
        values = np.fromfile(folder / name, dtype="<i8")
    except OSError as error:
        raise WorkloadFailed("output-broken", f"cannot read the workload's {name}: {error}") from None
    if expected is not None and len(values) != expected:
        raise WorkloadFailed("output-broken", f"{name} holds {len(values)} samples, {expected} were due")
    return values.astype(np.int64, copy=False)
