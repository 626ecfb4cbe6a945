"""The core of the page: each part as a forest plot whose rows carry their numbers."""

from tracetax.model import Delivery
from tracetax.report import numbers
from tracetax.report.page import axis as axes
from tracetax.report.page.axis import Axis
from tracetax.report.page.html import Child, Markup, caption, h, plus_minus, section, who
from tracetax.report.views import (
    LABEL_MEANINGS,
    STOPPED,
    Group,
    PartView,
    errors,
    group_title,
    half_width,
    labels,
    loss,
    measure,
    overhead,
    workload_words,
)
from tracetax.results.findings import ConfigurationFinding, Measure

BAR = 12
COLUMNS = {
    "Rank": "rank",
    "Agent and configuration": "name",
    "Overhead per invocation, ns": "plot",
    "mean ± 95 %, ns": "number overhead",
    "Ratio of calls": "number ratio",
    "p99 of a call": "number tail-time",
    "Records": "number arrived",
}
READING = (
    "Overhead per invocation against the baselines of the same block, mean over blocks with its 95 % interval; further "
    "left is cheaper. Shaded: the A/A band, within which baseline differs from baseline in 95 % of runs. CPU of the "
    "agent's own threads is in it only where it keeps the caller from running. The ratio is to calls that do little."
)
MARKS = {
    Group.DELIVERS: "filled",
    Group.DROPS: "hollow",
    Group.PARTIAL: "hollow",
    Group.LOST: "hollow",
    Group.SILENT: "diamond",
}


def ranking(parts: list[PartView], clock_tick_ns: float) -> Markup:
    """The section with one forest plot per part. No interval of a quantile is narrower than the clock's tick."""
    return section(
        "ranking",
        "What it costs the traced thread",
        caption(READING, "findings.json", "measures.parquet"),
        [_part(view, clock_tick_ns) for view in parts],
        _meanings(parts),
    )


def _part(view: PartView, tick: float) -> Markup:
    axis = axes.linear(_extent(view))
    headings = [_heading(name, class_) for name, class_ in COLUMNS.items()]
    measured = [_group(view, group, axis, tick) for group in view.groups if group is not Group.FAILED]
    failed = [_group(view, group, axis, tick) for group in view.groups if group is Group.FAILED]
    return h(
        "section",
        h("h3", view.part.title, " ", h("span", workload_words(view.part.parameters), class_="muted"), id=_id(view)),
        h("p", _background(view), class_="muted"),
        h(
            "table",
            h("caption", f"{view.part.title}: overhead per invocation", class_="visually-hidden"),
            h("thead", h("tr", headings, role="row"), role="rowgroup"),
            measured,
            h("tbody", _axis_row(axis), role="rowgroup") if measured else None,
            failed,
            class_="forest",
            role="table",
        ),
        aria_labelledby=_id(view),
    )


def _id(view: PartView) -> str:
    return "part-" + "".join(letter if letter.isalnum() else "-" for letter in view.part.name)


def _extent(view: PartView) -> list[float]:
    values: list[float] = []
    for row in view.rows:
        of = overhead(row)
        if of is not None and not errors(row):
            values += [of.estimate, *(of.ci95 or ())]
        band = view.half_width(view.band_of(row.heap_bytes))
        values += [-band, band] if band is not None else []
    return values


def _background(view: PartView) -> list[Child]:
    times: list[Child] = []
    for baseline in view.baselines:
        time = measure(baseline, "service_time")
        if time is not None:
            heap = f" (heap {numbers.size(baseline.heap_bytes)})" if len(view.baselines) > 1 else ""
            times += [
                ", " if times else "",
                plus_minus(*numbers.measured(time.estimate, half_width(time)), "ns"),
                heap,
                [[" ", h("span", note, class_="label")] for note in labels(baseline, view.part)],
            ]
    blocks = f"{view.part.blocks} {'block' if view.part.blocks == 1 else 'blocks'}, {STOPPED[view.part.stopped]}"
    band = view.half_width(view.band)
    spread = (
        f"A/A band ±{numbers.measured(band, band)[1]} ns per invocation{numbers.SEPARATOR}" if band is not None else ""
    )
    indicative: Child = [numbers.SEPARATOR, h("strong", "indicative")] if view.part.indicative else None
    return [["Without an agent a call takes ", times, numbers.SEPARATOR] if times else None, spread, blocks, indicative]


def _heading(name: str, class_: str) -> Markup:
    label: Child = name if class_ != "rank" else h("span", name, class_="visually-hidden")
    return h("th", label, class_=class_, scope="col", role="columnheader")


def _axis_row(axis: Axis) -> Markup:
    cells = [h("td", role="cell"), h("td", role="cell"), h("td", axes.labels(axis), class_="plot", role="cell")]
    cells += [h("td", role="cell") for _ in list(COLUMNS)[3:]]
    return h("tr", cells, role="row", class_="axis-row", aria_hidden="true")


def _group(view: PartView, group: Group, axis: Axis, tick: float) -> Markup:
    rows = view.groups[group]
    head = h("th", group_title(group, rows), colspan=len(COLUMNS), scope="rowgroup", role="rowheader")
    body = [_failed(row) if group is Group.FAILED else _row(view, group, row, axis, tick) for row in rows]
    return h("tbody", h("tr", head, class_="group", role="row"), body, role="rowgroup")


def _name(row: ConfigurationFinding, notes: Child = None) -> Markup:
    return h("th", who(row.agent_name, row.title), notes, class_="name", scope="row", role="rowheader")


def _row(view: PartView, group: Group, row: ConfigurationFinding, axis: Axis, tick: float) -> Markup:
    notes: list[Child] = [h("span", note, class_="label") for note in labels(row, view.part)]
    if group in (Group.LOST, Group.PARTIAL):
        notes.append(h("span", loss(row), class_="note"))
    cost, ratio = overhead(row), measure(row, "overhead_ratio")
    p99 = measure(row, "service_time_p99")
    rank = str(row.rank) if group is Group.DELIVERS and row.rank is not None else ""
    return h(
        "tr",
        h("td", rank, class_="rank", role="cell"),
        _name(row, [" ", notes] if notes else None),
        h("td", _plot(view, group, row, axis), class_="plot", role="cell"),
        _number("overhead", plus_minus(*numbers.measured(cost.estimate, half_width(cost))) if cost else "–"),
        _number("ratio", f"× {numbers.measured(ratio.estimate, half_width(ratio))[0]}" if ratio else "–", "ratio"),
        _number("tail-time", _time(p99, tick), "p99"),
        _number("arrived", _records(row), "records"),
        class_=MARKS[group],
        role="row",
    )


def _number(class_: str, content: Child, label: str | None = None) -> Markup:
    return h("td", content, class_=f"number {class_}", role="cell", data_label=label)


def _time(of: Measure | None, tick: float) -> Child:
    if of is None:
        return "–"
    margin = half_width(of)
    return plus_minus(*numbers.measured_duration(of.estimate, margin if margin is None else max(margin, tick)))


def _records(row: ConfigurationFinding) -> Child:
    if row.delivery == Delivery.NONE or row.records.completeness is None:
        return h("span", "none promised", class_="muted")
    return numbers.percent(row.records.completeness)


def _failed(row: ConfigurationFinding) -> Markup:
    sentences = [verdict.text for verdict in errors(row)] or ["No block of it was completed."]
    texts = [h("p", h("span", "✗ ", aria_hidden="true"), text) for text in sentences]
    cell = h("td", texts, colspan=len(COLUMNS) - 2, class_="failure", role="cell")
    return h("tr", h("td", class_="rank", role="cell"), _name(row), cell, class_="failed", role="row")


def _plot(view: PartView, group: Group, row: ConfigurationFinding, axis: Axis) -> Markup:
    band = view.half_width(view.band_of(row.heap_bytes))
    shade = h("rect", **_span(axis, -band, band), y="0", height="100%", class_="band") if band is not None else None
    cost = overhead(row)
    low, high = (cost.ci95 or (cost.estimate, cost.estimate)) if cost else (0.0, 0.0)
    return h(
        "svg",
        shade,
        axes.grid(axis),
        h("rect", **_span(axis, low, high), y="50%", height=str(BAR), class_="interval"),
        _mark(axis.at(cost.estimate), MARKS[group]) if cost else None,
        class_="strip",
        aria_hidden="true",
        focusable="false",
    )


def _span(axis: Axis, low: float, high: float) -> dict[str, str]:
    return {"x": axis.at(low), "width": f"{(axis.share(high) - axis.share(low)) * 100:.2f}%"}


def _mark(x: str, kind: str) -> Markup:
    """A row's mark; its shape says the group, so that nothing hangs on colour alone."""
    if kind == "diamond":
        return h("svg", h("path", d="M0-3.5 3.5 0 0 3.5-3.5 0Z", class_="mark"), x=x, y="50%", overflow="visible")
    return h("circle", cx=x, cy="50%", r="3", class_="mark")


def _notes(view: PartView, row: ConfigurationFinding) -> list[str]:
    return [] if errors(row) else labels(row, view.part)


def _meanings(parts: list[PartView]) -> Markup | None:
    notes = (note for view in parts for row in (*view.baselines, *view.rows) for note in _notes(view, row))
    used = dict.fromkeys(note for note in notes if note in LABEL_MEANINGS)
    items = [h("li", h("span", note, class_="label"), LABEL_MEANINGS[note]) for note in used]
    return h("ul", items, class_="meanings caption") if items else None
