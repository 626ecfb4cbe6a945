"""Compares the CPU time per span of sinks: this clone's, those of other clones, and this one's on grpc-go.

    PYTHONPATH=src .venv/bin/python benchmarks/sink_against_sink.py [--clone DIR …] [--library] [--unread] [--rounds 20]

The real Java agent's spans are recorded once and sent to each sink in every round, in random order, as in
sink_beside_receivers.py. Every sink must have found every tree whole. Ratios are paired by round; their intervals are
Student's, of the differences of logarithms. The sink on grpc-go is this clone's with one file in place of another: what
stands behind the connection is the same.
"""

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

import msgspec
import numpy as np

from sink.programs import ROOT, WORKLOAD, Programs, build_all, build_on_library, say
from sink.receivers import Receiver, Sink, UnreadSink
from sink.sender import replay, run_agent, send_unread
from sink_beside_receivers import CONFIGURATION, DEPTH, measured, record
from tracetax.artifacts import build_sink, cache_dir
from tracetax.catalog import fill, load_agents
from tracetax.statistics.overhead import as_ratio, compare_paired


def main() -> int:
    """Run the comparison; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clone", type=Path, nargs="*", default=[], help="folders of other clones")
    parser.add_argument("--library", action="store_true", help="also this clone's sink on grpc-go")
    parser.add_argument("--unread", action="store_true", help="what gRPC alone costs: no sink looks into a message")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", type=int, default=200_000, help=f"of {DEPTH} spans each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--messages", type=Path, help="keep the recorded messages here, and take them if they are there"
    )
    options = parser.parse_args()
    cache = cache_dir(os.environ)
    agent = load_agents(ROOT, "java")["opentelemetry"]
    configuration = agent.configurations[CONFIGURATION]
    programs = build_all(agent, cache, collector=False)
    sinks = {"this clone": programs.sink}
    sinks |= {str(clone): build_sink(clone, cache, say) for clone in options.clone}
    if options.library:
        sinks["on grpc-go"] = build_on_library(cache)
    assert configuration.record_name
    record_name = fill(configuration.record_name, WORKLOAD.monitored.placeholders)

    def by_agent(to: Receiver) -> None:
        run_agent(programs, configuration, to, options.calls, DEPTH)

    with tempfile.TemporaryDirectory(prefix="tracetax-benchmark-") as folder:
        messages: Path = options.messages or Path(folder) / "messages"
        if not messages.exists():
            record(programs, messages, by_agent)
        names = list(sinks)
        print("ns of CPU per span\nround  " + "  ".join(f"{name[-22:]:>22}" for name in names))
        order = random.Random(options.seed)
        values = np.empty((options.rounds, len(names)))
        for number in range(options.rounds):
            for column in order.sample(range(len(names)), len(names)):
                program = msgspec.structs.replace(programs, sink=sinks[names[column]])

                def make(program: Programs = program) -> Receiver:
                    if options.unread:
                        return UnreadSink(program, DEPTH, record_name, size_of(messages))
                    return Sink(program, DEPTH, record_name)

                def send(to: Receiver) -> None:
                    (send_unread if options.unread else replay)(programs, messages, to)

                values[number, column] = measured(make, send, options.calls)
            print(f"{number + 1:5}  " + "  ".join(f"{value:22.1f}" for value in values[number]), flush=True)
    print("median " + "  ".join(f"{value:22.1f}" for value in np.median(values, axis=0)))
    for column, name in enumerate(names[1:], 1):
        ratio = as_ratio(compare_paired(values[:, column], values[:, 0], "log-ratio"))
        low, high = ratio.ci95 or (0.0, float("inf"))
        print(f"{name} ÷ this clone: {ratio.mean:.3f}, 95 % interval {low:.3f} to {high:.3f} over {ratio.n} rounds")
    return 0


def size_of(messages: Path) -> int:
    """Bytes of the recorded messages, without the four before each that say its length."""
    size = 0
    with messages.open("rb") as file:
        while length := file.read(4):
            size += int.from_bytes(length)
            file.seek(int.from_bytes(length), os.SEEK_CUR)
    return size


if __name__ == "__main__":
    sys.exit(main())
