"""``manifest.json``: what a run is, from its first command to its last resume."""

from typing import Any

from msgspec import Struct

from tracetax.backend import Backend
from tracetax.model import Agent, Experiment, Part, Search, Use
from tracetax.program import Runtime, RuntimeVersion

MANIFEST_VERSION = 5
READABLE_VERSIONS = (2, 3, 4, MANIFEST_VERSION)
"""What a run folder in an earlier format holds, :mod:`tracetax.results.earlier` brings into the present shape."""


class Invocation(Struct, frozen=True):
    """One command that wrote to the run: the first, and each resume."""

    command: tuple[str, ...]
    started_at: str
    experiment: Experiment
    """With the schedule that was in force."""
    ended: str = ""
    """``settled``, ``budget``, ``max-blocks``, ``interrupted`` or ``failed``; empty while it runs or after a kill."""


class ChosenCalls(Struct, frozen=True):
    """How many calls each start of a configuration makes after the first blocks, and why."""

    part: str
    use: Use
    calls: int
    instead_of: int
    """What the experiment says."""
    between: float
    """Standard deviation between starts beyond what their calls explain, relative."""
    within: float
    """Standard deviation of a start's mean for what its calls vary, at ``instead_of`` calls, relative."""
    start_seconds: float
    """Time of a start without its calls."""
    calls_seconds: float
    """Time of ``instead_of`` calls until their records had arrived."""
    gain: float
    """Share of time × variance that the choice saves."""


class Manifest(Struct, frozen=True):
    """What the run is. Hashes decide whether a resume measures the same thing."""

    version: int
    tool_version: str
    seed: int
    hashes: dict[str, str]
    machine: dict[str, Any]
    agents: dict[str, Agent]
    """The agents that are measured, by what parts call them, as their files were: a finished run does not change with
    the catalog."""
    invocations: tuple[Invocation, ...]
    inherited: tuple[str, ...] = ()
    """Names of environment variables that would have changed the workload or an agent, and were not passed on."""
    part_endings: dict[str, str] = {}
    """Why each part stopped, by its name."""
    search: Search | None = None
    """Where the run searches for the highest complete rate: how. Its parts are searched one after the other."""
    runtime: Runtime | None = None
    """The runtime of the workload, as its file was; None where the run measures several workloads."""
    runtimes: dict[str, Runtime] = {}
    """Of a run that measures several workloads, the runtime of each, by the workload."""
    ran_on: dict[str, RuntimeVersion] = {}
    """The version of it that the trials of each part run on, by the part's name."""
    backends: dict[str, Backend] = {}
    """The backends that stand in the sink's place, as their files were."""
    chosen_calls: tuple[ChosenCalls, ...] = ()
    """Where the experiment leaves the calls of a start to what its first blocks show; unchanged ones too."""

    @property
    def experiment(self) -> Experiment:
        """The experiment under the latest schedule."""
        return self.invocations[-1].experiment

    def runtime_of(self, part: Part) -> Runtime | None:
        """The runtime of a part's workload; None in runs of an earlier version."""
        return self.runtimes.get(part.workload, self.runtime)


class WrittenBy(Struct, frozen=True):
    """As much of a manifest as every version can read."""

    version: int


class Searching(Struct, frozen=True):
    """As much of a manifest as says which command goes on with a run."""

    search: Search | None = None
