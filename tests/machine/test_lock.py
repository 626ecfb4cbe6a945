"""One run at a time, whoever made the lock's file."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.run.stand_ins import ROOT

from tracetax.errors import ExitCode, UserError
from tracetax.machine.lock import holder, sole_run

Deny = Callable[[int], None]


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "lock"


@pytest.fixture
def deny(monkeypatch: pytest.MonkeyPatch) -> Deny:
    """Refuse to open files in the ways given, as the kernel does for another user's; root is refused nothing else."""

    def refuse(flags: int) -> None:
        really = os.open

        def opened(path: Path, how: int, mode: int = 0o777) -> int:
            if how & flags or (flags == os.O_RDONLY and not how & os.O_CREAT):
                raise PermissionError(13, "Permission denied", str(path))
            return really(path, how, mode)

        monkeypatch.setattr("os.open", opened)

    return refuse


def test_a_second_run_is_told_of_the_first(lock: Path) -> None:
    with (
        sole_run(lock),
        pytest.raises(UserError, match=rf"process {os.getpid()}, lock {lock}") as caught,
        sole_run(lock),
    ):
        pass
    assert caught.value.exit_code == ExitCode.BUSY


def test_two_runs_with_different_folders_for_temporary_files_share_the_lock(tmp_path: Path) -> None:
    code = "import os; from tracetax.machine.lock import lock_path; print(lock_path(os.environ))"
    environment = {name: value for name, value in os.environ.items() if name != "TRACETAX_LOCK"}
    locks = set[str]()
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        own = {**environment, "TMPDIR": str(tmp_path / name), "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run([sys.executable, "-c", code], env=own, capture_output=True, text=True, check=True)
        locks.add(done.stdout)
    assert locks == {"/tmp/tracetax.lock\n"}


def test_tests_can_name_a_lock_of_their_own(lock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACETAX_LOCK", str(lock))
    with sole_run():
        assert holder() == str(os.getpid())
        assert lock.read_text() == f"{os.getpid()}\n"


def test_the_lock_is_free_after_a_run(lock: Path) -> None:
    for _ in range(2):
        with sole_run(lock):
            assert lock.read_text() == f"{os.getpid()}\n"


def test_its_file_is_made_for_every_user_whatever_the_umask(lock: Path) -> None:
    before = os.umask(0o077)
    try:
        with sole_run(lock):
            assert stat.S_IMODE(lock.stat().st_mode) == 0o666
    finally:
        os.umask(before)


def test_a_file_that_may_only_be_read_locks_all_the_same(lock: Path, deny: Deny) -> None:
    lock.write_text("")
    deny(os.O_RDWR | os.O_WRONLY)
    with sole_run(lock), pytest.raises(UserError, match="process unknown"), sole_run(lock):
        pass


def test_an_existing_file_is_never_opened_as_if_to_make_it(lock: Path, deny: Deny) -> None:
    lock.write_text("")
    deny(os.O_CREAT)
    with sole_run(lock):
        assert lock.read_text() == f"{os.getpid()}\n"


def test_a_process_that_has_ended_is_not_named_as_the_holder(lock: Path, deny: Deny) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    lock.write_text(f"{gone.pid}\n")
    deny(os.O_RDWR | os.O_WRONLY)
    with sole_run(lock), pytest.raises(UserError, match="process unknown"), sole_run(lock):
        pass


def test_a_file_that_may_not_even_be_read_is_named_with_the_way_out(lock: Path, deny: Deny) -> None:
    lock.write_text("")
    deny(os.O_RDONLY)
    with (
        pytest.raises(UserError, match=rf"{lock} cannot be used: Permission denied(?s:.*)chmod 666 {lock}"),
        sole_run(lock),
    ):
        pass


def test_a_link_in_place_of_the_file_is_not_followed(lock: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("kept")
    lock.symlink_to(tmp_path / "precious")
    with pytest.raises(UserError, match="cannot be used"), sole_run(lock):
        pass
    assert (tmp_path / "precious").read_text() == "kept"


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be made: No such file") as caught, sole_run(tmp_path / "no" / "lock"):
        pass
    assert caught.value.exit_code == ExitCode.ENVIRONMENT


def test_the_holder_is_told_without_disturbing_it(lock: Path) -> None:
    with sole_run(lock):
        assert holder(lock) == str(os.getpid())
    assert holder(lock) is None


def test_a_lock_that_was_never_made_is_held_by_nobody_and_not_made(lock: Path) -> None:
    assert holder(lock) is None
    assert not lock.exists()


def test_looking_for_the_holder_frees_the_lock_again(lock: Path) -> None:
    lock.touch()
    assert holder(lock) is None
    with sole_run(lock):
        pass
