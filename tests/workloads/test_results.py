"""What a finished call tree trial measured: two threads at a rate, three calls and two, one of them very late."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tracetax.kinds.calltree import TreeParameters
from tracetax.workloads.calltree import collect
from tracetax.workloads.kinds import Measured

PARAMETERS = TreeParameters(calls=5, depth=1, threads=2, rate=100.0)
VALUES = {
    "samples-0.i64": [100, 300, 100],
    "samples-1.i64": [200, 200],
    "start-0.i64": [0, 20_000_000, 40_000_000],
    "start-1.i64": [10_000_000, 30_000_000],
    "late-0.i64": [0, 0, 50],
    "late-1.i64": [1_000, 0],
}
TRIAL: dict[str, Any] = {
    "format": 1,
    "workload": "calltree/java",
    "files": {kind: [f"{kind}-{thread}.i64" for thread in range(2)] for kind in ("samples", "start", "late")},
    "threads": 2,
    "calls": 5,
    "invocations": 5,
    "clock": {"resolution_ns": 1, "read_ns": 20},
    "snapshots": {"main": {"monotonic_ns": 0}},
    "caller": [
        {"thread": 0, "allocated_bytes": 0, "cpu_ns": 7},
        {"thread": 1, "allocated_bytes": 0, "cpu_ns": 5},
    ],
    "versions": {"java.version": "17"},
}


def collected(folder: Path, trial: dict[str, Any]) -> Measured:
    (folder / "workload").mkdir()
    for name, values in VALUES.items():
        np.array(values, dtype="<i8").tofile(folder / "workload" / name)
    (folder / "workload" / "trial.json").write_text(json.dumps(trial))
    return collect(folder, 1, PARAMETERS)


@pytest.fixture
def measured(tmp_path: Path) -> Measured:
    return collected(tmp_path, TRIAL)


def test_service_time_is_that_of_every_call_of_every_thread(measured: Measured) -> None:
    assert (measured.service.mean, measured.service.count) == (180, 5)


def test_lateness_is_that_of_every_call_of_every_thread(measured: Measured) -> None:
    assert measured.lateness and measured.lateness.mean == 210


def test_response_time_is_a_calls_lateness_and_its_service_time(measured: Measured) -> None:
    assert measured.response and (measured.response.mean, measured.response.max) == (390, 1_200)


def test_the_time_in_calls_is_the_sum_of_all_service_times(measured: Measured) -> None:
    assert measured.in_calls_ns == 900


def test_the_second_half_of_all_calls_is_that_of_each_thread(measured: Measured) -> None:
    assert measured.second_half_mean_ns == (300 + 100 + 200) / 3


def test_the_callers_cpu_is_the_sum_of_what_their_own_clocks_say(measured: Measured) -> None:
    assert measured.callers_cpu_ns == 12


def test_what_a_program_cannot_tell_of_its_memory_is_not_made_up(tmp_path: Path, measured: Measured) -> None:
    assert measured.allocated_bytes_per_call == 0
    (tmp_path / "other").mkdir()
    untold = {**TRIAL, "caller": [{"thread": 0, "cpu_ns": 7}, {"thread": 1, "cpu_ns": 5}]}
    other = collected(tmp_path / "other", untold)
    assert (other.allocated_bytes_per_call, other.heap, other.jvm_flags) == (None, None, "")
    assert other.callers_cpu_ns == measured.callers_cpu_ns
