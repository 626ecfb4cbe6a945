"""The real stores of ``stores/``, each fetched or built once."""

import functools
import os
from pathlib import Path

from tracetax.artifacts import cache_dir
from tracetax.catalog.stores import load_stores
from tracetax.companions.store import StoreServer, SuppliedStore
from tracetax.run.backends import supply_store
from tracetax.store import Store

ROOT = Path(__file__).parents[2]


def postgresql() -> Store:
    return load_stores(ROOT)["postgresql"]


@functools.cache
def supplied(name: str = "postgresql") -> SuppliedStore:
    return supply_store(load_stores(ROOT)[name], ROOT / "stores" / name, cache_dir(os.environ))


def started(folder: Path, with_what: SuppliedStore | None = None) -> StoreServer:
    return StoreServer(with_what or supplied(), folder=folder / "store", log=folder / "store.txt")
