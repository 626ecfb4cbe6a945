"""Every trial's time series as small multiples: a row of panels per configuration, one panel per trial."""

from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from msgspec import Struct
from numpy.typing import NDArray

from tracetax.report import numbers
from tracetax.report.page.html import BEHIND, Child, Markup, caption, h, section, who
from tracetax.report.views import PartView, heap_words, title_of
from tracetax.results.findings import ConfigurationFinding
from tracetax.results.records import BASELINES, Cell, Role, SteadyPart, TrialRecord

COLUMNS = 250
"""Columns of a panel; with many trials fewer, so that the page stays small."""
MAX_COLUMNS_IN_ALL = 100_000
MIN_COLUMNS = 60
SOURCES = ("series.parquet", "measures.parquet", BEHIND)
MANY = 400
"""Trials from which panels are small and show means only."""
HEIGHT = 100
HEADROOM = 1.15
TYPICAL_TOP = 0.995
KINDS = {
    "flat": "steady throughout, mean",
    "warm-up": "became faster, mean of the steady part",
    "slow-down": "became slower, mean of the steady part",
    "no-steady-state": "no steady state; its value is the mean of its last half",
}


READING = "One panel per trial, first call to last, from zero: the mean time of a call. On grey: before it was steady."
MORE = (
    "Panels side by side share the scale beside the name. A trial's value, beside its number, is the mean of its "
    "steady part. All on grey: no steady state; its value is the mean of its last half."
)
SHADE = " The shade is the range of the bins that a column stands for."


class ThreadSeries(Struct, frozen=True):
    """The time of a call over one thread of a trial: its bins reduced to the columns of a panel, ns."""

    mean: NDArray[np.float64]
    extent: tuple[NDArray[np.float64], NDArray[np.float64]] | None
    """Lowest and highest bin mean; None where the trials are too many to show it."""


SeriesByTrial = dict[int, list[ThreadSeries]]
"""By trial: one line per thread."""


def read_lines(path: Path, trials: int) -> SeriesByTrial:
    """Service times of every trial from the run's ``series.parquet``; empty where the run has none."""
    if not path.is_file():
        return {}
    columns = max(MIN_COLUMNS, min(COLUMNS, MAX_COLUMNS_IN_ALL // max(1, trials)))
    service = pl.scan_parquet(path).filter(pl.col("kind") == "service").sort("trial", "thread", "bin")
    frame = service.select("trial", "thread", "count", "mean").collect()
    lines: SeriesByTrial = defaultdict(list)
    for (trial, _), bins in frame.group_by(["trial", "thread"], maintain_order=True):
        lines[int(str(trial))].append(
            in_columns(bins["mean"].to_numpy(), bins["count"].to_numpy(), columns, trials < MANY)
        )
    return lines


def in_columns(
    means: NDArray[np.float64], counts: NDArray[np.uint32], columns: int, extent: bool = True
) -> ThreadSeries:
    """Bins to at most ``columns`` columns; every bin lies between a column's lowest and highest."""
    starts = np.linspace(0, len(means), min(columns, len(means)) + 1).astype(np.int64)[:-1]
    weights = np.add.reduceat(counts.astype(np.float64), starts)
    return ThreadSeries(
        mean=np.add.reduceat(means * counts, starts) / np.maximum(weights, 1),
        extent=(np.minimum.reduceat(means, starts), np.maximum.reduceat(means, starts)) if extent else None,
    )


def series(parts: list[PartView], trials: list[TrialRecord], lines: SeriesByTrial) -> Markup:
    """The section with all trials, in the order of the ranking, baselines first."""
    many = len(trials) >= MANY
    return section(
        "series",
        "Every trial over time",
        caption(READING, *SOURCES, more=MORE if many else MORE + SHADE),
        h(
            "div",
            [_part(view, trials, lines) for view in parts],
            class_="dense" if many else None,
        ),
        folded=True,
    )


def _part(view: PartView, trials: list[TrialRecord], lines: SeriesByTrial) -> Markup:
    rows: list[Markup | None] = []
    by_cell: dict[Cell, list[TrialRecord]] = defaultdict(list)
    for trial in trials:
        by_cell[trial.cell].append(trial)
    for row in (*view.baselines, *view.rows):
        for role in BASELINES if row.is_baseline else ("configuration",):
            rows.append(_row(_name(row, role), by_cell[row.cell.playing(role)], lines))
    return h("div", h("h4", view.part.title), rows, style=f"--blocks: {max(1, view.part.blocks)}")


def _name(row: ConfigurationFinding, role: Role) -> list[Child]:
    if not row.is_baseline:
        return who(row.agent_name, title_of(row))
    place = "first" if role == BASELINES[0] else "second"
    return who(row.agent_name, ", ".join(filter(None, (f"{place} of its block", heap_words(row.heap_bytes)))))


def _row(name: list[Child], trials: list[TrialRecord], lines: SeriesByTrial) -> Markup | None:
    if not trials:
        return None
    drawn = [line for trial in trials for line in lines.get(trial.number, [])]
    top = HEADROOM * max((float(np.quantile(line.mean, TYPICAL_TOP)) for line in drawn), default=1.0)
    scale = h("span", f"0 to {numbers.duration(top, 2)}", class_="muted scale") if drawn else None
    ordered = sorted(trials, key=lambda trial: (trial.block, trial.attempt))
    panels = [_panel(trial, lines.get(trial.number, []), top) for trial in ordered]
    return h("div", h("h5", name, " ", scale), h("ul", panels, class_="panels"), class_="series")


def _panel(trial: TrialRecord, lines: list[ThreadSeries], top: float) -> Markup:
    again = f", attempt {trial.attempt}" if trial.attempt > 1 else ""
    link = h("a", f"trial {trial.number}", href=f"trials/{trial.number:04d}/record.json")
    value = h("b", numbers.duration(trial.service.mean)) if trial.service else None
    label = h("p", h("span", f"block {trial.block}{again} · ", link), value)
    if trial.status == "failed":
        log = h("a", "its log", href=f"logs/{trial.number:04d}/stderr.txt")
        reasons = ", ".join(verdict.code for verdict in trial.verdicts) or "failed"
        return h("li", h("p", "✗ ", reasons, ": ", log, class_="empty failure"), label)
    if not lines:
        return h("li", h("p", "no series kept", class_="empty"), label)
    return h("li", _plot(trial, lines, top), label)


def _plot(trial: TrialRecord, lines: list[ThreadSeries], top: float) -> Markup:
    width = max(len(line.mean) for line in lines)
    share = unsteady_share(trial.steady) if trial.steady else 0.0
    before = h("rect", width=f"{share * width:.1f}", height=str(HEIGHT), class_="unsteady") if share > 0 else None
    extent = lines[0].extent if len(lines) == 1 else None
    shade = h("path", d=_envelope(*extent, top), class_="spread") if extent else None
    return h(
        "svg",
        before,
        shade,
        [h("path", d=_polyline(line.mean, top), class_="line") for line in lines],
        viewBox=f"0 0 {width} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=_description(trial),
    )


def _description(trial: TrialRecord) -> str:
    text = f"Trial {trial.number}, block {trial.block}: time of a call over the trial"
    text += f", {KINDS[trial.steady.kind]}" if trial.steady else ""
    return text + (f": {numbers.duration(trial.service.mean)}" if trial.service else "")


def unsteady_share(steady: SteadyPart) -> float:
    """The share of a trial's bins that lie before its steady part; all of them where it has none."""
    if steady.kind == "no-steady-state":
        return 1.0
    return steady.first_bin / (steady.first_bin + steady.bins)


def _heights(values: NDArray[np.float64], top: float) -> list[int]:
    return [int(y) for y in np.clip(np.rint(HEIGHT - values / top * HEIGHT), 0, HEIGHT)]


def _polyline(values: NDArray[np.float64], top: float) -> str:
    """A path of one unit steps, relative, so that a point costs about five bytes."""
    heights = _heights(values, top)
    steps = (f"l1 {after - before}" for before, after in pairwise(heights))
    return f"M0 {heights[0]}" + "".join(steps)


def _envelope(low: NDArray[np.float64], high: NDArray[np.float64], top: float) -> str:
    above, below = _heights(high, top), _heights(low, top)
    forth = "".join(f"l1 {after - before}" for before, after in pairwise(above))
    back = below[::-1]
    return (
        f"M0 {above[0]}{forth}V{back[0]}" + "".join(f"l-1 {after - before}" for before, after in pairwise(back)) + "Z"
    )
