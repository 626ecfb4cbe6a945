"""``[fast]``: the shorter version of an experiment, which ``--fast`` asks for."""

from typing import TypeVar

from msgspec.structs import replace

from tracetax.catalog.experiment_shape import ExperimentShape, ParametersShape, ScheduleShape
from tracetax.catalog.problems import Report, join
from tracetax.catalog.scheduling import scheduled

Table = TypeVar("Table", ParametersShape, ScheduleShape)


def check_fast(shape: ExperimentShape, report: Report) -> None:
    """Check what ``[fast]`` says by itself, whether or not it is asked for."""
    if shape.fast is None:
        return
    scheduled(shape.fast.schedule, report, "fast.schedule")
    for name in ParametersShape.__struct_fields__:
        levels = getattr(shape.fast.parameters, name)
        key = join("fast.parameters", name)
        if levels is None or report.concerns(key):
            continue
        if len(set(levels)) < len(levels):
            report.add(key, "names the same value twice")
        elif shape.parts and all(getattr(part.parameters, name) is not None for part in shape.parts):
            report.add(key, "changes nothing: every part says its own, which goes before")


def shortened(shape: ExperimentShape, report: Report) -> ExperimentShape:
    """The experiment with what ``[fast]`` says in place of its own; of ``[schedule]``, each key as a whole."""
    if shape.fast is None:
        text = "is missing, so there is no shorter version for --fast; --blocks and --budget shorten any experiment"
        report.add("fast", text)
        return shape
    return replace(
        shape,
        parameters=_merged(shape.parameters, shape.fast.parameters),
        schedule=_merged(shape.schedule, shape.fast.schedule),
    )


def _merged(common: Table, own: Table) -> Table:
    unsaid = type(own)()
    said = {name: getattr(own, name) for name in own.__struct_fields__ if getattr(own, name) != getattr(unsaid, name)}
    return replace(common, **said)
