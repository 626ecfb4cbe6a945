"""When a run stops, and what it does beside its blocks: the schedule of an experiment."""

from msgspec import Struct

ENOUGH_STARTS = 36
"""Of so many, one at least is slow with a chance of 97.7 % where one in ten is, of 84 % where one in twenty is."""


class Schedule(Struct, frozen=True):
    """When a run stops: the narrowness asked for, and the bounds on blocks and time."""

    min_blocks: int = 10
    max_blocks: int = 30
    half_width_ratio: float = 0.01
    half_width_ns: float = 2.0
    budget_ns: int = 2 * 3600 * 10**9
    memory: bool = True
    """Whether each configuration gets an extra trial after its last block, in which memory is measured."""
    starts: int | None = None
    """Starts of each configuration that its regimes are judged by, those of blocks included; None: as many as the stop
    rule's default where the number of blocks may vary, else those of its blocks alone."""

    min_calls: int | None = None
    max_calls: int | None = None
    """Bounds within which the calls of a configuration's starts are chosen after its first blocks; both None: the
    experiment's calls hold."""

    @property
    def starts_wanted(self) -> int:
        """Starts to be known of each configuration; 0 where those of its blocks are enough."""
        usual = ENOUGH_STARTS if self.min_blocks < self.max_blocks else 0
        return usual if self.starts is None else self.starts
