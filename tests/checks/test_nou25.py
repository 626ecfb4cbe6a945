"""The thesis's findings on throughput are decided by rules, which can come out either way."""

import io

import pytest
from benchmarks.nou25 import AGENTS, ENDPOINTS, STACKS, TRACED, Rate, decided, published, write
from msgspec.structs import replace

SHARES = {"java": 0.8, "go": 0.6, "python": 0.6, "node": 0.3}
Found = dict[tuple[str, str, str], Rate]


def measured() -> Found:
    """A run in which all of it comes out as in the thesis: OpenTelemetry reaches more, but for Go."""
    found: Found = {}
    for endpoint in ENDPOINTS:
        for stack, share in SHARES.items():
            for agent in AGENTS:
                ratio = {"none": 1.0, "opentelemetry": share, "elastic": share * (1.1 if stack == "go" else 0.9)}[agent]
                of = (None, None, None) if agent == "none" else (ratio, ratio - 0.05, ratio + 0.05)
                found[endpoint, stack, agent] = Rate(1_000 * ratio, 900.0, 1_100.0, 4, *of, made=0.0, outcome="bracket")
    return found


def judged(found: Found) -> list[str]:
    return [one.decided for one in decided(found)]


def test_what_comes_out_as_in_the_thesis_confirms_it() -> None:
    assert judged(measured()) == ["confirmed", "confirmed", "confirmed"]


def test_one_ratio_above_one_contradicts_the_first() -> None:
    found = measured()
    key = ("db", "java", "elastic")
    found[key] = replace(found[key], ratio=1.1, ratio_low=1.05, ratio_high=1.15)
    assert judged(found)[0] == "contradicted"
    found[key] = replace(found[key], ratio=0.98, ratio_low=0.9, ratio_high=1.06)
    assert judged(found)[0] == "undecided"


def test_another_order_contradicts_the_second_and_three_stacks_the_third() -> None:
    found = measured()
    for endpoint in ENDPOINTS:
        for agent in TRACED:
            found[endpoint, "go", agent] = replace(found[endpoint, "go", agent], ratio=0.9)
        found[endpoint, "java", "elastic"] = replace(found[endpoint, "java", "elastic"], rate=2_000.0)
    assert judged(found)[1:] == ["contradicted", "contradicted"]


def test_where_a_number_is_missing_the_order_is_not_decided() -> None:
    found = measured()
    for endpoint in ENDPOINTS:
        key = (endpoint, "go", "elastic")
        found[key] = replace(found[key], rate=None, ratio=None, ratio_low=None, ratio_high=None, made=20_000.0)
    assert judged(found) == ["undecided", "not comparable", "not comparable"]


def test_the_thesiss_numbers_stand_beside() -> None:
    assert published()["java", "opentelemetry"] == pytest.approx(766.25)
    assert len(published()) == len(STACKS) * len(AGENTS)
    told = io.StringIO()
    write(measured(), told)
    assert (
        "| Java Spring | OpenTelemetry | 800 ± 100 | 800 ± 100 | 800 ± 100 | 800 ± 100 | 800 | 766.25 |"
        in told.getvalue()
    )
    assert "| Java Spring | OpenTelemetry | 20 (15 to 25) | " in told.getvalue()
