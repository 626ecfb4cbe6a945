"""A trial of a service: a load calls it, and what it costs is its own processes' CPU and memory."""

import signal
from pathlib import Path
from typing import Any

import psutil
import pytest
from msgspec.structs import replace

from tests.services.trials import PARAMETERS, QUIET, SENT, codes, text_of, trial
from tracetax.kinds.requests import Weighted


def test_a_service_is_started_called_and_ended(tmp_path: Path) -> None:
    record = trial(tmp_path, QUIET)
    assert (record.status, codes(record), record.exit_status) == ("ok", set(), 0)
    assert record.response and record.service and record.lateness
    assert record.response.count <= 300
    assert record.response.median >= record.service.median > 0
    assert record.warm_up and record.warm_up.calls >= 600
    assert record.warm_up.calls % 3 == 0


def test_its_cpu_and_memory_are_the_services_and_not_the_loads(tmp_path: Path) -> None:
    work = replace(PARAMETERS, mix=(Weighted("work", 1),))
    record = trial(tmp_path, QUIET, parameters=work)
    assert record.cpu
    assert record.cpu.to_last_call.caller == 0
    per_request = record.cpu.to_last_call.total / 300
    assert per_request > 200_000  # what the loop takes, ns; the load would take a third of it
    assert record.rss_peak_bytes > 8 << 20
    assert record.command[-1].endswith("service.py")


def test_from_its_start_to_the_first_answer_is_known(tmp_path: Path) -> None:
    moments = trial(tmp_path, QUIET).moments
    assert moments.main == 0
    assert moments.spawned < moments.first_monitored == moments.ready < moments.first_call < moments.last_call


def test_records_are_expected_by_where_requests_went(tmp_path: Path) -> None:
    record = trial(tmp_path, SENT)
    assert (record.status, codes(record)) == ("ok", set())
    assert record.ledger
    assert (record.ledger.expected, record.ledger.received) == (100 * 1 + 200 * 5, 1_100)
    assert record.ledger.expected_trees == record.ledger.complete_trees == 0


@pytest.mark.parametrize(
    ("first", "code", "text"),
    [
        (True, "records-differ", "10 calls of json made 30 records, and its file declares 10 (records_per_call.json)"),
        (False, "too-many-records", "1,300 records arrived, 1,100 were expected"),
    ],
)
def test_other_records_than_the_file_declares_are_found(tmp_path: Path, first: bool, code: str, text: str) -> None:
    record = trial(tmp_path, SENT, spans='{"/json": 3, "/rows": 1}', first=first)
    assert record.status == "failed"
    assert text_of(record, code).splitlines()[0] == text


def test_where_errors_of_two_endpoints_cancel_each_other_single_calls_tell(tmp_path: Path) -> None:
    record = trial(tmp_path, SENT, spans='{"/json": 3, "/rows": 0}')
    assert "10 calls of json made 30 records" in text_of(record, "records-differ")
    assert "10 calls of rows made 40 records, and its file declares 50" in text_of(record, "records-differ")


@pytest.mark.parametrize(
    ("behaviour", "code", "text"),
    [
        ("dies", "jvm-ended", "the workload ended with status 3 after"),
        ("fails", "calls-failed", "of 300 requests were answered wrongly. The first, to "),
        ("never-ready", "workload-error", "was not ready within 5s"),
        ("ignores-term", "does-not-end", "the workload did not end by TERM; it took KILL"),
    ],
)
def test_what_a_service_does_wrong_is_a_verdict(tmp_path: Path, behaviour: str, code: str, text: str) -> None:
    record = trial(tmp_path, QUIET, behaviour=behaviour)
    assert (record.status, code in codes(record)) == ("failed", True), record.verdicts
    assert text in text_of(record, code)


def test_what_a_service_that_leaks_connections_prints_is_quoted(tmp_path: Path) -> None:
    leaks = replace(PARAMETERS, calls=600)
    record = trial(tmp_path, QUIET, parameters=leaks, behaviour="leaks")
    text = text_of(record, "calls-failed")
    assert record.status == "failed"
    assert "of 600 requests were cut off. The first, to " in text
    assert "OSError: [Errno 24] Too many open files" in text
    assert "whole log: " in text


def test_what_a_load_that_ends_by_itself_prints_is_quoted(tmp_path: Path) -> None:
    def abort(stage: str) -> None:
        if stage == "calling":
            load = next(child for child in psutil.Process().children() if child.name() == "load")
            load.send_signal(signal.SIGABRT)

    text = text_of(trial(tmp_path, QUIET, watch=abort), "jvm-ended")
    assert text.startswith("the load ended with status 2")
    assert "last lines of load.txt" in text
    assert "whole log: " in text


def test_a_request_that_waits_for_another_is_charged_its_wait(tmp_path: Path) -> None:
    one = replace(PARAMETERS, calls=2_400, rate=1_000.0, mix=(Weighted("json", 1),), connections=1)
    record = trial(tmp_path, QUIET, parameters=one, behaviour="stalls")
    assert record.response and record.service
    assert record.response.p99 > 5 * record.service.p99


def test_the_script_that_starts_it_by_hand_tells_its_port(tmp_path: Path) -> None:
    trial(tmp_path, QUIET)
    script = (tmp_path / "run" / "trials" / "0001" / "command.sh").read_text()
    assert "until Ctrl-C ends it" in script
    assert "LISTEN=" in script
    sent: Any = (tmp_path / "run" / "trials" / "0001" / "requests.jsonl").read_text().splitlines()
    assert sent == [
        '{"name":"json","path":"/json","weight":1}',
        '{"name":"rows","path":"/rows?queries=4","weight":2}',
    ]
