"""What counts as somebody else's work during a trial, from accounts that the test writes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.machine.fake_proc import MS, Kernel

from tracetax.machine.disturbance import (
    DISTURBED_ABOVE,
    Load,
    MachineCpu,
    between,
    busy_words,
    combined_load,
    machine_cpu,
    process_cpu_ns,
    programs_cpu_ns,
)
from tracetax.machine.processes import ProcessTree

TICK = 10**9 // os.sysconf("SC_CLK_TCK")
SECOND = 10**9
#        user nice system idle iowait irq softirq steal guest guest_nice
STAT = """\
cpu  100 10 50 900 5 7 3 20 40 0
cpu0 60 10 20 400 5 7 1 15 40 0
cpu1 40 0 30 500 0 0 2 5 0 0
intr 12345
"""


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_busy_is_neither_idle_nor_steal_nor_interrupts_nor_guest_time_twice(tmp_path: Path) -> None:
    seen = machine_cpu(root=written(tmp_path, {"proc/stat": STAT}))
    assert (seen.busy_ns, seen.steal_ns, seen.interrupt_ns) == (160 * TICK, 20 * TICK, 10 * TICK)


def test_only_the_cores_that_a_trial_may_use_are_counted(tmp_path: Path) -> None:
    seen = machine_cpu((1,), written(tmp_path, {"proc/stat": STAT}))
    assert (seen.busy_ns, seen.steal_ns, seen.interrupt_ns) == (70 * TICK, 5 * TICK, 2 * TICK)


def test_where_a_container_numbers_its_cores_anew_all_it_shows_is_counted(tmp_path: Path) -> None:
    assert machine_cpu((17,), written(tmp_path, {"proc/stat": STAT})).busy_ns == 160 * TICK


@pytest.mark.parametrize("files", [{}, {"proc/stat": "cpu  0 0 0 0 0 0 0 0 0 0\n"}])
def test_a_sandbox_that_hides_the_account_is_told_apart_from_a_quiet_machine(
    tmp_path: Path, files: dict[str, str]
) -> None:
    assert not machine_cpu(root=written(tmp_path, files)).seen
    assert machine_cpu(root=written(tmp_path, {"proc/stat": STAT})).seen


def test_the_trials_own_work_is_not_others() -> None:
    start = MachineCpu(busy_ns=5 * SECOND, steal_ns=SECOND, at_ns=0)
    end = MachineCpu(busy_ns=20 * SECOND, steal_ns=2 * SECOND, at_ns=10 * SECOND)
    load = between(start, end, own_cpu_ns=14 * SECOND)
    assert (load.other, load.steal, load.seconds) == (0.1, 0.1, 10.0)
    assert load.disturbed


def test_of_a_host_that_one_may_use_in_part_others_count_in_that_part() -> None:
    start = MachineCpu(busy_ns=0, steal_ns=0, at_ns=0)
    end = MachineCpu(busy_ns=64 * SECOND, steal_ns=0, at_ns=10 * SECOND)
    assert between(start, end, own_cpu_ns=0, share=2 / 64).other == pytest.approx(0.2)


@pytest.mark.parametrize(("excess", "disturbed"), [(-0.01, False), (0.01, True)])
def test_steal_and_others_together_mark_a_trial(excess: float, disturbed: bool) -> None:
    half = round((DISTURBED_ABOVE + excess) / 2 * SECOND)
    end = MachineCpu(busy_ns=half, steal_ns=half, at_ns=SECOND)
    assert between(MachineCpu(busy_ns=0, steal_ns=0, at_ns=0), end, 0).disturbed is disturbed


def kernel_or_not(pid: int, kernel: bool, processor: int) -> str:
    """A line of /proc/PID/stat with 3 ticks of user and 4 of system time, of a thread with a wild name."""
    before, between_ = f"{pid} (kworker) 1:2) S 2 0 0 0 -1 {0x200040 if kernel else 0x400100} 0 0 0 0 3 4", "0 " * 23
    return f"{before} {between_}{processor} 0\n"


@pytest.mark.parametrize(("cores", "ticks"), [((), 14), ((1,), 7)])
def test_the_kernels_own_threads_are_told_apart(tmp_path: Path, cores: tuple[int, ...], ticks: int) -> None:
    stats = [kernel_or_not(5, True, 0), kernel_or_not(6, True, 1), kernel_or_not(7, False, 1)]
    files = {f"proc/{number}/stat": line for number, line in enumerate(stats)}
    seen = machine_cpu(cores, written(tmp_path, {"proc/stat": STAT, **files}))
    assert sum(seen.kernel_ns[number] for number in seen.kernel_here) == ticks * TICK


def test_of_a_kernel_thread_that_came_from_another_core_only_the_use_in_the_window_counts(tmp_path: Path) -> None:
    there, here = kernel_or_not(5, True, 0), kernel_or_not(5, True, 1).replace(" 3 4 ", " 8 4 ")
    start = machine_cpu((1,), written(tmp_path, {"proc/stat": STAT, "proc/5/stat": there}))
    end = machine_cpu((1,), written(tmp_path, {"proc/stat": STAT, "proc/5/stat": here}))
    assert between(replace(start, at_ns=0), replace(end, at_ns=SECOND), 0).kernel == pytest.approx(5 * TICK / SECOND)


def test_an_agent_that_keeps_the_kernel_busy_with_writing_is_not_disturbed_by_that() -> None:
    end = MachineCpu(busy_ns=SECOND, steal_ns=0, at_ns=SECOND, kernel_ns={5: SECOND // 2}, kernel_here=frozenset({5}))
    load = between(MachineCpu(busy_ns=0, steal_ns=0, at_ns=0), end, own_cpu_ns=SECOND // 2)
    assert (load.other, load.kernel, load.disturbed) == (0.0, 0.5, False)


def test_throttling_swapping_and_interrupts_are_told_and_mark_nothing() -> None:
    end = MachineCpu(
        busy_ns=0, steal_ns=0, at_ns=SECOND, interrupt_ns=SECOND, throttled_ns=SECOND, swapped_bytes=1 << 30
    )
    load = between(MachineCpu(busy_ns=0, steal_ns=0, at_ns=0), end, 0)
    assert (load.interrupts, load.throttled_ns, load.swapped_bytes) == (1.0, SECOND, 1 << 30)
    assert not load.disturbed


@pytest.mark.parametrize(
    ("files", "nanoseconds"),
    [
        ({"cpu.max": "max 100000", "cpu.stat": "nr_throttled 3\nthrottled_usec 5\n"}, 0),
        ({"cpu.max": "150000 100000", "cpu.stat": "nr_throttled 3\nthrottled_usec 5\n"}, 5_000),
    ],
)
def test_throttling_of_version_2_is_read_where_there_is_a_quota(
    tmp_path: Path, files: dict[str, str], nanoseconds: int
) -> None:
    groups = {f"sys/fs/cgroup/a/{name}": text for name, text in files.items()}
    root = written(tmp_path, {"proc/stat": STAT, "proc/self/cgroup": "0::/a\n", **groups})
    assert machine_cpu(root=root).throttled_ns == nanoseconds


@pytest.mark.parametrize(("quota", "nanoseconds"), [("-1", 0), ("50000", 7)])
def test_throttling_of_version_1_is_read_where_there_is_a_quota(tmp_path: Path, quota: str, nanoseconds: int) -> None:
    root = written(
        tmp_path,
        {
            "proc/stat": STAT,
            "proc/self/cgroup": "2:cpu,cpuacct:/a\n",
            "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": quota,
            "sys/fs/cgroup/cpu,cpuacct/a/cpu.stat": "nr_periods 9\nnr_throttled 3\nthrottled_time 7\n",
        },
    )
    assert machine_cpu(root=root).throttled_ns == nanoseconds


def test_swapping_in_and_out_is_counted(tmp_path: Path) -> None:
    vmstat = "pgfault 9\npswpin 2\npswpout 3\n"
    root = written(tmp_path, {"proc/stat": STAT, "proc/vmstat": vmstat})
    assert machine_cpu(root=root).swapped_bytes == 5 * os.sysconf("SC_PAGE_SIZE")


def test_a_process_owns_the_cpu_of_children_that_it_has_waited_for() -> None:
    before = process_cpu_ns(os.getpid())
    child = subprocess.Popen((sys.executable, "-c", "import time\nwhile time.process_time() < 0.2: pass"))
    child.wait()
    assert process_cpu_ns(os.getpid()) - before >= 180_000_000
    assert process_cpu_ns(child.pid) == 0


def test_living_processes_of_a_tree_are_its_own_and_one_process_counts_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(tmp_path / "proc", monkeypatch, listed=True)
    kernel.fork(5_000_010, ms=100)
    tree = ProcessTree(5_000_010, follow=True)
    assert programs_cpu_ns([]) == 0
    assert programs_cpu_ns([tree]) == 100 * MS
    kernel.fork(5_000_020, 5_000_010, ms=50)
    assert programs_cpu_ns([tree]) == 150 * MS  # a new process is searched for, however short a time ago that was done
    kernel.processes.clear()
    kernel.show()
    assert programs_cpu_ns([tree]) == 150 * MS
    accounts = {7: 70 * MS, 5_000_010: 30 * MS}
    monkeypatch.setattr("tracetax.machine.disturbance.process_cpu_ns", accounts.__getitem__)
    kernel.started.add(5_000_010)
    kernel.fork(5_000_010, ms=100)
    assert programs_cpu_ns([tree, 7, ProcessTree(5_000_010, follow=False)]) == (150 + 70 + 30) * MS


def test_of_two_windows_the_one_in_which_others_took_more_counts() -> None:
    calm, busy = (
        Load(steal=0, other=0.1, seconds=9, throttled_ns=1),
        Load(steal=0.1, other=0.2, seconds=1, throttled_ns=2),
    )
    for both in (combined_load(calm, busy), combined_load(busy, calm)):
        assert (both.steal, both.other, both.throttled_ns, both.disturbed) == (0.1, 0.2, 3, True)


def test_how_busy_the_machine_is_in_words() -> None:
    assert busy_words(1.9) == "1.9 cores are busy with others; disturbed trials will be repeated."
    assert busy_words(1.04).startswith("1.0 core is busy")
