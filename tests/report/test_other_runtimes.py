"""A run of another runtime than Java is told in that runtime's words, and without what it does not have."""

import dataclasses
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from tracetax.program import RuntimeVersion
from tracetax.report.exports import csv, markdown
from tracetax.report.page import write_page
from tracetax.report.views import baseline_title, heap_words, platform_words
from tracetax.results.findings import Findings
from tracetax.results.runtime import RuntimeFinding

from .fake_run import fake_run
from .reading import parsed, section, text
from .sample_findings import GIB, JAVA, SAMPLES, sample_findings

PYTHON = RuntimeFinding(key="python", name="Python", process="process", settings={}, threads=())
CPYTHON = RuntimeVersion("Python", "3.12.3", "CPython", "/usr")
JDK = RuntimeVersion("JDK", "21.0.8", "Debian", "/usr/lib/jvm/21", archive=True)
OF_JAVA = ("cpu_jit", "cpu_gc", "heap_live", "allocation")
"""Measures that Python does not report."""
SAMPLES_WITHOUT_HEAP = tuple(
    dataclasses.replace(sample, heap_bytes=0)
    for sample in SAMPLES
    if (sample.agent, sample.heap_bytes) != ("none", 6 * GIB)
)


def python_findings() -> Findings:
    """The sample's findings as a run of Python would have them."""
    findings = sample_findings(samples=SAMPLES_WITHOUT_HEAP)
    parts = tuple(replace(part, ran_on=CPYTHON) for part in findings.experiment.parts)
    experiment = replace(
        findings.experiment, title="What tracing costs", workload="calltree/python", runtime=PYTHON, parts=parts
    )
    rows = tuple(
        replace(row, ran_on=CPYTHON, measures=tuple(of for of in row.measures if of.name not in OF_JAVA))
        for row in findings.configurations
    )
    machine = {name: value for name, value in findings.machine.items() if name != "java"}
    aa = tuple(replace(band, heap_bytes=0) for band in findings.aa if band.heap_bytes == GIB)
    return replace(findings, experiment=experiment, configurations=rows, aa=aa, machine=machine | {"python": "3.12.3"})


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "python"
    fake_run(folder, findings=python_findings(), samples=SAMPLES_WITHOUT_HEAP)
    return write_page(folder, python_findings())


def test_its_page_speaks_of_no_jvm_and_of_no_heap(page: Path) -> None:
    words = text(parsed(page))
    assert re.findall(r"\b(?:JVM|JDK|class-data|[Hh]eap|[Cc]ollections)\b", words) == []
    assert "extra trial" not in words
    assert "kind of Python" in words
    assert "Python, /usr" in words


def test_cpu_is_split_only_as_far_as_threads_can_be_told_apart(page: Path) -> None:
    consists = section(parsed(page), "consists")
    headings = [text(cell) for cell in consists.iter("th") if cell.get("scope") == "col"]
    assert headings[:3] == ["Agent and configuration", "CPU per invocation", "all threads, ns ± 95 %"]
    assert headings[3:7] == ["caller", "other threads", "other", "per delivered record, ns"]


def test_exports_name_what_it_ran_on() -> None:
    header, first, *_ = csv.export(python_findings()).splitlines()
    cells = dict(zip(header.split(","), first.split(","), strict=True))
    assert (cells["java"], cells["java_kind"], cells["runtime"]) == ("", "", "Python 3.12.3 (CPython)")
    assert "3.12.3" in markdown.export(python_findings())


def test_a_platform_is_the_version_then_choices_then_sizes() -> None:
    part = replace(sample_findings().experiment.parts[0], ran_on=JDK)
    set_so = replace(part, settings={"jdk": 21, "heap": 2 * GIB, "collector": "Z"})
    assert platform_words(set_so, JAVA) == "JDK 21.0.8 (Debian), Z, heap 2 GiB"
    assert platform_words(replace(part, ran_on=CPYTHON), PYTHON) == "Python 3.12.3 (CPython)"
    assert platform_words(replace(part, ran_on=None), JAVA) == ""


def test_a_heap_is_named_only_where_there_is_one() -> None:
    assert (heap_words(0), heap_words(2 * GIB)) == ("", "heap 2 GiB")
    baseline = next(row for row in python_findings().configurations if row.is_baseline)
    assert baseline_title(baseline) == "baseline"
    assert baseline_title(replace(baseline, heap_bytes=GIB)) == "baseline, heap 1 GiB"
