"""Every row says on which Java it was measured, and start-up is not compared between kinds of it."""

from pathlib import Path

from msgspec.structs import replace

from tests.results.trials import blocks
from tests.run.stand_ins import HEAP, configuration, experiment, new_run
from tests.settings import java_settings
from tracetax.analysis.findings import build
from tracetax.analysis.statements import condition
from tracetax.program import RuntimeVersion
from tracetax.results.findings import Findings
from tracetax.results.records import TrialRecord

FULL = RuntimeVersion("JDK", "17.0.15", "Debian", "/usr/lib/jvm/17", archive=True)
BARE = RuntimeVersion("Java runtime", "21.0.8", "", "/cache/21", archive=False)
FLAT = configuration("flat")


def on_two(path: Path, first: RuntimeVersion, second: RuntimeVersion) -> Findings:
    """A run of the same configuration on two JDKs."""
    what = experiment(FLAT)
    releases = {"p": 17, "q": 21}
    parts = [
        replace(what.parts[0], name=name, settings=java_settings(HEAP, "Z", jdk), levels=f"JDK {jdk}")
        for name, jdk in releases.items()
    ]
    folder = new_run(path / "r", replace(what, parts=tuple(parts)), FLAT)
    folder.write_manifest(replace(folder.manifest, ran_on={"p": first, "q": second}))
    trials = blocks(3)
    on_second: list[TrialRecord] = [
        replace(trial, number=trial.number + 100, cell=replace(trial.cell, part="q")) for trial in trials
    ]
    for trial in [*trials, *on_second]:
        folder.scratch(trial.number)
        folder.keep_trial(replace(trial, block_size=6))
    return build(folder)


def test_rows_and_parts_say_what_they_ran_on(tmp_path: Path) -> None:
    found = on_two(tmp_path, FULL, BARE)
    assert {(row.part, row.ran_on, row.collector) for row in found.configurations} == {
        ("p", FULL, "Z"),
        ("q", BARE, "Z"),
    }
    assert [(part.ran_on, part.settings) for part in found.experiment.parts] == [
        (FULL, java_settings(HEAP, "Z", 17)),
        (BARE, java_settings(HEAP, "Z", 21)),
    ]


def test_sentences_say_of_which_level_they_are(tmp_path: Path) -> None:
    parts = on_two(tmp_path, FULL, BARE).experiment.parts
    assert [condition(part) for part in parts] == ["At full speed (JDK 17)", "At full speed (JDK 21)"]


def test_start_up_on_a_jdk_and_on_a_runtime_without_archive_is_not_comparable(tmp_path: Path) -> None:
    (verdict,) = (one for one in on_two(tmp_path, FULL, BARE).verdicts if one.code == "start-up-apart")
    assert verdict.text.startswith("Java runtime 21.0.8: without a class-data archive")


def test_two_of_a_kind_are_comparable(tmp_path: Path) -> None:
    found = on_two(tmp_path, FULL, replace(FULL, version="21.0.9"))
    assert all(verdict.code != "start-up-apart" for verdict in found.verdicts)
