"""``go`` in ``[[prepare]]``: a program is built once from the sources of a backend's folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import structs

from checks.check import Check, run_check
from tracetax.artifacts import Workplace, prepared
from tracetax.artifacts.tools import find_tool
from tracetax.catalog.placeholders import BACKEND_FILES
from tracetax.errors import UserError
from tracetax.preparation import GoBuild, PrepareStep

needs_go = pytest.mark.skipif(
    not (shutil.which("go", path=str(Path(sys.executable).parent)) or shutil.which("go")), reason="needs Go"
)
STEP = PrepareStep("tool", go=GoBuild("{backend.files}/tool", "tool"))
MAIN = 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Print("built") }\n'


@pytest.fixture
def place(tmp_path: Path, cache: Path) -> Workplace:
    """A backend's folder with a module that needs no other."""
    sources = tmp_path / "backends" / "server" / "files" / "tool"
    sources.mkdir(parents=True)
    (sources / "go.mod").write_text("module example.org/tool\n\ngo 1.21\n")
    (sources / "main.go").write_text(MAIN)
    return Workplace(
        agent="server",
        folder=tmp_path / "backends" / "server",
        artifacts={},
        classes=tmp_path,
        sources=tmp_path,
        monitored={},
        cache=cache,
        files=BACKEND_FILES,
        definition="backend.toml",
    )


@needs_go
def test_the_program_runs_and_is_built_once_per_content(place: Workplace) -> None:
    said: list[str] = []
    first = prepared([STEP], place, said.append)["tool"]
    assert subprocess.run([first / "tool"], capture_output=True, check=True).stdout == b"built"
    assert prepared([STEP], place, said.append)["tool"] == first
    assert sum("by Go" in sentence for sentence in said) == 1
    main = place.folder / "files" / "tool" / "main.go"
    main.write_text(MAIN.replace("built", "again"))
    second = prepared([STEP], place)["tool"]
    assert second != first
    assert subprocess.run([second / "tool"], capture_output=True, check=True).stdout == b"again"


REPLACED = PrepareStep(
    "tool", go=GoBuild("{backend.files}/tool", "tool", replace={"tracetax/library": "{workload.sources}"})
)
USES = 'package main\n\nimport (\n\t"fmt"\n\n\t"tracetax/library"\n)\n\nfunc main() { fmt.Print(library.Word) }\n'


@pytest.fixture
def library(place: Workplace) -> Path:
    """A module that the backend's own requires, and that can be fetched from nowhere."""
    folder = place.sources / "library"
    folder.mkdir()
    (folder / "go.mod").write_text("module tracetax/library\n\ngo 1.21\n")
    (folder / "library.go").write_text('package library\n\nconst Word = "first"\n')
    tool = place.folder / "files" / "tool"
    (tool / "go.mod").write_text("module example.org/tool\n\ngo 1.21\n\nrequire tracetax/library v0.0.0\n")
    (tool / "main.go").write_text(USES)
    return folder


@needs_go
def test_a_module_is_taken_from_a_folder_and_the_file_that_requires_it_stays_as_it_is(
    place: Workplace, library: Path
) -> None:
    place = structs.replace(place, sources=library)
    required = (place.folder / "files" / "tool" / "go.mod").read_text()
    first = prepared([REPLACED], place)["tool"]
    assert subprocess.run([first / "tool"], capture_output=True, check=True).stdout == b"first"
    assert (place.folder / "files" / "tool" / "go.mod").read_text() == required
    assert prepared([REPLACED], place)["tool"] == first
    (library / "library.go").write_text('package library\n\nconst Word = "second"\n')
    second = prepared([REPLACED], place)["tool"]
    assert subprocess.run([second / "tool"], capture_output=True, check=True).stdout == b"second"
    assert not list((place.cache / "staging").iterdir())


@needs_go
def test_a_folder_without_a_module_replaces_none(place: Workplace, library: Path) -> None:
    (library / "go.mod").unlink()
    with pytest.raises(UserError, match=r'"\{workload\.sources\}" is not there .*/library/go\.mod'):
        prepared([REPLACED], structs.replace(place, sources=library))


@needs_go
def test_versions_that_no_checksum_pins_are_refused_with_the_way_out(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOPROXY", "off")
    tool = place.folder / "files" / "tool"
    (tool / "go.mod").write_text("module example.org/tool\n\ngo 1.21\n\nrequire example.org/none v1.0.0\n")
    (tool / "main.go").write_text('package main\n\nimport _ "example.org/none"\n\nfunc main() {}\n')
    with pytest.raises(UserError, match=r"could not be built: .* go mod tidy, in its folder, mends them"):
        prepared([STEP], place)


@needs_go
def test_what_the_compiler_says_is_told(place: Workplace) -> None:
    (place.folder / "files" / "tool" / "main.go").write_text("package main\n\nfunc main() { missing() }\n")
    with pytest.raises(UserError, match="undefined: missing") as failed:
        prepared([STEP], place)
    assert str(failed.value).startswith('The folder "tool" of server could not be built')
    assert "backend.toml, [[prepare]]" in str(failed.value)


@pytest.fixture
def of_another_user(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module in a clone that git takes for another user's, as it does after a chown."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    subprocess.run(("git", "init", "--quiet", str(place.folder)), check=True)
    for name, value in (("GLOBAL", "/dev/null"), ("SYSTEM", "/dev/null")):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    monkeypatch.setenv("GOFLAGS", "-mod=readonly")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    return place.folder / "files" / "tool"


@needs_go
def test_a_clone_of_another_user_is_built(place: Workplace, of_another_user: Path) -> None:
    go = str(find_tool("go", "to build", beside_python=True))
    stamped = subprocess.run(
        (go, "build", "-o", os.devnull, "."), cwd=of_another_user, capture_output=True, check=False
    )
    assert b"-buildvcs=false" in stamped.stderr, "this Go does not ask git, so nothing is tried here"
    assert (prepared([STEP], place)["tool"] / "tool").is_file()


@needs_go
def test_a_clone_of_another_user_is_checked(of_another_user: Path) -> None:
    go = str(find_tool("go", "to build", beside_python=True))
    outcome = run_check(Check("go build", of_another_user, lambda: (go, "build", "-o", os.devnull, ".")))
    assert outcome.state == "ok", outcome.output


def test_sources_that_are_not_there_are_named(place: Workplace) -> None:
    other = PrepareStep("tool", go=GoBuild("{backend.files}/tools", "tool"))
    with pytest.raises(UserError, match=r'"\{backend.files\}/tools" is not there'):
        prepared([other], place)
