"""What only the program itself can see, at one moment."""

import gc
from time import monotonic_ns, process_time_ns


def snapshot() -> dict[str, int]:
    """Clock and counters: CPU of the whole process, ns, and collections of reference cycles."""
    collections = sum(generation["collections"] for generation in gc.get_stats())
    return {"monotonic_ns": monotonic_ns(), "process_cpu_ns": process_time_ns(), "gc_count": collections}
