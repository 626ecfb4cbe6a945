"""A JDK that is asked for is the one that runs, with its flags; every record arrives on it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.command import tracetax

pytestmark = pytest.mark.real

EXPERIMENT = """
title = "Two collectors on Java 21"
workload = "calltree/java"
result = false
[parameters]
calls = 2_000
depth = 10
[jvm]
heap = "256 MiB"
[[configurations]]
agent = "kieker"
use = ["binary-tcp"]
[schedule]
blocks = { min = 2, max = 2 }
budget = "5min"
memory = false
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("factors")
    (folder / "two.toml").write_text(EXPERIMENT)
    status, printed = tracetax(
        *("run", str(folder / "two.toml"), "--jdk", "21", "--collector", "Serial,Z", "--out", str(folder / "run"))
    )
    assert status == 0, printed
    java = json.loads((folder / "run" / "findings.json").read_text())["experiment"]["parts"][0]["java"]
    name = "JDK" if java["kind"] == "JDK" else "Java runtime"
    assert f"on {name} 21" in printed  # and not what the title says
    return folder / "run"


@pytest.fixture(scope="module")
def trials(run: Path) -> list[dict[str, Any]]:
    return [json.loads(file.read_text()) for file in sorted(run.glob("trials/*/record.json"))]


def test_every_trial_ran_on_the_release_that_was_asked_for(trials: list[dict[str, Any]]) -> None:
    assert {trial["versions"]["java.version"].partition(".")[0] for trial in trials} == {"21"}


def test_each_part_has_its_collector_and_zgc_its_generations(trials: list[dict[str, Any]]) -> None:
    flags = {trial["cell"]["part"]: trial["jvm_flags"] for trial in trials}
    assert "-XX:+UseSerialGC" in flags["two-collector-serial"]
    assert "-XX:+UseZGC" in flags["two-collector-z"]
    assert "-XX:+ZGenerational" in flags["two-collector-z"]


def test_rows_say_what_they_ran_on_and_every_record_arrived(run: Path, trials: list[dict[str, Any]]) -> None:
    findings = json.loads((run / "findings.json").read_text())
    rows = [row for row in findings["configurations"] if row["agent"] == "kieker"]
    assert [row["collector"] for row in rows] == ["Serial", "Z"]
    assert {row["java"]["version"] for row in rows} == {trial["versions"]["java.version"] for trial in trials}
    assert all(row["records"]["received"] == 2 * 2_000 * 10 for row in rows)
