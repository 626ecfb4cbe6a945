"""How every command that measures ends: in order where it is told to, and with a word on what does not end at all."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from rich.console import Console

from tracetax.process import kill_all, left_behind
from tracetax.results.folder import RunFolder
from tracetax.signals import heeded


@contextmanager
def ending_in_order(console: Console) -> Generator[None]:
    """Treat TERM and HUP as Ctrl-C: end in order, keep what was measured. What nohup has silenced stays so.

    The third Ctrl-C or TERM ends everything at once. At the end, processes are named that not even KILL has ended.
    """

    try:
        with heeded(kill_all):
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
