"""The thesis's findings on latency are decided by rules, which can come out either way."""

import io

import pytest
from benchmarks.nou25 import AGENTS, ENDPOINTS, STACKS, TRACED
from benchmarks.nou25_latency import Latency, decided, published, write
from msgspec.structs import replace

from tracetax.results.findings import Measure, MeasureName

RATIOS = {"java": 1.1, "go": 1.4, "python": 1.6, "node": 2.8}
Found = dict[tuple[str, str, str], Latency]


def of(name: MeasureName, estimate: float, half: float) -> Measure:
    return Measure(name, "ns", "call", estimate, half, (estimate - half, estimate + half), 3)


def measured() -> Found:
    """A run in which all of it comes out as in the thesis."""
    found: Found = {}
    for place, endpoint in enumerate(ENDPOINTS):
        for stack, ratio in RATIOS.items():
            for agent in AGENTS:
                factor = {"none": 1.0, "opentelemetry": ratio + 0.01 * place, "elastic": ratio - 0.01}[agent]
                median = of("response_time_median", 1e6 * factor, 1e4)
                added = None if agent == "none" else of("response_time_median_added", 1e6 * (factor - 1), 2e4)
                cpu = None if agent == "none" else of("cpu_ratio", factor, 0.1)
                found[endpoint, stack, agent] = Latency(100.0, median, added, None, None, cpu, 3, 3_000, 3_000)
    return found


def judged(found: Found) -> list[str]:
    return [one.decided for one in decided(found)]


def test_what_comes_out_as_in_the_thesis_confirms_it() -> None:
    assert judged(measured()) == ["confirmed", "confirmed", "confirmed"]


def test_a_median_that_falls_or_does_not_rise_contradicts_the_first_and_one_that_may_leaves_it_open() -> None:
    found = measured()
    key = ("db", "java", "elastic")
    found[key] = replace(found[key], median_added=of("response_time_median_added", -1e5, 2e4))
    assert judged(found)[0] == "contradicted"
    found[key] = replace(found[key], median_added=of("response_time_median_added", 1e4, 6e4))
    assert judged(found)[0] == "undecided"
    found[key] = replace(found[key], median_added=of("response_time_median_added", 1e4, 2e4))
    assert judged(found)[0] == "contradicted"
    assert "no rise, to 0.045 ms, in Java Spring /db with Elastic APM" in decided(found)[0].because


@pytest.mark.parametrize(
    ("lower", "comes_out"), [(3, "confirmed"), (4, "undecided"), (12, "undecided"), (13, "contradicted")]
)
def test_chance_is_excluded_of_the_second(lower: int, comes_out: str) -> None:
    found = measured()
    for endpoint, stack in [(endpoint, stack) for endpoint in ENDPOINTS for stack in STACKS][:lower]:
        key = (endpoint, stack, "opentelemetry")
        found[key] = replace(found[key], median=of("response_time_median", 0.5e6, 1e4))
    assert judged(found)[1] == comes_out


def test_the_second_is_contradicted_where_one_stack_says_otherwise() -> None:
    found = measured()
    for place, endpoint in enumerate(ENDPOINTS):
        key = (endpoint, "node", "elastic")
        found[key] = replace(found[key], median=of("response_time_median", (3.8 + 0.1 * place) * 1e6, 1e4))
    assert judged(found)[1] == "contradicted"
    because = decided(found)[1].because
    assert "12 of 16 pairs; Elastic APM's is higher in Node.js 1.40 times (" in because


def test_stacks_that_are_alike_leave_the_third_open() -> None:
    found = measured()
    for endpoint in ENDPOINTS:
        for agent in TRACED:
            found[endpoint, "node", agent] = found[endpoint, "java", agent]
            found[endpoint, "python", agent] = found[endpoint, "java", agent]
            found[endpoint, "go", agent] = found[endpoint, "java", agent]
    assert judged(found)[2] == "undecided"


def test_where_a_number_is_missing_it_is_not_decided() -> None:
    found = measured()
    for endpoint in ENDPOINTS:
        found[endpoint, "go", "elastic"] = replace(found[endpoint, "go", "elastic"], median=None, median_added=None)
    assert judged(found) == ["undecided", "not comparable", "not comparable"]


def test_the_thesiss_medians_stand_beside() -> None:
    assert published()["node", "opentelemetry"] == pytest.approx(2.79)
    text = io.StringIO()
    write(measured(), text)
    lines = text.getvalue().splitlines()
    assert "| Node.js | OpenTelemetry | 1.80 (1.78 to 1.82) |" in next(line for line in lines if "1.80 (1.78" in line)
    assert any(line.endswith("| 12,000 of 12,000 |") for line in lines)
