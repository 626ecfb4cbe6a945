"""Runs every fuzz target of the sink, one after the other, and watches whether its memory stays flat.

    PYTHONPATH=src .venv/bin/python benchmarks/fuzz.py [--minutes 10] [--only FuzzKieker …] [--to docs/results/fuzz.csv]

The collector is told to keep within 256 MiB, so that what is resident is what is held, and not what a busy machine left
it no time to collect; what holds more than that grows beyond. Once a second the resident memory of the largest worker
process is looked at, and the peak of every minute kept. A target is flat when the peak of its last third is at most a
quarter, or 32 MiB, above that of its second third (the first fills caches). A line is appended to the CSV as each
target ends; targets that are there are not run again. What crashes is kept by Go in testdata/fuzz beside the target,
and is a test from then on.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from kept import append, read
from tracetax.artifacts.builds import unstamped
from tracetax.artifacts.tools import find_tool

ROOT = Path(__file__).resolve().parents[1]
SINK = ROOT / "sink"
COLUMNS: tuple[str, ...] = (
    "target", "seconds", "executions", "inputs", "exit_status", "flat", "peak_mib_by_minute"
)  # fmt: skip
MEMORY_LIMIT = {"GOMEMLIMIT": "256MiB"}
PROGRESS = re.compile(r"execs: (\d+).*total: (\d+)\)")


def targets(go: str) -> dict[str, str]:
    """All fuzz targets, and the package of each."""
    listed = subprocess.run(
        (go, "test", "-list", "^Fuzz", "./..."),
        cwd=SINK,
        env=unstamped(os.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    packages: dict[str, str] = {}
    names: list[str] = []
    for words in map(str.split, listed.stdout.splitlines()):
        if words[0].startswith("Fuzz"):
            names.append(words[0])
        elif words[0] == "ok":
            packages |= dict.fromkeys(names, words[1])
            names = []
    return packages


def fuzz(go: str, target: str, package: str, minutes: float) -> dict[str, object]:
    """Run one target; returns its line."""
    begun = time.monotonic()
    command = (go, "test", "-run", "^$", "-fuzz", f"^{target}$", "-fuzztime", f"{minutes * 60:.0f}s", package)
    peaks: list[int] = []
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command, cwd=SINK, stdout=output, stderr=subprocess.STDOUT, env=unstamped(os.environ) | MEMORY_LIMIT
        )
        try:
            while process.poll() is None:
                minute = int((time.monotonic() - begun) / 60)
                peaks += [0] * (minute + 1 - len(peaks))
                peaks[minute] = max(peaks[minute], *workers(process.pid), 0)
                time.sleep(1.0)
        finally:
            end(process)
        output.seek(0)
        printed = output.read()
    progress = PROGRESS.findall(printed)
    if process.returncode:
        print(printed[-3000:], flush=True)
    return {
        "target": target,
        "seconds": f"{time.monotonic() - begun:.0f}",
        "executions": progress[-1][0] if progress else 0,
        "inputs": progress[-1][1] if progress else 0,
        "exit_status": process.returncode,
        "flat": "yes" if flat(peaks) else "no",
        "peak_mib_by_minute": " ".join(f"{peak / 2**20:.0f}" for peak in peaks),
    }


def workers(pid: int) -> Iterator[int]:
    """Resident memory of the processes that execute inputs, bytes."""
    yield 0
    with suppress(psutil.Error):
        for child in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.Error):
                if any(word.startswith("-test.fuzzworker") for word in child.cmdline()):
                    yield child.memory_info().rss


def end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a target that was interrupted."""
    if process.poll() is None:
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.Error):
                child.kill()
        process.kill()
        process.wait()


def flat(peaks: list[int]) -> bool:
    """Whether memory stopped growing; with fewer than three minutes there is nothing to compare."""
    third = len(peaks) // 3
    if not third:
        return True
    second, last = max(peaks[third : 2 * third]), max(peaks[2 * third :])
    return last - second <= max(second / 4, 32 << 20)


def main() -> int:
    """Run the targets that are not in the CSV; the exit status says whether none crashed and all were flat."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0, help="for each target")
    parser.add_argument("--only", nargs="+", metavar="TARGET")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "results" / "fuzz.csv")
    options = parser.parse_args()
    go = str(find_tool("go", "to fuzz the sink", beside_python=True))
    packages = targets(go)
    for target in options.only or packages:
        if target in {line["target"] for line in read(options.to)}:
            continue
        append(options.to, COLUMNS, [fuzz(go, target, packages[target], options.minutes)])
    lines = read(options.to)
    for line in lines:
        print(*(f"{line[name]:>12}" for name in COLUMNS[:-1]), line["peak_mib_by_minute"])
    return 0 if all(line["exit_status"] == "0" and line["flat"] == "yes" for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
