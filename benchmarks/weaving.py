"""What weaving before a run costs a build, by technology and share of monitored methods.

    .venv/bin/python benchmarks/weaving.py [--blocks 10] [--methods 1000] [--monitored 0,100,250,500,1000]

A program of so many methods is compiled once; those that are monitored lie in a class of their own. Then each program
that agents/kieker/agent.toml prepares a class with weaves that class, in a fresh JVM each time, all of them once per
block in random order. Weaving of class files comes on top of a build, so its whole process is the cost. Rewritten
sources are compiled instead of the original ones, so of these the cost is rewriting and compiling less compiling what
was there before (javac, once per block); both are measured for all classes of the program.

Prints mean and 95 % interval over blocks of wall time and CPU, ms; --out keeps every measurement.
"""

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tracetax.artifacts import (
    Workplace,
    build_start_up,
    build_workload,
    cache_dir,
    find_tool,
    obtain,
    prepared,
    sources_of,
)
from tracetax.artifacts.start_up import MONITORED, PACKAGE, generated
from tracetax.catalog import fill, load_agents
from tracetax.catalog.placeholders import OUT, PREPARED
from tracetax.catalog.references import references
from tracetax.machine.lock import sole_run
from tracetax.model import Program
from tracetax.process import clean_environment
from tracetax.statistics.intervals import t_interval
from tracetax.workloads import calltree

ROOT = Path(__file__).resolve().parents[1]
WORKLOAD = "calltree/java"
STEPS = {
    "aspectj-woven": "AspectJ",
    "bytebuddy-woven": "ByteBuddy",
    "javassist-woven": "Javassist",
    "source-rewritten": "source",
}
TECHNOLOGIES = ("aspectj-compile-time", "bytebuddy-build-time", "javassist-build-time", "source")
JAVAC = "javac"
CLASS = f"{PACKAGE}.{MONITORED}"


class Spent(Struct, frozen=True):
    """What a process took."""

    wall_ns: int
    cpu_ns: int

    def __add__(self, other: "Spent") -> "Spent":
        """One process after the other."""
        return Spent(self.wall_ns + other.wall_ns, self.cpu_ns + other.cpu_ns)


class Scene(Struct, frozen=True):
    """A program with so many monitored methods, and what its weaving refers to."""

    monitored: int
    sources: Path
    programs: dict[str, Program]
    values: dict[str, str]
    class_path: str
    """What compiling rewritten sources needs."""


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--methods", type=int, default=1000)
    parser.add_argument("--monitored", default="0,100,250,500,1000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    levels = [int(level) for level in asked.monitored.split(",")]
    with sole_run(), tempfile.TemporaryDirectory(prefix="weaving-") as folder:
        scenes = [scene(asked.methods, monitored, Path(folder)) for monitored in levels]
        rows = list(measured(scenes, asked.blocks, random.Random(asked.seed)))
    if asked.out:
        with asked.out.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("technology", "methods", "monitored", "block", "wall_ns", "cpu_ns"))
            writer.writerows((name, asked.methods, *row, spent.wall_ns, spent.cpu_ns) for name, *row, spent in rows)
    show(rows)
    return 0


def scene(methods: int, monitored: int, folder: Path) -> Scene:
    """Compile the program and prepare what weaves it."""
    cache = cache_dir(os.environ)
    sources = folder / str(monitored)
    for name, text in generated(methods, monitored).items():
        file = sources / PACKAGE.replace(".", "/") / f"{name}.java"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    agent = load_agents(ROOT)["kieker"]
    configurations = [agent.configurations[f"deactivated:{name}"] for name in TECHNOLOGIES]
    needed = references(agent, configurations)
    place = Workplace(
        agent=agent.key,
        folder=ROOT / "agents" / agent.key,
        artifacts={name: obtain(agent.artifacts[name], cache, print) for name in needed.artifacts},
        classes=build_workload(ROOT, WORKLOAD, cache, print),
        sources=sources_of(ROOT, WORKLOAD),
        monitored=calltree.placeholders(),
        cache=cache,
    )
    folders = prepared(needed.steps, place, print)
    own = replace(
        place,
        classes=build_start_up(methods, monitored, cache, print),
        sources=sources,
        monitored={**calltree.placeholders(), "monitored.class": CLASS},
    )
    values = own.values | {f"{PREPARED}{name}": str(path) for name, path in folders.items()}
    programs = {STEPS[step.name]: step.run for step in needed.steps if step.name in STEPS and step.run}
    return Scene(monitored, sources, programs, values, str(place.artifacts["agent"]))


def measured(scenes: list[Scene], blocks: int, shuffle: random.Random) -> Iterator[tuple[str, int, int, Spent]]:
    """Technology, monitored methods, block, and what it took."""
    slots = [(one, name) for one in scenes for name in (*one.programs, JAVAC)]
    for block in range(1, blocks + 1):
        shuffle.shuffle(slots)
        for place, (one, name) in enumerate(slots, start=1):
            print(f"\rblock {block} of {blocks} · {place} of {len(slots)} ", end="", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory(prefix="weaving-") as folder:
                yield name, one.monitored, block, build(one, name, Path(folder))
    print(file=sys.stderr)


def build(one: Scene, name: str, folder: Path) -> Spent:
    """One build step, in fresh processes."""
    out, classes = folder / "out", folder / "classes"
    out.mkdir()
    if name == JAVAC:
        return compiled(one, list(one.sources.rglob("*.java")), classes, folder)
    program, values = one.programs[name], {**one.values, OUT: str(out)}
    java = str(find_tool("java", "to weave"))
    flags = [
        *(fill(flag, values) for flag in program.jvm),
        "-cp",
        ":".join(fill(x, values) for x in program.class_path),
    ]
    spent = run([java, *flags, program.main, *(fill(argument, values) for argument in program.arguments)], folder)
    woven = list(out.rglob("*.java" if name == "source" else "*.class"))
    if [path.stem for path in woven] != [MONITORED]:
        raise RuntimeError(f"{name} left {woven}")
    if name != "source":
        return spent
    others = [path for path in one.sources.rglob("*.java") if path.stem != MONITORED]
    return spent + compiled(one, [*woven, *others], classes, folder)


def compiled(one: Scene, files: list[Path], classes: Path, folder: Path) -> Spent:
    """Compile all classes of the program."""
    javac = str(find_tool("javac", "to compile"))
    command = [javac, "--release", "11", "-proc:none", "-cp", one.class_path, "-d", str(classes), *map(str, files)]
    return run(command, folder)


def run(command: list[str], folder: Path) -> Spent:
    """Run a process to its end. Raises RuntimeError with what it said where it fails."""
    with (folder / "log.txt").open("wb") as log:
        begun = time.monotonic_ns()
        process = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=clean_environment(os.environ, {})
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall_ns = time.monotonic_ns() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)[:300]}:\n{(folder / 'log.txt').read_text()[-2000:]}")
    return Spent(wall_ns, round((usage.ru_utime + usage.ru_stime) * 1e9))


def show(rows: list[tuple[str, int, int, Spent]]) -> None:
    """The table; of sources, what they take longer than javac alone, in the same blocks."""
    found: dict[tuple[str, int], dict[int, Spent]] = defaultdict(dict)
    for name, monitored, block, spent in rows:
        found[name, monitored][block] = spent
    print(f"{'':12}{'monitored':>10}{'wall, ms':>18}{'CPU, ms':>18}")
    for (name, monitored), by_block in sorted(found.items()):
        plain = found[JAVAC, monitored] if name == "source" else {}
        cells: list[str] = []
        for kind in ("wall_ns", "cpu_ns"):
            less = {block: getattr(of, kind) for block, of in plain.items()}
            values = [(getattr(of, kind) - less.get(block, 0)) / 1e6 for block, of in by_block.items()]
            estimate = t_interval(values)
            cells.append(f"{estimate.mean:,.0f} ± {estimate.half_width or 0:,.0f}")
        print(f"{name:12}{monitored:>10}{cells[0]:>18}{cells[1]:>18}")


if __name__ == "__main__":
    sys.exit(main())
