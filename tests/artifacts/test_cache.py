import os
import time
from pathlib import Path

import pytest

from tests.artifacts.conftest import FakeTool
from tracetax.artifacts import ToolFailed, cache_dir
from tracetax.artifacts.cache import built, silent, staging
from tracetax.artifacts.tools import run_tool
from tracetax.errors import UserError


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"TRACETAX_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, Path("/a")),
        ({"XDG_CACHE_HOME": "/b"}, Path("/b/tracetax")),
        ({"TRACETAX_CACHE": "", "XDG_CACHE_HOME": ""}, Path.home() / ".cache/tracetax"),
    ],
)
def test_the_cache_is_where_the_environment_says_or_in_the_home(environment: dict[str, str], expected: Path) -> None:
    assert cache_dir(environment) == expected


def test_what_a_killed_process_left_in_the_cache_is_swept_up_after_a_day(cache: Path) -> None:
    old, young = cache / "staging" / "old", cache / "staging" / "young"
    for folder in (old, young):
        folder.mkdir(parents=True)
    os.utime(old, (0, 0))
    with staging(cache):
        assert not old.exists()
        assert young.exists()


def test_of_two_that_build_at_once_both_are_right_though_the_first_is_already_in_use(cache: Path) -> None:
    def faster(fresh: Path) -> None:
        (fresh / "program").write_text("faster", encoding="utf-8")

    def slower(fresh: Path) -> None:
        (fresh / "program").write_text("slower", encoding="utf-8")
        built(cache / "it", cache, faster, silent)
        (cache / "it" / "written-in-use").touch()

    target = built(cache / "it", cache, slower, silent)
    assert (target / "program").read_text(encoding="utf-8") == "faster"


@pytest.mark.parametrize(("changed", "again"), [("certifi/cacert.pem", 1), ("certifi/core.py", 2)])
def test_certificates_that_the_machine_adds_are_no_damage(cache: Path, changed: str, again: int) -> None:
    made: list[Path] = []

    def build(fresh: Path) -> None:
        made.append(fresh)
        (fresh / "certifi").mkdir()
        for name in ("cacert.pem", "core.py"):
            (fresh / "certifi" / name).write_text(name, encoding="utf-8")

    target = built(cache / "it", cache, build, silent)
    with (target / changed).open("a", encoding="utf-8") as file:
        file.write("a proxy's own")
    built(cache / "it", cache, build, silent)
    assert len(made) == again


def test_what_stands_in_the_way_and_was_not_built_is_an_error(cache: Path) -> None:
    def disturbed(fresh: Path) -> None:
        (fresh / "program").touch()
        (cache / "it").mkdir()
        (cache / "it" / "other").touch()

    with pytest.raises(UserError, match="cannot be written: Directory not empty"):
        built(cache / "it", cache, disturbed, silent)


def gone(pid: int) -> bool:
    """Whether a process that was killed has ended, for which its kernel may take a moment."""
    state = Path(f"/proc/{pid}/stat")
    for _ in range(1000):
        if not state.exists() or ") Z " in state.read_text(encoding="utf-8"):
            return True
        time.sleep(0.01)
    return False


def test_a_tool_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path, fake_tool: FakeTool) -> None:
    fake_tool("slow", f"sleep 1000 & echo $! > {tmp_path}/child; echo working; wait")
    with pytest.raises(ToolFailed, match=r"(?s)It: slow was ended after 3 s without a result.*working"):
        run_tool("It", ["slow"], log=tmp_path / "slow", seconds=3)
    child = int((tmp_path / "child").read_text(encoding="utf-8"))
    assert gone(child)
