"""Writes a run folder that looks like a finished ``quick`` run: records, series, failed trials, manifest, findings."""

import random
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from tests.settings import java_settings
from tracetax.model import Experiment, Part, Schedule, Use
from tracetax.results.findings import Findings
from tracetax.results.folder import RunFolder
from tracetax.results.manifest import MANIFEST_VERSION, Invocation, Manifest
from tracetax.results.records import (
    BASELINES,
    Cell,
    Disturbance,
    Durations,
    Moments,
    Role,
    SteadyPart,
    TrialRecord,
)
from tracetax.results.reduction import BINS, SERIES

from .sample_findings import (
    BASELINE_CALL_NS,
    MACHINE,
    NOTHING_RECORDED,
    PARAMETERS,
    SAMPLES,
    Sample,
    sample_findings,
)

SEED = 20261120


def fake_run(
    path: Path, *, blocks: int = 5, findings: Findings | None = None, samples: tuple[Sample, ...] = SAMPLES
) -> Findings:
    """Write the folder and return its findings; every configuration has a memory trial in the first block."""
    findings = findings or sample_findings(blocks=blocks, samples=samples)
    folder = RunFolder.create(path, manifest(findings, samples))
    order = random.Random(SEED)
    noise = np.random.default_rng(SEED)
    frames: list[pl.DataFrame] = []
    number = 0
    for block in range(1, blocks + 1):
        roles: list[tuple[Sample, Role]] = [(sample, role) for sample in samples for role in roles_of(sample, block)]
        order.shuffle(roles)
        for sample, role in roles:
            number += 1
            means = bin_means(sample, block, noise)
            write(
                path / f"trials/{number:04d}/record.json",
                msgspec.json.encode(trial(number, block, sample, role, means)),
            )
            write(path / f"logs/{number:04d}/stderr.txt", b"")
            if not sample.verdicts and role != "memory":
                frames.append(series(number, sample, means))
    pl.concat(frames).write_parquet(path / "series.parquet")
    folder.write_findings(findings)
    return findings


def write(file: Path, content: bytes) -> None:
    """A file and its folder, without the durability of a real run, which would take most of the tests' time."""
    file.parent.mkdir(parents=True)
    file.write_bytes(content)


def roles_of(sample: Sample, block: int) -> tuple[Role, ...]:
    """The roles that a row plays in a block: the baseline plays two, and the first block measures memory."""
    timed: tuple[Role, ...] = BASELINES if sample.agent == "none" else ("configuration",)
    return (*timed, "memory") if block == 1 else timed


def manifest(findings: Findings, samples: tuple[Sample, ...]) -> Manifest:
    """What the fake run says it is."""
    parts = tuple(
        Part(
            part.name,
            part.title,
            part.parameters,
            tuple(Use(s.agent, s.configuration) for s in samples),
            java_settings(1024**3),
        )
        for part in findings.experiment.parts
    )
    experiment = Experiment("quick", findings.experiment.title, "calltree/java", parts, Schedule())
    return Manifest(
        agents={},
        version=MANIFEST_VERSION,
        tool_version="0.1.0",
        seed=SEED,
        hashes={},
        machine=MACHINE,
        invocations=(Invocation(("./tracetax", "run"), findings.experiment.started_at, experiment, "budget"),),
        inherited=("JAVA_TOOL_OPTIONS",),
    )


def bin_means(sample: Sample, block: int, noise: np.random.Generator) -> NDArray[np.float64]:
    """A trial's series: warm-up, noise, and what is typical for the row (two regimes, queue-full waits)."""
    base, _ = BASELINE_CALL_NS[sample.part]
    level = (base + sample.overhead_ns * PARAMETERS[sample.part].depth) * noise.normal(1, 0.015)
    if "two-regimes" in sample.labels and block == 3:
        level *= 1.7
    means = level * (1 + np.abs(noise.normal(0, 0.02, BINS)))
    if sample.agent != "none":
        means[:80] *= np.linspace(1.6, 1.0, 80)
        spikes = noise.integers(0, BINS, 14)
        means[spikes] *= noise.uniform(1.2, 4.0, 14)
    return means


def series(number: int, sample: Sample, means: NDArray[np.float64]) -> pl.DataFrame:
    """Rows of ``series.parquet`` for one trial."""
    calls = PARAMETERS[sample.part].calls
    edges = np.linspace(0, calls, BINS + 1).astype(np.int64)
    kinds = ["service", "response", "lateness"] if sample.part != "full-speed" else ["service"]
    frames = [
        pl.DataFrame(
            {
                "trial": np.full(BINS, number),
                "thread": np.zeros(BINS),
                "kind": [kind] * BINS,
                "bin": np.arange(BINS),
                "first_call": edges[:-1],
                "count": np.diff(edges),
                "mean": means,
                "median": means * 0.9,
                "min": (means * 0.7).astype(np.int64),
                "max": (means * 30).astype(np.int64),
            }
        )
        for kind in kinds
    ]
    return pl.concat(frames).select(pl.col(name).cast(dtype) for name, dtype in SERIES.items())


def trial(number: int, block: int, sample: Sample, role: Role, means: NDArray[np.float64]) -> TrialRecord:
    """The record of one trial; a sample with verdicts makes a failed one."""
    failed = bool(sample.verdicts)
    first = 80 if sample.agent != "none" else 0
    steady = means[first:]
    durations = Durations(
        float(steady.mean()), float(np.median(steady)), float(np.quantile(steady, 0.9)), sample.p99_ns,
        sample.p99_ns * 3, sample.p99_ns * 400, PARAMETERS[sample.part].calls,
    )  # fmt: skip
    return TrialRecord(
        number=number,
        block=block,
        block_size=1,
        cell=Cell(sample.part, Use(sample.agent, sample.configuration), sample.heap_bytes, role),
        parameters=PARAMETERS[sample.part],
        attempt=1,
        status="failed" if failed else "ok",
        verdicts=(NOTHING_RECORDED,) if failed else (),
        command=command(sample),
        environment={"PATH": "/usr/bin:/bin", "HOME": "/tmp/trial", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
        started_at="2026-11-20T09:14:02+00:00",
        moments=Moments(spawned=1, main=2, ready=3, warm=4, first_call=5, last_call=6, drained=7, exited=8),
        steady=None if failed else steady_of(first),
        service=None if failed else durations,
        clock_resolution_ns=10.0,
        clock_read_ns=24.0,
        disturbance=Disturbance(0.001, 0.02, 0.004, 12_000_000, 0.3, disturbed=False),
        jvm_flags="-XX:ActiveProcessorCount=2 -XX:+AlwaysPreTouch -XX:+UseG1GC",
        versions={"java.version": "17.0.15", "java.vm.name": "OpenJDK 64-Bit Server VM", "java.vendor": "Debian"},
        exit_status=0,
    )


def steady_of(first: int) -> SteadyPart:
    """A steady part that begins with this bin and goes on to the last."""
    return SteadyPart("warm-up" if first else "flat", first, BINS - first, (first,) if first else ())


def command(sample: Sample) -> tuple[str, ...]:
    """What started the trial."""
    heap = f"{sample.heap_bytes // 1024**2}m"
    agent = () if sample.agent == "none" else (f"-javaagent:/cache/{sample.agent}.jar",)
    parameters = PARAMETERS[sample.part]
    rate = str(parameters.rate)
    return (
        "/usr/bin/java", f"-Xms{heap}", f"-Xmx{heap}", "-XX:+UseG1GC", "-XX:+AlwaysPreTouch", *agent,
        "-cp", "/cache/calltree/classes", "tracetax.calltree.Main", "--calls", str(parameters.calls),
        "--depth", str(parameters.depth), "--method-time-ns", "0", "--threads", "1", "--rate", rate, "--wait", "spin",
    )  # fmt: skip
