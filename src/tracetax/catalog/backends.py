"""Real backends beside a workload: ``backends/<name>/backend.toml``, ``--backend``.

docs/backends.md explains every key.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from tracetax.backend import Backend, Counters, Ready, Start, port_name
from tracetax.catalog.agent_checks import check_artifact, check_names, check_steps
from tracetax.catalog.agent_shape import (
    ArtifactName,
    ArtifactShape,
    ClassName,
    Homepage,
    PrepareShape,
    UrlPath,
    VariableName,
    artifact_of,
    step_of,
)
from tracetax.catalog.placeholders import BACKEND_FILES, RECEIVED, known_to_backend
from tracetax.catalog.reading import (
    COMMAND_LINE,
    Report,
    Shape,
    Text,
    did_you_mean,
    join,
    one_of,
    raise_problems,
    read_file,
)
from tracetax.catalog.units import Duration, Size
from tracetax.model import Agent, Experiment, Use

OPTION = "--backend"


class StartShape(Struct, frozen=True, kw_only=True):
    """``[start]``: one of ``program``, ``jar`` and ``main``."""

    program: Text | None = None
    jar: Text | None = None
    main: ClassName | None = None
    class_path: tuple[Text, ...] = ()
    jvm: tuple[Text, ...] = ()
    arguments: tuple[str, ...] = ()
    environment: dict[VariableName, str] = {}
    memory: Size = 256 << 20


class ReadyShape(Struct, frozen=True, kw_only=True):
    """``[ready]``."""

    port: Text
    path: UrlPath | None = None
    within: Duration = 60 * 10**9


class CountersShape(Struct, frozen=True, kw_only=True):
    """``[counters]``."""

    port: Text
    path: UrlPath
    format: Literal["json", "prometheus"]
    received: tuple[Text, ...]
    dropped: tuple[Text, ...] = ()
    refused: tuple[Text, ...] = ()


class BackendShape(Struct, frozen=True, kw_only=True):
    """The whole of ``backend.toml``."""

    name: Text
    homepage: Homepage
    licence: Text
    version: Text | None = None
    accepts: tuple[Text, ...]
    artifacts: dict[ArtifactName, ArtifactShape] = {}
    prepare: tuple[PrepareShape, ...] = ()
    start: StartShape
    ready: ReadyShape
    counters: CountersShape


def load_backends(root: Path) -> dict[str, Backend]:
    """All backends by the name of their folder. Raises CatalogError."""
    shapes = shapes_of(root, "backend", BackendShape, _check)
    return {key: _built(key, shape) for key, shape in shapes.items()}


def shapes_of(root: Path, kind: str, shape: type[Shape], check: Callable[[Shape, Report], None]) -> dict[str, Shape]:
    """What ``<kind>s/<name>/<kind>.toml`` say, by name. Raises CatalogError with every problem."""
    found: dict[str, Shape] = {}
    reports: list[Report] = []
    folder = root / f"{kind}s"
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        if place.is_dir() and not place.name.startswith("."):
            report = Report(f"{kind}s/{place.name}/{kind}.toml")
            said = read_file(place / f"{kind}.toml", shape, report)
            if said is not None:
                check(said, report)
                found[place.name] = said
            reports.append(report)
    raise_problems(*reports)
    return found


class Backed(Struct, frozen=True):
    """An experiment in which configurations stand once for the sink, and once for every backend that takes theirs."""

    experiment: Experiment
    backends: dict[str, Backend]
    notes: tuple[str, ...]
    """What the user should know before it is measured."""


def with_backends(
    experiment: Experiment, agents: Mapping[str, Agent], backends: Mapping[str, Backend], names: Sequence[str]
) -> Backed:
    """Put in the backends that were named.

    Raises CatalogError where a backend is unknown, or takes no record that the experiment makes.
    """
    report = Report(COMMAND_LINE)
    used: dict[str, Backend] = {}
    for name in names:
        key = f"{OPTION} {name}"
        if name not in backends:
            known = f": there is {one_of(backends)}" if backends else ": there is none"
            report.add(key, "there is no backend by that name" + (did_you_mean(name, backends) or known))
        elif name in used:
            report.add(key, "is given twice")
        else:
            used[name] = backends[name]
    notes: dict[str, None] = {}
    taken: set[str] = set()

    def behind(use: Use, agent: str) -> list[Use]:
        """A use at the sink, and at each backend that takes its records; ``agent`` is what the run calls its agent."""
        config = agents[agent].configurations[use.configuration]
        result = [use]
        for backend in used.values():
            if config.protocol not in backend.accepts:
                continue
            if config.held_until_exit:
                notes[
                    f"{use} is measured at the sink only: it holds back records until its process ends, and a backend "
                    "cannot be told after how many of them the warm-up was over."
                ] = None
                continue
            taken.add(backend.key)
            result.append(replace(use, backend=backend.key))
        return result

    parts = tuple(
        replace(
            part,
            uses=tuple(doubled for use in part.uses for doubled in behind(use, part.agent_key(use.agent))),
        )
        for part in experiment.parts
    )
    for key, backend in used.items():
        if key not in taken:
            text = f"takes records by {one_of(backend.accepts)}, and nothing that {experiment.key} measures"
            report.add(f"{OPTION} {key}", f"{text} sends any that way, or can be measured with it")
    raise_problems(report)
    return Backed(replace(experiment, parts=parts), used, tuple(notes))


def _built(key: str, said: BackendShape) -> Backend:
    start, ready, counters = said.start, said.ready, said.counters
    return Backend(
        key=key,
        name=said.name,
        homepage=said.homepage,
        licence=said.licence,
        accepts=said.accepts,
        version_named=said.version or "",
        artifacts={name: artifact_of(name, artifact) for name, artifact in said.artifacts.items()},
        prepare=tuple(map(step_of, said.prepare)),
        start=Start(
            program=start.program or "",
            jar=start.jar or "",
            main=start.main or "",
            class_path=start.class_path,
            jvm=start.jvm,
            arguments=start.arguments,
            environment=start.environment,
            memory_bytes=start.memory,
        ),
        ready=Ready(ready.port, ready.path or "", ready.within),
        counters=Counters(
            port=counters.port,
            path=counters.path,
            format=counters.format,
            received=counters.received,
            dropped=counters.dropped,
            refused=counters.refused,
        ),
    )


def _check(said: BackendShape, report: Report) -> None:
    """Report what must hold beyond the type of each value."""
    for name, artifact in said.artifacts.items():
        check_artifact(join("artifacts", name), artifact, report)
        if artifact.given is not None:
            report.add(join(join("artifacts", name), "given"), "is for agents: a backend's files must be fetchable")
    if ("server" in said.artifacts) == (said.version is not None):
        text = "must be given where there is no artifact by the name of server, whose version stands in every row"
        report.add("version", f"{text}, and only there")
    if not said.accepts:
        report.add("accepts", f"is an empty list: which of {one_of(RECEIVED)} does it speak?")
    for index, protocol in enumerate(said.accepts):
        if protocol not in RECEIVED:
            hint = did_you_mean(protocol, RECEIVED)
            text = f'"{protocol}" is none of those that an agent can send to: {one_of(RECEIVED)}{hint}'
            report.add(f"accepts[{index}]", text)
    check_steps(said.prepare, said.artifacts, report, files=BACKEND_FILES)
    _check_start(said, report)
    ports = [*map(port_name, said.accepts), "metrics"]
    for section, port in (("ready", said.ready.port), ("counters", said.counters.port)):
        if port not in ports:
            report.add(f"{section}.port", f'"{port}" is none of its ports: {one_of(ports)}{did_you_mean(port, ports)}')
    if not said.counters.received:
        report.add("counters.received", "is an empty list: without it nobody knows how many records arrived")


def _check_start(said: BackendShape, report: Report) -> None:
    start = said.start
    ways = [way for way in ("program", "jar", "main") if getattr(start, way) is not None]
    if len(ways) != 1:
        report.add("start", "must have one of program, jar and main")
    elif ways != ["main"] and start.class_path:
        report.add("start.class_path", f"must not stand beside {ways[0]}: only a main class has one")
    elif ways == ["main"] and not start.class_path:
        report.add("start.class_path", "is missing: where is its main class found?")
    elif ways == ["program"] and start.jvm:
        report.add("start.jvm", "must not stand beside program, which is no JVM")
    names = known_to_backend(said.artifacts, (step.name for step in said.prepare), said.accepts)
    texts = {f"start.{way}": getattr(start, way) for way in ("program", "jar") if getattr(start, way)}
    for key in ("class_path", "jvm", "arguments"):
        texts |= {f"start.{key}[{index}]": text for index, text in enumerate(getattr(start, key))}
    texts |= {join("start.environment", name): value for name, value in start.environment.items()}
    for key, text in texts.items():
        check_names(key, text, names, report)
