"""Trials of functions: warm, cold, frozen and killed, and what a host can do wrong."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.functions.trials import BATCHED, COLD, QUIET, SENT, WARM, trial
from tests.services.trials import codes, text_of
from tracetax.errors import UserError
from tracetax.machine.control_group import control_group


def test_a_warm_function_is_invoked_and_says_how_long_its_work_took(tmp_path: Path) -> None:
    record = trial(tmp_path, SENT, WARM)
    assert (record.status, codes(record)) == ("ok", set()), record.verdicts
    assert record.ledger and record.inside and record.response and record.cpu
    assert (record.ledger.expected, record.ledger.received) == (600, 600)
    assert record.inside.count == record.response.count
    assert record.inside.mean < record.response.mean
    assert record.environment["FUNCTION"] == "sum"
    assert "STORE" not in record.environment, "this function names no store"
    assert record.singles[0].records == 20


def test_a_cold_start_lasts_from_the_start_of_the_process_to_its_first_answer(tmp_path: Path) -> None:
    record = trial(tmp_path, SENT, COLD)
    assert (record.status, codes(record)) == ("ok", set()), record.verdicts
    moments, marks = record.moments, record.marks
    assert record.service and record.ledger and record.cpu
    assert (record.ledger.expected, record.ledger.received) == (2, 2)
    assert record.service.mean == moments.first_monitored - moments.spawned
    order = [moments.spawned, *(marks[name] for name in ("runtime", "agent", "imported", "first-begin"))]
    assert [*order, moments.first_monitored] == sorted([*order, moments.first_monitored])
    assert marks["agent"] - marks["runtime"] > 45e6
    used = sum(getattr(record.cpu.to_last_call, group) for group in ("caller", "agent", "jit", "gc", "jvm", "ended"))
    assert 5e6 < used < record.service.mean * 1.2


def test_a_cold_start_without_an_agent_has_no_agents_moment(tmp_path: Path) -> None:
    record = trial(tmp_path, QUIET, COLD)
    assert record.status == "ok", record.verdicts
    assert {"runtime", "imported", "first-begin", "first-end"} <= record.marks.keys()


@pytest.mark.parametrize(("use", "received"), [(SENT, 2), (BATCHED, 0)])
@pytest.mark.parametrize("frozen_ns", [0, 1_000_000_000])
def test_a_host_that_is_frozen_and_killed_loses_what_it_had_not_sent(
    tmp_path: Path, use: object, received: int, frozen_ns: int
) -> None:
    record = trial(tmp_path, use, replace(COLD, frozen_ns=frozen_ns))  # pyright: ignore[reportArgumentType]
    assert record.status == "ok", record.verdicts
    assert record.ledger and record.ledger.received == received
    assert record.exit_status == -9
    assert record.moments.last_call <= record.stopped_ns <= record.moments.last_call + 20e6
    assert record.moments.exited - record.stopped_ns >= frozen_ns
    if not received:
        assert "lost: the host was" in text_of(record, "frozen-loss")


@pytest.fixture
def bounds() -> None:
    """Skip where this machine lets nobody make a control group."""
    try:
        with control_group(memory_bytes=64 << 20, cores=0.5):
            pass
    except UserError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("bounds")
def test_a_host_that_needs_more_memory_than_it_may_have_is_told_as_such(tmp_path: Path) -> None:
    record = trial(tmp_path, QUIET, replace(WARM, memory_bytes=128 << 20), behaviour="memory")
    assert record.status == "failed"
    assert record.verdicts[0].code == "out-of-memory", record.verdicts
    assert "the 128 MiB of memory that the program may have were spent" in record.verdicts[0].text


@pytest.mark.usefixtures("bounds")
def test_a_host_with_a_share_of_a_core_gets_no_more(tmp_path: Path) -> None:
    record = trial(tmp_path, QUIET, replace(COLD, cores=0.1, memory_bytes=256 << 20))
    assert record.status == "ok", record.verdicts
    assert record.service and record.cpu
    used = record.cpu.to_last_call.total / record.service.mean  # however busy the machine is, it can only be less
    assert 0 < used < 0.2, used  # the kernel gives a tenth, and a little more in the first period


@pytest.mark.skipif(not os.access("/proc/sys/vm/drop_caches", os.W_OK), reason="nobody may empty the page cache here")
def test_a_cold_start_can_find_no_file_in_memory(tmp_path: Path) -> None:
    record = trial(tmp_path, QUIET, replace(COLD, page_cache="dropped"))
    assert record.status == "ok", record.verdicts


def test_a_warm_host_that_is_frozen_keeps_what_had_arrived(tmp_path: Path) -> None:
    record = trial(tmp_path, BATCHED, replace(WARM, frozen_ns=0))
    assert record.status == "ok", record.verdicts
    assert record.ledger and 0 < record.ledger.received < record.ledger.expected
    assert "frozen-loss" in codes(record)


@pytest.mark.parametrize(
    ("behaviour", "parameters", "code", "text"),
    [
        ("never-answers", COLD, "workload-error", "was not ready within 5s"),
        ("throws", COLD, "workload-error", "was answered 20 times, and never right: its last answer had status 500"),
        ("throws", WARM, "workload-error", "was answered 20 times, and never right: its last answer had status 500"),
        ("throws-later", WARM, "calls-failed", "answered wrongly. The first, to sum: status 500 where 200 is expected"),
        ("wrong", WARM, "calls-failed", 'does not match "sum": 6'),
        ("dies", WARM, "jvm-ended", "ended with status 3"),
        ("killed", WARM, "jvm-ended", "was ended by signal SIGKILL"),
    ],
)
def test_what_a_host_does_wrong_is_told(
    tmp_path: Path, behaviour: str, parameters: object, code: str, text: str
) -> None:
    record = trial(tmp_path, QUIET, parameters, behaviour=behaviour)  # pyright: ignore[reportArgumentType]
    assert record.status == "failed"
    assert text in text_of(record, code)


def test_an_invocation_that_is_never_answered_fails_the_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetax.workloads.functions.LONGEST_ANSWER_SECONDS", 2)
    record = trial(tmp_path, QUIET, WARM, behaviour="hangs")
    assert record.status == "failed"
    assert "not answered in time" in text_of(record, "calls-failed")
