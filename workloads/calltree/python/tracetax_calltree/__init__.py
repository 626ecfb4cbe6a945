"""What the agents trace: one class with one method. Nothing else may live here, for some agents change the module."""

from time import perf_counter_ns


class Monitored:
    """The traced class."""

    def monitored_method(self, method_time_ns: int, depth: int) -> int:
        """Execute itself ``depth`` times, one inside the other; the innermost execution works for ``method_time_ns``.

        With no work to do it still reads the clock twice, as the monitored method of MooBench does. Returns the clock
        at the end of the work, ns.
        """
        if depth > 1:
            return self.monitored_method(method_time_ns, depth - 1)
        begin = perf_counter_ns()
        now = perf_counter_ns()
        while now - begin < method_time_ns:
            now = perf_counter_ns()
        return now
