"""CPU and memory of a process tree, from a /proc that the test writes: nobody lost, nobody counted twice."""

import errno
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.machine.fake_proc import MS, PAGE, TICK_NS, TRACETAX, Kernel

from tracetax.machine import processes
from tracetax.machine.process_files import ProcessStat
from tracetax.machine.processes import ProcessTree, disagreement

ROOT, CHILD, GRANDCHILD, OTHER = 5_000_010, 5_000_020, 5_000_030, 5_000_077
"""Above all numbers that the real kernel gives."""
CUT_NS = 2 * TICK_NS


@pytest.fixture(params=["listed", "asked"])
def kernel(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """A kernel with a root that has used 100 ms; with lists of children, and without."""
    made = Kernel(tmp_path / "proc", monkeypatch, listed=request.param == "listed")
    made.fork(ROOT, ms=100, session=ROOT)
    return made


def followed(orphans: bool = True) -> ProcessTree:
    return ProcessTree(ROOT, follow=True, orphans=orphans)


def ms(tree: ProcessTree) -> float:
    """CPU of a tree after a look, ms."""
    return tree.look(search=True).cpu_ns / MS


def test_children_and_theirs_count_while_they_live(kernel: Kernel) -> None:
    kernel.fork(CHILD, ROOT, ms=50)
    kernel.fork(GRANDCHILD, CHILD, ms=7)
    sample = followed().look()
    assert (sample.cpu_ns, sample.processes) == (157 * MS, 3)


def test_the_last_look_is_kept_and_finds_who_was_never_seen(kernel: Kernel) -> None:
    tree = followed()
    kernel.fork(CHILD, ROOT, ms=50)
    assert (tree.whole_cpu_ns, tree.others) == (None, ())
    tree.look_last()
    assert (tree.whole_cpu_ns, tree.others) == (150 * MS, (CHILD,))


def test_the_clock_of_a_tree_is_that_of_all_and_of_one_process_its_own(kernel: Kernel) -> None:
    alone = ProcessTree(ROOT, follow=False)
    kernel.fork(CHILD, ROOT, ms=50)
    assert followed().clock_ns() == 150 * MS
    assert (alone.clock_ns(search=True), alone.cpu_ns, alone.others) == (100 * MS, 100 * MS, ())


def test_what_a_script_has_called_before_it_became_the_program_is_not_missed_of_one_process(kernel: Kernel) -> None:
    alone, tree = ProcessTree(ROOT, follow=False), followed()
    kernel.fork(CHILD, ROOT, ms=60)
    kernel.end(CHILD)
    for program in (alone, tree):
        program.excuse_ended()
    kernel.fork(GRANDCHILD, ROOT, ms=60)
    kernel.end(GRANDCHILD)
    for program in (alone, tree):
        program.look_last()
    assert (alone.whole_cpu_ns, tree.whole_cpu_ns) == (160 * MS, 220 * MS)
    assert alone.cpu_ns == 100 * MS


def test_a_tree_that_is_gone_has_no_last_look(kernel: Kernel) -> None:
    tree = followed()
    kernel.processes.clear()
    kernel.show()
    tree.look_last()
    assert tree.whole_cpu_ns is None


def test_a_child_that_its_parent_has_waited_for_counts_once(kernel: Kernel) -> None:
    kernel.fork(CHILD, ROOT, ms=60)
    tree = followed()
    assert ms(tree) == 160
    kernel.end(CHILD)
    assert ms(tree) == 160
    assert ms(tree) == 160


def test_a_child_that_nobody_has_seen_counts_when_its_parent_has_waited_for_it(kernel: Kernel) -> None:
    tree = followed()
    assert ms(tree) == 100
    kernel.fork(CHILD, ROOT, ms=30)
    kernel.end(CHILD)
    assert ms(tree) == 130


def test_what_the_kernel_cuts_off_is_not_lost_of_who_was_seen(kernel: Kernel) -> None:
    kernel.fork(CHILD, ROOT, ms=59)
    tree = followed()
    assert ms(tree) == 159
    kernel.end(CHILD)
    assert kernel.processes[ROOT].children_ns == 59 * MS
    assert ms(tree) == 159


def test_a_child_that_nobody_waits_for_keeps_what_it_was_seen_to_have_used(kernel: Kernel) -> None:
    kernel.processes[ROOT].waits = False
    kernel.fork(CHILD, ROOT, ms=50)
    tree = followed()
    assert ms(tree) == 150
    kernel.burn(CHILD, 5)
    kernel.end(CHILD)
    assert ms(tree) == 150
    kernel.burn(ROOT, 1)
    assert ms(tree) == 151


def test_children_that_nobody_waits_for_are_kept_beside_unseen_ones_of_their_grandparent(kernel: Kernel) -> None:
    kernel.fork(CHILD, ROOT, ms=10).waits = False
    tree = followed()
    for number in range(5):
        kernel.fork(GRANDCHILD, CHILD, ms=200)
        assert ms(tree) == 110 + 200 * (number + 1)
        kernel.end(GRANDCHILD)
        assert ms(tree) == 110 + 200 * (number + 1)
    kernel.fork(GRANDCHILD, ROOT, ms=90)
    kernel.end(GRANDCHILD)
    assert ms(tree) == 1_180  # what the kernel may have cut off cannot be told from what was unseen


def test_one_whose_parent_ended_with_it_is_waited_for_further_above(kernel: Kernel) -> None:
    """A supervisor in the tree is the subreaper; the worker's helper is handed to it over the foreman's head."""
    foreman, worker, helper = ROOT + 1, ROOT + 2, ROOT + 3
    kernel.processes[ROOT].subreaper = True
    kernel.fork(foreman, ROOT)
    kernel.fork(worker, foreman, ms=40)
    kernel.fork(helper, worker, ms=300)
    tree = followed()
    assert ms(tree) == 440
    kernel.end(worker)
    kernel.end(helper)
    assert kernel.processes[ROOT].children_ns == 300 * MS
    for _ in range(3):
        assert 440 <= ms(tree) <= 460  # the foreman may still be owed what the kernel cuts off at most


def test_a_whole_branch_that_ends_between_two_looks_counts_once(kernel: Kernel) -> None:
    kernel.fork(CHILD, ROOT, ms=50)
    kernel.fork(GRANDCHILD, CHILD, ms=500)
    tree = followed()
    ms(tree)
    kernel.end(GRANDCHILD)
    kernel.end(CHILD)
    assert ms(tree) == 650


def before_the_account_of(pid: int, event: Callable[[], None], patch: pytest.MonkeyPatch, reading: int = 1) -> None:
    """Let something happen just before an account is read, the first time or a later one."""
    real, readings = processes._stat_of, 0  # pyright: ignore[reportPrivateUsage]

    def stat_of(member: processes._Member) -> ProcessStat | None:  # pyright: ignore[reportPrivateUsage]
        nonlocal readings
        if member.pid == pid:
            readings += 1
            if readings == reading:
                event()
        return real(member)

    patch.setattr(processes, "_stat_of", stat_of)


def test_a_child_that_ends_in_the_middle_of_a_look_counts_once(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel.fork(CHILD, ROOT, ms=500)
    tree = followed()
    ms(tree)
    before_the_account_of(CHILD, lambda: kernel.end(CHILD), monkeypatch)  # its parent's was read before
    assert ms(tree) == 600
    assert ms(tree) == 600


def leaving(kernel: Kernel, pid: int) -> None:
    """Its parent has its CPU already, and it is still to be seen."""
    process = kernel.processes[pid]
    kernel.processes[process.parent].children_ns += process.cpu_ns
    process.state = "X"
    kernel.show()


@pytest.mark.parametrize("reading", [2, 3, 10])
def test_a_child_that_is_being_waited_for_counts_once(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch, reading: int
) -> None:
    kernel.fork(CHILD, ROOT, ms=500)
    tree = followed()
    ms(tree)
    leaving(kernel, CHILD)

    def leave() -> None:
        del kernel.processes[CHILD]
        kernel.show()

    before_the_account_of(CHILD, leave, monkeypatch, reading)
    for _ in range(3):
        assert ms(tree) == 600


def test_a_new_child_that_is_being_waited_for_counts_in_its_parent_alone(kernel: Kernel) -> None:
    tree = followed()
    kernel.fork(CHILD, ROOT, ms=600)
    leaving(kernel, CHILD)
    assert ms(tree) == 700


def test_a_child_that_the_kernel_takes_down_is_gone(kernel: Kernel) -> None:
    kernel.fork(CHILD, ROOT, ms=540)
    kernel.fork(GRANDCHILD, CHILD, ms=60)
    kernel.end(GRANDCHILD)
    tree = followed()
    assert ms(tree) == 700
    before = kernel.processes[CHILD]
    kernel.end(CHILD)
    torn = kernel.fork(CHILD, 0)
    torn.start, torn.group = before.start, -1  # all its accounts are 0
    kernel.show()
    assert ms(tree) == 700
    del kernel.processes[CHILD]
    kernel.show()
    assert ms(tree) == 700


def test_an_account_that_cannot_be_opened_does_not_mean_that_a_process_is_gone(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel.fork(CHILD, ROOT, ms=50)
    tree = followed()
    ms(tree)
    with monkeypatch.context() as short, pytest.raises(OSError, match="Too many open files"):
        short.setattr("os.open", too_many_open_files)
        tree.look()
    assert ms(tree) == 150


def too_many_open_files(*_: object) -> int:
    raise OSError(errno.EMFILE, "Too many open files")


def test_one_that_ends_between_its_account_and_its_clock_counts_as_last_seen(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel.fork(CHILD, ROOT, ms=57)
    tree = followed()
    ms(tree)

    def clock(pid: int) -> int:
        if pid == CHILD:
            raise ProcessLookupError
        return kernel.clock(pid)

    monkeypatch.setattr(processes, "process_clock_ns", clock)
    kernel.burn(CHILD, 20)
    assert ms(tree) == 170  # in ticks
    kernel.end(CHILD)
    assert ms(tree) == 170


def test_where_processes_end_all_the_time_a_look_settles_nothing(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel.fork(CHILD, ROOT, ms=50)
    tree = followed()
    ms(tree)
    kernel.end(CHILD)
    kernel.burn(ROOT, 3)
    monkeypatch.setattr(processes, "MOST_READINGS", 0)
    assert ms(tree) == 153


def test_a_number_that_is_another_process_now_counts_no_more(kernel: Kernel) -> None:
    stranger = OTHER
    kernel.fork(CHILD, ROOT, ms=50)
    tree = followed()
    ms(tree)
    kernel.end(CHILD)
    kernel.fork(stranger, 1)
    kernel.fork(CHILD, stranger, ms=7_000)
    assert ms(tree) == 150


def test_a_number_that_is_another_child_now_counts_beside_the_first(kernel: Kernel) -> None:
    kernel.fork(CHILD, ROOT, ms=50)
    tree = followed()
    ms(tree)
    kernel.end(CHILD)
    kernel.fork(GRANDCHILD, ROOT)
    kernel.fork(CHILD, ROOT, ms=7)
    assert ms(tree) == 157


def test_new_processes_are_searched_for_at_most_every_100_ms_unless_asked(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 10**9
    monkeypatch.setattr("time.monotonic_ns", lambda: now)
    tree = followed()
    tree.look()
    kernel.fork(CHILD, ROOT, ms=50)
    now += 99 * MS
    assert tree.look().processes == 1
    now += MS
    assert tree.look().processes == 2
    kernel.fork(GRANDCHILD, CHILD, ms=50)
    assert tree.look().processes == 2
    assert tree.look(search=True).processes == 3


def test_where_nothing_was_started_a_search_is_repeated_once_and_then_every_second(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, searched = 10**9, list[float]()

    def search(_tree: ProcessTree, _children: object) -> None:
        searched.append((now - 10**9) / MS)

    monkeypatch.setattr("time.monotonic_ns", lambda: now)
    monkeypatch.setattr(ProcessTree, "_search", search)
    kernel.tells_newest = True
    kernel.show()
    tree = followed()
    for look in range(20):
        if look == 15:
            kernel.fork(CHILD, ROOT)
        tree.look()
        now += 100 * MS
    assert searched == [0, 100, 1_100, 1_500, 1_600]
    tree.look(search=True)
    assert len(searched) == 6


@pytest.mark.parametrize(("session", "orphans", "cpu"), [(ROOT, False, 109), (OTHER, False, 100), (OTHER, True, 109)])
def test_an_orphan_belongs_to_who_knows_its_session_or_takes_all(
    kernel: Kernel, session: int, orphans: bool, cpu: int
) -> None:
    kernel.fork(CHILD, TRACETAX, ms=5, session=session)
    kernel.fork(GRANDCHILD, CHILD, ms=4, session=OTHER + 1)
    assert ms(followed(orphans)) == cpu


def test_a_session_is_known_from_a_process_that_has_ended(kernel: Kernel) -> None:
    kernel.fork(CHILD, ROOT, ms=5, session=CHILD)
    tree = followed(orphans=False)
    ms(tree)
    kernel.fork(GRANDCHILD, CHILD, ms=10, session=CHILD)
    kernel.end(CHILD)
    assert kernel.processes[GRANDCHILD].parent == TRACETAX
    assert ms(tree) == 115


@pytest.mark.parametrize("whose", ["started here", "of this session", "older"])
def test_other_children_of_this_process_do_not_belong(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    child = kernel.fork(CHILD, TRACETAX, ms=5, session=OTHER)
    if whose == "started here":
        kernel.started.add(CHILD)
    elif whose == "of this session":
        monkeypatch.setattr("os.getsid", {0: OTHER}.__getitem__)
    else:
        child.start = kernel.processes[ROOT].start - 1
        kernel.show()
    assert ms(followed()) == 100


def test_a_member_stays_one_wherever_it_goes(kernel: Kernel) -> None:
    daemon = kernel.fork(CHILD, ROOT, ms=5)
    tree = followed(orphans=False)
    ms(tree)
    daemon.session, daemon.parent = OTHER, 1
    kernel.burn(CHILD, 10)
    assert ms(tree) == 115


def test_a_zombie_counts_until_somebody_has_waited_for_it(kernel: Kernel) -> None:
    kernel.fork(CHILD, ROOT, ms=50)
    tree = followed()
    ms(tree)
    kernel.processes[CHILD].state = "Z"
    kernel.end(ROOT)
    assert kernel.processes[ROOT].state == "Z"
    sample = tree.look(search=True)
    assert (sample.cpu_ns, sample.processes) == (150 * MS, 2)


def test_a_tree_of_which_nothing_is_left_keeps_its_total(kernel: Kernel) -> None:
    kernel.fork(CHILD, ROOT, ms=50)
    tree = followed()
    ms(tree)
    kernel.processes.clear()
    kernel.show()
    for _ in range(2):
        with pytest.raises(ProcessLookupError, match=f"process {ROOT} is gone"):
            tree.look()
        assert tree.cpu_ns == 150 * MS


def test_a_root_that_is_gone_cannot_be_followed(kernel: Kernel) -> None:
    with pytest.raises(ProcessLookupError, match=f"process {CHILD} is gone"):
        ProcessTree(CHILD, follow=True)


def test_not_followed_it_is_one_process_by_its_own_clock(kernel: Kernel) -> None:
    kernel.fork(CHILD, ROOT, ms=50)
    kernel.fork(GRANDCHILD, ROOT, ms=50)
    kernel.end(GRANDCHILD)
    tree = ProcessTree(ROOT, follow=False)
    sample = tree.look(search=True)
    assert (sample.cpu_ns, sample.processes, sample.rss_bytes) == (100 * MS, 1, PAGE)
    kernel.processes[ROOT].start += 1  # the number of another now
    kernel.burn(ROOT, 900)
    with pytest.raises(ProcessLookupError):
        tree.look()
    assert tree.cpu_ns == 100 * MS


def test_memory_is_that_of_all_processes_and_the_most_is_kept(kernel: Kernel) -> None:
    kernel.fork(CHILD, ROOT).pages = 40
    kernel.show()
    tree = followed()
    assert tree.look().rss_bytes == 41 * PAGE
    kernel.end(CHILD)
    assert tree.look().rss_bytes == PAGE
    assert tree.peak_rss_bytes == 41 * PAGE


def test_shared_pages_are_shared_out_where_the_kernel_shows_it(kernel: Kernel) -> None:
    kernel.fork(CHILD, ROOT)
    tree = followed()
    tree.look()
    (kernel.folder / str(ROOT) / "smaps_rollup").write_text("00-ff ---p 0 00:00 0 [rollup]\nRss: 9 kB\nPss:  5 kB\n")
    assert tree.pss_bytes() is None
    (kernel.folder / str(CHILD) / "smaps_rollup").write_text("Pss:   2 kB\nPss_Dirty:   1 kB\n")
    assert tree.pss_bytes() == 7 * 1024
    kernel.end(CHILD)
    (kernel.folder / str(ROOT) / "smaps_rollup").write_text("Pss:  5 kB\n")
    assert tree.pss_bytes() == 5 * 1024


@pytest.mark.parametrize(
    ("seen", "witness", "differs"),
    [
        (1_000, 1_000, 0),
        (1_030, 1_000, 0),
        (1_031, 1_000, 31),
        (970, 1_000, 0),
        (969, 1_000, -31),
        (0, 20, 0),
        (0, 21, -21),
        (100_000, 100_900, 0),
    ],
)
def test_looks_and_wait4_may_differ_by_one_per_cent_and_20_ms(seen: int, witness: int, differs: int) -> None:
    assert disagreement(seen * MS, witness * MS) == differs * MS


def played(steps: list[tuple[str, int, int]], ignoring: bool) -> Generator[tuple[Kernel, ProcessTree]]:
    """A program that forks, burns and ends by these steps, each at a process picked by a number; stops at each look."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        kernel = Kernel(Path(folder, "proc"), patch, listed=False)
        kernel.fork(ROOT, ms=1, session=ROOT).subreaper = True
        tree = followed()
        for step, (what, which, amount) in enumerate(steps):
            living = [process for process in kernel.processes.values() if process.state != "Z"]
            picked = living[which % len(living)]
            if what == "fork":
                child = kernel.fork(CHILD + step, picked.pid, session=ROOT)
                child.waits = not (ignoring and amount % 3 == 0)
                child.subreaper = amount % 4 == 0
            elif what == "burn":
                kernel.burn(picked.pid, amount)
            elif what == "end" and picked.pid != ROOT:
                kernel.end(picked.pid)
            elif what == "look":
                yield kernel, tree


STEPS = st.lists(
    st.tuples(st.sampled_from(["fork", "burn", "burn", "end", "look"]), st.integers(0, 20), st.integers(0, 120)),
    max_size=60,
)


@settings(max_examples=150)
@given(steps=STEPS)
def test_whatever_a_program_does_only_what_the_kernel_cuts_off_is_missing(steps: list[tuple[str, int, int]]) -> None:
    for kernel, tree in played(steps, ignoring=False):
        missing = kernel.burned_ns - tree.look(search=True).cpu_ns
        assert abs(missing) <= CUT_NS * len(kernel.processes)


@settings(max_examples=150)
@given(steps=STEPS)
def test_whatever_parents_ignore_nothing_counts_twice_and_nothing_seen_is_taken_back(
    steps: list[tuple[str, int, int]],
) -> None:
    before = 0
    for kernel, tree in played(steps, ignoring=True):
        now = tree.look(search=True).cpu_ns
        assert before <= now <= kernel.burned_ns + CUT_NS * len(kernel.processes)
        before = now
