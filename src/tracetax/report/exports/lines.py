"""CSV of the lines over a count: one row per line, and per platform of a printed one, in base units (ns, 1)."""

import csv
import io
from collections.abc import Iterator

from tracetax.results.findings import Findings, GrowthFinding, PublishedLineValue

COLUMNS = (
    *("run", "experiment", "tool_version", "factor", "levels", "values", "parts"),
    *("agent", "build", "backend", "configuration", "title"),
    *("cost", "paired_with", "slope", "slope_ci95_low", "slope_ci95_high", "slope_per"),
    *("intercept", "intercept_ci95_low", "intercept_ci95_high", "r_squared", "n_blocks", "labels", "cut_at"),
    *("printed_platform", "printed_slope", "printed_intercept", "printed_r_squared", "printed_source"),
)


def export(findings: Findings) -> str:
    """A header and the rows; what does not exist is empty, lists are joined by ``+``."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    experiment = findings.experiment
    for line in findings.growth:
        for printed in line.published or (None,):
            keys = (experiment.run, experiment.key, findings.tool_version)
            writer.writerow((*keys, *_measured(line), *_printed(printed)))
    return file.getvalue()


def _measured(line: GrowthFinding) -> Iterator[object]:
    slope, intercept = line.slope, line.intercept
    yield from (line.factor, line.levels, _joined(line.values), "+".join(line.parts))
    yield from (line.agent, line.build, line.backend_name, line.configuration, line.title)
    yield from (slope.name, slope.paired_with, slope.estimate, *(slope.ci95 or (None, None)), slope.per)
    yield from (intercept.estimate, *(intercept.ci95 or (None, None)), line.r_squared, slope.n_blocks)
    yield from ("+".join(slope.labels), _joined(line.cut))


def _printed(line: PublishedLineValue | None) -> tuple[object, ...]:
    if line is None:
        return ("",) * 5
    return line.platform, line.slope, line.intercept, line.r_squared, line.source


def _joined(values: tuple[float, ...]) -> str:
    return "+".join(f"{value:g}" for value in values)
