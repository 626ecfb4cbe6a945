"""The real PostgreSQL of ``stores/postgresql``, fetched once."""

import functools
import os
from pathlib import Path

from tracetax.artifacts import cache_dir
from tracetax.catalog.backends import load_stores
from tracetax.companions.store import StoreServer, SuppliedStore
from tracetax.run.backends import supply_store
from tracetax.store import Store

ROOT = Path(__file__).parents[2]


def postgresql() -> Store:
    return load_stores(ROOT)["postgresql"]


@functools.cache
def supplied() -> SuppliedStore:
    return supply_store(postgresql(), ROOT / "stores" / "postgresql", cache_dir(os.environ))


def started(folder: Path, with_what: SuppliedStore | None = None) -> StoreServer:
    return StoreServer(with_what or supplied(), folder=folder / "store", log=folder / "store.txt")
