"""The handlers of a native library: every pair of events in their files, and what is said where they cannot work."""

import shutil
from pathlib import Path

import pytest

from tests.end_to_end.command import tracetax
from tracetax.results.folder import RunFolder

HEADERS = (Path("/usr/include/zstd.h"), Path("/usr/include/lzo/lzo1x.h"))
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(
        shutil.which("c++") is None or not all(header.exists() for header in HEADERS),
        reason="needs a C++ compiler, and the packages libzstd-dev and liblzo2-dev",
    ),
]
CALLS, DEPTH = 20_000, 10
ROOT = Path(__file__).parents[2]
WRITE = ("unbuffered", "buffered", "zstd", "lzo1x")


EXPERIMENT = f"""\
title = "Handlers"
workload = "calltree/java"

[parameters]
calls = {CALLS}
depth = {DEPTH}
threads = 2
rate = "full"

[jvm]
heap = "256 MiB"

[[configurations]]
agent = "cloudprofiler-handlers"
use = ["unbuffered", "buffered", "zstd", "lzo1x"]

[schedule]
blocks = {{ min = 1, max = 1 }}
memory = false
"""


def test_every_pair_of_events_is_in_the_files_of_every_handler(tmp_path: Path) -> None:
    (tmp_path / "handlers.toml").write_text(EXPERIMENT)
    status, printed = tracetax("run", str(tmp_path / "handlers.toml"), "--out", str(tmp_path / "run"))
    assert status == 0, printed
    ledgers = {
        record.cell.use.configuration: record.ledger
        for record in RunFolder(tmp_path / "run").records()
        if record.cell.role == "configuration" and record.ledger
    }
    for name in WRITE:
        ledger = ledgers[name]
        assert (ledger.received, ledger.complete_trees, ledger.unexpected) == (CALLS * DEPTH, CALLS, {}), name
    sizes = {name: ledgers[name].bytes for name in WRITE}
    assert sizes["zstd"] < sizes["lzo1x"] < sizes["buffered"] <= sizes["unbuffered"] + 200


def changed(folder: Path, old: str, new: str) -> Path:
    """A copy of the agent, by the name of ``changed``, whose file says something else; returns its folder."""
    copy = folder / "agents" / "changed"
    shutil.copytree(ROOT / "agents" / "cloudprofiler-handlers", copy)
    file = copy / "java" / "agent.toml"
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))
    return copy


def test_a_library_that_does_not_load_is_an_error_and_no_fast_handler(tmp_path: Path) -> None:
    copy = changed(tmp_path, "/libhandlers.so", "/nowhere.so")
    out = ("--agents-dir", str(copy.parent), "--out", str(tmp_path / "run"))
    status, printed = tracetax("check-agent", "changed", "null", *out)
    assert status == 1
    (record,) = RunFolder(tmp_path / "run").records()
    assert record.status == "failed"
    assert any("nowhere.so does not load: Can't load library" in verdict.text for verdict in record.verdicts), printed


def test_a_full_disk_ends_the_run_with_a_sentence_and_loses_nothing(tmp_path: Path) -> None:
    full = "-Dhandlers.folder={agent.files}/full"
    copy = changed(tmp_path, '"-Dhandlers.folder={records.dir}"', f'"{full}", "-Drecords={{records.dir}}"')
    (copy / "java" / "files" / "full").mkdir()
    (copy / "java" / "files" / "full" / "channel-0.events").symlink_to("/dev/full")
    out = ("--agents-dir", str(copy.parent), "--out", str(tmp_path / "run"))
    status, printed = tracetax("check-agent", "changed", "buffered", *out)
    assert status not in (0, 1), printed
    assert "Every trial that had finished is kept" in printed
