"""What a driver leaves of a finished trial: raw samples, reduced to series, distributions and values."""

import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
from msgspec import Struct
from numpy.typing import NDArray

from tracetax.parameters import Parameters
from tracetax.results.folder import write_parquet
from tracetax.results.records import Durations, SteadyPart
from tracetax.results.reduction import reduce_samples
from tracetax.statistics.quantiles import quantile
from tracetax.statistics.steady import steady_part
from tracetax.workloads.driver import WorkloadFailed
from tracetax.workloads.heap import Collections, heap_use
from tracetax.workloads.kinds import Measured


class Output(Struct, frozen=True):
    """The workload's ``trial.json``."""

    format: int
    workload: str
    files: dict[str, list[str]]
    threads: int
    calls: int
    invocations: int
    clock: dict[str, float]
    snapshots: dict[str, dict[str, float]]
    caller: list[dict[str, float]]
    versions: dict[str, str]
    vm_flags: str = ""
    collections: Collections | None = None
    warm_up: dict[str, Any] = {}


def collect(scratch: Path, trial: int, parameters: Parameters) -> Measured:
    """Read the workload's output under ``scratch``, reduce it to Parquet there, drop the raw samples.

    Raises WorkloadFailed where the output is missing, broken or not what was asked for.
    """
    folder = scratch / "workload"
    output = read_output(folder)
    if output.calls != parameters.calls or output.threads != parameters.threads:
        raise WorkloadFailed(
            "output-broken",
            f"the workload made {output.calls:,} calls on {output.threads} threads, "
            f"{parameters.calls:,} on {parameters.threads} were asked for",
        )
    kinds: dict[str, list[NDArray[np.int64]]] = {
        "service": [read_samples(folder, name) for name in output.files["samples"]]
    }
    if sum(len(samples) for samples in kinds["service"]) != parameters.calls:
        raise WorkloadFailed("output-broken", "the samples of all threads together are not one per call")
    if output.files.get("late"):
        late = [
            read_samples(folder, name, len(samples))
            for name, samples in zip(output.files["late"], kinds["service"], strict=True)
        ]
        kinds["lateness"] = late
        kinds["response"] = [a + b for a, b in zip(late, kinds["service"], strict=True)]
    if output.files.get("inside"):
        kinds["inside"] = [
            read_samples(folder, name, len(samples))
            for name, samples in zip(output.files["inside"], kinds["service"], strict=True)
        ]
    series, distributions = _reduce(kinds, trial)
    write_parquet(series, scratch / "series.parquet")
    write_parquet(distributions, scratch / "distributions.parquet")

    tick = output.clock["resolution_ns"]
    steady, durations = durations_when_steady(series, distributions, tick)
    (folder / "trial.json").rename(scratch / "trial.json")
    shutil.rmtree(folder)
    return Measured(
        steady=steady,
        service=durations["service"],
        response=durations.get("response"),
        lateness=durations.get("lateness"),
        inside=durations.get("inside"),
        second_half_mean_ns=float(np.concatenate([each[len(each) // 2 :] for each in kinds["service"]]).mean()),
        in_calls_ns=sum(int(each.sum()) for each in kinds["service"]),
        callers_cpu_ns=round(sum(thread["cpu_ns"] for thread in output.caller)),
        allocated_bytes_per_call=_allocated(output),
        heap=heap_use(output.snapshots, output.collections) if output.collections else None,
        clock_resolution_ns=tick,
        clock_read_ns=output.clock["read_ns"],
        snapshots=output.snapshots,
        jvm_flags=output.vm_flags,
        versions=output.versions,
    )


def read_output(folder: Path) -> Output:
    """Read ``trial.json``. Raises WorkloadFailed where it is missing or broken."""
    path = folder / "trial.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Output)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WorkloadFailed("output-broken", f"the workload left no readable trial.json: {error}") from None


def read_samples(folder: Path, name: str, expected: int | None = None) -> NDArray[np.int64]:
    """Read one file of little-endian int64. Raises WorkloadFailed where its length is not ``expected`` values."""
    try:
        values = np.fromfile(folder / name, dtype="<i8")
    except OSError as error:
        raise WorkloadFailed("output-broken", f"cannot read the workload's {name}: {error}") from None
    if expected is not None and len(values) != expected:
        raise WorkloadFailed("output-broken", f"{name} holds {len(values)} samples, {expected} were due")
    return values.astype(np.int64, copy=False)


def durations_when_steady(
    series: pl.DataFrame, distributions: pl.DataFrame, tick: float
) -> tuple[SteadyPart, dict[str, Durations]]:
    """Find a trial's steady part, and the durations of its calls by kind (``service``, ``response``, …).

    Args:
        series: The trial's bins, all kinds and threads, columns as ``reduction.SERIES``.
        distributions: Its durations, columns as ``reduction.DISTRIBUTIONS``.
        tick: The clock's step, ns.

    """
    steady = _steady(series)
    kinds = distributions["kind"].unique(maintain_order=True).to_list()
    return steady, {kind: _durations(distributions, kind, steady.first_bin, tick) for kind in kinds}


def _reduce(kinds: dict[str, list[NDArray[np.int64]]], trial: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    parts = [
        reduce_samples(samples, trial=trial, thread=thread, kind=kind)
        for kind, threads in kinds.items()
        for thread, samples in enumerate(threads)
    ]
    return pl.concat([series for series, _ in parts]), pl.concat([counts for _, counts in parts])


def _steady(series: pl.DataFrame) -> SteadyPart:
    """The steady part of the service times, of the mean over threads where there are several."""
    bins = (
        series.filter(pl.col("kind") == "service")
        .group_by("bin")
        .agg((pl.col("mean") * pl.col("count")).sum() / pl.col("count").sum())
        .sort("bin")
    )
    found = steady_part(bins["mean"].to_numpy())
    return SteadyPart(
        kind=found.kind, first_bin=found.first_bin, bins=found.bins, change_points=tuple(found.change_points)
    )


def _durations(distributions: pl.DataFrame, kind: str, first_bin: int, tick: float) -> Durations:
    counted = (
        distributions.filter((pl.col("kind") == kind) & (pl.col("bin") >= first_bin))
        .group_by("duration")
        .agg(pl.col("count").sum())
        .sort("duration")
    )
    values = counted["duration"].to_numpy().astype(np.float64)
    counts = counted["count"].to_numpy().astype(np.int64)
    fractions = {"median": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
    largest = float(values[-1])
    # interpolated inside the tick, a quantile could lie above the longest call
    quantiles: dict[str, Any] = {
        name: min(largest, quantile(values, counts, fraction, tick)) for name, fraction in fractions.items()
    }
    return Durations(
        mean=float(np.average(values, weights=counts)), max=float(values[-1]), count=int(counts.sum()), **quantiles
    )


def _allocated(output: Output) -> float | None:
    """Bytes that the callers allocated between first and last call, per call; None where a thread's are not told."""
    told = [thread["allocated_bytes"] for thread in output.caller if "allocated_bytes" in thread]
    return sum(told) / output.calls if len(told) == len(output.caller) else None
