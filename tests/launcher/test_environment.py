"""The launcher and its Python environment."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .clone import Clone, said, write_wheel


def test_the_first_start_tells_what_it_sets_up_and_how_long_it_took(fresh_clone: Clone) -> None:
    done = fresh_clone.start("list")
    assert said(done)["arguments"] == ["list"]
    assert done.stderr.startswith("Setting up once: Python packages ")
    assert done.stderr.endswith(" s\n")


def test_a_later_start_sets_up_nothing_and_says_nothing(clone: Clone) -> None:
    done = clone.start("list")
    said(done)
    assert done.stderr == ""


def test_arguments_arrive_as_they_were_typed(clone: Clone) -> None:
    typed = ["list", "two words", "", "*", "--name=x y"]
    assert said(clone.start(*typed))["arguments"] == typed


def test_without_arguments_the_cli_gets_none(clone: Clone) -> None:
    assert said(clone.start())["arguments"] == []


def test_the_exit_status_is_the_clis(clone: Clone) -> None:
    assert clone.start("fail").returncode == 7


def test_the_cli_keeps_the_launchers_process(clone: Clone) -> None:
    with subprocess.Popen(
        (str(clone.root / "tracetax"), "list"), env=clone.environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert f'"pid": {process.pid},' in process.stdout.read()


def test_it_works_through_a_symlink_from_another_folder(clone: Clone, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(clone.root / "tracetax")
    done = subprocess.run(
        ("../link",), cwd=clone.root, env=clone.environment, capture_output=True, text=True, check=False
    )
    said(done)


def test_it_works_when_named_without_a_folder(clone: Clone) -> None:
    done = subprocess.run(
        ("bash", "tracetax", "list"), cwd=clone.root, env=clone.environment, capture_output=True, text=True, check=False
    )
    said(done)


def test_another_projects_python_settings_do_not_disturb(clone: Clone, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')")
    done = clone.start("list", PYTHONPATH=str(tmp_path), PYTHONHOME="/nonexistent", VIRTUAL_ENV="/nonexistent")
    assert said(done)["PYTHONPATH"] is None


def test_modules_of_the_current_folder_do_not_disturb(clone: Clone, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')")
    done = subprocess.run(
        (str(clone.root / "tracetax"),),
        cwd=tmp_path,
        env=clone.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    said(done)


def test_modules_are_compiled_whatever_the_caller_set(fresh_clone: Clone) -> None:
    said(fresh_clone.start("list", PYTHONDONTWRITEBYTECODE="1", PIP_NO_COMPILE="1"))
    assert list((fresh_clone.root / "src").rglob("*.pyc"))
    assert list((fresh_clone.root / ".venv").rglob("tiny.*.pyc"))


def test_an_interrupted_install_is_redone(clone: Clone) -> None:
    (clone.root / ".venv" / "requirements.lock").unlink()
    shutil.rmtree(next((clone.root / ".venv" / "lib").iterdir()) / "site-packages" / "pip")
    assert "Python packages" in clone.start("list").stderr
    assert clone.start("list").stderr == ""


def test_a_changed_lock_makes_the_environment_anew(clone: Clone) -> None:
    lock = write_wheel(Path(clone.environment["PIP_FIND_LINKS"]), content="new = True")
    (clone.root / "requirements.lock").write_text(lock)
    said(clone.start("list"))
    installed = next((clone.root / ".venv").rglob("tiny.py"))
    assert installed.read_text() == "new = True"


def test_a_download_with_another_hash_stops_with_a_sentence_and_is_tried_again(fresh_clone: Clone) -> None:
    wheels = Path(fresh_clone.environment["PIP_FIND_LINKS"])
    write_wheel(wheels, content="evil = True")
    done = fresh_clone.start("list")
    assert done.returncode == 3
    assert "Installing the Python packages into" in done.stderr
    assert str(fresh_clone.root / ".venv.log") in done.stderr
    assert "Traceback" not in done.stderr
    write_wheel(wheels)
    (fresh_clone.root / "requirements.lock").write_text(write_wheel(wheels))
    said(fresh_clone.start("list"))


def test_starts_at_the_same_time_set_up_once(fresh_clone: Clone) -> None:
    starts = [
        subprocess.Popen(
            (str(fresh_clone.root / "tracetax"), "list"),
            env=fresh_clone.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    told = [start.communicate(timeout=120)[1] for start in starts]
    assert [start.returncode for start in starts] == [0, 0, 0]
    assert sum("Python packages" in text for text in told) == 1


def test_test_packages_come_with_the_test_command_only(clone: Clone) -> None:
    clone.add_jdk("17.0.15", "java-17")
    clone.add_maven()
    clone.add_compiler()
    assert clone.start("run").stderr == ""
    assert "test packages" in clone.start("test").stderr
    assert clone.start("test").stderr == ""


def test_the_checks_get_what_follows_the_word_test(clone: Clone) -> None:
    clone.add_jdk("17.0.15", "java-17")
    clone.add_maven()
    clone.add_compiler()
    assert said(clone.start("test", "-k", "two words", "-n", "0"))["checks"] == ["-k", "two words", "-n", "0"]
    assert said(clone.start("--yes", "test"))["checks"] == []


def test_help_on_the_checks_is_the_clis(clone: Clone) -> None:
    assert said(clone.start("test", "--help"))["arguments"] == ["test", "--help"]


@pytest.mark.parametrize("home", [None, "", "/dev/null", "/nonexistent"])
def test_without_a_home_the_cache_lies_in_the_clone(clone: Clone, home: str | None) -> None:
    seen = said(clone.start("list", HOME=home))
    assert seen["TRACETAX_CACHE"] == str(clone.root / ".cache" / "tracetax")
    assert os.access(seen["HOME"], os.W_OK)


def test_with_a_home_the_cache_lies_in_it(clone: Clone) -> None:
    seen = said(clone.start("list"))
    assert seen["TRACETAX_CACHE"] == f"{clone.environment['HOME']}/.cache/tracetax"
    assert seen["HOME"] == clone.environment["HOME"]


def test_a_cache_that_cannot_be_written_lies_in_the_clone(clone: Clone) -> None:
    assert said(clone.start("list", XDG_CACHE_HOME="/dev/null"))["TRACETAX_CACHE"] == str(
        clone.root / ".cache/tracetax"
    )


def test_the_cache_can_be_named(clone: Clone, tmp_path: Path) -> None:
    assert said(clone.start("list", TRACETAX_CACHE=str(tmp_path / "c")))["TRACETAX_CACHE"] == str(tmp_path / "c")


def test_programs_of_a_go_package_can_be_started_after_a_move(fresh_clone: Clone) -> None:
    wheels = Path(fresh_clone.environment["PIP_FIND_LINKS"])
    (fresh_clone.root / "requirements.lock").write_text(write_wheel(wheels, program="go/bin/go"))
    said(fresh_clone.start("list"))
    moved = fresh_clone.root.rename(fresh_clone.root.with_name("moved"))
    assert (moved / ".venv" / "bin" / "go").resolve().is_relative_to(moved)


def test_a_python_that_is_too_old_is_passed_over(fresh_clone: Clone) -> None:
    old = fresh_clone.stand_ins / "bin" / "python3.13"
    old.write_text("#!/bin/bash\nexit 1\n")
    old.chmod(0o755)
    said(fresh_clone.start("list"))
