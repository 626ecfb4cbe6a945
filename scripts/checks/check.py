"""One check of the project: a command that passes or fails, what came of it, and the line that tells it."""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from tracetax.artifacts.builds import unstamped
from tracetax.errors import UserError

State: TypeAlias = Literal["ok", "FAILED", "not run"]
"""``not run``: this machine lacks what the check looks at; that fails nothing, and is told."""


class NotHere(UserError):
    """This machine lacks what a check looks at, such as another Python; the message names it."""


class Check(Struct, frozen=True):
    """A command that passes with status 0; where ``silent``, it must print nothing as well."""

    name: str
    folder: Path
    command: Callable[[], Sequence[str]]
    """Prepares what the check needs and gives its command; may raise UserError."""
    silent: bool = False


class Outcome(Struct, frozen=True):
    """What came of a check."""

    name: str
    state: State
    seconds: float
    output: str = ""
    """What a check said that did not pass."""


_under_way: set[subprocess.Popen[str]] = set()
"""The commands that run now, whatever thread waits for them."""


def end_all() -> None:
    """End every command that runs, so that the threads which wait for them come back."""
    for process in tuple(_under_way):
        process.kill()


def run_check(check: Check) -> Outcome:
    """Run one check to its end; a tool that is missing or cannot be made fails it, with the reason as output."""
    start = time.monotonic()
    state, output = _outcome(check)
    return Outcome(check.name, state, time.monotonic() - start, output)


def _outcome(check: Check) -> tuple[State, str]:
    try:
        status, output = _run(check.command(), check.folder)
    except FileNotFoundError as error:
        return "FAILED", f"{error.filename} is not there. Start the checks by ./tracetax test, which sets it up."
    except NotHere as error:
        return "not run", str(error)
    except UserError as error:
        return "FAILED", str(error)
    if status == 0 and not (check.silent and output):
        return "ok", ""
    return "FAILED", output or f"ended with status {status} and said nothing"


def _run(command: Sequence[str], folder: Path) -> tuple[int, str]:
    """Run a command to its end; its status, and what it said on both channels."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**unstamped(os.environ), "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        _under_way.add(process)
        try:
            said, _ = process.communicate()
        finally:
            _under_way.discard(process)
    return process.returncode, said.strip()


def describe(outcome: Outcome) -> str:
    """One line, and below it what a check said that did not pass."""
    line = f"{outcome.state:<8}{outcome.name:<32}{outcome.seconds:>7.1f} s"
    return f"{line}\n{outcome.output}" if outcome.output else line
