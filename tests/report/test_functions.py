"""How functions are told: a cold start in parts, time inside a function, and money, in every output."""

from typing import Any, cast

from msgspec.structs import replace

from tests.functions.trials import COLD, WARM
from tests.report.sample_findings import sample_findings
from tests.report.test_terminal import printed
from tracetax.analysis.measures import make_measure
from tracetax.kinds.functions import FunctionParameters
from tracetax.report.exports.markdown import export
from tracetax.report.functions import function_tables
from tracetax.report.headline import verdict
from tracetax.report.page.functions import functions
from tracetax.report.views import views
from tracetax.results.findings import Findings
from tracetax.statistics.intervals import Estimate

MS = 1e6


def _about(value: float) -> Estimate:
    half = abs(value) / 10
    return Estimate(value, half, (value - half, value + half), 12)


OF_COLD = {"start_runtime": 40, "start_agent": 80, "start_imports": 90, "start_ready": 20, "start_invocation": 10}


def told(parameters: FunctionParameters, measures: dict[str, float]) -> Findings:
    """Findings of functions: what there is for every kind, and these measures in every row."""
    findings = sample_findings()

    def per_call(row: Any) -> Any:
        kept = tuple(
            replace(of, per=of.per.replace("invocation", "call"))
            for of in row.measures
            if (of.name, of.per) != ("overhead", "invocation")
        )
        own = (make_measure(cast(Any, name), "ns", "", _about(value), ()) for name, value in measures.items())
        return replace(row, parameters=parameters, measures=(*kept, *own))

    parts = tuple(replace(part, parameters=parameters) for part in findings.experiment.parts)
    return replace(
        findings,
        experiment=replace(findings.experiment, parts=parts),
        configurations=tuple(map(per_call, findings.configurations)),
    )


def test_a_cold_start_stands_in_its_parts() -> None:
    findings = told(
        COLD, {name: ms * MS for name, ms in OF_COLD.items()} | {"inside_time": 2 * MS, "price_million": 1.5}
    )
    (table, *_) = function_tables(views(findings))
    assert table.heads == (
        "whole", "runtime", "agent's set-up", "imports", "host ready", "first invocation", "a million, USD",
    )  # fmt: skip
    baseline, traced = table.lines[0].cells, table.lines[-1].cells
    assert baseline[1:6] == ("40.0 ± 4.0", "–", "90.0 ± 9.0", "20.0 ± 2.0", "10.0 ± 1.0")
    assert traced[2] == "80.0 ± 8.0"
    assert "256 MiB (no limit is set)" in table.meaning
    text = printed(findings, 120)
    assert "What a cold start of sum consists of, ms" in text
    assert "cold starts of sum by plain" in text
    assert "agent's set-up" in export(findings)
    assert "What a cold start of sum consists of" in str(functions(views(findings)))


def test_time_inside_a_function_stands_beside_its_records_and_its_price() -> None:
    measures = {"inside_time": 2 * MS, "inside_time_added": -0.5 * MS, "records_per_call": 4.0, "bytes_per_call": 900.0}
    findings = told(WARM, measures | {"price_million": 25.0, "price_million_added": 5.0})
    (table, *_) = function_tables(views(findings))
    assert table.heads == ("inside, ms", "p99 inside, ms", "records", "bytes", "a million, USD")
    cells = table.lines[-1].cells
    assert cells[0] == "2.0 ± 0.2 (−0.50 ± 0.05)"
    assert cells[1] == "–"
    assert cells[4] == "25.0 ± 2.5 (+5.0 ± 0.5)"


def test_the_first_sentence_tells_costs_in_the_unit_of_the_tables() -> None:
    findings = told(COLD, {})
    rows = tuple(
        replace(row, measures=tuple(replace(of, estimate=99 * MS, ci95=(90 * MS, 108 * MS)) for of in row.measures))
        for row in findings.configurations
    )
    findings = replace(findings, configurations=rows)
    assert "CPU 99 against 99 ms, delay 99 against 99 ms per invocation" in (verdict(findings, views(findings)) or "")


def test_of_other_kinds_nothing_of_it_is_told() -> None:
    findings = sample_findings()
    assert function_tables(views(findings)) == []
    assert functions(views(findings)) is None
