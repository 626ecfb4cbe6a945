"""What the measured configurations refer to: agents' files and folders, and the search paths that come of them."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from tracetax.artifacts import Say, Workplace, class_files, lacking, obtain, prepared
from tracetax.catalog.placeholders import ARTIFACT, FILES, PREPARED, fill, names_in, references
from tracetax.errors import UserError
from tracetax.machine.toolchain import Interpreter
from tracetax.model import AS_BUILT, BASELINE, WORKLOAD_BUILT, Agent, Configuration, Experiment
from tracetax.preparation import PrepareStep
from tracetax.program import Workload


class Supplies(Struct, frozen=True):
    """The files and folders of one agent."""

    artifacts: dict[str, Path]
    """Those that are the same in all builds, by name."""
    builds: dict[str, dict[str, Path]]
    """What each of two builds puts in their place, by label."""
    folders: dict[str, dict[str, Path]]
    """Prepared folders by label, which is empty where no builds are compared, and name."""
    lacks: dict[str, str] = {}
    """Configurations for which a tool of this machine is missing, by name, with a sentence and the way out."""


def measured(experiment: Experiment, agent: Agent) -> list[Configuration]:
    """The configurations of an agent that an experiment measures, each once."""
    uses = dict.fromkeys([BASELINE, *(use for part in experiment.parts for use in part.uses)])
    names = dict.fromkeys(use.configuration for use in uses if use.agent == agent.key)
    return [agent.configurations[name] for name in names]


def check_started(experiment: Experiment, agents: Mapping[str, Agent], workload: Workload) -> None:
    """Raise UserError, with everything that measured configurations say of a start of which the workload has none."""
    start = workload.start or next((host.start for host in workload.hosts.values()), ())  # all have the same places
    used = {name for text in (*start, *workload.environment.values()) for name in names_in(text)}
    lacks: list[str] = []
    for configuration in (one for agent in agents.values() for one in measured(experiment, agent)):
        said = {
            "flags": bool(configuration.flags),
            "wrapper": bool(configuration.wrapper),
            "program": bool(configuration.program),
            "search_path": configuration.search_path != AS_BUILT,
        }
        lacks += [
            f"\n  {configuration.agent} {configuration.name}: {key}, and no word of start is {{{key}}}"
            for key, is_said in said.items()
            if is_said and key not in used
        ]
    if lacks:
        raise UserError(
            f"What these say has no place in how {workload.key} is started (workloads/{workload.key}/workload.toml):"
            f"{''.join(lacks)}"
        )


def installs_packages(interpreters: Mapping[int, Interpreter]) -> Interpreter:
    """What an agent's packages are installed by, once for all releases that a run measures: the newest of them.

    A lock pins the same packages for each, and no package's own script runs.
    """
    return max(interpreters.values(), key=lambda one: one.release)


def supply(
    agent: Agent, configurations: list[Configuration], workload: Workload, place: Workplace, say: Say
) -> Supplies:
    """Fetch and make what these configurations of an agent need, and nothing else. Raises UserError.

    Where a tool is missing that the user may have installed, the configurations that need it are left out, and told.
    """
    lacks = _lacks(agent, configurations, place)
    for why in dict.fromkeys(lacks.values()):
        say(f"{agent.name}: {why}")
    configurations = [configuration for configuration in configurations if configuration.name not in lacks]
    needed = references(agent, configurations)
    replaced = {name for artifacts in agent.builds.values() for name in artifacts}
    common = [agent.artifacts[name] for name in needed.artifacts if name not in replaced]
    artifacts = {artifact.name: obtain(artifact, place.cache, say) for artifact in common}
    builds = {
        label: {name: obtain(own[name], place.cache, say) for name in needed.artifacts if name in own}
        for label, own in agent.builds.items()
    }
    folders = {
        label: prepared(needed.steps, place.with_artifacts(artifacts | own), say)
        for label, own in (builds or {"": {}}).items()
    }
    for label, own in (builds or {"": {}}).items():
        values = {
            **{f"{ARTIFACT}{name}": path for name, path in (artifacts | own).items()},
            **{f"{PREPARED}{name}": path for name, path in folders[label].items()},
            WORKLOAD_BUILT: place.classes,
            FILES: place.folder / "files",
        }
        for configuration in configurations:
            _check_search_path(configuration, workload, {name: str(path) for name, path in values.items()})
    return Supplies(artifacts, builds, folders, lacks)


def _lacks(agent: Agent, configurations: list[Configuration], place: Workplace) -> dict[str, str]:
    """What this machine lacks to make the folders of configurations, by their names."""

    def why(step: PrepareStep) -> str:
        return lacking(step.cc, place.cache) if step.cc else ""

    lacks: dict[str, str] = {}
    for configuration in configurations:
        for text in filter(None, map(why, references(agent, [configuration]).steps)):
            lacks.setdefault(configuration.name, text)
    return lacks


def _check_search_path(configuration: Configuration, workload: Workload, values: dict[str, str]) -> None:
    """Raise UserError where the workload could not be started from a configuration's search path."""
    if configuration.search_path == AS_BUILT or not workload.main:
        return
    entries = [Path(fill(entry, values)) for entry in configuration.search_path]
    for class_name in (workload.main, workload.monitored.class_name):
        if next(class_files(class_name, entries), None) is None:
            listed = "".join(
                f"\n  {entry}: {path}" for entry, path in zip(configuration.search_path, entries, strict=True)
            )
            raise UserError(
                f"The search path of {configuration.agent} {configuration.name} has no {class_name}:{listed}\n"
                f'Does it lack "{AS_BUILT[0]}" as its last entry, or a folder that [[prepare]] should make?'
            )
