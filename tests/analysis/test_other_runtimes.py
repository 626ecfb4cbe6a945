"""Of a runtime that reports less than a JVM, the findings have less, and no zero in its place."""

from pathlib import Path

from msgspec.structs import replace

from tests.analysis.test_cost import sampled
from tests.run.stand_ins import RUNTIME, configuration, experiment, new_run
from tracetax.analysis.findings import build
from tracetax.model import Part
from tracetax.program import Runtime, RuntimeVersion
from tracetax.results.findings import Findings
from tracetax.results.records import TrialRecord
from tracetax.results.runtime import told_of

PYTHON = Runtime(key="python", name="Python", settings={})
VERSION = RuntimeVersion("Python", "3.12.3", "CPython", "/usr")
GROUPS = {"cpu_jit", "cpu_gc"}


def found(path: Path, runtime: Runtime, trials: list[TrialRecord]) -> Findings:
    what = experiment(configuration("flat"))
    part: Part = replace(what.parts[0], settings={})
    folder = new_run(path / "r", replace(what, parts=(part,)), configuration("flat"))
    folder.write_manifest(replace(folder.manifest, runtime=runtime, ran_on={"p": VERSION}))
    for trial in trials:
        folder.scratch(trial.number)
        folder.keep_trial(trial)
    return build(folder)


def resident(trials: list[TrialRecord]) -> list[TrialRecord]:
    """The trials with memory that grows from block to block, and no heap that was set."""
    return [
        replace(
            trial,
            cell=replace(trial.cell, heap_bytes=0),
            rss_peak_bytes=(10 + trial.block) << 20,
            allocated_bytes_per_call=None,
        )
        for trial in trials
    ]


def test_cpu_of_threads_without_names_is_not_told_apart(tmp_path: Path) -> None:
    (row,) = (row for row in found(tmp_path, PYTHON, resident(sampled())).configurations if not row.is_baseline)
    names = {measure.name for measure in row.measures}
    assert {"cpu", "cpu_caller", "cpu_agent"} <= names
    assert not names & GROUPS
    (named,) = (row for row in found(tmp_path / "java", RUNTIME, sampled()).configurations if not row.is_baseline)
    assert {measure.name for measure in named.measures} >= GROUPS


def test_memory_without_a_heap_that_grows_is_that_of_ordinary_trials(tmp_path: Path) -> None:
    for row in found(tmp_path, PYTHON, resident(sampled())).configurations:
        (peak,) = (measure for measure in row.measures if measure.name == "rss_peak")
        assert (peak.estimate, peak.n_blocks) == (12 << 20, 3)
        assert peak.ci95
        assert not {"heap_live", "allocation", "collections"} & {measure.name for measure in row.measures}


def test_the_older_names_of_java_are_empty_and_the_general_ones_are_not(tmp_path: Path) -> None:
    findings = found(tmp_path, PYTHON, resident(sampled()))
    (part,) = findings.experiment.parts
    assert (part.jvm, part.java, part.settings, part.ran_on) == (None, None, {}, VERSION)
    assert {(row.java, row.collector, row.ran_on) for row in findings.configurations} == {(None, "", VERSION)}
    assert findings.experiment.runtime == told_of(PYTHON)


def test_readers_are_told_what_a_runtime_can_tell() -> None:
    told = told_of(RUNTIME)
    assert (told.key, told.name, told.process) == ("java", "Java", "JVM")
    assert told.settings == {"jdk": "release", "heap": "size", "collector": "choice"}
    assert told.threads == ("jit", "gc", "own")
    assert told_of(PYTHON).threads == ()
