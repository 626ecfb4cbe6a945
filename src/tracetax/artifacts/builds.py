"""Builds what comes as source with Tracetax: the sink and the workloads. Each is built once per content."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace as with_fields

from tracetax.artifacts.cache import BUILT, Say, built, key_of, sha256_of, silent
from tracetax.artifacts.packages import (
    GO_CAUSES,
    PROJECT,
    Installed,
    explained,
    install_by_maven,
    install_by_npm,
    install_by_pip,
    npm_key,
    pip_key,
)
from tracetax.artifacts.tools import find_tool, run_tool
from tracetax.errors import UserError
from tracetax.machine.toolchain import Interpreter, go_at
from tracetax.process import clean_environment
from tracetax.program import Host, LockedPackages, Workload

UNSTAMPED = "-buildvcs=false"
"""No stamp of the checkout's commit: git refuses to tell it where the clone is another user's, and Go then fails."""
GO_ENVIRONMENT = {"GOTOOLCHAIN": "local", "GOFLAGS": f"-mod=readonly -trimpath {UNSTAMPED}", "CGO_ENABLED": "0"}
GO_SECONDS = 1800.0
JAVAC_OPTIONS = ("-encoding", "UTF-8", "-Xlint:-options")
"""Newer compilers warn about class files for releases as old as 8, which is no news."""
JAVAC_SECONDS = 300.0
VERSION_SECONDS = 60.0
DESCRIPTIONS = ("workload.toml", "README.md")
"""Files beside a workload's sources that it is not started from."""
MADE = frozenset({"__pycache__", "node_modules"})
"""Folders among a workload's sources that belong to whoever works on them."""
LIBRARIES = "lib"
"""The folder of a workload's jars, in the one with its classes."""


def build_sink(root: Path, cache: Path, say: Say = silent) -> Path:
    """The sink's program, built from ``root/sink`` by the Go that came as a wheel, or else the one on the PATH.

    Raises UserError where there is no Go or the build fails.
    """
    return _built_for_every_trial(root / "sink", ("go.mod", "go.sum", "protocols.txt"), cache, say)


def build_load(root: Path, cache: Path, say: Say = silent) -> Path:
    """The load's program, built from ``root/load`` as the sink is. Raises UserError."""
    return _built_for_every_trial(root / "load", ("go.mod", "go.sum"), cache, say)


def _built_for_every_trial(source: Path, others: tuple[str, ...], cache: Path, say: Say) -> Path:
    """A program in Go that comes with Tracetax, called as its folder; ``others`` of its files decide what it is too."""
    name = source.name
    go = find_tool("go", f"to build the {name}", beside_python=True)
    version = _version([str(go), "version"], cache)
    files = [path for path in source.rglob("*.go") if not path.name.endswith("_test.go")]
    key = key_of(source, [*files, *(source / other for other in others)], version, *GO_ENVIRONMENT.values())

    def build(folder: Path) -> None:
        say(f"building the {name}")
        run_tool(
            f"The {name} could not be built",
            [str(go), "build", "-o", str(folder / name), "."],
            log=cache / "logs" / name,
            seconds=GO_SECONDS,
            environment={**os.environ, **GO_ENVIRONMENT},
            directory=source,
        )

    return built(cache / BUILT / f"{name}-{key}", cache, build, say) / name


def unstamped(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which Go works in a clone of another user's too; the user's own flags stay."""
    return {**environment, "GOFLAGS": f"{environment.get('GOFLAGS', '')} {UNSTAMPED}".strip()}


def go_version(cache: Path) -> str:
    """What the Go that builds calls itself. Raises UserError where there is none."""
    return _version([str(find_tool("go", "to build a program", beside_python=True)), "version"], cache)


class GoModule(Struct, frozen=True):
    """A Go module, of which a program is built."""

    sources: Path
    package: str
    """Its package ``main``, as ``go build`` takes it."""
    replace: dict[str, Path]
    """Modules that are taken from folders, by their path."""


def build_by_go(module: GoModule, program: Path, *, log: Path, what: str, advice: str, scratch: Path) -> None:
    """Build the program of a Go module whose versions its ``go.sum`` pins. Raises ToolFailed, beginning with ``what``.

    Its modules are fetched by Go, so Go's own settings (proxy, private modules) hold. Modules that are taken from
    folders are named by a copy of ``go.mod`` in the empty folder ``scratch``.
    """
    sources, replace = module.sources, module.replace
    go = str(find_tool("go", "to build a program", beside_python=True))

    def run(*words: str) -> None:
        run_tool(
            what,
            [go, *words],
            log=log,
            seconds=GO_SECONDS,
            advice=explained(GO_CAUSES, advice),
            environment={**os.environ, **GO_ENVIRONMENT},
            directory=sources,
        )

    modfile: tuple[str, ...] = ()
    if replace:
        for name in ("go.mod", "go.sum"):
            if (sources / name).is_file():
                shutil.copyfile(sources / name, scratch / name)
        run(
            "mod",
            "edit",
            *(f"-replace={name}={folder}" for name, folder in replace.items()),
            str(scratch / "go.mod"),
        )
        modfile = (f"-modfile={scratch / 'go.mod'}",)
    run("build", *modfile, "-o", str(program), module.package)


def sources_of(root: Path, workload: Workload) -> Path:
    """The folder with the sources of a workload."""
    return root / "workloads" / workload.key / workload.sources


def source_files(folder: Path) -> list[Path]:
    """What a workload that is not built is started from: all files of its folder that are no description of it."""
    files = [path for path in folder.rglob("*") if path.is_file() and MADE.isdisjoint(path.parts)]
    return sorted(path for path in files if path.relative_to(folder).as_posix() not in DESCRIPTIONS)


def builder_of(workload: Workload) -> Interpreter:
    """What builds a workload that nothing runs. Raises UserError where it is missing."""
    return go_at(find_tool("go", f"to build the workload {workload.key}", beside_python=True))


def build_workload(
    root: Path, workload: Workload, cache: Path, say: Say = silent, interpreter: Interpreter | None = None
) -> Path:
    """The folder that a workload is started from: what was built, or its sources where nothing is built.

    Its packages are chosen for the ``interpreter``, which runs it. Raises UserError where what builds or installs is
    missing or fails.
    """
    if workload.own:
        return Path(workload.directory)
    if workload.compile_release:
        return _compiled(root, workload, cache, say)
    if workload.go:
        return _built_by_go(root, workload, cache, say)
    if workload.packages:
        assert interpreter
        return _installed(root, workload, workload.packages, interpreter, cache, say)
    folder = sources_of(root, workload)
    if not source_files(folder):
        raise _no_sources(root, workload)
    return folder


def build_host(root: Path, workload: Workload, host: Host, cache: Path, say: Say = silent) -> Path:
    """The program that Go builds for a host of a workload. Raises UserError where Go is missing or the build fails."""
    assert host.go
    kind = workload.key.partition("/")[0]
    module = with_fields(workload, key=f"{kind}/{host.sources}", sources="", go=host.go)
    return _built_by_go(root, module, cache, say) / host.go.program


def _no_sources(root: Path, workload: Workload) -> UserError:
    return UserError(f"There are no sources of the workload {workload.key} in {sources_of(root, workload)}.")


def _compiled(root: Path, workload: Workload, cache: Path, say: Say) -> Path:
    """The classes of a workload in Java, and the jars that they need."""
    name, source = workload.key, sources_of(root, workload)
    options = ("--release", str(workload.compile_release), *JAVAC_OPTIONS)
    files = list(source.rglob("*.java"))
    if not files:
        raise _no_sources(root, workload)
    javac = find_tool("javac", f"to compile the workload {name}: a JDK of at least 17")
    version = _version([str(javac), "-version"], cache, clean=True)
    lock = root / "workloads" / name / workload.packages.lock if workload.packages else None
    pinned = [sha256_of(path) for path in (lock, lock.with_name(PROJECT))] if lock else []
    key = key_of(source, files, version, *options, *pinned)
    label = name.replace("/", "-")

    def build(folder: Path) -> None:
        class_path: tuple[str, ...] = ()
        if lock:
            say(f"fetching the libraries of the workload {name}")
            what = f"The libraries of the workload {name} could not be fetched"
            install_by_maven(lock, folder / LIBRARIES, log=cache / "logs" / label, what=what)
            class_path = ("-cp", str(folder / LIBRARIES / "*"))
        say(f"compiling the workload {name}")
        run_tool(
            f"The workload {name} could not be compiled",
            [str(javac), *options, *class_path, "-d", str(folder), *map(str, sorted(files))],
            log=cache / "logs" / label,
            seconds=JAVAC_SECONDS,
            environment=clean_environment(os.environ, {}),
        )

    return built(cache / BUILT / f"{label}-{key}", cache, build, say)


def _built_by_go(root: Path, workload: Workload, cache: Path, say: Say) -> Path:
    """The folder with the program of a workload in Go."""
    name, source, go = workload.key, sources_of(root, workload), workload.go
    assert go
    files = [path for path in source.rglob("*.go") if not path.name.endswith("_test.go")]
    if not files:
        raise _no_sources(root, workload)
    files += [path for path in (source / "go.mod", source / "go.sum") if path.is_file()]
    program = find_tool("go", f"to build the workload {name}", beside_python=True)
    version = _version([str(program), "version"], cache)
    key = key_of(source, files, version, go.package, go.program, *GO_ENVIRONMENT.values())
    label = name.replace("/", "-")

    def build(folder: Path) -> None:
        say(f"building the workload {name}")
        run_tool(
            f"The workload {name} could not be built",
            [str(program), "build", "-o", str(folder / go.program), go.package],
            log=cache / "logs" / label,
            seconds=GO_SECONDS,
            environment={**os.environ, **GO_ENVIRONMENT},
            directory=source,
        )

    return built(cache / BUILT / f"{label}-{key}", cache, build, say)


def _installed(
    root: Path, workload: Workload, packages: LockedPackages, interpreter: Interpreter, cache: Path, say: Say
) -> Path:
    """The folder with the sources of a workload, and the packages that they need."""
    name, source = workload.key, sources_of(root, workload)
    label, lock = name.replace("/", "-"), root / "workloads" / name / packages.lock
    log = cache / "logs" / label
    files = source_files(source)
    by_pip = packages.tool == "pip"
    tool = pip_key(interpreter.version) if by_pip else npm_key(lock, interpreter.program, interpreter.version, log)
    key = key_of(source, files, sha256_of(lock), tool)

    def build(folder: Path) -> None:
        say(f"installing packages of the workload {name} by {packages.tool}")
        what = f"The packages of the workload {name} could not be installed"
        install = install_by_pip if by_pip else install_by_npm
        install(lock, Installed(folder, interpreter.program, interpreter.version, log, what, advice=""))
        for file in files:
            target = folder / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)

    return built(cache / BUILT / f"{label}-{key}", cache, build, say)


def _version(command: list[str], cache: Path, *, clean: bool = False) -> str:
    log = cache / "logs" / f"{Path(command[0]).name}-version"
    environment = clean_environment(os.environ, {}) if clean else None
    what = f"{command[0]} does not work"
    return run_tool(what, command, log=log, seconds=VERSION_SECONDS, environment=environment).strip()
