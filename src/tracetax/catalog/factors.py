"""From the parameters and JVM settings of a part, where a list makes a factor, to one set of each per combination."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, TypeVar

from msgspec import Struct

from tracetax.catalog.experiment_shape import JvmShape, ParametersShape
from tracetax.catalog.units import LONGEST_TRIAL_NS, SIZE, TIME
from tracetax.model import FULL, JvmSettings, Parameters

Said = dict[str, tuple[Any, ...]]
"""The levels of every key that is said."""
Table = TypeVar("Table", ParametersShape, JvmShape)
RENAMED = {"jdk": "JDK"}
"""Keys that a title calls otherwise."""


class Combination(Struct, frozen=True):
    """One level of every factor."""

    parameters: Parameters
    jvm: JvmSettings
    suffix: str
    """For the part's name: ``-depth-2-jdk-21``; empty where there is no factor."""
    levels: str
    """In words: ``depth 2, JDK 21``."""

    @property
    def title_suffix(self) -> str:
        """For the part's title: ``, depth 2, JDK 21``."""
        return f", {self.levels}" if self.levels else ""


def overridden(*tables: Table) -> Said:
    """Every key that is said in one of the tables; an earlier table goes before a later one."""
    said: Said = {}
    for table in reversed(tables):
        said |= {key: levels for key in table.__struct_fields__ if (levels := getattr(table, key)) is not None}
    return {key: said[key] for key in tables[0].__struct_fields__ if key in said}


def combinations(parameters: Said, jvm: Said) -> Iterator[Combination]:
    """One combination for each element of the product; the values must contain calls and depth, and heap."""
    values = {**parameters, **jvm}
    factors = [key for key, levels in values.items() if len(levels) > 1]
    for levels in product(*values.values()):
        level = dict(zip(values, levels, strict=True))
        shown = [(key.replace("_", " "), _shown(key, level[key])) for key in factors]
        yield Combination(
            parameters=_parameters({key: level[key] for key in parameters}),
            jvm=_jvm({key: level[key] for key in jvm}),
            suffix="".join(f"-{key.replace(' ', '-')}-{_bare(text)}" for key, text in shown),
            levels=", ".join(f"{RENAMED.get(key, key)} {text}" for key, text in shown),
        )


def too_long(parameters: Parameters) -> str:
    """Why the measured calls of a trial would take too long; empty where they would not."""
    seconds = parameters.calls * parameters.method_time_ns / parameters.threads / 1e9
    if parameters.rate != FULL:
        seconds = max(seconds, parameters.calls / float(parameters.rate))
    if seconds <= LONGEST_TRIAL_NS / 1e9:
        return ""
    return f"would take {seconds / 3600:,.0f} hours in each trial: at most {LONGEST_TRIAL_NS / 3600e9:.0f} are allowed"


def _parameters(level: Mapping[str, Any]) -> Parameters:
    others = {key: value for key, value in level.items() if key != "method_time"}
    return Parameters(method_time_ns=level.get("method_time", 0), **others)


def _jvm(level: Mapping[str, Any]) -> JvmSettings:
    others = {key: value for key, value in level.items() if key != "heap"}
    return JvmSettings(heap_bytes=level["heap"], **others)


def _shown(key: str, value: Any) -> str:
    if key == "rate":
        return "full" if value == FULL else f"{value:,g}/s"
    if key == "method_time":
        unit = next(name for name in ("h", "min", "s", "ms", "us", "ns") if value % TIME[name] == 0)
        return f"{value // TIME[unit]} {unit}" if value else "0 ns"
    if key == "heap":
        unit = next(name for name in ("GiB", "MiB", "KiB", "B") if value % SIZE[name] == 0)
        return f"{value // SIZE[unit]:,} {unit}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _bare(text: str) -> str:
    return text.replace(",", "").replace("/s", "").replace(" ", "").replace(".", "-").lower()
