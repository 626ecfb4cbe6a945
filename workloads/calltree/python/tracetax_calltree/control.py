"""The control protocol: commands from standard input, events to the status file."""

import os
import threading
from pathlib import Path
from queue import SimpleQueue
from time import monotonic_ns
from types import TracebackType

END = ""
"""Stands for the end of the input."""


class Stop:
    """The wish, from outside, that no further calls be made."""

    requested = False


class Commands(threading.Thread):
    """Reads commands, one per line, in a thread of its own, so that the end of the input is seen at once.

    It reads the descriptor, not ``sys.stdin``: whoever waits inside that holds a lock that the interpreter wants at its
    end.
    """

    def __init__(self, stop: Stop) -> None:
        super().__init__(name="commands", daemon=True)
        self._lines: SimpleQueue[str] = SimpleQueue()
        self._stop_wish = stop

    def next(self) -> str:
        """Wait for the next command; ``END`` when there will be none."""
        return self._lines.get()

    def run(self) -> None:
        """Read until the input ends; an input that cannot be read has ended."""
        rest = b""
        try:
            while data := os.read(0, 65_536):
                *whole, rest = (rest + data).split(b"\n")
                self._put(whole)
        except OSError:
            rest = b""
        self._put([rest])
        self._stop_wish.requested = True
        self._lines.put(END)

    def _put(self, lines: list[bytes]) -> None:
        for line in lines:
            if text := line.decode(errors="replace").strip():
                self._lines.put(text)


class StatusLog:
    """Events for the runner, one line each: ``name monotonic_ns text``."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)

    def event(self, name: str, text: str = "", at_ns: int | None = None) -> None:
        """Append an event, of now unless ``at_ns`` says when, in one write; line breaks in the text become spaces."""
        moment = monotonic_ns() if at_ns is None else at_ns
        os.write(self._file, (" ".join(f"{name} {moment} {text}".split()) + "\n").encode())

    def __enter__(self) -> "StatusLog":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._file)
