"""Kieker's file writers, from the command to the findings: every record on disk is counted, and nothing stays there."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.command import tracetax

pytestmark = pytest.mark.real
EXPERIMENT = """
title = "Records in files"
workload = "calltree/java"
result = false
[parameters]
calls = 2_000
depth = 10
[jvm]
heap = "256 MiB"
[[configurations]]
agent = "kieker"
use = ["binary-file", "text-file"]
[schedule]
blocks = { min = 2, max = 2 }
budget = "10min"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    experiment = folder / "files.toml"
    experiment.write_text(EXPERIMENT)
    status, printed = tracetax("run", str(experiment), "--out", str(folder / "run"), "--seed", "3")
    assert status == 0, printed
    return folder / "run"


@pytest.mark.parametrize("name", ["binary-file", "text-file"])
def test_every_record_that_lies_on_disk_is_counted_in_whole_trees(run: Path, name: str) -> None:
    findings: dict[str, Any] = json.loads((run / "findings.json").read_text())
    records = next(row for row in findings["configurations"] if row["configuration"] == name)["records"]
    assert records["expected"] == records["received"] == 2 * 2_000 * 10
    assert records["complete_trees"] == records["expected_trees"] == 2 * 2_000
    assert records["malformed"] == records["duplicates"] == records["orphans"] == 0


def test_the_files_themselves_are_gone(run: Path) -> None:
    assert [file for file in run.rglob("*") if file.suffix in (".bin", ".dat", ".map")] == []
