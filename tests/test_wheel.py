"""The wheel: it holds everything of a clone that is read at run time, and works where there is no clone."""

import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.end_to_end.command import tracetax

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SOURCES: dict[str, str] = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["sources"]
NOT_NEEDED_TO_RUN = {"benchmarks", "docs", "scripts", "tests"}
MADE = {"__pycache__", "dist", "node_modules", "runs", "target"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as ``python -m build`` makes it: by way of the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    command = (sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the wheel's packages are unpacked in."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def of_clone(folder: str) -> dict[str, Path]:
    """The files of a clone's folder that the wheel must hold, by their names in it."""
    files = (path for path in (ROOT / folder).rglob("*") if path.is_file() and "testdata" not in path.parts)
    return {
        f"{SOURCES[folder]}/{path.relative_to(ROOT / folder).as_posix()}": path
        for path in files
        if not MADE & set(path.relative_to(ROOT).parts)
        if not (folder in ("load", "sink") and path.name.endswith("_test.go"))
    }


@pytest.mark.parametrize("folder", sorted(SOURCES))
def test_the_wheel_holds_each_file_of_the_folders_that_are_read_at_run_time(folder: str, wheel: Path) -> None:
    expected = of_clone(folder)
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith(f"{SOURCES[folder]}/")}
        if folder == "src/tracetax":
            packed = {name for name in packed if not name.startswith("tracetax/data/")}
        assert packed == expected.keys()
        assert [name for name in packed if archive.read(name) != expected[name].read_bytes()] == []


def test_every_folder_of_the_clone_is_in_the_wheel_or_known_to_be_needless() -> None:
    found = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")} - MADE
    assert found == {folder.partition("/")[0] for folder in SOURCES} | NOT_NEEDED_TO_RUN


def start(installed: Path, here: Path, *words: str) -> tuple[int, str]:
    """Run a command of the installed Tracetax in the folder ``here``."""
    return tracetax(*words, directory=here, environment={"PYTHONPATH": str(installed)})


@pytest.mark.parametrize("what", ["configurations", "experiments"])
def test_it_lists_what_the_clone_lists(what: str, installed: Path, tmp_path: Path) -> None:
    listed = start(installed, tmp_path, "list", what, "--json")
    assert listed == tracetax("list", what, "--json")
    assert json.loads(listed[1])


def test_it_plans_what_the_clone_plans(installed: Path, tmp_path: Path) -> None:
    words = ("run", "smoke", "--dry-run", "--seed", "1")
    assert start(installed, tmp_path, *words) == tracetax(*words)


def test_its_sentences_name_the_program_that_is_installed(installed: Path, tmp_path: Path) -> None:
    assert start(installed, tmp_path, "list", "runs") == (0, "No run in runs/ yet.   (tracetax run)\n")
    status, said = start(installed, tmp_path, "run", "smok")
    assert (status, "(tracetax list experiments)" in said) == (2, True)
    status, said = start(installed, tmp_path, "run", "--help")
    assert (status, "tracetax run" in said, "./tracetax" in said) == (0, True, False)


def test_it_says_that_the_checks_are_a_clones(installed: Path, tmp_path: Path) -> None:
    status, said = start(installed, tmp_path, "test", "-k", "sink")
    assert status == 2
    assert "test checks the project's own code." in said
    assert "get a clone, and give its launcher the words: test -k sink" in said


def test_it_answers_yes_as_the_launcher_does(installed: Path, tmp_path: Path) -> None:
    assert start(installed, tmp_path, "--yes", "list", "runs")[0] == 0


def test_the_doctor_asks_for_no_launcher(installed: Path, tmp_path: Path) -> None:
    rows = {row["name"]: row for row in json.loads(start(installed, tmp_path, "doctor", "--json")[1])["rows"]}
    assert rows["environment"]["state"] == "ok"
