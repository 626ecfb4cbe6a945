"""Ways in which real agents fail without a word: each ends in its verdict, and none is shown as a fast agent."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.end_to_end.changed import Row, measured, repository
from tests.end_to_end.command import processes_naming
from tracetax.errors import ExitCode
from tracetax.run.equipment import Equipment, Limits

Measure = Callable[[str, str, str], Row]
pytestmark = pytest.mark.real
EXPERIMENT = """
title = "Silent failures"
workload = "calltree/java"
result = false
[parameters]
calls = 200
depth = 10
[jvm]
heap = "128 MiB"
[[configurations]]
agent = "kieker"
use = ["{configuration}"]
[schedule]
blocks = {{ min = 2, max = 2 }}
budget = "10min"
memory = false
"""


@pytest.fixture
def measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Measure:
    """Measures a configuration of Kieker in whose file something stands in the place of something else."""
    limits = Limits(burst=10.0, term=0.5)
    monkeypatch.setattr("tracetax.run.prepare.Equipment", partial(Equipment, limits=limits))

    def change_and_measure(configuration: str, old: str, new: str) -> Row:
        run = tmp_path / "run"
        experiment = EXPERIMENT.format(configuration=configuration)
        status, (row,) = measured(repository(tmp_path, old, new), experiment, run)
        assert status == ExitCode.FAILED
        assert processes_naming(run) == []
        logs = "".join(file.read_text(errors="replace") for file in sorted(run.glob("logs/*/std*.txt")))
        trials = [json.loads(path.read_text()) for path in sorted(run.glob("trials/*/record.json"))]
        exits = {trial["exit_status"] for trial in trials if trial["cell"]["use"]["agent"] == "kieker"}
        return row | {"logs": logs, "exits": exits}

    return change_and_measure


def errors(row: Row) -> set[str]:
    return {verdict["code"] for verdict in row["verdicts"] if verdict["severity"] == "error"}


def test_a_pattern_that_matches_nothing(measure: Measure) -> None:
    row = measure("binary-tcp", '"* {monitored.class}.*();" }', '"* {monitored.class}Other.*();" }')
    assert "nothing-recorded" in errors(row)
    assert row["measures"] == []
    assert row["exits"] == {0}


def test_kiekers_javassist_agent_as_it_ships(measure: Measure) -> None:
    names = ', "{prepared.javassist-names}"]\n\n'
    row = measure("binary-tcp:javassist-load-time", names, "]\n\n")
    assert "nothing-recorded" in errors(row)
    assert row["measures"] == []
    assert row["exits"] == {0}
    assert "NotFoundException" in row["logs"]


def test_a_listener_that_is_not_there(measure: Measure) -> None:
    flag = '"-Dkieker.monitoring.writer.tcp.SingleSocketTcpWriter.port={sink.kieker_tcp.port}",'
    nowhere = '"-Dnobody.reads={sink.kieker_tcp.port}", "-Dkieker.monitoring.writer.tcp.SingleSocketTcpWriter.port=9",'
    row = measure("binary-tcp", flag, nowhere)
    assert "jvm-hangs" in errors(row)
    assert row["measures"] == []
    assert row["exits"] == {-9}
