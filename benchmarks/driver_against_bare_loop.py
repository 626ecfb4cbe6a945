"""Compares the driver of the workload calltree/java with a bare loop that makes and times the same calls.

Forks of both alternate, in an order drawn for every pair, with the same JVM flags and the same number of warm-up calls.
A fork's value is the time from before the first to after the last measured call, divided by the calls: what a driver
does between its calls is inside. The interval of the ratio is Student's, of the paired differences of logarithms.

Usage: ``python benchmarks/driver_against_bare_loop.py [--pairs 20] [--calls 2000000] [--depth 10] [--java HOME]``.
Exit code 1 if the interval is not inside 0.95–1.05.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import special  # pyright: ignore[reportMissingTypeStubs]

ROOT = Path(__file__).resolve().parent.parent
JVM_FLAGS = ["-Xms1g", "-Xmx1g", "-XX:+UseG1GC"]
BURST = 1_000
BURSTS = 64
BOUNDS = (0.95, 1.05)
FORK_LIMIT_S = 120

Fork = Callable[[], tuple[float, float]]
"""Starts a JVM and gives its time per call between the first and the last call, and the mean of the samples, in ns."""


def main() -> int:
    """Runs the comparison; gives the exit code."""
    parser = argparse.ArgumentParser(description="The driver of calltree/java against a bare loop.")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--calls", type=int, default=2_000_000)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--java", type=Path, help="home of the JDK; the one on the PATH by default")
    options = parser.parse_args()
    binaries = f"{options.java / 'bin'}/" if options.java else ""

    with tempfile.TemporaryDirectory(prefix="tracetax-benchmark-") as folder:
        classes = compiled(f"{binaries}javac", Path(folder))
        java = [f"{binaries}java", *JVM_FLAGS, "-cp", str(classes)]
        forks: list[Fork] = [
            lambda: driver(java, Path(folder), options.calls, options.depth),
            lambda: bare_loop(java, options.calls, options.depth),
        ]
        values = interleaved(forks, options.pairs, random.Random(options.seed))
    return report(values[:, :, 0], values[:, :, 1])


def compiled(javac: str, folder: Path) -> Path:
    """Compiles workload and bare loop."""
    sources = [*(ROOT / "workloads/calltree/java/src").rglob("*.java"), ROOT / "benchmarks/bareloop/BareLoop.java"]
    classes = folder / "classes"
    subprocess.run([javac, "--release", "8", "-Xlint:-options", "-d", classes, *sources], check=True)
    return classes


def interleaved(forks: list[Fork], pairs: int, order: random.Random) -> npt.NDArray[np.float64]:
    """Runs every fork once per pair, in random order; gives pairs × forks × values."""
    values = np.empty((pairs, len(forks), 2))
    print(f"{os.cpu_count()} cores, load average before: {os.getloadavg()[0]:.2f}")
    print("pair   driver ns   bare ns   ratio")
    for pair in range(pairs):
        for fork in order.sample(range(len(forks)), len(forks)):
            values[pair, fork] = forks[fork]()
        ours, bare = values[pair, :, 0]
        print(f"{pair + 1:4}   {ours:9.2f}   {bare:7.2f}   {ours / bare:.4f}", flush=True)
    print(f"load average after: {os.getloadavg()[0]:.2f} (1 is the fork itself)")
    return values


def driver(java: list[str], folder: Path, calls: int, depth: int) -> tuple[float, float]:
    """One fork of the workload, by its control protocol."""
    with tempfile.TemporaryDirectory(dir=folder) as trial:
        out, status = Path(trial) / "out", Path(trial) / "status"
        program = [*java, "tracetax.calltree.Main", "--calls", str(calls), "--depth", str(depth)]
        process = subprocess.Popen([*program, "--out", out, "--status", status], stdin=subprocess.PIPE, text=True)
        assert process.stdin is not None
        try:
            process.stdin.write(f"warm-up {BURST}\n" * BURSTS + "measure\ndrained\n")
            process.stdin.flush()
            deadline = time.monotonic() + FORK_LIMIT_S
            while not (status.exists() and "\nwritten " in status.read_text()):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"the driver did not get to its end: {status.read_text()}")
                time.sleep(0.2)
            process.stdin.close()
            process.wait(FORK_LIMIT_S)
        finally:
            process.kill()
            process.wait()
        caller = json.loads((out / "trial.json").read_text())["caller"][0]
        samples = np.fromfile(out / "samples-0.i64", "<i8")
    return (caller["last_ns"] - caller["first_ns"]) / calls, float(samples.mean())


def bare_loop(java: list[str], calls: int, depth: int) -> tuple[float, float]:
    """One fork of the bare loop."""
    program = [*java, "BareLoop", str(calls), str(depth), str(BURST * BURSTS)]
    printed = subprocess.run(program, check=True, capture_output=True, text=True, timeout=FORK_LIMIT_S).stdout.split()
    return int(printed[0]) / calls, float(printed[1])


def report(elapsed: npt.NDArray[np.float64], service: npt.NDArray[np.float64]) -> int:
    """Prints means and ratio with its interval; gives the exit code."""
    pairs = len(elapsed)
    logs = np.log(elapsed[:, 0] / elapsed[:, 1])
    half = float(special.stdtrit(pairs - 1, 0.975)) * float(logs.std(ddof=1)) / pairs**0.5
    low, ratio, high = np.exp([logs.mean() - half, logs.mean(), logs.mean() + half])
    for name, column in (("driver", 0), ("bare loop", 1)):
        mean, sd = elapsed[:, column].mean(), elapsed[:, column].std(ddof=1)
        print(
            f"{name:9}  {mean:7.2f} ns per call (sd over forks {sd:.2f}, median {np.median(elapsed[:, column]):.2f});"
            f" mean sample {service[:, column].mean():.2f} ns"
        )
    inside = bool(BOUNDS[0] <= low and high <= BOUNDS[1])
    print(f"ratio {ratio:.4f}, 95 % interval {low:.4f} to {high:.4f} over {pairs} pairs")
    print(f"the interval lies {'inside' if inside else 'NOT inside'} {BOUNDS[0]}–{BOUNDS[1]}")
    return 0 if inside else 1


if __name__ == "__main__":
    sys.exit(main())
