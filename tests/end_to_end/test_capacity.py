"""The search for the highest complete rate with a real agent that makes its caller wait: it needs no search."""

import json
from pathlib import Path

import pytest

from tests.end_to_end.command import tracetax
from tracetax.results.capacity import read_capacity

pytestmark = pytest.mark.real


def test_what_loses_nothing_at_full_speed_is_told_so_and_shown_again(tmp_path: Path) -> None:
    run = tmp_path / "run"
    options = ("--agent", "kieker", "--configuration", "binary-tcp", "--depth", "2", "--further", "1")
    status, printed = tracetax("capacity", *options, "--out", str(run))
    assert status == 0, printed
    (found,) = read_capacity(run).configurations
    assert found.outcome == "full-speed"
    assert [trial.received for trial in found.trials] == [400_000, 400_000]
    assert "delivers every record back to back" in " ".join(printed.split())
    (run / "capacity.json").unlink()
    status, again = tracetax("report", str(run))
    assert status == 0
    assert "delivers every record back to back" in " ".join(again.split())
    assert json.loads((run / "capacity.json").read_text())["configurations"][0]["outcome"] == "full-speed"
