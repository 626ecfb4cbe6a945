"""Rows of agents that count calls instead of recording them."""

import io
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console

from tests.report.fake_run import fake_run
from tests.report.reading import text, written
from tests.report.sample_findings import sample_findings, with_row
from tests.settings import tree
from tracetax.report.terminal import render
from tracetax.report.views import Group, caveat, counted, group_heading, views
from tracetax.results.findings import Findings, find_measure


def counting(received: int) -> Findings:
    """The sample with a row that counted so many calls."""
    findings = sample_findings()
    model = next(row for row in findings.configurations if row.part == "full-speed" and row.agent == "kieker")
    made = model.parameters.calls * tree(model.parameters).depth * 5
    records = replace(
        model.records, expected=0, received=received, completeness=None, expected_trees=0, complete_trees=0, made=made
    )
    per_invocation = tuple(measure for measure in model.measures if measure.per != "record")
    return with_row(
        findings,
        configuration="counted",
        title="counts calls",
        delivery="aggregated",
        rank=None,
        records=records,
        measures=per_invocation,
    )


def test_a_row_that_counts_stands_apart_and_says_of_how_many() -> None:
    view = next(view for view in views(counting(25_000_000)) if view.part.name == "full-speed")
    (row,) = view.groups[Group.COUNTS]
    assert counted(row) == caveat(row) == "counted 25,000,000 of 25,000,000 invocations"
    assert group_heading(Group.COUNTS, (row,)) == "delivers metrics, no record of a call: CPU per invocation"
    assert find_measure(row, "cpu", "record") is None


def test_metrics_that_have_no_number_of_calls_are_said_to_have_none() -> None:
    view = next(view for view in views(counting(0)) if view.part.name == "full-speed")
    assert counted(view.groups[Group.COUNTS][0]) == "its metrics have no number of calls"


def test_the_number_stands_in_terminal_and_page(tmp_path: Path) -> None:
    findings = counting(24_999_999)
    terminal = io.StringIO()
    render(findings, Console(file=terminal, width=80), None, tmp_path)
    assert "counted 24,999,999 of 25,000,000 invocations" in " ".join(terminal.getvalue().split())
    fake_run(tmp_path / "run", blocks=2)
    page = text(written(tmp_path / "run", findings))
    assert "counted 24,999,999 of 25,000,000 invocations" in page
