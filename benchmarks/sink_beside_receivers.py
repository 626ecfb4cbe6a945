"""Compares the sink's CPU time per span with two other receivers of OTLP over gRPC.

    .venv/bin/python benchmarks/sink_beside_receivers.py [--rounds 10] [--calls 200000]

The real Java agent's spans are recorded once, as the messages that it sends in its lossless configuration. In every
round each receiver gets these very messages, in random order of the receivers, from a sender that behaves like the
agent: one connection, one call after the other, frames and writes of the agent's sizes. A receiver's value is the CPU
time of its process, user and system, from the first message to the last reply, divided by the spans; its start is
outside. Every receiver must have counted every span; the sink checks the structure of all trees meanwhile. Ratios are
paired by round; their intervals are Student's, of the differences of logarithms. At the end the agent itself runs once
against each receiver, as a cross-check.

Exit status 1 if a ratio's interval reaches beyond its bound: 1/7 of the receiver that unmarshals, 1/3 of the Collector.
"""

import argparse
import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sink.programs import ROOT, WORKLOAD, Programs, build_all
from sink.receivers import Receiver, Unmarshalling, makers
from sink.sender import replay, run_agent
from tracetax.artifacts import cache_dir
from tracetax.catalog import fill, load_agents
from tracetax.statistics.overhead import as_ratio, compare_paired

DEPTH = 10
CONFIGURATION = "otlp-grpc-lossless"
BOUNDS = {"unmarshalling receiver": 1 / 7, "Collector + nop": 1 / 3}


def main() -> int:
    """Run the comparison; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--calls", type=int, default=200_000, help=f"of {DEPTH} spans each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--messages", type=Path, help="keep the recorded messages here, and take them if they are there"
    )
    parser.add_argument("--replay-only", action="store_true", help="leave out the direct runs of the agent")
    options = parser.parse_args()
    agent = load_agents(ROOT, "java")["opentelemetry"]
    configuration = agent.configurations[CONFIGURATION]
    programs = build_all(agent, cache_dir(os.environ))
    assert configuration.record_name
    receivers = makers(programs, DEPTH, fill(configuration.record_name, WORKLOAD.monitored.placeholders))

    def by_agent(to: Receiver) -> None:
        run_agent(programs, configuration, to, options.calls, DEPTH)

    with tempfile.TemporaryDirectory(prefix="tracetax-benchmark-") as folder:
        messages: Path = options.messages or Path(folder) / "messages"
        if not messages.exists():
            record(programs, messages, by_agent)
        print(f"{messages.stat().st_size:,} bytes of messages; {os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}")
        print("ns of CPU per span\nround  " + "  ".join(f"{name:>22}" for name in receivers))
        order = random.Random(options.seed)
        values = np.empty((options.rounds, len(receivers)))
        names = list(receivers)
        for number in range(options.rounds):
            for column in order.sample(range(len(names)), len(names)):
                make = receivers[names[column]]
                values[number, column] = measured(make, lambda to: replay(programs, messages, to), options.calls)
            print(f"{number + 1:5}  " + "  ".join(f"{value:22.1f}" for value in values[number]), flush=True)
    within = report(names, values)
    if not options.replay_only:
        print("the agent itself, once each:")
        for name, make in receivers.items():
            print(f"  {name:22}  {measured(make, by_agent, options.calls):8.1f}", flush=True)
    return 0 if within else 1


def record(programs: Programs, messages: Path, send: Callable[[Receiver], None]) -> None:
    """Have the agent's messages written to a file."""
    print("recording what the agent sends", flush=True)
    partial = messages.with_suffix(".partial")
    with Unmarshalling(programs, partial) as recorder:
        send(recorder)
        recorder.end_input()
        recorder.answer()
        recorder.process.wait()
    partial.rename(messages)


def measured(make: Callable[[], Receiver], send: Callable[[Receiver], None], calls: int) -> float:
    """One receiver's CPU time per span, in ns. Raises CountsDiffer where it did not count all."""
    with make() as receiver:
        before = receiver.cpu_ns()
        send(receiver)
        spent = receiver.cpu_ns() - before
        receiver.check(calls, DEPTH)
    return spent / (calls * DEPTH)


def report(names: list[str], values: npt.NDArray[np.float64]) -> bool:
    """Print medians and ratios; gives whether both ratios' intervals lie within their bounds."""
    print("median " + "  ".join(f"{value:22.1f}" for value in np.median(values, axis=0)))
    within = True
    for column, name in enumerate(names):
        if name not in BOUNDS:
            continue
        ratio = as_ratio(compare_paired(values[:, 0], values[:, column], "log-ratio"))
        low, high = ratio.ci95 or (0.0, float("inf"))
        kept = high <= BOUNDS[name]
        within = within and kept
        print(
            f"sink ÷ {name}: {ratio.mean:.4f}, 95 % interval {low:.4f} to {high:.4f} over {ratio.n} rounds;"
            f" {'within' if kept else 'NOT within'} {BOUNDS[name]:.4f} (1/{1 / BOUNDS[name]:.0f})"
        )
    return within


if __name__ == "__main__":
    sys.exit(main())
