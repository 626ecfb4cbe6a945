"""What was typed after ``./tracetax run``, and the experiment that it asks for."""

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tracetax.backend import Backend
from tracetax.catalog import adhoc_experiment, load_agents, load_catalog, rescheduled
from tracetax.catalog.backends import load_backends, with_backends
from tracetax.catalog.command_line import typed_jvm
from tracetax.catalog.experiment_shape import Variant
from tracetax.catalog.own_artifacts import with_artifacts
from tracetax.errors import UserError
from tracetax.model import Agent, Experiment

DEFAULT_EXPERIMENT = "quick"
FIXED = (
    *("experiment", "agents", "configurations", "rate", "depth", "calls", "threads", "jdk", "collector", "heap"),
    *("seed", "out", "fast", "as_published", "artifacts", "agents_dirs", "backends"),
)
"""What a resume may not say again: a run goes on as it began."""
TYPED = {
    "agents": "agent",
    "configurations": "configuration",
    "artifacts": "artifact",
    "agents_dirs": "agents-dir",
    "backends": "backend",
    "as_published": "as-published",
}
"""Options whose fields have other names."""


class Request(Struct, frozen=True):
    """The options; None, or what is empty, was not typed."""

    experiment: str | None = None
    agents: tuple[str, ...] | None = None
    configurations: tuple[str, ...] | None = None
    rate: str | None = None
    depth: int | None = None
    calls: int | None = None
    threads: int | None = None
    jdk: str | None = None
    collector: str | None = None
    heap: str | None = None
    blocks: int | None = None
    half_width: str | None = None
    budget: str | None = None
    seed: int | None = None
    out: Path | None = None
    resume: Path | None = None
    artifacts: tuple[str, ...] = ()
    agents_dirs: tuple[Path, ...] = ()
    backends: tuple[str, ...] = ()
    fast: bool = False
    as_published: bool = False
    fail_if: str | None = None
    dry_run: bool = False


class Asked(Struct, frozen=True):
    """What is to be measured."""

    experiment: Experiment
    agents: dict[str, Agent]
    backends: dict[str, Backend] = {}
    """What stands in the sink's place in a second trial of each configuration."""
    notes: tuple[str, ...] = ()
    """What the user should know before it is measured."""


def asked(request: Request, root: Path) -> Asked:
    """The experiment that a request for a new run means. Raises UserError with everything that is wrong."""
    agents, experiment = _experiment(request, root)
    found = with_artifacts(scheduled(experiment, request), agents, request.artifacts)
    if not request.backends:
        return Asked(found.experiment, found.agents, notes=found.notes)
    backed = with_backends(found.experiment, found.agents, load_backends(root), request.backends)
    return Asked(backed.experiment, found.agents, backed.backends, (*found.notes, *backed.notes))


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
        for name in ("configurations", "rate", "depth", "calls", "threads"):
            if getattr(request, name) is not None:
                raise UserError(
                    f"--{TYPED.get(name, name)} goes with --agent; what an experiment measures stands in its file.\n"
                    "For example: ./tracetax run --agent kieker,opentelemetry --rate 1000/s --depth 10"
                )
        jvm = typed_jvm(jdk=request.jdk, collector=request.collector, heap=request.heap)
        name, own = request.experiment or DEFAULT_EXPERIMENT, request.agents_dirs
        return load_catalog(name, root, own, variant=_variant(request), jvm=jvm)
    if request.experiment is not None:
        raise UserError("--agent and an experiment exclude each other: the experiment's file names its agents.")
    if variant := _variant(request):
        raise UserError(
            f"--{variant} goes with an experiment, whose file says what it changes.   (./tracetax run --help)"
        )
    agents = load_agents(root, request.agents_dirs)
    experiment = adhoc_experiment(
        agents,
        request.agents,
        request.configurations,
        rate=request.rate,
        depth=request.depth,
        calls=request.calls,
        threads=request.threads,
        jdk=request.jdk,
        collector=request.collector,
        heap=request.heap,
    )
    return agents, experiment


def _variant(request: Request) -> Variant:
    """The version of the experiment that was asked for."""
    if request.fast and request.as_published:
        raise UserError("--fast and --as-published exclude each other: each is a version of its own.")
    return "fast" if request.fast else "as-published" if request.as_published else ""
