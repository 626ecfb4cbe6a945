"""The parameters of one trial, as given on the command line."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

USAGE = (
    "usage: --calls N --depth D --method-time-ns NS --threads T --rate full|CALLS_PER_SECOND"
    " --wait spin|park --out DIR --status FILE"
)
LARGEST = 2**63 - 1
WAITS = ("spin", "park")


class WrongOption(ValueError):
    """An option that is unknown, missing or has no sense."""


@dataclass(frozen=True)
class Options:
    """The parameters of one trial."""

    calls: int
    depth: int
    method_time_ns: int
    threads: int
    rate: float
    """Calls per second, all threads together; infinite for a closed loop."""
    wait: str
    out: Path
    status: Path

    @property
    def paced(self) -> bool:
        """Whether calls are made at a rate."""
        return self.rate != inf

    def share(self, total: int, thread: int) -> int:
        """The part of ``total`` calls for a thread: equal parts, the remainder one each to the first threads."""
        return total // self.threads + (thread < total % self.threads)


def parse(arguments: Sequence[str]) -> Options:
    """Read options given as name and value in turn. Raises WrongOption."""
    if len(arguments) % 2:
        raise _wrong(f"option {arguments[-1]} has no value")
    given = dict(zip(arguments[::2], arguments[1::2], strict=True))
    options = Options(
        calls=_whole(given, "--calls", None, 1, LARGEST),
        depth=_whole(given, "--depth", None, 1, 2**31 - 1),
        method_time_ns=_whole(given, "--method-time-ns", "0", 0, LARGEST),
        threads=_whole(given, "--threads", "1", 1, 4096),
        rate=_rate(_take(given, "--rate", "full")),
        wait=_wait(_take(given, "--wait", "spin")),
        out=Path(_take(given, "--out", None)),
        status=Path(_take(given, "--status", None)),
    )
    if given:
        raise _wrong(f"unknown option {next(iter(given))}")
    return options


def _take(given: dict[str, str], name: str, otherwise: str | None) -> str:
    value = given.pop(name, otherwise)
    if value is None:
        raise _wrong(f"option {name} is missing")
    return value


def _whole(given: dict[str, str], name: str, otherwise: str | None, least: int, most: int) -> int:
    value = _take(given, name, otherwise)
    if value.isascii() and value.isdigit() and len(value) < 20 and least <= int(value) <= most:
        return int(value)
    raise _wrong(f"{name} {value}: not a whole number from {least} to {most}")


def _rate(value: str) -> float:
    if value == "full":
        return inf
    try:
        rate = float(value)
    except ValueError:
        rate = 0.0
    if 0 < rate <= 1e9:
        return rate
    raise _wrong(f"--rate {value}: neither 'full' nor calls per second up to 1e9")


def _wait(value: str) -> str:
    if value not in WAITS:
        raise _wrong(f"--wait {value}: neither 'spin' nor 'park'")
    return value


def _wrong(what: str) -> WrongOption:
    return WrongOption(f"{what}\n{USAGE}")
