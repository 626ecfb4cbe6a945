"""What functions cost beyond what a service does: a cold start in parts, time inside the function, money."""

from tracetax.report.functions import FunctionTable, function_tables
from tracetax.report.page.html import BEHIND, Markup, caption, h, scrolling, section, who
from tracetax.report.views import PartView, baseline_title, caveat, rows_id, title_of, workload_words


def functions(parts: list[PartView]) -> Markup | None:
    """The section with one table per part; None where no function was measured."""
    tables = function_tables(parts)
    if not tables:
        return None
    reading = caption(tables[0].meaning, "findings.json", "measures.parquet", BEHIND)
    return section("functions", "Inside the functions", reading, [_part(table) for table in tables])


def _part(table: FunctionTable) -> Markup:
    headings = [h("th", "Agent and configuration", class_="name", scope="col")]
    headings += [h("th", head, class_="number", scope="col") for head in table.heads]
    part = table.view.part
    body: list[Markup] = []
    for line in table.lines:
        row = line.row
        title = baseline_title(row) if row.is_baseline else title_of(row)
        cells = [
            h("td", cell, class_="number", data_label=head) for head, cell in zip(table.heads, line.cells, strict=True)
        ]
        name = h("th", who(row.agent_name, title, rows_id(row), caveat(row)), class_="name", scope="row")
        body.append(h("tr", name, cells))
    whole = h(
        "table",
        h("caption", f"{part.title}: {table.title} ", h("span", workload_words(part.parameters), class_="muted")),
        h("thead", h("tr", headings)),
        h("tbody", body),
        class_="wide account",
    )
    return scrolling(f"{part.title}: {table.title}", whole)
