"""What follows from the rows in sentences, each with links to the rows it rests on."""

from tracetax.report import numbers
from tracetax.report.page.html import Child, Markup, h, section
from tracetax.report.views import rows_id
from tracetax.results.findings import Findings


def statements(findings: Findings) -> Markup | None:
    """The section with every sentence that follows from the rows; None where none does."""
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
    return section("words", "In words", h("ul", items, class_="statements"))
