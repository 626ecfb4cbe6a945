"""What an invocation or a request costs in several workloads: a line for each agent, a column for each part."""

from collections.abc import Sequence

from msgspec import Struct

from tracetax.kinds import declaration_of
from tracetax.model import Profile
from tracetax.report import numbers
from tracetax.report.views import (
    Group,
    PartView,
    added_time,
    group_of_row,
    overhead,
    per_unit,
    promises,
    title_of,
    unit_of,
    workload_words,
)
from tracetax.results.findings import ConfigurationFinding
from tracetax.words import one

SHIPPED = "as shipped"


class WorkloadCost(Struct, frozen=True):
    """What an agent adds in one column, in words."""

    added: str = "–"
    delivered: str = ""
    """Empty where nothing is promised."""
    note: str = ""
    """Which configuration it is, where a line has several; often empty."""
    cpu: str = ""
    """What all threads use for it, of a service; else empty."""

    @property
    def further(self) -> tuple[str, ...]:
        """What stands below the time that is added."""
        return tuple(text for text in (self.cpu, self.delivered, self.note) if text)


class WorkloadLine(Struct, frozen=True):
    """An agent in all columns."""

    name: str
    rows: tuple[ConfigurationFinding | None, ...]

    @property
    def costs(self) -> tuple[WorkloadCost, ...]:
        """A cell for each column, in the unit of the largest."""
        known = [of for row in self.rows if row and (of := overhead(row))]
        largest = max((abs(of.estimate) for of in known), default=0.0)
        differ = len({row.configuration for row in self.rows if row}) > 1
        return tuple(_cost(row, largest, differ) for row in self.rows)


class WorkloadTable(Struct, frozen=True):
    """Parts that are alike but for the program, beside each other."""

    title: str
    unit: str
    """What cost is told per: ``invocation``, or ``request``."""
    heads: tuple[str, ...]
    lines: tuple[WorkloadLine, ...]

    @property
    def meaning(self) -> str:
        """What its cells say."""
        used = any(cost.cpu for line in self.lines for cost in line.costs)
        cpu_told = ", the CPU that all threads use for it" if used else ""
        return (
            f"What is added to {one(self.unit)} (latency, overhead){cpu_told}, and the share of its records that "
            "arrived. ± is a 95 % interval."
        )


def workload_tables(parts: Sequence[PartView]) -> list[WorkloadTable]:
    """A table for all parts with the same parameters; none where a run measured one workload."""
    alike: dict[tuple[object, ...], list[PartView]] = {}
    for view in parts:
        title = view.part.title.removesuffix(f", {view.part.levels}")
        alike.setdefault((title, view.part.parameters), []).append(view)
    return [_table(views) for views in alike.values() if len({view.part.workload for view in views}) > 1]


def _table(views: list[PartView]) -> WorkloadTable:
    levels = [view.part.levels.split(", ") for view in views]
    shared = set(levels[0]).intersection(*levels)
    lines: dict[tuple[str, ...], list[ConfigurationFinding | None]] = {}
    for place, view in enumerate(views):
        for row in view.rows:
            key = _line_of(row)
            if key in lines and lines[key][place]:
                key = (*key[:-1], row.configuration, row.technology)
            lines.setdefault(key, [None] * len(views))[place] = row
    agents = [agent for agent, *_ in lines]
    unit = unit_of(views[0].part)
    return WorkloadTable(
        title=f"Added per {unit}: {workload_words(views[0].part.parameters)}",
        unit=unit,
        heads=tuple(", ".join(level for level in own if level not in shared) for own in levels),
        lines=tuple(
            WorkloadLine(_name(rows, alone=agents.count(key[0]) == 1), tuple(rows)) for key, rows in lines.items()
        ),
    )


def _line_of(row: ConfigurationFinding) -> tuple[str, ...]:
    """What rows of different programs share that stand in one line.

    An agent as shipped is one line, whatever it ships with; the technology is another one in each language.
    """
    shipped = row.profile == Profile.STOCK
    return row.agent, row.build, row.backend, "" if shipped else row.configuration


def _name(rows: Sequence[ConfigurationFinding | None], *, alone: bool) -> str:
    """The agent's name, with its configuration where it is not alone in the table."""
    known = [row for row in rows if row]
    titles = {title_of(row) for row in known}
    name = known[0].agent_name
    return name if alone else f"{name}, {titles.pop() if len(titles) == 1 else SHIPPED}"


def _cost(row: ConfigurationFinding | None, largest: float, differ: bool) -> WorkloadCost:
    if row is None:
        return WorkloadCost()
    notes = [row.configuration] if differ else []
    if group_of_row(row) is Group.FAILED:
        return WorkloadCost(note=", ".join((*notes, Group.FAILED.value)))
    of, share = overhead(row), row.records.completeness
    delivered = numbers.percent(share) if promises(row) and share is not None else ""
    notes += ["deferred"] if row.deferred else []
    return WorkloadCost(added_time(of, largest) if of else "–", delivered, ", ".join(notes), _cpu(row))


def _cpu(row: ConfigurationFinding) -> str:
    """The CPU of a request: on few cores a service's own, where its latency is everybody's."""
    of = None if declaration_of(row.parameters).calls_itself else per_unit(row, "cpu")
    return f"CPU {added_time(of, abs(of.estimate))}" if of else ""
