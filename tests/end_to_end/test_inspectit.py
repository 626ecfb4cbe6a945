"""inspectIT's folder as far as it goes without its jar, which is in no registry.

Its flags, YAML and metric are those that a stand-in is set by, and OpenTelemetry's agent, with the same batch processor
behind it, sends spans into its other configurations.
"""

import tomllib
from pathlib import Path

import pytest

from tests.end_to_end.changed import change, root_of
from tests.end_to_end.command import ROOT
from tests.end_to_end.hooking_agent import build_agent
from tests.end_to_end.trials import measure_each, verdicts
from tracetax.commands.request import Request, asked
from tracetax.errors import UserError
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
CALLS, DEPTH = 300, 10
EXPERIMENT = """
title = "inspectIT's folder"
workload = "calltree/java"
result = false
[parameters]
calls = {calls}
depth = {depth}
rate = "100/s"
[jvm]
heap = "256 MiB"
[[configurations]]
agent = "inspectit"
use = {use}
"""
LATE = """
[configurations.prometheus-late]
title = "counted, hooked in the background"
extends = "prometheus"
flags = ["-Dinspectit.instrumentation.internal.async=true", "-Dhooking.after.ms=3600000"]
"""
SENDER = (
    '"-Dotel.instrumentation.methods.include={monitored.class}[{monitored.method}]"',
    '"-Dotel.metrics.exporter=none"',
    '"-Dotel.logs.exporter=none"',
    '"-Dotel.exporter.otlp.protocol=grpc"',
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository whose only agent is inspectIT, beside the baseline."""
    return root_of(tmp_path, "none", "inspectit")


def experiment(root: Path, *use: str) -> Path:
    file = root.parent / "inspectit.toml"
    file.write_text(EXPERIMENT.format(calls=CALLS, depth=DEPTH, use=list(use)))
    return file


def test_without_the_file_a_run_is_refused_and_says_which_one_it_is(root: Path) -> None:
    with pytest.raises(UserError, match=r"inspectit-ocelot-agent-2\.7\.0\.jar") as refused:
        asked(Request(experiment=str(experiment(root, "off"))), root)
    assert "--artifact inspectit.agent=FILE" in str(refused.value)


def test_what_its_flags_and_its_yaml_say_is_hooked_served_and_counted(root: Path, tmp_path: Path) -> None:
    file = root / "agents" / "inspectit" / "java" / "agent.toml"
    file.write_text(file.read_text() + LATE)
    jar = build_agent(tmp_path / "agent")
    uses = ("prometheus", "prometheus-late", "off")
    found = measure_each(experiment(root, *uses), root, tmp_path / "run", artifacts=(f"inspectit.agent={jar}",))
    counted = found["prometheus"]
    assert counted.ledger and counted.ledger.received == counted.ledger.made == CALLS * DEPTH
    assert (counted.status, verdicts(counted)) == ("ok", {})
    assert verdicts(found["prometheus-late"]) == {"nothing-recorded": "error"}
    assert (found["off"].status, verdicts(found["off"])) == ("ok", {})


def test_spans_by_the_same_batch_processor_arrive_to_the_last_one(root: Path, tmp_path: Path) -> None:
    with (ROOT / "agents" / "opentelemetry" / "java" / "agent.toml").open("rb") as stream:
        agent = tomllib.load(stream)["artifacts"]["agent"]
    own = tomllib.loads((root / "agents" / "inspectit" / "java" / "agent.toml").read_text())["artifacts"]["agent"]
    change(
        root,
        "inspectit",
        (f'given = "{own["given"]}"\nversion = "2.7.0"', f'maven = "{agent["maven"]}"\nsha256 = "{agent["sha256"]}"'),
        ('  "-javaagent:{artifacts.agent}",\n', f'  "-javaagent:{{artifacts.agent}}",\n  {", ".join(SENDER)},\n'),
        (
            'otlp.endpoint={sink.otlp_grpc}",\n',
            'otlp.endpoint={sink.otlp_grpc}",\n  "-Dotel.exporter.otlp.endpoint={sink.otlp_grpc}",\n',
        ),
        (
            '["-Dinspectit.exporters.tracing.zipkin.endpoint={sink.zipkin}/api/v2/spans"]',
            '["-Dotel.exporter.zipkin.endpoint={sink.zipkin}/api/v2/spans", "-Dotel.traces.exporter=zipkin"]',
        ),
    )
    for trial in measure_each(experiment(root, "otlp", "zipkin"), root, tmp_path / "run").values():
        assert_complete(trial)


def assert_complete(trial: TrialRecord) -> None:
    assert trial.ledger and trial.warm_up
    assert trial.ledger.received == trial.ledger.expected == CALLS * DEPTH
    assert trial.ledger.complete_trees == CALLS
    assert trial.warm_up.ledger.missing == 0
    assert (trial.status, verdicts(trial)) == ("ok", {})
