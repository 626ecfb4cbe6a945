"""What the stages of one trial share, and what they ask of a source of records."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from tracetax.companions.receiver import PhaseReport, Receiver
from tracetax.machine.isolation import Isolation
from tracetax.machine.processes import ProcessTree
from tracetax.model import Configuration, Parameters
from tracetax.program import ThreadNames
from tracetax.run.drain import Drained
from tracetax.run.drops import DropLog
from tracetax.run.equipment import Limits
from tracetax.workloads.driver import Driver

WARM_UP = "warm-up"
"""The receiver's name for the phase before the measured calls."""
MEASURED = "measured"
"""The receiver's name for the phase of the measured calls."""


class TrialContext(Struct, frozen=True):
    """One trial under way: what it measures, its processes, how long each stage may take, and who is told."""

    config: Configuration
    parameters: Parameters
    expected: int
    """Records that the measured calls must produce; 0 where none are promised one by one."""
    least_warm_up_calls: int
    """Before so many calls the program does not count as warm."""
    threads: ThreadNames
    """What the program's threads are there for."""
    limits: Limits
    isolation: Isolation
    receiver: Receiver
    driver: Driver
    tree: ProcessTree
    """The program's processes: the one that was started, and where the workload's file says so all that it starts."""
    drops: DropLog
    watch: Callable[[str], None]
    """Told in words what the trial is doing."""
    stores: tuple[ProcessTree, ...] = ()
    """The processes of what it keeps its data in: their CPU is neither the program's nor others'."""
    ends_by: str = ""
    """The signal that ends the program the ordinary way; empty where the end of its input does."""
    calibrates: bool = False
    """Whether the records of single calls are counted before any is measured."""
    learns: bool = False
    """Whether they are counted although nobody has declared how many they are."""

    @property
    def delivers(self) -> bool:
        """Whether records are promised one by one."""
        return self.expected > 0


class Arrivals(Protocol):
    """How the bursts of a warm-up wait for their records."""

    @property
    def seen(self) -> bool:
        """Whether any record has come."""
        ...

    @property
    def given_up(self) -> bool:
        """Whether waiting for records has become pointless."""
        ...

    def wait(self, target: int, *, last: bool = False) -> None:
        """Wait until ``target`` records of the warm-up have come; ``last``: it is the last wait of the warm-up."""
        ...


class RecordSource(Protocol):
    """Where the records of a trial become known: at the receiver while they are sent, or in files afterwards.

    Its methods are called once each, in the order in which they stand here.
    """

    @property
    def arrivals(self) -> Arrivals:
        """How the warm-up waits for records."""
        ...

    @property
    def sent_during_calls(self) -> bool:
        """Whether the receiver takes records while the calls run, so that its CPU is a price of theirs."""
        ...

    def connect(self) -> None:
        """Wait, after the warm-up, for what must be there before the measured calls begin."""
        ...

    def close_warm_up(self, records: int) -> PhaseReport | None:
        """Close the account of the warm-up, which made so many records; None where it closes by itself later."""
        ...

    def look_at_last_call(self) -> None:
        """Note what has come when the last call has returned."""
        ...

    def settle(self, dropped_before: int, last_call_ns: int, agent_cores: Callable[[], float]) -> Drained:
        """Wait after the last call until nothing more is to come.

        ``dropped_before``: drops that were admitted before the measured calls; ``agent_cores``: cores that the agent's
        threads used in the last second.
        """
        ...

    def look_at_drained(self) -> None:
        """Note what has come when nothing more is to come."""
        ...

    def ask_last(self) -> None:
        """Ask for what only the running process can tell, before it ends."""
        ...

    def count(self, warm_up_records: int) -> None:
        """Have the records counted that could not be counted while the process ran."""
        ...

    def arrived(self, before: PhaseReport, measured: PhaseReport) -> tuple[int, int]:
        """Records of the measured calls that had come at the last call, and when the drain ended.

        ``before`` and ``measured`` are the final reports of both phases.
        """
        ...
