"""What is known of an agent: who made it, how it can be set up, and what each configuration promises.

All are frozen and touch nothing outside. Times are in nanoseconds and sizes in bytes unless a name says otherwise.
"""

import re
from enum import StrEnum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tracetax.ledger import Sampling
from tracetax.preparation import PrepareStep


def without_name(configuration: str, instrumentation: str) -> str:
    """What a configuration is called in which one instrumentation is off."""
    return f"{configuration}-without-{instrumentation}"


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
    PARITY = "parity"
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


class CallRecords(Struct, frozen=True):
    """Records of one call of a sort."""

    fixed: int
    per_query: int = 0
    """As many more for each of the call's queries."""


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
    released: str = ""
    """The day of its release, ``2013-10-16``; empty where the agent's file does not say it."""

    @property
    def file_name(self) -> str:
        """The name of the file that was given; empty where none was."""
        return self.file.rpartition("/")[2]

    @property
    def version(self) -> str:
        """The name of the file that was given, or else the version in the Maven coordinate
        ``group:artifact:version[:packaging[:classifier]]``, or the one that is named beside the source."""
        return self.file_name or (self.maven.split(":")[2] if self.maven else self.version_named)


class Release(Struct, frozen=True):
    """Which of several releases of the agent a configuration runs, and what is comparable with it in the others."""

    artifact: str
    """The artifact that is the agent itself in this release."""
    line: str
    """What configurations of several releases are called together: a line over their days."""


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
    records_per_call: dict[str, CallRecords | None] = {}
    """Of a service's endpoints, by name: records of one call; None where they vary."""
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
    own_search_path: tuple[str, ...] = ()
    """The same where the program is a service of the user's; empty where it is no other."""
    tree_limit: int | None = None
    """Invocations of one call tree beyond which the agent cuts it by design; None where it never does."""
    technology: str = ""
    """How its probes get into the program, where its agent knows several ways."""
    sampling: Sampling | None = None
    """Of one that samples, which share of the calls; None where that depends on time, or is not known."""
    release: Release | None = None
    """Where the agent's file has several releases of it, which one this is."""
    if_nothing_arrives: str = ""
    """The configuration that may see a service of the user's of which this one has sent no record; empty if none."""
    without: str = ""
    """The one instrumentation that is switched off in it; empty where it is as its file says."""

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


class Instrumentations(Struct, frozen=True):
    """How the parts of an agent that trace a library each are switched off one by one, by its documented variables."""

    scope: str
    """Regular expression for the scope of a record; its group is the instrumentation's name."""
    variable: str
    """The variable that switches one off; ``{NAME}`` in it is the name in capitals, with underscores."""
    value: str
    """Its value; ``{name}`` in it is the name. Where the variable is set already, it gets this behind a comma."""

    def named(self, scope: str) -> str:
        """The instrumentation that a scope belongs to; empty where it is none that can be switched off."""
        match = re.fullmatch(self.scope, scope)
        return match[1] if match else ""

    def switch(self, name: str, environment: dict[str, str]) -> dict[str, str]:
        """An environment in which one of them is switched off."""
        variable = self.variable.replace("{NAME}", re.sub(r"\W", "_", name).upper())
        value = self.value.replace("{name}", name)
        if "{name}" in self.value and environment.get(variable):
            value = f"{environment[variable]},{value}"
        return {**environment, variable: value}


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
    kinds: tuple[str, ...] = ()
    """The kinds of workload that it is set up for."""
    instrumentations: Instrumentations | None = None
    """How single ones are switched off; None where they cannot be."""
    reference: str = ""
    """The configuration that says what a complete tracer must cost: what others are compared with. Empty of most."""
    below: str = ""
    """The folder of its file below its language's, called as the one kind that it is for; empty where it is none."""

    @property
    def place(self) -> str:
        """The folder of its file below its product's: ``go``, or ``go/requests`` for one kind of workload alone."""
        return f"{self.language}/{self.below}" if self.below else self.language

    def switched_off(self, configuration: str, name: str) -> "Agent":
        """The agent with one configuration more, by :func:`without_name`: one in which one instrumentation is off."""
        assert self.instrumentations
        config = self.configurations[configuration]
        off = replace(
            config,
            name=without_name(configuration, name),
            title=f"{config.title}, without {name}",
            profile=None,
            environment=self.instrumentations.switch(name, config.environment),
            without=name,
        )
        return replace(self, configurations=self.configurations | {off.name: off})

    @property
    def as_its_file_says(self) -> "Agent":
        """The agent without the configurations in which one instrumentation is off."""
        own = {name: config for name, config in self.configurations.items() if not config.without}
        return replace(self, configurations=own)

    def built(self, label: str) -> "Agent":
        """The agent with the artifacts of one build; as it is for the empty label."""
        return replace(self, artifacts=self.artifacts | self.builds[label]) if label else self

    @property
    def version(self) -> str:
        """The version of its artifact ``agent``, or as its file says it; empty for the baseline, which has none."""
        agent = self.artifacts.get("agent")
        return agent.version if agent else self.version_named

    def itself(self, configuration: str) -> Artifact | None:
        """The artifact that is the agent itself in a configuration; None where it consists of no single one."""
        release = self.configurations[configuration].release
        return self.artifacts.get(release.artifact if release else "agent")

    def version_in(self, configuration: str) -> str:
        """The version that a configuration runs; empty for the baseline."""
        itself = self.itself(configuration)
        return itself.version if itself else self.version_named

    def folder_in(self, agents: Path) -> Path:
        """Where its file lies: a folder of the user's, or else one below ``agents``."""
        return Path(self.folder) if self.folder else agents / self.key / self.place
