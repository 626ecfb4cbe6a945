"""What ``run``, ``capacity`` and ``check-agent`` share: everything prepared, and a new folder for the trials."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace
from rich.console import Console

from tracetax import __version__
from tracetax.artifacts import cache_dir
from tracetax.backend import Backend
from tracetax.machine.facts import Machine
from tracetax.model import Agent, Experiment, Search
from tracetax.process import inherited_traps
from tracetax.results.folder import MANIFEST_VERSION, Invocation, Manifest, RunFolder
from tracetax.run import prepare
from tracetax.run.bench import Bench

Typed = tuple[str, ...]


def new_run(
    experiment: Experiment,
    agents: dict[str, Agent],
    root: Path,
    path: Path,
    machine: Machine,
    typed: Typed,
    console: Console,
    *,
    seed: int = 0,
    search: Search | None = None,
    backends: Mapping[str, Backend] | None = None,
) -> tuple[Bench, RunFolder]:
    """Prepare what the trials need, and begin a run in ``path``. Raises UserError."""
    bench = prepare.prepare(
        experiment, agents, root, cache_dir(os.environ), machine.isolation, console.print, backends=backends
    )
    manifest = Manifest(
        version=MANIFEST_VERSION,
        tool_version=__version__,
        seed=seed,
        hashes=prepare.hashes(experiment, bench, machine),
        machine=msgspec.to_builtins(machine_with_java(machine, bench)),
        agents=bench.agents,
        invocations=(invocation(typed, experiment),),
        inherited=inherited_traps(os.environ),
        search=search,
        backends=dict(backends or {}),
        java={part.name: bench.jdks[part.jvm.jdk].described for part in experiment.parts},
    )
    return bench, RunFolder.create(path, manifest)


def machine_with_java(machine: Machine, bench: Bench) -> Machine:
    """The machine, with the Java that this run uses in place of the one that is found first."""
    return replace(machine, java=", ".join(dict.fromkeys(str(jdk) for jdk in bench.jdks.values())))


def invocation(typed: Typed, experiment: Experiment) -> Invocation:
    """How the run was begun or gone on with."""
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    return Invocation(command=("./tracetax", *typed), started_at=started_at, experiment=experiment)
