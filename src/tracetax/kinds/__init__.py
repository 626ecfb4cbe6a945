"""What each kind of workload declares, in a module of this folder by the kind's name.

It is arithmetic and words, so makers and readers of results both ask it. They find it by the parameters of a part.
Parameters are stored with the name of their kind beside them; which kinds there are is found in this folder.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, Union

from msgspec import Struct

from tracetax.agent import Configuration
from tracetax.errors import UserError
from tracetax.parameters import FULL, Offers, Parameters, Rate

KINDS = tuple(sorted(module.name for module in iter_modules(__path__)))
"""The kinds of workload, by the names of their modules."""
KIND = "KIND"
"""What a module of this folder calls its declaration."""


P = TypeVar("P", bound=Parameters)


class Bounds(Struct, frozen=True):
    """What a program under test may use, and finds; zeros where there is no limit."""

    memory_bytes: int = 0
    cores: float = 0.0
    """CPU per second."""
    drops_page_cache: bool = False
    """Whether no file is in memory when it is started."""


UNBOUNDED = Bounds()


class Declaration(ABC, Generic[P]):
    """What a kind says of its calls and of their records.

    ``calls`` is a number of calls, of the warm-up or measured. A kind whose calls differ says how many of them are of
    which sort, so that records are known before the calls are made.
    """

    parameters: type[P]
    """The struct of its parameters."""
    unit: Literal["invocation", "call"]
    """What can be recorded, and cost is told per: an invocation, or the call itself."""
    noun: str = "call"
    """What a call is called where it is told."""
    charged_per: Literal["record", "call"] = "record"
    """What CPU is told and ranked per. Of calls of which agents make unlike numbers of records it is the call."""
    compared: Literal["service", "response"]
    """Which durations of calls are compared: from where a call begins, or from when it was due."""
    whole_trees: bool = True
    """Whether the receiver looks at the trees of records, beside counting them."""
    calls_itself: bool = True
    """Whether the callers are threads of the program under test, whose CPU is told apart from the rest."""

    @property
    def unit_noun(self) -> str:
        """What a unit is called where it is told."""
        return self.noun if self.unit == "call" else self.unit

    @abstractmethod
    def units(self, parameters: P, calls: int) -> int:
        """Units of so many calls."""

    @abstractmethod
    def records_made(self, parameters: P, config: Configuration, calls: int) -> int:
        """Records that so many calls make if every one of them is recorded, whatever becomes of them."""

    @abstractmethod
    def records_truncated(self, parameters: P, config: Configuration, calls: int) -> int:
        """Records that so many calls do not make because the agent cuts their trees by design."""

    @abstractmethod
    def queue_records(self, parameters: P, config: Configuration) -> int | None:
        """Records that the agent's queue holds at least; None where it has no queue."""

    @abstractmethod
    def receiver_options(self, parameters: P, config: Configuration) -> tuple[str, ...]:
        """The sink's options that say what a whole tree of records is."""

    @abstractmethod
    def burst_calls(self, parameters: P, config: Configuration, most_records: int) -> int:
        """Calls in one burst of the warm-up, which makes at most so many records if it can."""

    @abstractmethod
    def calls_to_whole(self, parameters: P, config: Configuration, calls: int, batch: int) -> int:
        """Calls after ``calls`` that bring their records to a whole number of batches, of ``batch`` records each."""

    @abstractmethod
    def work_ns(self, parameters: P) -> int:
        """How long a call is made to work, ns; 0 where nobody asks for it."""

    @abstractmethod
    def longest_seconds(self, parameters: P) -> float:
        """How long the measured calls may take for themselves, waiting for the next one to be due not counted."""

    @abstractmethod
    def trial_seconds(self, parameters: P, config: Configuration | None) -> float:
        """A first guess at a trial's length from start to end, without an agent where ``config`` is None.

        What heap and backend add is not in it.
        """

    @abstractmethod
    def sample_bytes(self, parameters: P) -> int:
        """Bytes of the program's heap in which the samples of the measured calls are kept."""

    @abstractmethod
    def callers_spin(self, parameters: P) -> bool:
        """Whether callers in the program keep their cores busy between two calls."""

    @abstractmethod
    def at_rate(self, parameters: P, rate: Rate, seconds: float) -> P | None:
        """The parameters of a trial of about so many seconds at a rate; None where no highest rate can be searched."""

    @abstractmethod
    def parameters_to_check(self, offers: Offers) -> P:
        """What an agent's file is checked with: few calls, far from any loss."""

    def speed(self, parameters: P) -> str:
        """How fast calls are started, in words: ``at 100 requests/s``."""
        rate = parameters.rate
        return "at full speed" if rate == FULL else f"at {rate:,g} {self.noun}s/s"

    def warms_up(self, parameters: P) -> bool:
        """Whether calls are made before the measured ones; else the first call of a fresh process is measured."""
        del parameters
        return True

    def host(self, parameters: P) -> str:
        """Which of the workload's hosts serves the program; empty where it has none."""
        del parameters
        return ""

    def frozen_ns(self, parameters: P) -> int | None:
        """How long the program is stopped after the last call and then killed; None where it ends in order."""
        del parameters
        return None

    def bounds(self, parameters: P) -> Bounds:
        """What the program may use."""
        del parameters
        return UNBOUNDED

    def price_per_million(self, parameters: P, duration_ns: float) -> float | None:
        """What a million calls cost that take so long, in money; None where nobody asks for any."""
        del parameters, duration_ns
        return None

    def sorts(self, parameters: P) -> tuple[str, ...]:
        """Sorts of calls whose records are counted one call at a time before any is measured; none where all are alike.

        What the program does for the first time may make further records: so the warm-up's are not known exactly.
        """
        del parameters
        return ()

    def records_of_sort(self, parameters: P, config: Configuration, sort: str) -> int | None:
        """Records of one call of a sort; None where nobody knows."""
        del parameters, config, sort
        return None

    def to_learn_from(self, parameters: P) -> P:
        """Parameters of a trial from which it is learned how many records a call of each sort makes."""
        return parameters

    def with_learned(self, parameters: P, counted: Sequence[tuple[Configuration, Mapping[str, int]]]) -> P:
        """Parameters with the records of a call, by configuration and sort, that were counted."""
        del counted
        return parameters

    def is_learned(self, parameters: P) -> bool:
        """Whether records of a call were counted, and no file declares them."""
        del parameters
        return False

    @abstractmethod
    def words(self, parameters: P) -> str:
        """What one trial calls, in words."""


def declaration(kind: str) -> Declaration[Any]:
    """What the kind of this name declares. Raises UserError where there is none."""
    place = f"{__name__}.{kind}"
    module = import_module(place) if find_spec(place) else None
    declared: Declaration[Any] | None = getattr(module, KIND, None)
    if not isinstance(declared, Declaration):
        raise UserError(f'The kind "{kind}" is not known: {place} would have to declare it as {KIND}.')
    return declared


def declaration_of(parameters: P) -> Declaration[P]:
    """What the kind of these parameters declares."""
    return declaration(parameters.kind)


if TYPE_CHECKING:
    from tracetax.kinds.calltree import TreeParameters
    from tracetax.kinds.functions import FunctionParameters
    from tracetax.kinds.requests import RequestParameters

    AnyParameters: TypeAlias = TreeParameters | FunctionParameters | RequestParameters
    """The parameters of any kind."""
else:
    AnyParameters = Union[tuple(declaration(kind).parameters for kind in KINDS)]  # noqa: UP007
