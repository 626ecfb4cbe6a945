"""The smoke experiment with the real agents, from the command to the findings."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest

from tests.end_to_end.command import ROOT, processes_naming, tracetax

Row = dict[str, Any]
pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("smoke") / "run"
    status, printed = tracetax("run", "experiments/smoke.toml", "--out", str(folder), "--seed", "3")
    assert status == 0, printed
    (folder.parent / "printed.txt").write_text(printed)
    return folder


@pytest.fixture(scope="module")
def findings(run: Path) -> dict[str, Any]:
    return json.loads((run / "findings.json").read_text())


def row(findings: dict[str, Any], agent: str) -> Row:
    return next(one for one in findings["configurations"] if one["agent"] == agent)


def test_findings_conform_to_the_published_schema(findings: dict[str, Any]) -> None:
    jsonschema.validate(findings, json.loads((ROOT / "docs" / "findings.schema.json").read_text()))


def test_an_agent_that_makes_the_caller_wait_delivers_every_record_in_whole_trees(findings: dict[str, Any]) -> None:
    records = row(findings, "kieker")["records"]
    assert records["expected"] == records["received"] == 2 * 2_000 * 10
    assert records["complete_trees"] == records["expected_trees"] == 2 * 2_000
    assert records["malformed"] == records["duplicates"] == records["orphans"] == 0


def test_constructor_and_class_initialiser_are_shown_as_unexpected_names(findings: dict[str, Any]) -> None:
    unexpected = row(findings, "kieker")["records"]["unexpected"]
    assert sorted(re.sub(r"\(.*", "", name) for name in unexpected) == [
        "public tracetax.calltree.MonitoredClass",
        "static tracetax.calltree.MonitoredClass",
    ]


def test_received_and_logged_drops_are_what_was_generated_to_the_record(findings: dict[str, Any]) -> None:
    records = row(findings, "opentelemetry")["records"]
    assert records["received"] > 0
    assert records["received"] + records["dropped_reported"] == records["expected"] == 2 * 2_000 * 10


def test_the_baseline_is_a_row_that_expects_nothing(findings: dict[str, Any]) -> None:
    records = row(findings, "none")["records"]
    assert (records["expected"], records["completeness"]) == (0, None)


def test_the_caller_of_the_baseline_allocates_nothing(findings: dict[str, Any]) -> None:
    allocation = next(m for m in row(findings, "none")["measures"] if m["name"] == "allocation")
    assert allocation["estimate"] == 0


def test_the_run_folder_holds_what_the_documentation_says(run: Path) -> None:
    files = {path.name for path in run.iterdir()}
    assert files == {
        "manifest.json",
        "trials",
        "logs",
        "measures.parquet",
        "series.parquet",
        "distributions.parquet",
        "findings.json",
        "report.html",
    }
    trials = sorted((run / "trials").iterdir())
    assert {path.name for path in trials[0].iterdir()} == {
        "record.json",
        "command.sh",
        "trial.json",
        "series.parquet",
        "distributions.parquet",
    }
    counted = pl.read_parquet(run / "distributions.parquet").group_by("trial").agg(pl.col("count").sum())
    assert set(counted["count"]) == {2_000}


def test_it_is_marked_as_no_result(run: Path) -> None:
    assert "no result" in (run.parent / "printed.txt").read_text().lower()
    assert "no result" in (run / "report.html").read_text().lower()


def test_the_page_needs_no_network(run: Path) -> None:
    loaded: list[str] = []

    class Loads(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            loaded.extend(value or "" for name, value in attrs if name == "src" or (tag == "link" and name == "href"))

    Loads().feed((run / "report.html").read_text())
    assert [one for one in loaded if not one.startswith("data:")] == []


def test_no_process_is_left(run: Path) -> None:
    assert processes_naming(run) == []


def test_it_can_be_shown_again_and_goes_on_with_more_blocks(run: Path) -> None:
    status, printed = tracetax("report", str(run))
    assert (status, "Kieker" in printed) == (0, True)
    before = len(list((run / "trials").iterdir()))
    status, printed = tracetax("run", "--resume", str(run), "--blocks", "3", "--budget", "5min")
    assert status == 0, printed
    assert len(list((run / "trials").iterdir())) >= before + 4
    found = json.loads((run / "findings.json").read_text())
    assert found["experiment"]["parts"][0]["blocks"] == 3


def test_a_run_whose_agents_changed_does_not_go_on(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    changed = {**manifest, "hashes": {**manifest["hashes"], "the agent kieker": "other"}}
    (run / "manifest.json").write_text(json.dumps(changed))
    status, printed = tracetax("run", "--resume", str(run))
    (run / "manifest.json").write_text(json.dumps(manifest))
    assert status == 2
    assert "the agent kieker changed since it began" in printed
