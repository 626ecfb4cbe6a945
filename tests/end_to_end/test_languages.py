"""The call tree in every language but Java, from the command to the page, without an agent and with one of the user's.

The agent does nothing: how agents of each language fare is told by their own tests.
"""

import json
from typing import Any

import pytest

from tests.end_to_end.command import tracetax
from tracetax.results.folder import RunFolder
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
LANGUAGES = ("go", "node", "python")
AGENT = """
name = "Nothing"
homepage = "https://example.org"
licence = "none"
language = "{language}"
runtime = {{ min = 1, tested = [] }}
instrumentation = "none"
version = "1"

[configurations.nothing]
title = "does nothing"
layers = ["T"]
delivery = "none"
environment = {{ NOTHING = "here" }}
"""
EXPERIMENT = """
title = "Nothing in {language}"
workload = "calltree/{language}"
result = false
[parameters]
calls = 50_000
depth = 10
[[configurations]]
agent = "nothing"
use = ["nothing"]
[schedule]
blocks = {{ min = 2, max = 2 }}
budget = "10min"
"""


@pytest.fixture(scope="module", params=LANGUAGES)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    language: str = request.param
    folder = tmp_path_factory.mktemp(language)
    (folder / "agents" / "nothing").mkdir(parents=True)
    (folder / "agents" / "nothing" / "agent.toml").write_text(AGENT.format(language=language))
    experiment = folder / "nothing.toml"
    experiment.write_text(EXPERIMENT.format(language=language))
    own = ("--agents-dir", str(folder / "agents"))
    status, printed = tracetax("run", str(experiment), *own, "--out", str(folder / "run"), "--seed", "3")
    assert status == 0, printed
    return RunFolder(folder / "run")


def language_of(run: RunFolder) -> str:
    return run.manifest.experiment.workload.partition("/")[2]


def findings(run: RunFolder) -> dict[str, Any]:
    return json.loads((run.path / "findings.json").read_text())


def test_every_trial_is_made_and_no_memory_trial_is(run: RunFolder) -> None:
    roles = sorted(record.cell.role for record in run.records())
    assert set(roles) == {"baseline-1", "baseline-2", "configuration"}
    assert all(record.status == "ok" for record in run.records())


def test_an_agent_is_compared_with_the_baseline(run: RunFolder) -> None:
    rows = findings(run)["configurations"]
    assert [row["configuration"] for row in rows] == ["baseline", "nothing"]
    measures = {measure["name"] for measure in rows[1]["measures"]}
    assert {"overhead", "cpu", "cpu_caller", "startup_main"} <= measures
    assert not {"cpu_jit", "cpu_gc"} & measures, "nobody knows these threads"
    assert (run.path / "report.html").is_file()


def test_it_is_started_as_its_file_says(run: RunFolder) -> None:
    words = {"go": "/calltree", "node": "/main.js", "python": "tracetax_calltree"}
    for record in run.records():
        assert any(word.endswith(words[language_of(run)]) for word in record.command)
        assert ("NOTHING" in record.environment) is not record.cell.is_baseline
        assert ("PYTHONPATH" in record.environment) is (language_of(run) == "python")


def test_cpu_is_the_callers_and_the_rest(run: RunFolder) -> None:
    known = [record.cpu for record in run.records() if record.cpu]
    assert len(known) == len(run.records())
    for cpu in known:
        assert cpu.to_last_call.caller > 0
        assert cpu.to_last_call.jit == cpu.to_last_call.gc == cpu.to_last_call.jvm == 0
        assert cpu.to_drained.total < 60e9


def test_what_it_ran_on_is_told(run: RunFolder) -> None:
    named = {"go": "Go 1.", "node": "Node ", "python": "Python 3."}
    assert {str(ran_on).startswith(named[language_of(run)]) for ran_on in run.manifest.ran_on.values()} == {True}
    assert all(f"{language_of(run)}.version" in record.versions for record in run.records())


def test_what_its_language_does_not_tell_of_memory_is_left_out(run: RunFolder) -> None:
    records: list[TrialRecord] = run.records()
    assert {record.heap for record in records} == {record.allocated_bytes_per_call for record in records} == {None}
    assert all(record.rss_peak_bytes > 1 << 20 for record in records)
