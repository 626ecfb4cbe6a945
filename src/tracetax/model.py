"""The plain data types of Tracetax's words: agents, configurations, experiments, trials.

All are frozen and touch nothing outside. Times are in nanoseconds and sizes in bytes unless a name says otherwise.
"""

from enum import StrEnum
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tracetax.ledger import Sampling
from tracetax.preparation import PrepareStep
from tracetax.schedule import Schedule

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


SCRAPED = "prometheus"
"""The protocol by which the sink asks the agent for its metrics, instead of receiving records."""


class Scrape(Struct, frozen=True):
    """An endpoint of the agent that is asked for its metrics, as a Prometheus would."""

    path: str
    interval_ns: int
    metric: str = ""
    """The counter whose rise is the number of invocations; empty where its metrics have none."""


class Artifact(Struct, frozen=True):
    """A file that an agent consists of: fetched by Maven or from an address, or one of the user's own."""

    name: str
    maven: str = ""
    sha256: str = ""
    """What pins it; empty only for one that the user has to give and has not given."""
    file: str = ""
    """Absolute path of the file that was given by ``--artifact``; empty where none was."""
    url: str = ""
    given: str = ""
    """What file the user has to give, and where its owner finds it; empty where it can be fetched."""
    version_named: str = ""
    """The version as the agent's file says it, where there is no Maven coordinate."""

    @property
    def file_name(self) -> str:
        """The name of the file that was given; empty where none was."""
        return self.file.rpartition("/")[2]

    @property
    def version(self) -> str:
        """The name of the file that was given, or else the version in the Maven coordinate
        ``group:artifact:version[:packaging[:classifier]]``, or the one that is named beside the source."""
        return self.file_name or (self.maven.split(":")[2] if self.maven else self.version_named)


class Technology(Struct, frozen=True):
    """A way of getting an agent's probes into the program, which its configurations can be combined with."""

    name: str
    title: str
    published_as: str = ""
    """What tables of published values call it."""


WORKLOAD_BUILT = "workload.built"
"""The placeholder for the workload as it was built: its compiled classes, or its sources where nothing is built."""
MOST_OUTPUT_BYTES = 64 << 20
"""What a workload may print on both standard streams together where its agent's file says nothing else."""
AS_BUILT = (f"{{{WORKLOAD_BUILT}}}",)
"""The search path of a program that no agent has changed."""


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
    queue_trees: int | None = None
    """Call trees that the agent's queue holds at least, where it takes whole ones."""
    held_back: int = 0
    """Records that it may keep back: until its flush interval has passed, or, without one, until its process ends."""
    flush_interval_ns: int = 0
    """After how long it sends what it held back without waiting for more; 0 where only its end sends that."""
    pause_ns: int = 0
    """How long it may send nothing while it has more to send."""
    drop_log: str | None = None
    """Regular expression whose first group is a number of records that the agent's log admits to have dropped."""
    deletes_oldest: bool = False
    """Whether it deletes its oldest files while it writes new ones, so that only its last records are kept."""
    most_output_bytes: int = MOST_OUTPUT_BYTES
    """What it may print on its standard streams in a trial; one that prints more is ended."""
    wrapper: tuple[str, ...] = ()
    """Words before the program, placeholders unfilled."""
    program: str = ""
    """What is started in the place of the workload's own program, placeholders unfilled; empty where that is."""
    flags: tuple[str, ...] = ()
    """The agent's own flags of the runtime, placeholders unfilled."""
    environment: dict[str, str] = {}
    memory: Memory | None = None
    scrape: Scrape | None = None
    published: dict[str, str] = {}
    """Published row that it reproduces, by experiment."""
    search_path: tuple[str, ...] = AS_BUILT
    """Where the program's classes or modules are found, in order, placeholders unfilled."""
    tree_limit: int | None = None
    """Invocations of one call tree beyond which the agent cuts it by design; None where it never does."""
    technology: str = ""
    """How its probes get into the program, where its agent knows several ways."""
    sampling: Sampling | None = None
    """Of one that samples, which share of the calls; None where that depends on time, or is not known."""

    def traced(self, depth: int) -> int:
        """Invocations that are left of a call tree of ``depth``."""
        return depth if self.tree_limit is None else min(depth, self.tree_limit)

    def records_per_call(self, depth: int) -> int:
        """Records of one call tree of ``depth`` invocations."""
        return self.traced(depth) * self.records_per_invocation

    def queue_records(self, depth: int) -> int | None:
        """Records that the agent's queue holds at least, made by call trees of ``depth``; None where it has none."""
        return self.queue if self.queue_trees is None else self.queue_trees * self.records_per_call(depth)

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text in which placeholders may stand that are filled for a trial."""
        return (*self.wrapper, self.program, *self.flags, *self.environment.values(), *self.search_path)

    @property
    def held_until_exit(self) -> int:
        """Records that may arrive only when the process ends; 0 where a flush interval sends them earlier."""
        return 0 if self.flush_interval_ns else self.held_back

    @property
    def writes_files(self) -> bool:
        """Whether its records are read from files after the process has ended."""
        return self.protocol is not None and self.protocol.endswith("-file")


class Runtimes(Struct, frozen=True):
    """Releases of a runtime that an agent runs on (``min`` and newer) and was tried on (``tested``).

    A release is one number: 21 of Java 21, 11 of Python 3.11.
    """

    min: int
    tested: tuple[int, ...]


class Agent(Struct, frozen=True):
    """A tracing framework: who made it, what it consists of, how it can be set up."""

    key: str
    """The name of its product's folder, by which commands and experiments call it."""
    name: str
    homepage: str
    licence: str
    language: str
    """The language of the programs that it traces: the name of its own folder, below its product's."""
    runtime: Runtimes
    instrumentation: str
    artifacts: dict[str, Artifact]
    configurations: dict[str, Configuration]
    builds: dict[str, dict[str, Artifact]] = {}
    """Where two builds are compared: what each puts in the place of ``artifacts``, by its label, the older first."""
    prepare: tuple[PrepareStep, ...] = ()
    """Folders that its configurations may refer to."""
    technology: str = ""
    """The technology of configurations whose names say no other; empty where there is only one way."""
    technologies: dict[str, Technology] = {}
    environment_prefixes: tuple[str, ...] = ()
    """What the names of the variables begin with that it reads; a run names those that it finds, and passes none on."""
    folder: str = ""
    """Absolute path of a folder of the user's; empty for the agents that come with Tracetax."""
    version_named: str = ""
    """The version as its file says it, where there is no artifact ``agent``."""

    def built(self, label: str) -> "Agent":
        """The agent with the artifacts of one build; as it is for the empty label."""
        return replace(self, artifacts=self.artifacts | self.builds[label]) if label else self

    @property
    def version(self) -> str:
        """The version of its artifact ``agent``, or as its file says it; empty for the baseline, which has none."""
        agent = self.artifacts.get("agent")
        return agent.version if agent else self.version_named

    def folder_in(self, agents: Path) -> Path:
        """Where its file lies: a folder of the user's, or else one below ``agents``."""
        return Path(self.folder) if self.folder else agents / self.key / self.language


class Parameters(Struct, frozen=True):
    """What one call of the driver is, and how calls are issued."""

    calls: int
    depth: int
    rate: Rate = FULL
    method_time_ns: int = 0
    threads: int = 1
    wait: Literal["spin", "park"] = "spin"
    start_up_methods: int = 0
    """Methods of generated classes that the program calls once each when it starts."""
    start_up_monitored: int = 0
    """How many of them lie in the class that agents are asked to monitor."""
    start_up_built: bool = False
    """Whether each trial builds them anew from their sources, weaving what is woven before a run, and is timed."""

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
    backend: str = ""
    """The backend in the sink's place; empty for the sink."""

    def __str__(self) -> str:
        build = f" [{self.build}]" if self.build else ""
        return f"{self.agent} {self.configuration}{build}" + (f" → {self.backend}" if self.backend else "")


BASELINE = Use(agent="none", configuration="baseline")
"""What every overhead is measured against: the workload without an agent."""


Settings: TypeAlias = dict[str, int | str]
"""What baseline and agents of a part share of their runtime's settings, by the names that the runtime's file has for
them: releases and sizes (in bytes) are whole numbers, choices are text. A setting that nobody chose has no key."""
HEAP = "heap"
"""The setting that bounds the memory of the program under test, where its runtime has one."""


def heap_of(settings: Settings) -> int:
    """The heap in bytes; 0 where the runtime has no such setting."""
    heap = settings.get(HEAP, 0)
    assert isinstance(heap, int)
    return heap


def settings_key(settings: Settings) -> tuple[tuple[str, int | str], ...]:
    """The same for equal settings, and fit to be a key."""
    return tuple(sorted(settings.items()))


class Part(Struct, frozen=True):
    """Configurations under the same parameters and settings, with their own baselines: one table of the report."""

    name: str
    title: str
    parameters: Parameters
    uses: tuple[Use, ...]
    """Without the baseline, which every part has."""
    settings: Settings
    levels: str = ""
    """Its level of each factor, in words: ``depth 2, JDK 21``; empty where there is no factor."""
    if_given: tuple[Use, ...] = ()
    """Uses that are left out where a file that only the user has is not given."""
    workload: str = ""
    """Where an experiment measures several programs, the one that it measures; else empty."""

    def agent_key(self, agent: str) -> str:
        """What an agent is called among a run's: with its language where a run measures several programs."""
        return f"{agent}/{language_of(self.workload)}" if self.workload else agent

    @property
    def build_pairs(self) -> list[tuple[Use, Use]]:
        """The two builds of each configuration of which two are compared, the older first."""
        alike: dict[tuple[str, str, str], list[Use]] = {}
        for use in self.uses:
            if use.build:
                alike.setdefault((use.agent, use.configuration, use.backend), []).append(use)
        return [(older, newer) for older, newer in alike.values()]


class Search(Struct, frozen=True):
    """How the highest rate is searched for at which a configuration delivers every record."""

    seconds: float = 5.0
    """Length of the measured calls of a trial at a rate."""
    lowest: float = 10.0
    """Calls per second below which nothing is tried."""
    resolution: float = 0.1
    """How far apart the two rates of the answer may be, as a share of the lower one."""
    further: int = 6
    """Trials at each of the two rates, beyond the one that found it; at the lower one maybe more."""


class PublishedRow(Struct, frozen=True):
    """What a publication printed for a configuration of an experiment that reproduces it, times in ns per call."""

    use: Use
    platform: str
    estimate: float
    sd: float | None
    source: str
    """Table of the publication, and the row in it."""


class PublishedLine(Struct, frozen=True):
    """A line that a publication printed: time of a call = slope · invocations + intercept."""

    use: Use
    platform: str
    slope: float
    """In ns per invocation."""
    intercept: float
    """In ns per call."""
    r_squared: float | None
    source: str
    """Table of the publication, and the row in it."""


def language_of(workload: str) -> str:
    """The language of a workload, by its name: ``java`` of ``calltree/java``."""
    return workload.partition("/")[2]


class Experiment(Struct, frozen=True):
    """Workload × configurations × parameters × schedule."""

    key: str
    title: str
    workload: str
    """Several of one kind have commas between."""
    parts: tuple[Part, ...]
    schedule: Schedule
    paper: str | None = None
    result: bool = True
    """False for an experiment that only checks that everything works: its numbers are no result."""
    rank_by: Literal["cpu", "overhead"] = "cpu"
    """What those that deliver everything are ranked by: CPU per record, or the overhead of a call, as papers do."""
    published: tuple[PublishedRow, ...] = ()
    """Rows that the paper printed, kept with the experiment so that a finished run does not change with their table."""
    published_lines: tuple[PublishedLine, ...] = ()
    """Lines that the paper printed, kept with the experiment: a finished run does not change with their table."""
    variant: str = ""
    """Which version of the file this is: ``fast`` or ``as-published``; empty for what it says by itself."""
    left_out: tuple[str, ...] = ()
    """In sentences: what is not measured with all of its workloads, because some have no such thing."""
