"""Clones to start, and a terminal to start them in."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .clone import Clone, make_clone, said


@pytest.fixture(scope="session")
def set_up_clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone after its first start, to copy from."""
    base = tmp_path_factory.mktemp("template")
    clone = make_clone(base)
    said(clone.start("list"))
    return base


@pytest.fixture
def clone(set_up_clone: Path, tmp_path: Path) -> Clone:
    """A clone that has been started before, on a machine without JDK and Maven, as root."""
    return make_clone(tmp_path, environment_from=set_up_clone)


@pytest.fixture
def fresh_clone(tmp_path: Path) -> Clone:
    """A clone that was never started."""
    return make_clone(tmp_path)


@pytest.fixture
def in_terminal() -> Callable[[Clone, str, tuple[str, ...]], tuple[int, str]]:
    """Runs the launcher in a terminal where a person answers its question: (status, what the terminal showed)."""

    def run(clone: Clone, answer: str, arguments: tuple[str, ...]) -> tuple[int, str]:
        ours, theirs = os.openpty()
        with subprocess.Popen(
            (str(clone.root / "tracetax"), *arguments),
            env=clone.environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        ) as launcher:
            os.close(theirs)
            shown = b""
            answered = False
            while True:
                try:
                    shown += os.read(ours, 4096)
                except OSError:  # the terminal's other side is closed
                    break
                if b"[Y/n]" in shown and not answered:
                    os.write(ours, f"{answer}\n".encode())
                    answered = True
            status = launcher.wait(timeout=60)
        os.close(ours)
        return status, shown.decode()

    return run
