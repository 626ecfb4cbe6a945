from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.artifacts.conftest import FakeTool
from tracetax.artifacts import build_sink, build_workload, source_files
from tracetax.artifacts.cache import BUILT
from tracetax.errors import UserError
from tracetax.program import GoPackage, Monitored, Offers, Workload

WORKLOAD = Workload(
    key="calltree/java",
    title="call tree",
    runtime="java",
    start=("{runtime}",),
    monitored=Monitored("a.B", "B", "m"),
    least_warm_up_calls=1,
    offers=Offers(1, ("spin",)),
    sources="src",
    compile_release=8,
)
COMPILES = """
if [ "$1" = -version ]; then echo "javac {version}"; exit 0; fi
echo called >> {calls}
while [ $# -gt 0 ]; do if [ "$1" = -d ]; then folder="$2"; fi; shift; done
echo compiled > "$folder/Main.class"
"""
BUILDS = """
if [ "$1" = version ]; then echo "go version go1"; exit 0; fi
echo "$GOTOOLCHAIN $GOFLAGS $CGO_ENABLED" >> {calls}
while [ $# -gt 0 ]; do if [ "$1" = -o ]; then echo program > "$2"; fi; shift; done
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    source = root / "workloads" / "calltree" / "java" / "src"
    source.mkdir(parents=True)
    (source / "Main.java").write_text("class Main {}", encoding="utf-8")
    (root / "sink").mkdir()
    (root / "sink" / "internal" / "tree").mkdir(parents=True)
    for name in ("main.go", "main_test.go", "go.mod", "go.sum", "protocols.txt", "internal/tree/table.go"):
        (root / "sink" / name).write_text(name, encoding="utf-8")
    return root


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    path = tmp_path / "calls"
    path.touch()
    return path


def number_of(calls: Path) -> int:
    return len(calls.read_text(encoding="utf-8").splitlines())


def test_a_workload_is_compiled_once(root: Path, cache: Path, fake_tool: FakeTool, calls: Path) -> None:
    fake_tool("javac", COMPILES.format(version="17", calls=calls))
    first = build_workload(root, WORKLOAD, cache)
    second = build_workload(root, WORKLOAD, cache)
    assert first == second
    assert (first / "Main.class").is_file()
    assert number_of(calls) == 1


def test_a_changed_source_is_compiled_again(root: Path, cache: Path, fake_tool: FakeTool, calls: Path) -> None:
    fake_tool("javac", COMPILES.format(version="17", calls=calls))
    first = build_workload(root, WORKLOAD, cache)
    (root / "workloads/calltree/java/src/Main.java").write_text("class Main { int i; }", encoding="utf-8")
    assert build_workload(root, WORKLOAD, cache) != first


def test_another_compiler_compiles_again(root: Path, cache: Path, fake_tool: FakeTool, calls: Path) -> None:
    fake_tool("javac", COMPILES.format(version="17", calls=calls))
    first = build_workload(root, WORKLOAD, cache)
    fake_tool("javac", COMPILES.format(version="21", calls=calls))
    assert build_workload(root, WORKLOAD, cache) != first


def test_what_the_caller_wants_of_every_java_reaches_no_compiler_and_compiles_nothing_again(
    root: Path, cache: Path, fake_tool: FakeTool, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tool("javac", 'echo "$JAVA_TOOL_OPTIONS$JDK_JAVAC_OPTIONS"; ' + COMPILES.format(version="17", calls=calls))
    first = build_workload(root, WORKLOAD, cache)
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dproxy=here")
    monkeypatch.setenv("JDK_JAVAC_OPTIONS", "-g")
    assert build_workload(root, WORKLOAD, cache) == first


@pytest.mark.parametrize("damage", ["changed", "missing", "without its list"])
def test_a_damaged_build_is_noticed_and_built_again(
    root: Path, cache: Path, fake_tool: FakeTool, calls: Path, damage: str
) -> None:
    fake_tool("javac", COMPILES.format(version="17", calls=calls))
    folder = build_workload(root, WORKLOAD, cache)
    if damage == "changed":
        (folder / "Main.class").write_text("damaged", encoding="utf-8")
    else:
        (folder / ("Main.class" if damage == "missing" else ".tracetax-contents.sha256")).unlink()
    assert (build_workload(root, WORKLOAD, cache) / "Main.class").read_text(encoding="utf-8") == "compiled\n"


def test_a_failed_compilation_leaves_nothing_behind_but_its_log(root: Path, cache: Path, fake_tool: FakeTool) -> None:
    fake_tool("javac", 'if [ "$1" = -version ]; then exit 0; fi; echo "Main.java:1: error"; exit 1')
    with pytest.raises(UserError, match=r"(?s)workload calltree/java could not be compiled.*Main.java:1: error"):
        build_workload(root, WORKLOAD, cache)
    assert not (cache / BUILT).exists()
    assert list((cache / "staging").iterdir()) == []
    assert len(list((cache / "logs").iterdir())) == 1


def test_a_missing_compiler_is_reported_with_what_it_is_for(
    root: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="javac is missing; it is needed to compile the workload calltree/java"):
        build_workload(root, WORKLOAD, cache)


def test_an_unknown_workload_is_reported(root: Path, cache: Path) -> None:
    with pytest.raises(UserError, match="There are no sources of the workload calltree/cobol"):
        build_workload(root, replace(WORKLOAD, key="calltree/cobol"), cache)


IN_GO = replace(WORKLOAD, key="calltree/go", sources="", compile_release=0, go=GoPackage("./cmd/x", "x"))
IN_PYTHON = replace(WORKLOAD, key="calltree/python", sources="", compile_release=0)


@pytest.fixture
def go_source(root: Path, fake_tool: FakeTool, calls: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workload in Go, and a Go that is no real one."""
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    fake_tool("go", BUILDS.format(calls=calls))
    source = root / "workloads" / "calltree" / "go"
    (source / "cmd" / "x").mkdir(parents=True)
    for name in ("loops.go", "loops_test.go", "cmd/x/main.go", "go.mod", "workload.toml"):
        (source / name).write_text(name, encoding="utf-8")
    return source


def test_a_program_in_go_is_built_once_as_the_sink_is(root: Path, cache: Path, calls: Path, go_source: Path) -> None:
    assert go_source.is_dir()
    first = build_workload(root, IN_GO, cache)
    assert build_workload(root, IN_GO, cache) == first
    assert (first / "x").read_text(encoding="utf-8") == "program\n"
    assert calls.read_text(encoding="utf-8") == "local -mod=readonly -trimpath -buildvcs=false 0\n"


@pytest.mark.parametrize(
    ("name", "again"), [("cmd/x/main.go", True), ("go.mod", True), ("loops_test.go", False), ("workload.toml", False)]
)
def test_a_program_in_go_is_built_again_where_it_would_become_another(
    root: Path, cache: Path, go_source: Path, name: str, again: bool
) -> None:
    first = build_workload(root, IN_GO, cache)
    (go_source / name).write_text("changed", encoding="utf-8")
    assert (build_workload(root, IN_GO, cache) != first) is again


def test_a_program_in_go_that_cannot_be_built_is_told_with_its_name(
    root: Path, cache: Path, go_source: Path, fake_tool: FakeTool
) -> None:
    assert go_source.is_dir()
    fake_tool(
        "go", 'if [ "$1" = version ]; then echo "go version go1"; exit 0; fi; echo "main.go:1: undefined"; exit 1'
    )
    with pytest.raises(UserError, match=r"(?s)workload calltree/go could not be built.*main.go:1: undefined"):
        build_workload(root, IN_GO, cache)


def test_what_is_not_built_is_started_from_its_sources(root: Path, cache: Path) -> None:
    with pytest.raises(UserError, match="There are no sources of the workload calltree/python"):
        build_workload(root, IN_PYTHON, cache)
    folder = root / "workloads" / "calltree" / "python"
    for name in ("workload.toml", "README.md", "a/__init__.py", "a/__pycache__/b.pyc"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    assert build_workload(root, IN_PYTHON, cache) == folder
    assert source_files(folder) == [folder / "a" / "__init__.py"]
    assert not cache.exists() or not (cache / BUILT).exists()


def test_the_sink_is_built_with_what_is_here_and_nothing_fetched_for_it(
    root: Path, cache: Path, fake_tool: FakeTool, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    fake_tool("go", BUILDS.format(calls=calls))
    assert build_sink(root, cache).read_text(encoding="utf-8") == "program\n"
    assert calls.read_text(encoding="utf-8") == "local -mod=readonly -trimpath -buildvcs=false 0\n"


def test_the_sinks_tests_do_not_make_it_be_built_again(
    root: Path, cache: Path, fake_tool: FakeTool, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    fake_tool("go", BUILDS.format(calls=calls))
    build_sink(root, cache)
    (root / "sink" / "main_test.go").write_text("changed", encoding="utf-8")
    build_sink(root, cache)
    assert number_of(calls) == 1
    (root / "sink" / "go.sum").write_text("changed", encoding="utf-8")
    build_sink(root, cache)
    assert number_of(calls) == 2


def test_a_changed_package_of_the_sink_builds_it_again(
    root: Path, cache: Path, fake_tool: FakeTool, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    fake_tool("go", BUILDS.format(calls=calls))
    first = build_sink(root, cache)
    (root / "sink" / "internal" / "tree" / "table.go").write_text("changed", encoding="utf-8")
    assert build_sink(root, cache) != first
    assert number_of(calls) == 2


def test_the_go_beside_this_python_goes_before_the_one_on_the_path(
    root: Path, cache: Path, tmp_path: Path, fake_tool: FakeTool, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tool("go", BUILDS.format(calls=calls))
    monkeypatch.setattr("sys.executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert build_sink(root, cache).is_file()
