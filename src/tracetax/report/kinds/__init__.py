"""How each kind of workload is told, in a module of this folder by the kind's name."""

from importlib import import_module
from typing import Any, Protocol, cast

from msgspec import Struct

from tracetax.kinds import declaration_of
from tracetax.parameters import Parameters
from tracetax.results.findings import ConfigurationFinding, PartFinding


class TimeUnit(Struct, frozen=True):
    """The unit in which the times of a table stand."""

    name: str
    nanoseconds: float

    def of(self, nanoseconds: float) -> float:
        """A time in this unit."""
        return nanoseconds / self.nanoseconds


class Teller(Protocol):
    """What the module of a kind offers."""

    TIME: tuple[str, float]
    """The unit of its tables, and how many nanoseconds it has."""
    SPEED: tuple[str, ...]
    """Parameters that only say how fast calls were started, the number of calls among them."""

    def called(self, parameters: Any) -> str:
        """How calls were issued, in words."""
        ...


def teller_of(parameters: Parameters) -> Teller:
    """How the kind of these parameters is told."""
    return cast(Teller, import_module(f"{__name__}.{parameters.kind}"))


def calls_itself(part: PartFinding) -> bool:
    """Whether the program makes its calls itself, and is no service."""
    return declaration_of(part.parameters).calls_itself


def overhead_words(part: PartFinding) -> str:
    """What the overhead is of a call of its kind."""
    return "what the traced thread waits" if calls_itself(part) else "what is added to the mean response time"


def time_unit(told: ConfigurationFinding | PartFinding) -> TimeUnit:
    """The unit in which the times of its kind stand in a table."""
    return TimeUnit(*teller_of(told.parameters).TIME)


def call_noun(told: ConfigurationFinding | PartFinding) -> str:
    """What a call is called: ``call``, or ``request``."""
    return declaration_of(told.parameters).noun


def charged_words(part: PartFinding) -> str:
    """What CPU is told per, in words: a record, or a request."""
    kind = declaration_of(part.parameters)
    return "record" if kind.charged_per == "record" else kind.noun
