"""What ``run``, ``capacity`` and ``check-agent`` share: a run begun in a new folder, or taken up in an old one."""

import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from rich.console import Console

from tracetax import __version__
from tracetax.artifacts import cache_dir
from tracetax.backend import Backend
from tracetax.catalog import every_agent
from tracetax.catalog.backends import load_backends
from tracetax.catalog.experiment_file import agents_of
from tracetax.catalog.own.artifacts import changed_files, unchanged
from tracetax.commands.request import Asked
from tracetax.errors import UserError
from tracetax.machine.disturbance import busy_cores, busy_words
from tracetax.machine.facts import Machine
from tracetax.machine.isolation import Isolation
from tracetax.machine.limits import memory_available
from tracetax.model import Agent, Experiment, Search
from tracetax.place import PROGRAM
from tracetax.process import inherited_traps
from tracetax.results.folder import RunFolder, check_free
from tracetax.results.manifest import MANIFEST_VERSION, Invocation, Manifest
from tracetax.run import prepare
from tracetax.run.equipment import Equipment
from tracetax.run.plan import cells, check_memory, check_samples


class Command(Struct, frozen=True):
    """A command that measures."""

    typed: tuple[str, ...]
    """Its words, without the program's."""
    root: Path
    """Where agents, experiments, workloads and the sink's source lie."""
    console: Console
    """Where it prints, and asks."""


def new_run(
    asked: Asked, command: Command, path: Path, machine: Machine, *, seed: int = 0, search: Search | None = None
) -> tuple[Equipment, RunFolder]:
    """Prepare what the trials need, and begin a run in ``path``.

    Raises UserError, before anything is fetched or built where the machine has too little memory or disk.
    """
    experiment, agents, backends = asked.experiment, asked.agents, asked.backends
    every = cells(experiment, agents)
    check_samples(experiment, every)
    check_memory(every, backends, memory_available())
    check_free(path)
    cache = cache_dir(os.environ)
    equipment = prepare.prepare(
        *(experiment, agents, command.root, cache, machine.isolation, command.console.print), backends=backends
    )
    manifest = Manifest(
        version=MANIFEST_VERSION,
        tool_version=__version__,
        seed=seed,
        hashes=prepare.hashes(experiment, equipment, machine),
        machine=facts_of_run(machine, equipment),
        agents=prepare.needed_agents(experiment, agents),
        invocations=(invocation(command, experiment),),
        inherited=inherited_traps(
            os.environ,
            dict.fromkeys(name for own in equipment.every for name in own.runtime.not_inherited),
            (name for agent in agents.values() for name in agent.environment_prefixes),
            own=experiment.service is not None,
        ),
        search=search,
        backends=backends,
        runtime=None if equipment.others else equipment.runtime,
        runtimes={part.workload: equipment.of(part).runtime for part in experiment.parts} if equipment.others else {},
        ran_on={part.name: equipment.of(part).interpreter(part.settings).described for part in experiment.parts},
    )
    return equipment, RunFolder.create(path, manifest)


def foreseen(
    experiment: Experiment, agents: dict[str, Agent], root: Path, path: Path | None, backends: Mapping[str, Backend]
) -> list[str]:
    """What a run would be refused for, without building or fetching anything; ``path`` is a new run's folder.

    Returns what the user should know beside the plan. Raises UserError as the run would.
    """
    check_memory(cells(experiment, agents), backends, memory_available())
    if path is not None:
        check_free(path)
    return prepare.refuse(experiment, agents, root)


def ask_whether_busy(isolation: Isolation, console: Console) -> None:
    """Say where others keep the machine busy; on a terminal ask whether to go on, unless ``--yes`` was typed.

    Raises KeyboardInterrupt where the answer is no.
    """
    cores = busy_cores(isolation)
    if not cores:
        return
    if not console.is_terminal or not sys.stdin.isatty() or os.environ.get("TRACETAX_YES"):
        console.print(busy_words(cores), soft_wrap=True)
        return
    try:
        answer = console.input(f"{busy_words(cores)} Go on? [Y/n] ")
    except EOFError:
        answer = "no"
    if answer.strip().lower() not in ("", "y", "yes"):
        raise KeyboardInterrupt


def refuse_changed_files(manifest: Manifest, root: Path) -> None:
    """Raise UserError where an agent, a backend or a file of the user's has changed since a run began."""
    catalog = agents_of(manifest.experiment, every_agent(root, _own_folders(manifest.agents)))
    changed = [f"the agent {key}" for key, agent in manifest.agents.items() if not unchanged(agent, catalog.get(key))]
    known = load_backends(root) if manifest.backends else {}
    changed += [f"the backend {key}" for key, backend in manifest.backends.items() if known.get(key) != backend]
    _refuse([*changed, *changed_files(manifest.agents)])


def taken_up(folder: RunFolder, experiment: Experiment, command: Command, machine: Machine) -> Equipment:
    """Prepare what a run needs to go on, and write down that it does; the machine's lock must be held.

    Raises UserError where its blocks would not be comparable, or the machine has too little memory.
    """
    every = cells(experiment, folder.manifest.agents)
    check_samples(experiment, every)
    check_memory(every, folder.manifest.backends, memory_available())
    manifest = folder.manifest  # a run that has just ended may have written it anew
    folder.discard_unfinished()
    cache = cache_dir(os.environ)
    equipment = prepare.prepare(
        *(experiment, manifest.agents, command.root, cache, machine.isolation, command.console.print),
        backends=manifest.backends,
    )
    now = prepare.hashes(experiment, equipment, machine)
    _refuse([name for name in {**manifest.hashes, **now} if manifest.hashes.get(name) != now.get(name)])
    invocations = (*manifest.invocations, invocation(command, experiment))
    folder.write_manifest(replace(manifest, invocations=invocations, part_endings={}))
    return equipment


def facts_of_run(machine: Machine, equipment: Equipment) -> dict[str, Any]:
    """The machine's facts, with the runtime that this run uses in place of the Java that is found first."""
    facts: dict[str, Any] = {}
    for name, value in msgspec.to_builtins(machine).items():
        if name != "java":
            facts[name] = value
        else:
            facts |= {own.runtime.key: words for own in equipment.every if (words := runtime_words(own))}
    return facts


def runtime_words(equipment: Equipment) -> str:
    """The versions of the runtime that the trials of a workload use."""
    return ", ".join(dict.fromkeys(str(one) for one in equipment.interpreters.values()))


def invocation(command: Command, experiment: Experiment) -> Invocation:
    """The manifest's entry about a command that begins a run, or goes on with it."""
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    return Invocation(command=(PROGRAM, *command.typed), started_at=started_at, experiment=experiment)


def _own_folders(agents: dict[str, Agent]) -> list[Path]:
    """The folders of those agents that are the user's own; those that are gone are found to be changed."""
    return [Path(agent.folder) for agent in agents.values() if agent.folder and Path(agent.folder).is_dir()]


def _refuse(changed: list[str]) -> None:
    """Raise UserError where something that is measured has changed since a run began."""
    if changed:
        raise UserError(
            f"This run cannot go on: {', '.join(changed)} changed since it began, and its blocks would not be "
            "comparable.\nBegin it anew, in a new folder."
        )
