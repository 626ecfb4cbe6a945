"""Reading a backend's counters."""

import pytest

from tracetax.companions.counters import json_counter, prometheus_counter

JSON = '{"counter.spans.http": 12.0, "counter": {"spans.grpc": 3, "up": true}, "deep": {"a": {"b": 5}}}'
TEXT = """# HELP spans_total Spans.
spans_total{by="http",kind="a, \\"b\\""} 3
spans_total{by="grpc"} 4 1700000000000
spans_total_bytes{by="http"} 1e3
plain 2.5
"""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("counter.spans.http", 12),
        ("counter.spans.grpc", 3),
        ("deep.a.b", 5),
        ("deep.a", 0),
        ("counter.up", 0),
        ("counter.spans", 0),
        ("nothing", 0),
    ],
)
def test_a_dot_leads_into_an_object_or_belongs_to_a_name(key: str, value: float) -> None:
    assert json_counter(JSON, key) == value


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("spans_total", 7),
        ('spans_total{by="grpc"}', 4),
        ('spans_total{kind="a, \\"b\\"",by="http"}', 3),
        ('spans_total{by="udp"}', 0),
        ("plain", 2.5),
        ("spans", 0),
    ],
)
def test_samples_are_summed_that_have_the_labels(metric: str, value: float) -> None:
    assert prometheus_counter(TEXT, metric) == value
