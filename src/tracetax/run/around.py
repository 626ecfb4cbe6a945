"""Runs what a user wants done around each start of a service of their own: data laid before it, and cleared after."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from tracetax.errors import UserError
from tracetax.printable import printable
from tracetax.process import Process
from tracetax.program import Workload
from tracetax.run.launch import LISTEN_PORT
from tracetax.run.output import last_lines
from tracetax.service import OwnService
from tracetax.workloads.driver import WorkloadFailed

AROUND_SECONDS = 600.0
"""How long either command may take."""
BEFORE, AFTER = "before.txt", "after.txt"


@contextmanager
def around(service: Workload | OwnService, port: int, logs: Path, tell: Callable[[str], None]) -> Generator[None]:
    """Run the service's command ``before`` ahead of the block, and ``after`` whatever becomes of the block.

    Both find the user's environment, are told the ``port``, and print into a file of ``logs`` each. ``tell`` gets the
    reason where ``after`` fails. Raises WorkloadFailed where ``before`` does: the block is not run then.
    """
    try:
        if problem := _failure("before", service.before, port, service.directory, logs):
            raise WorkloadFailed("before-failed", problem)
        yield
    finally:
        if problem := _failure("after", service.after, port, service.directory, logs):
            tell(f"{problem}\n{last_lines(logs, (AFTER,))}")


def _failure(which: str, words: tuple[str, ...], port: int, directory: str, logs: Path) -> str:
    """Run a command to its end, if there is one; what went wrong, or nothing."""
    if not words:
        return ""
    command = [word.replace(f"{{{LISTEN_PORT}}}", str(port)) for word in words]
    log = logs / f"{which}.txt"
    try:
        process = Process(
            command, environment=dict(os.environ), stdout=log, stderr=log, directory=Path(directory or logs)
        )
    except UserError as error:
        return f"--{which}: {error}"
    with process:
        process.close_input()
        ending = process.wait(AROUND_SECONDS)
    if ending and ending.status == 0:
        return ""
    went = ending.description if ending else f"did not end within {AROUND_SECONDS:.0f} s"
    return f"--{which}: {printable(' '.join(command))} {went}"
