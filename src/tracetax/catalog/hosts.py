"""Reads ``hosts/<host>/host.toml`` beside a workload's file: what serves its endpoints, one at a time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from tracetax.catalog.agent_checks import check_names
from tracetax.catalog.agent_shape import Inside, UrlPath, VariableName
from tracetax.catalog.placeholders import names_in
from tracetax.catalog.reading import Name, Positive, Report, Text, join, read_file
from tracetax.catalog.units import Duration
from tracetax.model import WORKLOAD_BUILT
from tracetax.program import GoPackage, Host

HOSTS, FILE = "hosts", "host.toml"
WORDS = ("wrapper", "shared", "flags")
"""Placeholders that stand for any number of words; each is needed once."""
RUNTIME = "runtime"
DIRECTORY, PROGRAM = "host.dir", "host.program"
"""The host's folder among what its workload is started from, and what was built for it."""
EVENT = "event"


class HostGoShape(Struct, frozen=True, kw_only=True):
    """``go = { sources = "runtime-api", program = "runtime-api" }``."""

    sources: Inside
    package: Annotated[
        str, Meta(pattern=r"\.(/[\w.-]+)*", extra={"means": 'a package of the module, as in "./cmd/program"'})
    ] = "."
    program: Name


class HostBuildShape(Struct, frozen=True, kw_only=True):
    """``build = { go = … }``."""

    go: HostGoShape


class HostRuntimeShape(Struct, frozen=True, kw_only=True):
    """``runtime = { min = 22 }``."""

    min: Positive = 1


class HostShape(Struct, frozen=True, kw_only=True):
    """The whole file of a host."""

    title: Text
    start: tuple[Text, ...]
    environment: dict[VariableName, str] = {}
    path: UrlPath = "/"
    body: Text = f"{{{EVENT}}}"
    ready: Duration = 60 * 10**9
    runtime: HostRuntimeShape = HostRuntimeShape()
    build: HostBuildShape | None = None


def read_hosts(folder: Path, key: str, of_environment: Sequence[str]) -> tuple[dict[str, Host], tuple[Report, ...]]:
    """The hosts of a workload by name, with a report for each; ``folder`` is the workload's, ``key`` its name.

    ``of_environment`` are placeholders that its variables may contain.
    """
    hosts: dict[str, Host] = {}
    reports: list[Report] = []
    for path in sorted(folder.glob(f"{HOSTS}/*/{FILE}")):
        report = Report(f"workloads/{key}/{path.relative_to(folder).as_posix()}")
        said = read_file(path, HostShape, report)
        if said is not None:
            _check(said, of_environment, report)
            hosts[path.parent.name] = _host(said)
        reports.append(report)
    return hosts, tuple(reports)


def _check(said: HostShape, of_environment: Sequence[str], report: Report) -> None:
    """Report what must hold beyond the type of each value."""
    texts = (RUNTIME, WORKLOAD_BUILT, DIRECTORY, PROGRAM, *of_environment)
    used: list[str] = []
    for index, word in enumerate(said.start):
        key = f"start[{index}]"
        check_names(key, word, (*texts, *WORDS), report)
        for name in names_in(word):
            used.append(name)
            if name in WORDS and word != f"{{{name}}}":
                report.add(key, f'"{{{name}}}" stands for any number of words: it must be one by itself')
    lacking = [f'"{{{name}}}"' for name in (*WORDS, RUNTIME) if used.count(name) != 1]
    if lacking and not report.concerns("start"):
        report.add("start", f"must have once each: {', '.join(lacking)}")
    variables = said.environment.values()
    if (PROGRAM in used or any(PROGRAM in names_in(value) for value in variables)) != (said.build is not None):
        report.add("build", f'must be there where "{{{PROGRAM}}}" stands in start or environment, and only there')
    for name, value in said.environment.items():
        check_names(join("environment", name), value, texts, report)
    check_names("path", said.path, (), report)
    if said.body.count(f"{{{EVENT}}}") != 1:
        report.add("body", f'must have "{{{EVENT}}}" once, in the place of the event')


def _host(said: HostShape) -> Host:
    go = said.build.go if said.build else None
    return Host(
        title=said.title,
        start=said.start,
        environment=said.environment,
        path=said.path,
        body=said.body,
        ready_within_ns=said.ready,
        least_release=said.runtime.min,
        go=GoPackage(go.package, go.program) if go else None,
        sources=go.sources if go else "",
    )
