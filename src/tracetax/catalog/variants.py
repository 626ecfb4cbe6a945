"""``[fast]`` and ``[as-published]``: other versions of an experiment, each asked for by an option of its name."""

from collections.abc import Iterator
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from tracetax.catalog.experiment_shape import ExperimentShape, JvmShape, ParametersShape, ScheduleShape, VariantShape
from tracetax.catalog.problems import Report, join
from tracetax.catalog.scheduling import scheduled

Variant: TypeAlias = Literal["", "fast", "as-published"]
"""The name of a version, which is its table's and its option's; empty for the experiment as it is."""
MISSING: dict[Variant, str] = {
    "fast": "there is no shorter version for --fast; --blocks and --budget shorten any experiment",
    "as-published": "there is no version for --as-published",
}
FACTORS: tuple[tuple[str, type[Struct]], ...] = (("parameters", ParametersShape), ("jvm", JvmShape))
Table = TypeVar("Table", ParametersShape, JvmShape, ScheduleShape)


def check_variants(shape: ExperimentShape, report: Report) -> None:
    """Check what the versions say by themselves, whether or not one is asked for."""
    for name, variant in _variants(shape):
        scheduled(variant.schedule, report, f"{name}.schedule")
        for table, kind in FACTORS:
            for key in kind.__struct_fields__:
                _check_factor(shape, f"{name}.{table}", table, key, getattr(getattr(variant, table), key), report)


def version_of(shape: ExperimentShape, name: Variant, report: Report) -> ExperimentShape:
    """The experiment with what a version's table says in place of its own; of ``[schedule]``, each key as a whole."""
    if not name:
        return shape
    variant = dict(_variants(shape)).get(name)
    if variant is None:
        report.add(name, f"is missing, so {MISSING[name]}")
        return shape
    return replace(
        shape,
        parameters=_merged(shape.parameters, variant.parameters),
        jvm=_merged(shape.jvm, variant.jvm),
        schedule=_merged(shape.schedule, variant.schedule),
    )


def _variants(shape: ExperimentShape) -> Iterator[tuple[Variant, VariantShape]]:
    """The versions that a file describes."""
    if shape.fast is not None:
        yield "fast", shape.fast
    if shape.as_published is not None:
        yield "as-published", shape.as_published


def _check_factor(
    shape: ExperimentShape, path: str, table: str, name: str, levels: tuple[object, ...] | None, report: Report
) -> None:
    key = join(path, name)
    if levels is None or report.concerns(key):
        return
    if len(set(levels)) < len(levels):
        report.add(key, "names the same value twice")
    elif shape.parts and all(getattr(getattr(part, table), name) is not None for part in shape.parts):
        report.add(key, "changes nothing: every part says its own, which goes before")


def _merged(common: Table, own: Table) -> Table:
    unsaid = type(own)()
    said = {name: getattr(own, name) for name in own.__struct_fields__ if getattr(own, name) != getattr(unsaid, name)}
    return replace(common, **said)
