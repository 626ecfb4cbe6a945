"""Measures over stand-ins, and kills itself when something is written through to disk for the n-th time."""

import os
import signal
import sys
from pathlib import Path

from tests.faults.scene import measured
from tracetax.machine import disturbance
from tracetax.results import folder


def main() -> None:
    run, sink, moment = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    really, done = os.fsync, [0]

    def fsync(descriptor: int) -> None:
        done[0] += 1
        if done[0] == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        really(descriptor)

    folder.os.fsync = fsync
    disturbance.DISTURBED_ABOVE = 99.0
    measured(run, sink)


if __name__ == "__main__":
    main()
