"""What every trial of a run shares: the programs, the agents and their files, the JVM's settings, the limits."""

from pathlib import Path

from msgspec import Struct

from tracetax.model import Agent, Configuration, JvmSettings


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

    def configuration(self, agent: str, name: str) -> Configuration:
        """A configuration by its names."""
        return self.agents[agent].configurations[name]
