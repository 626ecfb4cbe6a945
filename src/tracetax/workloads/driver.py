"""The control protocol, the same for every program under test: commands on standard input, answers in a status file."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from tracetax.process import Ending, Process

TOP_TIER = 4
"""The highest tier that code is compiled in, as drivers report it."""
BESIDE_SECONDS = 0.5
"""How long is waited, where it has failed, for the end of what it needs."""
LONGEST_NUMBER = 19
"""Digits of the largest int64."""
HANGS, ENDED, CALLS_FAILED = "jvm-hangs", "jvm-ended", "calls-failed"
"""Verdicts on a workload in any language; the names are those of records that are kept."""
LOAD_LOG = "load.txt"
"""What a load prints, beside the logs of the service that it calls."""


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
        program: Process | None = None,
    ) -> None:
        """Start it, on ``cores`` alone where some are named. ``status`` must be the file named in its options.

        ``program`` is the service that it calls, where it is not the program under test itself.
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
            stdout=logs / (LOAD_LOG if program else "stdout.txt"),
            stderr=logs / (LOAD_LOG if program else "stderr.txt"),
            directory=logs,
            cores=cores,
        )
        self.program = program or self.process
        """The program under test."""

    @property
    def loads(self) -> bool:
        """Whether it calls a program that is not itself."""
        return self.program is not self.process

    def end(self, grace: float, by: str = "") -> Ending:
        """End it the ordinary way, and a program that it calls by the signal ``by`` then; how the program ended."""
        ending = self.process.stop(grace=grace)
        return self.program.end_by(by, grace) if self.loads else ending

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
            ended = self.process.poll() or self.program.poll()
            self._follow()
            while self._taken < len(self._lines):
                line = self._lines[self._taken]
                self._taken += 1
                if line.name == name:
                    return line
                if line.name == "error":
                    self.look_beside()
                    raise WorkloadFailed("workload-error", f"{self._who} reports: {line.text}")
            if ended:
                self.look_beside()
                raise self._ended(f"while waiting for {name!r}")
            if time.monotonic() > deadline:
                text = f"{self._who} did not get to {name!r} within {seconds:.0f} s and was ended"
                raise WorkloadFailed(HANGS, text)
            self._meanwhile()
            time.sleep(interval)

    def look_beside(self) -> None:
        """Raise where something beside it has ended, or ends within a moment: it may be the cause, and is named then.

        What is killed closes its connections first, and counts as ended a little later.
        """
        deadline = time.monotonic() + BESIDE_SECONDS
        while time.monotonic() < deadline:
            self._meanwhile()
            time.sleep(0.02)

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
        ending = self.program.poll()
        who = "the workload" if ending else self._who
        ending = ending or self.process.poll()
        how = ending.description if ending else "closed its input"
        after = (time.monotonic_ns() - self.process.started_ns) / 1e9
        return WorkloadFailed(ENDED, f"{who} {how} after {after:.1f} s, {when}")

    @property
    def _who(self) -> str:
        return "the load" if self.loads else "the workload"


def whole_number(text: str) -> int | None:
    """The number that a foreign text is, if it is one of at most ``LONGEST_NUMBER`` ASCII digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER else None


def parse_status(line: str) -> Status:
    """Read ``name monotonic_ns key=value …``; what is no such line gives a status that nobody waits for."""
    name, _, rest = line.partition(" ")
    at, _, text = rest.partition(" ")
    values = dict(word.split("=", 1) for word in text.split() if "=" in word)
    return Status(name=name, at_ns=whole_number(at) or 0, values=values, text=text)
