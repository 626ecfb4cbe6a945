"""A resume is refused when an agent's own files change, or a folder that is made of them."""

from pathlib import Path
from types import ModuleType

import pytest
from msgspec.structs import replace

from tests.fakes.backends import fake_backend
from tests.run.stand_ins import configuration, experiment, fake_equipment
from tracetax.catalog.placeholders import BACKEND_FILES
from tracetax.machine.facts import machine_facts
from tracetax.preparation import PrepareStep
from tracetax.run import prepare
from tracetax.run.equipment import Equipment
from tracetax.run.prepare import hashes

FLAT = configuration("flat")


@pytest.fixture
def equipment(tmp_path: Path) -> Equipment:
    for agent in ("fake", "none"):
        folder = tmp_path / "agents" / agent / "java" / "files"
        folder.mkdir(parents=True)
        (folder / "a.conf").write_text("a = 1")
    prepared = {"fake": {"": {"home": Path("/cache/built/fake-home-1")}}}
    return replace(fake_equipment(Path("sink"), FLAT), agents_root=tmp_path / "agents", prepared=prepared)


def changed(before: Equipment, after: Equipment, tmp_path: Path, earlier: dict[str, str] | None = None) -> set[str]:
    machine = machine_facts(tmp_path)
    first = earlier or hashes(experiment(FLAT), before, machine)
    second = hashes(experiment(FLAT), after, machine)
    return {name for name in first | second if first.get(name) != second.get(name)}


def test_nothing_has_changed_when_nothing_did(equipment: Equipment, tmp_path: Path) -> None:
    assert changed(equipment, equipment, tmp_path) == set()


@pytest.mark.parametrize("change", ["content", "name", "gone", "another"])
def test_a_change_of_an_agents_files_is_seen(equipment: Equipment, tmp_path: Path, change: str) -> None:
    before = hashes(experiment(FLAT), equipment, machine_facts(tmp_path))
    file = tmp_path / "agents/fake/java/files/a.conf"
    match change:
        case "content":
            file.write_text("a = 2")
        case "name":
            file.rename(file.with_name("b.conf"))
        case "gone":
            file.unlink()
        case _:
            file.with_name("b.conf").touch()
    assert changed(equipment, equipment, tmp_path, before) == {"the files of the agent fake"}


def test_a_folder_that_is_made_of_something_else_is_seen(equipment: Equipment, tmp_path: Path) -> None:
    other = replace(equipment, prepared={"fake": {"": {"home": Path("/cache/built/fake-home-2")}}})
    assert changed(equipment, other, tmp_path) == {"the folder home of the agent fake"}


def test_so_is_a_change_of_its_definition(equipment: Equipment, tmp_path: Path) -> None:
    step = PrepareStep("home", copy={"a": "{agent.files}/a.conf"})
    fake = replace(equipment.agents["fake"], prepare=(step,))
    other = replace(equipment, agents=equipment.agents | {"fake": fake})
    assert changed(equipment, other, tmp_path) == {"the agent fake"}


@pytest.mark.parametrize("place", ["module.py", "kinds/module.py", "kinds/deeper/module.py"])
@pytest.mark.parametrize("change", ["content", "name"])
def test_a_change_of_the_way_of_measuring_is_seen_in_every_folder_of_it(
    equipment: Equipment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, change: str
) -> None:
    package = ModuleType("package")
    package.__path__ = [str(tmp_path / "package")]
    file = tmp_path / "package" / place
    file.parent.mkdir(parents=True)
    file.write_text("WAIT_SECONDS = 1")
    monkeypatch.setattr(prepare, "MEASURING", (package,))
    before = hashes(experiment(FLAT), equipment, machine_facts(tmp_path))
    if change == "content":
        file.write_text("WAIT_SECONDS = 2")
    else:
        file.rename(file.with_name("other.py"))
    assert changed(equipment, equipment, tmp_path, before) == {"Tracetax's way of measuring"}


def test_a_change_of_the_workloads_file_or_its_runtimes_is_seen(equipment: Equipment, tmp_path: Path) -> None:
    longer = replace(equipment, workload=replace(equipment.workload, least_warm_up_calls=20_000))
    assert changed(equipment, longer, tmp_path) == {"the file of the workload calltree/java"}
    other = replace(equipment, runtime=replace(equipment.runtime, shared_flags=("-Xint",)))
    assert changed(equipment, other, tmp_path) == {"the file of the runtime java"}


def test_a_change_of_a_program_that_is_not_built_is_seen(equipment: Equipment, tmp_path: Path) -> None:
    folder = tmp_path / "workload"
    (folder / "package").mkdir(parents=True)
    file = folder / "package" / "main.py"
    file.write_text("a = 1")
    unbuilt = replace(equipment, built=folder, workload=replace(equipment.workload, compile_release=0))
    before = hashes(experiment(FLAT), unbuilt, machine_facts(tmp_path))
    (folder / "README.md").write_text("Read me.")
    assert changed(unbuilt, unbuilt, tmp_path, before) == set()
    file.write_text("a = 2")
    assert changed(unbuilt, unbuilt, tmp_path, before) == {"the workload"}


def test_a_change_of_a_backend_or_its_files_is_seen(equipment: Equipment, tmp_path: Path) -> None:
    folder = tmp_path / "backends" / "files"
    folder.mkdir(parents=True)
    (folder / "a.conf").write_text("a = 1")
    supplied = replace(fake_backend(), values={BACKEND_FILES: str(folder), "prepared.home": "/cache/built/home-1"})
    behind = replace(equipment, backends={"fake-server": supplied})
    assert changed(equipment, behind, tmp_path) == {"the backend fake-server"}
    assert changed(behind, behind, tmp_path) == set()
    for other in (
        replace(supplied, backend=replace(supplied.backend, version_named="1.1")),
        replace(supplied, values=supplied.values | {"prepared.home": "/cache/built/home-2"}),
    ):
        assert changed(behind, replace(equipment, backends={"fake-server": other}), tmp_path) == {
            "the backend fake-server"
        }
    before = hashes(experiment(FLAT), behind, machine_facts(tmp_path))
    (folder / "a.conf").write_text("a = 2")
    assert changed(behind, behind, tmp_path, before) == {"the backend fake-server"}
