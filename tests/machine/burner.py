"""A process with named threads that burn a known amount of CPU: ``NAME=MS``, with ``:ends`` or ``:later`` behind."""

import ctypes
import sys
import threading
import time

SET_NAME = 15
libc = ctypes.CDLL(None)
go, done = threading.Event(), threading.Semaphore(0)
used: list[int] = []


def work(name: str, ms: int, ends: bool) -> None:
    libc.prctl(SET_NAME, name.encode(), 0, 0, 0)
    done.release()
    go.wait()
    end = time.thread_time_ns() + ms * 1_000_000
    while time.thread_time_ns() < end:
        pass
    done.release()
    if not ends:
        threading.Event().wait()


def start(later: bool) -> int:
    """Start the threads that are to be there from the beginning, or the others; returns how many."""
    count = 0
    for word in sys.argv[1:]:
        name, _, rest = word.partition("=")
        ms, _, how = rest.partition(":")
        if (how == "later") is later:
            threading.Thread(target=work, args=(name, int(ms), how == "ends"), daemon=True).start()
            done.acquire()
            count += 1
    return count


count = start(later=False)
print("ready", flush=True)
sys.stdin.readline()
begun = time.process_time_ns()
count += start(later=True)
go.set()
for _ in range(count):
    done.acquire()
print(time.process_time_ns() - begun, flush=True)
sys.stdin.read()
