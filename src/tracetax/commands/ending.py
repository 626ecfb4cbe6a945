"""How every command that measures ends: in order where it is told to, and with a word on what does not end at all."""

import signal
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import FrameType

from rich.console import Console

from tracetax.process import left_behind
from tracetax.results.folder import RunFolder


@contextmanager
def ending_in_order(console: Console) -> Generator[None]:
    """Treat TERM and HUP as Ctrl-C: end in order, keep what was measured. What nohup has silenced stays so.

    At the end, processes are named that not even KILL has ended.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for pid, program in left_behind().items():
            text = f"Process {pid} ({program}) does not end even by KILL: it waits in the kernel, and ends after that."
            console.print(text, soft_wrap=True)
        for number, handler in before.items():
            signal.signal(number, handler)


def tell_failed(numbers: Sequence[int], folder: RunFolder, console: Console) -> None:
    """Say which trials failed, and where to look."""
    names = ", ".join(str(number) for number in numbers)
    logs = folder.path / "logs"
    console.print(f"Failed trials: {names}. Why stands above and in their logs: {logs}", soft_wrap=True)
