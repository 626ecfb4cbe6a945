"""Before the first trial: find what runs the workload, build it and the sink, fetch agents; then nothing is missing."""

import hashlib
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

import msgspec
from msgspec.structs import replace

from tracetax import companions, kinds, run, workloads
from tracetax.artifacts import (
    Workplace,
    build_load,
    build_sink,
    build_start_up,
    build_workload,
    source_files,
    sources_of,
)
from tracetax.artifacts.cache import key_of
from tracetax.backend import Backend
from tracetax.catalog import untested_releases
from tracetax.catalog.own.service import for_service
from tracetax.catalog.placeholders import BACKEND_FILES, PREPARED
from tracetax.errors import UserError
from tracetax.machine import disturbance, process_files, processes, threads
from tracetax.machine.facts import Machine
from tracetax.machine.isolation import Isolation
from tracetax.model import BASELINE, Agent, Experiment, Part
from tracetax.run.backends import supply_backend
from tracetax.run.bounding import check_bounds
from tracetax.run.building import check_buildable
from tracetax.run.equipment import Equipment
from tracetax.run.hosted import build_hosts, check_hosts, with_needed_stores
from tracetax.run.runtimes import (
    agents_by_release,
    check_runtimes,
    foresee_runtimes,
    obtain_interpreters,
    program_of,
)
from tracetax.run.stores import store_hash, supply_stores, users_stores
from tracetax.run.supplies import check_started, installs_packages, measured, supply
from tracetax.words import plural

Say = Callable[[str], None]

MEASURING: tuple[ModuleType, ...] = (run, workloads, companions, kinds, disturbance, process_files, processes, threads)
"""What decides what a trial measures and which trials are repeated."""


def needed_agents(experiment: Experiment, agents: Mapping[str, Agent]) -> dict[str, Agent]:
    """Agents that an experiment measures, the baseline included, by what its parts call them."""
    keys = {
        part.agent_key(name)
        for part in experiment.parts
        for name in (BASELINE.agent, *(use.agent for use in part.uses))
    }
    return {key: agents[key] for key in sorted(keys)}


def each_alone(experiment: Experiment, agents: Mapping[str, Agent]) -> dict[str, tuple[Experiment, dict[str, Agent]]]:
    """By workload, what is measured of it: an experiment of its own, and the agents that it needs by their names.

    The only workload of an experiment has an empty key.
    """
    parts: dict[str, list[Part]] = {}
    for part in experiment.parts:
        parts.setdefault(part.workload, []).append(part)
    alone: dict[str, tuple[Experiment, dict[str, Agent]]] = {}
    for key, own in parts.items():
        one = replace(experiment, workload=key or experiment.workload, parts=tuple(own))
        used = needed_agents(one, agents).values()
        single = tuple(replace(part, workload="") for part in own)
        alone[key] = replace(one, parts=single), {agent.key: agent for agent in used}
    return alone


def refuse(experiment: Experiment, agents: Mapping[str, Agent], root: Path) -> list[str]:
    """Raise UserError with everything for which a run would be refused, without building or fetching anything.

    Returns what the user should know, such as a release that would be fetched.
    """
    notes: list[str] = []
    refusals: list[UserError] = []
    for one, used in each_alone(experiment, agents).values():
        if one.service:
            used = {key: for_service(agent, one.service) for key, agent in used.items()}
        try:
            check_buildable(one, used)
            workload = program_of(one, root)[0]
            check_started(one, used, workload)
            users_stores(workload, root, os.environ)
            notes += foresee_runtimes(one, used, root)
        except UserError as refusal:
            refusals.append(refusal)
    if refusals:
        raise UserError("\n".join(map(str, refusals)), refusals[0].exit_code)
    return notes


def prepare(
    experiment: Experiment,
    agents: dict[str, Agent],
    root: Path,
    cache: Path,
    isolation: Isolation,
    say: Say,
    backends: Mapping[str, Backend] | None = None,
) -> Equipment:
    """Set up what every trial needs, telling ``say`` what took how long. Raises UserError with the way out."""
    alone = each_alone(experiment, agents)
    if len(alone) > 1:
        refuse(experiment, agents, root)
    ready = [(key, _of_workload(one, used, root, cache, isolation, say)) for key, (one, used) in alone.items()]
    supplied = {
        key: supply_backend(backend, root / "backends" / key, cache, say) for key, backend in (backends or {}).items()
    }
    (_, first), *others = ((key, replace(equipment, backends=supplied)) for key, equipment in ready)
    return replace(first, others=dict(others))


def _of_workload(
    experiment: Experiment, used: dict[str, Agent], root: Path, cache: Path, isolation: Isolation, say: Say
) -> Equipment:
    """What the trials of an experiment's one workload need."""
    if experiment.service:
        used = {key: for_service(agent, experiment.service) for key, agent in used.items()}
    workload, runtime = program_of(experiment, root)
    check_buildable(experiment, used)
    check_started(experiment, used, workload)
    users_stores(workload, root, os.environ)
    interpreters = obtain_interpreters(experiment, workload, runtime, root, cache, say)
    check_runtimes(experiment, used, runtime, interpreters)
    check_bounds(experiment)
    check_hosts(experiment, workload, runtime, interpreters)
    for release, on_it in agents_by_release(experiment, used, runtime, interpreters).items():
        for sentence in untested_releases(on_it, release, runtime):
            say(sentence)
    interpreter = installs_packages(interpreters) if runtime.find else None
    built, seconds = _timed(lambda: build_workload(root, workload, cache, say, interpreter))
    took = [f"workload {seconds:.1f} s"]
    start_up = {
        (methods, monitored): build_start_up(workload.start_up, methods, monitored, cache, say)
        for methods, monitored in start_ups(experiment)
        if methods and workload.start_up
    }
    sink, seconds = _timed(lambda: build_sink(root, cache, say))
    took.append(f"sink {seconds:.1f} s")
    load: Path | None = None
    if workload.service:
        load, seconds = _timed(lambda: build_load(root, cache, say))
        took.append(f"load {seconds:.1f} s")
    host_programs = build_hosts(experiment, workload, root, cache, say)
    stores = supply_stores(with_needed_stores(workload, experiment), root, cache, os.environ, say)
    fetched = time.monotonic()
    supplies = {
        key: supply(
            agent,
            measured(experiment, agent),
            workload,
            Workplace(
                agent=key,
                folder=agent.folder_in(root / "agents"),
                artifacts={},
                classes=built,
                sources=sources_of(root, workload),
                monitored=workload.monitored.placeholders,
                cache=cache,
                interpreter=interpreter.program if interpreter else None,
                runs_on=interpreter.version if interpreter else "",
            ),
            say,
        )
        for key, agent in used.items()
    }
    count = sum(len(found.artifacts) + sum(map(len, found.builds.values())) for found in supplies.values())
    folders = sum(len(made) for found in supplies.values() for made in found.folders.values())
    kinds = plural(count, "agent file") + (f", {plural(folders, 'folder')}" if folders else "")
    took.append(f"{kinds} {time.monotonic() - fetched:.1f} s")
    say(f"Prepared {workload.title}: " + " · ".join(took))
    return Equipment(
        workload=workload,
        runtime=runtime,
        interpreters=interpreters,
        cores=isolation.processors,
        sink=sink,
        built=built,
        agents=used,
        agents_root=root / "agents",
        artifacts={key: found.artifacts for key, found in supplies.items()},
        isolation=isolation,
        builds={key: found.builds for key, found in supplies.items() if found.builds},
        prepared={key: found.folders for key, found in supplies.items()},
        lacks={key: found.lacks for key, found in supplies.items() if found.lacks},
        start_up=start_up,
        load=load,
        stores=stores,
        host_programs=host_programs,
    )


def start_ups(experiment: Experiment) -> list[tuple[int, int]]:
    """The methods that programs of an experiment call when they start, and how many of them are monitored."""
    said = [(part.parameters.start_up_methods, part.parameters.start_up_monitored) for part in experiment.parts]
    return sorted(set(said))


def hashes(experiment: Experiment, equipment: Equipment, machine: Machine) -> dict[str, str]:
    """What must stay the same for blocks to be comparable; the schedule and the titles may change."""
    parts = [(part.name, part.parameters, part.settings, [str(use) for use in part.uses]) for part in experiment.parts]
    result = {
        "the experiment": _digest((experiment.key, experiment.workload, parts)),
        "the sink": equipment.sink.parent.name,
        "the machine": _digest((machine.cpu, machine.cores, machine.memory_bytes, machine.kernel, machine.virtualised)),
        "the cores of workload and sink": _digest((equipment.isolation.workload, equipment.isolation.companions)),
        "Tracetax's way of measuring": _digest([_source(part) for part in MEASURING]),
    }
    for own in equipment.every:
        result |= _of_program(own, in_words=f" in {own.workload.key}" if equipment.others else "")
    for key, supplied in equipment.backends.items():
        within = [path for name, path in supplied.values.items() if name.startswith(PREPARED)]
        files = _files(Path(supplied.values[BACKEND_FILES]))
        result[f"the backend {key}"] = _digest((supplied.backend, [Path(path).name for path in within], files))
    return result


def _of_program(equipment: Equipment, in_words: str) -> dict[str, str]:
    """What must stay the same of a workload, its runtime and its agents; ``in_words`` where there are several.

    Sink and workload are known by the folders that they were built into, which are named by content and compiler. A
    workload that is not built is known by its files.
    """
    workload, built = equipment.workload, equipment.built
    program = built.name if workload.is_built else key_of(built, source_files(built))
    result = {
        f"the workload{in_words}": " ".join((program, *(path.name for path in equipment.start_up.values()))),
        f"the file of the workload {workload.key}": _digest(workload),
        f"the file of the runtime {equipment.runtime.key}": _digest(equipment.runtime),
    }
    if equipment.load:
        result["the load"] = equipment.load.parent.name
    result |= {
        f"the program of the host {name}{in_words}": path.parent.name for name, path in equipment.host_programs.items()
    }
    result |= {f"the store {name}{in_words}": _digest(store_hash(place)) for name, place in equipment.stores.items()}
    result |= {
        f"the {equipment.runtime.noun} {equipment.runtime.number(one.release)}": _digest(one.described)
        for one in equipment.interpreters.values()
    }
    for key, agent in equipment.agents.items():
        result[f"the agent {key}{in_words}"] = _digest(agent)
        if files := _files(equipment.agent_folder(key) / "files"):
            result[f"the files of the agent {key}{in_words}"] = files
        for label, folders in equipment.prepared.get(key, {}).items():
            build = f" [{label}]" if label else ""
            result |= {
                f"the folder {name} of the agent {key}{build}{in_words}": path.name for name, path in folders.items()
            }
    return result


def _files(folder: Path) -> str:
    """A key of what is in a folder; empty where there is none."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return key_of(folder, found) if found else ""


def _source(part: ModuleType) -> list[tuple[str, str]]:
    """The name and text of a module's source, or of every source of a package, those in its folders included."""
    if not hasattr(part, "__path__"):
        file = Path(str(part.__file__))
        return [(file.name, file.read_text(encoding="utf-8"))]
    folder = Path(part.__path__[0])
    files = sorted(folder.rglob("*.py"))
    return [(file.relative_to(folder).as_posix(), file.read_text(encoding="utf-8")) for file in files]


def _digest(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


def _timed(work: Callable[[], Path]) -> tuple[Path, float]:
    begun = time.monotonic()
    return work(), time.monotonic() - begun
