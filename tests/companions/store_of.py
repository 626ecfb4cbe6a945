"""Runs a store as another user until its input ends: python -m tests.companions.store_of FOLDER SERVER USER|-.

Everything is imported before the user changes: the other one may not be allowed to enter where Python lies.
"""

import codecs
import os
import sys
from pathlib import Path

from tests.companions.stores import postgresql
from tracetax.companions.store import StoreServer, SuppliedStore


def main() -> None:
    folder, server, user = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    supplied = SuppliedStore(postgresql(), server)
    codecs.lookup("ascii")  # is found at its first use
    if user != "-":
        os.setgroups([])
        os.setresgid(int(user), int(user), int(user))
        os.setresuid(int(user), int(user), int(user))
    with StoreServer(supplied, folder=folder / "store", log=folder / "store.txt") as store:
        assert store.process
        print(store.process.pid, store.url, flush=True)
        sys.stdin.read()
        store.stop()


if __name__ == "__main__":
    main()
