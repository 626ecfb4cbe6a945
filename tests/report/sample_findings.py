"""Synthetic findings with realistic values: what ``quick`` finds on a 2-core machine, every kind of row included."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

from msgspec.structs import replace

from tracetax.kinds.calltree import TreeParameters
from tracetax.results.findings import (
    AABand,
    ConfigurationFinding,
    ExperimentFinding,
    Findings,
    Measure,
    MeasureName,
    PartFinding,
    Records,
    Statement,
)
from tracetax.results.records import Verdict
from tracetax.results.runtime import RuntimeFinding

GIB = 1024**3
JAVA = RuntimeFinding(
    key="java",
    name="Java",
    process="JVM",
    settings={"jdk": "release", "heap": "size", "collector": "choice"},
    threads=("jit", "gc", "own"),
)
RATE = TreeParameters(calls=30_000, depth=10, rate=1000.0)
FULL_SPEED = TreeParameters(calls=500_000, depth=10)
PARAMETERS = {"at-rate": RATE, "full-speed": FULL_SPEED} | {
    f"rate-{rate}": TreeParameters(calls=30_000, depth=10, rate=float(rate)) for rate in (1_000, 4_000, 16_000)
}
TITLES = {"at-rate": "At a service's rate", "full-speed": "At full speed"}
T_5 = 2.776
RUN = "2026-11-20-quick-7f3a"

NOTHING_RECORDED = Verdict(
    code="nothing-recorded",
    severity="error",
    text="Promised 5,000,000 records per block and delivered none in 5 of 5 blocks: its include pattern did not match "
    "tracetax.calltree.MonitoredClass.monitoredMethod. See logs/0041/stderr.txt.",
)


@dataclass(frozen=True)
class Sample:
    """The few numbers that one row is made from. Times in ns; overhead per invocation."""

    part: str
    agent: str
    configuration: str
    title: str
    overhead_ns: float = 0.0
    half_width_ns: float = 0.0
    p99_ns: float = 0.0
    delivery: str = "none"
    profile: str | None = None
    layers: tuple[str, ...] = ("T", "I")
    completeness: float = 1.0
    rank: int | None = None
    deferred: bool = False
    heap_bytes: int = GIB
    labels: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    carried_per_second: float | None = None
    missing_silently: int = 0
    unexpected: int = 0
    agent_cpu: float = 0.3
    """CPU of the agent's own threads, as a share of the overhead."""


NAMES = {"none": "No agent", "kieker": "Kieker", "opentelemetry": "OpenTelemetry"}
VERSIONS = {"none": "", "kieker": "2.0.2", "opentelemetry": "2.33.1"}
SHA256 = {"none": "", "kieker": "5f0c" * 16, "opentelemetry": "b71e" * 16}
BASELINE_CALL_NS = dict.fromkeys(PARAMETERS, (142.0, 6.0)) | {"full-speed": (64.1, 0.8)}

ALL_LAYERS = ("T", "I", "C", "W")
SAMPLES = (
    Sample("at-rate", "none", "baseline", "no instrumentation", p99_ns=310),
    Sample(
        "at-rate", "kieker", "binary-tcp", "binary TCP", 412.3, 11.2, 18_400, "complete",
        "stock", ALL_LAYERS, rank=1, carried_per_second=10_000, unexpected=5,
    ),
    Sample(
        "at-rate", "opentelemetry", "otlp", "OTLP, as shipped", 871.4, 19.3, 53_100, "lossy",
        "stock", ALL_LAYERS, rank=2, carried_per_second=10_000, labels=("two-regimes",),
    ),
    Sample("at-rate", "kieker", "deactivated", "deactivated", 2.1, 8.4, 330, labels=("within-aa-band",)),
    Sample("at-rate", "opentelemetry", "sampler-off", "sampler always off", 96.0, 7.7, 2_440),
    Sample("full-speed", "none", "baseline", "no instrumentation", p99_ns=90),
    Sample("full-speed", "none", "baseline", "no instrumentation", p99_ns=90, heap_bytes=6 * GIB),
    Sample(
        "full-speed", "kieker", "binary-tcp", "binary TCP", 147.21, 2.13, 3_480, "complete",
        "stock", ALL_LAYERS, rank=1, carried_per_second=5_920_000, unexpected=5,
    ),
    Sample(
        "full-speed", "opentelemetry", "otlp-lossless", "OTLP, queue as large as the run", 301.5, 8.84, 19_900,
        "complete", "lossless", ALL_LAYERS, rank=2, deferred=True, heap_bytes=6 * GIB, carried_per_second=412_000,
        labels=("not-settled",), agent_cpu=2.0,
    ),
    Sample(
        "full-speed", "opentelemetry", "otlp", "OTLP, as shipped", 289.4, 4.02, 9_130, "lossy",
        "stock", ALL_LAYERS, completeness=0.0203, carried_per_second=66_700, missing_silently=0,
    ),
    Sample("full-speed", "kieker", "deactivated", "deactivated", 0.61, 0.53, 110, labels=("within-aa-band",)),
    Sample("full-speed", "kieker", "no-collection", "no collection", 82.4, 1.22, 1_310, layers=("T", "I", "C")),
    Sample(
        "full-speed", "opentelemetry", "no-export", "spans created, none exported", 188.6, 3.1, 6_020,
        layers=("T", "I", "C"),
    ),
    Sample(
        "full-speed", "opentelemetry", "otlp-grpc", "OTLP over gRPC", delivery="lossy", profile="stock",
        layers=ALL_LAYERS, completeness=0.0, verdicts=(NOTHING_RECORDED,),
    ),
)  # fmt: skip


def many_samples(configurations: int = 25) -> tuple[Sample, ...]:
    """The rows of a large run: so many configurations at three rates; every fifth drops at the highest."""
    rows: list[Sample] = []
    for place, part in enumerate(("rate-1000", "rate-4000", "rate-16000")):
        rows.append(Sample(part, "none", "baseline", "no instrumentation", p99_ns=310))
        for number in range(configurations):
            drops = place == 2 and number % 5 == 4
            cost = (200 + 80 * number) * (1 + 0.2 * place)
            rows.append(
                Sample(
                    part, "kieker" if number % 2 else "opentelemetry", f"writer-{number}", f"writer {number}", cost,
                    cost * 0.02, cost * 40, "lossy", "stock", ALL_LAYERS, 0.4 if drops else 1.0,
                    None if drops else number + 1, carried_per_second=9_000,
                )
            )  # fmt: skip
    return tuple(rows)


def sample_findings(*, blocks: int = 5, result: bool = True, samples: tuple[Sample, ...] = SAMPLES) -> Findings:
    """The findings of a ``quick`` run; with fewer than 10 blocks it is indicative."""
    indicative = blocks < 10
    parts = dict.fromkeys(sample.part for sample in samples)
    return Findings(
        schema_version=1,
        tool_version="0.1.0",
        experiment=ExperimentFinding(
            key="quick",
            title="What tracing costs on the JVM call tree",
            workload="calltree/java",
            paper=None,
            result=result,
            seed=20261120,
            run=RUN,
            command=("./tracetax", "run"),
            started_at="2026-11-20T09:14:02+00:00",
            runtime=JAVA,
            parts=tuple(
                PartFinding(
                    part,
                    TITLES.get(part, part),
                    PARAMETERS[part],
                    blocks,
                    "max-blocks" if part == "full-speed" else "budget",
                    indicative,
                )
                for part in parts
            ),
        ),
        machine=MACHINE,
        aa=(
            *(AABand(part, GIB, blocks, 90.0, 0.061) for part in parts if part != "full-speed"),
            AABand("full-speed", GIB, blocks, 6.2, 0.021),
            AABand("full-speed", 6 * GIB, blocks, 9.1, 0.028),
        ),
        configurations=tuple(finding(sample, blocks) for sample in samples),
        statements=STATEMENTS,
        verdicts=(
            Verdict(
                "two-cores", "warning", "2 cores: the agent's own threads compete with the calls. A demonstration."
            ),
        ),
    )


def finding(sample: Sample, blocks: int = 5) -> ConfigurationFinding:
    """One row from its few numbers."""
    parameters = PARAMETERS[sample.part]
    return ConfigurationFinding(
        agent=sample.agent,
        agent_name=NAMES[sample.agent],
        version=VERSIONS[sample.agent],
        artifact_sha256=SHA256[sample.agent],
        configuration=sample.configuration,
        title=sample.title,
        profile=sample.profile,
        delivery=sample.delivery,
        layers=sample.layers,
        part=sample.part,
        parameters=parameters,
        heap_bytes=sample.heap_bytes,
        records=records(sample, blocks),
        verdicts=sample.verdicts,
        measures=() if sample.verdicts else measures(sample, blocks),
        rank=sample.rank,
        ranks={"cpu": sample.rank, "overhead": sample.rank} if sample.rank else {},
        deferred=sample.deferred,
    )


def records(sample: Sample, blocks: int) -> Records:
    """The account of a row's records over all blocks."""
    parameters = PARAMETERS[sample.part]
    promised = sample.delivery != "none"
    expected = parameters.calls * parameters.depth * blocks if promised else 0
    received = round(expected * sample.completeness)
    call_ns = sum(BASELINE_CALL_NS[sample.part][:1]) + sample.overhead_ns * parameters.depth
    per_second = 10_000.0 if parameters.rate != "full" else 1e9 * parameters.depth / call_ns
    trees = round(received / parameters.depth * 0.97) if received < expected else received // parameters.depth
    return Records(
        expected=expected,
        received=received,
        dropped_reported=max(0, expected - received - sample.missing_silently) if not sample.verdicts else 0,
        completeness=received / expected if expected else None,
        expected_trees=parameters.calls * blocks if promised else 0,
        complete_trees=trees,
        partial_trees=(received - trees * 10) // 4,
        orphans=(received - trees * 10) // 5,
        duplicates=0,
        unexpected_names=sample.unexpected,
        unexpected={"tracetax.calltree.MonitoredClass.<init>()": sample.unexpected} if sample.unexpected else {},
        malformed=0,
        evicted=0,
        bytes=received * 143,
        blocks_incomplete=blocks if received < expected else 0,
        blocks=blocks,
        offered_per_second=per_second if promised and not sample.verdicts else None,
    )


def measures(sample: Sample, blocks: int) -> tuple[Measure, ...]:
    """The measures of a row: service time, percentiles, and for an agent its overhead."""
    base, base_margin = BASELINE_CALL_NS[sample.part]
    depth = PARAMETERS[sample.part].depth
    call = base + sample.overhead_ns * depth
    margin = sample.half_width_ns * depth or base_margin
    shared = ("indicative",) * (blocks < 10)

    def of(
        name: MeasureName, estimate: float, half_width: float, *, unit: Any = "ns", per: Any = "call",
        paired: str | None = None, labels: tuple[str, ...] = (),
    ) -> Measure:  # fmt: skip
        sd = half_width * sqrt(blocks) / T_5
        return Measure(
            name,
            unit,
            per,
            estimate,
            sd,
            (estimate - half_width, estimate + half_width),
            blocks,
            paired,
            shared + labels,
        )

    rows = [
        of("service_time", call, margin),
        of("service_time_median", call * 0.78, max(5.0, margin * 0.6)),
        of("service_time_p90", call * 1.2, max(5.0, margin)),
        of("service_time_p99", sample.p99_ns, max(5.0, sample.p99_ns * 0.08)),
        of("service_time_p99_9", sample.p99_ns * 3.1, sample.p99_ns * 0.4),
        of("service_time_max", sample.p99_ns * 410, sample.p99_ns * 90),
        of("allocation", sample.overhead_ns * 4.2, 0.0, unit="bytes"),
    ]
    if sample.part != "full-speed":
        rows += [
            of("response_time", call + 90, margin),
            of("response_time_median", call * 0.8 + 70, 12),
            of("response_time_p99", sample.p99_ns * 1.3, sample.p99_ns * 0.1),
            of("response_time_p99_9", sample.p99_ns * 4.4, sample.p99_ns * 0.6),
            of("lateness_median", 70, 5),
            of("lateness_p99", 4_300, 600),
        ]
    if sample.agent != "none":
        rows += [
            of("overhead", sample.overhead_ns * depth, margin, paired="baseline", labels=sample.labels),
            of(
                "overhead",
                sample.overhead_ns,
                margin / depth,
                per="invocation",
                paired="baseline",
                labels=sample.labels,
            ),
            of("overhead_ratio", call / base, margin / base, unit="1", per="", paired="baseline", labels=sample.labels),
            *cpu_measures(of, sample),
        ]
    if sample.carried_per_second:
        rows.append(
            of("delivery_rate", sample.carried_per_second, sample.carried_per_second * 0.03, unit="1/s", per="")
        )
    rows += footprint_measures(of, sample)
    return tuple(replace(row, n_blocks=1, sd=None, ci95=None) if row.name in ONE_TRIAL else row for row in rows)


ONE_TRIAL = ("heap_live", "rss_peak")


def cpu_measures(of: Any, sample: Sample) -> list[Measure]:
    """CPU of all threads with its parts; compiling, a little less than the baseline's, is a negative part."""
    caller, agent = sample.overhead_ns, sample.overhead_ns * sample.agent_cpu * ("W" in sample.layers)
    jit, gc = -0.02 * sample.overhead_ns, 0.06 * sample.overhead_ns
    parts: list[tuple[MeasureName, float]] = [
        ("cpu", (caller + agent + jit + gc) * 1.01), ("cpu_caller", caller), ("cpu_agent", agent), ("cpu_jit", jit),
        ("cpu_gc", gc),
    ]  # fmt: skip
    per = [("invocation", 1.0)]
    if sample.delivery != "none" and sample.completeness:
        per.append(("record", sample.completeness))
    found = [
        of(name, value / share, max(0.4, sample.half_width_ns * 1.2) / share, per=each, paired="baseline")
        for each, share in per
        for name, value in parts
    ]
    return [*found, of("cpu_waiting", 0.004, 0.001, unit="1", per="")]


def footprint_measures(of: Any, sample: Sample) -> list[Measure]:
    """Memory, start-up, drain and bytes."""
    agent = sample.agent != "none"
    rows = [
        of("heap_live", 3.1e6 + agent * 21e6, 0, unit="bytes", per=""),
        of("rss_peak", 96e6 + agent * 118e6, 0, unit="bytes", per=""),
        of("startup_main", 4.1e7 + agent * 6.4e8, 6e6, per=""),
        of("startup_first_call", 6.3e7 + agent * 7.9e8, 8e6, per=""),
        of("service_time_second_half", 64.9 + sample.overhead_ns * 10, 2.0),
    ]
    if sample.delivery != "none":
        rows += [
            of("drain_time", 9.4e9 if sample.deferred else 4.1e6, 3e8 if sample.deferred else 4e5, per=""),
            of("bytes", 143.0, 0.0, unit="bytes", per="record"),
        ]
    return rows


def with_row(findings: Findings, **changes: Any) -> Findings:
    """The findings with one more row at full speed: Kieker's ``binary-tcp`` with ``changes``."""
    model = next(row for row in findings.configurations if row.part == "full-speed" and row.agent == "kieker")
    return replace(findings, configurations=(*findings.configurations, replace(model, **changes)))


STATEMENTS = (
    Statement(
        "rate-comparison",
        "At 10,000 invocations per second Kieker and OpenTelemetry both deliver everything. OpenTelemetry, as shipped, "
        "takes 0.46 ± 0.02 µs more per invocation than Kieker.",
        ("at-rate/kieker/binary-tcp", "at-rate/opentelemetry/otlp"),
    ),
    Statement(
        "carries-opentelemetry-otlp",
        "OpenTelemetry, OTLP, as shipped, delivers everything up to 66,700 ± 2,000 spans per second on this machine; "
        "above that it drops by design.",
        ("full-speed/opentelemetry/otlp",),
    ),
)

MACHINE: dict[str, Any] = {
    "cpu": "AMD EPYC 9654 96-Core Processor",
    "cores": 2,
    "memory_bytes": 23 * GIB,
    "kernel": "Linux 6.18.2",
    "clock_source": "tsc",
    "governor": None,
    "turbo": None,
    "smt": True,
    "numa_nodes": 1,
    "virtualised": "kvm",
    "load": [0.21, 0.30, 0.18],
    "cgroup": {"cpu_max": "max", "memory_max_bytes": 23 * GIB},
    "mitigations": {"spectre_v2": "Mitigation: Retpolines", "meltdown": "Not affected"},
    "java": "OpenJDK 17.0.15+6",
}
