"""A small repository with two agents and one experiment, to break in one place."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tracetax.catalog import CatalogError, adhoc_experiment, load_catalog
from tracetax.catalog.agent_file import Known
from tracetax.catalog.command_line import TypedExperiment, TypedSearch, searched_experiment
from tracetax.catalog.workload_file import MeasuredProgram, load_workload
from tracetax.model import Experiment, Search

ROOT = Path(__file__).resolve().parents[2]
BASELINE = """
name = "No agent"
homepage = "https://example.org"
licence = "none"
language = "java"
runtime = { min = 8, tested = [17] }
instrumentation = "none"
[configurations.baseline]
title = "no instrumentation"
layers = ["T"]
delivery = "none"
"""

TRACER = """
name = "Tracer"
homepage = "https://example.org"
licence = "Apache-2.0"
language = "java"
runtime = { min = 8, tested = [17, 21] }
instrumentation = "load time"

[artifacts.agent]
maven = "org.example:tracer:1.2.3"
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"

[common]
flags = ["-javaagent:{artifacts.agent}", "-Dtracer.to={sink.otlp_http}"]
environment = { TRACER_NAME = "common", TRACER_LEVEL = "low" }
record_name = "{monitored.class}.{monitored.method}"
queue = 2048

[configurations.off]
title = "off"
layers = ["I"]
delivery = "none"

[configurations.stock]
title = "as shipped"
profile = "stock"
layers = ["I", "C", "W"]
delivery = "lossy"
protocol = "otlp-http"
held_back = 511
flush_interval = "5 s"
drop_log = 'dropped (\\d+) spans'

[configurations.lossless]
title = "large queue"
extends = "stock"
profile = "lossless"
delivery = "complete"
environment = { TRACER_LEVEL = "high" }
memory = { base = "128 MiB", per_record = "1 KiB" }
flags = ["-Dtracer.queue={expected.records.next_power_of_two}"]
"""

EXPERIMENT = """
title = "An experiment"
workload = "calltree/java"

[parameters]
calls = 1_000
depth = 10

[jvm]
heap = "1 GiB"

[[configurations]]
agent = "tracer"
use = ["off", "stock"]
"""


JAVA = load_workload("calltree/java", ROOT)[1]


def adhoc(known: Known, typed: TypedExperiment) -> Experiment:
    """What is typed without an experiment, on Java."""
    return adhoc_experiment((MeasuredProgram("calltree/java", JAVA, known),), typed)


def searched(known: Known, typed: TypedSearch) -> tuple[Experiment, Search]:
    """What is searched, on Java."""
    return searched_experiment(MeasuredProgram("calltree/java", JAVA, known), typed)


class Repository:
    """The files, and what the catalog says about them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tracer = root / "agents" / "tracer" / "java" / "agent.toml"
        self.experiment = root / "experiments" / "trial.toml"
        shutil.copytree(ROOT / "runtimes", root / "runtimes")
        self.workload("java")
        self.write("agents/none/java/agent.toml", BASELINE)
        self.write("agents/tracer/java/agent.toml", TRACER)
        self.write("experiments/trial.toml", EXPERIMENT)

    def workload(self, language: str) -> None:
        """Add the file of the call tree in a language."""
        name = f"workloads/calltree/{language}/workload.toml"
        self.write(name, (ROOT / name).read_text(encoding="utf-8"))

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def problems(self, name_or_path: str = "trial") -> dict[str, str]:
        """Key and text of every problem; the key of an agent's problem begins with the agent."""
        try:
            load_catalog(name_or_path, self.root)
        except CatalogError as error:
            return {
                (
                    problem.key if "experiments" in report.file else f"{report.file.split('/')[1]}: {problem.key}"
                ): problem.text
                for report in error.reports
                for problem in report.problems
            }
        return {}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


@pytest.fixture
def change(repository: Repository) -> Callable[[Path, str, str], None]:
    def replace(path: Path, old: str, new: str) -> None:
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path.name}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    return replace
