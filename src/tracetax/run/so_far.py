"""What is known while a run goes on: each configuration's overhead over the blocks so far, in one line."""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from tracetax.model import Agent, Part, Use
from tracetax.results import blocks as arranged
from tracetax.results.records import Cell
from tracetax.statistics.intervals import t_interval
from tracetax.statistics.overhead import differences
from tracetax.words import plural

MOST = 6
"""Configurations in a line."""
UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


class SoFar(Struct, frozen=True):
    """One configuration's overhead per call."""

    name: str
    mean_ns: float
    half_width_ns: float | None
    """Of the 95 % interval over blocks; None after the first one."""

    def __str__(self) -> str:
        largest = max(abs(self.mean_ns), self.half_width_ns or 0.0)
        scale, unit = next((one for one in UNITS if largest >= one[0] * 0.9995), UNITS[-1])
        value, width = self.mean_ns / scale, (self.half_width_ns or 0.0) / scale
        smaller = min(size for size in (abs(value), width) if size) if value or width else 1.0
        decimals = min(2, max(0, 1 - math.floor(math.log10(abs(value) or 1.0)), -math.floor(math.log10(smaller))))
        shown = f"{value:,.{decimals}f}".replace("-", "−")
        return f"{self.name} {shown}{f' ± {width:,.{decimals}f}' if self.half_width_ns is not None else ''} {unit}"


def so_far(
    part: Part, cells: Sequence[Cell], blocks: arranged.Blocks, agents: Mapping[str, Agent]
) -> tuple[int, list[SoFar]]:
    """The blocks in which a part was measured, and the overhead of its configurations, as far as there is one."""
    own = [cell for cell in cells if cell.part == part.name and cell.role == "configuration"]
    known: list[SoFar] = []
    count = 0
    for cell in own:
        found = arranged.paired(blocks, cell, arranged.service_mean)
        if found.blocks:
            estimate = t_interval(differences(found.values, found.baseline_1, found.baseline_2))
            name = _name(cell.use, [other.use for other in own], agents)
            known.append(SoFar(name, estimate.mean, estimate.half_width))
            count = max(count, len(found.blocks))
    return count, known


def line_of(title: str, count: int, known: Sequence[SoFar]) -> str:
    """``after 2 blocks, added per call: Kieker 1.9 ± 0.6 µs``, with a part's title where it has one."""
    words = [str(one) for one in known[:MOST]]
    if len(known) > MOST:
        words.append(f"{len(known) - MOST} more")
    blocks = plural(count, "block")
    return f"{f'{title}, ' if title else ''}after {blocks}, added per call: {' · '.join(words)}"


def _name(use: Use, others: Sequence[Use], agents: Mapping[str, Agent]) -> str:
    """The agent's name where that says enough."""
    alone = sum(other.agent == use.agent for other in others) == 1
    return agents[use.agent].name if alone else str(use)
