"""What is checked in this project: Python, every Go module, all Java files and all shell scripts."""

import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from checks.check import Check
from checks.pythons import releases, tests_in, tried
from checks.tools import java_format, staticcheck

PYTHON_MODULE = (sys.executable, "-I", "-m")
PASSED_OVER = frozenset({"__pycache__", "dist", "node_modules", "runs", "target"})
"""Folders that hold what was made or fetched. Hidden folders are passed over too, but for ``.ci``."""
SHELL_SUFFIXES = (".sh", ".bash")
SHELLS = (b"sh", b"bash")


def checks(root: Path, cache: Path) -> Iterator[Check]:
    """Every check of the clone ``root``; ``cache`` keeps checkers and environments."""
    files = sorted(files_below(root))
    yield from python_checks(root, cache)
    for module in files:
        if module.name == "go.mod":
            yield from go_checks(module.parent, module.parent.relative_to(root).as_posix(), cache)
    if java := [str(file) for file in files if file.suffix == ".java"]:
        yield Check("google-java-format", root, lambda: java_format(cache, java))
    if scripts := [str(file) for file in files if is_shell_script(file)]:
        shellcheck = Path(sys.executable).with_name("shellcheck")
        yield Check("shellcheck", root, lambda: (str(shellcheck), "--external-sources", *scripts))


def python_checks(root: Path, cache: Path) -> Iterator[Check]:
    """The checks of Python: types for the oldest and the newest release, quick tests in the newest that is here.

    What a release adds is unknown to the oldest, and what one removes to the newest, so these two see what those
    between them would. The newest is asked about the product alone.
    """
    yield Check("ruff check", root, lambda: (*PYTHON_MODULE, "ruff", "check"))
    yield Check("ruff format", root, lambda: (*PYTHON_MODULE, "ruff", "format", "--check"))
    oldest, *_, newest = releases(root)
    pyright = (*PYTHON_MODULE, "pyright", "--pythonpath", sys.executable, "--pythonversion")
    yield Check(f"pyright {oldest}", root, lambda: (*pyright, oldest))
    yield Check(f"pyright {newest}", root, lambda: (*pyright, newest, "src"))
    for release in tried(root):
        yield Check(f"tests in Python {release}", root, partial(tests_in, release, root, cache))


def go_checks(folder: Path, name: str, cache: Path) -> Iterator[Check]:
    """The checks of one Go module; tests run again with the race detector, which needs a C compiler and is slow."""
    yield Check(f"gofmt {name}", folder, lambda: ("gofmt", "-l", "-d", "."), silent=True)
    yield Check(f"go vet {name}", folder, lambda: ("go", "vet", "./..."))
    yield Check(f"staticcheck {name}", folder, lambda: (str(staticcheck(cache)), "./..."))
    if any(folder.rglob("*_test.go")):
        yield Check(f"go test {name}", folder, lambda: ("go", "test", "./..."))
        yield Check(f"go test -race {name}", folder, lambda: ("go", "test", "-race", "-short", "./..."))


def files_below(root: Path) -> Iterator[Path]:
    """The files of the project: none that was made, fetched, or belongs to a tool."""
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name == ".ci" or not (name.startswith(".") or name in PASSED_OVER)]
        yield from (Path(folder, name) for name in files)


def is_shell_script(file: Path) -> bool:
    """Whether a file is for a shell, by its name, or by its first line."""
    if file.suffix in SHELL_SUFFIXES:
        return True
    with file.open("rb") as opened:
        if opened.read(2) != b"#!":
            return False
        return any(word.rpartition(b"/")[2] in SHELLS for word in opened.readline().split()[:2])
