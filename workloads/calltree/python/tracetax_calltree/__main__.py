"""The call tree workload: makes calls as its standard input commands, and leaves samples and ``trial.json``."""

import re
import sys
from time import monotonic_ns

from tracetax_calltree.control import END, Commands, StatusLog, Stop
from tracetax_calltree.options import Options, WrongOption, parse
from tracetax_calltree.snapshot import snapshot
from tracetax_calltree.trial import Trial


class WrongCommand(ValueError):
    """A line of the standard input that is no command."""


def main() -> int:
    """Run until standard input ends, then return, so that the interpreter ends the ordinary way."""
    begin_ns = monotonic_ns()
    try:
        options = parse(sys.argv[1:])
    except WrongOption as error:
        print(f"calltree: {error}", file=sys.stderr)
        return 1
    with StatusLog(options.status) as status:
        status.event("main", "", begin_ns)
        try:
            run(options, status)
        except Exception as error:
            status.event("error", f"{type(error).__name__}: {error}")
            if not isinstance(error, WrongCommand):
                raise
            print(f"calltree: {error}", file=sys.stderr)
            return 1
    return 0


def run(options: Options, status: StatusLog) -> None:
    """Obey the commands of standard input, one after the other, until it ends."""
    begin = snapshot()
    stop = Stop()
    commands = Commands(stop)
    trial = Trial(options, status, stop, begin)
    commands.start()
    while (line := commands.next()) != END:
        obey(trial, line)


def obey(trial: Trial, line: str) -> None:
    """Do what one command says. Raises WrongCommand."""
    if burst := re.fullmatch(r"warm-up +([1-9][0-9]{0,17})", line):
        trial.warm_up(int(burst[1]))
    elif line == "measure":
        trial.measure()
    elif line == "drained":
        trial.drained()
    else:
        raise WrongCommand(f"command '{line}': not one of 'warm-up N', 'measure', 'drained'")


if __name__ == "__main__":
    sys.exit(main())
