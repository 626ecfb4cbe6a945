"""What the user wants run around each start of a service: before it, and after its end, whatever came of it."""

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from tracetax.catalog.runtime_file import sound_runtimes
from tracetax.errors import UserError
from tracetax.place import data_folder
from tracetax.run.around import around
from tracetax.run.trying import try_service
from tracetax.service import OwnService
from tracetax.workloads.driver import WorkloadFailed

SHELL = shutil.which("sh") or "sh"


def service(folder: Path, before: str = "", after: str = "") -> OwnService:
    return OwnService(
        start=("false",),
        directory=str(folder),
        language="",
        program="",
        endpoints={},
        weights={},
        ready_path="/",
        ready_within_ns=1,
        before=(SHELL, "-c", before) if before else (),
        after=(SHELL, "-c", after) if after else (),
    )


def lines(folder: Path) -> list[str]:
    return (folder / "course").read_text().split()


def test_they_run_in_order_in_its_folder_and_know_its_port(tmp_path: Path) -> None:
    own = service(tmp_path, "echo before-{listen.port} >> course", "echo after-{listen.port} >> course")
    told: list[str] = []
    with around(own, 4711, tmp_path, told.append):
        (tmp_path / "course").open("a").write("meanwhile\n")
    assert lines(tmp_path) == ["before-4711", "meanwhile", "after-4711"]
    assert told == []


def test_without_commands_nothing_is_started(tmp_path: Path) -> None:
    with around(service(tmp_path), 1, tmp_path, pytest.fail):
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_one_before_that_fails_ends_it_and_the_one_after_clears_up(tmp_path: Path) -> None:
    own = service(tmp_path, "echo no rows; exit 3", "echo cleared > course")
    with (
        pytest.raises(WorkloadFailed, match=r"--before: \S*sh -c echo no rows; exit 3 ended with status 3") as caught,
        around(own, 1, tmp_path, pytest.fail),
    ):
        pytest.fail("the service would be started")
    assert caught.value.code == "before-failed"
    assert (tmp_path / "before.txt").read_text() == "no rows\n"
    assert lines(tmp_path) == ["cleared"]


def test_the_one_after_runs_where_the_trial_failed_or_was_interrupted(tmp_path: Path) -> None:
    for number, kind in enumerate((WorkloadFailed("hangs", ""), KeyboardInterrupt())):
        with pytest.raises(type(kind)), around(service(tmp_path, after="echo x >> course"), 1, tmp_path, pytest.fail):
            raise kind
        assert len(lines(tmp_path)) == number + 1


def test_the_one_after_that_fails_is_told_with_what_it_printed(tmp_path: Path) -> None:
    told: list[str] = []
    with around(service(tmp_path, after="echo still locked >&2; exit 1"), 1, tmp_path, told.append):
        pass
    assert "--after: " in told[0]
    assert "ended with status 1\n" in told[0]
    assert "still locked" in told[0]


def test_one_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    own = replace(service(tmp_path), before=("no-such-program",))
    with pytest.raises(WorkloadFailed, match="--before: no-such-program cannot be started"):
        around(own, 1, tmp_path, pytest.fail).__enter__()


def test_one_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetax.run.around.AROUND_SECONDS", 0.1)
    with pytest.raises(WorkloadFailed, match="did not end within 0 s"):
        around(service(tmp_path, "sleep 60"), 1, tmp_path, pytest.fail).__enter__()


def test_a_service_is_not_tried_where_the_one_before_fails(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        try_service(service(tmp_path, "echo no rows; exit 3"), sound_runtimes(data_folder()))
    text = str(caught.value)
    assert text.startswith("--before: ")
    assert "no rows" in text
    assert "tracetax-try-" not in text
