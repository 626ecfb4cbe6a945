"""The names in braces that an agent's flags, environment and record name may contain, and filling them in."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tracetax.model import Configuration

PROTOCOLS = tuple((Path(__file__).parents[3] / "sink" / "protocols.txt").read_text().split())
"""What the sink speaks: the list that it is built with."""

RECORDS_FOLDER = "records.dir"
"""Where an agent writes whose records are read from files: its protocol's name ends in ``-file``."""

MONITORED = ("monitored.class", "monitored.simple_class", "monitored.method")
"""All that a record name may contain: the sink is told it before anything else is known."""

_FILES = frozenset(protocol for protocol in PROTOCOLS if protocol.endswith("-file"))
_PORTS = {f"sink.{protocol.replace('-', '_')}.port": protocol for protocol in PROTOCOLS if protocol not in _FILES}
_ADDRESSES = {name.removesuffix(".port"): protocol for name, protocol in _PORTS.items()}
_ALWAYS = (
    *MONITORED,
    "sink.host",
    *_ADDRESSES,
    *_PORTS,
    "expected.records",
    "expected.records.next_power_of_two",
    "agent.files",
    "trial.dir",
    RECORDS_FOLDER,
)
_BRACES = re.compile(r"\{([^{}]*)\}")


def known(artifacts: Iterable[str]) -> tuple[str, ...]:
    """All names that flags and environment of an agent with these artifacts may contain."""
    return (*(f"artifacts.{name}" for name in artifacts), *_ALWAYS)


def names_in(template: str) -> tuple[str, ...]:
    """The names in braces, in order."""
    return tuple(_BRACES.findall(template))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put the values in. Raises KeyError where a name has none: the catalog has checked that all are known."""
    return _BRACES.sub(lambda match: values[match.group(1)], template)


def way_to(protocol: str) -> str:
    """The placeholder that says where records of a protocol go."""
    return RECORDS_FOLDER if protocol in _FILES else f"sink.{protocol.replace('-', '_')}.port"


def sink_protocols(configuration: Configuration) -> frozenset[str]:
    """The protocols by which a configuration's flags and environment reach the sink, for records or anything else."""
    used = {name for text in (*configuration.jvm, *configuration.environment.values()) for name in names_in(text)}
    reached = frozenset(protocol for name, protocol in (_PORTS | _ADDRESSES).items() if name in used)
    return reached | _FILES if RECORDS_FOLDER in used else reached
