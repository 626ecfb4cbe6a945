"""The plain data types of Tracetax's words: agents, configurations, experiments, trials.

Everything here is frozen and free of behaviour that touches the outside world. Times are in nanoseconds and
sizes in bytes unless a name says otherwise.
"""

from enum import StrEnum
from typing import Literal, TypeAlias

from msgspec import Struct

FULL: Literal["full"] = "full"
Rate: TypeAlias = float | Literal["full"]
"""Calls per second that the driver starts, all threads together, or ``"full"``: back to back."""


class Delivery(StrEnum):
    """What a configuration promises about its records."""

    NONE = "none"
    COMPLETE = "complete"
    LOSSY = "lossy"
    SAMPLED = "sampled"
    AGGREGATED = "aggregated"


class Profile(StrEnum):
    """How a configuration came to be."""

    STOCK = "stock"
    RECOMMENDED = "recommended"
    LOSSLESS = "lossless"
    PUBLISHED = "published"


class Layer(StrEnum):
    """The layers of Waller et al. (2014) that a configuration contains."""

    METHOD = "T"
    INSTRUMENTATION = "I"
    COLLECTING = "C"
    WRITING = "W"


class Memory(Struct, frozen=True):
    """Heap that a configuration needs: ``base_bytes + per_record_bytes × expected records``."""

    base_bytes: int
    per_record_bytes: int


class Artifact(Struct, frozen=True):
    """A file that an agent consists of, fetched by Maven and pinned by its SHA-256."""

    name: str
    maven: str
    sha256: str

    @property
    def version(self) -> str:
        """The version in the Maven coordinate ``group:artifact:version[:packaging[:classifier]]``."""
        return self.maven.split(":")[2]


class Configuration(Struct, frozen=True):
    """One way of setting an agent up, with everything that the agent's configurations share merged in."""

    agent: str
    name: str
    title: str
    layers: tuple[Layer, ...]
    delivery: Delivery
    profile: Profile | None = None
    protocol: str | None = None
    """The sink's protocol that it writes to; None where nothing leaves the process."""
    records_per_invocation: int = 1
    record_name: str | None = None
    """How a record names the monitored method on the wire, placeholders unfilled."""
    queue: int | None = None
    """Records that the agent's queue holds at least; None where it has none."""
    held_back: int = 0
    """Records that the agent may keep in a buffer: until its flush interval has passed, or, where it has none, until
    its process ends."""
    flush_interval_ns: int = 0
    """After how long it sends what it held back without waiting for more; 0 where only its end sends that."""
    drop_log: str | None = None
    """Regular expression whose first group is a number of records that the agent's log admits to have dropped."""
    jvm: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    memory: Memory | None = None
    published: dict[str, str] = {}
    """Published row that it reproduces, by experiment."""

    @property
    def held_until_exit(self) -> int:
        """Records that may arrive only when the process ends; 0 where a flush interval sends them earlier."""
        return 0 if self.flush_interval_ns else self.held_back


class Runtimes(Struct, frozen=True):
    """Java feature releases that an agent runs on (``min``) and was tried on (``tested``)."""

    min: int
    tested: tuple[int, ...]


class Agent(Struct, frozen=True):
    """A tracing framework: who made it, what it consists of, how it can be set up."""

    key: str
    """The name of its folder, by which commands and experiments call it."""
    name: str
    homepage: str
    licence: str
    language: str
    java: Runtimes
    instrumentation: str
    artifacts: dict[str, Artifact]
    configurations: dict[str, Configuration]

    @property
    def version(self) -> str:
        """The version of its artifact ``agent``; empty for the baseline, which has none."""
        agent = self.artifacts.get("agent")
        return agent.version if agent else ""


class Parameters(Struct, frozen=True):
    """What one call of the driver is, and how calls are issued."""

    calls: int
    depth: int
    rate: Rate = FULL
    method_time_ns: int = 0
    threads: int = 1
    wait: Literal["spin", "park"] = "spin"

    @property
    def invocations(self) -> int:
        """Monitored executions in one trial: calls × depth."""
        return self.calls * self.depth


class Use(Struct, frozen=True):
    """A configuration that an experiment measures."""

    agent: str
    configuration: str

    def __str__(self) -> str:
        return f"{self.agent} {self.configuration}"


BASELINE = Use(agent="none", configuration="baseline")
"""What every overhead is measured against: the workload without an agent."""


class Part(Struct, frozen=True):
    """Configurations measured under the same parameters, with baselines of their own: one table of the report."""

    name: str
    title: str
    parameters: Parameters
    uses: tuple[Use, ...]
    """Without the baseline, which every part has."""


class JvmSettings(Struct, frozen=True):
    """JVM settings that baseline and agents share."""

    heap_bytes: int
    collector: str = "G1"


class Schedule(Struct, frozen=True):
    """When a run stops: the narrowness asked for, and the bounds on blocks and time."""

    min_blocks: int = 10
    max_blocks: int = 30
    half_width_ratio: float = 0.01
    half_width_ns: float = 2.0
    budget_ns: int = 2 * 3600 * 10**9


class Experiment(Struct, frozen=True):
    """Workload × configurations × parameters × schedule."""

    key: str
    title: str
    workload: str
    parts: tuple[Part, ...]
    jvm: JvmSettings
    schedule: Schedule
    paper: str | None = None
    result: bool = True
    """False for an experiment that only checks that everything works: its numbers are no result."""
