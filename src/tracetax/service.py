"""What is known of a service: what is sent to it, and of one of the user's own how it is started."""

from typing import Literal

from msgspec import Struct


class Sent(Struct, frozen=True):
    """A request to an endpoint, placeholders unfilled."""

    path: str
    """With its query."""
    method: str = "GET"
    headers: dict[str, str] = {}
    body: str = ""
    status: int = 200
    """Of a right answer."""
    contains: str = ""
    """A text in the body of every right answer."""


class Objective(Struct, frozen=True):
    """A service-level objective: a quantile of the response times must stay below a limit."""

    quantile: Literal["median", "p90", "p99", "p99_9"]
    """By its name among the measures."""
    limit_ns: int
    text: str
    """As it was typed: ``p99 < 50 ms``."""


class Usage(Struct, frozen=True):
    """How much CPU the processes of a service may use: a share of so many cores, such as 75 % of one core."""

    share: float
    cores: float
    text: str
    """As it was typed: ``75 % of 1 core``."""

    @property
    def busy(self) -> float:
        """The cores that are used then."""
        return self.share * self.cores


class OwnService(Struct, frozen=True):
    """A service of the user's, which is measured as it is started: agents get into it by its environment alone."""

    start: tuple[str, ...]
    """The words of its command, with ``{listen.port}`` where its port stands."""
    directory: str
    """Where it is started."""
    language: str
    program: str
    """What runs it: a Java, a Python, a Node; empty where nothing does."""
    endpoints: dict[str, Sent]
    weights: dict[str, int]
    """Of the endpoints: how many of the requests of a cycle go to each."""
    ready_path: str
    ready_within_ns: int
    port: int = 0
    """The port that its command names; 0 where it takes any, in the place of ``{port}``."""
    objective: Objective | None = None
    with_agent: dict[str, tuple[str, ...]] = {}
    """Other commands by the agents that are built into them; of those, the environment changes nothing else."""

    each_instrumentation: bool = False
    """Whether it is also measured with each instrumentation of an agent switched off that made a record."""
    before: tuple[str, ...] = ()
    """What is run before each start, such as what lays its data; with ``{listen.port}`` as in ``start``."""
    after: tuple[str, ...] = ()
    """What is run after each end."""

    load: tuple[str, ...] = ()
    """The command of a load of the user's own, with placeholders; empty where Tracetax's load sends the requests."""

    @property
    def words(self) -> str:
        """Its command as a reader recognizes it."""
        return " ".join(word.replace("{listen.port}", "{port}") for word in self.start)
