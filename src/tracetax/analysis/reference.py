"""What each configuration costs beside the reference: a tracer that does no more than a complete one must."""

import math
from collections.abc import Mapping

import numpy as np
from msgspec.structs import replace

from tracetax.analysis.cost import charged_by_block
from tracetax.analysis.growth import overhead_by_block
from tracetax.analysis.measures import INDICATIVE_BELOW, make_measure
from tracetax.analysis.statements import condition, name_of, row_key, two_digits
from tracetax.kinds import declaration_of
from tracetax.model import Agent, Delivery, Part
from tracetax.results.blocks import Blocks
from tracetax.results.findings import ConfigurationFinding, Measure, MeasureName, PartFinding, Statement, find_measure
from tracetax.statistics.overhead import as_ratio, compare_paired

Rows = list[ConfigurationFinding]


def reference_among(part: Part, rows: Rows, agents: Mapping[str, Agent]) -> ConfigurationFinding | None:
    """The row of a part that says what a complete tracer must cost, where there is one."""
    return next((row for row in rows if _is_reference(part, row, agents)), None)


def beside_reference(part: Part, rows: Rows, agents: Mapping[str, Agent], blocks: Blocks) -> Rows:
    """The rows of a part, those beside its reference with what they cost as a multiple of what that costs.

    Nothing is told where the part has no reference, and of a cost that is not above zero in every block.
    """
    reference = reference_among(part, rows, agents)
    if reference is None:
        return rows
    least = overhead_by_block(blocks, reference.cell), charged_by_block(reference, blocks)
    result: Rows = []
    for row in rows:
        if row is reference or row.delivery is Delivery.NONE or row.backend:
            result.append(row)
            continue
        own = overhead_by_block(blocks, row.cell), charged_by_block(row, blocks)
        added = [
            measure
            for name, mine, references in zip(NAMES, own, least, strict=True)
            if (measure := _multiple(name, mine, references, reference)) is not None
        ]
        result.append(replace(row, measures=(*row.measures, *added)))
    return result


NAMES: tuple[MeasureName, MeasureName] = ("overhead_to_reference", "cpu_to_reference")
"""Multiples of the reference's overhead, and of its CPU of all threads per record."""


def reference_statements(
    parts: tuple[PartFinding, ...], rows: tuple[ConfigurationFinding, ...]
) -> tuple[Statement, ...]:
    """A sentence for each row beside a reference: what that adds to an invocation, and what the row does."""
    told: list[Statement] = []
    for part in parts:
        kind = declaration_of(part.parameters)
        own = [row for row in rows if row.part == part.name]
        for row in own:
            times = find_measure(row, "overhead_to_reference")
            reference = next((other for other in own if times and row_key(other) == times.paired_with), None)
            least = find_measure(reference, "overhead", kind.unit) if reference else None
            mine = find_measure(row, "overhead", kind.unit)
            if times is None or reference is None or least is None or mine is None:
                continue
            text = (
                f"{condition(part)}, {name_of(reference)} adds {two_digits(least.estimate)} ns, {name_of(row)} "
                f"{two_digits(mine.estimate)} ns per {kind.unit}: {_times(times)} as much."
            )
            cpu = find_measure(row, "cpu_to_reference")
            text += f" CPU of all threads per record: {_times(cpu)}." if cpu else ""
            identity = f"{part.name}-{row.agent}-{row.configuration}{f'-{row.build}' if row.build else ''}-reference"
            told.append(Statement(id=identity, text=text, rests_on=(row_key(row), row_key(reference))))
    return tuple(told)


def _is_reference(part: Part, row: ConfigurationFinding, agents: Mapping[str, Agent]) -> bool:
    agent = agents[part.agent_key(row.agent)]
    return bool(agent.reference) and row.configuration == agent.reference and not row.backend


def _multiple(
    name: MeasureName, own: Mapping[int, float], least: Mapping[int, float], reference: ConfigurationFinding
) -> Measure | None:
    numbers = sorted(own.keys() & least.keys())
    columns = np.array([[own[number], least[number]] for number in numbers]).reshape(-1, 2)
    if not len(columns) or not (columns > 0).all():
        return None
    ratio = as_ratio(compare_paired(columns[:, 0], columns[:, 1], "log-ratio"))
    labels = ("indicative",) if ratio.n < INDICATIVE_BELOW else ()
    return replace(make_measure(name, "1", "", ratio, labels), paired_with=row_key(reference))


def _times(of: Measure) -> str:
    if of.ci95 is None or not all(map(math.isfinite, of.ci95)):
        return f"{two_digits(of.estimate)} times"
    low, high = (two_digits(bound, like=10 * max(of.ci95[1] - of.ci95[0], of.estimate / 1000)) for bound in of.ci95)
    return f"{two_digits(of.estimate)} times ({low} to {high})"
