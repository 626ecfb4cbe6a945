"""CPU by thread: what each thread is there for, and nothing left out of the sum."""

import sys
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tracetax.catalog.workload_file import load_workload
from tracetax.machine.threads import Group, Threads, compiling, group_of, peak_rss_bytes, process_clock_ns
from tracetax.process import Process

BURNER = Path(__file__).with_name("burner.py")
WORKLOAD, RUNTIME = load_workload("calltree/java", Path(__file__).resolve().parents[2])
KNOWN = RUNTIME.threads + WORKLOAD.threads


@contextmanager
def burner(*threads: str) -> Generator[Process]:
    """A process with named threads, each of which burns so many ms of CPU when told to, then ends where it says so."""
    command = [sys.executable, str(BURNER), *threads]
    with Process(command, environment={}, stdout=-1, stderr=2) as process:
        assert process.stdout.readline() == b"ready\n"
        yield process


def burn(process: Process) -> int:
    """Let it burn; returns the CPU that it says to have used for it, ns."""
    process.write_line("burn")
    return int(process.stdout.readline())


def tasks(process: Process) -> list[Path]:
    return list(Path(f"/proc/{process.pid}/task").iterdir())


def await_fewer_threads(process: Process, living: int) -> None:
    """Wait until one of so many threads has ended: it says that it is done a moment before it does."""
    deadline = time.monotonic() + 20
    while len(tasks(process)) >= living:
        assert time.monotonic() < deadline, "it does not end"
        time.sleep(0.005)


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("caller-0", "caller"),
        ("caller-11", "caller"),
        ("C2 CompilerThre", "jit"),
        ("C1 CompilerThre", "jit"),
        ("Sweeper thread", "jit"),
        ("GC Thread#3", "gc"),
        ("G1 Refine#0", "gc"),
        ("G1 Conc#0", "gc"),
        ("ZWorkerYoung#0", "gc"),
        ("Shenandoah GC T", "gc"),
        ("RuntimeWorker#0", "gc"),
        ("VM Thread", "gc"),
        ("java", "jvm"),
        ("Signal Dispatch", "jvm"),
        ("Monitor Deflati", "jvm"),
        ("Common-Cleaner", "jvm"),
        ("commands", "jvm"),
        ("BatchSpanProces", "agent"),
        ("pool-1-thread-1", "agent"),
        ("java-exporter", "agent"),
        ("main-writer", "agent"),
        ("", "agent"),
    ],
)
def test_a_thread_belongs_to_a_group_by_its_name(name: str, group: Group) -> None:
    assert group_of(name, KNOWN) == group


def test_the_threads_of_a_process_add_up_to_its_own_clock() -> None:
    with burner("caller-0=200", "C2 CompilerThre=100", "exporter=100") as process:
        threads = Threads(process.pid)
        threads.look()
        burn(process)
        threads.look(names=True)
        total = sum(thread.cpu_ns for thread in threads.seen)
        assert total == pytest.approx(process_clock_ns(process.pid), rel=0.01)
        used: Counter[Group] = Counter()
        for thread in threads.seen:
            used[group_of(thread.name, KNOWN)] += thread.cpu_ns
        assert used["caller"] >= 200e6
        assert 100e6 <= used["jit"] < used["caller"]
        threads.close()


def test_threads_of_further_processes_are_seen_as_those_of_the_first_and_kept_when_they_end() -> None:
    with burner("caller-0=50") as first, burner("exporter=150") as other:
        threads = Threads(first.pid)
        threads.look()
        alone = len(threads.seen)
        burn(first)
        burn(other)
        threads.look((other.pid,), names=True)
        assert len(threads.seen) > alone
        used = {thread.name: thread.cpu_ns for thread in threads.seen}
        assert used["exporter"] >= 150e6
        other.kill()
        threads.look((other.pid,))
        assert {thread.name: thread.cpu_ns for thread in threads.seen}["exporter"] == used["exporter"]
        threads.close()


def test_the_process_clock_says_what_the_kernel_says_at_the_end() -> None:
    with burner("caller-0=200", "exporter=100") as process:
        burn(process)
        clock = process_clock_ns(process.pid)
        assert process.stop().cpu_ns == pytest.approx(clock, rel=0.1)


def test_a_thread_that_has_ended_keeps_what_it_was_last_seen_to_have_used() -> None:
    with burner("caller-0=50:ends") as process:
        threads = Threads(process.pid)
        threads.look()
        threads.look()
        living = len(tasks(process))
        burn(process)
        before = [thread.name for thread in threads.seen]
        await_fewer_threads(process, living)
        threads.look()
        assert [thread.name for thread in threads.seen] == before
        seen = sum(thread.cpu_ns for thread in threads.seen)
        assert process_clock_ns(process.pid) - seen >= 40e6
        threads.close()


def test_a_thread_that_starts_later_is_found_and_gets_its_name() -> None:
    with burner("caller-0=1:later") as process:
        threads = Threads(process.pid)
        threads.look()
        assert "caller-0" not in [thread.name for thread in threads.seen]
        burn(process)
        threads.look()
        threads.look()
        assert "caller-0" in [thread.name for thread in threads.seen]
        threads.close()


def test_threads_beyond_the_files_that_stay_open_are_read_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetax.machine.threads.KEPT_FILES", 1)
    with burner("caller-0=20", "caller-1=20") as process:
        threads = Threads(process.pid)
        threads.look()
        burn(process)
        threads.look()
        assert sum(thread.cpu_ns for thread in threads.seen if thread.name.startswith("caller")) >= 40e6
        threads.close()


def test_a_process_that_is_gone_cannot_be_looked_at() -> None:
    with burner("caller-0=1") as process:
        threads = Threads(process.pid)
        threads.look()
    with pytest.raises(OSError, match="No such"):
        threads.look()
    with pytest.raises(OSError, match=r"Invalid|No such"):
        process_clock_ns(process.pid)
    assert peak_rss_bytes(process.pid) == 0


def test_the_peak_of_memory_is_that_of_the_process() -> None:
    with burner("caller-0=1") as process:
        assert 2 << 20 < peak_rss_bytes(process.pid) < 1 << 30


def test_the_work_of_the_compilers_is_told_apart_from_that_of_others() -> None:
    with burner("C2 CompilerThre=300", "C1 CompilerThre=0", "caller-0=300") as process:
        assert not compiling(process.pid, KNOWN).wanted
        before = compiling(process.pid, KNOWN).cpu_ns
        process.write_line("burn")
        deadline = time.monotonic() + 20
        while not compiling(process.pid, KNOWN).wanted:
            assert time.monotonic() < deadline, "it is not seen at work"
        used = int(process.stdout.readline())
        while (work := compiling(process.pid, KNOWN)).wanted:
            assert time.monotonic() < deadline, "it never rests"
        assert 0.25e9 < work.cpu_ns - before < 0.7 * used
    assert compiling(process.pid, KNOWN).cpu_ns == 0
