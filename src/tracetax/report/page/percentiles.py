"""How the time of a call is distributed, per configuration: a strip of percentiles and their numbers."""

from tracetax.report import numbers
from tracetax.report.kinds import call_noun
from tracetax.report.page import axis as axes
from tracetax.report.page.axis import Axis
from tracetax.report.page.html import BEHIND, Child, Markup, caption, h, plus_minus, scrolling, section, who
from tracetax.report.views import (
    PartView,
    baseline_title,
    caveat,
    errors,
    half_width,
    lopsided,
    measure,
    rows_id,
    title_of,
    workload_words,
)
from tracetax.results.findings import ConfigurationFinding, Measure, MeasureName
from tracetax.words import one

QUANTILES = ("mean", "p50", "p90", "p99", "p99.9", "max")
KINDS: dict[str, tuple[MeasureName | None, ...]] = {
    "service": (
        "service_time",
        "service_time_median",
        "service_time_p90",
        "service_time_p99",
        "service_time_p99_9",
        "service_time_max",
    ),
    "response": (
        "response_time",
        "response_time_median",
        "response_time_p90",
        "response_time_p99",
        "response_time_p99_9",
        None,
    ),
    "lateness": (None, "lateness_median", None, "lateness_p99", None, None),
}


SCALE = 24
"""Letters that have room below the plot beside the numbers of this table."""
READING = (
    "From the median (tick) to p99 (thick) and p99.9 (thin), logarithmic: a long line means a few very slow {noun}s."
)
MORE = (
    "Service time is start to end of {one}; response time counts from when the {noun} was due; lateness is what "
    "lies between. Of the steady part of each start: the mean of the starts' own percentiles and maxima, with 95 % "
    "intervals; wide ones are given by their ends. A percentile is left out where a start has fewer than ten {noun}s "
    "beyond it."
)


def percentiles(parts: list[PartView], clock_tick_ns: float) -> Markup:
    """The section with one table per part; the clock's tick is told where it is known."""
    noun = call_noun(parts[0].part)
    reading, more = (text.replace("{noun}", noun).replace("{one}", one(noun)) for text in (READING, MORE))
    tick = f" The clock's tick is {clock_tick_ns:.0f} ns; starts that agree within it are known to a tick."
    return section(
        "percentiles",
        f"How the time of {one(noun)} is distributed",
        caption(reading, "findings.json", "distributions.parquet", BEHIND, more=more + (tick if clock_tick_ns else "")),
        [_part(view) for view in parts],
        folded=True,
    )


def _part(view: PartView) -> Markup:
    rows = [row for row in (*view.baselines, *view.rows) if not errors(row) and row.measures]
    values = [m.estimate for row in rows for names in KINDS.values() for name in names[1:5] if (m := _get(row, name))]
    axis = axes.logarithmic(values, SCALE)
    headings = [
        h("th", "Agent and configuration", class_="name", scope="col"),
        h("th", "Time", class_="kind", scope="col"),
        h("th", "p50 to p99.9", class_="plot", scope="col"),
        *(h("th", name, class_="number", scope="col") for name in QUANTILES),
    ]
    scale = h("td", axes.tick_labels(axis, as_duration=True), class_="plot")
    foot = h("tr", h("td"), h("td"), scale, [h("td") for _ in QUANTILES])
    table = h(
        "table",
        h("caption", view.part.title, " ", h("span", workload_words(view.part.parameters), class_="muted")),
        h("thead", h("tr", headings)),
        [_row(row, axis) for row in rows],
        h("tfoot", foot, aria_hidden="true"),
        class_="wide strips",
    )
    return scrolling(f"{view.part.title}: percentiles of the time of {one(call_noun(view.part))}", table)


def _get(row: ConfigurationFinding, name: MeasureName | None) -> Measure | None:
    return measure(row, name) if name else None


def _row(row: ConfigurationFinding, axis: Axis) -> Markup:
    kinds = [(kind, [_get(row, name) for name in names]) for kind, names in KINDS.items()]
    kinds = [(kind, quantiles) for kind, quantiles in kinds if any(quantiles)]
    title = baseline_title(row) if row.is_baseline else title_of(row)
    name = h(
        "th",
        who(row.agent_name, title, rows_id(row), caveat(row)),
        class_="name",
        scope="rowgroup",
        rowspan=len(kinds),
    )
    rows = [
        h(
            "tr",
            name if number == 0 else None,
            h("td", kind, class_="kind"),
            h("td", _strip(quantiles, axis), class_="plot"),
            [
                h("td", duration_of(of), class_="number", data_label=name)
                for name, of in zip(QUANTILES, quantiles, strict=True)
            ],
        )
        for number, (kind, quantiles) in enumerate(kinds)
    ]
    return h("tbody", rows)


def duration_of(of: Measure | None) -> Child:
    """A time with its half-width, or with both ends of its interval where that is lopsided."""
    if of is None:
        return ""
    if of.ci95 is not None and lopsided(of):
        value, ends, unit = numbers.spanned_duration(of.estimate, *of.ci95)
        return h("span", h("b", value), h("i", f"{numbers.SPACE}({ends})"), f" {unit}", class_="pm")
    return plus_minus(*numbers.measured_duration(of.estimate, half_width(of)))


def _strip(quantiles: list[Measure | None], axis: Axis) -> Markup:
    """Median as a tick, thick to p99, thin to p99.9."""
    median, _, p99, p999 = quantiles[1], quantiles[2], quantiles[3], quantiles[4]
    parts: list[Markup] = []
    for end, name in ((p999, "tail"), (p99, "body")):
        if median and end:
            x1, x2 = axis.at(median.estimate), axis.at(end.estimate)
            parts.append(h("line", x1=x1, x2=x2, y1="50%", y2="50%", class_=name))
    if median:
        x = axis.at(median.estimate)
        parts.append(h("line", x1=x, x2=x, y1="25%", y2="75%", class_="median"))
    return h("svg", axes.grid(axis), parts, class_="strip", aria_hidden="true", focusable="false")
