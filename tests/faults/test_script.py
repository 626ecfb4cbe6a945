"""The scripts that inject faults leave nothing running, however they end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.run.stand_ins import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'benchmarks'}"}
WAITING = """
import sys, time
from pathlib import Path
from faultlib.tools import heed_endings, start
heed_endings()
print(start(("60",), Path(sys.argv[1]), ("sleep",)).pid, flush=True)
time.sleep(60)
"""
STOPPED = """
import sys
from pathlib import Path
from faultlib.tools import Stopped, pause, start, stop
running = start(("60",), Path(sys.argv[1]), ("sleep",))
stop()
print(running.wait())
for act in (lambda: start(("60",), Path(sys.argv[1]), ("sleep",)), lambda: pause(60)):
    try:
        act()
    except Stopped:
        print("stopped")
"""


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_what_it_has_started_ends_with_it_also_in_the_background(number: signal.Signals, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, str(tmp_path / "log")],
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    ) as script:
        assert script.stdout is not None
        started = int(script.stdout.readline())
        assert runs(started)
        script.send_signal(number)
        assert script.wait(30) == (-number if number == signal.SIGKILL else 128 + number)
    until = time.monotonic() + 30
    while runs(started) and time.monotonic() < until:
        time.sleep(0.02)
    assert not runs(started)


def test_told_to_end_it_ends_what_runs_and_neither_starts_nor_awaits_anything(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STOPPED, str(tmp_path / "log")]
    printed = subprocess.run(command, stdout=subprocess.PIPE, env=ENVIRONMENT, check=True).stdout.decode()
    assert printed.split() == ["-9", "stopped", "stopped"]
