"""What earlier versions of Tracetax stored, and the names that it had; nothing else knows those shapes.

The functions ``upgraded_…`` take a file as it was decoded from JSON and bring it into the present shape. What has that
shape is returned as it is. The functions ``older_…`` give what readers of ``findings.json`` knew under other names.

format 2    what a trial measures stood in fields of its record, which is now its ``cell``
format 3    there was no runtime but Java: a part's settings were called ``jvm``, what it ran on ``java``; so were an
            agent's releases, its flags were ``jvm``, and its search path was its class path
format 4    there was no kind of workload but the call tree: parameters did not name their kind
"""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from tracetax.model import HEAP, Settings, heap_of
from tracetax.program import RuntimeVersion

Stored: TypeAlias = dict[str, Any]
"""A file, or a piece of one, as it was decoded from JSON."""
OF_USE = ("agent", "configuration", "build", "backend")
OF_CELL = ("part", "heap_bytes", "role")
OF_JAVA = {"jdk": "release", "heap": "size", "collector": "choice"}
"""What could be set of Java, and the kind of each setting."""
NAMES = {"JDK": "JDK", "runtime": "Java runtime"}
"""What a Java of each kind is called."""

JAVA = {"key": "java", "name": "Java", "process": "JVM"}
"""The only runtime that there was."""
KIND = "calltree"
"""The only kind of workload that there was."""
GROUPS = ("jit", "gc", "own")
"""The groups of its threads that were told from the agent's."""


class JvmSettings(Struct, frozen=True):
    """The settings of a part on Java, under their older names."""

    heap_bytes: int
    collector: str = "G1"
    jdk: int = 0
    """The feature release, such as 21; 0: the JDK that is found first."""


class Java(Struct, frozen=True):
    """The Java that trials ran on."""

    version: str
    vendor: str
    kind: Literal["JDK", "runtime"]
    """A ``runtime`` has no compiler: a JRE, or one that was put together with jlink."""
    archive: bool
    """Whether it has a class-data archive, without which a JVM takes longer to start."""
    home: str


def older_settings(settings: Settings) -> JvmSettings | None:
    """A part's settings under their older names; None where they are none of Java's."""
    if "collector" not in settings:
        return None
    return JvmSettings(heap_of(settings), str(settings["collector"]), int(settings.get("jdk", 0)))


def older_java(ran_on: RuntimeVersion | None) -> Java | None:
    """What a part ran on, in the older shape; None where it is no Java."""
    if ran_on is None or ran_on.archive is None:
        return None
    kind = "JDK" if ran_on.name == NAMES["JDK"] else "runtime"
    return Java(ran_on.version, ran_on.vendor, kind, ran_on.archive, ran_on.home)


def upgraded_record(record: Stored) -> Stored:
    """``record.json`` of a trial."""
    record = _of_kind(record)
    if "cell" in record:
        return record
    use = {name: record[name] for name in OF_USE if name in record}
    cell = {name: record[name] for name in OF_CELL if name in record}
    others = {name: value for name, value in record.items() if name not in (*OF_USE, *OF_CELL)}
    return {**others, "cell": {**cell, "use": use}}


def upgraded_manifest(manifest: Stored) -> Stored:
    """``manifest.json``."""
    manifest = _each(manifest, "invocations", lambda one: {**one, "experiment": _experiment(one["experiment"])})
    if "ran_on" in manifest:
        return manifest
    settings: Stored = {name: {"name": name, "kind": kind} for name, kind in OF_JAVA.items()}
    settings[HEAP]["begin_bytes"] = 32 << 20
    return {
        **manifest,
        "agents": {key: _agent(agent) for key, agent in manifest["agents"].items()},
        "runtime": {**JAVA, "settings": settings, "threads": dict.fromkeys(GROUPS, ("*",))},  # their names are not kept
        "ran_on": {part: _ran_on(java) for part, java in manifest.get("java", {}).items()},
    }


def upgraded_findings(findings: Stored) -> Stored:
    """``findings.json``."""
    experiment = _experiment(findings["experiment"])
    if "runtime" not in experiment:
        experiment["runtime"] = {**JAVA, "settings": OF_JAVA, "threads": GROUPS}
    return {**_each(findings, "configurations", _row), "experiment": experiment}


def upgraded_capacity(capacity: Stored) -> Stored:
    """``capacity.json``."""
    return _each(capacity, "configurations", lambda row: _row(_part(row)))


def _each(holder: Stored, key: str, change: Callable[[Stored], Stored]) -> Stored:
    return {**holder, key: [change(one) for one in holder[key]]}


def _experiment(experiment: Stored) -> Stored:
    return _each(experiment, "parts", _part)


def _of_kind(holder: Stored) -> Stored:
    """What holds parameters, with their kind, which format 4 did not say."""
    parameters = holder.get("parameters")
    return {**holder, "parameters": {"kind": KIND, **parameters}} if parameters else holder


def _part(part: Stored) -> Stored:
    """A part, with what format 3 called ``jvm`` as its settings. No release, 0, is a setting that nobody chose."""
    part = _of_kind(part)
    jvm = part.get("jvm")
    if not jvm or "settings" in part:
        return part
    jdk = {"jdk": jvm["jdk"]} if jvm.get("jdk") else {}
    return _row({**part, "settings": {**jdk, "heap": jvm["heap_bytes"], "collector": jvm.get("collector", "G1")}})


def _row(row: Stored) -> Stored:
    """A row or a part, with what format 3 called ``java`` as what it ran on."""
    row = _of_kind(row)
    java = row.get("java")
    return {**row, "ran_on": _ran_on(java)} if java and "ran_on" not in row else row


def _ran_on(java: Stored) -> Stored:
    return {**java, "name": NAMES[java["kind"]]}


def _agent(agent: Stored) -> Stored:
    configurations = {name: _configuration(one) for name, one in agent["configurations"].items()}
    return {**_renamed(agent, java="runtime"), "configurations": configurations}


def _configuration(configuration: Stored) -> Stored:
    renamed = _renamed(configuration, jvm="flags", class_path="search_path")
    if "search_path" not in renamed:
        return renamed
    built = ["{workload.built}" if entry == "{workload.classes}" else entry for entry in renamed["search_path"]]
    return {**renamed, "search_path": built}


def _renamed(table: Stored, **names: str) -> Stored:
    return {names.get(key, key): value for key, value in table.items()}
