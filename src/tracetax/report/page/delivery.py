"""Whether the records arrived: bars per configuration, with the rates at which they were offered and carried."""

from collections.abc import Iterator

from tracetax.report import numbers
from tracetax.report.page.html import (
    BEHIND,
    Child,
    Markup,
    caption,
    h,
    pattern_of,
    section,
    swatch,
    who,
)
from tracetax.report.views import (
    Group,
    PartView,
    group_of_row,
    half_width,
    measure,
    promises,
    rows_id,
    title_of,
    workload_words,
)
from tracetax.results.findings import ConfigurationFinding, Findings

READING = (
    "A full bar is everything that was promised. What drops when its queue is full does so by design, at the rate "
    "beside it."
)
MORE = (
    "Records of the measured calls of all blocks, counted at the sink. Reported as dropped: what the agent's log "
    "or its protocol admits. Unaccounted for: neither arrived nor admitted."
)
NOTHING = "No configuration of this run promises records."
KEY = {
    "received": "received",
    "dropped": "reported as dropped",
    "deleted": "oldest files deleted, by design",
    "kernel": "lost in this machine's kernel, not by the agent",
    "silent": "unaccounted for",
}
RARE = ("deleted", "kernel")
"""In the key only where there are any."""
BEYOND = {
    Group.DROPS: "drops by design",
    Group.PARTIAL: "leaves out by design",
    Group.LOST: "lost",
}
COLUMNS = ("Agent and configuration", "", "Arrived", "Offered", "Carried while the calls ran")


def delivery(parts: list[PartView], findings: Findings) -> Markup:
    """The section with one bar per configuration that promises records, and sentences on what is missing."""
    promising = [(view, [row for row in view.rows if _promises(row)]) for view in parts]
    tables = [_part(view, rows) for view, rows in promising if rows]
    shown = {name for _, rows in promising for row in rows for name, share in shares(row) if share > 0}
    key = [h("span", swatch(name), words) for name, words in KEY.items() if name in shown or name not in RARE]
    return section(
        "delivery",
        "Whether the records arrived",
        [caption(READING, "findings.json", BEHIND, more=MORE), h("p", key, class_="key caption"), tables]
        if tables
        else NOTHING,
        _statements(findings),
    )


def _statements(findings: Findings) -> Markup | None:
    """What was dropped, cut, sampled and received, in sentences with links to the rows they rest on."""
    if not findings.statements:
        return None
    ids: dict[str, str] = {}
    for row in findings.configurations:
        key = "/".join(name for name in (row.part, row.agent, row.configuration, row.build, row.backend) if name)
        ids.setdefault(key, rows_id(row))
    items: list[Markup] = []
    for statement in findings.statements:
        links: list[Child] = [
            [", " if number else " Rows: ", h("a", key, href=f"#{ids[key]}")]
            for number, key in enumerate(key for key in statement.rests_on if key in ids)
        ]
        items.append(h("li", numbers.unbroken(statement.text), h("small", links) if links else None))
    return h("ul", items, class_="statements")


def _promises(row: ConfigurationFinding) -> bool:
    return promises(row) and row.records.expected > 0


def _part(view: PartView, rows: list[ConfigurationFinding]) -> Markup:
    headings = [
        h("th", name or "Share of the records expected", class_=class_, scope="col", role="columnheader")
        for name, class_ in zip(COLUMNS, ("name", "plot", "number overhead", "number offered", "words"), strict=True)
    ]
    return h(
        "table",
        h("caption", view.part.title, " ", h("span", workload_words(view.part.parameters), class_="muted")),
        h("thead", h("tr", headings, role="row"), role="rowgroup"),
        h("tbody", [_row(row) for row in rows], role="rowgroup"),
        class_="forest delivery",
        role="table",
    )


def _row(row: ConfigurationFinding) -> Markup:
    records = row.records
    offered = numbers.per_second([records.offered_per_second], "records") if records.offered_per_second else "–"
    return h(
        "tr",
        h("th", who(row.agent_name, title_of(row), rows_id(row)), class_="name", scope="row", role="rowheader"),
        h("td", _bar(row), class_="plot", role="cell"),
        h("td", numbers.percent(records.completeness or 0.0), class_="number overhead", role="cell"),
        h("td", offered, class_="number offered", role="cell", data_label="Offered"),
        h("td", carries(row), class_="words", role="cell"),
        role="row",
    )


def carries(row: ConfigurationFinding) -> Child:
    """What the configuration carried at this rate; up to which rate it is complete takes a search, and is not said."""
    rate = measure(row, "delivery_rate")
    group = group_of_row(row)
    if group is Group.FAILED:
        return "no result: its row under Cost says why"
    if group is Group.DELIVERS:
        return "deferred: most arrived after the last call" if row.deferred else "everything offered"
    if rate is None:
        return "–"
    carried, margin = numbers.measured(rate.estimate, half_width(rate))
    return f"{carried}{f' ± {margin}' if margin else ''} records/s of those offered; the others it {BEYOND[group]}"


def _bar(row: ConfigurationFinding) -> Markup:
    segments: list[Markup] = []
    left = 0.0
    for name, share in shares(row):
        if share > 0:
            width = max(share, 0.003)
            segments.append(
                h(
                    "rect",
                    x=f"{left * 100:.2f}%",
                    width=f"{width * 100:.2f}%",
                    y="50%",
                    height="12",
                    **pattern_of(name),
                    class_=f"part {name}",
                )
            )
        left += share
    frame = h("rect", x="0", width="100%", y="50%", height="12", class_="frame")
    return h("svg", segments, frame, class_="strip bar", aria_hidden="true", focusable="false")


def shares(row: ConfigurationFinding) -> Iterator[tuple[str, float]]:
    """Received, reported as dropped, and missing, by design or without a word: each as a share of what was expected."""
    records = row.records
    received = min(records.received, records.expected)
    dropped = min(records.dropped_reported, records.expected - received)
    kernel = min(records.lost_in_kernel, records.expected - received - dropped)
    missing = "deleted" if any(verdict.code == "oldest-deleted" for verdict in row.verdicts) else "silent"
    yield "received", received / records.expected
    yield "dropped", dropped / records.expected
    yield "kernel", kernel / records.expected
    yield missing, (records.expected - received - dropped - kernel) / records.expected
