"""``--artifact``: the user's own files in place of an agent's artifacts, or two builds to compare."""

import re
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tracetax.artifacts.cache import sha256_of
from tracetax.catalog.names import did_you_mean, one_of
from tracetax.catalog.problems import COMMAND_LINE, Report, raise_problems
from tracetax.catalog.uses import Known, unknown_agent
from tracetax.model import Agent, Artifact, Experiment, Part, Use

OPTION = "--artifact"
_FORM = re.compile(r"([^.=\s]+)\.([^.=\s]+)=(.+)")
_MOST_BUILDS = 2


class Replaced(Struct, frozen=True):
    """An experiment in which files of the user's take the place of artifacts."""

    experiment: Experiment
    agents: dict[str, Agent]
    notes: tuple[str, ...]
    """What the user should know before it is measured."""


def with_artifacts(experiment: Experiment, agents: Mapping[str, Agent], options: Sequence[str]) -> Replaced:
    """Put in what ``--artifact AGENT.NAME=FILE`` and ``=OLD,NEW`` say, each with its SHA-256.

    With two files, every configuration of that agent is measured with each of them in every block. Raises CatalogError
    with every problem.
    """
    report = Report(COMMAND_LINE)
    changed = dict(agents)
    notes: list[str] = []
    for target, files in _read(options, experiment, changed, report).items():
        key, name = target
        found = [_artifact(changed[key].artifacts[name], path, f"{OPTION} {key}.{name}", report) for path in files]
        artifacts = [artifact for artifact in found if artifact is not None]
        if len(artifacts) < len(files):
            continue
        if len(files) == 1:
            changed[key] = replace(changed[key], artifacts=changed[key].artifacts | {name: artifacts[0]})
            continue
        if changed[key].builds:
            report.add(f"{OPTION} {key}.{name}", f"{key} has two builds already: give this artifact as one file")
            continue
        labels = _labels(artifacts)
        builds = {label: {name: artifact} for label, artifact in zip(labels, artifacts, strict=True)}
        changed[key] = replace(changed[key], builds=builds)
        if len({artifact.sha256 for artifact in artifacts}) == 1:
            same = f"{labels[0]} and {labels[1]} have the same content (SHA-256 {artifacts[0].sha256[:12]}…)"
            notes.append(f"{same}: {key} is compared with itself.")
    raise_problems(report)
    parts = tuple(replace(part, uses=_doubled(part, changed)) for part in experiment.parts)
    return Replaced(replace(experiment, parts=parts), changed, tuple(notes))


def unchanged(measured: Agent, now: Agent | None) -> bool:
    """Whether an agent's file says what it said when a run began, except for what ``--artifact`` had replaced."""
    if now is None:
        return False
    artifacts = {
        name: measured.artifacts[name] if name in measured.artifacts and measured.artifacts[name].file else artifact
        for name, artifact in now.artifacts.items()
    }
    return replace(now, artifacts=artifacts, builds=measured.builds) == measured


def changed_files(agents: Mapping[str, Agent]) -> list[str]:
    """The user's files that hold something else than when they were given; one that is gone has a copy in the cache."""
    given = {
        artifact
        for agent in agents.values()
        for artifacts in (agent.artifacts, *agent.builds.values())
        for artifact in artifacts.values()
        if artifact.file and Path(artifact.file).is_file()
    }
    return sorted(artifact.file for artifact in given if sha256_of(Path(artifact.file)) != artifact.sha256)


def _read(
    options: Sequence[str], experiment: Experiment, agents: Mapping[str, Agent], report: Report
) -> dict[tuple[str, str], list[Path]]:
    """The files by agent and artifact."""
    measured = list(dict.fromkeys(use.agent for part in experiment.parts for use in part.uses))
    found: dict[tuple[str, str], list[Path]] = {}
    for option in options:
        match = _FORM.fullmatch(option)
        if match is None:
            form = "./tracetax run --artifact kieker.agent=FILE, or =OLD,NEW to compare two builds"
            report.add(f"{OPTION} {option}", f"must be AGENT.ARTIFACT=FILE, as in: {form}")
            continue
        agent, name, said = match.groups()
        key = f"{OPTION} {agent}.{name}"
        files = [_placed(file.strip()) for file in said.split(",")]
        if agent not in agents:
            report.add(key, unknown_agent(agent, Known(agents)))
        elif agent not in measured:
            report.add(key, f"{experiment.key} does not measure {agent}, but {one_of(measured)}")
        elif name not in agents[agent].artifacts:
            names = agents[agent].artifacts
            hint = did_you_mean(name, names) or f". It has {one_of(names)}"
            report.add(key, f'"{name}" is no artifact of {agent}{hint}')
        elif (agent, name) in found:
            report.add(key, "is given twice: two builds are compared by one option, =OLD,NEW")
        elif len(files) > _MOST_BUILDS:
            report.add(key, f"names {len(files)} files: one replaces the artifact, two are compared")
        else:
            found[agent, name] = files
    return found


def _placed(file: str) -> Path:
    """An absolute path without detours that keeps the name which was typed, a link's too."""
    path = Path(file).expanduser()
    return path.parent.resolve() / path.name


def _artifact(replaced: Artifact, file: Path, key: str, report: Report) -> Artifact | None:
    """The artifact that a file makes; None after a problem was reported."""
    try:
        if not file.is_file():
            report.add(f"{key}={file}", "there is no such file")
            return None
        with zipfile.ZipFile(file) as jar:
            empty = not jar.namelist()
        if empty:
            report.add(f"{key}={file}", "is an empty jar")
            return None
        return replace(replaced, sha256=sha256_of(file), file=str(file))
    except zipfile.BadZipFile:
        report.add(f"{key}={file}", "is no jar: it cannot be read as one")
    except OSError as error:
        report.add(f"{key}={file}", f"cannot be read: {error.strerror or error}")
    return None


def _labels(artifacts: Sequence[Artifact]) -> list[str]:
    """What two builds are called: their files' names, with the folder where these are alike, or else with a number."""
    paths = [Path(artifact.file) for artifact in artifacts]
    for labels in ([path.name for path in paths], [f"{path.parent.name}/{path.name}" for path in paths]):
        if max(Counter(labels).values()) == 1:
            return labels
    return [f"{path.name} ({place})" for place, path in enumerate(paths, start=1)]


def _doubled(part: Part, agents: Mapping[str, Agent]) -> tuple[Use, ...]:
    """The part's configurations, each once for every build of its agent."""
    return tuple(
        replace(use, build=build) for use in part.uses for build in (agents[use.agent].builds or {use.build: {}})
    )
