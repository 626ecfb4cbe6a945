"""A program of several processes that burn known amounts of CPU: ``family.py SCENARIO [cgroup.procs]``.

It enters the control group if one is named, says ``ready``, plays its scenario when told to, says ``done``, and ends
when its input does.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path


def burn(ms: int) -> None:
    """Use so much more CPU in this process."""
    end = time.process_time_ns() + ms * 1_000_000
    while time.process_time_ns() < end:
        pass


def child(work: Callable[[], object]) -> int:
    """Fork a process that does this and ends."""
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    return pid


def wait_for(*pids: int) -> None:
    for pid in pids:
        os.waitpid(pid, 0)


def one_after_the_other(count: int, ms: int) -> None:
    for _ in range(count):
        wait_for(child(lambda: burn(ms)))


def with_a_child() -> None:
    burn(60)
    wait_for(child(lambda: burn(80)))
    burn(20)


def executed_anew() -> None:
    """The same process becomes another program in the middle of its work."""
    burn(100)
    os.execv(sys.executable, [sys.executable, "-S", __file__, "burn"])


def daemon(stays: bool, done: int) -> None:
    """Leave session and parent; the process that began it is waited for at once."""

    def work() -> None:
        burn(150)
        os.close(done)
        if stays:
            time.sleep(600)

    os.setsid()
    child(work)


def mixed() -> None:
    """Everything at a time: about 1.5 s of CPU."""
    over, done = os.pipe()
    wait_for(child(lambda: daemon(False, done)), child(lambda: daemon(True, done)))
    several = [child(with_a_child) for _ in range(3)]
    several += [child(lambda: one_after_the_other(30, 10)), child(executed_anew)]
    burn(50)
    wait_for(*several)
    os.close(done)
    os.read(over, 1)
    child(lambda: burn(40))  # nobody waits for this one


def ignoring() -> None:
    """Children of which the kernel gives the CPU to nobody."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    several = [child(lambda: burn(300)) for _ in range(3)]
    for pid in several:
        try:
            os.waitpid(pid, 0)
        except ChildProcessError:
            continue


def living() -> None:
    """A child and its child that go on living."""
    over, done = os.pipe()

    def work(ms: int, then: Callable[[], object]) -> None:
        burn(ms)
        then()
        time.sleep(600)

    def close() -> None:
        os.close(done)

    child(lambda: work(100, lambda: child(lambda: work(60, close)) and close()))
    os.close(done)
    os.read(over, 1)


SCENARIOS = {"mixed": mixed, "ignoring": ignoring, "living": living}


def main() -> None:
    scenario, *groups = sys.argv[1:]
    if scenario == "burn":
        burn(100)
        return
    for group in groups:
        Path(group).write_text("0")
    print("ready", flush=True)
    sys.stdin.readline()
    SCENARIOS[scenario]()
    print("done", flush=True)
    sys.stdin.read()


main()
