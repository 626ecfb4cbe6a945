"""The repository with other words in an agent's file: for what the tool must notice about an agent."""

import json
import shutil
from pathlib import Path
from typing import Any

from tests.end_to_end.command import ROOT
from tracetax.commands.request import Request
from tracetax.commands.run import run_command

Row = dict[str, Any]


def root_of(folder: Path, *agents: str) -> Path:
    """Make a root ``folder/root`` that has these agents, and each in a copy that may be changed."""
    root = folder / "root"
    root.mkdir()
    for name in ("workloads", "sink", "published", "experiments", "runtimes"):
        (root / name).symlink_to(ROOT / name)
    for name in agents:
        shutil.copytree(ROOT / "agents" / name, root / "agents" / name)
    return root


def change(root: Path, agent: str, *changes: tuple[str, str]) -> None:
    """Put other words in the place of words that stand in an agent's file once."""
    file = root / "agents" / agent / "java" / "agent.toml"
    text = file.read_text()
    for old, new in changes:
        assert text.count(old) == 1, f"{old} stands there {text.count(old)} times"
        text = text.replace(old, new)
    file.write_text(text)


def repository(folder: Path, old: str, new: str) -> Path:
    """Make a root in ``folder`` where agents/kieker/java/agent.toml says ``new`` instead of ``old``."""
    root = root_of(folder, "none", "kieker")
    change(root, "kieker", (old, new))
    return root


def measured(root: Path, experiment: str, run: Path) -> tuple[int, list[Row]]:
    """Measure under a root; returns the exit status and the rows of Kieker."""
    file = run.parent / f"{run.name}.toml"
    file.write_text(experiment)
    status = run_command(Request(experiment=str(file), out=run, seed=3), root, ())
    findings = json.loads((run / "findings.json").read_text())
    return status, [row for row in findings["configurations"] if row["agent"] == "kieker"]
