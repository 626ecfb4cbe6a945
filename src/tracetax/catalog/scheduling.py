"""From a schedule as written, in a file or on the command line, to the schedule that holds."""

from msgspec.structs import replace

from tracetax.catalog.agent_shape import Duration
from tracetax.catalog.experiment_shape import Blocks, NarrowEnough, ScheduleShape
from tracetax.catalog.problems import COMMAND_LINE, Report, raise_problems
from tracetax.catalog.shape import read_one
from tracetax.catalog.units import HalfWidth
from tracetax.model import Schedule

ENOUGH_BLOCKS = 10
MANY_BLOCKS = 100
"""What ``--half-width`` alone asks for: at least so many blocks that it is a result, and room to get there."""


def scheduled(shape: ScheduleShape, report: Report, path: str = "schedule") -> Schedule:
    """The schedule of a file; what it does not say has its default, and one bound of blocks may move the other.

    ``path`` is where it stands in the file.
    """
    otherwise = Schedule()
    low, high = shape.blocks.min, shape.blocks.max
    if low is not None and high is not None and low > high:
        report.add(f"{path}.blocks.min", f"{low} is more than {path}.blocks.max, {high}")
    if low is None:
        low = otherwise.min_blocks if high is None else min(otherwise.min_blocks, high)
    if high is None:
        high = max(otherwise.max_blocks, low)
    if (shape.calls.min or 0) > (shape.calls.max or shape.calls.min or 0):
        report.add(f"{path}.calls.min", f"{shape.calls.min:,} is more than {path}.calls.max, {shape.calls.max:,}")
    width = shape.half_width or HalfWidth(None, None)
    return Schedule(
        min_blocks=low,
        max_blocks=high,
        half_width_ratio=otherwise.half_width_ratio if width.ratio is None else width.ratio,
        half_width_ns=otherwise.half_width_ns if width.time_ns is None else width.time_ns,
        budget_ns=otherwise.budget_ns if shape.budget is None else shape.budget,
        memory=otherwise.memory if shape.memory is None else shape.memory,
        starts=shape.starts,
        min_calls=shape.calls.min,
        max_calls=shape.calls.max,
    )


def rescheduled(
    schedule: Schedule, *, blocks: int | None = None, half_width: str | None = None, budget: str | None = None
) -> Schedule:
    """A schedule changed by ``--blocks``, ``--half-width`` and ``--budget``; None where one was not given.

    ``blocks`` means exactly so many. ``half_width`` replaces both bounds, so that what is not named in it no longer
    lets a run stop, and without ``blocks`` it makes room for blocks. Raises CatalogError with every problem, named by
    its option.
    """
    report = Report(COMMAND_LINE)
    if blocks is not None and read_one(blocks, Blocks, "--blocks", report) is not None:
        schedule = replace(schedule, min_blocks=blocks, max_blocks=blocks)
    if half_width is not None:
        width = read_one(half_width, NarrowEnough, "--half-width", report) or HalfWidth(None, None)
        schedule = replace(schedule, half_width_ratio=width.ratio or 0.0, half_width_ns=width.time_ns or 0.0)
        if blocks is None:
            schedule = replace(
                schedule,
                min_blocks=max(ENOUGH_BLOCKS, schedule.min_blocks),
                max_blocks=max(MANY_BLOCKS, schedule.max_blocks),
            )
    if budget is not None:
        schedule = replace(schedule, budget_ns=read_one(budget, Duration, "--budget", report) or 0)
    raise_problems(report)
    return schedule
