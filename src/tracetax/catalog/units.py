"""Quantities as people write them: ``5 s``, ``1 GiB``, ``1000/s``, ``1 %``. A number without its unit is refused.

Every reader takes whatever stood in the file and raises UnitError with a sentence that shows the right form.
"""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Annotated, TypeAlias, cast

from msgspec import Meta, Struct

from tracetax.catalog.reading import did_you_mean
from tracetax.errors import UserError
from tracetax.model import FULL, Rate
from tracetax.service import Usage

TIME: Mapping[str, int] = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
}
SIZE: Mapping[str, int] = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
SHARE: Mapping[str, Fraction] = {"%": Fraction(1, 100)}
PER_SECOND: Mapping[str, int] = {"/s": 1}

SHOWN_LETTERS = 60
"""Of a quantity that is quoted in a problem."""
LONGEST_NS = 365 * 24 * TIME["h"]
LARGEST_BYTES = 1 << 42
LONGEST_CALL_NS = 60 * TIME["s"]
LOWEST_RATE = 0.01
HIGHEST_RATE = 100_000_000.0
LONGEST_TRIAL_NS = 24 * TIME["h"]
_USAGE = re.compile(r"(\d+(?:\.\d+)?)\s*%\s+of\s+(\d+(?:\.\d+)?)\s+cores?")
"""The measured calls of one trial take no longer."""
_QUANTITY = re.compile(r"(\d{1,3}(?:[,_]\d{3})+|\d+)(\.\d+)?\s*([^\s\d.,].*)?")


class UnitError(UserError):
    """A quantity that cannot be read; its message quotes it and shows the right form."""


class HalfWidth(Struct, frozen=True):
    """How narrow an interval is asked for; None where one of the two was not named."""

    ratio: float | None
    """Of the ratio to the baseline, as a share: 0.01 for 1 %."""
    time_ns: float | None


def duration(value: object) -> int:
    """Read a time such as ``5 s`` or ``200ms`` as whole nanoseconds, a year at most."""
    return _at_most(_whole(value, "time", TIME, '"5 s"', "nanoseconds"), LONGEST_NS, value, "a year")


Duration: TypeAlias = Annotated[int, Meta(extra={"read": duration})]


def call_time(value: object) -> int:
    """Read how long a call takes, in whole nanoseconds: a minute at most."""
    return _at_most(duration(value), LONGEST_CALL_NS, value, "a minute for one call")


def size(value: object) -> int:
    """Read an amount of memory such as ``1 GiB`` as whole bytes, 4 TiB at most."""
    return _at_most(_whole(value, "size", SIZE, '"1 GiB"', "bytes"), LARGEST_BYTES, value, "4,096 GiB")


Size: TypeAlias = Annotated[int, Meta(extra={"read": size})]


def size_from(least: int, process: str) -> Callable[[object], int]:
    """A reader of sizes that refuses what is less than ``process`` can do with, bytes."""

    def read(value: object) -> int:
        amount = size(value)
        if amount < least:
            raise UnitError(f'{_shown(value)} is too little for a {process}: at least "{written(least)}" is allowed')
        return amount

    return read


def written(amount: int) -> str:
    """A size as people write it, exactly: in the largest unit of which it is a whole number."""
    unit = next(name for name in ("GiB", "MiB", "KiB", "B") if amount % SIZE[name] == 0)
    return f"{amount // SIZE[unit]:,} {unit}"


def rate(value: object) -> Rate:
    """Read a rate of calls: ``1000/s``, or ``full`` for back to back."""
    if value == FULL:
        return FULL
    per_second = float(_read(value, "rate", PER_SECOND, '"1000/s", or "full" for back to back'))
    if per_second <= 0:
        raise UnitError(f'{_shown(value)} starts no calls: write for example "1000/s", or "full" for back to back')
    if not LOWEST_RATE <= per_second <= HIGHEST_RATE:
        raise UnitError(
            f'{_shown(value)} is no rate that can be made: "{LOWEST_RATE:g}/s" to "{HIGHEST_RATE:.0f}/s" is allowed, '
            'or "full" for back to back'
        )
    return per_second


Calls: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000_000)]
CallRate: TypeAlias = Annotated[Rate, Meta(extra={"read": rate})]


def usage(value: object) -> Usage:
    """Read a share of some cores, such as ``75 % of 1 core``."""
    wanted = '"75 % of 1 core"'
    if not isinstance(value, str):
        raise UnitError(_without_unit(value, "use of CPU", wanted))
    match = _USAGE.fullmatch(value.strip())
    if not match:
        raise UnitError(f"{_shown(value)} is no use of CPU: write for example {wanted}")
    percent, cores = float(match[1]), float(match[2])
    if not 0 < percent <= 100 or not cores:
        raise UnitError(f"{_shown(value)} can never be reached: more than 0 % up to 100 % of the cores, as in {wanted}")
    return Usage(percent / 100, cores, f"{percent:g} % of {cores:g} core{'' if cores == 1 else 's'}")


CpuUse: TypeAlias = Annotated[Usage, Meta(extra={"read": usage})]


def part_of_all(value: object) -> float:
    """Read ``50 %``: more than nothing, and at most all."""
    wanted = '"50 %"'
    if not isinstance(value, str):
        raise UnitError(_without_unit(value, "share", wanted))
    amount, unit = _split(value.strip(), "share", wanted)
    if unit not in SHARE:
        raise UnitError(_unknown_unit(value, unit, "share", [*SHARE]))
    part = float(amount * SHARE[unit])
    if not 0 < part <= 1:
        raise UnitError(f"{_shown(value)} must be above 0 % and at most 100 %, as in {wanted}")
    return part


Share: TypeAlias = Annotated[float, Meta(extra={"read": part_of_all})]


def half_width(value: object) -> HalfWidth:
    """Read ``1 %`` (of the ratio), ``2 ns`` (of the difference per call), or either of both: ``1 % or 2 ns``."""
    wanted = '"1 %" or "2 ns"'
    if not isinstance(value, str):
        raise UnitError(_without_unit(value, "half-width", wanted))
    ratio: float | None = None
    time_ns: float | None = None
    for piece in value.split(" or "):
        amount, unit = _split(piece.strip(), "half-width", wanted)
        if unit in SHARE and ratio is None:
            ratio = float(amount * SHARE[unit])
        elif unit in TIME and time_ns is None:
            time_ns = float(amount * TIME[unit])
        elif unit in SHARE or unit in TIME:
            raise UnitError(f'{_shown(value)} names two of a kind: write "1 %", "2 ns" or "1 % or 2 ns"')
        else:
            raise UnitError(_unknown_unit(value, unit, "half-width", [*SHARE, *TIME]))
    if not ratio and not time_ns:
        raise UnitError(f"{_shown(value)} can never be reached: write {wanted}")
    return HalfWidth(ratio, time_ns)


def _at_most(amount: int, most: int, value: object, words: str) -> int:
    if amount > most:
        raise UnitError(f"{_shown(value)} is too much: at most {words} is allowed")
    return amount


def _whole(value: object, what: str, units: Mapping[str, int], example: str, base: str) -> int:
    amount = _read(value, what, units, example)
    if amount.denominator != 1:
        raise UnitError(f"{_shown(value)} is no whole number of {base}")
    return amount.numerator


def _read(value: object, what: str, units: Mapping[str, int], example: str) -> Fraction:
    if not isinstance(value, str):
        raise UnitError(_without_unit(value, what, example))
    amount, unit = _split(value.strip(), what, example)
    if unit not in units:
        raise UnitError(_unknown_unit(value, unit, what, list(units)))
    return amount * units[unit]


def _split(text: str, what: str, example: str) -> tuple[Fraction, str]:
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise UnitError(f'"{text}" is no {what} such as {example}')
    digits, decimals, unit = cast("tuple[str, str | None, str | None]", match.groups())
    if unit is None:
        raise UnitError(f'"{text}" needs a unit: {example}')
    return Fraction(re.sub("[,_]", "", digits) + (decimals or "")), unit


def _without_unit(value: object, what: str, example: str) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value} needs a unit: {example}"
    return f"must be a {what} such as {example}"


def _unknown_unit(value: object, unit: str, what: str, units: list[str]) -> str:
    hint = did_you_mean(unit, units)
    return f'{_shown(value)}: "{unit}" is no unit of a {what}{hint or ". It is one of " + ", ".join(units)}'


def _shown(value: object) -> str:
    text = str(value)
    if len(text) > SHOWN_LETTERS:
        text = f"{text[:SHOWN_LETTERS]}…"
    return f'"{text}"' if isinstance(value, str) else text
