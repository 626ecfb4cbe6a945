"""The names of all that findings tell of a configuration, and what each one is."""

from typing import Literal

MeasureName = Literal[
    "service_time",
    "service_time_median",
    "service_time_p90",
    "service_time_p99",
    "service_time_p99_9",
    "service_time_max",
    "response_time",
    "response_time_median",
    "response_time_p90",
    "response_time_p99",
    "response_time_p99_9",
    "response_time_median_added",
    "response_time_p90_added",
    "response_time_p99_added",
    "response_time_p99_9_added",
    "lateness_median",
    "lateness_p99",
    "overhead",
    "overhead_ratio",
    "overhead_to_reference",
    "cpu_to_reference",
    "allocation",
    "delivery_rate",
    "sink_cpu",
    "receiver_cpu",
    "service_time_second_half",
    "throughput",
    "throughput_q1",
    "throughput_median",
    "throughput_q3",
    "cpu",
    "cpu_ratio",
    "cpu_caller",
    "cpu_agent",
    "cpu_jit",
    "cpu_gc",
    "cpu_waiting",
    "cpu_of_program",
    "cpu_of_stores",
    "cpu_of_load",
    "cpu_of_receiver",
    "heap_live",
    "heap_used_cv",
    "collections",
    "collection_pause",
    "collection_pause_longest",
    "rss_peak",
    "rss_peak_added",
    "startup_main",
    "startup_first_call",
    "startup_first_call_added",
    "build_time",
    "build_time_added",
    "build_cpu",
    "build_cpu_added",
    "drain_time",
    "bytes",
    "inside_time",
    "inside_time_p99",
    "inside_time_added",
    "records_per_call",
    "bytes_per_call",
    "start_runtime",
    "start_agent",
    "start_imports",
    "start_ready",
    "start_invocation",
    "start_runtime_added",
    "start_agent_added",
    "start_imports_added",
    "start_ready_added",
    "start_invocation_added",
    "price_million",
    "price_million_added",
]
"""``service_time`` and ``response_time`` are means of the steady part; ``overhead`` is a paired difference against
the block's baselines, once per call and once per invocation; ``overhead_ratio`` is their geometric mean ratio: exp of
the mean log ratio over blocks, not the ratio of the means.
``overhead_to_reference`` is a configuration's overhead ÷ that of the reference tracer of the part (``reference`` in an
agent's file) in the same blocks, a geometric mean, and ``cpu_to_reference`` the same of the CPU of all threads per
record.
A median, percentile or maximum is the mean of the starts' own, not one of all calls; a quantile is missing where a
start has fewer than ten calls beyond it.
``service_time_second_half`` is the estimator of MooBench: mean of the second half of a start's calls. ``cpu`` is that
of all threads from first call to drained, less the baseline's, per invocation and per delivered record; ``cpu_ratio``
is, of a service, the geometric mean ratio of a request's CPU to the baselines';
``cpu_of_program``, ``_stores``, ``_load`` and ``_receiver`` are what a request to a service takes of each of them,
the baselines' not taken off;
``cpu_caller``, ``_agent``, ``_jit`` and ``_gc`` are its parts; ``cpu_waiting`` is in cores, in the quiet wait after
drained. ``throughput`` is calls per second at full speed: a start's calls of the steady part ÷ the time that they
took, and of what a load calls all calls ÷ the time from the first to the last; ``throughput_q1``, ``_median`` and
``_q3`` are over the rates of the steady bins of all starts. ``heap_used_cv``
is the standard deviation of the used heap over time ÷ its mean, between first and last call of a trial,
``collections`` the number of collections meanwhile, ``collection_pause`` the sum of their pauses and
``collection_pause_longest`` the longest; ``heap_live`` and ``rss_peak`` are of the memory trial; ``startup_main`` and
``startup_first_call`` count from the start of the process; ``build_time`` and ``build_cpu`` are of the processes that
built a trial's program, where it was built there; what ends in ``_added`` is a paired difference against the block's
baselines. ``drain_time`` counts from the last call to the last record; ``bytes`` are those on the wire or on disk.
``sink_cpu`` is the sink's in the whole measured phase; ``receiver_cpu`` that of the sink, or of the backend in its
place, from first call to drained.
Of functions: ``inside_time`` is what the function says of its own work; ``records_per_call`` and ``bytes_per_call`` are
what arrived of an invocation; ``start_runtime``, ``_agent``, ``_imports``, ``_ready`` and ``_invocation`` are the parts
of a cold start, which add up to it; ``price_million`` is what a million invocations cost, in the parameters'
currency."""
