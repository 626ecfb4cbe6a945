"""Records that go to files are counted from what lies on disk, and the files are gone afterwards."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import configuration
from tests.run.test_trial import codes, trial
from tracetax.errors import UserError
from tracetax.model import Configuration, Delivery
from tracetax.run.files import FolderArrivals, RecordsFolder, Written, records_folder


def writing(behaviour: str, delivery: Delivery = Delivery.COMPLETE, keep: int | None = None) -> Configuration:
    """A configuration whose stand-in writes files, and keeps the last ``keep`` of them."""
    flags = ("-Drecords={records.dir}", *([f"-Dkeep={keep}"] if keep else []))
    config = replace(configuration(behaviour, delivery, flags), protocol="kieker-text-file", deletes_oldest=bool(keep))
    return replace(config, flags=tuple(flag for flag in config.flags if "port" not in flag))


def test_every_record_that_was_written_is_counted_and_the_warm_ups_apart(tmp_path: Path, sink_binary: Path) -> None:
    record = trial(tmp_path, sink_binary, writing("flat"))
    assert (record.status, codes(record)) == ("ok", set())
    assert record.ledger and (record.ledger.received, record.ledger.complete_trees) == (600, 200)
    assert record.warm_up and record.warm_up.ledger.received == record.warm_up.calls * 3 > 0
    assert record.ledger.bytes > 600 * len("$0;1;public long MonitoredClass.monitoredMethod(long,int);;;;;;;")


def test_what_was_on_disk_at_the_last_call_had_arrived(tmp_path: Path, sink_binary: Path) -> None:
    assert trial(tmp_path, sink_binary, writing("flat")).arrived_by_last_call == 600


def test_the_files_are_removed_before_the_trial_is_kept(tmp_path: Path, sink_binary: Path) -> None:
    trial(tmp_path, sink_binary, writing("flat"))
    assert not (tmp_path / "run" / "trials" / "0001" / "records").exists()


@pytest.mark.parametrize(
    ("behaviour", "status", "verdict"),
    [
        ("records-nothing", "failed", "nothing-recorded"),
        ("wrong-name", "failed", "nothing-recorded"),
        ("garbled", "failed", "nothing-recorded"),
        ("backwards", "failed", "broken-trees"),
        ("aborts-in-calls", "failed", "jvm-ended"),
        ("loses", "ok", "records-lost"),
        ("repeats", "ok", "duplicates"),
        ("sends-at-exit", "ok", "after-drain"),
    ],
)
def test_what_is_wrong_with_files_gets_the_verdict_of_a_connection(
    tmp_path: Path, sink_binary: Path, behaviour: str, status: str, verdict: str
) -> None:
    record = trial(tmp_path, sink_binary, writing(behaviour))
    assert (record.status, verdict in codes(record)) == (status, True)


def test_where_the_oldest_files_are_deleted_the_last_records_are_those_of_the_calls(
    tmp_path: Path, sink_binary: Path
) -> None:
    record = trial(tmp_path, sink_binary, writing("flat", Delivery.LOSSY, keep=2))
    assert (record.status, codes(record)) == ("ok", set())
    assert record.ledger and (record.ledger.received, record.ledger.complete_trees) == (600, 200)
    assert record.warm_up and 0 < record.warm_up.ledger.received < record.warm_up.calls * 3


def test_where_none_of_the_warm_up_is_left_what_is_kept_belongs_to_the_calls(tmp_path: Path, sink_binary: Path) -> None:
    record = trial(tmp_path, sink_binary, writing("loses", Delivery.LOSSY, keep=1))
    assert codes(record) == {"oldest-deleted"}
    assert record.ledger and record.ledger.received == 300
    assert record.warm_up and record.warm_up.ledger.received == 0


def disk_with(monkeypatch: pytest.MonkeyPatch, free: Callable[[], int]) -> None:
    def full(_: object) -> SimpleNamespace:
        return SimpleNamespace(f_bavail=free(), f_frsize=1)

    monkeypatch.setattr("tracetax.run.files.os.statvfs", full)


def test_a_disk_that_fills_up_ends_the_run_before_the_agent_loses_records_silently(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = iter(range(1000))
    disk_with(monkeypatch, lambda: 2**40 if next(asked) < 5 else 1 << 20)
    with pytest.raises(UserError, match="no space left on its disk") as raised:
        trial(tmp_path, sink_binary, writing("hangs-in-calls"))
    assert "Every trial that had finished is kept" in str(raised.value)
    assert list((tmp_path / "run" / "trials").glob("*/records")) == []


def test_the_disk_is_no_matter_to_who_writes_no_files(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk_with(monkeypatch, lambda: 0)
    assert trial(tmp_path, sink_binary, configuration("flat")).status == "ok"


def test_what_came_after_a_moment_was_not_carried_by_then() -> None:
    then, final = Written({"a": 100, "b": 50}), Written({"a": 100, "b": 100, "c": 200})
    assert then.carried(final, received=400, kept=400) == 150
    assert then.carried(final, received=300, kept=400) == 50
    assert then.carried(final, received=100, kept=400) == 0
    assert final.carried(final, received=400, kept=400) == 400
    assert Written({}).carried(Written({}), received=0, kept=0) == 0


def test_files_that_were_deleted_meanwhile_do_not_count_as_late() -> None:
    then, final = Written({"a": 100, "b": 100}), Written({"b": 100, "c": 25})
    assert then.carried(final, received=125, kept=125) == 100


def test_settled_is_when_nothing_has_been_written_for_a_while(tmp_path: Path) -> None:
    folder = RecordsFolder(tmp_path)
    grown = iter(range(5))

    def write(_: str) -> None:
        if next(grown, None) is not None:
            with (tmp_path / "log").open("a") as stream:
                stream.write("a record")

    drained = folder.settle(since=folder.look(), since_ns=0, quiet=0.5, limit=20.0, watch=write)
    assert drained.within_limit
    assert (folder.look().bytes, drained.at_ns > 0) == (5 * len("a record"), True)


def test_a_folder_that_grows_without_end_is_not_waited_for(tmp_path: Path) -> None:
    def write(_: str) -> None:
        with (tmp_path / "log").open("a") as stream:
            stream.write("a record")

    folder = RecordsFolder(tmp_path)
    drained = folder.settle(since=folder.look(), since_ns=0, quiet=5.0, limit=0.1, watch=write)
    assert not drained.within_limit


def test_only_the_last_burst_of_a_warm_up_is_awaited(tmp_path: Path) -> None:
    watched: list[str] = []
    arrivals = FolderArrivals(RecordsFolder(tmp_path), quiet=0.2, limit=5.0, watch=watched.append)
    (tmp_path / "log").touch()
    arrivals.wait(1_000)
    assert (arrivals.seen, watched) == (False, [])
    (tmp_path / "log").write_text("a record")
    arrivals.wait(1_000, last=True)
    assert arrivals.seen
    assert watched


def test_a_full_disk_is_an_error_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk_with(monkeypatch, lambda: 1000)
    with records_folder(tmp_path) as folder, pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        folder.check_disk()
    assert not folder.path.exists()
