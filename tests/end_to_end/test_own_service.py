"""A service of the user's, by its command: agents get into it, and what a request makes is learned and counted."""

from pathlib import Path

import pytest

from tests.end_to_end.command import tracetax
from tracetax.results.folder import RunFolder
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
REQUESTS = 100
OHA = """#!/usr/bin/env python3
import sys, time, urllib.request
url, count, file = sys.argv[1], int(sys.argv[2]), sys.argv[sys.argv.index("--output") + 1]
rows, began = ["request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status"], time.monotonic()
for _ in range(count):
    start = time.monotonic()
    status = urllib.request.urlopen(url).status
    end = time.monotonic()
    rows.append(f"{start - began},0,0,{end - start},{end - start},2,{status}")
open(file, "w").write("\\n".join(rows) + "\\n")
"""
"""Speaks as oha does, and sends as many requests as it is told."""
NODE = "require('http').createServer((q, a) => a.end('ok')).listen(process.argv[2], '127.0.0.1')\n"

MODULE = NODE.replace("require('http').createServer", "import { createServer } from 'http'\ncreateServer")


def measured(folder: Path, command: str) -> tuple[str, list[TrialRecord]]:
    """What is printed of a run of a block, and its trials in that block."""
    said = ("--service", command, "--url", "http://127.0.0.1:{port}/", "--slo", "p50 < 5 s")
    course = folder / "course"
    around = ("--before", f"sh -c 'echo before >> {course}'", "--after", f"sh -c 'echo after >> {course}'")
    amount = ("--rate", "50/s", "--calls", str(REQUESTS), "--blocks", "1", "--out", str(folder / "run"))
    status, printed = tracetax("run", *said, "--agent", "opentelemetry", *amount, *around)
    assert status == 0, printed
    return printed, [record for record in RunFolder(folder / "run").records() if record.block]


def test_the_records_of_a_request_are_learned_and_then_counted(tmp_path: Path) -> None:
    (tmp_path / "shop.js").write_text(NODE)
    printed, trials = measured(tmp_path, f"node {tmp_path}/shop.js {{port}}")
    assert "OpenTelemetry (OTLP, as shipped): 1 record of a request to root" in printed
    assert "p50 < 5 s" in printed
    course = (tmp_path / "course").read_text().split()
    assert course == ["before", "after"] * (len(trials) + 2)  # once when it is tried, and once when it is learned from
    traced = [record.ledger for record in trials if not record.cell.is_baseline and record.ledger]
    assert traced
    assert {(ledger.expected, ledger.received) for ledger in traced} == {(REQUESTS, REQUESTS)}
    for record in trials:
        assert record.command == ("node", f"{tmp_path}/shop.js", record.command[-1])
        assert ("NODE_OPTIONS" in record.environment) == (not record.cell.is_baseline)


def test_of_a_service_in_modules_nothing_arrives_without_the_agents_loader(tmp_path: Path) -> None:
    (tmp_path / "shop.mjs").write_text(MODULE)
    said = ("--service", f"node {tmp_path}/shop.mjs {{port}}", "--url", "http://127.0.0.1:{port}/", "--rate", "50/s")
    amount = ("--calls", str(REQUESTS), "--blocks", "1", "--out", str(tmp_path / "run"))
    status, printed = tracetax(
        "run", *said, *amount, "--agent", "opentelemetry", "--configuration", "otlp,otlp-modules"
    )
    told = " ".join(printed.split())
    assert status == 0, printed
    assert "OpenTelemetry (OTLP, as shipped): no spans arrived of 10 requests." in told
    assert "Another of its configurations may see it: --configuration otlp-modules" in told
    assert "OpenTelemetry (OTLP, with its loader for ES modules): 1 record of a request to root" in told
    received = {
        record.cell.use.configuration: record.ledger.received
        for record in RunFolder(tmp_path / "run").records()
        if record.block and record.ledger and not record.cell.is_baseline
    }
    assert received == {"otlp": 0, "otlp-modules": REQUESTS}


def test_a_load_of_the_users_own_sends_as_many_as_it_likes(tmp_path: Path) -> None:
    (tmp_path / "shop.js").write_text(NODE)
    oha = tmp_path / "oha"
    oha.write_text(OHA)
    oha.chmod(0o755)
    said = ("--service", f"node {tmp_path}/shop.js {{port}}", "--url", "http://127.0.0.1:{port}/a?b=1")
    load = ("--load", f"{oha} {{url}} {2 * REQUESTS + 7}", "--rate", "full", "--calls", str(REQUESTS))
    status, printed = tracetax(
        "run", *said, *load, "--agent", "opentelemetry", "--blocks", "1", "--out", str(tmp_path / "run")
    )
    assert status == 0, printed
    for record in (record for record in RunFolder(tmp_path / "run").records() if record.block):
        assert record.parameters.calls == 2 * REQUESTS + 7
        assert record.service
        if not record.cell.is_baseline:
            assert record.ledger
            assert (record.ledger.expected, record.ledger.received) == (2 * REQUESTS + 7, 2 * REQUESTS + 7)
    assert "it makes 1 record of a request" in " ".join(printed.split())
