"""``./tracetax run`` and ``report``: from what was typed to a run folder, its findings, the table and the page."""

import os
import random
import signal
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from tracetax import __version__
from tracetax.analysis.findings import build
from tracetax.artifacts import cache_dir
from tracetax.catalog import adhoc_experiment, load_agents, load_catalog, rescheduled
from tracetax.commands.console import console as new_console
from tracetax.errors import ExitCode, UserError
from tracetax.machine.facts import Machine, machine_facts
from tracetax.machine.limits import memory_available
from tracetax.machine.lock import sole_run
from tracetax.model import Agent, Experiment
from tracetax.process import inherited_traps
from tracetax.report.page import write_page
from tracetax.report.terminal import render
from tracetax.results.findings import Findings
from tracetax.results.folder import MANIFEST_VERSION, Invocation, Manifest, RunFolder, check_free
from tracetax.run import prepare
from tracetax.run.describe import estimate_words, part_words, plan_lines
from tracetax.run.plan import cells, check_memory
from tracetax.run.progress import TerminalProgress
from tracetax.run.session import Session

DEFAULT_EXPERIMENT = "quick"


class Request(Struct, frozen=True):
    """What was typed after ``./tracetax run``."""

    experiment: str | None = None
    agents: tuple[str, ...] | None = None
    rate: str | None = None
    depth: int | None = None
    calls: int | None = None
    threads: int | None = None
    blocks: int | None = None
    half_width: str | None = None
    budget: str | None = None
    seed: int | None = None
    out: Path | None = None
    resume: Path | None = None
    dry_run: bool = False


def run_command(request: Request, root: Path, typed: tuple[str, ...]) -> int:
    """Measure, save and show; returns the exit code."""
    console = new_console()
    if request.resume:
        return _resume(request, request.resume, root, typed, console)
    agents, experiment = _experiment(request, root)
    seed = random.SystemRandom().randrange(1 << 32) if request.seed is None else request.seed
    if request.dry_run:
        _print_plan(experiment, agents, seed, console)
        return ExitCode.OK
    machine = machine_facts(Path.cwd())
    check_memory(cells(experiment, agents), memory_available())
    tag = f"{random.SystemRandom().getrandbits(16):04x}"
    path = request.out or RunFolder.new_path(Path("runs"), experiment.key, tag)
    check_free(path)
    with sole_run(), _terminations_interrupt():
        bench = prepare.prepare(experiment, agents, root, cache_dir(os.environ), console.print)
        manifest = Manifest(
            version=MANIFEST_VERSION,
            tool_version=__version__,
            seed=seed,
            hashes=prepare.hashes(experiment, bench, machine),
            machine=msgspec.to_builtins(machine),
            agents=bench.agents,
            invocations=(_invocation(typed, experiment),),
            inherited=inherited_traps(os.environ),
        )
        return _measure(experiment, bench, RunFolder.create(path, manifest), machine, console)


def show_run(path: Path) -> int:
    """Draw a run's table and page anew from its trials."""
    folder = RunFolder(path)
    with sole_run():
        findings, page = _conclude(folder)
    render(findings, new_console(), page, path)
    return _exit_code(findings)


def _resume(request: Request, path: Path, root: Path, typed: tuple[str, ...], console: Console) -> int:
    fixed = ("experiment", "agents", "rate", "depth", "calls", "threads", "seed", "out")
    given = [f"--{name}" for name in fixed if getattr(request, name) is not None]
    if given:
        raise UserError(
            f"{', '.join(given)}: a run goes on as it began; only --blocks, --half-width and --budget may differ."
        )
    folder = RunFolder(path)
    manifest = folder.manifest
    experiment = _scheduled(manifest.experiment, request)
    if request.dry_run:
        _print_plan(experiment, manifest.agents, manifest.seed, console)
        return ExitCode.OK
    catalog = load_agents(root)
    refuse_changes([f"the agent {key}" for key, agent in manifest.agents.items() if catalog.get(key) != agent])
    machine = machine_facts(Path.cwd())
    check_memory(cells(experiment, manifest.agents), memory_available())
    with sole_run(), _terminations_interrupt():
        folder.discard_unfinished()
        bench = prepare.prepare(experiment, manifest.agents, root, cache_dir(os.environ), console.print)
        now = prepare.hashes(experiment, bench, machine)
        refuse_changes([name for name in {**manifest.hashes, **now} if manifest.hashes.get(name) != now.get(name)])
        invocations = (*manifest.invocations, _invocation(typed, experiment))
        folder.write_manifest(replace(manifest, invocations=invocations, part_endings={}))
        return _measure(experiment, bench, folder, machine, console)


def refuse_changes(changed: list[str]) -> None:
    """Raise UserError where something that is measured has changed since a run began."""
    if changed:
        raise UserError(
            f"This run cannot go on: {', '.join(changed)} changed since it began, and its blocks would not be "
            "comparable.\nStart a new run with: ./tracetax run"
        )


def _measure(
    experiment: Experiment, bench: prepare.Bench, folder: RunFolder, machine: Machine, console: Console
) -> int:
    _headline(experiment, bench, folder, machine, console)
    with TerminalProgress(console) as progress:
        ended = Session(experiment, bench, folder, progress).run()
    try:
        findings, page = _conclude(folder)
    except KeyboardInterrupt:
        console.print(f"Interrupted; every trial is kept. Its findings: ./tracetax report {folder.path}")
        return ExitCode.INTERRUPTED
    render(findings, console, page, folder.path)
    if ended.interrupted:
        console.print(f"Interrupted. Go on with: ./tracetax run --resume {folder.path}", soft_wrap=True)
        return ExitCode.INTERRUPTED
    if ended.failed_trials:
        numbers = ", ".join(str(number) for number in ended.failed_trials)
        logs = folder.path / "logs"
        console.print(f"Failed trials: {numbers}. Why stands above and in their logs: {logs}", soft_wrap=True)
        return ExitCode.FAILED
    return _exit_code(findings)


def _conclude(folder: RunFolder) -> tuple[Findings, Path]:
    """Write what follows from the trials: Parquet, findings, page."""
    folder.consolidate()
    findings = build(folder)
    folder.write_findings(findings)
    return findings, write_page(folder.path, findings)


def _exit_code(findings: Findings) -> int:
    failed = any(verdict.severity == "error" for row in findings.configurations for verdict in row.verdicts)
    return ExitCode.FAILED if failed else ExitCode.OK


def _print_plan(experiment: Experiment, agents: dict[str, Agent], seed: int, console: Console) -> None:
    for line in plan_lines(experiment, agents, seed):
        console.print(line, soft_wrap=True)


def _experiment(request: Request, root: Path) -> tuple[dict[str, Agent], Experiment]:
    if request.agents is None:
        for name in ("rate", "depth", "calls", "threads"):
            if getattr(request, name) is not None:
                raise UserError(
                    f"--{name} goes with --agent; an experiment's own parameters stand in its file.\n"
                    "For example: ./tracetax run --agent kieker,opentelemetry --rate 1000/s --depth 10"
                )
        agents, experiment = load_catalog(request.experiment or DEFAULT_EXPERIMENT, root)
    elif request.experiment is not None:
        raise UserError("--agent and an experiment exclude each other: the experiment's file names its agents.")
    else:
        agents = load_agents(root)
        experiment = adhoc_experiment(
            agents,
            request.agents,
            rate=request.rate,
            depth=request.depth,
            calls=request.calls,
            threads=request.threads,
        )
    return agents, _scheduled(experiment, request)


def _scheduled(experiment: Experiment, request: Request) -> Experiment:
    """The experiment under the schedule that was typed."""
    schedule = rescheduled(
        experiment.schedule, blocks=request.blocks, half_width=request.half_width, budget=request.budget
    )
    return replace(experiment, schedule=schedule)


def _invocation(typed: tuple[str, ...], experiment: Experiment) -> Invocation:
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    return Invocation(command=("./tracetax", *typed), started_at=started_at, experiment=experiment)


def _headline(
    experiment: Experiment, bench: prepare.Bench, folder: RunFolder, machine: Machine, console: Console
) -> None:
    """What is about to be measured, on what, for how long, and where it goes."""
    console.print()
    console.print(Text.assemble((experiment.key, "bold"), f": {experiment.title}"), soft_wrap=True)
    facts = (machine.cpu, f"{machine.cores} cores", f"{machine.memory_bytes / 2**30:.0f} GiB", machine.kernel)
    console.print(f"Machine   {', '.join(facts)}, {machine.java}     load {machine.load[0]:.1f}", soft_wrap=True)
    for part in experiment.parts:
        names = ", ".join(str(use) for use in part.uses)
        console.print(f"Plan      {part.title}: {part_words(part)}: {names}; the baseline twice", soft_wrap=True)
    console.print(f"Run       {folder.path}     {estimate_words(experiment, bench.agents)}\n", soft_wrap=True)


@contextmanager
def _terminations_interrupt() -> Generator[None]:
    """Treat TERM and HUP as Ctrl-C: end in order, keep what was measured. What nohup has silenced stays so."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
