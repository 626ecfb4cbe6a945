"""What the parameters of every kind of workload have in common."""

from typing import Literal, TypeAlias

from msgspec import Struct

FULL: Literal["full"] = "full"
Rate: TypeAlias = float | Literal["full"]
"""Calls per second that the driver starts, all threads together, or ``"full"``: back to back."""
Wait: TypeAlias = Literal["spin", "park"]
"""How a caller passes the time until its next call is due."""


class Parameters(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What one call of the driver is, and how calls are issued; each kind adds its own, under its name as the tag."""

    calls: int
    rate: Rate = FULL
    threads: int = 1
    start_up_methods: int = 0
    """Methods of generated classes that the program calls once each when it starts."""
    start_up_monitored: int = 0
    """How many of them lie in the class that agents are asked to monitor."""
    start_up_built: bool = False
    """Whether each trial builds them anew from their sources, weaving what is woven before a run, and is timed."""

    @property
    def calls_vary(self) -> bool:
        """Whether ``calls`` is only about how many a trial makes: its record then says how many they were."""
        return False

    @property
    def kind(self) -> str:
        """The kind of workload whose parameters they are, by the name of its module in ``kinds/``."""
        return str(self.__struct_config__.tag)


class Offers(Struct, frozen=True):
    """What of a kind's parameters a program can do."""

    threads_max: int
    """Callers that can call at the same time."""
    wait: tuple[Wait, ...]
    """How callers can pass the time until a call is due; the first way is taken where none is asked for."""
    endpoints: tuple[str, ...] = ()
    """What of a service can be called, by name."""
    hosts: tuple[str, ...] = ()
    """What can serve it, by name."""
