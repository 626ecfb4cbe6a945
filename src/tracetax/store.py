"""A store, as ``stores/<name>/store.toml`` describes it: a server in which workloads keep data, run beside them.

Like ``model``, this is plain data: frozen, and free of behaviour that touches the outside world.
"""

from msgspec import Struct

from tracetax.model import Artifact
from tracetax.preparation import PrepareStep

SERVER = "server"
"""The folder that a store's programs lie in, by the name of its prepared folder."""


ANY = "*"
"""In the place of an architecture: programs that are built on the machine itself."""


class Server(Struct, frozen=True):
    """A store's programs for one architecture: the file that is fetched, and the steps that unpack or build them."""

    version: str
    steps: tuple[PrepareStep, ...]
    artifact: Artifact | None = None
    """None where a step fetches what it builds."""


class StoreReady(Struct, frozen=True):
    """How it is known that a store takes connections: by a line of a file that it writes, or on its port."""

    file: str = ""
    """Empty where the port says it."""
    line: int = 1
    """Counted from 1."""
    text: str = ""
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
    """Data that a workload needs in a store that runs statements."""

    make: tuple[str, ...]
    """Statements that make them anew; ``{seed}`` says which."""
    rows: str
    """Returns all of them, the key first. No workload may run the same statement."""


class Content(Struct, frozen=True):
    """What a file holds, made from a seed: so many bytes, or a picture or a film of so many pixels. One is given."""

    bytes: int = 0
    picture: tuple[int, int] | None = None
    """Width and height of a PNG."""
    film: tuple[int, int, int] | None = None
    """Width, height and number of frames of a YUV4MPEG2 file, 25 frames a second."""


class Files(Struct, frozen=True):
    """A folder of a store that keeps its data in files: it is there before the store starts."""

    folder: str
    attributes: dict[str, str] = {}
    """Extended attributes of the folder, such as who may read what lies in it."""
    content: dict[str, Content] = {}
    """Its files, by name."""


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
    """The command that makes its data folder, placeholders unfilled; empty where none does."""
    start: tuple[str, ...]
    """The command that starts it, placeholders unfilled."""
    url: str
    ready: StoreReady
    end: End
    statements: Counting | None = None
    """None of a store that runs no statements."""
    data: dict[str, Data] = {}
    files: dict[str, Files] = {}

    @property
    def title(self) -> str:
        """Its name and version."""
        versions = {server.version for server in self.servers.values()}
        return f"{self.name} {' or '.join(sorted(versions))}"
