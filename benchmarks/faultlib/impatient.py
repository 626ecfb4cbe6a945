"""The tool as it is, with a watchdog that waits seconds where a user's waits minutes; its arguments are the tool's.

A fault that only a time limit ends would otherwise take a minute each time. With TRACETAX_FAULTS_UNDISTURBED the rule
that repeats disturbed trials is off: the one who injects faults is such a disturbance himself. On a busy machine
TRACETAX_FAULTS_PATIENCE multiplies the limits. TRACETAX_FAULTS_LOCK stands in the place of the machine's lock, since
several runs are harmed at once.
"""

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

from tracetax import cli
from tracetax.companions import sink
from tracetax.machine import disturbance, lock
from tracetax.run import prepare
from tracetax.run.equipment import Limits

PATIENCE = float(os.environ.get("TRACETAX_FAULTS_PATIENCE", "1"))
IMPATIENT = {"start": 6.0, "burst": 3.0, "calls_base": 5.0, "drain_base": 5.0, "write": 5.0, "end": 2.0, "term": 0.5}


def main() -> None:
    """Shorten the limits and run the tool."""
    shortened: Any = prepare
    shortened.Limits = partial(Limits, **{name: seconds * PATIENCE for name, seconds in IMPATIENT.items()})
    sink.ANSWER_SECONDS = 4.0 * PATIENCE
    if os.environ.get("TRACETAX_FAULTS_UNDISTURBED"):
        disturbance.DISTURBED_ABOVE = float("inf")
    if own := os.environ.get("TRACETAX_FAULTS_LOCK"):
        lock.LOCK = Path(own)
    sys.argv[0] = "tracetax"
    cli.main()


if __name__ == "__main__":
    main()
