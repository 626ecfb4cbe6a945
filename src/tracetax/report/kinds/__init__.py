"""How each kind of workload is told, in a module of this folder by the kind's name."""

from importlib import import_module
from typing import Any, Protocol, cast

from tracetax.parameters import Parameters


class Teller(Protocol):
    """What the module of a kind offers."""

    SPEED: tuple[str, ...]
    """Parameters that only say how fast calls were started, the number of calls among them."""

    def called(self, parameters: Any) -> str:
        """How calls were issued, in words."""
        ...


def teller_of(parameters: Parameters) -> Teller:
    """How the kind of these parameters is told."""
    return cast(Teller, import_module(f"{__name__}.{parameters.kind}"))
