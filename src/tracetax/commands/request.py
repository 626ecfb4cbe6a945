"""What was typed after ``./tracetax run``, and the experiment that it asks for."""

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tracetax.catalog import adhoc_experiment, load_agents, load_catalog, rescheduled
from tracetax.catalog.replaced import with_artifacts
from tracetax.errors import UserError
from tracetax.model import Agent, Experiment

DEFAULT_EXPERIMENT = "quick"
FIXED = ("experiment", "agents", "rate", "depth", "calls", "threads", "seed", "out", "fast", "artifacts")
"""What a resume may not say again: a run goes on as it began."""
TYPED = {"agents": "agent", "artifacts": "artifact"}
"""Options whose fields have other names."""


class Request(Struct, frozen=True):
    """The options; None, or what is empty, was not typed."""

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
    artifacts: tuple[str, ...] = ()
    fast: bool = False
    dry_run: bool = False


class Asked(Struct, frozen=True):
    """What is to be measured."""

    experiment: Experiment
    agents: dict[str, Agent]
    notes: tuple[str, ...] = ()
    """What the user should know before it is measured."""


def asked(request: Request, root: Path) -> Asked:
    """The experiment that a request for a new run means. Raises UserError with everything that is wrong."""
    agents, experiment = _experiment(request, root)
    found = with_artifacts(scheduled(experiment, request), agents, request.artifacts)
    return Asked(found.experiment, found.agents, found.notes)


def scheduled(experiment: Experiment, request: Request) -> Experiment:
    """The experiment under the schedule that was typed."""
    schedule = rescheduled(
        experiment.schedule, blocks=request.blocks, half_width=request.half_width, budget=request.budget
    )
    return replace(experiment, schedule=schedule)


def refuse_fixed(request: Request) -> None:
    """Raise UserError where a resume was typed with something that only a new run can have."""
    unsaid = Request()
    given = [f"--{TYPED.get(name, name)}" for name in FIXED if getattr(request, name) != getattr(unsaid, name)]
    if given:
        raise UserError(
            f"{', '.join(given)}: a run goes on as it began; only --blocks, --half-width and --budget may differ."
        )


def _experiment(request: Request, root: Path) -> tuple[dict[str, Agent], Experiment]:
    if request.agents is None:
        for name in ("rate", "depth", "calls", "threads"):
            if getattr(request, name) is not None:
                raise UserError(
                    f"--{name} goes with --agent; an experiment's own parameters stand in its file.\n"
                    "For example: ./tracetax run --agent kieker,opentelemetry --rate 1000/s --depth 10"
                )
        return load_catalog(request.experiment or DEFAULT_EXPERIMENT, root, fast=request.fast)
    if request.experiment is not None:
        raise UserError("--agent and an experiment exclude each other: the experiment's file names its agents.")
    if request.fast:
        raise UserError("--fast goes with an experiment, whose file says what it leaves out.   (./tracetax run --help)")
    agents = load_agents(root)
    experiment = adhoc_experiment(
        agents,
        request.agents,
        rate=request.rate,
        depth=request.depth,
        calls=request.calls,
        threads=request.threads,
    )
    return agents, experiment
