"""The names in braces that texts of agents' and backends' files may contain: which there are, filling them in, and
what texts refer to by them."""

import re
from collections.abc import Iterable, Mapping
from itertools import chain

from msgspec import Struct

from tracetax.model import SCRAPED, WORKLOAD_BUILT, Agent, Configuration
from tracetax.place import data_folder
from tracetax.preparation import PrepareStep

PROTOCOLS = tuple((data_folder() / "sink" / "protocols.txt").read_text().split())
"""What the sink speaks: the list that it is built with."""

ANY_NAMED = tuple((data_folder() / "sink" / "any-name.txt").read_text().split())
"""Those of which it takes records of any name, where it is told so."""

SECOND_PORTS = tuple((data_folder() / "sink" / "second-ports.txt").read_text().split())
"""Ports beside those of protocols that need two, each called as its protocol with a word behind it."""

RECORDS_FOLDER = "records.dir"
"""Where an agent writes whose records are read from files: its protocol's name ends in ``-file``."""

SCRAPE_PORT = "scrape.port"
"""Where the agent shall serve its metrics, on loopback."""

MONITORED = ("monitored.class", "monitored.simple_class", "monitored.method")
"""All that a record name may contain: the sink is told it before anything else is known."""

ARTIFACT, PREPARED = "artifacts.", "prepared."
"""What stands before the name of an artifact, and of a prepared folder."""

FILES = "agent.files"
"""The folder ``files`` that lies beside an agent's file."""

BACKEND_FILES = "backend.files"
"""The folder ``files`` that lies beside a backend's file."""

OF_STORE = ("server", "store.dir", "store.port", "store.password", "store.password_file")
"""All names that may stand where a store says how it is made, started and reached."""

SEED = "seed"
"""Says which of equally good data a store gets."""

WORKLOAD_SOURCES = "workload.sources"
"""The folder of the workload's sources."""

OUT = "out"
"""The folder that a step makes."""

JDK_INCLUDE = "jdk.include"
"""The folder of the headers of the Java Native Interface, in the JDK that compiles."""

FORMER = {"workload.classes": WORKLOAD_BUILT}
"""What placeholders were called before, and their names now."""

_FILES = frozenset(protocol for protocol in PROTOCOLS if protocol.endswith("-file"))
RECEIVED = tuple(protocol for protocol in PROTOCOLS if protocol not in _FILES and protocol != SCRAPED)
"""Protocols on which an agent sends; of the others the sink reads files, or asks."""
_PORTS = {f"sink.{protocol.replace('-', '_')}.port": protocol for protocol in RECEIVED}
_BESIDE = {
    f"sink.{port.replace('-', '_')}.port": protocol
    for port in SECOND_PORTS
    for protocol in RECEIVED
    if port.startswith(f"{protocol}-")
}
_ADDRESSES = {name.removesuffix(".port"): protocol for name, protocol in _PORTS.items()}
_ALWAYS = (
    *MONITORED,
    WORKLOAD_BUILT,
    "sink.host",
    *_ADDRESSES,
    *_PORTS,
    *_BESIDE,
    "expected.records",
    "expected.records.next_power_of_two",
    "expected.calls",
    FILES,
    "trial.dir",
    RECORDS_FOLDER,
    SCRAPE_PORT,
)
_AGENTS_FOLDERS = (*MONITORED, WORKLOAD_BUILT, WORKLOAD_SOURCES, JDK_INCLUDE, FILES, OUT)
_BACKENDS_FOLDERS = (OUT, BACKEND_FILES)
"""What the folders of an agent, and of a backend, may be made of beside artifacts and other folders."""
_BRACES = re.compile(r'\{([^{}"]*)\}')
"""A name in braces. With a quotation mark in them it is an object of JSON."""


def known(artifacts: Iterable[str], prepared: Iterable[str] = ()) -> tuple[str, ...]:
    """All names that flags and environment of an agent with these artifacts and prepared folders may contain."""
    return (*_own(artifacts, prepared), *_ALWAYS)


def known_before_trials(artifacts: Iterable[str], prepared: Iterable[str]) -> tuple[str, ...]:
    """All names that a configuration's search path and program may contain: what is there before a trial begins."""
    return (*_own(artifacts, prepared), WORKLOAD_BUILT, FILES)


def known_in_steps(artifacts: Iterable[str], others: Iterable[str], files: str = FILES) -> tuple[str, ...]:
    """All names that the texts of a ``[[prepare]]`` may contain; ``others`` are the folders of the other steps.

    ``files`` is the placeholder of the folder that the file lies in: the agent's, or the backend's.
    """
    return (*_own(artifacts, others), *(_AGENTS_FOLDERS if files == FILES else _BACKENDS_FOLDERS))


def known_to_backend(artifacts: Iterable[str], prepared: Iterable[str], accepts: Iterable[str]) -> tuple[str, ...]:
    """All names that may stand where a backend says how it is started."""
    ports = (f"port.{protocol.replace('-', '_')}" for protocol in (*accepts, "metrics"))
    return (*_own(artifacts, prepared), *ports, BACKEND_FILES, "trial.dir")


def _own(artifacts: Iterable[str], prepared: Iterable[str]) -> tuple[str, ...]:
    return (*(f"{ARTIFACT}{name}" for name in artifacts), *(f"{PREPARED}{name}" for name in prepared))


def names_in(template: str) -> tuple[str, ...]:
    """The names in braces, in order."""
    return tuple(_BRACES.findall(template))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put the values in. Raises KeyError where a name has none: the catalog has checked that all are known."""
    return _BRACES.sub(lambda match: values[match.group(1)], template)


def texts_of(step: PrepareStep) -> tuple[str, ...]:
    """Every text of a step in which placeholders may stand."""
    return (*paths_of(step), *((*step.run.jvm, *step.run.arguments) if step.run else ()))


def paths_of(step: PrepareStep) -> tuple[str, ...]:
    """The texts of a step each of which is one path."""
    return (
        *step.unzip,
        *step.copy.values(),
        *((step.compile.sources, *step.compile.class_path) if step.compile else ()),
        *(step.run.class_path if step.run else ()),
        *((step.go.sources, *step.go.replace.values()) if step.go else ()),
        *((step.cc.sources, *step.cc.include) if step.cc else ()),
        *(packages.lock for packages in (step.pip, step.npm) if packages),
    )


def way_to(protocol: str) -> str:
    """The placeholder that says where records of a protocol go."""
    if protocol == SCRAPED:
        return SCRAPE_PORT
    return RECORDS_FOLDER if protocol in _FILES else f"sink.{protocol.replace('-', '_')}.port"


def sink_protocols(configuration: Configuration) -> frozenset[str]:
    """The protocols by which what a configuration is started with reaches the sink, for records or anything else."""
    used = {name for text in configuration.texts for name in names_in(text)}
    ways = _PORTS | _BESIDE | _ADDRESSES | {SCRAPE_PORT: SCRAPED}
    reached = frozenset(protocol for name, protocol in ways.items() if name in used)
    return reached | _FILES if RECORDS_FOLDER in used else reached


def unsaid_ports(configuration: Configuration, protocol: str) -> tuple[str, ...]:
    """The placeholders of a protocol's second ports that nothing says which a configuration is started with."""
    used = {name for text in configuration.texts for name in names_in(text)}
    return tuple(name for name, of in _BESIDE.items() if of == protocol and name not in used)


class References(Struct, frozen=True):
    """What configurations refer to: only that is fetched and made, whatever else stands in their agent's file."""

    artifacts: tuple[str, ...]
    steps: tuple[PrepareStep, ...]
    """Folders to be made, each after those that it needs itself."""


def references(agent: Agent, configurations: Iterable[Configuration]) -> References:
    """What these configurations of an agent need: named by themselves, or by a step that they need."""
    return referred_to(chain.from_iterable(config.texts for config in configurations), agent.prepare)


def referred_to(texts: Iterable[str], among: Iterable[PrepareStep]) -> References:
    """What texts need: named in them, or by one of the steps that they need."""
    steps = {step.name: step for step in among}
    artifacts: dict[str, None] = {}
    needed: dict[str, PrepareStep] = {}

    def follow(texts: Iterable[str]) -> None:
        for name in (name for text in texts for name in names_in(text)):
            if name.startswith(ARTIFACT):
                artifacts[name.removeprefix(ARTIFACT)] = None
            elif name.startswith(PREPARED) and (step := steps[name.removeprefix(PREPARED)]).name not in needed:
                follow(texts_of(step))
                needed[step.name] = step

    follow(texts)
    return References(tuple(artifacts), tuple(needed.values()))


def made_of_program(steps: Iterable[PrepareStep]) -> tuple[PrepareStep, ...]:
    """The steps that are made of the workload as it was built, of its sources, or of a folder that is made of them.

    The steps come after those that they need, as :func:`references` gives them.
    """
    made: list[PrepareStep] = []
    program = {WORKLOAD_BUILT, WORKLOAD_SOURCES}
    for step in steps:
        if any(name in program for text in texts_of(step) for name in names_in(text)):
            made.append(step)
            program.add(f"{PREPARED}{step.name}")
    return tuple(made)
