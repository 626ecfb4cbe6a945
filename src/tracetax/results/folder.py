"""The run folder on disk. A trial is written whole and appears by a rename, so a kill costs no finished trial.

manifest.json                 what the run is: experiment, versions, hashes, machine, seed, command lines
trials/<n>/                   record.json, the workload's trial.json, series.parquet, distributions.parquet
logs/<n>/                     what the processes printed
measures.parquet, series.parquet, distributions.parquet, findings.json, report.html    at the end
"""

import contextlib
import errno
import io
import os
import re
import shutil
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from tracetax.errors import ExitCode, UserError
from tracetax.results.earlier import Stored, upgraded_findings, upgraded_manifest, upgraded_record
from tracetax.results.findings import Findings
from tracetax.results.manifest import MANIFEST_VERSION, READABLE_VERSIONS, Manifest, Searching, WrittenBy
from tracetax.results.records import TrialRecord

SUBFOLDERS = ("trials", "logs")
UNFINISHED = {*SUBFOLDERS, "manifest.json.part"}
"""What a kill may leave of a run folder that was being made: it counts as empty, for there is nothing in it yet."""
MOST = 1 << 62
"""No counter and no clock of a trial, in ns or bytes, comes to this."""
COUNTED = ("number", "block", "attempt", "ledger.expected", "ledger.received", "ledger.dropped_reported")
"""Numbers of a record that are never negative."""
SHOWN_DIGITS = 30
T = TypeVar("T")


class RunFolder:
    """One run's folder: the only code that knows where what lies in it."""

    def __init__(self, path: Path) -> None:
        """Open an existing run folder. Raises UserError where it is none."""
        self.path = path
        if not (path / "manifest.json").is_file():
            raise UserError(f"{path} is no run folder: it has no manifest.json.   (./tracetax list runs)")

    @classmethod
    def create(cls, path: Path, manifest: Manifest) -> "RunFolder":
        """Make a new run folder. Raises UserError where ``path`` exists and is not empty."""
        check_free(path)
        with disk_errors(path):
            for name in SUBFOLDERS:
                (path / name).mkdir(parents=True, exist_ok=True)
            write_json(path / "manifest.json", manifest)  # last: with it, it is a run folder
        return cls(path)

    @staticmethod
    def new_path(root: Path, experiment: str, tag: str) -> Path:
        """The default place of a run: ``runs/<date>-<experiment>-<tag>``."""
        return root / f"{datetime.now(UTC):%Y-%m-%d}-{experiment}-{tag}"

    @property
    def manifest(self) -> Manifest:
        """What the run is. Raises UserError where another version of Tracetax wrote it."""
        older = self._check_version() < MANIFEST_VERSION
        path = self.path / "manifest.json"
        return read_upgraded(path, Manifest, upgraded_manifest) if older else read_json(path, Manifest)

    def _check_version(self) -> int:
        """The format of the folder. Raises UserError where this version does not read it."""
        path = self.path / "manifest.json"
        version = read_json(path, WrittenBy).version
        if version not in READABLE_VERSIONS:
            raise UserError(
                f"{path} has the format {version}, this Tracetax reads {MANIFEST_VERSION}: "
                "show the run with the version that measured it."
            )
        return version

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest at once."""
        with disk_errors(self.path):
            write_json(self.path / "manifest.json", manifest)

    def logs(self, number: int) -> Path:
        """The folder for what a trial's processes print, absolute: they run in it."""
        folder = self.path.absolute() / "logs" / f"{number:04d}"
        with disk_errors(self.path):
            folder.mkdir(parents=True, exist_ok=True)
        return folder

    def scratch(self, number: int) -> Path:
        """An empty folder, absolute, in which a trial is prepared; :meth:`keep_trial` makes it the trial's."""
        folder = self.path.absolute() / "trials" / f".{number:04d}"
        with disk_errors(self.path):
            if folder.exists():
                shutil.rmtree(folder)
            folder.mkdir(parents=True)
        return folder

    def keep_trial(self, record: TrialRecord) -> None:
        """Write the record into the trial's scratch folder and make the whole appear at once, durably."""
        scratch = self.path / "trials" / f".{record.number:04d}"
        with disk_errors(self.path):
            write_json(scratch / "record.json", record)
            for file in scratch.iterdir():
                _sync(file)
            _sync(scratch)
            scratch.rename(self.path / "trials" / f"{record.number:04d}")
            _sync(self.path / "trials")

    def trial_folders(self) -> list[Path]:
        """Folders of the finished trials, in order."""
        finished = (path for path in (self.path / "trials").glob("*") if re.fullmatch(r"\d{4,}", path.name))
        return sorted(finished, key=lambda path: int(path.name))

    def next_number(self) -> int:
        """The number of the next trial: one above every trial that was ever begun."""
        names = [path.name for name in SUBFOLDERS for path in (self.path / name).glob("*")]
        begun = [int(match[1]) for name in names if (match := re.fullmatch(r"\.?(\d{4,})", name))]
        return max(begun, default=0) + 1

    def discard_unfinished(self) -> None:
        """Remove what an interrupted trial left."""
        for path in (self.path / "trials").glob(".*"):
            shutil.rmtree(path, ignore_errors=True)

    def records(self) -> list[TrialRecord]:
        """Every finished trial, in order."""
        older = self._check_version() < MANIFEST_VERSION
        return [_read_record(folder / "record.json", older=older) for folder in self.trial_folders()]

    def bin_means(self, number: int) -> NDArray[np.float64] | None:
        """Mean service times of a trial's bins, ns, shape (threads, bins); None where it kept none.

        Threads whose numbers of bins differ (calls fewer than bins) are cut to the fewest.
        """
        path = self.path / "trials" / f"{number:04d}" / "series.parquet"
        if not path.exists():
            return None
        series = _read_parquet(path).filter(pl.col("kind") == "service").sort("thread", "bin")
        threads = [rows["mean"].to_numpy() for rows in series.partition_by("thread", maintain_order=True)]
        fewest = min((len(means) for means in threads), default=0)
        return np.array([means[:fewest] for means in threads], dtype=np.float64) if fewest else None

    def series(self, number: int) -> pl.DataFrame:
        """The series of one finished trial, by thread, kind and bin."""
        return _read_parquet(self.path / "trials" / f"{number:04d}" / "series.parquet")

    def consolidate(self) -> None:
        """Write ``measures``, ``series`` and ``distributions`` of all trials as one Parquet file each."""
        with disk_errors(self.path):
            for name in ("series", "distributions"):
                files = [folder / f"{name}.parquet" for folder in self.trial_folders()]
                files = [file for file in files if file.is_file()]
                if files:
                    write_parquet(pl.concat([_read_parquet(file) for file in files]), self.path / f"{name}.parquet")
            write_parquet(measures(self.records()), self.path / "measures.parquet")

    def write_findings(self, findings: Findings) -> None:
        """Write ``findings.json``."""
        with disk_errors(self.path):
            write_json(self.path / "findings.json", findings, indent=True)

    @property
    def findings(self) -> Findings:
        """The findings. Raises UserError where the run has none yet."""
        if not (self.path / "findings.json").is_file():
            raise UserError(f"{self.path} has no findings yet.   ({resume_command(self.path)})")
        return read_upgraded(self.path / "findings.json", Findings, upgraded_findings)


def resume_command(path: Path) -> str:
    """What one types to go on with the run in a folder: which of the commands began it stands in its manifest."""
    command = "run"
    with contextlib.suppress(UserError):
        if read_json(path / "manifest.json", Searching).search is not None:
            command = "capacity"
    return f"./tracetax {command} --resume {path}"


def check_free(path: Path) -> None:
    """Raise UserError where a run folder cannot be made because something is there already."""
    if path.exists() and (not path.is_dir() or not {file.name for file in path.iterdir()} <= UNFINISHED):
        raise UserError(
            f"{path} is not empty, and nothing in it is overwritten.\n"
            f"Give another folder with --out, or go on with that run: {resume_command(path)}"
        )


def measures(records: list[TrialRecord]) -> pl.DataFrame:
    """One row per trial and measure: what the findings are computed from."""
    rows: list[dict[str, Any]] = []
    for record in records:
        values: dict[str, float] = {}
        for kind, durations in (
            ("service_time", record.service),
            ("response_time", record.response),
            ("lateness", record.lateness),
        ):
            if durations:
                values |= {f"{kind}_{name}": value for name, value in msgspec.structs.asdict(durations).items()}
        values |= _of_process(record)
        if record.ledger:
            values |= {
                "records_expected": record.ledger.expected,
                "records_received": record.ledger.received,
                "records_dropped_reported": record.ledger.dropped_reported,
                "trees_complete": record.ledger.complete_trees,
            }
        for name, value in values.items():
            rows.append(
                {
                    "trial": record.number,
                    "block": record.block,
                    "part": record.cell.part,
                    "agent": record.cell.use.agent,
                    "configuration": record.cell.use.configuration,
                    "build": record.cell.use.build,
                    "backend": record.cell.use.backend,
                    "role": record.cell.role,
                    "status": record.status,
                    "measure": name,
                    "value": float(value),
                }
            )
    schema = {"trial": pl.UInt32, "block": pl.UInt32} | dict.fromkeys(
        ("part", "agent", "configuration", "build", "backend", "role", "status", "measure"), pl.String
    )
    return pl.DataFrame(rows, schema=schema | {"value": pl.Float64})


def _of_process(record: TrialRecord) -> dict[str, float]:
    """What a trial used of CPU and memory, and how long it took to start and to drain."""
    moments = record.moments
    values = {
        "allocation": record.allocated_bytes_per_call,
        "second_half_mean": record.second_half_mean_ns,
        "in_calls": record.in_calls_ns,
        "rss_peak": record.rss_peak_bytes or None,
        "heap_live": record.snapshots.get("collected", {}).get("heap_used_bytes"),
        "startup_main": moments.main - moments.spawned if moments.main else None,
        "startup_first_call": moments.first_monitored - moments.spawned if moments.first_monitored else None,
        "drain_time": moments.drained - moments.last_call if moments.drained else None,
    }
    values["receiver_cpu"] = record.receiver_cpu_ns or None
    values["stores_cpu"] = record.stores_cpu_ns or None
    values["load_cpu"] = record.load_cpu_ns or None
    if record.building:
        values |= {"build_time": record.building.wall_ns, "build_cpu": record.building.cpu_ns}
    if record.cpu:
        values["cpu_waiting"] = record.cpu.waiting_cores
        for until, times in (("last_call", record.cpu.to_last_call), ("drained", record.cpu.to_drained)):
            values |= {f"cpu_{group}_to_{until}": used for group, used in msgspec.structs.asdict(times).items()}
    return {name: value for name, value in values.items() if value is not None}


def read_json(path: Path, kind: type[T]) -> T:
    """Decode a JSON file. Raises UserError naming the file and what is wrong in it."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (msgspec.DecodeError, OSError, RecursionError) as error:
        raise _unreadable(path, error) from None


def read_upgraded(path: Path, kind: type[T], upgraded: Callable[[Stored], Stored]) -> T:
    """Decode a JSON file that an earlier version may have written. Raises UserError as :func:`read_json` does."""
    stored = read_json(path, Stored)
    try:
        return msgspec.convert(upgraded(stored), kind)
    except (msgspec.ValidationError, KeyError, TypeError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, reason: object) -> UserError:
    return UserError(f"{path} cannot be read: {reason}{_way_out(path)}")


def _read_record(path: Path, *, older: bool) -> TrialRecord:
    """A trial's record. Raises UserError where a number in it is none that a trial can have: the file is damaged.

    ``older``: the run folder has an earlier format.
    """
    record = read_upgraded(path, TrialRecord, upgraded_record) if older else read_json(path, TrialRecord)
    absurd = next(_absurd(msgspec.to_builtins(record), ""), None)
    if absurd is None and record.number != int(path.parent.name):
        absurd = f"number is {record.number}"
    if absurd:
        raise _unreadable(path, f"{absurd}, which is not possible")
    return record


def _absurd(value: Any, key: str) -> Generator[str]:
    """Numbers that no counter and no clock gives, as ``key is number``."""
    if isinstance(value, dict):
        for name, inner in cast("dict[str, Any]", value).items():
            yield from _absurd(inner, f"{key}.{name}" if key else name)
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(cast("list[Any]", value)):
            yield from _absurd(inner, f"{key}[{place}]")
    elif isinstance(value, int | float):
        least = 0 if key in COUNTED else -MOST
        if not least <= value < MOST:
            yield f"{key} is {value:.6g}" if isinstance(value, float) else f"{key} is {str(value)[:SHOWN_DIGITS]}"


def write_json(path: Path, value: object, *, indent: bool = False) -> None:
    """Write a JSON file durably: whole or not at all."""
    data = msgspec.json.encode(value)
    if indent:
        data = msgspec.json.format(data, indent=2) + b"\n"
    part = path.with_name(path.name + ".part")
    part.write_bytes(data)
    _sync(part)
    part.replace(path)
    _sync(path.parent)


@contextlib.contextmanager
def disk_errors(path: Path) -> Generator[None]:
    """Turn a full or read-only disk into a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            reason = "there is no space left on its disk. Free some"
        elif error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
            reason = "it may not be written. Change its permissions"
        else:
            raise
        raise UserError(
            f"Cannot write to {path}: {reason}, then go on with: {resume_command(path)}\n"
            "Every trial that had finished is kept.",
            ExitCode.ENVIRONMENT,
        ) from None


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """Write a Parquet file whole or not at all. Raises OSError, which the library itself would hide."""
    data = io.BytesIO()
    frame.write_parquet(data, compression="zstd")
    part = path.with_name(path.name + ".part")
    part.write_bytes(data.getbuffer())
    part.replace(path)


def _read_parquet(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(path, error) from None


def _way_out(path: Path) -> str:
    if path.name == "manifest.json":
        return (
            "\nIt says what the run is. Put a copy of it back, or start a new run: nothing else in "
            f"{path.parent} was touched."
        )
    if path.parent.parent.name != "trials":
        return ""
    run = path.parent.parent.parent
    return f"\nRemove {path.parent} and type: {resume_command(run)}     Its block is then measured again."


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
