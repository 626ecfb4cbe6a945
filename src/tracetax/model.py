"""The plain data types of Tracetax's words: agents, configurations, experiments, trials.

Everything here is frozen and free of behaviour that touches the outside world. Times are in nanoseconds and
sizes in bytes unless a name says otherwise.
"""

from enum import StrEnum
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

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
    """A file that an agent consists of, pinned by its SHA-256: fetched by Maven, or one of the user's own."""

    name: str
    maven: str
    sha256: str
    file: str = ""
    """Absolute path of the file that was given in place of Maven's by ``--artifact``; empty where none was."""

    @property
    def file_name(self) -> str:
        """The name of the file that was given; empty where none was."""
        return self.file.rpartition("/")[2]

    @property
    def version(self) -> str:
        """The name of the file that was given, or else the version in the Maven coordinate
        ``group:artifact:version[:packaging[:classifier]]``."""
        return self.file_name or self.maven.split(":")[2]


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
    deletes_oldest: bool = False
    """Whether it deletes its oldest files while it writes new ones, so that only its last records are kept."""
    jvm: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    memory: Memory | None = None
    published: dict[str, str] = {}
    """Published row that it reproduces, by experiment."""

    @property
    def held_until_exit(self) -> int:
        """Records that may arrive only when the process ends; 0 where a flush interval sends them earlier."""
        return 0 if self.flush_interval_ns else self.held_back

    @property
    def writes_files(self) -> bool:
        """Whether its records are read from files after the process has ended."""
        return self.protocol is not None and self.protocol.endswith("-file")


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
    builds: dict[str, dict[str, Artifact]] = {}
    """Where two builds are compared: what each puts in the place of ``artifacts``, by its label, the older first."""

    def built(self, label: str) -> "Agent":
        """The agent with the artifacts of one build; as it is for the empty label."""
        return replace(self, artifacts=self.artifacts | self.builds[label]) if label else self

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
    build: str = ""
    """Which of two builds of the agent, where two are compared."""

    def __str__(self) -> str:
        return f"{self.agent} {self.configuration}" + (f" [{self.build}]" if self.build else "")


BASELINE = Use(agent="none", configuration="baseline")
"""What every overhead is measured against: the workload without an agent."""


class Part(Struct, frozen=True):
    """Configurations measured under the same parameters, with baselines of their own: one table of the report."""

    name: str
    title: str
    parameters: Parameters
    uses: tuple[Use, ...]
    """Without the baseline, which every part has."""

    @property
    def build_pairs(self) -> list[tuple[Use, Use]]:
        """The two builds of each configuration of which two are compared, the older first."""
        alike: dict[tuple[str, str], list[Use]] = {}
        for use in self.uses:
            if use.build:
                alike.setdefault((use.agent, use.configuration), []).append(use)
        return [(older, newer) for older, newer in alike.values()]


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
    memory: bool = True
    """Whether each configuration gets an extra trial after its last block, in which memory is measured."""


class PublishedRow(Struct, frozen=True):
    """What a publication printed for a configuration of an experiment that reproduces it, times in ns per call."""

    use: Use
    platform: str
    estimate: float
    sd: float | None
    source: str
    """Table of the publication, and the row in it."""


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
    rank_by: Literal["cpu", "overhead"] = "cpu"
    """What those that deliver everything are ranked by: CPU per record, or the overhead of a call, as papers do."""
    published: tuple[PublishedRow, ...] = ()
    """Kept with the experiment, so that a finished run does not change with the table that they came from."""
    fast: bool = False
    """Whether this is the shorter version, of ``--fast``."""
