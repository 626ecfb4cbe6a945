"""Response times of a service by percentile, one curve for each configuration, on an axis that widens the tail."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from msgspec import Struct

from tracetax.kinds import declaration_of
from tracetax.report import numbers
from tracetax.report.page import axis as axes
from tracetax.report.page.axis import Axis
from tracetax.report.page.html import BEHIND, Markup, caption, h, scrolling, section
from tracetax.report.views import PartView, baseline_title, errors, title_of, workload_words
from tracetax.results.findings import ConfigurationFinding
from tracetax.results.records import BASELINES, Cell, TrialRecord
from tracetax.statistics.intervals import Floats
from tracetax.statistics.quantiles import quantiles

FEWEST_BEYOND = 10
"""Requests of every start that lie beyond the last point of a curve."""
STEP = 0.1
"""Between two points of a curve, in powers of ten of the share of requests that are slower."""
MARKED = {0.5: "p50", 0.9: "p90", 0.99: "p99", 0.999: "p99.9", 0.9999: "p99.99"}
STYLES = 6
"""Curves that are told apart by colour and dashes; further ones begin anew."""
READING = "Left to right ever fewer requests are slower: half, a tenth, a hundredth. Both axes are logarithmic."
MORE = (
    "Response time counts from when the request was due. Of the steady part of each start its own quantiles, and of "
    "these the mean over starts. A curve ends where fewer than ten requests of a start lie beyond. Curves that lie "
    "apart at p50 cost every request; ones that part on the right cost the slow ones."
)


class Curve(Struct, frozen=True):
    """A row's response times, ns, at shares of requests that are faster, ascending; shape (n,) each."""

    row: ConfigurationFinding
    shares: Floats
    times: Floats


Times = dict[int, tuple[Floats, Floats]]
"""By trial: distinct response times of its steady part, ns, and how often each was."""


def curves(parts: list[PartView], trials: Sequence[TrialRecord], distributions: Path) -> Markup | None:
    """The section with one plot per part; None where no service was measured, or the run has no distributions."""
    views = [view for view in parts if not declaration_of(view.part.parameters).calls_itself]
    good = [trial for trial in trials if trial.status == "ok" and trial.response and trial.steady]
    if not views or not good or not distributions.is_file():
        return None
    times = read_times(distributions, good)
    by_cell: dict[Cell, list[int]] = defaultdict(list)
    for trial in good:
        by_cell[trial.cell].append(trial.number)
    plots = [plot for view in views if (plot := _plot(view, _curves(view, by_cell, times)))]
    if not plots:
        return None
    text = caption(READING, "distributions.parquet", BEHIND, more=MORE)
    return section("curves", "Response times by percentile", text, plots, folded=True)


def read_times(distributions: Path, trials: Sequence[TrialRecord]) -> Times:
    """The response times of trials from the run's ``distributions.parquet``."""
    first = {trial.number: trial.steady.first_bin for trial in trials if trial.steady}
    steady = pl.DataFrame(
        {"trial": list(first), "first": list(first.values())}, schema={"trial": pl.UInt32, "first": pl.UInt16}
    )
    frame = (
        pl.scan_parquet(distributions)
        .filter(pl.col("kind") == "response")
        .join(steady.lazy(), on="trial")
        .filter(pl.col("bin") >= pl.col("first"))
        .group_by("trial", "duration")
        .agg(pl.col("count").sum())
        .collect()
    )
    return {
        int(str(trial)): (rows["duration"].to_numpy().astype(np.float64), rows["count"].to_numpy().astype(np.float64))
        for (trial,), rows in frame.group_by("trial")
    }


def _curves(view: PartView, by_cell: dict[Cell, list[int]], times: Times) -> list[Curve]:
    found: list[Curve] = []
    for row in (*view.baselines, *view.rows):
        roles = BASELINES if row.is_baseline else ("configuration",)
        own = [times[number] for role in roles for number in by_cell[row.cell.playing(role)] if number in times]
        if own and not errors(row):
            found.append(curve(row, own))
    return found


def curve(row: ConfigurationFinding, starts: Sequence[tuple[Floats, Floats]]) -> Curve:
    """A row's curve: the mean of the quantiles of its starts, as far as each of them knows them."""
    fewest = min(float(counts.sum()) for _, counts in starts)
    last = max(np.log10(fewest / FEWEST_BEYOND), np.log10(2.0))
    slower = np.arange(np.log10(2.0), last + 1e-9, STEP)
    shares = 1 - 10.0**-slower
    each = np.array([quantiles(values, counts, shares) for values, counts in starts])
    return Curve(row, shares, each.mean(axis=0))


def _plot(view: PartView, found: list[Curve]) -> Markup | None:
    if not found:
        return None
    across = Axis(_beyond(0.5) * 0.97, max(float(_beyond(one.shares[-1])) for one in found) * 1.02 + 0.05, ())
    up = axes.logarithmic([float(value) for one in found for value in one.times])
    key = [h("span", _sample(place), _name(one.row)) for place, one in enumerate(found)]
    words = h("span", workload_words(view.part.parameters), class_="muted")
    drawing = h(
        "svg",
        _frame(across, up),
        [_line(one, across, up, place % STYLES) for place, one in enumerate(found)],
        class_="curves",
        role="img",
        aria_label=f"{view.part.title}: response times by percentile. The table of percentiles has the numbers.",
    )
    return h(
        "div",
        h("h4", view.part.title),
        h("p", words),
        h("p", key, class_="key caption"),
        scrolling(f"{view.part.title}: response times by percentile", drawing),
    )


def _name(row: ConfigurationFinding) -> str:
    return f"{row.agent_name} {baseline_title(row) if row.is_baseline else title_of(row)}"


def _beyond(share: float) -> float:
    """Where a share of faster requests stands: in powers of ten of the slower ones."""
    return float(-np.log10(1 - share))


def _up(axis: Axis, value: float) -> str:
    return f"{(1 - axis.share(value)) * 100:.2f}%"


def _frame(across: Axis, up: Axis) -> list[Markup]:
    """Lines and words at round shares and at powers of ten of the time."""
    lines: list[Markup] = []
    for share, name in MARKED.items():
        if _beyond(share) <= across.high:
            x = across.at(_beyond(share))
            lines.append(h("line", x1=x, x2=x, y1="0", y2="100%", class_="grid"))
            lines.append(h("text", name, x=x, y="100%", dy="1.1em", text_anchor="middle"))
    for tick in _round(up):
        y = _up(up, tick)
        lines.append(h("line", x1="0", x2="100%", y1=y, y2=y, class_="grid"))
        lines.append(h("text", numbers.duration(tick, 1), x="0", y=y, dx="-.4em", dy=".3em", text_anchor="end"))
    return lines


def _round(up: Axis) -> list[float]:
    """One, two and five times each power of ten on the axis."""
    powers = range(int(np.floor(np.log10(up.low))), int(np.ceil(np.log10(up.high))) + 1)
    steps = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    return [step for step in steps if up.low <= step <= up.high]


def _line(one: Curve, across: Axis, up: Axis, style: int) -> Markup:
    """A path in per cent of the plot, in a drawing of its own that is stretched over it."""
    points = [
        f"{across.share(_beyond(float(share))) * 100:.2f} {(1 - up.share(float(time))) * 100:.2f}"
        for share, time in zip(one.shares, one.times, strict=True)
    ]
    path = h("path", d="M" + "L".join(points), class_=f"curve c{style}")
    return h("svg", path, viewBox="0 0 100 100", preserveAspectRatio="none", width="100%", height="100%")


def _sample(place: int) -> Markup:
    line = h("line", x1="0", x2="100%", y1="50%", y2="50%", class_=f"curve c{place % STYLES}")
    return h("svg", line, class_="swatch", aria_hidden="true", focusable="false")
