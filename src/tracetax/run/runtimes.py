"""What each part runs on: found on the machine, or else fetched; and whether it can do what is asked."""

import os
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from tracetax.artifacts.builds import builder_of
from tracetax.artifacts.cache import Say
from tracetax.artifacts.runtimes import fetch_runtime, wheel_releases
from tracetax.catalog import check_releases
from tracetax.catalog.own.service import service_program
from tracetax.catalog.placeholders import fill
from tracetax.catalog.workload_file import check_offers, load_workload
from tracetax.errors import ExitCode, UserError
from tracetax.machine.toolchain import Interpreter, find_interpreter, find_interpreters, interpreter, interpreter_at
from tracetax.model import BASELINE, Agent, Experiment
from tracetax.process import clean_environment
from tracetax.program import Find, Runtime, Setting, Workload
from tracetax.service import OwnService
from tracetax.words import listed_words
from tracetax.workloads.kinds import kind_of

ASK_SECONDS = 30.0


def program_of(experiment: Experiment, root: Path) -> tuple[Workload, Runtime]:
    """An experiment's workload and its runtime. Raises UserError where it is not one that can be measured so."""
    if experiment.service:
        return service_program(experiment.service, root)
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


def obtain_interpreters(
    experiment: Experiment, workload: Workload, runtime: Runtime, root: Path, cache: Path, say: Say
) -> dict[int, Interpreter]:
    """What runs the workload for each release that the experiment's parts ask for, 0 being the one that is found first.

    What is not on the machine is fetched as a wheel. Where nothing runs the workload, it is what builds it. Raises
    UserError for what is to be had neither way.
    """
    if experiment.service:
        return {0: running(experiment.service, runtime)}
    if runtime.find is None:
        return {0: builder_of(workload)}
    wanted = _wanted(experiment, runtime)
    first = first_interpreter(workload, runtime, wanted, root)
    if first and wanted == [0]:
        return {0: first}
    found = [*([first] if first else []), *find_interpreters(runtime, os.environ)]
    return {
        release: first
        if first and release == 0
        else _of_release(release or max(wheel_releases(runtime, root)), found, runtime, root, cache, say)
        for release in wanted
    }


def running(service: OwnService, runtime: Runtime) -> Interpreter:
    """What runs a service of the user's. Raises UserError where it is gone."""
    program = Path(service.program)
    if not program.is_file():
        raise UserError(f"{program}, which ran {service.words}, is gone.", ExitCode.ENVIRONMENT)
    if runtime.find is None:
        return Interpreter(program, program.parent, version="", release=0, name=program.name)
    return interpreter(runtime, program)


def first_interpreter(workload: Workload, runtime: Runtime, wanted: Sequence[int], root: Path) -> Interpreter | None:
    """What is found first, which compiles the workload too; None where there is none, and one can be fetched.

    ``wanted`` are the releases that are asked for. Raises UserError where one of them, or the first, will not do.
    """
    find = runtime.find
    assert find
    least = workload.compile_release or find.least
    for release in wanted:
        if 0 < release < least:
            text = f"{runtime.called(release)} will not do: {workload.key} needs {runtime.called(least)} or newer."
            raise UserError(f"{text}\nAsk for a newer one.", ExitCode.ENVIRONMENT)
    needed = 0 in wanted or bool(workload.compile_release)
    fetched = [] if workload.compile_release else wheel_releases(runtime, root)
    first = find_interpreter(runtime, os.environ)
    if first is None and not fetched and needed:
        nowhere = f"there is no {find.home}, and no {find.on_path}" if find.home else f"there is no {find.on_path}"
        ways = [f"Install one ({find.install})"] if find.install else []
        raise UserError(
            f"No {runtime.noun} was found: {nowhere} on PATH. "
            f"{workload.key} needs {runtime.noun} {runtime.number(find.least)} or newer.\n"
            f"{_begun(', or '.join([*ways, _named_by(find, 'yours')]))}",
            ExitCode.ENVIRONMENT,
        )
    if first and needed:
        _check_first(first, workload, runtime, fetched)
    return first


def _check_first(first: Interpreter, workload: Workload, runtime: Runtime, fetched: Sequence[int]) -> None:
    """Raise UserError where the one that is found first is too old, or cannot compile what has to be compiled."""
    find = runtime.find
    assert find
    uncompiled = bool(workload.compile_release) and first.compiler is None
    if first.release >= find.least and not uncompiled:
        return
    lack = f"{runtime.noun} {runtime.number(find.least)} or newer is needed"
    if uncompiled:
        lack = f"it has no {Path(find.compiler).name}"
    way = _begun(_named_by(find, "another one"))
    setting = next((name for name, setting in runtime.settings.items() if setting.kind == "release"), "")
    if setting and fetched:
        way += f", or ask for one that can be fetched: {setting} = {max(fetched)} in [runtime.{runtime.key}]"
    raise UserError(f"{first} at {first.home} will not do: {lack}.\n{way}", ExitCode.ENVIRONMENT)


def _named_by(find: Find, which: str) -> str:
    """How a user says which one is to be taken."""
    return f"name {which}: {find.home}=… ./tracetax run" if find.home else f"put {which} first on PATH"


def _begun(words: str) -> str:
    """The words as the beginning of a sentence."""
    return words[:1].upper() + words[1:]


def _wanted(experiment: Experiment, runtime: Runtime) -> list[int]:
    """The releases that the parts of an experiment ask for, each once."""
    return list(dict.fromkeys(runtime.release_of(part.settings) for part in experiment.parts))


def foresee_runtimes(experiment: Experiment, agents: Mapping[str, Agent], root: Path) -> list[str]:
    """What ``program_of``, ``obtain_interpreters`` and ``check_runtimes`` would refuse, without fetching anything.

    Returns what the user should know, such as a release that would be fetched. Where there is no compiler yet that a
    workload needs nothing can be said, for the launcher installs one. Raises UserError.
    """
    workload, runtime = program_of(experiment, root)
    if experiment.service:
        check_runtimes(experiment, agents, runtime, {0: running(experiment.service, runtime)})
        return []
    if runtime.find is None:
        check_runtimes(experiment, agents, runtime, {0: builder_of(workload)})
        return []
    wheels = [] if workload.compile_release else wheel_releases(runtime, root)
    if workload.compile_release and find_interpreter(runtime, os.environ) is None:
        return [f"There is no {runtime.noun} yet: whether the agents run on it is looked at once there is one."]
    wanted = _wanted(experiment, runtime)
    first = first_interpreter(workload, runtime, wanted, root)
    found = [*([first] if first else []), *find_interpreters(runtime, os.environ)]
    there: dict[int, Interpreter] = {}
    notes: list[str] = []
    absent: dict[int, list[Agent]] = {}
    for asked in wanted:
        if asked == 0 and first:
            there[0] = first
            continue
        release = asked or max(wheels)
        if same := [one for one in found if one.release == release]:
            there[asked] = _preferred(same)
            continue
        _refuse_unobtainable(release, found, runtime, root)
        uses = (use for part in experiment.parts if runtime.release_of(part.settings) == asked for use in part.uses)
        absent[release] = [agents[key] for key in dict.fromkeys(use.agent for use in uses)]
        notes.append(f"{runtime.called(release)} is not on this machine: the run will fetch it.")
    check_releases(absent, runtime)
    known = [part for part in experiment.parts if runtime.release_of(part.settings) in there]
    check_runtimes(replace(experiment, parts=tuple(known)), agents, runtime, there)
    return notes


def _refuse_unobtainable(release: int, found: Sequence[Interpreter], runtime: Runtime, root: Path) -> None:
    """Raise UserError where a release that is not on the machine cannot be fetched either."""
    wheels = wheel_releases(runtime, root)
    if release in wheels:
        return
    assert runtime.find
    here = ", ".join(dict.fromkeys(runtime.number(one.release) for one in found)) or "none"
    fetched = f", and {listed_words([runtime.number(one) for one in wheels])} can be fetched" if wheels else ""
    name = f"or name its folder: {runtime.find.home}=… ./tracetax run" if runtime.find.home else "and put it on PATH"
    raise UserError(
        f"{runtime.called(release)} is not on this machine; found were {here}{fetched}.\n"
        f"Install a {runtime.noun} {runtime.number(release)}, {name}",
        ExitCode.ENVIRONMENT,
    )


def _of_release(
    release: int, found: Sequence[Interpreter], runtime: Runtime, root: Path, cache: Path, say: Say
) -> Interpreter:
    if same := [one for one in found if one.release == release]:
        return _preferred(same)
    _refuse_unobtainable(release, found, runtime, root)
    fetched = interpreter_at(runtime, fetch_runtime(runtime, release, root, cache, say))
    without = ", without a compiler" if runtime.find and runtime.find.compiler and not fetched.compiler else ""
    say(f"{runtime.called(release)} is not on this machine: {fetched} is taken{without}.")
    return fetched


def _preferred(same: Sequence[Interpreter]) -> Interpreter:
    """Of equals the one that is found first, one with a compiler before one without."""
    return min(same, key=lambda one: one.compiler is None)


def agents_by_release(
    experiment: Experiment, agents: Mapping[str, Agent], runtime: Runtime, interpreters: Mapping[int, Interpreter]
) -> dict[int, list[Agent]]:
    """The agents that run on each feature release, the baseline included.

    None of a service of the user's that nothing runs: it is built already, by a release that its builder chose.
    """
    found: dict[int, dict[str, Agent]] = defaultdict(dict)
    for part in experiment.parts:
        release = interpreters[runtime.release_of(part.settings)].release
        for key in (BASELINE.agent, *(use.agent for use in part.uses)) if release else ():
            found[release][key] = agents[key]
    return {release: [on_it[key] for key in sorted(on_it)] for release, on_it in sorted(found.items())}


def check_runtimes(
    experiment: Experiment, agents: Mapping[str, Agent], runtime: Runtime, interpreters: Mapping[int, Interpreter]
) -> None:
    """Raise UserError where an agent needs a newer release than it would run on, or one lacks what was chosen."""
    check_releases(agents_by_release(experiment, agents, runtime, interpreters), runtime)
    for number, setting, choice in _choices(experiment, runtime):
        _check_choice(interpreters[number], runtime, setting, choice)


def _check_choice(runs: Interpreter, runtime: Runtime, setting: Setting, choice: str) -> None:
    """Raise UserError where what runs the workload does not start with the flags of a choice."""
    find = runtime.find
    assert find  # what is not run has no flags
    flags = setting_flags(setting, choice, runs.release)
    try:
        asked = subprocess.run(
            (str(runs.program), *flags, *find.version.words),
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
        raise UserError(f"{runs} at {runs.home} does not start: {error}", ExitCode.ENVIRONMENT) from error
    if asked.returncode != 0:
        said = "".join(f"\n  {line}" for line in asked.stdout.splitlines()[:4])
        another = f"another {runtime.noun}" + (f": {find.home}=… ./tracetax run" if find.home else "")
        raise UserError(
            f"{runs} at {runs.home} does not run with {' '.join(flags)}:{said}\n"
            f"Name another {setting.name} (--{setting.name} {setting.choices[0]}), or {another}"
        )


def _choices(experiment: Experiment, runtime: Runtime) -> list[tuple[int, Setting, str]]:
    """What the parts choose, each choice once with the release that it is asked of."""
    chosen = dict.fromkeys(
        (runtime.release_of(part.settings), name, str(value))
        for part in experiment.parts
        for name, value in part.settings.items()
        if runtime.settings[name].kind == "choice"
    )
    return [(release, runtime.settings[name], choice) for release, name, choice in chosen]
