"""Scouter, from the command to the findings: every step, every transaction, and each datagram accounted for."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.command import tracetax

pytestmark = pytest.mark.real
CALLS, DEPTH = 300, 10
EXPERIMENT = f"""
title = "Scouter at a low rate"
workload = "calltree/java"
result = false
[parameters]
calls = {CALLS}
depth = {DEPTH}
rate = "500/s"
[jvm]
heap = "256 MiB"
[[configurations]]
agent = "scouter"
use = ["default", "profiling-off", "no-hook"]
[schedule]
blocks = {{ min = 2, max = 2 }}
budget = "20min"
memory = false
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scouter")
    experiment = folder / "scouter.toml"
    experiment.write_text(EXPERIMENT)
    status, printed = tracetax("run", str(experiment), "--out", str(folder / "run"), "--seed", "3")
    assert status == 0, printed
    return folder / "run"


def row(run: Path, configuration: str) -> dict[str, Any]:
    findings: dict[str, Any] = json.loads((run / "findings.json").read_text())
    rows = findings["configurations"]
    return next(one for one in rows if (one["agent"], one["configuration"]) == ("scouter", configuration))


@pytest.mark.parametrize(("configuration", "per_call"), [("default", DEPTH), ("profiling-off", 1)])
def test_every_record_arrives_in_its_tree(run: Path, configuration: str, per_call: int) -> None:
    records = row(run, configuration)["records"]
    assert records["expected"] == records["received"] == 2 * CALLS * per_call
    assert records["complete_trees"] == records["expected_trees"] == 2 * CALLS
    assert records["malformed"] == records["duplicates"] == records["orphans"] == records["unexpected_names"] == 0


def test_without_profiling_all_but_a_calls_transaction_is_left_out_by_design(run: Path) -> None:
    found = row(run, "profiling-off")
    assert found["records"]["truncated"] == 2 * CALLS * (DEPTH - 1)
    assert "truncated" in {verdict["code"] for verdict in found["verdicts"]}


def test_with_nothing_to_trace_nothing_comes(run: Path) -> None:
    found = row(run, "no-hook")
    assert found["records"]["received"] == 0
    assert not {verdict["code"] for verdict in found["verdicts"]} & {"unpromised-records", "stray-input"}


def test_each_call_is_two_datagrams_and_the_kernel_tells_of_each_that_it_lost(run: Path) -> None:
    records = [json.loads(file.read_text()) for file in run.glob("trials/*/record.json")]
    ledgers = [one["ledger"] for one in records if one["cell"]["use"]["configuration"] in ("default", "profiling-off")]
    assert len(ledgers) >= 4
    for ledger in ledgers:
        assert ledger["receive_buffer_bytes"] > 0
        # heartbeats and counters may be among the lost
        assert 2 * CALLS <= ledger["requests"] + ledger["lost_datagrams"] <= 2 * CALLS + 20


def test_the_agent_writes_into_the_folder_of_its_trial(run: Path) -> None:
    trials = [json.loads(file.read_text()) for file in run.glob("trials/*/record.json")]
    logs = list(run.glob("trials/*/scouter/scouter-tracetax-*.log"))
    assert len(logs) == sum(one["cell"]["use"]["agent"] == "scouter" for one in trials) >= 6
