"""A real backend, as ``backends/<name>/backend.toml`` describes it: the server that records go to in production.

Like ``model``, this is plain data: frozen, and free of behaviour that touches the outside world.
"""

from typing import Literal

from msgspec import Struct

from tracetax.model import Artifact
from tracetax.preparation import PrepareStep

OWN_PORT = "metrics"
"""The port of a backend on which no records arrive: what tells of itself may stand there."""


def port_name(protocol: str) -> str:
    """What a protocol's port is called in a backend's file."""
    return protocol.replace("-", "_")


class Start(Struct, frozen=True):
    """How a backend is started, placeholders unfilled: one of ``program``, ``jar`` and ``main``."""

    program: str = ""
    jar: str = ""
    main: str = ""
    class_path: tuple[str, ...] = ()
    jvm: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    memory_bytes: int = 256 << 20
    """What it needs; a run is refused where that is not free beside the largest heap."""

    @property
    def by_java(self) -> bool:
        """Whether a JVM runs it."""
        return not self.program

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text in which placeholders may stand."""
        own = (self.program, self.jar, *self.class_path, *self.jvm, *self.arguments)
        return (*own, *self.environment.values())


class Ready(Struct, frozen=True):
    """How it is known that it takes records: its port is open, or it answers a GET of ``path`` with success."""

    port: str
    path: str = ""
    within_ns: int = 60 * 10**9


class Counters(Struct, frozen=True):
    """Where a backend tells how many records it has got. A counter that is not there yet is 0."""

    port: str
    path: str
    format: Literal["json", "prometheus"]
    received: tuple[str, ...]
    """Their sum is the number of records."""
    dropped: tuple[str, ...] = ()
    """Counted in ``received``, and thrown away afterwards."""
    refused: tuple[str, ...] = ()
    """Turned away, and not counted in ``received``."""


class Backend(Struct, frozen=True):
    """A server that can take the sink's place."""

    key: str
    """The name of its folder, by which ``--backend`` calls it."""
    name: str
    homepage: str
    licence: str
    accepts: tuple[str, ...]
    """The sink's protocols that it speaks."""
    start: Start
    ready: Ready
    counters: Counters
    version_named: str = ""
    """The version as its file says it, where there is no artifact ``server``."""
    artifacts: dict[str, Artifact] = {}
    prepare: tuple[PrepareStep, ...] = ()

    @property
    def version(self) -> str:
        """The version of its artifact ``server``, or as its file says it."""
        server = self.artifacts.get("server")
        return server.version if server else self.version_named

    @property
    def title(self) -> str:
        """Its name and version."""
        return f"{self.name} {self.version}"

    @property
    def ports(self) -> tuple[str, ...]:
        """The names of the ports that it gets."""
        return (*map(port_name, self.accepts), OWN_PORT)
