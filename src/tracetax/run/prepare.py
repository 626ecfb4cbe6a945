"""Before the first trial: find the JDK, build the workload and the sink, fetch the agents; then nothing is missing."""

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import msgspec

from tracetax import companions, run, workloads
from tracetax.artifacts import build_sink, build_workload, fetch, keep
from tracetax.catalog.java import check_java, untested_java
from tracetax.errors import ExitCode, UserError
from tracetax.machine import disturbance, threads
from tracetax.machine.facts import Machine
from tracetax.machine.isolation import isolation_here
from tracetax.machine.toolchain import OLDEST_JDK, Jdk, find_jdk
from tracetax.model import BASELINE, Agent, Artifact, Experiment
from tracetax.run.bench import Bench, Limits

Say = Callable[[str], None]

MEASURING: tuple[ModuleType, ...] = (run, workloads, companions, disturbance, threads)
"""What decides what a trial measures and which trials are repeated."""


def needed_agents(experiment: Experiment, agents: dict[str, Agent]) -> dict[str, Agent]:
    """Agents that an experiment measures, the baseline included."""
    keys = {BASELINE.agent, *(use.agent for part in experiment.parts for use in part.uses)}
    return {key: agents[key] for key in sorted(keys)}


def prepare(
    experiment: Experiment, agents: dict[str, Agent], root: Path, cache: Path, say: Say, limits: Limits | None = None
) -> Bench:
    """Set up what every trial needs, telling ``say`` what took how long. Raises UserError with the way out."""
    jdk = require_jdk()
    used = needed_agents(experiment, agents)
    check_java(used.values(), jdk.release)
    for sentence in untested_java(used.values(), jdk.release):
        say(sentence)
    classes, seconds = _timed(lambda: build_workload(root, experiment.workload, cache, say))
    took = [f"workload {seconds:.1f} s"]
    sink, seconds = _timed(lambda: build_sink(root, cache, say))
    took.append(f"sink {seconds:.1f} s")
    fetched = time.monotonic()
    files = {agent.key: _obtained(agent.artifacts, cache, say) for agent in used.values()}
    builds = {
        agent.key: {label: _obtained(artifacts, cache, say) for label, artifacts in agent.builds.items()}
        for agent in used.values()
        if agent.builds
    }
    count = sum(len(found) for found in files.values())
    took.append(f"{count} agent files {time.monotonic() - fetched:.1f} s")
    say("Prepared: " + " · ".join(took))
    isolation = isolation_here()
    return Bench(
        java=jdk.home / "bin" / "java",
        java_version=jdk.version,
        cores=isolation.processors,
        sink=sink,
        classes=classes,
        agents=used,
        agents_root=root / "agents",
        artifacts=files,
        jvm=experiment.jvm,
        limits=limits or Limits(),
        isolation=isolation,
        builds=builds,
    )


def _obtained(artifacts: dict[str, Artifact], cache: Path, say: Say) -> dict[str, Path]:
    """The files of artifacts: the user's own, or fetched."""
    return {
        name: keep(artifact, cache) if artifact.file else fetch(artifact, cache, say)
        for name, artifact in artifacts.items()
    }


def require_jdk() -> Jdk:
    """The JDK that trials run on. Raises UserError where none is new enough."""
    jdk = find_jdk(os.environ)
    if jdk is None:
        raise UserError(
            f"No JDK was found: there is no JAVA_HOME, and no java on PATH. Tracetax needs JDK {OLDEST_JDK} or newer.\n"
            "Let the launcher install one (./tracetax run --yes, as root), or name yours: JAVA_HOME=… ./tracetax run",
            ExitCode.ENVIRONMENT,
        )
    if jdk.release < OLDEST_JDK or jdk.javac is None:
        lack = "it has no javac" if jdk.javac is None else f"JDK {OLDEST_JDK} or newer is needed"
        raise UserError(
            f"{jdk} at {jdk.home} will not do: {lack}.\nName another one: JAVA_HOME=… ./tracetax run",
            ExitCode.ENVIRONMENT,
        )
    return jdk


def hashes(experiment: Experiment, bench: Bench, machine: Machine) -> dict[str, str]:
    """What must stay the same for blocks to be comparable; the schedule and the titles may change.

    Sink and workload are known by the folders that they were built into, which are named by content and compiler.
    """
    measured = [(part.name, part.parameters, [str(use) for use in part.uses]) for part in experiment.parts]
    result = {
        "the experiment": _digest((experiment.key, experiment.workload, measured, experiment.jvm)),
        "the sink": bench.sink.parent.name,
        "the workload": bench.classes.name,
        "the JDK": _digest((str(bench.java), bench.java_version)),
        "the machine": _digest((machine.cpu, machine.cores, machine.memory_bytes, machine.kernel, machine.virtualised)),
        "the cores of workload and sink": _digest((bench.isolation.workload, bench.isolation.companions)),
        "Tracetax's way of measuring": _digest([_source(part) for part in MEASURING]),
    }
    return result | {f"the agent {key}": _digest(agent) for key, agent in bench.agents.items()}


def _source(part: ModuleType) -> list[str]:
    """The source of a module, or of a package's modules."""
    files = sorted(Path(part.__path__[0]).glob("*.py")) if hasattr(part, "__path__") else [Path(str(part.__file__))]
    return [file.read_text(encoding="utf-8") for file in files]


def _digest(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


def _timed(work: Callable[[], Path]) -> tuple[Path, float]:
    begun = time.monotonic()
    return work(), time.monotonic() - begun
