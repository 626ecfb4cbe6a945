"""The JDK that this process would use, and all others."""

from pathlib import Path

import pytest

from tracetax.machine.toolchain import Jdk, find_jdk, find_jdks, jdk_at
from tracetax.model import Java


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
    assert (jdk.home, jdk.javac) == (home, home / "bin" / "javac")


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
    assert jdk.javac == home / "bin" / "javac"


def test_a_runtime_has_no_javac(tmp_path: Path) -> None:
    jdk = find_jdk({"PATH": str(write_jdk(tmp_path, "17.0.15", programs=("java",)) / "bin")})
    assert jdk is not None
    assert jdk.javac is None


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


def homes(*jdks: Jdk) -> list[Path]:
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
    assert jdk_at(full).described == Java("17.0.15", "Somebody", "JDK", archive=True, home=str(full))
    assert jdk_at(bare).described == Java("21.0.8", "Somebody", "runtime", archive=False, home=str(bare))
    assert str(jdk_at(bare)) == "Java runtime 21.0.8 (Somebody)"
