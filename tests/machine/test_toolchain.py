"""What runs programs on this machine: the one that this process would use, and all others."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from tracetax.catalog.runtime_file import sound_runtimes
from tracetax.machine.toolchain import Interpreter, find_interpreter, find_interpreters, go_at, interpreter_at
from tracetax.program import Runtime, RuntimeVersion

RUNTIMES = sound_runtimes(Path(__file__).resolve().parents[2])
JAVA = RUNTIMES["java"]


def find_jdk(environment: Mapping[str, str]) -> Interpreter | None:
    return find_interpreter(JAVA, environment)


def find_jdks(environment: Mapping[str, str], folders: Sequence[str]) -> list[Interpreter]:
    return find_interpreters(replace(JAVA, folders=tuple(folders)), environment)


def jdk_at(home: Path) -> Interpreter:
    return interpreter_at(JAVA, home)


def write_jdk(home: Path, release: str, programs: tuple[str, ...] = ("java", "javac")) -> Path:
    for name in programs:
        program = home / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\necho 'openjdk version \"21.0.4\" 2024-07-16' >&2\n")
        program.chmod(0o755)
    if release:
        (home / "release").write_text(f'IMPLEMENTOR="Somebody"\nJAVA_VERSION="{release}"\n')
    return home


def test_java_home_comes_before_path(tmp_path: Path) -> None:
    chosen, other = write_jdk(tmp_path / "a", "17.0.15"), write_jdk(tmp_path / "b", "21.0.4")
    jdk = find_jdk({"JAVA_HOME": str(chosen), "PATH": str(other / "bin")})
    assert jdk is not None
    assert (jdk.home, str(jdk)) == (chosen, "JDK 17.0.15 (Somebody)")


def test_a_relative_java_home_leads_to_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = write_jdk(tmp_path / "jdk", "17.0.15")
    monkeypatch.chdir(tmp_path)
    jdk = find_jdk({"JAVA_HOME": "jdk"})
    assert jdk is not None
    assert (jdk.home, jdk.compiler) == (home, home / "bin" / "javac")


def test_a_java_home_without_java_is_passed_over(tmp_path: Path) -> None:
    other = write_jdk(tmp_path / "b", "21.0.4")
    jdk = find_jdk({"JAVA_HOME": str(tmp_path), "PATH": str(other / "bin")})
    assert jdk is not None
    assert jdk.home == other


def test_a_link_on_path_leads_to_the_jdk(tmp_path: Path) -> None:
    home = write_jdk(tmp_path / "jdk", "17.0.15")
    (tmp_path / "java").symlink_to(home / "bin" / "java")
    jdk = find_jdk({"PATH": str(tmp_path)})
    assert jdk is not None
    assert jdk.compiler == home / "bin" / "javac"


def test_a_runtime_has_no_javac(tmp_path: Path) -> None:
    jdk = find_jdk({"PATH": str(write_jdk(tmp_path, "17.0.15", programs=("java",)) / "bin")})
    assert jdk is not None
    assert jdk.compiler is None


def test_a_jdk_without_release_file_is_asked(tmp_path: Path) -> None:
    jdk = find_jdk({"PATH": str(write_jdk(tmp_path, "") / "bin")})
    assert jdk is not None
    assert (jdk.version, jdk.release) == ("21.0.4", 21)


def test_what_the_caller_wants_of_every_java_does_not_reach_a_question_for_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = write_jdk(tmp_path / "jdk", "")
    (home / "bin" / "java").write_text('#!/bin/sh\n[ "$JAVA_TOOL_OPTIONS" ] || echo \'version "21.0.4"\' >&2\n')
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-javaagent:/not/there.jar")
    assert jdk_at(home).version == "21.0.4"


def test_without_java_there_is_none(tmp_path: Path) -> None:
    assert find_jdk({"PATH": str(tmp_path)}) is None


@pytest.mark.parametrize(("version", "release"), [("17.0.15", 17), ("1.8.0_392", 8), ("25", 25), ("26-ea", 26)])
def test_the_feature_release(tmp_path: Path, version: str, release: int) -> None:
    jdk = find_jdk({"PATH": str(write_jdk(tmp_path, version) / "bin")})
    assert jdk is not None
    assert jdk.release == release


def homes(*jdks: Interpreter) -> list[Path]:
    return [jdk.home for jdk in jdks]


def test_all_jdks_are_found_once_each_those_of_the_environment_first(tmp_path: Path) -> None:
    in_home, on_path = write_jdk(tmp_path / "z", "21.0.4"), write_jdk(tmp_path / "y", "17.0.15")
    write_jdk(tmp_path / "jvm" / "java-25", "25")
    write_jdk(tmp_path / "jvm" / "java-8", "1.8.0_392")
    (tmp_path / "jvm" / "default").symlink_to(in_home)
    (tmp_path / "jvm" / "notes").mkdir()
    environment = {"JAVA_HOME": str(in_home), "PATH": str(on_path / "bin")}
    found = find_jdks(environment, (str(tmp_path / "jvm"), str(tmp_path / "absent")))
    assert homes(*found) == [in_home, on_path, tmp_path / "jvm" / "java-25", tmp_path / "jvm" / "java-8"]
    assert [jdk.release for jdk in found] == [21, 17, 25, 8]


def test_a_jdk_that_is_both_java_home_and_on_path_is_one(tmp_path: Path) -> None:
    home = write_jdk(tmp_path / "a", "17.0.15")
    assert homes(*find_jdks({"JAVA_HOME": str(home), "PATH": str(home / "bin")}, ())) == [home]


def test_what_it_is_called_tells_a_jdk_from_a_runtime_and_whether_it_has_an_archive(tmp_path: Path) -> None:
    full, bare = write_jdk(tmp_path / "a", "17.0.15"), write_jdk(tmp_path / "b", "21.0.8", programs=("java",))
    archive = full / "lib" / "server" / "classes.jsa"
    archive.parent.mkdir(parents=True)
    archive.touch()
    assert jdk_at(full).described == RuntimeVersion("JDK", "17.0.15", "Somebody", str(full), archive=True)
    assert jdk_at(bare).described == RuntimeVersion("Java runtime", "21.0.8", "Somebody", str(bare), archive=False)
    assert str(jdk_at(bare)) == "Java runtime 21.0.8 (Somebody)"


def write_program(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(0o755)
    return path


def found(runtime: Runtime, path: Path) -> Interpreter:
    one = find_interpreter(runtime, {"PATH": str(path)})
    assert one is not None
    return one


def test_a_python_is_known_by_its_minor_version(tmp_path: Path) -> None:
    program = write_program(tmp_path / "bin" / "python3", 'case "$*" in *version*) echo Python 3.12.4rc1;; esac')
    python = found(RUNTIMES["python"], program.parent)
    assert (python.version, python.release, str(python)) == ("3.12.4rc1", 12, "Python 3.12.4rc1")
    assert (python.home, python.compiler, RUNTIMES["python"].called(python.release)) == (tmp_path, None, "Python 3.12")


def test_the_python_of_an_environment_is_the_one_that_it_is_based_on() -> None:
    own = Path(sys.executable).parent
    assert found(RUNTIMES["python"], own).program == Path(sys._base_executable)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType, reportUnknownMemberType, reportPrivateUsage]


def test_a_script_that_chooses_between_several_says_which_one_it_starts(tmp_path: Path) -> None:
    real = write_program(tmp_path / "versions" / "22" / "bin" / "node", "echo v22.1.0")
    asked = f'case "$*" in *execPath*) echo {real};; *) echo v22.1.0;; esac'
    shim = write_program(tmp_path / "shims" / "node", asked)
    assert found(RUNTIMES["node"], shim.parent).program == real


def test_what_does_not_say_where_it_lies_is_taken_as_it_is_found(tmp_path: Path) -> None:
    silent = write_program(tmp_path / "bin" / "node", "exit 1")
    node = found(RUNTIMES["node"], silent.parent)
    assert (node.program, node.version, node.release) == (silent, "unknown", 0)


def test_what_the_caller_wants_of_every_node_does_not_reach_the_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = write_program(tmp_path / "bin" / "node", '[ "$NODE_OPTIONS" ] || echo v24.19.0')
    monkeypatch.setenv("NODE_OPTIONS", "--require=/not/there.js")
    assert found(RUNTIMES["node"], program.parent).release == 24


def test_a_runtime_that_nothing_is_found_for_is_not_looked_for(tmp_path: Path) -> None:
    assert find_interpreter(RUNTIMES["native"], {"PATH": str(tmp_path)}) is None
    assert find_interpreters(RUNTIMES["native"], {"PATH": str(tmp_path)}) == []


def test_a_go_that_builds_is_known_by_its_minor_version(tmp_path: Path) -> None:
    go = go_at(write_program(tmp_path / "go" / "bin" / "go", 'echo "go version go1.26.8 linux/amd64"'))
    assert (go.version, go.release, str(go), go.home) == ("1.26.8", 26, "Go 1.26.8", tmp_path / "go")
    assert RUNTIMES["native"].called(go.release) == "Go 1.26"
