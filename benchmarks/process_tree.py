"""What a look at a process tree costs: CPU of the looking thread in µs, with Student's 95 % interval over rounds.

    PYTHONPATH=src .venv/bin/python benchmarks/process_tree.py [--rounds 20] [--looks 50] [--seed 1]

Each tree is a root with children that sleep. In a round every tree is looked at in each of three ways, in random order:

    search       new processes are searched for: at most every 100 ms, and every second where none was started
    known        the known processes are read: all other looks
    not followed the clock of the root alone

The last column is the share of a core that ten looks a second with a search take.
"""

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack

from tracetax.machine.processes import ProcessTree
from tracetax.process import Process
from tracetax.statistics.intervals import Estimate, t_interval

TREES = ((1, 1), (10, 1), (100, 1), (1, 50), (10, 50))
"""Processes, and threads in each."""
WAYS = ("search", "known", "not followed")
PROGRAM = """
import os, sys, threading, time
processes, threads = map(int, sys.argv[1:])
for _ in range(processes - 1):
    if os.fork() == 0:
        break
for _ in range(threads - 1):
    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
os.write(1, b".")
time.sleep(3600)
"""


def main() -> None:
    """Start the trees, look at them, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--looks", type=int, default=50, help="looks of each kind in a round")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    costs: dict[tuple[tuple[int, int], str], list[float]] = {}
    with ExitStack() as started:
        looks = {
            (shape, way): look
            for shape in TREES
            for way, look in ways(started.enter_context(program(*shape)), shape[0], started).items()
        }
        order = list(looks)
        for _ in range(options.rounds):
            chance.shuffle(order)
            for key in order:
                costs.setdefault(key, []).append(cost_us(looks[key], options.looks))
    print("| processes | threads of each | search, µs | known, µs | not followed, µs | ten searches a second |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for shape in TREES:
        told = [t_interval(costs[shape, way]) for way in WAYS]
        share = f"{told[0].mean * 10 / 1e6:.2%}"
        print(f"| {' | '.join([*map(str, shape), *map(words, told), share])} |")


def program(processes: int, threads: int) -> Process:
    """A tree of so many sleeping processes, each with so many threads; all are there."""
    command = [sys.executable, "-S", "-c", PROGRAM, str(processes), str(threads)]
    process = Process(command, environment={}, stdout=subprocess.PIPE, stderr=2)
    for _ in range(processes):
        process.stdout.read(1)
    return process


def ways(process: Process, processes: int, started: ExitStack) -> dict[str, Callable[[], object]]:
    """The three ways to look at a program."""
    tree = started.enter_context(ProcessTree(process.pid, follow=True, orphans=False))
    alone = started.enter_context(ProcessTree(process.pid, follow=False))
    found = tree.look(search=True).processes
    if found != processes:
        raise SystemExit(f"{found} processes are seen where {processes} are")
    tree_known = started.enter_context(ProcessTree(process.pid, follow=True, orphans=False))
    tree_known.look(search=True)
    return {"search": lambda: tree.look(search=True), "known": known(tree_known), "not followed": alone.look}


def known(tree: ProcessTree) -> Callable[[], object]:
    """Looks that search for nothing, however much time passes between them."""

    def look() -> object:
        tree._asked_ns = time.monotonic_ns()  # pyright: ignore[reportPrivateUsage]
        return tree.look()

    return look


def cost_us(look: Callable[[], object], times: int) -> float:
    """CPU of a look, the mean of so many, in µs."""
    look()  # what another tree has driven out of the caches
    begun = time.thread_time_ns()
    for _ in range(times):
        look()
    return (time.thread_time_ns() - begun) / times / 1e3


def words(estimate: Estimate) -> str:
    """A mean with its interval."""
    return f"{estimate.mean:,.1f} ± {estimate.half_width or 0.0:,.1f}"


if __name__ == "__main__":
    main()
