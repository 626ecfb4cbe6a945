"""Runs the ordinary clients (mvn, go, javac), with their output in a log, and explains their failures."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tracetax.backend import Backend
from tracetax.errors import ExitCode, UserError
from tracetax.printable import printable
from tracetax.process import Process

FIRST_LINES = 6
LAST_LINES = 8
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class ToolFailed(UserError):
    """A client ended badly; the message has the end of its output and where all of it is."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.ENVIRONMENT)


def find_tool(name: str, needed_for: str, *, beside_python: bool = False) -> Path:
    """The client's program: first beside this Python where it may come as a wheel, then on the PATH.

    Raises ToolFailed where there is none.
    """
    own = str(Path(sys.executable).parent) if beside_python else ""
    found = (shutil.which(name, path=own) if own else None) or shutil.which(name)
    if found is None:
        raise ToolFailed(f"{name} is missing; it is needed {needed_for}. ./tracetax doctor says how to get it.")
    return Path(found)


def runner_of(backend: Backend) -> Path | None:
    """What runs a backend; None where it is a program by itself. Raises ToolFailed where it is missing."""
    return find_tool("java", f"to run {backend.name}") if backend.start.by_java else None


def run_tool(
    what: str,
    command: Sequence[str],
    *,
    log: Path,
    seconds: float,
    advice: str | Callable[[str], str] = "",
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> str:
    """Run a client to its end in an ``environment``, by default the user's own; returns its output.

    Raises ToolFailed when it fails or takes longer than ``seconds``: ``what`` begins the message, ``advice`` is in it
    (or what that says about the output), and its log ``<log>-….log``, which is removed otherwise, is kept. Leaving
    early, by Ctrl-C too, ends the client and all that it started.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f"{log.name}-", suffix=".log", dir=log.parent)
    os.close(handle)
    log = Path(name)
    own = os.environ if environment is None else environment
    with Process(command, environment=own, stdout=log, stderr=log, directory=directory) as process:
        process.close_input()
        ending = process.wait(seconds, interval=0.02)
    output = log.read_text(encoding="utf-8", errors="replace")
    if ending is None or ending.status != 0:
        how = ending.description if ending else f"was ended after {seconds:,.0f} s without a result"
        program = Path(command[0]).name
        told = advice if isinstance(advice, str) else advice(output)
        raise ToolFailed(f"{what}: {program} {how}. {told}".rstrip() + f"\n{_excerpt(output)}  whole output: {log}")
    log.unlink()
    return output


def _excerpt(output: str) -> str:
    """The beginning and the end of a client's output, indented: Maven says first what failed, compilers last."""
    cleaned = (printable(_COLOUR.sub("", line)).rstrip() for line in output.splitlines())
    lines = [line for line in cleaned if line not in ("", "[ERROR]")]
    if len(lines) > FIRST_LINES + LAST_LINES:
        lines = [*lines[:FIRST_LINES], "…", *lines[-LAST_LINES:]]
    return "".join(f"  {line}\n" for line in lines)
