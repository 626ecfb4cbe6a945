"""One block is enough to look at: a result without intervals, marked as indicative, in every form."""

import os
import re
from pathlib import Path

import pytest
from rich.console import Console

from tests.run.stand_ins import ROOT, configuration, experiment
from tests.run.test_session import Watcher, session
from tracetax.artifacts import build_sink, cache_dir
from tracetax.catalog import rescheduled
from tracetax.commands.report import conclude, export_run
from tracetax.model import Schedule
from tracetax.report.terminal import render


def test_one_block_may_be_asked_for() -> None:
    schedule = rescheduled(Schedule(), blocks=1)
    assert (schedule.min_blocks, schedule.max_blocks) == (1, 1)


def test_a_run_of_one_block_is_shown_without_intervals_and_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracetax.machine.disturbance.DISTURBED_ABOVE", 99.0)
    config = configuration("warming-up")
    sink = build_sink(ROOT, cache_dir(os.environ))
    ended, folder = session(tmp_path / "r", sink, experiment(config, blocks=1), (config,), Watcher())
    assert ended.parts == {"p": "max-blocks"}
    findings, page = conclude(folder)
    (row,) = (row for row in findings.configurations if row.agent == "fake")
    assert {measure.ci95 for measure in row.measures} == {None}
    assert findings.experiment.parts[0].indicative
    console = Console(width=160, record=True, file=(tmp_path / "terminal.txt").open("w"))
    render(findings, console, page, folder.path)
    exports = {form: tmp_path / f"rows.{form}" for form in ("markdown", "csv")}
    for form, file in exports.items():
        export_run(folder.path, form, file)
    print(
        console.export_text(clear=False), exports["markdown"].read_text(), exports["csv"].read_text(), sep="\n=====\n"
    )
    for shown in (console.export_text(), exports["markdown"].read_text(), page.read_text()):
        assert "indicative" in shown
        assert not re.search(r"\bnan\b", shown, re.IGNORECASE)
    assert "±" not in console.export_text().split("indicative")[0]
    assert not re.search(r"\bnan\b", exports["csv"].read_text(), re.IGNORECASE)
