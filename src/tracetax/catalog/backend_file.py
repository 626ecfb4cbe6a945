"""Reads the backends' folders: ``backends/<name>/backend.toml``."""

from pathlib import Path

from tracetax.backend import Backend, Counters, Ready, Start, port_name
from tracetax.catalog.agent_checks import check_names
from tracetax.catalog.agent_file import artifact_of, step_of
from tracetax.catalog.artifact_checks import check_artifact
from tracetax.catalog.backend_shape import BackendShape
from tracetax.catalog.names import did_you_mean, one_of
from tracetax.catalog.placeholders import BACKEND_FILES, FOLDER_NAMES, PROTOCOLS, known_to_backend
from tracetax.catalog.prepare_checks import check_steps
from tracetax.catalog.problems import Report, join, raise_problems
from tracetax.catalog.shape import read_file
from tracetax.model import SCRAPED

RECEIVED = tuple(name for name in PROTOCOLS if name != SCRAPED and not name.endswith("-file"))
"""Protocols on which an agent sends; of the others the sink reads or asks."""


def load_backends(root: Path) -> dict[str, Backend]:
    """All backends by the name of their folder. Raises CatalogError."""
    backends: dict[str, Backend] = {}
    reports: list[Report] = []
    folder = root / "backends"
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        if place.is_dir() and not place.name.startswith("."):
            report = Report(f"backends/{place.name}/backend.toml")
            shape = read_file(place / "backend.toml", BackendShape, report)
            if shape is not None:
                _check(shape, report)
                backends[place.name] = _built(place.name, shape)
            reports.append(report)
    raise_problems(*reports)
    return backends


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
    check_steps(said.prepare, said.artifacts, _check_step_names, report, files=BACKEND_FILES)
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


def _check_step_names(key: str, text: str, names: tuple[str, ...], report: Report) -> None:
    """A step may contain what an agent's may, but nothing of a workload."""
    own = tuple(name for name in names if name not in FOLDER_NAMES)
    check_names(key, text, (*own, BACKEND_FILES), report)
