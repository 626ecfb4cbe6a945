"""How files say what belongs to one kind of workload, in a module of this folder by the kind's name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any, Protocol, cast

from cyclopts import Parameter
from msgspec import Struct

from tracetax.catalog.reading import Report
from tracetax.catalog.settings import Said, option
from tracetax.parameters import Offers
from tracetax.program import Workload

DEFAULT = "calltree"
"""As which kind a file is read whose own is not known, so that its other mistakes are told too."""


@dataclass(frozen=True, kw_only=True)
class TypedParameters:
    """What is called: options of the command line, each for one kind; None is one that was not given."""

    depth: int | None = option(None, "Monitored invocations per call. Default: 10.")
    threads: int | None = option(None, "Calling threads; the rate is their sum. Default: 1.")
    endpoint: str | None = option(None, "Of a service: what is requested, as in db, or in db=3,json (three of four).")
    queries: int | None = option(None, "Of a service: queries of a request to what takes a number. Default: 20.")
    connections: int | None = option(None, "Of a service: connections open at once, at most. Default: 64.")
    function: str | None = option(None, "Of functions: the one that is invoked, such as dynamic-html.")
    host: str | None = option(None, "Of functions: what serves them, a folder in the workload's hosts/.")
    concurrent: int | None = option(None, "Of functions: invocations under way at a time, at most. Default: 10.")
    cold: Annotated[bool | None, Parameter(negative="")] = option(
        None, "Of functions: measure cold starts; each trial is a fresh host and its first answer."
    )
    frozen: str | None = option(
        None,
        "Of functions: freeze the host for so long after the last answer, then kill it, as in 5s; 0s kills it at once.",
    )
    page_cache: str | None = option(
        None, "Of functions: warm, or dropped: no file is in memory when the host is started. Default: warm."
    )
    memory: str | None = option(None, "Of functions: the memory that the host may have, such as 256MiB.")
    cpu: str | None = option(None, "Of functions: the CPU that the host may use, such as '25 % of 1 core'.")


class ParametersShape(Struct, frozen=True, kw_only=True):
    """``[parameters]``: each key has one value or a list of them, which makes a factor; None where it is not given."""


class KindOfFile(Protocol):
    """What the module of a kind offers."""

    PARAMETERS: type[ParametersShape]
    """The shape of ``[parameters]``."""
    WORKLOAD: type[Any]
    """The shape of ``workload.toml``: keys of its own beside those of every workload."""
    HOSTED: bool
    """Whether its programs are served by hosts, which say how they are started."""
    DRIVES: bool
    """Whether its programs make their calls themselves, and are told by their arguments how."""
    NEEDED: tuple[str, ...]
    """Parameters that must be said."""
    CALLS: str
    """The parameter that says how many calls a trial makes."""
    OPTIONS: tuple[str, ...]
    """Options of the command line that belong to this kind alone."""

    def typed_parameters(
        self, options: TypedParameters, rate: str | None, calls: int | None, offers: Offers | None, report: Report
    ) -> Said:
        """What options ask for, each as the one level of its parameter, and what holds where they say nothing.

        ``offers`` is what a program of this kind offers, where that is known.
        """
        ...

    def typed_title(self, said: Said) -> str:
        """What was typed, in words that stand after "What tracing costs"."""
        ...

    def completed(self, said: Said, offers: Offers) -> Said:
        """What was said of the parameters, with what a program's offers say instead of what was not."""
        ...

    def check_levels(self, said: Said, offers: Offers | None, report: Report) -> None:
        """Report parameters that do not go together, or that the program does not offer where that is known."""
        ...

    def parameters_of(self, level: Mapping[str, Any]) -> Any:
        """The parameters that one level of every key means."""
        ...

    def shown(self, key: str, level: Any) -> str:
        """A level in words; empty where nothing of this kind alone is to be said of it."""
        ...

    def lacking(self, parameters: Any, workload: Workload) -> Iterator[str]:
        """What parameters ask for that a workload does not offer, in words."""
        ...

    def check_workload(self, said: Any, report: Report) -> None:
        """Report what is wrong in a workload's own keys beyond the type of each value."""
        ...

    def environment_names(self, said: Any) -> tuple[str, ...]:
        """Placeholders that the variables of a workload may contain beside those of every workload."""
        ...

    def completed_workload(self, workload: Workload, said: Any) -> Workload:
        """A workload with what the keys of its kind say."""
        ...


def kind_of_file(key: str) -> KindOfFile:
    """The module of a workload's kind, by its key such as ``calltree/java``; the default where that has none."""
    kind = key.partition("/")[0]
    known = kind.isidentifier() and find_spec(f"{__name__}.{kind}")
    return cast(KindOfFile, import_module(f"{__name__}.{kind if known else DEFAULT}"))
