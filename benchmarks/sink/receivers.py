"""The three receivers: each is started, gives an address, and says what it has counted when it is asked to end."""

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sink.programs import HERE, Programs

START_SECONDS = 60.0
STEP_SECONDS = 0.05
_ACCEPTED = re.compile(r"^otelcol_receiver_accepted_spans(?:_total)?\{.*\} (\S+)$", re.MULTILINE)


class CountsDiffer(Exception):
    """A receiver did not get what was sent."""


class Receiver:
    """A running receiver. Use as a context manager."""

    def __init__(self, command: list[str], environment: dict[str, str] | None = None) -> None:
        """Start it."""
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self.address = ""

    def cpu_ns(self) -> int:
        """CPU time of all its threads, user and system; none of them ends before the process does."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir())

    def check(self, calls: int, depth: int) -> None:
        """End it. Raises CountsDiffer unless it has counted all spans."""
        raise NotImplementedError

    def answer(self) -> dict[str, Any]:
        """The next line that it prints."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def end_input(self) -> None:
        """Close its standard input."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()


class Sink(Receiver):
    """Ours. It checks the structure of every tree."""

    def __init__(self, programs: Programs, depth: int, record_name: str) -> None:
        """Start it with the one protocol."""
        options = ["--protocols", "otlp-grpc", "--depth", str(depth), "--record-name", record_name]
        super().__init__([str(programs.sink), *options])
        self.address = f"127.0.0.1:{self.answer()['ports']['otlp-grpc']}"

    def check(self, calls: int, depth: int) -> None:
        """See Receiver; every tree must be complete too."""
        self.end_input()
        count = self.answer()["protocols"]["otlp-grpc"]
        found = tuple(count[name] for name in ("records", "complete_trees", "partial_trees", "duplicates", "malformed"))
        expect("sink", found, (calls * depth, calls, 0, 0, 0))


class UnreadSink(Sink):
    """Ours, where the messages are sent to its service for metrics: taken, counted in bytes and not looked at."""

    def __init__(self, programs: Programs, depth: int, record_name: str, size: int) -> None:
        """Start it; ``size`` is the bytes of all messages."""
        super().__init__(programs, depth, record_name)
        self.size = size

    def check(self, calls: int, depth: int) -> None:
        """See Receiver."""
        self.end_input()
        expect("sink", self.answer()["protocols"]["otlp-grpc"]["other_bytes"]["metrics"], self.size)


class Unmarshalling(Receiver):
    """A Go gRPC receiver that unmarshals every message; or, with a file, one that writes them there."""

    def __init__(self, programs: Programs, record: Path | None = None) -> None:
        """Start it."""
        super().__init__([str(programs.receiver), *(["record", str(record)] if record else ["receive"])])
        self.address = self.answer()["address"]

    def check(self, calls: int, depth: int) -> None:
        """See Receiver."""
        self.end_input()
        expect("unmarshalling receiver", self.answer()["spans"], calls * depth)


class Collector(Receiver):
    """The OpenTelemetry Collector with the nop exporter."""

    def __init__(self, programs: Programs) -> None:
        """Start it and wait until it listens."""
        assert programs.collector
        port, self.metrics_port = free_ports()
        self.address = f"127.0.0.1:{port}"
        super().__init__(
            [str(programs.collector), "--config", str(HERE / "collector" / "config.yaml")],
            {"OTLP_ADDRESS": self.address, "METRICS_PORT": str(self.metrics_port)},
        )
        self.address = f"127.0.0.1:{port}"
        deadline = time.monotonic() + START_SECONDS
        while not all(listens(each) for each in (port, self.metrics_port)):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.process.kill()
                raise RuntimeError("the Collector did not start; what it says is above")
            time.sleep(STEP_SECONDS)

    def check(self, calls: int, depth: int) -> None:
        """See Receiver: its own metric tells."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics") as reply:
            accepted = sum(float(value) for value in _ACCEPTED.findall(reply.read().decode()))
        self.process.send_signal(signal.SIGTERM)
        expect("Collector", accepted, calls * depth)


def makers(programs: Programs, depth: int, record_name: str) -> dict[str, Callable[[], Receiver]]:
    """What starts each of the three, ours first."""
    return {
        "sink": lambda: Sink(programs, depth, record_name),
        "unmarshalling receiver": lambda: Unmarshalling(programs),
        "Collector + nop": lambda: Collector(programs),
    }


def expect(who: str, found: object, wanted: object) -> None:
    """Raise CountsDiffer unless both are the same."""
    if found != wanted:
        raise CountsDiffer(f"{who}: counted {found}, sent were {wanted}")


def free_ports() -> tuple[int, int]:
    """Two ports of the loopback interface that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        return one.getsockname()[1], other.getsockname()[1]


def listens(port: int) -> bool:
    """Whether somebody listens on a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
