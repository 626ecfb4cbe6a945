"""From a schedule as written, in a file or on the command line, to the schedule that holds."""

from msgspec import Struct

from tracetax.catalog.problems import Report
from tracetax.catalog.units import HalfWidth
from tracetax.model import Schedule


class Wishes(Struct, frozen=True, kw_only=True):
    """What was said about the schedule; None where nothing was."""

    min_blocks: int | None = None
    max_blocks: int | None = None
    half_width: HalfWidth | None = None
    budget_ns: int | None = None


def scheduled(wishes: Wishes, otherwise: Schedule, report: Report, *, min_key: str, max_key: str) -> Schedule:
    """``otherwise`` with the wishes put in. One bound of blocks alone moves the other where it has to."""
    low, high = wishes.min_blocks, wishes.max_blocks
    if low is not None and high is not None and low > high:
        report.add(min_key, f"{low} is more than {max_key}, {high}")
    if low is None:
        low = otherwise.min_blocks if high is None else min(otherwise.min_blocks, high)
    if high is None:
        high = max(otherwise.max_blocks, low)
    width = wishes.half_width or HalfWidth(None, None)
    return Schedule(
        min_blocks=low,
        max_blocks=high,
        half_width_ratio=otherwise.half_width_ratio if width.ratio is None else width.ratio,
        half_width_ns=otherwise.half_width_ns if width.time_ns is None else width.time_ns,
        budget_ns=otherwise.budget_ns if wishes.budget_ns is None else wishes.budget_ns,
    )
