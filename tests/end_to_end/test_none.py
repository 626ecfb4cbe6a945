"""The baseline's two companions: an agent that does nothing, and an empty probe woven by hand."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.command import ROOT, tracetax

pytestmark = pytest.mark.real
EXPERIMENT = """
title = "What instrumentation costs at the least"
workload = "calltree/java"
result = false
[parameters]
calls = 2_000
depth = 10
[jvm]
heap = "256 MiB"
[[configurations]]
agent = "none"
use = ["empty-agent", "no-op-probe"]
[schedule]
blocks = { min = 2, max = 2 }
budget = "10min"
memory = false
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("none")
    experiment = folder / "none.toml"
    experiment.write_text(EXPERIMENT)
    status, printed = tracetax("run", str(experiment), "--out", str(folder / "run"), "--seed", "3")
    assert status == 0, printed
    return folder / "run"


def command(run: Path, configuration: str) -> list[str]:
    """What the JVM of a trial was started with."""
    records = [json.loads(path.read_text()) for path in run.glob("trials/*/record.json")]
    return next(record["command"] for record in records if record["cell"]["use"]["configuration"] == configuration)


def test_they_are_measured_against_the_baseline_and_send_nothing(run: Path) -> None:
    rows: list[dict[str, Any]] = json.loads((run / "findings.json").read_text())["configurations"]
    assert [row["configuration"] for row in rows] == ["baseline", "empty-agent", "no-op-probe"]
    assert all(row["records"]["received"] == row["records"]["unexpected_names"] == 0 for row in rows)
    for row in rows[1:]:
        assert {measure["name"] for measure in row["measures"]} >= {"overhead", "cpu", "startup_main"}


def test_the_agent_is_one_to_the_jvm(run: Path) -> None:
    (flag,) = (word for word in command(run, "empty-agent") if word.startswith("-javaagent:"))
    with zipfile.ZipFile(flag.removeprefix("-javaagent:")) as jar:
        assert b"Premain-Class: tracetax.none.EmptyAgent" in jar.read("META-INF/MANIFEST.MF")
    assert not any(word.startswith("-javaagent:") for word in command(run, "baseline"))


def test_the_class_with_the_probe_comes_before_the_workloads(run: Path) -> None:
    woven, whole = command(run, "no-op-probe"), command(run, "baseline")
    first, second = woven[woven.index("-cp") + 1].split(":")
    assert second == whole[whole.index("-cp") + 1]
    folder = Path(first) / "tracetax" / "calltree"
    assert {path.name for path in folder.iterdir()} == {"MonitoredClass.class", "Probe.class"}


def test_but_for_the_probe_it_is_the_workloads_class() -> None:
    place = "tracetax/calltree/MonitoredClass.java"
    woven = (ROOT / "agents/none/java/files/no-op-probe" / place).read_text()
    without = woven.replace("Probe.before();", "").replace("try {", "").replace("} finally {", "")
    without = without.replace("Probe.after();\n    }", "")
    assert code(without) == code((ROOT / "workloads/calltree/java/src" / place).read_text())


def code(source: str) -> list[str]:
    """The words of a Java file without its comments."""
    return re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL).split()
