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

from tracetax import __version__
from tracetax.analysis.findings import build
from tracetax.artifacts import cache_dir
from tracetax.catalog import adhoc_experiment, load_agents, load_catalog, rescheduled
from tracetax.errors import ExitCode, UserError
from tracetax.machine.facts import Machine, machine_facts
from tracetax.machine.lock import sole_run
from tracetax.model import FULL, Agent, Experiment
from tracetax.process import inherited_traps
from tracetax.report.page import write_page
from tracetax.report.terminal import render
from tracetax.results.findings import Findings
from tracetax.results.folder import MANIFEST_VERSION, Invocation, Manifest, RunFolder
from tracetax.run import prepare
from tracetax.run.describe import estimate_words, part_words, plan_lines
from tracetax.run.plan import cells, check_memory
from tracetax.run.progress import TerminalProgress
from tracetax.run.session import Ended, Session, resumed

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
    console = Console(highlight=False)
    if request.resume:
        return _resume(request, root, typed, load_agents(root), console)
    agents, experiment = _experiment(request, root)
    seed = random.SystemRandom().randrange(1 << 32) if request.seed is None else request.seed
    if request.dry_run:
        for line in plan_lines(experiment, agents, seed):
            console.print(line, soft_wrap=True)
        return ExitCode.OK
    machine = machine_facts(Path.cwd())
    check_memory(cells(experiment, agents), _memory_available())
    path = request.out or RunFolder.new_path(
        Path("runs"), experiment.key, f"{random.SystemRandom().getrandbits(16):04x}"
    )
    with sole_run():
        bench = prepare.prepare(experiment, agents, root, cache_dir(os.environ), console.print)
        manifest = Manifest(
            version=MANIFEST_VERSION,
            tool_version=__version__,
            seed=seed,
            hashes=prepare.hashes(experiment, bench),
            machine=msgspec.to_builtins(machine),
            invocations=(_invocation(typed, experiment),),
            inherited=inherited_traps(os.environ),
        )
        folder = RunFolder.create(path, manifest)
        return _measure(experiment, agents, bench, folder, machine, console)


def show_run(path: Path, root: Path) -> int:
    """Draw a run's table and page anew from its trials."""
    folder = RunFolder(path)
    console = Console(highlight=False)
    findings, page = _conclude(folder, load_agents(root))
    render(findings, console, page, path)
    return _exit_code(findings)


def _resume(request: Request, root: Path, typed: tuple[str, ...], agents: dict[str, Agent], console: Console) -> int:
    assert request.resume is not None
    fixed = ("experiment", "agents", "rate", "depth", "calls", "threads", "seed", "out")
    given = [f"--{name}" for name in fixed if getattr(request, name) is not None]
    if given:
        raise UserError(
            f"{', '.join(given)}: a run goes on as it began; only --blocks, --half-width and --budget may differ."
        )
    with sole_run():
        folder = RunFolder(request.resume)
        folder.discard_unfinished()
        manifest = folder.manifest
        experiment = _scheduled(manifest.experiment, request)
        if request.dry_run:
            for line in plan_lines(experiment, agents, manifest.seed):
                console.print(line, soft_wrap=True)
            return ExitCode.OK
        check_memory(cells(experiment, agents), _memory_available())
        bench = prepare.prepare(experiment, agents, root, cache_dir(os.environ), console.print)
        folder.write_manifest(resumed(manifest, prepare.hashes(experiment, bench), _invocation(typed, experiment)))
        return _measure(experiment, agents, bench, folder, machine_facts(Path.cwd()), console)


def _measure(
    experiment: Experiment,
    agents: dict[str, Agent],
    bench: prepare.Bench,
    folder: RunFolder,
    machine: Machine,
    console: Console,
) -> int:
    _headline(experiment, agents, bench, folder, machine, console)
    with _terminations_interrupt(), TerminalProgress(console) as progress:
        ended = Session(experiment, bench, folder, progress).run()
    findings, page = _conclude(folder, agents)
    render(findings, console, page, folder.path)
    return _ended(ended, findings, folder, console)


def _ended(ended: Ended, findings: Findings, folder: RunFolder, console: Console) -> int:
    if ended.interrupted:
        console.print(f"Interrupted. Go on with: ./tracetax run --resume {folder.path}", soft_wrap=True)
        return ExitCode.INTERRUPTED
    return _exit_code(findings)


def _conclude(folder: RunFolder, agents: dict[str, Agent]) -> tuple[Findings, Path]:
    """Write what follows from the trials: Parquet, findings, page."""
    folder.consolidate()
    findings = build(folder, agents)
    folder.write_findings(findings)
    return findings, write_page(folder.path, findings)


def _exit_code(findings: Findings) -> int:
    failed = any(verdict.severity == "error" for row in findings.configurations for verdict in row.verdicts)
    return ExitCode.FAILED if failed else ExitCode.OK


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
            rate=request.rate or FULL,
            depth=request.depth or 10,
            calls=request.calls,
            threads=request.threads or 1,
        )
    return agents, _scheduled(experiment, request)


def _scheduled(experiment: Experiment, request: Request) -> Experiment:
    """The experiment under the schedule that was typed."""
    schedule = rescheduled(
        experiment.schedule,
        min_blocks=request.blocks,
        max_blocks=request.blocks,
        half_width=request.half_width,
        budget=request.budget,
    )
    if request.half_width is not None and request.blocks is None:
        schedule = replace(schedule, min_blocks=max(10, schedule.min_blocks), max_blocks=max(100, schedule.max_blocks))
    return replace(experiment, schedule=schedule)


def _invocation(typed: tuple[str, ...], experiment: Experiment) -> Invocation:
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    return Invocation(command=("./tracetax", *typed), started_at=started_at, experiment=experiment)


def _headline(
    experiment: Experiment,
    agents: dict[str, Agent],
    bench: prepare.Bench,
    folder: RunFolder,
    machine: Machine,
    console: Console,
) -> None:
    """What is about to be measured, on what, for how long, and where it goes."""
    console.print(f"\n[bold]{experiment.key}[/bold]: {experiment.title}")
    memory = f"{machine.memory_bytes / 2**30:.0f} GiB"
    console.print(
        f"Machine   {machine.cpu}, {machine.cores} cores, {memory}, {machine.kernel}, OpenJDK {bench.java_version}"
        f"     load {machine.load[0]:.1f}",
        soft_wrap=True,
    )
    for part in experiment.parts:
        names = ", ".join(str(use) for use in part.uses)
        console.print(f"Plan      {part.title}: {part_words(part)}: {names}; the baseline twice", soft_wrap=True)
    console.print(f"Run       {folder.path}     {estimate_words(experiment, agents)}\n", soft_wrap=True)


def _memory_available() -> int:
    import psutil

    return psutil.virtual_memory().available


@contextmanager
def _terminations_interrupt() -> Generator[None]:
    """Treat TERM and HUP as Ctrl-C: end in order, keep what was measured."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
