"""Builds what comes as source with Tracetax: the sink and the workloads. Each is built once per content."""

import os
from collections.abc import Mapping
from pathlib import Path

from tracetax.artifacts.cache import BUILT, Say, built, key_of, silent
from tracetax.artifacts.tools import find_tool, run_tool
from tracetax.errors import UserError
from tracetax.process import clean_environment
from tracetax.program import Workload

UNSTAMPED = "-buildvcs=false"
"""No stamp of the checkout's commit: git refuses to tell it where the clone is another user's, and Go then fails."""
GO_ENVIRONMENT = {"GOTOOLCHAIN": "local", "GOFLAGS": f"-mod=readonly -trimpath {UNSTAMPED}", "CGO_ENABLED": "0"}
GO_SECONDS = 1800.0
JAVAC_OPTIONS = ("-encoding", "UTF-8", "-Xlint:-options")
"""Newer compilers warn about class files for releases as old as 8, which is no news."""
JAVAC_SECONDS = 300.0
VERSION_SECONDS = 60.0


def build_sink(root: Path, cache: Path, say: Say = silent) -> Path:
    """The sink's program, built from ``root/sink`` by the Go that came as a wheel, or else the one on the PATH.

    Raises UserError where there is no Go or the build fails.
    """
    source = root / "sink"
    go = find_tool("go", "to build the sink", beside_python=True)
    version = _version([str(go), "version"], cache)
    files = [path for path in source.rglob("*.go") if not path.name.endswith("_test.go")]
    key = key_of(
        source,
        [*files, source / "go.mod", source / "go.sum", source / "protocols.txt"],
        version,
        *GO_ENVIRONMENT.values(),
    )

    def build(folder: Path) -> None:
        say("building the sink")
        run_tool(
            "The sink could not be built",
            [str(go), "build", "-o", str(folder / "sink"), "."],
            log=cache / "logs" / "sink",
            seconds=GO_SECONDS,
            environment={**os.environ, **GO_ENVIRONMENT},
            directory=source,
        )

    return built(cache / BUILT / f"sink-{key}", cache, build, say) / "sink"


def unstamped(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which Go works in a clone of another user's too; the user's own flags stay."""
    return {**environment, "GOFLAGS": f"{environment.get('GOFLAGS', '')} {UNSTAMPED}".strip()}


def go_version(cache: Path) -> str:
    """What the Go that builds calls itself. Raises UserError where there is none."""
    return _version([str(find_tool("go", "to build a program", beside_python=True)), "version"], cache)


def build_by_go(sources: Path, program: Path, *, log: Path, what: str, advice: str) -> None:
    """Build the program of a Go module whose versions its ``go.sum`` pins. Raises ToolFailed, beginning with ``what``.

    Its modules are fetched by Go, so Go's own settings (proxy, private modules) hold.
    """
    run_tool(
        what,
        [str(find_tool("go", "to build a program", beside_python=True)), "build", "-o", str(program), "."],
        log=log,
        seconds=GO_SECONDS,
        advice=advice,
        environment={**os.environ, **GO_ENVIRONMENT},
        directory=sources,
    )


def sources_of(root: Path, workload: str) -> Path:
    """The folder with the sources of a workload such as ``calltree/java``."""
    return root / "workloads" / workload / "src"


def build_workload(root: Path, workload: Workload, cache: Path, say: Say = silent) -> Path:
    """The folder that a workload is started from: its compiled classes, or its sources where nothing is compiled.

    Raises UserError where there is no compiler or it fails.
    """
    name, source = workload.key, sources_of(root, workload.key)
    if not workload.compile_release:
        return source
    options = ("--release", str(workload.compile_release), *JAVAC_OPTIONS)
    files = list(source.rglob("*.java"))
    if not files:
        raise UserError(f"There are no sources of the workload {name} in {source}.")
    javac = find_tool("javac", f"to compile the workload {name}: a JDK of at least 17")
    version = _version([str(javac), "-version"], cache, clean=True)
    key = key_of(source, files, version, *options)
    label = name.replace("/", "-")

    def build(folder: Path) -> None:
        say(f"compiling the workload {name}")
        run_tool(
            f"The workload {name} could not be compiled",
            [str(javac), *options, "-d", str(folder), *map(str, sorted(files))],
            log=cache / "logs" / label,
            seconds=JAVAC_SECONDS,
            environment=clean_environment(os.environ, {}),
        )

    return built(cache / BUILT / f"{label}-{key}", cache, build, say)


def _version(command: list[str], cache: Path, *, clean: bool = False) -> str:
    log = cache / "logs" / f"{Path(command[0]).name}-version"
    environment = clean_environment(os.environ, {}) if clean else None
    what = f"{command[0]} does not work"
    return run_tool(what, command, log=log, seconds=VERSION_SECONDS, environment=environment).strip()
