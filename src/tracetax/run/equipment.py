"""What every trial of a run shares: the programs, the agents and their files, what runs them, the limits."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from tracetax.companions.backend import Supplied
from tracetax.companions.store import SuppliedStore
from tracetax.machine.isolation import Isolation
from tracetax.machine.toolchain import Interpreter
from tracetax.model import Agent, Configuration, Parameters, Part, Settings, Use
from tracetax.program import Runtime, ThreadNames, Workload


class Limits(Struct, frozen=True):
    """How long each stage of a trial may take before the watchdog ends the workload, seconds."""

    build: float = 300.0
    """How long each process may take that builds a trial's program."""
    start: float = 60.0
    burst: float = 30.0
    burst_hosted: float = 120.0
    """The same of a function, which may take seconds."""
    warm_up: float = 90.0
    calls_base: float = 60.0
    drain_base: float = 30.0
    drain_per_record: float = 100e-6
    write: float = 60.0
    end: float = 20.0
    end_own: float = 5.0
    """The same of a service of the user's, of which nothing is awaited any more."""
    term: float = 5.0
    metrics: float = 10.0
    """From the end of the warm-up until an agent that is asked for its metrics answers for the first time."""
    connect: float = 10.0
    """Until an agent that has sent nothing counts as one that never will: some trace nothing before they connect."""
    quiet: float = 1.0
    """Silence beyond the agent's flush interval after which nothing more is to come."""
    patience: float = 10.0
    """Further silence for a connected agent that promised every record and owes some."""
    rest: float = 2.0
    """How long the runtime's compilers are waited for between warm-up and measured calls."""
    warm_up_quiet: float = 0.2
    """Silence at the end of a warm-up whose records go to files: what is written later belongs to it all the same."""


class Equipment(Struct, frozen=True):
    """Everything that a trial of a workload is set up with."""

    workload: Workload
    runtime: Runtime
    interpreters: dict[int, Interpreter]
    """What runs the workload by the feature release that a part asks for; 0 is the one that is found first."""
    cores: int
    sink: Path
    built: Path
    """The folder that the workload is started from: what was built, or its sources where nothing is built."""
    agents: dict[str, Agent]
    """Those for the workload's language, by their names."""
    agents_root: Path
    artifacts: dict[str, dict[str, Path]]
    """Fetched files, by agent and artifact name."""
    limits: Limits = Limits()
    isolation: Isolation = Isolation()
    builds: dict[str, dict[str, dict[str, Path]]] = {}
    """What each of two builds puts in the place of ``artifacts``, by agent and label."""
    prepared: dict[str, dict[str, dict[str, Path]]] = {}
    """Folders made before any trial, by agent, label of the build (empty where there is one) and name."""
    lacks: dict[str, dict[str, str]] = {}
    """Why configurations cannot be started on this machine, by agent and name."""
    start_up: dict[tuple[int, int], Path] = {}
    """Classes that the program calls when it starts, by their methods and those of them that are monitored."""
    backends: dict[str, Supplied] = {}
    """What can stand in the sink's place, by the name of its folder."""
    load: Path | None = None
    """What calls a workload that is a service; None where the workload makes its calls itself."""
    stores: dict[str, SuppliedStore | str] = {}
    """What a service keeps its data in, by name: a store that each trial starts, or the address of one.

    In a trial all are addresses."""
    enters: tuple[str, ...] = ()
    """Of a trial: files of the control groups that bound its program, which that enters."""
    host_programs: dict[str, Path] = {}
    """What was built for the workload's hosts, by their names."""
    others: dict[str, "Equipment"] = {}
    """Where a run measures several workloads: what trials of the others are set up with, by the workload."""

    def of(self, part: Part) -> "Equipment":
        """What trials of a part are set up with."""
        return self.others.get(part.workload, self)

    @property
    def every(self) -> tuple["Equipment", ...]:
        """That of each workload of the run."""
        return (self, *self.others.values())

    @property
    def threads(self) -> ThreadNames:
        """What the threads of the program under test are there for."""
        return self.runtime.threads + self.workload.threads

    def workload_built(self, parameters: Parameters, own: Sequence[Path] = ()) -> str:
        """The workload as it was built, with what it calls at its start: ``own`` of the trial, or else made before."""
        ready = self.start_up.get((parameters.start_up_methods, parameters.start_up_monitored))
        return ":".join(map(str, (self.built, *(own or ([ready] if ready else [])))))

    @property
    def program(self) -> Path | None:
        """The program that was built of the workload's sources; None where something else runs what was built."""
        return self.built / self.workload.go.program if self.workload.go else None

    def interpreter(self, settings: Settings) -> Interpreter:
        """What runs the workload in a part with these settings."""
        return self.interpreters[self.runtime.release_of(settings)]

    def agent_folder(self, agent: str) -> Path:
        """Where an agent's file lies."""
        return self.agents[agent].folder_in(self.agents_root)

    def configuration(self, agent: str, name: str) -> Configuration:
        """A configuration by its names."""
        return self.agents[agent].configurations[name]

    def why_not(self, use: Use) -> str:
        """What this machine lacks to start a configuration; empty where nothing is lacking."""
        return self.lacks.get(use.agent, {}).get(use.configuration, "")

    def files(self, use: Use) -> dict[str, Path]:
        """The files of a configuration's agent, by artifact name, in the build that is measured."""
        own = self.builds[use.agent][use.build] if use.build else {}
        return self.artifacts.get(use.agent, {}) | own

    def folders(self, use: Use) -> dict[str, Path]:
        """The prepared folders of a configuration's agent, by name, in the build that is measured."""
        return self.prepared.get(use.agent, {}).get(use.build, {})
