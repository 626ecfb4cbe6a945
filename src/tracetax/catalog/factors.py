"""From the parameters of a part, where a list makes a factor, to one set of parameters per combination."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from msgspec import Struct

from tracetax.catalog.experiment_shape import ParametersShape
from tracetax.catalog.units import TIME
from tracetax.model import FULL, Parameters


class Combination(Struct, frozen=True):
    """One level of every factor."""

    parameters: Parameters
    suffix: str
    """For the part's name: ``-depth-2``; empty where there is no factor."""
    title_suffix: str
    """For the part's title: ``, depth 2``."""


def overridden(common: ParametersShape, own: ParametersShape) -> dict[str, tuple[Any, ...]]:
    """Every parameter that is said, the part's own before the experiment's."""
    said = {key: getattr(own, key) or getattr(common, key) for key in ParametersShape.__struct_fields__}
    return {key: values for key, values in said.items() if values is not None}


def combinations(values: Mapping[str, tuple[Any, ...]]) -> Iterator[Combination]:
    """One combination for each element of the product; ``values`` must contain calls and depth."""
    factors = [key for key, levels in values.items() if len(levels) > 1]
    for levels in product(*values.values()):
        level = dict(zip(values, levels, strict=True))
        method_time_ns = level.get("method_time", 0)
        others = {key: value for key, value in level.items() if key != "method_time"}
        shown = [(key.replace("_", " "), _shown(key, level[key])) for key in factors]
        yield Combination(
            parameters=Parameters(method_time_ns=method_time_ns, **others),
            suffix="".join(f"-{key.replace(' ', '-')}-{_bare(text)}" for key, text in shown),
            title_suffix="".join(f", {key} {text}" for key, text in shown),
        )


def _shown(key: str, value: Any) -> str:
    if key == "rate":
        return "full" if value == FULL else f"{value:,g}/s"
    if key == "method_time":
        unit = next(name for name in ("h", "min", "s", "ms", "us", "ns") if value % TIME[name] == 0)
        return f"{value // TIME[unit]} {unit}" if value else "0 ns"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _bare(text: str) -> str:
    return text.replace(",", "").replace("/s", "").replace(" ", "").replace(".", "-")
