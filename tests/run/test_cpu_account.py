"""The account of CPU in a trial's record: of which time it is, and whose clock tells what the callers used."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import configuration
from tests.run.test_trial import trial
from tracetax.program import ThreadNames
from tracetax.results.records import CpuAccount, CpuTimes
from tracetax.run.outcome import account_with_callers
from tracetax.run.sampler import Sampler

CALLERS_NS = 12_345
"""What the stand-in says that its caller used."""
SAMPLED = CpuAccount(
    to_last_call=CpuTimes(caller=1, agent=2, jit=3, gc=4, jvm=5, ended=6),
    to_drained=CpuTimes(caller=10, agent=20, jit=30, gc=40, jvm=50, ended=60),
    waiting_cores=0.5,
    threads={"exporter": 20},
)
Window = tuple[int, int, int]


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> list[Window]:
    """The moments between which the sampler was asked for its account, which is always ``SAMPLED``."""
    asked: list[Window] = []

    def account(_: Sampler, first_call_ns: int, last_call_ns: int, drained_ns: int) -> CpuAccount:
        asked.append((first_call_ns, last_call_ns, drained_ns))
        return SAMPLED

    monkeypatch.setattr(Sampler, "account", account)
    return asked


def test_what_the_callers_used_is_told_by_their_own_clocks(tmp_path: Path, sink_binary: Path) -> None:
    cpu = trial(tmp_path, sink_binary, configuration("flat")).cpu
    assert cpu
    assert cpu.to_drained.caller == cpu.to_last_call.caller == CALLERS_NS


@pytest.mark.usefixtures("windows")
def test_all_else_is_as_it_was_sampled(tmp_path: Path, sink_binary: Path) -> None:
    expected = replace(
        SAMPLED,
        to_last_call=replace(SAMPLED.to_last_call, caller=CALLERS_NS),
        to_drained=replace(SAMPLED.to_drained, caller=CALLERS_NS),
    )
    assert trial(tmp_path, sink_binary, configuration("flat")).cpu == expected


def test_what_threads_without_known_names_used_beyond_the_callers_is_the_agents() -> None:
    used = account_with_callers(SAMPLED, 15, ThreadNames())
    assert (used.to_drained.caller, used.to_drained.agent) == (15, 5)
    assert (used.to_last_call.caller, used.to_last_call.agent) == (15, 0), "a clock may be ahead of the samples"
    named = account_with_callers(SAMPLED, 15, ThreadNames(caller=("caller-*",)))
    assert (named.to_drained.caller, named.to_drained.agent) == (15, 20)


def test_the_account_is_from_the_first_call_to_the_last_and_on_to_the_last_arrival(
    tmp_path: Path, sink_binary: Path, windows: list[Window]
) -> None:
    sends_late = replace(configuration("sends-late"), pause_ns=10**9)  # a busy machine may keep it waiting
    moments = trial(tmp_path, sink_binary, sends_late).moments
    assert windows == [(moments.first_call, moments.last_call, moments.drained)]
    assert moments.drained > moments.last_call
