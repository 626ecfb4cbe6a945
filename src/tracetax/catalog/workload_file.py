"""Reads ``workloads/<kind>/<language>/workload.toml``, and with it the file of the runtime that it names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, cast

from msgspec import Meta, Struct
from msgspec.structs import replace

from tracetax.catalog.agent_checks import check_names
from tracetax.catalog.agent_file import EveryAgent, Known
from tracetax.catalog.agent_shape import ClassName, Inside, JavaRelease, VariableName
from tracetax.catalog.hosts import FILE as HOST_FILE
from tracetax.catalog.hosts import HOSTS, read_hosts
from tracetax.catalog.kinds import KindOfFile, kind_of_file
from tracetax.catalog.placeholders import names_in
from tracetax.catalog.reading import (
    CatalogError,
    Name,
    Report,
    Text,
    did_you_mean,
    join,
    one_of,
    raise_problems,
    read_file,
)
from tracetax.catalog.runtime_file import read_runtime, runtime_names
from tracetax.errors import UserError
from tracetax.model import WORKLOAD_BUILT, Experiment, kind_name, language_of
from tracetax.program import GoPackage, LockedPackages, Offers, PackageTool, Runtime, Workload
from tracetax.words import listed_words

FILE = "workload.toml"
WORDS = ("wrapper", "shared", "flags", "arguments")
"""Placeholders that stand for any number of words."""
TEXTS = ("runtime", "program", "search_path", "main", WORKLOAD_BUILT)
OF_ENVIRONMENT = ("search_path", WORKLOAD_BUILT)
NEEDED = {
    "shared": "the flags that the baseline and every agent share",
    "flags": "an agent's own flags",
}
"""They go to what runs the program, so they are needed beside "{runtime}" only."""
ARGUMENTS = {"arguments": "what the driver is to do"}
"""Needed where the program makes its calls itself."""


class CompileShape(Struct, frozen=True, kw_only=True):
    """``compile = { release = 8 }``."""

    release: JavaRelease


class GoPackageShape(Struct, frozen=True, kw_only=True):
    """``go = { package = "./cmd/calltree", program = "calltree" }``."""

    package: Annotated[
        str, Meta(pattern=r"\.(/[\w.-]+)*", extra={"means": 'a package of the module, as in "./cmd/program"'})
    ] = "."
    program: Name


class PackagesShape(Struct, frozen=True, kw_only=True):
    """``packages = { pip = "requirements.lock" }``."""

    maven: Inside | None = None
    npm: Inside | None = None
    pip: Inside | None = None

    @property
    def said(self) -> list[LockedPackages]:
        """Those that the file says, of which there must be one."""
        tools: tuple[PackageTool, ...] = ("maven", "npm", "pip")
        return [LockedPackages(tool, lock) for tool in tools if (lock := getattr(self, tool))]


class BuildShape(Struct, frozen=True, kw_only=True):
    """``build = { compile = …, packages = … }`` or ``build = { go = … }`` or ``build = { packages = … }``."""

    compile: CompileShape | None = None
    go: GoPackageShape | None = None
    packages: PackagesShape | None = None


class WorkloadShape(Struct, frozen=True, kw_only=True):
    """What stands in the file of every workload; each kind adds keys of its own."""

    title: Text
    runtime: Name
    start: tuple[Text, ...]
    main: ClassName | None = None
    sources: Inside | None = None
    build: BuildShape | None = None
    environment: dict[VariableName, str] = {}
    processes: Literal["one", "tree"] = "one"


class MeasuredProgram(Struct, frozen=True):
    """A workload that an experiment measures, with what there is for it."""

    key: str
    runtime: Runtime | None
    """None where the workload is not known."""
    known: Known
    """The agents for its language."""
    level: str = ""
    """What titles call it where an experiment measures several; else empty."""
    offers: Offers | None = None
    """None where the workload is not known."""

    @property
    def suffix(self) -> str:
        """For the names of parts where an experiment measures several: ``-python``."""
        return f"-{language_of(self.key)}" if self.level else ""


def workload_names(root: Path) -> tuple[str, ...]:
    """The names of all workloads, such as ``calltree/java``."""
    folders = (path.parent for path in (root / "workloads").glob(f"*/*/{FILE}"))
    return tuple(sorted(folder.relative_to(root / "workloads").as_posix() for folder in folders))


def load_workload(key: str, root: Path) -> tuple[Workload, Runtime]:
    """A workload and what it runs on. Raises CatalogError with every problem of both files, UserError for no name."""
    names = workload_names(root)
    if key not in names:
        raise UserError(f'"{key}" is no workload{did_you_mean(key, names) or f". There is {one_of(names)}"}')
    report = Report(f"workloads/{key}/{FILE}")
    kind = kind_of_file(key)
    workload: Workload | None = None
    shape = read_file(root / "workloads" / key / FILE, cast("type[WorkloadShape]", kind.WORKLOAD), report)
    reports, runtime = [report], None
    if shape is not None:
        _check(shape, root, kind, report)
        names = (*OF_ENVIRONMENT, *kind.environment_names(shape))
        hosts, of_hosts = read_hosts(root / "workloads" / key, key, names) if kind.HOSTED else ({}, ())
        reports += of_hosts
        if kind.HOSTED and not of_hosts:
            report.add(HOSTS, f"is a folder without hosts: what serves them stands in {HOSTS}/<host>/{HOST_FILE}")
        workload = kind.completed_workload(replace(_built(key, shape), hosts=hosts), shape)
        if not report.concerns("runtime"):
            runtime, of_runtime = read_runtime(shape.runtime, root)
            reports.append(of_runtime)
            if not kind.HOSTED:
                _check_runs(shape, runtime, report)
    raise_problems(*reports)
    assert workload and runtime  # where one is missing, a report says why
    return workload, runtime


def read_programs(
    named: Sequence[tuple[str, str]], agents: EveryAgent, root: Path, report: Report
) -> tuple[MeasuredProgram, ...]:
    """The workloads of an experiment, each named at a key of a file or by an option; every problem is reported.

    Where a workload is not known, its agents are those for any language.
    """
    loaded: dict[str, tuple[Workload, Runtime] | tuple[None, None]] = {}
    for where, key in named:
        if key in loaded:
            report.add(where, f"{key} is named twice")
        else:
            loaded[key] = _loaded(key, where, root, report)
    kinds = {key.partition("/")[0]: key for key, (workload, _) in loaded.items() if workload}
    if len(kinds) > 1:
        text = f"{' and '.join(kinds.values())} are of different kinds: name programs of one kind, or run each alone"
        report.add(named[0][0].partition("[")[0].partition(" ")[0], text)
    names = [runtime.name if runtime else "" for _, runtime in loaded.values()]
    return tuple(
        MeasuredProgram(
            key=key,
            runtime=runtime,
            known=agents.of(language_of(key) if runtime else "", kind_name(key)),
            level="" if len(loaded) == 1 else name if name and names.count(name) == 1 else key,
            offers=workload.offers if workload else None,
        )
        for name, (key, (workload, runtime)) in zip(names, loaded.items(), strict=True)
    )


class Lack(Struct, frozen=True):
    """What is asked for and a workload's language does not have."""

    key: str
    """Where it is asked for: in a file, or by an option."""
    what: str
    text: str
    """The problem, where no workload has it; empty where the agent itself is lacking."""
    workload: str


def left_out(lacks: Sequence[Lack], programs: Sequence[MeasuredProgram], report: Report) -> tuple[str, ...]:
    """Sentences on what only some of the programs have; what none has is reported."""
    sentences: dict[str, None] = {}
    for key, what in dict.fromkeys((lack.key, lack.what) for lack in lacks):
        mine = {lack.workload: lack.text for lack in lacks if (lack.key, lack.what) == (key, what)}
        text = next(filter(None, mine.values()), "")
        if not text:
            continue
        if len(mine) == len(programs):
            report.add(key, text)
            continue
        without = listed_words([program.level for program in programs if program.key in mine])
        others = listed_words([program.level for program in programs if program.key not in mine])
        sentences[f"Left out, since there is no {what} for {without}: it is measured in {others} only."] = None
    return tuple(sentences)


def _loaded(key: str, where: str, root: Path, report: Report) -> tuple[Workload, Runtime] | tuple[None, None]:
    """A workload and what it runs on; None and None after a problem was reported at ``where``."""
    try:
        return load_workload(key, root)
    except CatalogError as error:
        problems = (f"{other.file}: {one.key}: {one.text}" for other in error.reports for one in other.problems)
        report.add(where, f"{key} cannot be measured: {'; '.join(problems)}")
    except UserError as error:
        report.add(where, str(error))
    return None, None


def check_offers(experiment: Experiment, workload: Workload) -> None:
    """Raise UserError with everything that an experiment asks of its program and that this does not offer."""
    lacking = kind_of_file(workload.key).lacking
    lacks = [f"{part.name}: {text}" for part in experiment.parts for text in lacking(part.parameters, workload)]
    if lacks:
        listed = "".join(f"\n  {text}" for text in dict.fromkeys(lacks))
        raise UserError(
            f"{experiment.key} asks for more than {workload.key} offers (workloads/{workload.key}/{FILE}):{listed}"
        )


def _check(said: WorkloadShape, root: Path, kind: KindOfFile, report: Report) -> None:
    """Report what must hold beyond the type of each value."""
    if not kind.HOSTED:
        _check_start(said, kind, report)
    if said.build:
        _check_build(said.build, report)
    for name, value in said.environment.items():
        check_names(join("environment", name), value, (*OF_ENVIRONMENT, *kind.environment_names(said)), report)
    kind.check_workload(said, report)
    names = runtime_names(root)
    if said.runtime not in names:
        hint = did_you_mean(said.runtime, names) or f". There is {one_of(names)}"
        report.add("runtime", f'"{said.runtime}" is no runtime{hint}')


def _check_start(said: WorkloadShape, kind: KindOfFile, report: Report) -> None:
    """Report what is wrong in how a program is started."""
    words = WORDS if kind.DRIVES else tuple(word for word in WORDS if word not in ARGUMENTS)
    for index, word in enumerate(said.start):
        key = f"start[{index}]"
        check_names(key, word, (*TEXTS, *words), report)
        for name in names_in(word):
            if name in words and word != f"{{{name}}}":
                report.add(key, f'"{{{name}}}" stands for any number of words: it must be one by itself')
    used = [name for word in said.start for name in names_in(word)]
    needed = (NEEDED if "runtime" in used else {}) | (ARGUMENTS if kind.DRIVES else {})
    lacking = [f'"{{{name}}}" ({what})' for name, what in needed.items() if used.count(name) != 1]
    if not report.concerns("start"):
        if ("main" in used) != (said.main is not None):
            report.add("main", 'must be given where "{main}" stands in start, and only there')
        if lacking:
            report.add("start", f"must have once each: {', '.join(lacking)}")
        if ("program" in used) == ("runtime" in used):
            report.add("start", 'must have one of "{runtime}" (what runs the program) and "{program}" (what was built)')
        elif ("program" in used) != bool(said.build and said.build.go):
            report.add("build", 'must be by go where "{program}" stands in start, and only there')


def _check_build(build: BuildShape, report: Report) -> None:
    if build.packages is None:
        if (build.compile is None) == (build.go is None):
            report.add("build", "must say one of compile and go, or packages")
        return
    packages = build.packages.said
    if report.concerns("build"):
        return
    if len(packages) != 1:
        report.add("build.packages", "must say one of maven, npm and pip")
    elif build.go:
        report.add("build.packages", "must not be there beside go: go.mod and go.sum say them")
    elif (packages[0].tool == "maven") != (build.compile is not None):
        report.add("build.packages", "must be by maven beside compile, and only there")


def _check_runs(said: WorkloadShape, runtime: Runtime | None, report: Report) -> None:
    """Report a program that is started by a runtime of which there is none to be found, or the other way round."""
    used = {name for word in said.start for name in names_in(word)}
    if runtime and ("runtime" in used) != (runtime.find is not None) and not report.concerns("start"):
        word, what = "{runtime}", "runs its programs"
        if runtime.find is None:
            word, what = "{program}", "has no [find], so nothing runs its programs"
        report.add("start", f'must have "{word}": {said.runtime} {what}')


def _built(key: str, said: WorkloadShape) -> Workload:
    build = said.build or BuildShape()
    return Workload(
        key=key,
        title=said.title,
        runtime=said.runtime,
        start=said.start,
        main=said.main or "",
        sources=said.sources or "",
        compile_release=build.compile.release if build.compile else 0,
        go=GoPackage(build.go.package, build.go.program) if build.go else None,
        packages=build.packages.said[0] if build.packages and build.packages.said else None,
        environment=said.environment,
        process_tree=said.processes == "tree",
    )
