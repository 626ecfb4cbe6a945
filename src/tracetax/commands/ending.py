"""How every command that measures ends: in order where it is told to, and with a word on what does not end at all."""

import contextlib
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from rich.console import Console

from tracetax.process import kill_all, left_behind, none_forgotten
from tracetax.results.folder import RunFolder
from tracetax.signals import heeded, ignored


@contextmanager
def ending_in_order(console: Console) -> Generator[None]:
    """Treat TERM and HUP as Ctrl-C: end in order, keep what was measured. What nohup has silenced stays so.

    The third Ctrl-C or TERM ends everything at once. At the end, processes are named that not even KILL has ended.
    """

    try:
        with none_forgotten(), heeded(kill_all):
            yield
    finally:
        for pid, program in left_behind().items():
            text = f"Process {pid} ({program}) does not end even by KILL: it waits in the kernel, and ends after that."
            console.print(text, soft_wrap=True)


def tell_failed(numbers: Sequence[int], folder: RunFolder, console: Console) -> None:
    """Say which trials failed, and where to look."""
    names = ", ".join(str(number) for number in numbers)
    logs = folder.path / "logs"
    console.print(f"Failed trials: {names}. Why stands above and in their logs: {logs}", soft_wrap=True)


def tell(text: str) -> None:
    """Say a last word to whoever still reads: the terminal may be closed. From here on no signal is heeded."""
    ignored()
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def end(status: int) -> NoReturn:
    """End with this status, also where what was printed last can no longer be: Python would make it 120."""
    ignored()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
    sys.exit(status)
