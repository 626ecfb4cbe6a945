"""The sink beside a trial: start it, ask it for its counts, close a phase, end it."""

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from tracetax.companions.loopback import free_port
from tracetax.companions.receiver import Counts, PhaseReport
from tracetax.machine.threads import process_clock_ns
from tracetax.model import SCRAPED, Scrape
from tracetax.process import Process, clean_environment

ANSWER_SECONDS = 20.0
POLL_SECONDS = 0.01


class SinkLost(Exception):
    """The sink ended or stopped answering in the middle of a trial; the message says how."""

    code = "sink-lost"
    """Code of the verdict on the trial."""


class Sink:
    """A fresh sink process. Use as a context manager."""

    def __init__(
        self,
        binary: Path,
        *,
        shape: Sequence[str],
        record_name: str,
        error_log: Path,
        protocols: Collection[str] = (),
        cores: Collection[int] = (),
    ) -> None:
        """Start it, on ``cores`` alone where some are named, and read the ports that it picked.

        It speaks ``protocols`` alone where some are named, else all that it can. ``shape`` are its options that say
        what a whole tree of records is.

        Raises SinkLost where it does not come up.
        """
        self.error_log = error_log
        self.command = (
            str(binary),
            *shape,
            *("--record-name", record_name),
            *(("--protocols", ",".join(sorted(protocols))) if protocols else ()),
        )
        self.process = Process(
            self.command,
            environment=clean_environment(os.environ, {}),
            stdout=subprocess.PIPE,
            stderr=error_log,
            cores=cores,
        )
        self._buffer = b""
        try:
            self.ports: dict[str, int] = {**self._read_answer()["ports"], SCRAPED: free_port()}
            """Ports by protocol; where the sink asks instead of listening, the port on which the agent shall answer."""
        except BaseException:
            self.process.kill()
            raise

    @property
    def cpu_ns(self) -> int:
        """CPU of all threads of the sink since its start; 0 where it is gone."""
        with contextlib.suppress(OSError):
            return process_clock_ns(self.process.pid)
        return 0

    @property
    def cpu_with_others_ns(self) -> int:
        """CPU of the sink alone: nothing stands beside it."""
        return self.cpu_ns

    def counts(self) -> Counts:
        """What has arrived in the current phase so far."""
        return msgspec.convert(self._ask("counts"), Counts)

    def next_phase(self, name: str) -> PhaseReport:
        """Close the current phase and begin ``name``; returns the closed phase."""
        return msgspec.convert(self._ask(f"phase {name}"), PhaseReport)

    def next_phase_after(self, records: int, name: str) -> None:
        """Let the current phase close itself when it has received ``records``; what follows belongs to ``name``.

        For records that an agent holds back on an ordered stream: they still belong to the phase that made them.
        """
        self._ask(f"phase {name} after {records}")

    def read(self, protocol: str, folder: Path, *, phase: str, edge: Literal["after", "last"], records: int) -> None:
        """Count the files in ``folder``; ``phase`` begins after the first ``records`` of them, or with the last.

        Returns when all are counted. Raises SinkLost where they cannot be read.
        """
        self._ask(f"read {protocol} {phase} {edge} {records} {folder}")
        read, since = -1, time.monotonic()
        while (counts := self.counts()).reading:
            if counts.read_bytes > read:
                read, since = counts.read_bytes, time.monotonic()
            elif time.monotonic() - since > ANSWER_SECONDS:
                raise self._lost(f"got no further in reading {folder} for {ANSWER_SECONDS:.0f} s")
            time.sleep(POLL_SECONDS)
        if counts.read_error:
            raise self._lost(f"could not read {folder} ({counts.read_error})")

    def scrape(self, what: Scrape) -> None:
        """Ask the agent for its metrics from now on, as soon as it serves them."""
        path, interval_ms = what.path, max(1, what.interval_ns // 10**6)
        self._ask(f"scrape {self.ports[SCRAPED]} {path} {interval_ms} {what.metric}".rstrip())

    def await_answer(self, seconds: float) -> None:
        """Wait until the agent has served its metrics for the first time, but no longer than that."""
        deadline = time.monotonic() + seconds
        while not self.counts().answers and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)

    def scrape_last(self) -> None:
        """Ask the agent for its metrics once more, before it ends."""
        self._ask("scrape last")

    def check(self) -> None:
        """Raise SinkLost where it has ended: waiting for anything that needs it has become useless."""
        if self.process.poll():
            raise self._lost("is gone")

    def stop(self) -> PhaseReport:
        """End it the ordinary way; returns the last phase."""
        report = msgspec.convert(self._ask("stop"), PhaseReport)
        self.process.stop()
        return report

    def _ask(self, command: str) -> dict[str, Any]:
        try:
            self.process.write_line(command)
        except BrokenPipeError:
            raise self._lost(f"does not take the command {command!r}") from None
        return self._read_answer()

    def _read_answer(self) -> dict[str, Any]:
        stream = self.process.stdout.fileno()
        deadline = time.monotonic() + ANSWER_SECONDS
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([stream], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise self._lost(f"gave no answer for {ANSWER_SECONDS:.0f} s")
            data = os.read(stream, 1 << 16)
            if not data:
                raise self._lost("closed its output")
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise self._lost(f"answered: {answer['error']}")
        return answer

    def _lost(self, what: str) -> SinkLost:
        ending = self.process.wait(1.0)
        how = ending.description if ending else "still runs"
        return SinkLost(f"the sink {what} and {how}; its messages: {self.error_log}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.__exit__(kind, error, trace)
