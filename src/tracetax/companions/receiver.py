"""What a trial's records go to: the sink, or a real backend in its place. The runner treats both alike."""

from collections.abc import Mapping
from typing import Protocol

from tracetax.companions.sink import Counts, PhaseReport
from tracetax.model import Scrape

# ruff: noqa: D102 - each is explained where the sink defines it


class Receiver(Protocol):
    """A companion of a trial that receives records and says how many."""

    @property
    def ports(self) -> Mapping[str, int]: ...

    @property
    def cpu_ns(self) -> int: ...

    @property
    def cpu_with_others_ns(self) -> int: ...

    def counts(self) -> Counts: ...

    def next_phase(self, name: str) -> PhaseReport: ...

    def next_phase_after(self, records: int, name: str) -> None: ...

    def scrape(self, what: Scrape) -> None: ...

    def await_answer(self, seconds: float) -> None: ...

    def scrape_last(self) -> None: ...

    def check(self) -> None: ...

    def stop(self) -> PhaseReport: ...
