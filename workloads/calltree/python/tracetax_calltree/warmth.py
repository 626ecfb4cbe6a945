"""Whether calls have become as fast as they get: CPython has no list of compiled code to ask."""

from statistics import median

WINDOW_CALLS = 500
NOTEWORTHY = 0.05
"""Share by which a window must be faster than all before it to count as progress."""
QUIET_WINDOWS = 3
TOP_TIER = 4
"""What is reported once calls are steady, as a compiler's highest tier; before, 0 is."""


class Warmth:
    """Watches the durations of warm-up calls, of the first thread.

    Calls are steady when three windows of 500 calls in a row had no median that was 5 % below the lowest one before.
    Slower windows do not count against it: noise on a shared machine makes calls slower, warming up makes them faster.
    """

    how = "steady-call-time"

    def __init__(self) -> None:
        self._window: list[int] = []
        self._lowest: float | None = None
        self._quiet = 0

    def add(self, duration_ns: int) -> None:
        """Take the next call's duration into account."""
        self._window.append(duration_ns)
        if len(self._window) < WINDOW_CALLS:
            return
        middle = median(self._window)
        self._window.clear()
        if self._lowest is not None:
            self._quiet = self._quiet + 1 if middle > self._lowest * (1 - NOTEWORTHY) else 0
        self._lowest = middle if self._lowest is None else min(self._lowest, middle)

    @property
    def level(self) -> int:
        """Highest tier once steady, 0 before."""
        return TOP_TIER if self._quiet >= QUIET_WINDOWS else 0
