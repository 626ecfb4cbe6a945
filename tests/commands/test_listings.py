"""``list``: names that are copied into commands stay whole, on a terminal and in a pipe; programs get JSON."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.command import ROOT, tracetax
from tracetax.catalog import load_agents
from tracetax.commands.listings import show_list
from tracetax.errors import UserError

LONG = "otlp-in-background"


def on_a_terminal(columns: int, *words: str) -> str:
    """What a command shows on a terminal that is so wide."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": str(columns), "TERM": "xterm"}
    with subprocess.Popen(
        (sys.executable, "-m", "tracetax", *words), cwd=ROOT, env=environment, stdout=follower, stderr=follower
    ) as command:
        os.close(follower)
        shown = b""
        try:
            while part := os.read(leader, 1 << 16):
                shown += part
        except OSError:  # the terminal's other end is closed
            pass
    os.close(leader)
    assert command.returncode == 0
    return shown.decode()


@pytest.mark.parametrize("columns", ["40", "80"])
def test_in_a_pipe_each_row_is_one_line_however_narrow_the_terminal(columns: str) -> None:
    status, printed = tracetax("list", "configurations", "inspectit", environment={"COLUMNS": columns})
    assert status == 0
    names = [line.split()[1] for line in printed.splitlines()[1:]]
    assert names == list(load_agents(ROOT, "java")["inspectit"].configurations)


@pytest.mark.parametrize("columns", [40, 80])
def test_on_a_terminal_only_prose_is_folded(columns: int) -> None:
    shown = on_a_terminal(columns, "list", "configurations", "inspectit")
    assert f" {LONG} " in shown
    if columns == 80:
        assert max(len(line) for line in re.sub(r"\x1b\[[\d;]*m", "", shown).splitlines()) <= 80


def test_run_folders_stay_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "runs" / ("2026-11-22-" + "a-long-name-" * 8 + "81a9")
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    show_list("runs", ROOT, as_json=False)
    assert f"runs/{folder.name} " in capsys.readouterr().out


@pytest.mark.parametrize("what", ["agents", "backends", "configurations", "experiments", "runs", "workloads"])
def test_every_list_is_there_for_programs(what: str) -> None:
    status, printed = tracetax("list", what, "--json")
    assert status == 0
    rows: list[dict[str, object]] = json.loads(printed)
    assert isinstance(rows, list)
    if what == "configurations":
        assert LONG in {row["configuration"] for row in rows if row["agent"] == "inspectit"}


def test_workloads_are_listed_with_what_runs_them_and_their_agents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = (ROOT / "agents" / "opentelemetry" / "go" / "agent.toml").read_text(encoding="utf-8")
    (tmp_path / "mine" / "go").mkdir(parents=True)
    (tmp_path / "mine" / "go" / "agent.toml").write_text(own, encoding="utf-8")
    show_list("workloads", ROOT, [tmp_path], as_json=True)
    rows = {row["workload"]: row for row in json.loads(capsys.readouterr().out)}
    languages = ("go", "java", "node", "python")
    everywhere = {f"{kind}/{language}" for kind in ("calltree", "requests") for language in languages}
    assert set(rows) == everywhere | {"functions/node", "functions/python"}
    assert rows["calltree/go"] == {
        "workload": "calltree/go",
        "title": "call tree in Go",
        "runtime": "Go",
        "agents": ["datadog", "elastic", "opentelemetry", "mine"],
    }
    assert "none" not in rows["calltree/java"]["agents"]


def test_an_agent_goes_with_configurations_only() -> None:
    with pytest.raises(UserError, match=r"\./tracetax list configurations kieker"):
        show_list("agents", ROOT, only="kieker", as_json=False)
