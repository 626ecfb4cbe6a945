"""Which Java each part runs on: found on the machine, or else fetched; and whether it can do what is asked."""

import os
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from tracetax.artifacts.cache import Say
from tracetax.artifacts.runtimes import fetch_runtime, wheel_releases
from tracetax.catalog import check_java
from tracetax.catalog.placeholders import fill
from tracetax.catalog.workload_file import check_offers, load_workload
from tracetax.errors import ExitCode, UserError
from tracetax.machine.toolchain import OLDEST_JDK, Jdk, find_jdk, find_jdks, jdk_at
from tracetax.model import BASELINE, Agent, Experiment
from tracetax.place import INSTALLED
from tracetax.process import clean_environment
from tracetax.program import Runtime, Setting, Workload
from tracetax.workloads.kinds import kind_of

ASK_SECONDS = 30.0
_INSTALL_ONE = (
    "Install one (apt-get install default-jdk-headless)"
    if INSTALLED
    else "Let the launcher install one (./tracetax run --yes, as root)"
)


def require_jdk() -> Jdk:
    """The JDK that is found first, which compiles everything. Raises UserError where there is none that will do."""
    jdk = find_jdk(os.environ)
    if jdk is None:
        raise UserError(
            f"No JDK was found: there is no JAVA_HOME, and no java on PATH. Tracetax needs JDK {OLDEST_JDK} or newer.\n"
            f"{_INSTALL_ONE}, or name yours: JAVA_HOME=… ./tracetax run",
            ExitCode.ENVIRONMENT,
        )
    if jdk.release < OLDEST_JDK or jdk.javac is None:
        lack = "it has no javac" if jdk.javac is None else f"JDK {OLDEST_JDK} or newer is needed"
        raise UserError(
            f"{jdk} at {jdk.home} will not do: {lack}.\nName another one: JAVA_HOME=… ./tracetax run",
            ExitCode.ENVIRONMENT,
        )
    return jdk


def program_of(experiment: Experiment, root: Path) -> tuple[Workload, Runtime]:
    """An experiment's workload and its runtime. Raises UserError where it is not one that can be measured so."""
    workload, runtime = load_workload(experiment.workload, root)
    kind_of(workload)
    check_offers(experiment, workload)
    return workload, runtime


def setting_flags(setting: Setting, value: int | str, release: int, *, growing: bool = False) -> tuple[str, ...]:
    """The flags of a setting on a feature release; a size that is ``growing`` begins small, up to the same limit."""
    values = {setting.name: str(value)}
    if isinstance(value, int):
        begin = min(value, setting.begin_bytes) if growing and setting.begin_bytes else value
        values[f"{setting.name}.begin"] = str(begin)
    further = [
        flag
        for more in setting.further
        if more.choice == value and more.since <= release <= more.until
        for flag in more.flags
    ]
    return tuple(fill(flag, values) for flag in (*setting.flags, *further))


def obtain_jdks(experiment: Experiment, runtime: Runtime, root: Path, cache: Path, say: Say) -> dict[int, Jdk]:
    """A Java for each release that the experiment's parts ask for, 0 being the JDK that is found first.

    What is not on the machine is fetched as a wheel. Raises UserError for a release that is to be had neither way.
    """
    first = require_jdk()
    wanted = list(dict.fromkeys(part.jvm.jdk for part in experiment.parts))
    if wanted == [0]:
        return {0: first}
    found = [first, *find_jdks(os.environ, runtime.folders)]
    return {
        release: first if release == 0 else _of_release(release, found, runtime, root, cache, say) for release in wanted
    }


def foresee_runtimes(experiment: Experiment, agents: Mapping[str, Agent], root: Path) -> list[str]:
    """What ``program_of``, ``obtain_jdks`` and ``check_runtimes`` would refuse, without fetching anything.

    Returns what the user should know, such as a Java that would be fetched. Where there is no JDK yet nothing can be
    said, for the launcher installs one. Raises UserError.
    """
    _, runtime = program_of(experiment, root)
    first = find_jdk(os.environ)
    if first is None:
        return ["There is no JDK yet: whether the agents run on it is looked at once there is one."]
    first = require_jdk()
    found = [first, *find_jdks(os.environ, runtime.folders)]
    there: dict[int, Jdk] = {}
    notes: list[str] = []
    absent: dict[int, list[Agent]] = {}
    for release in dict.fromkeys(part.jvm.jdk for part in experiment.parts):
        same = [jdk for jdk in found if release in (0, jdk.release)]
        if same:
            there[release] = same[0] if release == 0 else min(same, key=lambda jdk: jdk.javac is None)
            continue
        _refuse_unobtainable(release, found, runtime, root)
        uses = (use for part in experiment.parts if part.jvm.jdk == release for use in part.uses)
        absent[release] = [agents[key] for key in dict.fromkeys(use.agent for use in uses)]
        notes.append(f"{runtime.name} {release} is not on this machine: the run will fetch it.")
    check_java(absent)
    known = [part for part in experiment.parts if part.jvm.jdk in there]
    check_runtimes(replace(experiment, parts=tuple(known)), agents, runtime, there)
    return notes


def _refuse_unobtainable(release: int, found: Sequence[Jdk], runtime: Runtime, root: Path) -> None:
    """Raise UserError where a release that is not on the machine cannot be fetched either."""
    wheels = wheel_releases(runtime, root)
    if release not in wheels:
        here = ", ".join(dict.fromkeys(str(jdk.release) for jdk in found))
        raise UserError(
            f"{runtime.name} {release} is not on this machine; found were {here}, and {_listed(wheels)} can be "
            "fetched.\n"
            f"Install a JDK {release}, or name its folder: JAVA_HOME=… ./tracetax run",
            ExitCode.ENVIRONMENT,
        )


def _of_release(release: int, found: Sequence[Jdk], runtime: Runtime, root: Path, cache: Path, say: Say) -> Jdk:
    same = [jdk for jdk in found if jdk.release == release]
    if same:
        return min(same, key=lambda jdk: jdk.javac is None)  # of equals the one found first
    _refuse_unobtainable(release, found, runtime, root)
    jdk = jdk_at(fetch_runtime(runtime, release, root, cache, say))
    say(f"{runtime.name} {release} is not on this machine: {jdk} is taken, without a compiler.")
    return jdk


def agents_by_release(
    experiment: Experiment, agents: Mapping[str, Agent], jdks: Mapping[int, Jdk]
) -> dict[int, list[Agent]]:
    """The agents that run on each feature release, the baseline included."""
    found: dict[int, dict[str, Agent]] = defaultdict(dict)
    for part in experiment.parts:
        for key in (BASELINE.agent, *(use.agent for use in part.uses)):
            found[jdks[part.jvm.jdk].release][key] = agents[key]
    return {release: [on_it[key] for key in sorted(on_it)] for release, on_it in sorted(found.items())}


def check_runtimes(
    experiment: Experiment, agents: Mapping[str, Agent], runtime: Runtime, jdks: Mapping[int, Jdk]
) -> None:
    """Raise UserError where an agent needs a newer Java than it would run on, or a Java lacks a collector."""
    check_java(agents_by_release(experiment, agents, jdks))
    for number, collector in dict.fromkeys((part.jvm.jdk, part.jvm.collector) for part in experiment.parts):
        jdk = jdks[number]
        flags = setting_flags(runtime.settings["collector"], collector, jdk.release)
        try:
            asked = subprocess.run(
                (str(jdk.java), *flags, "-version"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=clean_environment(os.environ, {}),
                text=True,
                errors="replace",
                timeout=ASK_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UserError(f"{jdk} at {jdk.home} does not start: {error}", ExitCode.ENVIRONMENT) from error
        if asked.returncode != 0:
            said = "".join(f"\n  {line}" for line in asked.stdout.splitlines()[:4])
            raise UserError(
                f"{jdk} at {jdk.home} does not run with {' '.join(flags)}:{said}\n"
                "Name another collector (--collector G1), or another JDK: JAVA_HOME=… ./tracetax run"
            )


def _listed(releases: Sequence[int]) -> str:
    *others, last = map(str, releases)
    return f"{', '.join(others)} and {last}" if others else last
