"""What the measured backends need before any trial, and what a trial's records go to."""

from collections.abc import Collection, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tracetax.artifacts import Say, Workplace, obtain, prepared, runner_of
from tracetax.backend import Backend
from tracetax.catalog import fill
from tracetax.catalog.placeholders import ARTIFACT, BACKEND_FILES, PREPARED, referred_to, sink_protocols
from tracetax.companions.backend import BackendServer, Supplied
from tracetax.companions.receiver import Receiver
from tracetax.companions.sink import Sink
from tracetax.kinds import declaration_of
from tracetax.run.context import MEASURED
from tracetax.run.equipment import Equipment
from tracetax.run.plan import TrialPlan


def supply_backend(backend: Backend, folder: Path, cache: Path, say: Say) -> Supplied:
    """Fetch and make what a backend is started with. Raises UserError."""
    needed = referred_to(backend.start.texts, backend.prepare)
    artifacts = {name: obtain(backend.artifacts[name], cache, say) for name in needed.artifacts}
    place = Workplace(
        agent=backend.key,
        folder=folder,
        artifacts=artifacts,
        classes=folder,
        sources=folder,
        monitored={},
        cache=cache,
        files=BACKEND_FILES,
        definition="backend.toml",
    )
    folders = prepared(needed.steps, place, say)
    return Supplied(
        backend=backend,
        runner=runner_of(backend),
        values={
            **{f"{ARTIFACT}{name}": str(path) for name, path in artifacts.items()},
            **{f"{PREPARED}{name}": str(path) for name, path in folders.items()},
            BACKEND_FILES: str(folder / "files"),
        },
    )


@contextmanager
def receiver(plan: TrialPlan, equipment: Equipment, scratch: Path, logs: Path) -> Generator[Receiver, None, None]:
    """The sink, or the backend in its place, for one trial.

    What an agent sends by protocols that the backend does not speak goes to a sink beside it.
    """
    reached = sink_protocols(plan.config)
    supplied = equipment.backends.get(plan.use.backend)
    with ExitStack() as stack:
        if supplied is None:
            yield stack.enter_context(_sink(plan, equipment, logs, reached))
            return
        left = reached - set(supplied.backend.accepts)
        beside = stack.enter_context(_sink(plan, equipment, logs, left)) if left else None
        yield stack.enter_context(
            BackendServer(
                supplied,
                plan.config.protocol or "",
                charged=MEASURED,
                folder=scratch / "backend",
                log=logs / "backend.txt",
                cores=equipment.isolation.companions,
                beside=beside,
            )
        )


def _sink(plan: TrialPlan, equipment: Equipment, logs: Path, protocols: Collection[str]) -> Sink:
    parameters = plan.part.parameters
    return Sink(
        equipment.sink,
        protocols=protocols,
        shape=declaration_of(parameters).receiver_options(parameters, plan.config),
        record_name=fill(plan.config.record_name or "", equipment.workload.monitored.placeholders),
        error_log=logs / "sink.txt",
        cores=equipment.isolation.companions,
    )
