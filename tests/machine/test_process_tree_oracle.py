"""CPU of a real process tree beside what the kernel says of the whole: a control group's account, and wait4."""

import itertools
import os
import select
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import Struct
from tests.machine.control_group import ControlGroup, control_group

from tracetax.machine import processes
from tracetax.machine.processes import ProcessTree, TreeSample, disagreement
from tracetax.machine.threads import process_clock_ns
from tracetax.process import Process

FAMILY = Path(__file__).with_name("family.py")
MS = 1_000_000
STALE_NS = 25 * MS
"""The account of a group lacks what running threads have used since the scheduler's last tick."""
CUT_NS = 20 * MS


@contextmanager
def family(scenario: str, group: ControlGroup | None = None) -> Generator[Process]:
    """A program of several processes that is ready to play a scenario."""
    entrance = [str(group.entrance)] if group else []
    command = [sys.executable, "-S", str(FAMILY), scenario, *entrance]
    with Process(command, environment={}, stdout=subprocess.PIPE, stderr=2) as process:
        assert process.stdout.readline() == b"ready\n"
        yield process


class Look(Struct, frozen=True):
    """What a tree was seen to have used, and what its group had just before and just after."""

    before_ns: int
    sample: TreeSample
    after_ns: int


def played(process: Process, tree: ProcessTree, group: ControlGroup | None, every: float) -> list[Look]:
    """Look again and again while the scenario is played, then let it end; the last look sees a root that has ended."""

    def look() -> Look:
        before = group.cpu_ns if group else 0
        sample = tree.look(search=True)
        return Look(before, sample, group.cpu_ns if group else 0)

    looks = [look()]
    process.write_line("begin")
    while not select.select([process.stdout], [], [], every)[0]:
        looks.append(look())
    assert process.stdout.readline() == b"done\n"
    looks.append(look())
    process.close_input()
    deadline = time.monotonic() + 60
    while not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
        assert time.monotonic() < deadline, "it does not end"
        time.sleep(0.001)
    settled(tree)
    return [*looks, look()]


def settled(tree: ProcessTree) -> None:
    """Wait until nothing in a tree burns any more: what nobody waits for may end after its parent."""
    deadline = time.monotonic() + 60
    before = -1
    while (now := tree.look(search=True).cpu_ns) != before:
        assert time.monotonic() < deadline, "it never rests"
        before = now
        time.sleep(0.2)


def witness_of(process: Process) -> int:
    """What wait4 says of a program and of what it left behind, ns."""
    ending = process.stop()
    return ending.cpu_ns + process.orphans_cpu_ns


@pytest.mark.parametrize(
    ("version", "kept", "every"), [(2, processes.KEPT_STATS, 0.005), (2, 2, 0.1), (1, processes.KEPT_STATS, 0.02)]
)
def test_each_look_says_what_a_control_group_says(
    monkeypatch: pytest.MonkeyPatch, version: int, kept: int, every: float
) -> None:
    monkeypatch.setattr(processes, "KEPT_STATS", kept)
    with (
        control_group(version) as group,
        family("mixed", group) as process,
        ProcessTree(process.pid, follow=True) as tree,
    ):
        looks = played(process, tree, group, every)
        earlier = looks[0].sample.cpu_ns - looks[0].after_ns  # before it entered the group
        for look in looks:
            seen, rounded = look.sample.cpu_ns - earlier, CUT_NS * look.sample.processes
            assert look.before_ns - rounded - STALE_NS <= seen <= look.after_ns + STALE_NS
        totals = [look.sample.cpu_ns for look in looks]
        assert totals == sorted(totals)
        assert max(look.sample.processes for look in looks) > 5
        whole = totals[-1] - totals[0], looks[-1].after_ns - looks[0].after_ns
        assert whole[1] > 1_400 * MS
        assert disagreement(*whole) == 0


@pytest.mark.parametrize("every", [0.01, 0.1, 60.0])
def test_the_last_look_says_what_wait4_says(every: float) -> None:
    """Even where nobody looked while it was at work: what it waited for is in its account, and the rest lives."""
    with family("mixed") as process, ProcessTree(process.pid, follow=True) as tree:
        last = played(process, tree, None, every)[-1].sample
        assert last.processes == 4  # a daemon lives; nobody has waited for the program, its last child and a daemon
        witness = witness_of(process)
        assert witness > 1_400 * MS
        assert disagreement(last.cpu_ns, witness) == 0


def test_what_a_program_leaves_behind_is_missing_where_orphans_are_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The witness can tell: here the tree does not learn of the daemons' sessions."""

    def never(_tree: ProcessTree, _stat: object) -> bool:
        return False

    monkeypatch.setattr(ProcessTree, "_is_orphan", never)
    with family("mixed") as process, ProcessTree(process.pid, follow=True) as tree:
        last = played(process, tree, None, 60.0)[-1].sample
        assert disagreement(last.cpu_ns, witness_of(process)) < -250 * MS


def longest_gap(looks: Sequence[Look]) -> int:
    moments = [look.sample.at_ns for look in looks]
    return max(after - before for before, after in itertools.pairwise(moments))


def test_of_children_that_nobody_waits_for_less_is_lost_than_the_time_between_two_looks() -> None:
    with control_group() as group, family("ignoring", group) as process, ProcessTree(process.pid, True) as tree:
        looks = played(process, tree, group, 0.02)
        seen = looks[-1].sample.cpu_ns - looks[0].sample.cpu_ns
        real = looks[-1].after_ns - looks[0].after_ns
        assert real > 900 * MS
        assert seen <= real + CUT_NS
        assert real - seen <= 3 * longest_gap(looks) + CUT_NS + STALE_NS
        assert disagreement(looks[-1].sample.cpu_ns, witness_of(process)) > 0  # wait4 knows nothing of them


def test_memory_is_that_of_all_who_live() -> None:
    with family("living") as process, ProcessTree(process.pid, follow=True) as tree:
        alone = tree.look().rss_bytes
        process.write_line("begin")
        assert process.stdout.readline() == b"done\n"
        sample = tree.look(search=True)
        assert sample.processes == 3
        assert 1.5 * alone < sample.rss_bytes <= tree.peak_rss_bytes
        shared = tree.pss_bytes()
        assert shared is None or 0 < shared < sample.rss_bytes


LAST_PID = Path("/proc/sys/kernel/ns_last_pid")


def with_number(pid: int) -> "subprocess.Popen[bytes] | None":
    """Start a process of this number; None where the kernel does not let. Other processes get theirs as before."""
    for _ in range(50):
        try:
            before = LAST_PID.read_text()
            LAST_PID.write_text(str(pid - 1))
        except OSError:
            return None
        process = subprocess.Popen(["/bin/sleep", "600"])
        LAST_PID.write_text(before)
        if process.pid == pid:
            return process
        process.kill()
        process.wait()
    return None


@pytest.mark.parametrize("kept", [processes.KEPT_STATS, 0])
def test_a_stranger_with_a_members_number_is_none(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    monkeypatch.setattr(processes, "KEPT_STATS", kept)
    with family("living") as process:
        tree = ProcessTree(process.pid, follow=True)
        seen = tree.look().cpu_ns
    stranger = with_number(process.pid)
    if stranger is None:
        pytest.skip("the kernel gives no number that one asks for")
    with stranger, tree:
        assert process_clock_ns(process.pid) != seen
        with pytest.raises(ProcessLookupError):
            tree.look(search=True)
        assert tree.cpu_ns == seen
        stranger.kill()
