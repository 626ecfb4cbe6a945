"""What can be typed after ``run``, ``capacity`` and ``check-agent``, and the experiment that a run is asked for.

The commands that do it are imported when they are called: they load much that ``--help`` and Tab need not wait for.
"""

import dataclasses
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from msgspec import Struct
from msgspec.structs import replace

from tracetax.backend import Backend
from tracetax.catalog import adhoc_experiment, every_agent, load_catalog, rescheduled
from tracetax.catalog.backends import load_backends, with_backends
from tracetax.catalog.command_line import WORKLOAD, TypedCalls, TypedExperiment, TypedSearch, typed_workloads
from tracetax.catalog.experiment_file import agents_of, service_table
from tracetax.catalog.experiment_shape import Variant
from tracetax.catalog.kinds import TypedParameters
from tracetax.catalog.own.artifacts import with_artifacts
from tracetax.catalog.own.service import (
    OPTIONS,
    TypedService,
    mix_to_type,
    program_of_service,
    read_service,
    service_of_file,
    service_program,
    service_runtime,
    with_nothing_learned,
)
from tracetax.catalog.reading import COMMAND_LINE, Report, raise_problems
from tracetax.catalog.reference import with_reference
from tracetax.catalog.runtime_file import sound_runtimes
from tracetax.catalog.settings import SetOptions, option, typed_settings
from tracetax.catalog.workload_file import load_workload, read_programs
from tracetax.commands.options import (
    NOT_AN_OPTION,
    AgentsDirs,
    Artifacts,
    Backends,
    BesideReference,
    Flag,
    OneFilePerArtifact,
    typed_as,
)
from tracetax.errors import UserError
from tracetax.model import Agent, Experiment
from tracetax.service import OwnService

DEFAULT_EXPERIMENT = "quick"
RESUMABLE = frozenset({"blocks", "half_width", "budget", "resume", "fail_if", "dry_run"})
"""What a resume may say; of all else it goes on as it began."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Request(TypedExperiment):
    """What was typed after ``./tracetax run``; None, or what is empty, was not typed."""

    experiment: Annotated[str | None, NOT_AN_OPTION] = None
    blocks: int | None = option(None, "Measure exactly so many blocks, unless the budget ends before.")
    half_width: str | None = option(
        None,
        'Stop when every interval is this narrow: "1 %" of the ratio, or "2 ns" per call.',
    )
    budget: str | None = option(None, "Stop when this much time is spent, such as 20min.")
    seed: int | None = option(None, "Decides the order of the trials in each block. Default: drawn, and recorded.")
    out: Path | None = option(
        None,
        "The run's folder. Default: runs/<date>-<experiment>-<tag>. It must be empty or absent.",
    )
    resume: Path | None = option(None, "Go on with this run; only --blocks, --half-width and --budget may differ.")
    artifacts: Artifacts = option(
        (),
        "AGENT.ARTIFACT=FILE measures a file of yours in place of Maven's, as in "
        "`./tracetax run --artifact kieker.agent=build/kieker.jar`. With two, =OLD,NEW, both builds are measured in "
        "every block, and the run says whether NEW is slower, faster or the same. May be given once for each artifact.",
    )
    backends: Backends = option(
        (),
        "A real backend (./tracetax list backends): every configuration whose records it takes is measured twice in "
        "each block, at the sink and at the backend in its place (docs/backends.md). May be given more than once.",
    )
    agents_dirs: AgentsDirs = ()
    fast: Flag = option(
        False,
        "Measure the shorter version that [fast] in the experiment's file describes, such as "
        "`run icpe26-table2 --fast`.",
    )
    as_published: Flag = option(
        False,
        "Measure as many calls and starts as the paper that the experiment follows, as [as-published] in its file "
        "says.",
    )
    rates_of: Path | None = option(
        None,
        "The search whose rates an experiment is measured at, where its file asks for some, as nou25-latency's does. "
        "Default: the newest in runs/.",
    )
    fail_if: str | None = option(
        None,
        'With two builds: "slower" exits with status 5 where NEW is slower by its whole 95 % interval, '
        '"slower by 2 %" where it is by more than that (docs/in-ci.md).',
    )
    reference: BesideReference = option(
        False,
        "Measure a tracer beside the agents that does no more than a complete one must. Each row says how many times "
        "as much it costs.",
    )
    dry_run: Flag = option(False, "Print the plan in words and its estimated time, and measure nothing.")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class CapacityRequest(TypedSearch):
    """What was typed after ``./tracetax capacity``; None, or what is empty, was not typed."""

    artifacts: OneFilePerArtifact = ()
    agents_dirs: AgentsDirs = ()
    out: Path | None = option(
        None,
        "The run's folder. Default: runs/<date>-capacity-<tag>. It must be empty or absent.",
    )
    resume: Path | None = option(None, "Go on with this search; only --budget may differ.")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class CheckRequest:
    """What was typed after ``./tracetax check-agent``; None, or what is empty, was not typed."""

    agent: Annotated[str, NOT_AN_OPTION] = ""
    configuration: Annotated[str | None, NOT_AN_OPTION] = None
    agents_dirs: AgentsDirs = ()
    artifacts: OneFilePerArtifact = ()
    workload: str | None = option(
        None,
        "The program that it traces, such as calltree/python, a folder in workloads/; its language says which of the "
        f"agent's files is tried. Default: {WORKLOAD}.",
    )
    function: str | None = option(None, "Of functions/…: the one that is invoked. Default: the first of its file.")
    host: str | None = option(None, "Of functions/…: the folder of its host in hosts/. Default: the first.")
    settings: SetOptions = option(
        (),
        "KEY=VALUE: a setting of what runs the workload, such as node=24 or heap=2GiB. May be given once for each key.",
    )
    jdk: int = option(0, "--set jdk=…: the feature release of Java, such as 21. Default: the JDK that is found first.")
    out: Path | None = option(None, "The folder for the trial. Default: runs/<date>-check-<agent>-<tag>.")
    pin: Flag = option(
        False,
        "Try nothing: fetch every artifact whose sha256 is all zeros, and print the checksums as lines to paste.",
    )


NO_REQUEST, NO_CAPACITY_REQUEST, NO_CHECK_REQUEST = Request(), CapacityRequest(), CheckRequest()
"""Requests in which nothing was typed."""


class Asked(Struct, frozen=True):
    """What is to be measured."""

    experiment: Experiment
    agents: dict[str, Agent]
    backends: dict[str, Backend] = {}
    """What stands in the sink's place in a second trial of each configuration."""
    notes: tuple[str, ...] = ()
    """What the user should know before it is measured."""


def run(experiment: str | None = None, /, *, request: Request = NO_REQUEST) -> int:
    """Measure an experiment.

    Parameters
    ----------
    experiment
        A name from `./tracetax list experiments`, or the path of a TOML file. Default: quick.
        --set, --jdk, --collector and --heap go before what it says.
    """
    from tracetax.cli import ROOT
    from tracetax.commands.run import run_command

    return run_command(dataclasses.replace(request, experiment=experiment), ROOT, tuple(sys.argv[1:]))


def capacity(*, request: CapacityRequest = NO_CAPACITY_REQUEST) -> int:
    """Search for the highest rate up to which configurations deliver every record."""
    from tracetax.cli import ROOT
    from tracetax.commands.capacity import capacity_command

    return capacity_command(request, ROOT, tuple(sys.argv[1:]))


def check_agent(agent: str, configuration: str | None = None, /, *, request: CheckRequest = NO_CHECK_REQUEST) -> int:
    """Try an agent's file.

    Parameters
    ----------
    agent
        Its name, which is its folder's.
    configuration
        Default: the stock one, or the first that promises records.
    """
    from tracetax.cli import ROOT
    from tracetax.commands.check_agent import check_command, pin_command

    if request.pin:
        return pin_command(agent, ROOT, request.agents_dirs)
    request = dataclasses.replace(request, agent=agent, configuration=configuration)
    return check_command(request, ROOT, tuple(sys.argv[1:]))


def asked(request: Request, root: Path) -> Asked:
    """The experiment that a request for a new run means. Raises UserError with everything that is wrong."""
    agents, experiment = _experiment(request, root)
    if request.reference:
        experiment = with_reference(experiment, agents)
    if experiment.rates:
        from tracetax.commands.rates import at_found_rates  # loads much that --help need not wait for

        experiment, sentence = at_found_rates(experiment, experiment.rates, request.rates_of)
        experiment = replace(experiment, left_out=(*experiment.left_out, sentence))
    elif request.rates_of:
        raise UserError("--rates-of goes with an experiment whose file has [rates], such as nou25-latency.")
    replaced = with_artifacts(scheduled(experiment, request), agents, request.artifacts)
    notes = (*experiment.left_out, *replaced.notes)
    if not request.backends:
        return Asked(replaced.experiment, replaced.agents, notes=notes)
    backed = with_backends(replaced.experiment, replaced.agents, load_backends(root), request.backends)
    return Asked(backed.experiment, replaced.agents, backed.backends, (*notes, *backed.notes))


def scheduled(experiment: Experiment, request: Request) -> Experiment:
    """The experiment under the schedule that was typed."""
    schedule = rescheduled(
        experiment.schedule, blocks=request.blocks, half_width=request.half_width, budget=request.budget
    )
    return replace(experiment, schedule=schedule)


def refuse_fixed(request: Request) -> None:
    """Raise UserError where a resume was typed with something that only a new run can have."""
    fixed = _typed(request, [field.name for field in fields(Request) if field.name not in RESUMABLE])
    if fixed:
        raise UserError(
            f"{', '.join(fixed)}: a run goes on as it began; only --blocks, --half-width and --budget may differ."
        )


def refuse_blocks(request: Request) -> None:
    """Raise UserError where an experiment that searches for rates was typed with what only blocks have."""
    if fixed := _typed(request, ["blocks", "half_width", "seed", "backends", "fail_if"]):
        raise UserError(
            f"{', '.join(fixed)}: this experiment searches for rates, trial by trial; it has no blocks.\n"
            "--budget says how long it may take."
        )


def _experiment(request: Request, root: Path) -> tuple[dict[str, Agent], Experiment]:
    if request.agent is None:
        if without_file := _typed(
            request, [field.name for field in (*fields(TypedCalls), *fields(TypedParameters), *fields(TypedService))]
        ):
            raise UserError(
                f"{without_file[0]} goes with --agent; what an experiment measures stands in its file.\n"
                "For example: ./tracetax run --agent kieker,opentelemetry --rate 1000/s --depth 10"
            )
        return _of_file(request, root)
    if request.experiment is not None:
        raise UserError("--agent and an experiment exclude each other: the experiment's file names its agents.")
    if variant := _variant(request):
        raise UserError(
            f"--{variant} goes with an experiment, whose file says what it changes.   (./tracetax run --help)"
        )
    if request.service is not None:
        return _of_service(request, root)
    if beside := [name for name in OPTIONS if getattr(request, name)]:
        raise UserError(f"{typed_as(Request, beside[0])} goes with --service, the command that starts your service.")
    named = typed_workloads(request)
    if len(named) == 1:
        load_workload(named[0][1], root)  # its problems are told as they stand in its files
    report = Report(COMMAND_LINE)
    agents = every_agent(root, request.agents_dirs)
    programs = read_programs(named, agents, root, report)
    raise_problems(report)
    experiment = adhoc_experiment(programs, request)
    return agents_of(experiment, agents), experiment


def _of_service(request: Request, root: Path) -> tuple[dict[str, Agent], Experiment]:
    """What is measured of the user's own service, once it has been tried without an agent."""
    service, sentences = service_tried(request, root)
    agents = every_agent(root, request.agents_dirs)
    program = program_of_service(service, agents, root)
    typed = dataclasses.replace(request, endpoint=request.endpoint or mix_to_type(service))
    experiment = adhoc_experiment((program,), typed)
    speed = experiment.title.removeprefix("What tracing costs ")
    _refuse_unswitchable(service, experiment, agents_of(experiment, agents))
    experiment = replace(
        experiment,
        key="service",
        title=f"What tracing costs {service_program(service, root)[0].title} {speed}",
        parts=with_nothing_learned(experiment.parts, service.load),
        service=service,
        left_out=(*experiment.left_out, *sentences),
    )
    return agents_of(experiment, agents), experiment


def _refuse_unswitchable(service: OwnService, experiment: Experiment, agents: dict[str, Agent]) -> None:
    """Raise UserError where instrumentations are to be switched off and no agent's file says how."""
    used = {part.agent_key(use.agent) for part in experiment.parts for use in part.uses}
    if service.each_instrumentation and not any(agents[key].instrumentations for key in used):
        known = ", ".join(sorted(key for key, agent in agents.items() if agent.instrumentations)) or "none"
        raise UserError(
            "--each-instrumentation: no agent of these has instrumentations that can be switched off one by one.\n"
            f"For {service.language} there is: {known}"
        )


def service_tried(request: Request | CapacityRequest, root: Path) -> tuple[OwnService, tuple[str, ...]]:
    """The service that was typed, once it was tried. Raises UserError with everything that is wrong."""
    if request.workload is not None:
        raise UserError("--workload and --service exclude each other: each says what is measured.")
    report = Report(COMMAND_LINE)
    service = read_service(request, Path.cwd(), report)
    raise_problems(report)
    assert service
    return _tried(service, root)


def _of_file(request: Request, root: Path) -> tuple[dict[str, Agent], Experiment]:
    """The experiment of a file; where that describes a service of the user's, once it has been tried."""
    name, own = request.experiment or DEFAULT_EXPERIMENT, request.agents_dirs
    variant, typed = _variant(request), typed_settings(request)
    described = service_table(name, root)
    if described is None:
        return load_catalog(name, root, own, variant=variant, typed=typed)
    path, table = described
    report = Report(name)
    service = service_of_file(table, path.parent.absolute(), report)
    raise_problems(report)
    assert service
    service, sentences = _tried(service, root)
    agents, experiment = load_catalog(name, root, own, variant=variant, typed=typed, service=service)
    _refuse_unswitchable(service, experiment, agents)
    experiment = replace(experiment, left_out=(*experiment.left_out, *sentences))
    return agents, experiment


def _tried(service: OwnService, root: Path) -> tuple[OwnService, tuple[str, ...]]:
    """A service once it was tried without an agent, with its language, and what the user should know of it."""
    from tracetax.run.trying import try_service  # loads much that --help need not wait for

    runtimes = sound_runtimes(root)
    if service.language:
        service_runtime(service, runtimes)
    print(f"Trying the service without an agent: {service.words}", file=sys.stderr)
    tried = try_service(service, runtimes)
    return tried.service, tried.sentences


def _typed(request: Request, names: list[str]) -> list[str]:
    """Those of the named fields that were typed, each as it is typed."""
    return [typed_as(Request, name) for name in names if getattr(request, name) != getattr(NO_REQUEST, name)]


def _variant(request: Request) -> Variant:
    """The version of the experiment that was asked for."""
    if request.fast and request.as_published:
        raise UserError("--fast and --as-published exclude each other: each is a version of its own.")
    return "fast" if request.fast else "as-published" if request.as_published else ""
