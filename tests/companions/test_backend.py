"""A backend in the sink's place, against a small one that counts what it gets."""

import contextlib
import http.client
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.backends import fake_backend
from tracetax.companions.backend import BackendLost, BackendServer, Supplied, json_counter, prometheus_counter
from tracetax.companions.loopback import listens_elsewhere

SPAN = b"MonitoredClass.monitoredMethod"
JSON = '{"counter.spans.http": 12.0, "counter": {"spans.grpc": 3, "up": true}, "deep": {"a": {"b": 5}}}'
TEXT = """# HELP spans_total Spans.
# TYPE spans_total counter
spans_total{by="http",kind="a, \\"b\\""} 3
spans_total{by="grpc"} 4 1700000000000
spans_total_bytes{by="http"} 1e3
<html> is no sample {
# TYPE plain counter
plain 2.5
"""


def send(server: BackendServer, spans: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.ports["otlp-http"])
    connection.request("POST", "/v1/traces", SPAN * spans)
    connection.getresponse().read()
    connection.close()


def started(tmp_path: Path, supplied: Supplied) -> BackendServer:
    return BackendServer(
        supplied, "otlp-http", charged="measured", folder=tmp_path / "trial" / "backend", log=tmp_path / "backend.txt"
    )


@pytest.fixture(params=["json", "prometheus"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BackendServer]:
    with started(tmp_path, fake_backend(form=request.param)) as running:
        yield running


def test_phases_are_differences_of_its_counters(server: BackendServer) -> None:
    send(server, 4)
    server.next_phase("warm-up")
    send(server, 30)
    send(server, 20)
    warm_up = server.next_phase("measured")
    send(server, 7)
    last = server.stop()
    assert (warm_up.phase, warm_up.of("otlp-http").records) == ("warm-up", 50)
    assert (last.phase, last.of("otlp-http").records) == ("measured", 7)


def test_a_look_in_between_sees_what_has_arrived(server: BackendServer) -> None:
    server.next_phase("warm-up")
    before = time.monotonic_ns()
    send(server, 3)
    deadline = time.monotonic() + 10
    while server.counts().records < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    counts = server.counts()
    assert (counts.phase, counts.records) == ("warm-up", 3)
    assert before < counts.last_arrival_ns < time.monotonic_ns()
    server.next_phase("measured")
    assert server.counts().records == 0


def test_dropped_and_refused_records_are_no_received_ones(tmp_path: Path) -> None:
    with started(tmp_path, fake_backend("drops")) as server:
        send(server, 10)
        count = server.stop().of("otlp-http")
        assert (count.records, count.refused) == (5, 5)
    with started(tmp_path, fake_backend("refuses")) as server:
        send(server, 10)
        count = server.stop().of("otlp-http")
        assert (count.records, count.refused) == (5, 5)


def test_its_cpu_is_known_and_nothing_of_it_is_left(server: BackendServer, tmp_path: Path) -> None:
    folder = tmp_path / "trial" / "backend"
    assert (folder / "left-over").is_file()
    assert server.cpu_ns > 0
    server.stop()
    assert not folder.exists()
    assert not Path(f"/proc/{server.process.pid}").exists()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("ends", "did not start and ended with status 7"),
        ("is-deaf", "was not ready within 1 s"),
        ("everywhere", "listens on more than the loopback address"),
        ("babbles", "serves at /counters what is no json"),
        ("raves", "serves at /counters what is no json"),
    ],
)
def test_one_that_cannot_be_used_is_told_with_its_log(tmp_path: Path, fault: str, words: str) -> None:
    limit = 1.0 if fault == "is-deaf" else 10.0
    with pytest.raises(BackendLost, match=words) as lost:
        started(tmp_path, fake_backend(fault, within=limit))
    assert str(tmp_path / "backend.txt") in str(lost.value)
    assert not (tmp_path / "trial" / "backend").exists()


def test_one_that_ends_is_noticed(tmp_path: Path) -> None:
    with started(tmp_path, fake_backend("dies")) as server:
        with pytest.raises(http.client.HTTPException):
            send(server, 1)
        server.process.wait(5.0)
        with pytest.raises(BackendLost, match="is gone and ended with status 3"):
            server.check()
        with pytest.raises(BackendLost, match="is gone"):
            server.next_phase("measured")


def test_this_process_listens_nowhere_else() -> None:
    assert listens_elsewhere(os.getpid()) == []


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
        ("plain_total", 0),
        ("spans", 0),
    ],
)
def test_samples_are_summed_that_have_the_labels(metric: str, value: float) -> None:
    assert prometheus_counter(TEXT, metric) == value


@given(st.text(alphabet='spans{}=",\\ \t\n#0189.eE+-nafi%', max_size=200))
def test_whatever_a_backend_serves_is_a_number_or_no_counter(text: str) -> None:
    with contextlib.suppress(ValueError, OverflowError):
        assert isinstance(prometheus_counter(f"spans{text}\n{text}", 'spans{kind="a"}'), int | float)


@pytest.mark.parametrize("number", ["9" * 400, "infinitely many", "3.5.7"])
def test_what_is_no_number_of_records_is_an_error(number: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        prometheus_counter(f"spans {number}", "spans")
