"""A real backend in the sink's place: started for one trial, asked for its own counters, ended with the trial."""

import contextlib
import http.client
import json
import os
import shutil
import socket
import time
import urllib.request
from collections.abc import Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from msgspec import Struct
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from tracetax.backend import Backend, port_name
from tracetax.catalog.placeholders import fill
from tracetax.companions.loopback import free_port, listens_elsewhere
from tracetax.companions.receiver import Counts, PhaseReport
from tracetax.companions.sink import Sink, SinkLost
from tracetax.ledger import ProtocolCount
from tracetax.machine.threads import process_clock_ns
from tracetax.model import Scrape
from tracetax.process import Process, clean_environment

READY_POLL_SECONDS = 0.05
ANSWER_SECONDS = 20.0
OFTEN_SECONDS = 0.01
SELDOM_SECONDS = 0.2
"""Between two looks at a backend's counters: each costs the backend CPU, which is charged in the measured phase."""
REST_SECONDS = 0.5
"""Without a rise of its counters at the end, after which a backend has counted what it had taken."""
REST_LIMIT = 5.0


class BackendLost(SinkLost):
    """The backend did not start, ended, or stopped answering; the message says how, and where its log is."""

    code = "backend-failed"


class Supplied(Struct, frozen=True):
    """A backend and all that it is started with, but for its ports and the trial's folder."""

    backend: Backend
    runner: Path | None
    """What runs it; None where it is a program by itself."""
    values: dict[str, str]
    """What the placeholders in the backend's file are filled with, by name."""


class Totals(Struct, frozen=True):
    """What a backend's own counters say since its start, in records."""

    received: int = 0
    dropped: int = 0
    refused: int = 0


class BackendServer:
    """A fresh backend that listens on loopback alone. Use as a context manager.

    ``beside`` is a sink for what the agent sends by protocols that the backend does not speak, such as its log.
    """

    def __init__(
        self,
        supplied: Supplied,
        protocol: str,
        *,
        charged: str,
        folder: Path,
        log: Path,
        cores: Collection[int] = (),
        beside: Sink | None = None,
    ) -> None:
        """Start it in ``folder``, which it may fill and which goes with it, and wait until it is ready.

        In the phase ``charged`` its counters are looked at seldom. Raises BackendLost where it does not come up.
        """
        self.log = log
        self.backend = supplied.backend
        self._protocol = protocol
        self._charged = charged
        self._folder = folder
        self._beside = beside
        self._named = {name: free_port() for name in self.backend.ports}
        own = {protocol: self._named[port_name(protocol)] for protocol in self.backend.accepts}
        self.ports: Mapping[str, int] = {**(beside.ports if beside else {}), **own}
        self._totals = self._at_phase = Totals()
        self._phase = ""
        self._looked = 0.0
        self._first_ns = self._last_ns = 0
        self._cpu_at_phase = 0
        folder.mkdir(parents=True, exist_ok=True)
        values = {
            **supplied.values,
            **{f"port.{name}": str(port) for name, port in self._named.items()},
            "trial.dir": str(folder),
        }
        self.command = command_of(self.backend, supplied.runner, values, folder)
        own_variables = {name: fill(value, values) for name, value in self.backend.start.environment.items()}
        self.process = Process(
            self.command,
            environment=clean_environment(os.environ, {"TMPDIR": str(folder), **own_variables}),
            stdout=log,
            stderr=log,
            directory=folder,
            cores=cores,
        )
        try:
            self._await_ready()
            self._look()
        except BaseException:
            self._end()
            raise

    @property
    def cpu_ns(self) -> int:
        """CPU of all threads of the backend since its start; 0 where it is gone."""
        with contextlib.suppress(OSError):
            return process_clock_ns(self.process.pid)
        return 0

    @property
    def cpu_with_others_ns(self) -> int:
        """CPU of the backend, and of the sink where one stands beside it."""
        return self.cpu_ns + (self._beside.cpu_ns if self._beside else 0)

    def counts(self) -> Counts:
        """What has arrived in the current phase, as of a moment ago."""
        pause = SELDOM_SECONDS if self._phase == self._charged else OFTEN_SECONDS
        if time.monotonic() - self._looked >= pause:
            self._look()
        other = self._beside.counts() if self._beside else None
        return Counts(
            phase=self._phase,
            records=self._count.records,
            bytes=0,
            last_arrival_ns=self._last_ns,
            open_connections=other.open_connections if other else 0,
            malformed=0,
            cpu_ns=self.cpu_ns - self._cpu_at_phase,
        )

    def next_phase(self, name: str) -> PhaseReport:
        """Close the current phase and begin ``name``; returns the closed phase."""
        self._look()
        report = self._report(self._beside.next_phase(name) if self._beside else None)
        self._phase, self._at_phase = name, self._totals
        self._first_ns = self._last_ns = 0
        self._cpu_at_phase = self.cpu_ns
        return report

    def next_phase_after(self, records: int, name: str) -> None:
        """Only the sink can; the catalog lets no configuration come here that needs it."""
        raise self._lost(f"cannot begin {name} after {records} records")

    def scrape(self, what: Scrape) -> None:
        """Only the sink asks agents for metrics."""
        raise self._lost(f"does not ask for {what.path}")

    def await_answer(self, seconds: float) -> None:
        """Only the sink asks agents for metrics."""

    def scrape_last(self) -> None:
        """Only the sink asks agents for metrics."""

    def check(self) -> None:
        """Raise BackendLost where the backend has ended."""
        if self.process.poll():
            raise self._lost("is gone")
        if self._beside:
            self._beside.check()

    def stop(self) -> PhaseReport:
        """End the backend when its counters rest; returns the last phase."""
        limit = time.monotonic() + REST_LIMIT
        before, since = self._totals, time.monotonic()
        while time.monotonic() - since < REST_SECONDS and time.monotonic() < limit:
            self._look()
            if self._totals != before:
                before, since = self._totals, time.monotonic()
            time.sleep(READY_POLL_SECONDS)
        report = self._report(self._beside.stop() if self._beside else None)
        self._end()
        return report

    @property
    def _count(self) -> ProtocolCount:
        now, then = self._totals, self._at_phase
        thrown_away = now.dropped - then.dropped
        return ProtocolCount(
            records=now.received - then.received - thrown_away,
            refused=now.refused - then.refused + thrown_away,
            first_arrival_ns=self._first_ns,
            last_arrival_ns=self._last_ns,
        )

    def _report(self, beside: PhaseReport | None) -> PhaseReport:
        return PhaseReport(
            phase=self._phase,
            protocols={**(beside.protocols if beside else {}), self._protocol: self._count},
            cpu_ns=self.cpu_ns - self._cpu_at_phase,
            max_rss_bytes=0,
            open_connections=0,
        )

    def _look(self) -> None:
        """Read the backend's counters. Raises BackendLost where it does not serve them."""
        counters = self.backend.counters
        text = self._get(counters.port, counters.path)
        read = json_counter if counters.format == "json" else prometheus_counter
        try:
            totals = Totals(
                *(
                    round(sum(read(text, key) for key in keys))
                    for keys in (counters.received, counters.dropped, counters.refused)
                )
            )
        except (json.JSONDecodeError, ValueError, OverflowError) as error:
            raise self._lost(f"serves at {counters.path} what is no {counters.format} ({error})") from error
        self._looked = time.monotonic()
        if totals.received > self._totals.received:
            self._last_ns = time.monotonic_ns()
            self._first_ns = self._first_ns or self._last_ns
        self._totals = totals

    def _get(self, port: str, path: str) -> str:
        """What the backend answers to a GET. Raises BackendLost where it gives no answer for long."""
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            try:
                return fetched(self._named[port], path, max(1.0, deadline - time.monotonic()))
            except (OSError, http.client.HTTPException) as error:
                self.check()
                if time.monotonic() > deadline:
                    raise self._lost(f"gives no answer at {path} ({error})") from error
                time.sleep(READY_POLL_SECONDS)

    def _await_ready(self) -> None:
        ready = self.backend.ready
        limit = ready.within_ns / 1e9
        deadline = time.monotonic() + limit
        while not self._is_ready():
            if self.process.poll():
                raise self._lost("did not start")
            if time.monotonic() > deadline:
                raise self._lost(f"was not ready within {limit:.0f} s")
            time.sleep(READY_POLL_SECONDS)
        if elsewhere := listens_elsewhere(self.process.pid):
            raise self._lost(f"listens on more than the loopback address ({', '.join(elsewhere)})")

    def _is_ready(self) -> bool:
        """Whether the backend says that it is ready, and listens on the port for the agent's records."""
        ready = self.backend.ready
        if not is_open(self._named[ready.port]) or not is_open(self._named[port_name(self._protocol)]):
            return False
        if not ready.path:
            return is_open(self._named[self.backend.counters.port])
        try:
            fetched(self._named[ready.port], ready.path, 5.0)
        except (OSError, http.client.HTTPException):
            return False
        return is_open(self._named[self.backend.counters.port])

    def _lost(self, what: str) -> BackendLost:
        ending = self.process.wait(0.2)
        how = ending.description if ending else "still runs"
        return BackendLost(f"the backend {self.backend.title} {what} and {how}; its messages: {self.log}")

    def _end(self) -> None:
        self.process.stop(grace=0.0)
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.__exit__(kind, error, trace)
        shutil.rmtree(self._folder, ignore_errors=True)


def command_of(backend: Backend, runner: Path | None, values: Mapping[str, str], folder: Path) -> tuple[str, ...]:
    """What starts a backend: a program, or what runs it, whose temporary files go where the trial's do."""
    start = backend.start
    arguments = tuple(fill(argument, values) for argument in start.arguments)
    if not start.by_java:
        return (fill(start.program, values), *arguments)
    where = ("-jar", fill(start.jar, values))
    if start.main:
        where = ("-cp", ":".join(fill(entry, values) for entry in start.class_path), start.main)
    flags = (f"-Djava.io.tmpdir={folder}", *(fill(flag, values) for flag in start.jvm))
    return (str(runner), *flags, *where, *arguments)


def fetched(port: int, path: str, seconds: float) -> str:
    """The answer to a GET on loopback, past any proxy. Raises OSError or HTTPException."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}{path}", timeout=seconds) as answer:
        return answer.read().decode(errors="replace")


def is_open(port: int) -> bool:
    """Whether somebody listens on a port of the loopback address."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def json_counter(text: str, key: str) -> float:
    """The number at a key such as ``spans.received`` in a JSON object; 0 where there is none.

    A dot leads into an inner object, or belongs to a name: whole names go before.
    """
    value = _at(json.loads(text), key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _at(within: Any, key: str) -> Any:
    if not isinstance(within, Mapping):
        return None
    members = cast(Mapping[str, Any], within)
    if key in members:
        return members[key]
    for place, character in enumerate(key):
        if character == "." and key[:place] in members:
            inner = _at(members[key[:place]], key[place + 1 :])
            if inner is not None:
                return inner
    return None


def prometheus_counter(text: str, metric: str) -> float:
    """The sum of a metric's samples that have the labels which ``metric`` names, as in ``spans{transport="grpc"}``.

    ``text`` is Prometheus's own; its lines about types are left out, since the parser calls a counter by another name
    than its server does where that lacks ``_total``. Raises ValueError where a line of the metric cannot be read, and
    OverflowError where its number is too large.
    """
    (wanted,) = _samples(f"{metric} 0")
    lines = (line for line in text.splitlines() if line.lstrip().startswith(wanted.name))
    return sum(
        float(sample.value)
        for sample in _samples("\n".join(lines))
        if sample.name == wanted.name and wanted.labels.items() <= sample.labels.items()
    )


def _samples(text: str) -> list[Sample]:
    return [sample for family in text_string_to_metric_families(text) for sample in family.samples]
