"""A service from the command to the page: one of the tests, with an agent that sends spans and one that does not."""

import json
from pathlib import Path
from typing import Any

import pytest
from pytest import CaptureFixture, MonkeyPatch

from tests.services.repository import repository
from tracetax.commands.check_agent import check_command
from tracetax.commands.request import CheckRequest, Request
from tracetax.commands.run import run_command

EXPERIMENT = """
title = "What tracing costs a service"
workload = "requests/python"
result = false
[parameters]
requests = 600
endpoint = { json = 1, rows = 2 }
queries = 3
rate = "200/s"
connections = 8
[[configurations]]
agent = "fake"
use = ["quiet", "sent"]
[schedule]
blocks = { min = 2, max = 2 }
budget = "5min"
memory = false
"""


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: MonkeyPatch, capsys: CaptureFixture[str]) -> tuple[Path, str]:
    """The folder of a run, and what was printed."""
    root, experiment, run = repository(tmp_path), tmp_path / "trial.toml", tmp_path / "run"
    experiment.write_text(EXPERIMENT)
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("TRACETAX_YES", "1")
    status = run_command(Request(experiment=str(experiment), out=run, seed=1), root, ("run", str(experiment)))
    printed = capsys.readouterr().out
    assert status == 0, printed
    return run, printed


def test_a_service_is_measured_from_the_command_to_the_page(measured: tuple[Path, str]) -> None:
    run, printed = measured
    findings: Any = json.loads((run / "findings.json").read_text())
    baseline, quiet, sent = findings["configurations"]
    assert [row["configuration"] for row in (baseline, quiet, sent)] == ["baseline", "quiet", "sent"]
    assert sent["records"]["expected"] == sent["records"]["received"] == 2 * (200 * 1 + 400 * 4)
    assert sent["records"]["completeness"] == 1
    names = {(measure["name"], measure["per"]) for measure in sent["measures"]}
    assert names >= {
        *(("response_time_median", "call"), ("response_time_p90", "call"), ("overhead", "call")),
        *(("cpu", "call"), ("cpu", "record"), ("rss_peak", ""), ("startup_first_call", "")),
    }
    assert not {"cpu_caller", "cpu_agent", "startup_main"} & {name for name, _ in names}
    assert "600 requests to json (33.3 %) and rows (66.7 %), at 200 requests/s, on 8 connections at most" in printed
    assert "without an agent a request takes" in printed
    assert "per call" not in printed
    page = (run / "report.html").read_text()
    assert "Without an agent a request takes" in page
    assert "invocation" not in page


def test_what_a_trial_sent_and_how_it_ended_is_kept(measured: tuple[Path, str]) -> None:
    run, _ = measured
    record: Any = json.loads((run / "trials" / "0001" / "record.json").read_text())
    assert record["parameters"]["kind"] == "requests"
    assert record["exit_status"] == 0
    load: Any = json.loads((run / "trials" / "0001" / "trial.json").read_text())["load"]
    assert {sent["name"]: sent["outcomes"] for sent in load["endpoints"]} == {
        "json": {"right": 200},
        "rows": {"right": 400},
    }


@pytest.mark.parametrize(("json_spans", "status"), [(1, 0), (2, 1)])
def test_an_agents_file_is_checked_by_single_requests(
    tmp_path: Path, monkeypatch: MonkeyPatch, capsys: CaptureFixture[str], json_spans: int, status: int
) -> None:
    root = repository(tmp_path)
    agent = root / "agents" / "fake" / "python" / "agent.toml"
    agent.write_text(agent.read_text().replace('{"/json": 1,', f'{{"/json": {json_spans},'))
    monkeypatch.setenv("COLUMNS", "200")
    request = CheckRequest(agent="fake", configuration="sent", workload="requests/python", out=tmp_path / "check")
    assert check_command(request, root, ("check-agent", "fake")) == status
    printed = capsys.readouterr().out
    assert "300 requests to json, rows and work equally, at 30 requests/s" in printed
    assert ("10 calls of json made 20 records, and its file declares 10" in printed) == (status == 1)
    assert ("no more than these single requests were sent" in printed) == (status == 1)
    assert "main method" not in printed
    assert "./tracetax run --agent" not in printed
