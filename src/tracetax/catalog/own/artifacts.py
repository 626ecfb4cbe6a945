"""``--artifact``: the user's own files in place of an agent's artifacts, or two builds to compare."""

import re
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from tracetax.artifacts.archives import ArchiveError, check_archive
from tracetax.artifacts.cache import sha256_of
from tracetax.artifacts.maven import file_name
from tracetax.catalog.agent_file import Known, unknown_agent
from tracetax.catalog.placeholders import references
from tracetax.catalog.reading import COMMAND_LINE, Report, did_you_mean, one_of, raise_problems
from tracetax.model import BASELINE, Agent, Artifact, Experiment, Part, Use

OPTION = "--artifact"
_FORM = re.compile(r"([^.=\s]+)\.([^.=\s]+)=(.+)")
_WORD = re.compile(r"[^-_/]+[-_/]*|[-_/]+")
COMPARED = 2
"""So many builds of an artifact are measured against each other."""
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


class Replaced(Struct, frozen=True):
    """An experiment in which files of the user's take the place of artifacts."""

    experiment: Experiment
    agents: dict[str, Agent]
    notes: tuple[str, ...]
    """What the user should know before it is measured."""


def with_artifacts(
    experiment: Experiment, agents: Mapping[str, Agent], options: Sequence[str], most: int = COMPARED
) -> Replaced:
    """Put in what ``--artifact AGENT.NAME=FILE`` and ``=OLD,NEW`` say, each with its SHA-256.

    With two files, every configuration of that agent is measured with each of them in every block; ``most`` is 1 where
    builds are not compared. Raises CatalogError with every problem, a file that only the user has and did not give
    among them.
    """
    report = Report(COMMAND_LINE)
    changed = dict(agents)
    experiment, notes = _without_what_is_not_given(experiment, agents, options)
    needed = {
        key: references(agent, [agent.configurations[name] for name in _measured(experiment, key)]).artifacts
        for key, agent in agents.items()
        if _measured(experiment, key)
    }
    for target, files in _read(options, needed, experiment.key, changed, most, report).items():
        key, name = target
        made = [_artifact(changed[key].artifacts[name], path, f"{OPTION} {key}.{name}", report) for path in files]
        artifacts = [artifact for artifact in made if artifact is not None]
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
    for key, names in needed.items():
        for artifact in (changed[key].artifacts[name] for name in names):
            option = f"{OPTION} {key}.{artifact.name}"
            if _lacks(changed[key], artifact) and not _said(options, key, artifact.name):
                report.add(option, f"is missing: {_sentence(artifact.given)} Give it as: {option}=FILE")
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
    return replace(now, artifacts=artifacts, builds=measured.builds) == measured.as_its_file_says


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


def what_differs(first: str, second: str) -> list[str]:
    """Two names without what they have in common: ``2.0.1`` and ``2.0.2`` of ``a-2.0.1.jar`` and ``a-2.0.2.jar``.

    Only whole words between ``-``, ``_`` and ``/`` are left out, and none where nothing would be left of a name.
    """
    suffix = Path(first).suffix if Path(first).suffix == Path(second).suffix else ""
    names = [_WORD.findall(name.removesuffix(suffix)) for name in (first, second)]
    words = [[word.rstrip("-_/") for word in name] for name in names]
    shortest = min(map(len, words))
    begin = next((place for place in range(shortest) if words[0][place] != words[1][place]), shortest)
    begin = min(begin, shortest - 1)
    end = next((n for n in range(shortest - begin) if words[0][-1 - n] != words[1][-1 - n]), shortest - begin)
    end = min(end, shortest - begin - 1)
    return ["".join(name[begin : len(name) - end]).rstrip("-_/") for name in names]


def _without_what_is_not_given(
    experiment: Experiment, agents: Mapping[str, Agent], options: Sequence[str]
) -> tuple[Experiment, list[str]]:
    """The experiment without what it measures only if a file is given that is not, and what to say about it."""
    left_out: dict[str, list[str]] = {}

    def lacks(use: Use, key: str) -> bool:
        agent = agents[key]
        for name in references(agent, [agent.configurations[use.configuration]]).artifacts:
            if _lacks(agent, agent.artifacts[name]) and not _said(options, key, name):
                left_out.setdefault(f"{key}.{name}", []).append(f"{use}")
                return True
        return False

    parts: list[Part] = []
    for part in experiment.parts:
        optional = {use for use in part.if_given if lacks(use, part.agent_key(use.agent))}
        parts.append(replace(part, uses=tuple(use for use in part.uses if use not in optional)))
    parts = [part for part in parts if part.uses]
    notes = [
        f"Left out, since a file is not given ({OPTION} {key}=FILE): {', '.join(dict.fromkeys(uses))}."
        for key, uses in left_out.items()
    ]
    if not parts:
        return experiment, []
    kept = {BASELINE, *(use for part in parts for use in part.uses)}
    printed = tuple(row for row in experiment.published if row.use in kept)
    lines = tuple(line for line in experiment.published_lines if line.use in kept)
    return replace(experiment, parts=tuple(parts), published=printed, published_lines=lines), notes


def _said(options: Sequence[str], agent: str, name: str) -> bool:
    """Whether an option names an artifact of an agent, as the run calls it."""
    return any(option.startswith(f"{agent}.{name}=") for option in options)


def _lacks(agent: Agent, artifact: Artifact) -> bool:
    """Whether only the user has an artifact, and has not given it."""
    replaced = agent.builds and all(artifact.name in build for build in agent.builds.values())
    return bool(artifact.given) and not artifact.file and not replaced


def _measured(experiment: Experiment, agent: str) -> list[str]:
    """The configurations of an agent, as the run calls it, that are measured."""
    uses = ((part.agent_key(use.agent), use) for part in experiment.parts for use in part.uses)
    return list(dict.fromkeys(use.configuration for key, use in uses if key == agent))


def _read(
    options: Sequence[str],
    needed: Mapping[str, Sequence[str]],
    experiment: str,
    agents: Mapping[str, Agent],
    most: int,
    report: Report,
) -> dict[tuple[str, str], list[Path]]:
    """The files by agent and artifact; ``needed`` holds those that the measured configurations refer to, by agent."""
    given: dict[tuple[str, str], list[Path]] = {}
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
        elif agent not in needed:
            report.add(key, f"{experiment} does not measure {agent}, but {one_of(needed)}")
        elif name not in agents[agent].artifacts:
            names = agents[agent].artifacts
            hint = did_you_mean(name, names) or f". It has {one_of(names)}"
            report.add(key, f'"{name}" is no artifact of {agent}{hint}')
        elif name not in needed[agent]:
            report.add(key, f"no configuration of {agent} that {experiment} measures refers to it")
        elif (agent, name) in given:
            report.add(key, "is given twice: two builds are compared by one option, =OLD,NEW")
        elif len(files) > COMPARED:
            report.add(key, f"names {len(files)} files: one replaces the artifact, two are compared")
        elif len(files) > most:
            report.add(key, f"names {len(files)} files: builds are compared by ./tracetax run; give one file here")
        else:
            given[agent, name] = files
    return given


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
        wrong = _wrong(file, _kind(replaced, file))
        if not wrong:
            return replace(replaced, sha256=sha256_of(file), file=str(file))
        report.add(f"{key}={file}", wrong)
    except OSError as error:
        report.add(f"{key}={file}", f"cannot be read: {error.strerror or error}")
    return None


def _kind(replaced: Artifact, file: Path) -> str:
    """What a file must be to take an artifact's place: a ``jar``, an ``archive``, or any ``file``.

    Where the agent's file does not say what the artifact is, the file's own name does.
    """
    name = file_name(replaced.maven) if replaced.maven else urlsplit(replaced.url).path or file.name
    return "jar" if name.endswith(".jar") else "archive" if name.endswith(_ARCHIVES) else "file"


def _wrong(file: Path, kind: str) -> str:
    """What is wrong with a file of a kind; empty where nothing is."""
    try:
        if kind == "jar":
            with zipfile.ZipFile(file) as jar:
                return "" if jar.namelist() else "is an empty jar"
        if kind == "archive":
            check_archive(file)
        return "" if file.stat().st_size else "is empty"
    except zipfile.BadZipFile:
        return "is no jar: it cannot be read as one"
    except ArchiveError as error:
        return f"{error}"


def _labels(artifacts: Sequence[Artifact]) -> list[str]:
    """What two builds are called: what differs in their files' names, or else in their folders', or else a number."""
    paths = [Path(artifact.file) for artifact in artifacts]
    for labels in ([path.name for path in paths], [f"{path.parent.name}/{path.name}" for path in paths]):
        if max(Counter(labels).values()) == 1:
            return what_differs(*labels)
    return [f"{path.name} ({place})" for place, path in enumerate(paths, start=1)]


def _doubled(part: Part, agents: Mapping[str, Agent]) -> tuple[Use, ...]:
    """The part's configurations, each once for every build of its agent."""
    return tuple(
        replace(use, build=build)
        for use in part.uses
        for build in (agents[part.agent_key(use.agent)].builds or {use.build: {}})
    )


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
