"""What every trial of a run shares: the programs, the agents and their files, the JVM's settings, the limits."""

from pathlib import Path

from msgspec import Struct

from tracetax.machine.isolation import Isolation
from tracetax.model import Agent, Configuration, JvmSettings, Use


class Limits(Struct, frozen=True):
    """How long each stage of a trial may take before the watchdog ends the JVM, seconds."""

    start: float = 60.0
    burst: float = 30.0
    warm_up: float = 90.0
    calls_base: float = 60.0
    calls_per_invocation: float = 50e-6
    drain_base: float = 30.0
    drain_per_record: float = 100e-6
    write: float = 60.0
    end: float = 20.0
    term: float = 5.0
    quiet: float = 1.0
    """Beyond the agent's flush interval: silence longer than both means that nothing more is to come."""
    warm_up_quiet: float = 0.2
    """The same at the end of a warm-up whose records go to files: what is written later belongs to it all the same."""


class Bench(Struct, frozen=True):
    """Everything that a trial is set up with."""

    java: Path
    java_version: str
    cores: int
    sink: Path
    classes: Path
    agents: dict[str, Agent]
    agents_root: Path
    artifacts: dict[str, dict[str, Path]]
    """Fetched files, by agent and artifact name."""
    jvm: JvmSettings
    limits: Limits = Limits()
    isolation: Isolation = Isolation()
    builds: dict[str, dict[str, dict[str, Path]]] = {}
    """What each of two builds puts in the place of ``artifacts``, by agent and label."""

    def configuration(self, agent: str, name: str) -> Configuration:
        """A configuration by its names."""
        return self.agents[agent].configurations[name]

    def files(self, use: Use) -> dict[str, Path]:
        """The files of a configuration's agent, by artifact name, in the build that is measured."""
        own = self.builds[use.agent][use.build] if use.build else {}
        return self.artifacts.get(use.agent, {}) | own
