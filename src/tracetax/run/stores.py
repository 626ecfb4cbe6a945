"""Where a service keeps its data: in stores that each trial starts for itself, or in the user's, named by variables."""

from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from tracetax.artifacts import Say
from tracetax.artifacts.cache import silent
from tracetax.catalog.reading import did_you_mean, one_of
from tracetax.catalog.stores import load_stores
from tracetax.companions.database import Database, existing, place_of
from tracetax.companions.store import StoreServer, SuppliedStore
from tracetax.errors import UserError
from tracetax.program import Workload
from tracetax.run.backends import supply_store
from tracetax.run.equipment import Equipment
from tracetax.store import Store

DATA_SEED = 1
"""Of the data in a fresh store: every trial of every run finds the same."""


class RunningStores(Struct, frozen=True):
    """Stores that a trial's program finds: where, and which of them are the trial's own."""

    urls: dict[str, str]
    servers: tuple[StoreServer, ...] = ()

    def check(self) -> None:
        """Raise StoreLost where one of the trial's own has ended."""
        for server in self.servers:
            server.check()


def users_stores(workload: Workload, root: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The addresses of stores of the user's own, by name, which variables of the environment name.

    An address holds a password, so it is no option: a run keeps its command. Raises UserError where it is none on this
    machine, and where the workload names a store that is not there.
    """
    stores = stores_of(workload, root)
    said = {name: environment.get(variable(name), "") for name in stores}
    try:
        return {name: existing(stores[name], url) for name, url in said.items() if url}
    except UserError as error:
        names = " or ".join(variable(name) for name, url in said.items() if url)
        raise UserError(f"{error}\nIt stands in the variable {names}.", error.exit_code) from error


def supply_stores(
    workload: Workload, root: Path, cache: Path, environment: Mapping[str, str], say: Say = silent
) -> dict[str, SuppliedStore | str]:
    """What a workload's stores are started from, by name; an address where it is the user's own. Raises UserError."""
    users = users_stores(workload, root, environment)
    return {
        name: users.get(name) or supply_store(store, root / "stores" / name, cache, say)
        for name, store in stores_of(workload, root).items()
    }


def stores_of(workload: Workload, root: Path) -> dict[str, Store]:
    """The stores that a workload names. Raises UserError where there is none by a name."""
    names = workload.service.stores if workload.service else ()
    known = load_stores(root) if names else {}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or (f". There is {one_of(known)}" if known else ": there is none")
            raise UserError(f'workloads/{workload.key}/workload.toml: stores: "{name}" is no store{hint}')
    return {name: known[name] for name in names}


@contextmanager
def started_stores(equipment: Equipment, scratch: Path, logs: Path) -> Generator[RunningStores]:
    """A trial's stores: fresh ones with their data, which go with the trial, and the user's as they are.

    Raises StoreLost where one does not come up.
    """
    urls: dict[str, str] = {}
    servers: list[StoreServer] = []
    with ExitStack() as stack:
        for name, place in equipment.stores.items():
            if isinstance(place, str):
                urls[name] = place
                continue
            server = StoreServer(
                place,
                folder=scratch / f"store-{name}",
                log=logs / f"{name}.txt",
                cores=equipment.isolation.companions,
                seed=DATA_SEED,
            )
            servers.append(stack.enter_context(server))
            urls[name] = server.url
            if place.store.statements:
                with Database(place.store, server.url) as database:
                    for data in place.store.data.values():
                        database.make(data, DATA_SEED)
        yield RunningStores(urls, tuple(servers))


def store_hash(place: SuppliedStore | str) -> tuple[object, str]:
    """What must stay the same of a store: what its file says and its programs, or which of the user's it is."""
    return (None, place_of(place)) if isinstance(place, str) else (place.store, place.server.name)


def variable(store: str) -> str:
    """The variable that holds the address of a store of the user's: ``TRACETAX_STORE_POSTGRESQL``."""
    return f"TRACETAX_STORE_{store.replace('-', '_').upper()}"


def concealed(environment: Mapping[str, str], urls: Mapping[str, str]) -> dict[str, str]:
    """Variables in which addresses of stores, which hold passwords, are placeholders again."""
    result = dict(environment)
    for name, url in urls.items():
        result = {key: text.replace(url, f"{{stores.{name}.url}}") for key, text in result.items()}
    return result
