"""CPU between two moments, from samples around them."""

import itertools
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.machine.test_process_tree_oracle import family
from tests.machine.test_threads import burn, burner
from tests.run.stand_ins import RUNTIME, WORKLOAD
from tracetax.machine.processes import ProcessTree
from tracetax.process import Process
from tracetax.run.drain import BUSY_CORES
from tracetax.run.sampler import LEAST_WAIT_NS, Sample, Sampler, account_of, at, cores_of

KNOWN = RUNTIME.threads + WORKLOAD.threads
MS = 1_000_000


def samples(*rows: tuple[int, int, tuple[int, ...]]) -> list[Sample]:
    return [Sample(at_ns=moment, process=process, threads=threads) for moment, process, threads in rows]


@contextmanager
def sampling(process: Process, follow: bool = False) -> Generator[Sampler]:
    """A sampler of a process, and where it follows of those that this starts."""
    with ProcessTree(process.pid, follow) as tree, Sampler(tree, KNOWN) as sampler:
        yield sampler


def test_between_two_samples_use_grows_in_a_straight_line() -> None:
    found = at(samples((0, 0, (0, 0)), (100, 50, (10, 30))), 50, threads=2)
    assert (found.process, found.threads) == (25, (5, 15))


def test_at_a_sample_it_is_what_the_sample_says() -> None:
    taken = samples((0, 0, (0,)), (100, 50, (10,)), (200, 60, (20,)))
    assert [at(taken, moment, threads=1).process for moment in (0, 100, 200)] == [0, 50, 60]


def test_outside_the_samples_the_nearest_one_counts() -> None:
    taken = samples((100, 50, (10,)), (200, 60, (20,)))
    assert (at(taken, 0, threads=1).process, at(taken, 900, threads=1).process) == (50, 60)


def test_a_thread_that_came_later_had_used_nothing_before() -> None:
    found = at(samples((0, 0, (7,)), (100, 50, (9, 40))), 50, threads=3)
    assert found.threads == (8, 20, 0)


def test_the_account_has_what_the_process_used_and_who_used_it() -> None:
    with burner("caller-0=150", "exporter=100") as process, sampling(process) as sampler:
        sampler.start()
        first = time.monotonic_ns()
        sampler.began(first)
        own = burn(process)
        sampler.look()
        done = time.monotonic_ns()
        sampler.end()
        account = sampler.account(first, done, done)
    assert account is not None
    used = account.to_drained
    assert used.total == pytest.approx(own, rel=0.05, abs=10 * MS)
    assert used.caller == pytest.approx(150 * MS, rel=0.1)
    assert used.agent == pytest.approx(100 * MS, rel=0.1, abs=15 * MS)
    assert used == account.to_last_call
    assert (used.jit, used.gc) == (0, 0)
    assert list(account.threads)[:2] == ["caller-0", "exporter"]


def test_what_threads_used_before_they_ended_is_not_lost() -> None:
    with burner("caller-0=100:ends") as process, sampling(process) as sampler:
        sampler.start()
        first = time.monotonic_ns()
        own = burn(process)
        sampler.look()
        done = time.monotonic_ns()
        time.sleep(0.02)
        sampler.end()
        account = sampler.account(first, done, done)
    assert account is not None
    assert account.to_drained.total == pytest.approx(own, rel=0.05, abs=10 * MS)


@pytest.mark.parametrize(("follow", "used"), [(True, 160), (False, 0)])
def test_what_living_children_used_counts_where_the_tree_is_followed(follow: bool, used: int) -> None:
    with family("living") as process, sampling(process, follow) as sampler:
        sampler.start()
        first = time.monotonic_ns()
        sampler.began(first)
        process.write_line("begin")
        assert process.stdout.readline() == b"done\n"
        sampler.look(search=True)
        done = time.monotonic_ns()
        sampler.look()
        account = sampler.account(first, done, done)
    assert account
    assert account.to_drained.agent == pytest.approx(used * MS, abs=60 * MS)
    assert account.to_drained.total == pytest.approx(account.to_drained.agent, abs=30 * MS)


def test_several_processes_are_looked_at_no_more_often_than_every_100_ms(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []
    really = Sampler.look

    def look(sampler: Sampler, *, names: bool = False, search: bool = False) -> None:
        looks.append(time.monotonic())
        really(sampler, names=names, search=search)

    monkeypatch.setattr(Sampler, "look", look)
    with family("living") as process, sampling(process, follow=True) as sampler:
        sampler.start()
        sampler.began(time.monotonic_ns())
        time.sleep(0.35)
        asked = looks[:2]
        sampler.end()
    by_itself = looks[len(asked) : -1]
    assert by_itself
    assert all(after - before >= 0.095 for before, after in itertools.pairwise(by_itself))


def test_a_quiet_wait_is_told_in_cores() -> None:
    wait = LEAST_WAIT_NS
    taken = samples((0, 0, (0,)), (wait, 0, (0,)), (2 * wait, wait // 4, (wait // 4,)))
    waited, at_once = account_of(taken, ["a"], 0, wait, wait, KNOWN), account_of(taken, ["a"], 0, wait, 2 * wait, KNOWN)
    assert waited and waited.waiting_cores == 0.25
    assert at_once and at_once.waiting_cores is None


def test_what_the_agents_threads_used_in_the_last_second_is_told_in_cores() -> None:
    second = 1_000 * MS
    taken = samples((0, 0, (0, 0, 0)), (second, 0, (0, 0, 0)), (2 * second, 0, (900 * MS, 200 * MS, 100 * MS)))
    names = ["caller-0", "exporter", "G1 Conc#0"]
    assert cores_of(taken, names, ("agent", "gc"), KNOWN) == pytest.approx(0.3)
    assert cores_of(taken[:1], names, ("agent",), KNOWN) == 0.0


def test_a_thread_that_works_now_is_seen_at_work() -> None:
    with burner("exporter=1500") as process, sampling(process) as sampler:
        sampler.start()
        burn(process)
        sampler.look()
        assert sampler.agent_cores() > BUSY_CORES
        deadline = time.monotonic() + 20
        while sampler.agent_cores() > BUSY_CORES:
            assert time.monotonic() < deadline, "it rests, and is still called busy"
            time.sleep(0.1)


def test_the_drain_is_charged_apart_from_the_calls() -> None:
    taken = samples((0, 0, (0, 0)), (100, 90, (80, 10)), (200, 130, (80, 50)))
    found = account_of(taken, ["caller-0", "exporter"], 0, 100, 150, KNOWN)
    assert found
    assert (found.to_last_call.caller, found.to_last_call.agent) == (80, 10)
    assert (found.to_drained.caller, found.to_drained.agent) == (80, 30)


def test_what_no_living_thread_accounts_for_is_that_of_ended_ones() -> None:
    found = account_of(samples((0, 0, (0,)), (100, 90, (60,))), ["exporter"], 0, 100, 100, KNOWN)
    assert found and (found.to_drained.agent, found.to_drained.ended, found.to_drained.total) == (60, 30, 90)


def test_without_samples_on_both_sides_there_is_no_account() -> None:
    taken = samples((10, 0, (0,)), (20, 5, (5,)))
    assert account_of(taken, ["a"], 5, 15, 15, KNOWN) is None
    assert account_of(taken, ["a"], 12, 15, 25, KNOWN) is None
    assert account_of([], [], 0, 0, 0, KNOWN) is None


@pytest.mark.parametrize("threads", [(), (0, 0)])
def test_where_the_kernel_keeps_no_accounts_of_threads_there_is_none_of_the_process(threads: tuple[int, ...]) -> None:
    assert (
        account_of(samples((0, 0, threads), (100, 90, threads)), ["caller-0", "exporter"], 0, 100, 100, KNOWN) is None
    )


def test_a_process_that_ends_under_the_sampler_harms_nobody() -> None:
    with burner("caller-0=1") as process, sampling(process) as sampler:
        sampler.start()
        process.kill()
        time.sleep(0.15)
        sampler.end()
        assert sampler.account(0, 0, time.monotonic_ns()) is None


def test_no_file_stays_open() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with burner("caller-0=1") as process, sampling(process) as sampler:
        sampler.start()
        sampler.end()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
