"""Where each nanosecond of the floor goes: its code alone, in batches that nothing disturbed.

    PYTHONPATH=src .venv/bin/python benchmarks/floor_steps.py --asm JAR [--sources FOLDER] [--rounds 3]

A batch is 20 calls of depth 10. A tenth of all batches took at most what is told, per invocation: on a machine that
does other work too, that is what the code takes where nothing interrupts it. So it is less than the mean of a trial.
FOLDER is another state of agents/floor/java/files, such as an earlier commit's. Needs a JDK and a C++ compiler.
"""

import argparse
import json
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tracetax.artifacts.native import jdk_include
from tracetax.artifacts.tools import find_tool

ROOT = Path(__file__).resolve().parents[1]
FILES = ROOT / "agents/floor/java/files"
MONITORED = ROOT / "workloads/calltree/java/src/tracetax/calltree/MonitoredClass.java"
METHOD = "tracetax.calltree.MonitoredClass"
BATCHES = "20000"
COUNTER = ("-Dfloor.clock=counter", "-Dfloor.library={library}")
CRITICAL = ("-XX:+IgnoreUnrecognizedVMOptions", "-XX:+CriticalJNINatives")
ROWS: dict[str, tuple[str, tuple[str, ...]]] = {
    "without": ("", ()),
    "compact, nanoTime": ("floor", ()),
    "compact, counter": ("floor", COUNTER),
    "compact, counter, critical": ("floor", (*COUNTER, *CRITICAL)),
    "Kieker's records, nanoTime": ("kieker-tcp", ("-Dfloor.wire=kieker",)),
    "Kieker's records, counter": ("kieker-tcp", ("-Dfloor.wire=kieker", *COUNTER)),
    "Kieker's records, counter, critical": ("kieker-tcp", ("-Dfloor.wire=kieker", *COUNTER, *CRITICAL)),
}
"""By name: the protocol, empty without the agent, and flags."""


def done(*command: str | Path) -> str:
    """What a command prints; its errors are shown."""
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def built(sources: Path, asm: Path, folder: Path) -> None:
    """Compile the agent, the benchmark and the native library, and the sink."""
    agent = sorted((sources / "agent").rglob("*.java"))
    done("javac", "--release", "11", "-cp", asm, "-d", folder / "agent", *agent)
    manifest = sources / "agent/META-INF/MANIFEST.MF"
    done("jar", "cfm", folder / "floor.jar", manifest, "-C", folder / "agent", ".")
    own = ROOT / "benchmarks/floor/Batches.java"
    done("javac", "--release", "11", "-cp", folder / "floor.jar", "-d", folder / "program", own, MONITORED)
    headers = jdk_include()
    clock = sorted((sources / "clock").glob("*.cc"))
    if clock:
        done(
            "c++",
            "-O2",
            "-shared",
            "-fPIC",
            f"-I{headers}",
            f"-I{headers}/linux",
            "-o",
            folder / "libcounter.so",
            *clock,
        )
    done(find_tool("go", "to build the sink"), "-C", ROOT / "sink", "build", "-o", folder / "sink", ".")


@contextmanager
def sink(folder: Path, protocol: str) -> Generator[int]:
    """The sink for a protocol; its port."""
    command = [folder / "sink", "--protocols", protocol, "--depth", "10", "--record-name", f"{METHOD}.monitoredMethod"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield json.loads(process.stdout.readline())["ports"][protocol]
        process.communicate("stop\n")


def batches(
    folder: Path, asm: Path, flags: tuple[str, ...] = (), *arguments: str | Path
) -> dict[str, tuple[float, float]]:
    """By what was timed: a tenth of the batches took at most this, and half of them this, ns."""
    path = f"{folder / 'program'}:{asm}:{folder / 'floor.jar'}"
    words = ("-XX:+UseG1GC", "-Xms1g", "-Xmx1g", *flags, "-cp", path, "Batches", BATCHES, *arguments)
    lines = [line.split() for line in done("java", *words).splitlines()]
    return {
        words[0]: (float(words[1]), float(words[2])) for words in lines if len(words) == len(("name", "p10", "p50"))
    }


def measured(name: str, folder: Path, asm: Path) -> tuple[float, float]:
    """A row's batches, once."""
    protocol, flags = ROWS[name]
    if not protocol:
        return batches(folder, asm)["invocation"]
    with sink(folder, protocol) as port:
        own = (
            f"-javaagent:{folder / 'floor.jar'}",
            f"-Dfloor.class={METHOD}",
            "-Dfloor.method=monitoredMethod",
            "-Dfloor.host=127.0.0.1",
            f"-Dfloor.port={port}",
            *(flag.replace("{library}", str(folder / "libcounter.so")) for flag in flags),
        )
        return batches(folder, asm, own)["invocation"]


def main() -> None:
    """Measure every row in each round, and tell the least of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--asm", type=Path, required=True, help="asm-9.7.1.jar, as Maven has it")
    parser.add_argument("--sources", type=Path, default=FILES)
    parser.add_argument("--rounds", type=int, default=3)
    typed = parser.parse_args()
    asm = typed.asm.absolute()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        built(typed.sources.absolute(), asm, folder)
        counts = (folder / "libcounter.so").exists()
        if counts:
            for clock, (tenth, half) in batches(folder, asm, CRITICAL, folder / "libcounter.so").items():
                print(f"{clock}: a reading takes {tenth:.1f} ns (half of the batches: {half:.1f})", flush=True)
        rows = [name for name in ROWS if counts or "counter" not in name]
        least = dict.fromkeys(rows, (float("inf"), float("inf")))
        for _ in range(typed.rounds):
            for name in rows:
                least[name] = min(least[name], measured(name, folder, asm))
        base = least["without"][0]
        for name, (tenth, half) in least.items():
            print(f"{name}: {tenth:.1f} ns (half of the batches: {half:.1f}); {tenth - base:.1f} more than without")


if __name__ == "__main__":
    main()
