"""Only what measured configurations refer to is fetched and made, for each of two builds; search paths are checked."""

import zipfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import WORKLOAD, agents, configuration, experiment
from tracetax.artifacts import Workplace, sha256_of
from tracetax.errors import UserError
from tracetax.machine.toolchain import Interpreter
from tracetax.model import Agent, Artifact
from tracetax.preparation import NativeBuild, PrepareStep
from tracetax.run.supplies import check_started, installs_packages, measured, supply

CLASSES = ("tracetax/calltree/Main.class", "tracetax/calltree/MonitoredClass.class")
HOME = configuration("home", flags=("-Dhome={prepared.home}",))
BARE = configuration("bare")


def given(path: Path, *names: str) -> Artifact:
    """A file of the user's: a jar with these entries."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as jar:
        for name in (*names, path.name):
            jar.writestr(name, path.name)
    return Artifact("agent", given="a jar", sha256=sha256_of(path), file=str(path))


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    """An agent with a file that is there, and one that nobody could fetch."""
    missing = Artifact("missing", given="nobody has it")
    steps = (
        PrepareStep("home", unzip=("{artifacts.agent}",)),
        PrepareStep("never", copy={"a": "{artifacts.missing}"}),
    )
    fake = agents(HOME, BARE)["fake"]
    return replace(fake, artifacts={"agent": given(tmp_path / "agent.jar"), "missing": missing}, prepare=steps)


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    classes = tmp_path / "classes"
    for name in CLASSES:
        (classes / name).parent.mkdir(parents=True, exist_ok=True)
        (classes / name).touch()
    return Workplace("fake", tmp_path / "agents" / "fake", {}, classes, tmp_path, {}, tmp_path / "cache")


def silent(_: str) -> None: ...


def test_the_measured_configurations_of_an_agent_are_those_of_all_parts_each_once() -> None:
    what = experiment(HOME, BARE)
    both = agents(HOME, BARE)
    assert measured(replace(what, parts=what.parts * 2), both["fake"]) == [HOME, BARE]
    assert [config.name for config in measured(what, both["none"])] == ["baseline"]


def test_what_nobody_refers_to_is_neither_fetched_nor_made(agent: Agent, place: Workplace) -> None:
    assert supply(agent, [BARE], WORKLOAD, place, silent).artifacts == {}
    found = supply(agent, [HOME, BARE], WORKLOAD, place, silent)
    assert list(found.artifacts) == ["agent"]
    assert list(found.folders) == [""]
    assert (found.folders[""]["home"] / "agent.jar").is_file()


def test_each_of_two_builds_has_its_own_files_and_folders(agent: Agent, place: Workplace, tmp_path: Path) -> None:
    builds = {name: {"agent": given(tmp_path / name)} for name in ("old.jar", "new.jar")}
    unsourced = replace(agent.artifacts["agent"], file="", sha256="")
    compared = replace(agent, artifacts=agent.artifacts | {"agent": unsourced}, builds=builds)
    found = supply(compared, [HOME], WORKLOAD, place, silent)
    assert found.artifacts == {}
    assert {label: files["agent"].name for label, files in found.builds.items()} == {
        "old.jar": "old.jar",
        "new.jar": "new.jar",
    }
    assert all((found.folders[name]["home"] / name).is_file() for name in builds)


def test_without_a_compiler_only_the_configurations_that_need_it_are_left_out(
    agent: Agent, place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    native = configuration("native", flags=("-Dlibrary={prepared.library}/libown.so",))
    agent = replace(
        agent, prepare=(*agent.prepare, PrepareStep("library", cc=NativeBuild("{agent.files}/c", "libown.so")))
    )
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    said: list[str] = []
    found = supply(agent, [HOME, native], WORKLOAD, place, said.append)
    assert list(found.lacks) == ["native"]
    assert "lacks a C++ compiler" in found.lacks["native"]
    assert f"Fake: {found.lacks['native']}" in said
    assert list(found.folders[""]) == ["home"]


def test_a_search_path_must_hold_the_main_class_and_the_monitored_one(
    agent: Agent, place: Workplace, tmp_path: Path
) -> None:
    woven = given(tmp_path / "woven.jar", CLASSES[1])
    agent = replace(agent, artifacts={"agent": woven})
    whole = replace(BARE, search_path=("{artifacts.agent}", "{workload.built}"))
    assert supply(agent, [whole], WORKLOAD, place, silent).artifacts["agent"].name == "woven.jar"
    half = replace(BARE, search_path=("{artifacts.agent}",))
    with pytest.raises(UserError, match=r"search path of fake bare has no tracetax\.calltree\.Main:\n.*woven\.jar"):
        supply(agent, [half], WORKLOAD, place, silent)


def test_what_has_no_place_in_a_start_is_told_all_at_once() -> None:
    native = replace(WORKLOAD, key="calltree/go", start=("{wrapper}", "{program}", "{arguments}"), main="")
    plain = replace(BARE, flags=(), wrapper=("nice",), program="{agent.files}/calltree")
    check_started(experiment(plain), agents(plain), native)
    flagged = replace(BARE, search_path=("{agent.files}",))
    with pytest.raises(UserError) as caught:
        check_started(experiment(HOME, flagged), agents(HOME, flagged), native)
    first, *lacks = str(caught.value).splitlines()
    assert first.endswith("calltree/go is started (workloads/calltree/go/workload.toml):")
    assert lacks == [
        "  fake home: flags, and no word of start is {flags}",
        "  fake bare: flags, and no word of start is {flags}",
        "  fake bare: search_path, and no word of start is {search_path}",
    ]


def test_packages_are_installed_once_by_the_newest_release() -> None:
    found = {release: Interpreter(Path("/node"), Path("/"), str(release), release, "Node") for release in (20, 24, 22)}
    assert installs_packages(found).release == 24
