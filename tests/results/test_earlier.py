"""What earlier versions stored is read in the present shape, and readers of findings find the names that they know."""

from pathlib import Path
from typing import Any

import msgspec

from tests.report.sample_findings import JAVA, sample_findings
from tests.settings import java_settings
from tracetax.program import RuntimeVersion
from tracetax.results.earlier import (
    Java,
    JvmSettings,
    older_java,
    older_settings,
    upgraded_findings,
    upgraded_manifest,
    upgraded_record,
)
from tracetax.results.findings import Findings
from tracetax.results.folder import RunFolder
from tracetax.results.manifest import MANIFEST_VERSION

STORED = Path(__file__).resolve().parents[1] / "goldens" / "runs"
JDK = RuntimeVersion("JDK", "21.0.8", "Debian", "/usr/lib/jvm/21", archive=True)


def test_a_run_of_format_2_has_settings_a_runtime_and_what_each_part_ran_on() -> None:
    manifest = RunFolder(STORED / "builds").manifest
    assert manifest.version == 2 < MANIFEST_VERSION
    assert {part.settings["jdk"] for part in manifest.experiment.parts} == {17, 21}
    assert all({"heap", "collector"} <= part.settings.keys() for part in manifest.experiment.parts)
    assert manifest.runtime and (manifest.runtime.key, manifest.runtime.process) == ("java", "JVM")
    assert manifest.ran_on["depth-2-jdk-17"] == RuntimeVersion(
        "JDK", "17.0.15", "stand-in", "/usr/lib/jvm/stand-in-17", archive=True
    )
    assert manifest.agents["fake"].configurations["flat"].flags[0] == "-Dfake=flat"


def test_a_release_that_nobody_chose_has_no_key() -> None:
    manifest = RunFolder(STORED / "agents").manifest
    assert all("jdk" not in part.settings for part in manifest.experiment.parts)


def test_a_record_keeps_its_cell() -> None:
    cell = {"part": "p", "use": {"agent": "a", "configuration": "c"}, "heap_bytes": 1, "role": "memory"}
    flat = {"number": 1, "part": "p", "agent": "a", "configuration": "c", "heap_bytes": 1, "role": "memory"}
    assert upgraded_record(flat) == {"number": 1, "cell": cell}
    assert upgraded_record({"number": 1, "cell": cell}) == {"number": 1, "cell": cell}


def test_findings_of_an_earlier_version_have_the_present_names() -> None:
    stored: Any = msgspec.json.decode(msgspec.json.encode(sample_findings()))
    java = {"version": "21.0.8", "vendor": "Debian", "kind": "JDK", "archive": True, "home": "/usr/lib/jvm/21"}
    del stored["experiment"]["runtime"]
    for part in stored["experiment"]["parts"]:
        del part["settings"], part["ran_on"]
        part |= {"jvm": {"heap_bytes": 1 << 30, "collector": "Z", "jdk": 21}, "java": java}
    for row in stored["configurations"]:
        del row["ran_on"]
        row["java"] = java
    findings = msgspec.convert(upgraded_findings(stored), Findings)
    assert findings.experiment.runtime == JAVA
    assert (
        {part.ran_on for part in findings.experiment.parts} == {row.ran_on for row in findings.configurations} == {JDK}
    )
    assert [part.settings for part in findings.experiment.parts] == [java_settings(1 << 30, "Z", 21)] * 2


def test_parameters_of_format_4_are_those_of_the_only_kind_that_there_was() -> None:
    stored: Any = msgspec.json.decode(msgspec.json.encode(sample_findings()))
    present = msgspec.convert(stored, Findings)
    for holder in (*stored["experiment"]["parts"], *stored["configurations"]):
        assert holder["parameters"].pop("kind") == "calltree"
    assert msgspec.convert(upgraded_findings(stored), Findings) == present
    part: Any = {"parameters": {"calls": 3, "depth": 5}, "settings": {}}
    manifest: Any = {"ran_on": {}, "invocations": [{"experiment": {"parts": [part]}}]}
    (invocation,) = upgraded_manifest(manifest)["invocations"]
    assert invocation["experiment"]["parts"][0]["parameters"] == {"kind": "calltree", "calls": 3, "depth": 5}
    assert upgraded_record({"cell": {}, "parameters": {"calls": 3}})["parameters"] == {"kind": "calltree", "calls": 3}


def test_what_has_the_present_shape_stays_as_it_is() -> None:
    stored: Any = msgspec.json.decode(msgspec.json.encode(sample_findings()))
    assert upgraded_findings(stored) == stored
    manifest: Any = {"version": MANIFEST_VERSION, "ran_on": {}, "invocations": [], "agents": {}}
    assert upgraded_manifest(manifest) == manifest


def test_readers_find_the_older_names_of_java_and_nothing_for_another_runtime() -> None:
    assert older_settings(java_settings(1 << 30, "Z", 21)) == JvmSettings(1 << 30, "Z", 21)
    assert older_settings({"node": 20}) is None
    assert older_java(JDK) == Java("21.0.8", "Debian", "JDK", archive=True, home="/usr/lib/jvm/21")
    assert older_java(RuntimeVersion("Java runtime", "21", archive=False)) == Java(
        "21", "", "runtime", archive=False, home=""
    )
    assert older_java(RuntimeVersion("Python", "3.12.3")) is None
