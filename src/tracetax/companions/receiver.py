"""What a trial's records go to: the sink, or a real backend in its place. The runner treats both alike."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from tracetax.ledger import ProtocolCount, summed
from tracetax.model import Scrape


class Counts(Struct, frozen=True):
    """The cheap look at the current phase."""

    phase: str
    records: int
    bytes: int
    last_arrival_ns: int
    open_connections: int
    malformed: int
    cpu_ns: int
    """CPU of the receiver since the phase began."""
    reading: bool = False
    """Whether files are being read."""
    read_bytes: int = 0
    """Bytes of files that were read so far."""
    read_error: str = ""
    """Why files could not be read; empty where they could."""
    answers: int = 0
    """Answers of the agent to requests for its metrics, in all phases."""


class PhaseReport(Struct, frozen=True):
    """What the receiver counted in one phase, by protocol."""

    phase: str
    protocols: dict[str, ProtocolCount]
    cpu_ns: int
    """CPU of the receiver in the phase."""
    max_rss_bytes: int
    open_connections: int
    earlier: tuple["PhaseReport", ...] = ()
    """With the last report: phases that closed by themselves, at the record that the receiver was told."""

    def of(self, protocol: str | None) -> ProtocolCount:
        """The count of one protocol; of all together where the configuration promises nothing on any."""
        if protocol is None:
            return summed(self.protocols.values())
        return self.protocols.get(protocol, ProtocolCount())


class Receiver(Protocol):
    """A companion of a trial that receives records and says how many."""

    @property
    def ports(self) -> Mapping[str, int]:
        """Ports of the loopback address by protocol."""
        ...

    @property
    def cpu_ns(self) -> int:
        """CPU of all threads of the receiver since its start; 0 where it is gone."""
        ...

    @property
    def cpu_with_others_ns(self) -> int:
        """CPU of the receiver and of what stands beside it, since their start."""
        ...

    def counts(self) -> Counts:
        """What has arrived in the current phase so far."""
        ...

    def next_phase(self, name: str) -> PhaseReport:
        """Close the current phase and begin ``name``; returns the closed phase."""
        ...

    def next_phase_after(self, records: int, name: str) -> None:
        """Let the current phase close itself when it has received ``records``; what follows belongs to ``name``."""
        ...

    def scrape(self, what: Scrape) -> None:
        """Ask the agent for its metrics from now on, as soon as it serves them."""
        ...

    def await_answer(self, seconds: float) -> None:
        """Wait until the agent has served its metrics for the first time, but no longer than that."""
        ...

    def scrape_last(self) -> None:
        """Ask the agent for its metrics once more, before it ends."""
        ...

    def check(self) -> None:
        """Raise SinkLost where the receiver has ended: waiting for anything that needs it has become useless."""
        ...

    def stop(self) -> PhaseReport:
        """End the receiver; returns the last phase."""
        ...
