"""The terminal, or whatever takes its place."""

import errno
import os
import sys

from rich.console import Console


class CalmConsole(Console):
    """A console that stays quiet when nobody reads any more: a run whose output went into ``head`` goes on.

    So does one whose terminal was closed, which answers with an input/output error: what it measured is kept.
    """

    def _write_buffer(self) -> None:
        try:
            super()._write_buffer()
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            raise BrokenPipeError from error

    def on_broken_pipe(self) -> None:
        """Write to nowhere from here on."""
        self.quiet = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def console() -> CalmConsole:
    """A console for tables and sentences: nothing in a text is markup, and nothing is coloured by guessing."""
    return CalmConsole(highlight=False, markup=False, soft_wrap=False)
