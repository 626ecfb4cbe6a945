"""What real JVMs serve is asked for and counted: calls exactly, and OpenTelemetry's metrics as what they are."""

import os
import re
import subprocess
import time
import urllib.request
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.end_to_end.changed import root_of
from tests.end_to_end.command import ROOT, processes_naming
from tests.end_to_end.counter import write_agent
from tests.end_to_end.trials import PATIENT, measure_each, verdicts
from tracetax.artifacts import build_sink, cache_dir
from tracetax.companions.sink import Sink
from tracetax.model import Scrape
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
CALLS, DEPTH = 2_000, 10
EXPERIMENT = f"""
title = "Calls that are counted"
workload = "calltree/java"
result = false
[parameters]
calls = {CALLS}
depth = {DEPTH}
[jvm]
heap = "128 MiB"
[[configurations]]
agent = "counter"
use = ["exact", "half", "other-name", "elsewhere"]
[[configurations]]
agent = "opentelemetry"
use = ["prometheus"]
"""


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TrialRecord]:
    folder = tmp_path_factory.mktemp("scrape")
    root = root_of(folder, "none", "opentelemetry")
    write_agent(root / "agents" / "counter")
    experiment = folder / "scrape.toml"
    experiment.write_text(EXPERIMENT)
    found = measure_each(experiment, root, folder / "run", replace(PATIENT, metrics=2.0))
    assert processes_naming(folder) == []
    return found


def test_every_call_is_counted_in_warm_up_and_measured_part(trials: dict[str, TrialRecord]) -> None:
    trial = trials["exact"]
    assert trial.ledger and trial.warm_up
    assert trial.ledger.received == trial.ledger.made == CALLS * DEPTH
    assert trial.warm_up.ledger.received == trial.warm_up.calls * DEPTH > 0
    assert (trial.status, verdicts(trial)) == ("ok", {})


def test_calls_that_are_not_counted_are_told(trials: dict[str, TrialRecord]) -> None:
    trial = trials["half"]
    assert trial.ledger and trial.ledger.received == CALLS * DEPTH // 2
    assert (trial.status, verdicts(trial)) == ("ok", {"aggregate-differs": "warning"})


def test_a_metric_that_is_not_there_is_no_result(trials: dict[str, TrialRecord]) -> None:
    assert verdicts(trials["other-name"]) == {"nothing-recorded": "error"}


def test_an_endpoint_that_is_not_there_is_no_result(trials: dict[str, TrialRecord]) -> None:
    assert verdicts(trials["elsewhere"]) == {"never-scraped": "error"}


def test_metrics_without_a_number_of_calls_are_read_and_said_to_have_none(trials: dict[str, TrialRecord]) -> None:
    trial = trials["prometheus"]
    assert trial.ledger and trial.ledger.received == 0
    assert trial.ledger.requests > 0 and trial.ledger.bytes > 1_000 * trial.ledger.requests
    assert (trial.status, verdicts(trial)) == ("ok", {"not-counted": "note"})


def test_a_counter_of_opentelemetrys_endpoint_is_read_as_it_stands(
    trials: dict[str, TrialRecord], tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    own = {"--out": tmp_path / "out", "--status": tmp_path / "status"}
    words = [str(own.get(before, word)) for before, word in pairwise(["", *trials["prometheus"].command])]
    binary = build_sink(ROOT, cache_dir(os.environ))
    with Sink(
        binary, shape=("--depth", "1"), record_name="x", protocols=["prometheus"], error_log=tmp_path / "sink.txt"
    ) as sink:
        port = sink.ports["prometheus"]
        command = [re.sub(r"(prometheus\.port=)\d+", rf"\g<1>{port}", word) for word in words]
        sink.scrape(Scrape(path="/metrics", interval_ns=3600 * 10**9, metric="jvm_class_loaded_total"))
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as jvm:
            sink.await_answer(240)
            counted, before, deadline = 0, 0, time.monotonic() + 240
            # the endpoint is there before its metrics are, and classes are loaded for a while
            while not before or before != loaded_classes(port):
                assert time.monotonic() < deadline
                before = loaded_classes(port)
                counted += sink.next_phase("next").of("prometheus").records
            jvm.communicate(b"")
        assert counted == before > 1_000


def loaded_classes(port: int) -> int:
    """The number of classes that were ever loaded, as the endpoint tells it to anybody."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
        text: str = reply.read().decode()
    values = re.findall(r"^jvm_class_loaded_total(?:\{[^\n]*\})? (\S+)$", text, re.MULTILINE)
    return round(sum(map(float, values)))
