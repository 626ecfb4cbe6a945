"""Errors for the reader: what was wrong, where, and what to do. The CLI prints them without a stack trace."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the CLI, documented in ``./tracetax --help``."""

    OK = 0
    FAILED = 1
    """The run finished, but a trial failed in it, even if its repetition made it good."""
    USAGE = 2
    """Something in what the user gave is wrong: a command, a file, a key, a folder."""
    ENVIRONMENT = 3
    """The machine lacks something: a JDK, disk space, a download."""
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
