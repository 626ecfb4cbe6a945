"""What the measured backends, and stores, need before any trial, and what a trial's records go to."""

import platform
from collections.abc import Collection, Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tracetax.artifacts import Say, Workplace, obtain, prepared, runner_of
from tracetax.artifacts.cache import silent
from tracetax.backend import Backend
from tracetax.catalog import fill
from tracetax.catalog.placeholders import ARTIFACT, BACKEND_FILES, PREPARED, referred_to, sink_protocols
from tracetax.catalog.reading import one_of
from tracetax.companions.backend import BackendServer, Supplied
from tracetax.companions.receiver import Receiver
from tracetax.companions.sink import Sink
from tracetax.companions.store import SuppliedStore
from tracetax.errors import ExitCode, UserError
from tracetax.kinds import declaration_of
from tracetax.run.context import MEASURED
from tracetax.run.equipment import Equipment
from tracetax.run.plan import TrialPlan
from tracetax.store import ANY, SERVER, Store


def supply_backend(backend: Backend, folder: Path, cache: Path, say: Say) -> Supplied:
    """Fetch and make what a backend is started with. Raises UserError."""
    needed = referred_to(backend.start.texts, backend.prepare)
    artifacts = {name: obtain(backend.artifacts[name], cache, say) for name in needed.artifacts}
    folders = prepared(needed.steps, _workplace(backend.key, folder, artifacts, cache, "backend.toml"), say)
    return Supplied(
        backend=backend,
        runner=runner_of(backend),
        values={
            **{f"{ARTIFACT}{name}": str(path) for name, path in artifacts.items()},
            **{f"{PREPARED}{name}": str(path) for name, path in folders.items()},
            BACKEND_FILES: str(folder / "files"),
        },
    )


def supply_store(store: Store, folder: Path, cache: Path, say: Say = silent) -> SuppliedStore:
    """Fetch and unpack a store's programs for this machine's architecture. Raises UserError."""
    architecture = platform.machine()
    server = store.servers.get(architecture) or store.servers.get(ANY)
    if server is None:
        there = one_of(store.servers)
        raise UserError(
            f"{store.name} is not there for {architecture}, but for {there}: {folder / 'store.toml'}, servers.",
            ExitCode.ENVIRONMENT,
        )
    artifacts = {SERVER: obtain(server.artifact, cache, say)} if server.artifact else {}
    folders = prepared(server.steps, _workplace(store.key, folder, artifacts, cache, "store.toml"), say)
    return SuppliedStore(store, folders[SERVER])


def _workplace(name: str, folder: Path, artifacts: Mapping[str, Path], cache: Path, definition: str) -> Workplace:
    return Workplace(
        agent=name,
        folder=folder,
        artifacts=artifacts,
        classes=folder,
        sources=folder,
        monitored={},
        cache=cache,
        files=BACKEND_FILES,
        definition=definition,
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
