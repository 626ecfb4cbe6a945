"""Every record accounted for: what was promised, what came, what is missing and what nobody asked for."""

from tracetax.report import numbers
from tracetax.report.kinds import calls_itself
from tracetax.report.page.html import BEHIND, Child, Markup, caption, h, scrolling, section, who
from tracetax.report.views import PartView, rows_id, title_of, workload_words
from tracetax.results.findings import ConfigurationFinding

COLUMNS = (
    "Expected",
    "Received",
    "Reported as dropped",
    "Missing",
    "Complete trees",
    "Partial trees",
    "Orphans",
    "Duplicates",
    "Malformed",
    "Evicted",
    "Unexpected names",
    "Bytes per record",
)
READING = "All blocks together, measured calls only: expected = received + reported as dropped + missing."
MORE = (
    "Missing: neither arrived nor admitted as dropped; of a configuration that deletes its oldest files, those; "
    "of one that sends datagrams, also what this machine's kernel lost. "
    "{trees}Unexpected names (constructors, say) are those of the warm-up too; they count for nothing else."
)
TREES = (
    "A tree is one call with all its invocations; an orphan's parent never came; evicted is what the sink could not "
    "hold. "
)
NO_TREES = "Of a service, records alone are counted: trees are not looked at. "
NOTHING = "No configuration of this run promises records."


def account(parts: list[PartView]) -> Markup:
    """The section with one table per part."""
    tables = [_part(view) for view in parts if any(row.records.expected for row in view.rows)]
    more = MORE.replace("{trees}", TREES if calls_itself(parts[0].part) else NO_TREES)
    return section(
        "account",
        "The account of all records",
        [caption(READING, "findings.json", "measures.parquet", BEHIND, more=more), tables] if tables else NOTHING,
        folded=True,
    )


def _part(view: PartView) -> Markup:
    rows = [row for row in view.rows if row.records.expected]
    headings = [h("th", "Agent and configuration", class_="name", scope="col")]
    headings += [h("th", name, class_="number", scope="col") for name in COLUMNS]
    table = h(
        "table",
        h("caption", view.part.title, " ", h("span", workload_words(view.part.parameters), class_="muted")),
        h("thead", h("tr", headings)),
        h("tbody", [_row(row) for row in rows]),
        class_="wide account",
    )
    return scrolling(f"{view.part.title}: account of all records", table)


def _row(row: ConfigurationFinding) -> Markup:
    of = row.records
    silent = max(0, of.expected - of.received - of.dropped_reported)
    names: list[Child] = [
        h("small", f" {name}:{numbers.SPACE}{number:,}", class_="names") for name, number in of.unexpected.items()
    ]
    values: tuple[Child, ...] = (
        *map(_count, (of.expected, of.received, of.dropped_reported, silent)),
        [numbers.count(of.complete_trees), h("small", f" of {of.expected_trees:,}")],
        *map(_count, (of.partial_trees, of.orphans, of.duplicates, of.malformed, of.evicted)),
        [_count(of.unexpected_names), names],
        f"{of.bytes / of.received:,.0f}" if of.received else "–",
    )
    cells = [
        h("td", h("span", value), class_="number", data_label=name) for name, value in zip(COLUMNS, values, strict=True)
    ]
    return h("tr", h("th", who(row.agent_name, title_of(row), rows_id(row)), class_="name", scope="row"), cells)


def _count(number: int) -> Child:
    return numbers.count(number) if number else h("span", "0", class_="muted")
