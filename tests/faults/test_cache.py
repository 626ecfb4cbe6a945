"""A damaged cache mends itself, and a registry that cannot be reached matters only where something is missing."""

import hashlib
from pathlib import Path

import pytest

from tests.artifacts.conftest import FakeTool, cache, fake_tool
from tracetax.artifacts import fetch
from tracetax.artifacts.cache import BUILT, built, silent
from tracetax.errors import ExitCode, UserError
from tracetax.model import Artifact

__all__ = ["cache", "fake_tool"]
CONTENT = bytes(range(256)) * 8
ARTIFACT = Artifact("agent", "org.example:tracer:1.2.3", hashlib.sha256(CONTENT).hexdigest())
UNREACHABLE = "echo '[ERROR] Could not transfer artifact: Connection refused'; exit 1"


@pytest.mark.parametrize("place", [0, 1000, 2047])
def test_one_flipped_bit_in_a_build_is_noticed_and_it_is_built_again(cache: Path, place: int) -> None:
    builds: list[Path] = []

    def build(folder: Path) -> None:
        (folder / "sink").write_bytes(CONTENT)
        builds.append(folder)

    target = built(cache / BUILT / "sink-1", cache, build, silent)
    damaged = bytearray(CONTENT)
    damaged[place] ^= 1
    (target / "sink").write_bytes(damaged)
    assert (built(target, cache, build, silent) / "sink").read_bytes() == CONTENT
    assert len(builds) == 2


@pytest.mark.parametrize("contents", [b"", b"\xff\x00 sink\n", b"0 sink\n"], ids=["empty", "garbled", "wrong"])
def test_a_build_whose_list_of_contents_is_damaged_is_not_trusted(cache: Path, contents: bytes) -> None:
    def build(folder: Path) -> None:
        (folder / "sink").write_bytes(CONTENT)

    target = built(cache / BUILT / "sink-1", cache, build, silent)
    (target / "sink").write_bytes(CONTENT[:1000])
    (target / ".tracetax-contents.sha256").write_bytes(contents)
    assert (built(target, cache, build, silent) / "sink").read_bytes() == CONTENT


def test_with_an_empty_cache_an_unreachable_registry_is_said_with_what_to_look_at(
    cache: Path, fake_tool: FakeTool
) -> None:
    fake_tool("mvn", UNREACHABLE)
    with pytest.raises(UserError, match=r"could not be fetched(?s:.*)Is there a network(?s:.*)refused") as caught:
        fetch(ARTIFACT, cache)
    assert caught.value.exit_code == ExitCode.ENVIRONMENT
    assert not list((cache / "artifacts").glob("*"))


def test_with_a_filled_cache_no_registry_is_asked(cache: Path, fake_tool: FakeTool) -> None:
    fake_tool("mvn", UNREACHABLE)
    path = cache / "artifacts" / ARTIFACT.sha256 / "tracer-1.2.3.jar"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert fetch(ARTIFACT, cache) == path


def test_a_damaged_file_is_never_used_also_where_no_registry_can_be_reached(cache: Path, fake_tool: FakeTool) -> None:
    fake_tool("mvn", UNREACHABLE)
    path = cache / "artifacts" / ARTIFACT.sha256 / "tracer-1.2.3.jar"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT[:-1] + b"?")
    with pytest.raises(UserError, match="could not be fetched"):
        fetch(ARTIFACT, cache)
    assert not path.exists()
