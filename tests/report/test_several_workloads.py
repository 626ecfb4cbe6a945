"""Where the workload is the factor, one table at the head says what an invocation costs in each."""

import dataclasses
from pathlib import Path

import pytest
from msgspec.structs import replace

from tracetax.kinds.requests import RequestParameters, Weighted
from tracetax.program import RuntimeVersion
from tracetax.report.exports import csv, markdown
from tracetax.report.headline import verdict
from tracetax.report.page import write_page
from tracetax.report.views import views
from tracetax.report.workloads import WorkloadCost, workload_tables
from tracetax.results.findings import Findings
from tracetax.results.runtime import RuntimeFinding

from .fake_run import fake_run
from .reading import parsed, rows, text
from .sample_findings import JAVA, RATE, SAMPLES, Sample, sample_findings
from .test_terminal import printed, words

PYTHON = RuntimeFinding(key="python", name="Python", process="process", settings={}, threads=())
ON = {
    "at-rate": ("Java", "calltree/java", RuntimeVersion("JDK", "21.0.8", archive=True)),
    "full-speed": ("Python", "calltree/python", RuntimeVersion("Python", "3.12.3")),
}
"""What the two parts of the sample stand for here."""
OF_ONE_HEAP = tuple(dataclasses.replace(sample, deferred=False) for sample in SAMPLES)


def in_two_languages(samples: tuple[Sample, ...] = OF_ONE_HEAP) -> Findings:
    """The sample's findings with its two parts as the same calls in two languages."""
    findings = sample_findings(samples=samples)
    parts = tuple(
        replace(part, title=f"A span, {level}", levels=level, workload=workload, ran_on=ran_on, parameters=RATE)
        for part in findings.experiment.parts
        for level, workload, ran_on in [ON[part.name]]
    )
    experiment = replace(
        findings.experiment,
        title="A span in two languages",
        workload="calltree/java, calltree/python",
        runtime=None,
        runtimes={"calltree/java": JAVA, "calltree/python": PYTHON},
        parts=parts,
    )
    rows = tuple(replace(row, ran_on=ON[row.part][2], parameters=RATE) for row in findings.configurations)
    return replace(findings, experiment=experiment, configurations=rows)


def test_a_line_for_each_agent_has_a_cell_for_each_language() -> None:
    (table,) = workload_tables(views(in_two_languages()))
    assert table.heads == ("Java", "Python")
    assert table.title == "Added per invocation: 1,000 calls/s × 10 invocations, 1 thread, spinning between calls"
    costs = {line.name: line.costs for line in table.lines}
    assert costs["Kieker, binary TCP"] == (
        WorkloadCost("412 ± 11 ns", "100 %"),
        WorkloadCost("147.2 ± 2.1 ns", "100 %"),
    )
    assert costs["Kieker, no collection"] == (WorkloadCost(), WorkloadCost("82.4 ± 1.2 ns"))
    assert costs["OpenTelemetry, OTLP, as shipped"] == (
        WorkloadCost("871 ± 19 ns", "100 %"),
        WorkloadCost("289.4 ± 4.0 ns", "2.0 %"),
    )
    assert costs["OpenTelemetry, OTLP over gRPC"][1].note == "no result"


def test_as_shipped_is_one_line_whatever_each_language_ships_with() -> None:
    samples = tuple(
        dataclasses.replace(sample, configuration="otlp-grpc", title="OTLP over gRPC")
        if (sample.part, sample.configuration) == ("full-speed", "otlp")
        else sample
        for sample in OF_ONE_HEAP
        if sample.agent == "none" or (sample.profile == "stock" and not sample.verdicts)
    )
    findings = in_two_languages(samples)
    woven = tuple(
        replace(row, technology="aspectj" if row.part == "at-rate" else "decorated") for row in findings.configurations
    )
    (table,) = workload_tables(views(replace(findings, configurations=woven)))
    (kieker, opentelemetry) = table.lines
    assert (kieker.name, [cost.note for cost in kieker.costs]) == ("Kieker", ["", ""])
    assert (opentelemetry.name, [cost.note for cost in opentelemetry.costs]) == ("OpenTelemetry", ["otlp", "otlp-grpc"])


def test_one_workload_has_no_such_table() -> None:
    assert workload_tables(views(sample_findings())) == []


def test_the_first_sentence_tells_each_language() -> None:
    findings = in_two_languages()
    assert verdict(findings, views(findings)) == (
        "At 1,000 calls/s, Kieker delays an invocation by 0.41 µs (Java), 0.15 µs (Python)."
    )


@pytest.mark.parametrize("width", [60, 80, 140])
def test_the_terminal_begins_with_it(width: int) -> None:
    shown = words(printed(in_two_languages(), width))
    table, parts = shown.index("Added per invocation"), shown.index("A span, Java: 1,000 calls/s")
    assert table < parts
    assert "412 ± 11 ns 147.2 ± 2.1 ns" in shown[table:parts]
    assert "on JDK 21.0.8" in shown and "on Python 3.12.3" in shown


def test_markdown_and_csv_name_the_workload() -> None:
    exported = markdown.export(in_two_languages())
    assert "| | Java | Python |" in exported
    assert "| Kieker, binary TCP | 412 ± 11 ns, 100 % | 147.2 ± 2.1 ns, 100 % |" in exported
    assert "Kieker 2.0.2 in calltree/python" in exported
    header, *lines = csv.export(in_two_languages()).splitlines()
    assert header.endswith(",workload")
    assert {line.rpartition(",")[2] for line in lines} == {"calltree/java", "calltree/python"}


def test_the_page_begins_with_it_and_keeps_each_language_apart(tmp_path: Path) -> None:
    folder = tmp_path / "languages"
    fake_run(folder, findings=in_two_languages(), samples=OF_ONE_HEAP)
    page = parsed(write_page(folder, in_two_languages()))
    head = page.find(".//header")
    assert head is not None
    (table,) = head.iter("table")
    assert "Kieker, binary TCP 412 ± 11 ns 100 % 147.2 ± 2.1 ns 100 %" in [
        row.replace("\N{NO-BREAK SPACE}", " ") for row in rows(table)
    ]
    whole = text(page)
    assert "A span, Java" in whole and "A span, Python" in whole
    assert "the runtime's other threads" in whole
    assert "Kieker in calltree/python" in whole


def of_services() -> Findings:
    """The same as services: calls are requests, and what was told per invocation is per request."""
    findings = in_two_languages()
    parameters = RequestParameters(calls=1_000, rate=200.0, mix=(Weighted("db", 1),))
    parts = tuple(replace(part, parameters=parameters) for part in findings.experiment.parts)
    told = tuple(
        replace(
            row,
            parameters=parameters,
            measures=tuple(replace(of, per="call" if of.per == "invocation" else of.per) for of in row.measures),
        )
        for row in findings.configurations
    )
    return replace(findings, experiment=replace(findings.experiment, parts=parts), configurations=told)


def test_of_services_the_cpu_of_a_request_comes_first_and_times_are_in_microseconds() -> None:
    findings = of_services()
    parts = views(findings)
    told = "At 200 requests/s, Kieker takes 0.56 µs (Java), 0.20 µs (Python) of CPU per request."
    assert verdict(findings, parts) == told
    (table,) = workload_tables(parts)
    assert table.lines[0].costs[0].further == ("CPU 558 ± 13 ns", "100 %")
    assert "the CPU that all threads use for it" in table.meaning
    shown = words(printed(findings))
    assert "without an agent a request takes 0.23 ± 0.01 µs" in shown
    assert "request, µs µs, 95 % a request records" in shown
    assert "1 Kieker binary TCP 0.56 ± 0.01 4.1 ± 0.1 24 100 %" in shown
    assert "| Kieker, binary TCP | 4.12 ± 0.11 µs, CPU 558 ± 13 ns, 100 % |" in markdown.export(findings)
