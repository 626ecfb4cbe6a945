"""The plain data types of Tracetax's words: configurations under parameters, parts, experiments.

All are frozen and touch nothing outside. Times are in nanoseconds and sizes in bytes unless a name says otherwise.
What an agent is stands in ``agent``, what all parameters share in ``parameters``; both can be had here.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

from tracetax.agent import AS_BUILT as AS_BUILT
from tracetax.agent import MOST_OUTPUT_BYTES as MOST_OUTPUT_BYTES
from tracetax.agent import SCRAPED as SCRAPED
from tracetax.agent import WORKLOAD_BUILT as WORKLOAD_BUILT
from tracetax.agent import Agent as Agent
from tracetax.agent import Artifact as Artifact
from tracetax.agent import Configuration as Configuration
from tracetax.agent import Delivery as Delivery
from tracetax.agent import Layer as Layer
from tracetax.agent import Memory as Memory
from tracetax.agent import Profile as Profile
from tracetax.agent import Runtimes as Runtimes
from tracetax.agent import Scrape as Scrape
from tracetax.agent import Technology as Technology
from tracetax.kinds import AnyParameters
from tracetax.parameters import FULL as FULL
from tracetax.parameters import Parameters as Parameters
from tracetax.parameters import Rate as Rate
from tracetax.schedule import Schedule as Schedule
from tracetax.service import Objective, OwnService, Usage


class Use(Struct, frozen=True):
    """A configuration that an experiment measures."""

    agent: str
    configuration: str
    build: str = ""
    """Which of two builds of the agent, where two are compared."""
    backend: str = ""
    """The backend in the sink's place; empty for the sink."""

    def __str__(self) -> str:
        build = f" [{self.build}]" if self.build else ""
        return f"{self.agent} {self.configuration}{build}" + (f" → {self.backend}" if self.backend else "")


BASELINE = Use(agent="none", configuration="baseline")
"""What every overhead is measured against: the workload without an agent."""


Settings: TypeAlias = dict[str, int | str]
"""What baseline and agents of a part share of their runtime's settings, by the names that the runtime's file has for
them: releases and sizes (in bytes) are whole numbers, choices are text. A setting that nobody chose has no key."""
HEAP = "heap"
"""The setting that bounds the memory of the program under test, where its runtime has one."""


def heap_of(settings: Settings) -> int:
    """The heap in bytes; 0 where the runtime has no such setting."""
    heap = settings.get(HEAP, 0)
    assert isinstance(heap, int)
    return heap


def settings_key(settings: Settings) -> tuple[tuple[str, int | str], ...]:
    """The same for equal settings, and fit to be a key."""
    return tuple(sorted(settings.items()))


class Part(Struct, frozen=True):
    """Configurations under the same parameters and settings, with their own baselines: one table of the report."""

    name: str
    title: str
    parameters: AnyParameters
    uses: tuple[Use, ...]
    """Without the baseline, which every part has."""
    settings: Settings
    levels: str = ""
    """Its level of each factor, in words: ``depth 2, JDK 21``; empty where there is no factor."""
    if_given: tuple[Use, ...] = ()
    """Uses that are left out where a file that only the user has is not given."""
    workload: str = ""
    """Where an experiment measures several programs, the one that it measures; else empty."""

    def agent_key(self, agent: str) -> str:
        """What an agent is called among a run's: with its language where a run measures several programs."""
        return f"{agent}/{language_of(self.workload)}" if self.workload else agent

    @property
    def build_pairs(self) -> list[tuple[Use, Use]]:
        """The two builds of each configuration of which two are compared, the older first."""
        alike: dict[tuple[str, str, str], list[Use]] = {}
        for use in self.uses:
            if use.build:
                alike.setdefault((use.agent, use.configuration, use.backend), []).append(use)
        return [(older, newer) for older, newer in alike.values()]


class Search(Struct, frozen=True):
    """How the highest rate is searched for at which a configuration delivers every record, or keeps an objective."""

    seconds: float = 5.0
    """Length of the measured calls of a trial at a rate."""
    lowest: float = 10.0
    """Calls per second below which nothing is tried."""
    resolution: float = 0.1
    """How far apart the two rates of the answer may be, as a share of the lower one."""
    further: int = 6
    """Trials at each of the two rates, beyond the one that found it; at the lower one maybe more."""
    objective: Objective | None = None
    """What is searched for in the place of completeness: the highest rate at which a service's answers keep to it."""
    usage: Usage | None = None
    """What is searched for in the place of completeness: the rate at which a service uses so much CPU."""

    @property
    def of_service(self) -> bool:
        """Whether it asks about the service, so that records are sent and not waited for, and no agent is a row too."""
        return self.objective is not None or self.usage is not None

    @property
    def words(self) -> str:
        """What is searched for: ``the highest rate at which every record is delivered``."""
        if self.usage:
            return f"the rate at which a service uses {self.usage.text}"
        kept = self.objective.text if self.objective else "every record is delivered"
        return f"the highest rate at which {kept}"


class Rates(Struct, frozen=True):
    """Where an experiment has the rates of its parts from: a search that was made on the same machine before."""

    of: str
    """The experiment that searches for them; its parts have the same names."""
    share: float = 0.5
    """Of the rate of a part's slowest configuration, that of no agent included."""
    seconds: float = 10.0
    """Length of the measured calls of a trial."""
    run: str = ""
    """The folder of the search; empty before one is chosen."""


class PublishedRow(Struct, frozen=True):
    """What a publication printed for a configuration of an experiment that reproduces it, times in ns per call."""

    use: Use
    platform: str
    estimate: float
    sd: float | None
    source: str
    """Table of the publication, and the row in it."""


class PublishedLine(Struct, frozen=True):
    """A line that a publication printed: time of a call = slope · invocations + intercept."""

    use: Use
    platform: str
    slope: float
    """In ns per invocation."""
    intercept: float
    """In ns per call."""
    r_squared: float | None
    source: str
    """Table of the publication, and the row in it."""


def language_of(workload: str) -> str:
    """The language of a workload, by its name: ``java`` of ``calltree/java``."""
    return workload.partition("/")[2]


def kind_name(workload: str) -> str:
    """The kind of a workload, by its name: ``calltree`` of ``calltree/java``."""
    return workload.partition("/")[0]


class Experiment(Struct, frozen=True):
    """Workload × configurations × parameters × schedule."""

    key: str
    title: str
    workload: str
    """Several of one kind have commas between."""
    parts: tuple[Part, ...]
    schedule: Schedule
    paper: str | None = None
    result: bool = True
    """False for an experiment that only checks that everything works: its numbers are no result."""
    rank_by: Literal["cpu", "overhead"] = "cpu"
    """What those that deliver everything are ranked by: CPU per record, or the overhead of a call, as papers do."""
    published: tuple[PublishedRow, ...] = ()
    """Rows that the paper printed, kept with the experiment so that a finished run does not change with their table."""
    published_lines: tuple[PublishedLine, ...] = ()
    """Lines that the paper printed, kept with the experiment: a finished run does not change with their table."""
    variant: str = ""
    """Which version of the file this is: ``fast`` or ``as-published``; empty for what it says by itself."""
    left_out: tuple[str, ...] = ()
    """In sentences: what is not measured with all of its workloads, because some have no such thing."""
    service: OwnService | None = None
    """The user's own service, which is measured in the place of a workload; ``workload`` says its kind and language."""
    search: Search | None = None
    """Where rates are searched for in the place of blocks: how. Each part is one configuration, or the baseline."""
    rates: Rates | None = None
    """Where the rates of the parts come from what was searched for before; else they stand in the parameters."""
