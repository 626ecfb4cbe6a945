"""A store, as ``stores/<name>/store.toml`` describes it: a server in which workloads keep data, run beside them.

Like ``model``, this is plain data: frozen, and free of behaviour that touches the outside world.
"""

from msgspec import Struct

from tracetax.model import Artifact
from tracetax.preparation import PrepareStep

SERVER = "server"
"""The folder that a store's programs lie in, by the name of its prepared folder."""


class Server(Struct, frozen=True):
    """A store's programs for one architecture: the file that is fetched, and the steps that unpack it."""

    artifact: Artifact
    steps: tuple[PrepareStep, ...]


class FileReady(Struct, frozen=True):
    """How it is known that a store takes connections: a line of a file that it writes."""

    file: str
    line: int
    """Counted from 1."""
    text: str
    """What the line says then, without the blanks around it."""
    within_ns: int = 60 * 10**9


class End(Struct, frozen=True):
    """How a store ends, by signals' names such as ``INT``."""

    signal: str
    within_ns: int
    """After which it is killed."""
    with_tracetax: str = "KILL"
    """What the kernel sends it where Tracetax itself is killed."""


class Counting(Struct, frozen=True):
    """How a store counts what is asked of it."""

    begin: str
    """Makes that it can be asked."""
    count: str
    """Returns statement, calls and rows since its start."""


class Data(Struct, frozen=True):
    """Data that a workload needs in a store."""

    make: tuple[str, ...]
    """Statements that make them anew; ``{seed}`` says which."""
    rows: str
    """Returns all of them, the key first. No workload may run the same statement."""


class Store(Struct, frozen=True):
    """A server in which workloads keep data."""

    key: str
    """The name of its folder."""
    name: str
    homepage: str
    licence: str
    servers: dict[str, Server]
    """By the architecture, as the kernel calls it."""
    user: str
    """Who it runs as where Tracetax runs as root; empty where root will do."""
    make: tuple[str, ...]
    """The command that makes its data folder, placeholders unfilled."""
    start: tuple[str, ...]
    """The command that starts it, placeholders unfilled."""
    url: str
    ready: FileReady
    end: End
    statements: Counting
    data: dict[str, Data] = {}

    @property
    def title(self) -> str:
        """Its name and version."""
        versions = {server.artifact.version for server in self.servers.values()}
        return f"{self.name} {' or '.join(sorted(versions))}"
