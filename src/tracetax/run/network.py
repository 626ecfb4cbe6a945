"""Records that an agent sends: awaited, counted and settled at the receiver while the workload runs."""

import time
from collections.abc import Callable

from tracetax.companions.receiver import Counts, PhaseReport, Receiver
from tracetax.model import Delivery
from tracetax.run.context import MEASURED, TrialContext
from tracetax.run.drain import Awaited, Drained, drain
from tracetax.run.drops import DropLog

POLL_SECONDS = 0.001


class NetworkRecords:
    """The records of one trial, which its agent sends to the receiver."""

    sent_during_calls = True

    def __init__(self, context: TrialContext) -> None:
        """Nothing is asked of the receiver yet."""
        self._context = context
        limits = context.limits
        quiet_ns = context.config.flush_interval_ns + round(limits.quiet * 1e9)
        self.arrivals = ReceiverArrivals(context.receiver, context.drops, quiet_ns, round(limits.connect * 1e9))
        self._arrived_at_last_call = 0
        self._arrived_at_drained = 0

    def connect(self) -> None:
        """Nothing is left to wait for: who sends records has connected in the warm-up, or never will."""

    def close_warm_up(self, records: int) -> PhaseReport | None:
        """Close the account of the warm-up now, or at its last record where the agent holds some back until its end."""
        if self._context.delivers and self._context.config.held_until_exit > 0:
            self._context.receiver.next_phase_after(records, MEASURED)
            return None
        return self._context.receiver.next_phase(MEASURED)

    def look_at_last_call(self) -> None:
        """Note what the receiver has when the last call has returned."""
        self._arrived_at_last_call = _of_calls(self._context.receiver.counts())

    def settle(self, dropped_before: int, last_call_ns: int, agent_cores: Callable[[], float]) -> Drained:
        """Wait until received + reported drops = expected, or the receiver has been quiet for long enough."""
        trial = self._context
        expected = 0 if trial.parameters.calls_vary else trial.expected
        unknown = not expected and trial.config.delivery in (Delivery.COMPLETE, Delivery.LOSSY)
        awaited = Awaited(MEASURED, expected, dropped_before, last_call_ns, unknown)
        return drain(trial.receiver, trial.drops, trial.config, awaited, trial.limits, agent_cores, trial.watch)

    def look_at_drained(self) -> None:
        """Note what the receiver has when nothing more is to come."""
        self._arrived_at_drained = _of_calls(self._context.receiver.counts())

    def ask_last(self) -> None:
        """Nothing: what is sent needs no asking."""

    def count(self, warm_up_records: int) -> None:
        """Nothing is left to count: the receiver has counted what it took."""

    def arrived(self, before: PhaseReport, measured: PhaseReport) -> tuple[int, int]:
        """What was noted at both moments, whatever came later."""
        del before, measured
        return self._arrived_at_last_call, self._arrived_at_drained


class ScrapedRecords(NetworkRecords):
    """Calls that an agent counts in its metrics, for which the receiver asks: nothing travels while the calls run."""

    sent_during_calls = False

    def connect(self) -> None:
        """Wait until the agent has served its metrics for the first time."""
        self._context.watch("warmed up, waiting for its metrics")
        self._context.receiver.await_answer(self._context.limits.metrics)

    def ask_last(self) -> None:
        """Ask for the metrics once more: what the measured calls added must have been read."""
        self._context.receiver.scrape_last()

    def arrived(self, before: PhaseReport, measured: PhaseReport) -> tuple[int, int]:
        """None by either moment: what was read then are counts, not records that had travelled."""
        del before, measured
        return 0, 0


def _of_calls(counts: Counts) -> int:
    """Records of the measured calls; 0 while the account of the warm-up is still open."""
    return counts.records if counts.phase == MEASURED else 0


class ReceiverArrivals:
    """Waits for records at the receiver, and learns from waiting in vain.

    What is missing after a full quiet wait is written off: the next wait is not for it. After ``PATIENCE`` such waits,
    or where nothing at all has arrived for long, bursts are not awaited any more; the verdict on the loss comes later.
    """

    PATIENCE = 3

    def __init__(self, receiver: Receiver, drops: DropLog, quiet_ns: int, connect_ns: int = 0) -> None:
        """``quiet_ns``: silence after which nothing more is expected; ``connect_ns``: how long an agent may take from
        the first wait on until something of it arrives."""
        self._receiver = receiver
        self._drops = drops
        self._quiet_ns = quiet_ns
        self._connect_ns = connect_ns
        self._written_off = 0
        self._in_vain = 0
        self._first_ns = 0
        self.seen = False

    @property
    def given_up(self) -> bool:
        """Whether waiting has become pointless."""
        if self.seen:
            return self._in_vain >= self.PATIENCE
        return self._in_vain > 0 and time.monotonic_ns() - self._first_ns > self._connect_ns

    def wait(self, target: int, *, last: bool = False) -> None:
        """Wait until ``target`` records have arrived or been dropped, less what is written off.

        The ``last`` wait is made in any case: after it the account of the warm-up is closed. It is for every record,
        since one that was written off may only have been late, and must not stand in for another.
        """
        since = time.monotonic_ns()
        self._first_ns = self._first_ns or since
        while last or not self.given_up:
            counts = self._receiver.counts()
            if counts.records > 0 and not self.seen:
                self.seen, self._in_vain = True, 0
            missing = target - counts.records - self._drops.total()
            if missing <= (0 if last else self._written_off):
                return
            if time.monotonic_ns() - max(since, counts.last_arrival_ns) > self._quiet_ns:
                self._written_off = missing
                self._in_vain += 1
                return
            time.sleep(POLL_SECONDS)
