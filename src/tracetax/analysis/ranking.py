"""Which rows are ranked, and by what: CPU, of a service per request, or the overhead of a call."""

from typing import Any, Literal

import numpy as np
from msgspec.structs import replace

from tracetax.analysis import delivery
from tracetax.analysis.cost import charged_by_block, charged_cpu
from tracetax.analysis.growth import overhead_by_block
from tracetax.model import Experiment
from tracetax.results.blocks import Blocks
from tracetax.results.findings import ConfigurationFinding
from tracetax.statistics.multiplicity import rank_with_ties


def _eligible(row: ConfigurationFinding) -> bool:
    """Whether a row is ranked: it delivers everything, and what that cost is known."""
    unknown = any(verdict.severity == "error" or verdict.code == "after-drain" for verdict in row.verdicts)
    return (
        delivery.delivers_everything(row.records)
        and any(measure.paired_with for measure in row.measures)
        and not unknown
    )


def ranked_by(experiment: Experiment, rows: list[ConfigurationFinding]) -> Literal["cpu", "overhead"]:
    """What the whole run is ranked by: as the experiment says, or by overhead where CPU is not known of all."""
    known = all(charged_cpu(row) for row in rows if _eligible(row))
    return experiment.rank_by if known else "overhead"


def ranked(
    rows: list[ConfigurationFinding], blocks: Blocks, rank_by: Literal["cpu", "overhead"], yardstick: str | None = None
) -> list[ConfigurationFinding]:
    """Rank by CPU, of a service per request, and by the overhead of a call; what cannot be told apart shares a rank.

    The agent ``yardstick`` says what a complete tracer must cost. It has no rank among others, only by itself.
    """
    eligible = [row for row in rows if _eligible(row)]
    eligible = [row for row in eligible if row.agent != yardstick] or eligible
    if not eligible:
        return rows
    costs = {"overhead": [overhead_by_block(blocks, row.cell) for row in eligible]}
    if all(map(charged_cpu, eligible)):
        costs["cpu"] = [charged_by_block(row, blocks) for row in eligible]
    numbers = sorted(blocks)
    ranks: dict[int, dict[Any, int]] = {id(row): {} for row in eligible}
    for by, columns in costs.items():
        table = np.array([[column.get(number, np.nan) for column in columns] for number in numbers])
        for row, rank in zip(eligible, rank_with_ties(table).ranks, strict=True):
            ranks[id(row)][by] = rank
    return [
        replace(row, rank=ranks[id(row)][rank_by], ranks=ranks[id(row)]) if id(row) in ranks else row for row in rows
    ]
