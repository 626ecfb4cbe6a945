"""Which processors workload, sink and tool get, on machines that the test writes; and that they really get them."""

import os
import threading
from pathlib import Path

import pytest

from tracetax.machine import isolation
from tracetax.machine.isolation import FEW_CORES, Isolation, parse_ranges, plan, ranges, tool_stays_off


def machine(
    root: Path, cores: list[tuple[int, ...]], nodes: list[str] | None = None, slow: tuple[int, ...] = ()
) -> Path:
    """Write a machine: the threads of each physical core, and what lies on each NUMA node."""
    for core in cores:
        for number in core:
            folder = root / f"sys/devices/system/cpu/cpu{number}"
            (folder / "topology").mkdir(parents=True)
            (folder / "topology/thread_siblings_list").write_text(",".join(map(str, core)) + "\n")
            (folder / "cpu_capacity").write_text("400\n" if number in slow else "1024\n")
    everything = ranges([number for core in cores for number in core])
    for number, listed in enumerate(nodes or [everything]):
        folder = root / f"sys/devices/system/node/node{number}"
        folder.mkdir(parents=True)
        (folder / "cpulist").write_text(f"{listed}\n")
    return root


def shared_out(root: Path, allowed: set[int], quota: float | None = None) -> tuple[str, str]:
    found = plan(allowed, quota, len(allowed), root)
    return ranges(found.workload), ranges(found.companions)


SINGLE = [(number,) for number in range(16)]
SMT_8 = [(0, 4), (1, 5), (2, 6), (3, 7)]
SMT_32 = [(number, number + 16) for number in range(16)]


@pytest.mark.parametrize("cores", [1, 2, 3])
def test_few_cores_are_not_shared_out(tmp_path: Path, cores: int) -> None:
    found = plan(range(cores), None, cores, machine(tmp_path, SINGLE[:cores]))
    assert not found.workload
    assert not found.companions
    assert found.processors == cores
    assert "too few" in found.words


def test_of_four_cores_the_sink_gets_the_lowest(tmp_path: Path) -> None:
    assert shared_out(machine(tmp_path, SINGLE[:4]), set(range(4))) == ("1-3", "0")


def test_of_eight_cores_the_companions_get_two(tmp_path: Path) -> None:
    assert shared_out(machine(tmp_path, SINGLE[:8]), set(range(8))) == ("2-7", "0-1")


def test_threads_of_a_core_stay_together(tmp_path: Path) -> None:
    assert shared_out(machine(tmp_path, SMT_8), set(range(8))) == ("1-3,5-7", "0,4")


def test_two_physical_cores_with_two_threads_each_are_shared_out(tmp_path: Path) -> None:
    assert shared_out(machine(tmp_path, [(0, 1), (2, 3)]), {0, 1, 2, 3}) == ("2-3", "0-1")


def test_one_physical_core_with_four_threads_is_not_shared_out(tmp_path: Path) -> None:
    found = plan(range(4), None, 4, machine(tmp_path, [(0, 1, 2, 3)]))
    assert not found.workload
    assert "one physical core" in found.words


def test_with_two_sockets_everything_stays_on_one(tmp_path: Path) -> None:
    root = machine(tmp_path, SMT_32, nodes=["0-7,16-23", "8-15,24-31"])
    found = plan(range(32), None, 32, root)
    assert (ranges(found.workload), ranges(found.companions)) == ("2-7,18-23", "0-1,16-17")
    assert found.nodes == 1


def test_the_node_with_the_most_allowed_processors_is_taken(tmp_path: Path) -> None:
    root = machine(tmp_path, SINGLE, nodes=["0-7", "8-15"])
    assert shared_out(root, {0, 1, 2, 8, 9, 10, 11}) == ("9-11", "8")


def test_nodes_too_small_on_their_own_are_taken_together(tmp_path: Path) -> None:
    root = machine(tmp_path, SINGLE[:4], nodes=["0-1", "2-3"])
    found = plan(range(4), None, 4, root)
    assert (ranges(found.workload), ranges(found.companions)) == ("1-3", "0")
    assert found.nodes == 2


def test_only_allowed_processors_are_given_out(tmp_path: Path) -> None:
    assert shared_out(machine(tmp_path, SINGLE), {3, 5, 6, 9, 12}) == ("5-6,9,12", "3")


def test_a_quota_bounds_how_many_are_used(tmp_path: Path) -> None:
    assert shared_out(machine(tmp_path, SINGLE[:8]), set(range(8)), quota=5.5) == ("1-4", "0")


def test_of_threads_no_more_are_used_than_a_quota_can_keep_busy(tmp_path: Path) -> None:
    assert shared_out(machine(tmp_path, SMT_32), set(range(32)), quota=4) == ("1,17", "0,16")


def test_a_quota_of_one_physical_core_shares_out_nothing(tmp_path: Path) -> None:
    assert shared_out(machine(tmp_path, [(0, 1, 2, 3), (4, 5, 6, 7)]), set(range(8)), quota=4) == ("", "")


def test_a_quota_below_four_cores_shares_out_nothing(tmp_path: Path) -> None:
    found = plan(range(8), 3.5, 4, machine(tmp_path, SINGLE[:8]))
    assert (found.workload, found.words) == ((), "nothing is pinned: 3 cores are too few to share out")


def test_the_workloads_cores_are_of_one_kind_and_the_companions_get_the_slow_ones(tmp_path: Path) -> None:
    root = machine(tmp_path, SINGLE[:8], slow=(4, 5, 6, 7))
    assert shared_out(root, set(range(8))) == ("0-3", "4-5")


def test_where_no_topology_is_visible_every_processor_is_a_core(tmp_path: Path) -> None:
    assert shared_out(tmp_path, set(range(6))) == ("1-5", "0")


@pytest.mark.parametrize(("cores", "smt"), [(4, 1), (4, 2), (8, 2), (12, 1), (16, 4), (64, 2)])
def test_no_processor_is_shared_and_no_core_is_split(tmp_path: Path, cores: int, smt: int) -> None:
    physical = [tuple(range(core * smt, core * smt + smt)) for core in range(cores)]
    found = plan(range(cores * smt), None, cores * smt, machine(tmp_path, physical))
    workload, companions = set(found.workload), set(found.companions)
    assert workload
    assert companions
    assert not workload & companions
    assert not any(set(core) & workload and set(core) & companions for core in physical)
    assert found.processors == len(workload) >= FEW_CORES // 2


def test_others_are_watched_on_the_cores_of_the_run_alone() -> None:
    pinned = Isolation(workload=(1, 2), companions=(0,), allowed=tuple(range(64)), processors=2)
    assert (pinned.watched, pinned.share) == ((1, 2, 0), 1.0)


def test_with_a_quota_and_no_cores_of_ones_own_others_count_by_share() -> None:
    free = Isolation(allowed=tuple(range(64)), processors=2)
    assert (free.watched, free.share) == (free.allowed, 2 / 64)


@pytest.mark.parametrize(("text", "numbers"), [("0-2,5\n", {0, 1, 2, 5}), ("7", {7}), ("", set[int]())])
def test_ranges_are_read_and_written_as_linux_does(text: str, numbers: set[int]) -> None:
    assert parse_ranges(text) == numbers
    assert ranges(numbers) == text.strip()


needs_two = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processors")


@needs_two
def test_the_tool_with_all_its_threads_stays_off_the_workloads_cores_and_comes_back() -> None:
    first, second, *_ = sorted(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    go, done, seen = threading.Event(), threading.Event(), list[set[int]]()

    def older() -> None:
        go.wait(20)
        seen.append(os.sched_getaffinity(0))
        done.set()

    thread = threading.Thread(target=older)
    thread.start()
    with tool_stays_off(Isolation(workload=(first,), companions=(second,), allowed=(first, second))):
        assert os.sched_getaffinity(0) == {second}
        go.set()
        done.wait(20)
        assert isolation.isolation_here().allowed == (second,)
    thread.join()
    assert seen == [{second}]
    assert os.sched_getaffinity(0) == before


def test_where_nothing_is_pinned_the_tool_stays_where_it_is() -> None:
    before = os.sched_getaffinity(0)
    with tool_stays_off(Isolation()):
        assert os.sched_getaffinity(0) == before
