"""Errors for the reader: what was wrong, where, and what to do. The CLI prints them without a stack trace."""

import errno
from enum import IntEnum

from tracetax.printable import printable

SHOWN_LETTERS = 100
"""Of a name that is too long."""


class ExitCode(IntEnum):
    """Exit codes of the CLI, documented in ``./tracetax --help``."""

    OK = 0
    FAILED = 1
    """The run finished, but a trial failed in it, even if its repetition made it good."""
    USAGE = 2
    """Something in what the user gave is wrong: a command, a file, a key, a folder."""
    ENVIRONMENT = 3
    """The machine lacks something: a JDK, disk space, a download. Or a service failed when it was tried."""
    BUSY = 4
    """Another run is measuring on this machine."""
    SLOWER = 5
    """What ``--fail-if`` asked about is slower."""
    INTERRUPTED = 130
    """Ctrl-C; what was measured is kept."""


class UserError(Exception):
    """A mistake or a lack that the user can mend; its message names what, where and the way out."""

    def __init__(self, message: str, exit_code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def refused_by_system(error: OSError) -> UserError:
    """What the system does not do, as a sentence; a name that is too long is the user's to shorten."""
    if error.errno == errno.ENAMETOOLONG:
        name = printable(str(error.filename))
        return UserError(f"A name is too long for this file system: {name[:SHOWN_LETTERS]}…\nGive a shorter one.")
    text = f"The system refuses: {printable(str(error))}. Every trial that had finished is kept."
    return UserError(text, ExitCode.ENVIRONMENT)
