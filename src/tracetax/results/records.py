"""What a finished trial leaves behind: ``trials/<n>/record.json``."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from tracetax.kinds import AnyParameters
from tracetax.ledger import Ledger
from tracetax.model import BASELINE, Use

Role = Literal["baseline-1", "baseline-2", "configuration", "memory", "further", "calibration"]
"""``memory`` is the extra trial of a configuration, small heap and nothing touched beforehand, whose times count for
nothing. ``further`` is a start of it alone, whose time only says whether it was slow. ``calibration`` comes before all
others, where it must be learned how many records a call makes."""
OUTSIDE_BLOCKS: tuple[Role, ...] = ("memory", "further", "calibration")
BASELINES: tuple[Role, Role] = ("baseline-1", "baseline-2")


class Cell(Struct, frozen=True):
    """What a trial measures, and the key by which trials are found: a configuration of a part, its heap, its role.

    Whatever else makes two trials different measurements (a workload, its language) is a field here or in ``Use``.
    """

    part: str
    use: Use
    heap_bytes: int
    role: Role = "configuration"

    @property
    def label(self) -> str:
        """The cell in words, for progress and messages."""
        return "baseline" if self.is_baseline else str(self.use)

    @property
    def is_baseline(self) -> bool:
        """Whether it is the workload without an agent, with which everything is compared."""
        return self.use == BASELINE

    @property
    def row(self) -> "Cell":
        """The cell without its role, which stands for all its trials: a row of the report."""
        return self.playing("configuration")

    def playing(self, role: Role) -> "Cell":
        """The same configuration in another role."""
        return replace(self, role=role)

    def baseline(self, role: Role) -> "Cell":
        """The baseline of the same part with the same heap, in a role."""
        return replace(self, use=BASELINE, role=role)


Severity = Literal["error", "warning", "note"]


class Verdict(Struct, frozen=True):
    """A judgement on a trial or a configuration, with the sentence that explains it to a reader."""

    code: str
    """Kebab-case, listed in docs/verdicts.md, for example ``nothing-recorded``."""
    severity: Severity
    text: str


class WarmUp(Struct, frozen=True):
    """How the workload became warm, and how that was known."""

    calls: int
    bursts: int
    how: str
    driver_level: int
    method_level: int
    ledger: Ledger
    rest_ns: int = 0
    """How long the runtime's compilers were waited for after the last burst."""
    rest_compiling_ns: int = 0
    """CPU that the compilers used during that wait."""
    at_rest: bool = True
    """Whether the compilers got done; False where the longest wait ended first."""


class Moments(Struct, frozen=True):
    """When things happened, CLOCK_MONOTONIC nanoseconds; 0 where the trial did not get that far."""

    spawned: int
    main: int = 0
    ready: int = 0
    first_monitored: int = 0
    """When the first call into the monitored method, the warm-up's first, had returned."""
    warm: int = 0
    first_call: int = 0
    last_call: int = 0
    drained: int = 0
    exited: int = 0


class Disturbance(Struct, frozen=True):
    """What else the machine did from the start of the workload until it was drained, in cores unless named.

    Where the program was built in the trial, that of the build instead if others took more then.
    """

    steal: float
    other_cpu: float
    tool_cpu: float
    """The tool's own CPU between first and last call."""
    sink_cpu_ns: int
    pressure_cpu_avg10: float
    disturbed: bool
    interrupts: float = 0.0
    """CPU in interrupts, the trial's own loopback traffic included; it belongs to no process and marks nothing."""
    kernel_threads: float = 0.0
    """CPU of the kernel's own threads, which write files back among others; it marks nothing either."""
    throttled_ns: int = 0
    """For how long the control groups' quota stopped the processes."""
    swapped_bytes: int = 0
    involuntary_switches: int = 0
    """Of the workload's process over its life: how often a thread lost its processor although it had more to do."""


class SteadyPart(Struct, frozen=True):
    """Which bins a trial's value is taken from (Barrett et al. 2017)."""

    kind: Literal["flat", "warm-up", "slow-down", "no-steady-state"]
    first_bin: int
    bins: int
    change_points: tuple[int, ...]


class Durations(Struct, frozen=True):
    """Durations of calls in the steady part, ns."""

    mean: float
    median: float
    p90: float
    p99: float
    p999: float
    max: float
    count: int


class CpuTimes(Struct, frozen=True):
    """CPU of the workload's process by group of threads, ns."""

    caller: int
    agent: int
    """Every thread that is none of the others: the agent's, and what it starts."""
    jit: int
    gc: int
    """Garbage collection, the VM's operation thread included, which does a part of it."""
    jvm: int
    """The runtime's own further threads, and the driver's that waits for commands; called so when Java was alone."""
    ended: int
    """What the clocks of the processes say beyond their living threads: threads and processes that had ended."""

    @property
    def total(self) -> int:
        """CPU of all threads of the workload's processes, ns."""
        return self.caller + self.agent + self.jit + self.gc + self.jvm + self.ended


class CpuAccount(Struct, frozen=True):
    """What a trial cost in CPU, from the samples of its threads' clocks (``schedstat``)."""

    to_last_call: CpuTimes
    """From the first call to the last."""
    to_drained: CpuTimes
    """From the first call until the last record had arrived; what is charged."""
    waiting_cores: float | None
    """CPU per second in the quiet wait after that, all threads, in cores; None where there was no wait."""
    threads: dict[str, int]
    """CPU of the busiest threads by name from first call to drained, ns."""


class HeapUse(Struct, frozen=True):
    """The heap from the first call to the last, by what the runtime tells of each collection."""

    mean_bytes: float
    """Used heap, mean over time."""
    cv: float | None
    """Standard deviation of the used heap over time ÷ its mean; None where nothing is used."""
    collections: int
    pause_ns: int
    """All pauses of collections together; the runtime may tell each in whole ms."""
    longest_pause_ns: int


class SingleCalls(Struct, frozen=True):
    """Calls of one sort that were made one by one, and the records that came of them."""

    sort: str
    calls: int
    records: int
    scopes: dict[str, int] = {}
    """The records by what has made them, where the protocol tells."""


class Building(Struct, frozen=True):
    """What building the program of a trial took: its processes together, one after the other."""

    wall_ns: int
    cpu_ns: int
    """CPU of the processes, all threads, from wait4."""
    commands: tuple[tuple[str, ...], ...]


class TrialRecord(Struct, frozen=True):
    """One trial: what was done, what came of it."""

    number: int
    block: int
    block_size: int
    """Trials that its block consists of, repetitions not counted: tells a whole block from an interrupted one."""
    cell: Cell
    parameters: AnyParameters
    attempt: int
    status: Literal["ok", "failed"]
    verdicts: tuple[Verdict, ...]
    command: tuple[str, ...]
    environment: dict[str, str]
    started_at: str
    moments: Moments
    warm_up: WarmUp | None = None
    ledger: Ledger | None = None
    arrived_by_last_call: int = 0
    """Records of the measured calls that the sink had when it was asked right after the last call."""
    arrived_asked_ns: int = 0
    """When the sink was asked for ``arrived_by_last_call``, CLOCK_MONOTONIC."""
    steady: SteadyPart | None = None
    service: Durations | None = None
    """Start to end of a call."""
    response: Durations | None = None
    """Intended start to end of a call; only at a rate."""
    lateness: Durations | None = None
    """Intended to real start; only at a rate."""
    inside: Durations | None = None
    """How long the work of a call took by itself, where the program tells it."""
    marks: dict[str, int] = {}
    """Moments of the program's start that it tells, CLOCK_MONOTONIC ns, by their names."""
    stopped_ns: int = 0
    """When the program was stopped after its last call, to be killed later; 0 where it ended in order."""
    second_half_mean_ns: float | None = None
    """Mean service time of the second half of each thread's calls, steady or not: MooBench's estimator."""
    in_calls_ns: int | None = None
    """Sum of all service times: the time that the callers spent inside their calls."""
    cpu: CpuAccount | None = None
    rss_peak_bytes: int = 0
    """Most memory that the workload's process had resident until its records had arrived; of several processes what
    they had then, shared pages in parts."""
    allocated_bytes_per_call: float | None = None
    clock_resolution_ns: float | None = None
    clock_read_ns: float | None = None
    disturbance: Disturbance | None = None
    snapshots: dict[str, dict[str, float]] = {}
    jvm_flags: str = ""
    versions: dict[str, str] = {}
    exit_status: int | None = None
    exit_cpu_ns: int = 0
    """CPU of the workload's process over its life, from wait4."""
    exit_max_rss_bytes: int = 0
    receiver_cpu_ns: int = 0
    """CPU of the sink or the backend, all its threads, from the first call until drained; 0 where records reach it
    only afterwards."""
    stores_cpu_ns: int = 0
    """CPU of what the program keeps its data in, from the first call until drained."""
    load_cpu_ns: int = 0
    """CPU of what calls the program, from the first call to the last; 0 where it calls itself."""
    heap: HeapUse | None = None
    building: Building | None = None
    """Where the program was built in the trial, before it was started."""
    singles: tuple[SingleCalls, ...] = ()
    """Where calls were made one by one before the measured ones: how many records each sort made."""
