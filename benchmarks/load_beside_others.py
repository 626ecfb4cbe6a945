"""Compares load/ with other load generators, side by side, against a service whose delay is known.

    .venv/bin/python benchmarks/load_beside_others.py [--rounds 5] [--seconds 10] [--rates 500,1000,2000]

The others are oha (`cargo install oha`), k6 (`go install go.k6.io/k6@latest`) and vegeta
(`go install github.com/tsenart/vegeta/v12@latest`); what is not on the PATH is left out. In every round each generator
sends at each rate, in random order, to a fresh service, `load/cmd/known-delay`, which tells how long its answers really
took.

    CPU        of the generator's process, µs per request: the difference between a long and a short run (--short)
    not sent   requests of the schedule that were never answered: dropped, given up, or failed
    late       sent more than 1 ms after its moment, and the p99 of that, ms; only load/ tells
    p50, p99   what the generator says, less what the service says, ms: the network, and the generator's own error

Then the service is stopped for --stop milliseconds in the middle of a run. Everybody whose moment falls into the stop
is owed an answer from then on, so the true p99 is known. A generator that times from the real sending shows less.
"""

import argparse
import json
import math
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

ROOT = Path(__file__).resolve().parents[1]
CONNECTIONS = 64
STOP_RATE = 1000
K6_SCRIPT = """
import http from 'k6/http';
export const options = {
  summaryTrendStats: ['med', 'p(99)'],
  scenarios: { all: {
    executor: 'constant-arrival-rate', rate: Number(__ENV.RATE), timeUnit: '1s', duration: __ENV.SECONDS + 's',
    preAllocatedVUs: Number(__ENV.CONNECTIONS), maxVUs: Number(__ENV.CONNECTIONS),
  } },
};
export default function () { http.get(__ENV.URL); }
export function handleSummary(data) { return { [__ENV.OUT]: JSON.stringify(data) }; }
"""


class Run(Struct, frozen=True):
    """What is to be sent: for so many seconds, at a rate in requests per second, to an address."""

    url: str
    rate: int
    seconds: int
    folder: Path


class Seen(Struct, frozen=True):
    """What a generator says of a run, and what it used."""

    answered: int
    p50_ms: float
    p99_ms: float
    cpu_s: float
    late: float = math.nan
    late_p99_ms: float = math.nan


class Truth(Struct, frozen=True):
    """What the service says of a run."""

    requests: int
    median_ns: int
    p99_ns: int


class Row(Struct, frozen=True):
    """A line of the table: of one round, or medians."""

    cpu_us: float
    not_sent: float
    late: float
    late_p99_ms: float
    p50_ms: float
    p99_ms: float


Generator = Callable[[Run], Seen]


def used(command: list[str], run: Run, *, commands: str = "", ended_by: Path | None = None) -> float:
    """Run a generator to its end; CPU of its process, s. What it prints is kept in the run's folder.

    Its input ends after ``commands``, or when the status file ``ended_by`` says that everything is written.
    """
    with (run.folder / "stdout").open("w") as out, (run.folder / "stderr").open("w") as errors:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=errors, text=True)
    assert process.stdin is not None
    process.stdin.write(commands)
    process.stdin.flush()
    if ended_by:
        ended_by.touch()
        look = os.WEXITED | os.WNOHANG | os.WNOWAIT  # a process that is taken leave of here tells no CPU below
        while not os.waitid(os.P_PID, process.pid, look) and "\nwritten " not in ended_by.read_text():
            time.sleep(0.05)
    process.stdin.close()
    _, ended, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(ended)
    if process.returncode:
        said = (run.folder / "stderr").read_text()[-2000:]
        sys.exit(f"{' '.join(command)} ended with {process.returncode}: {said}")
    return usage.ru_utime + usage.ru_stime


def ours(program: Path, run: Run) -> Seen:
    """load/, with its defaults; late is later than 1 ms."""
    requests, status = run.folder / "requests.jsonl", run.folder / "status"
    requests.write_text('{"path": "/"}\n')
    options = ["--url", run.url, "--requests", str(requests), "--ready", "/", "--calls", str(run.rate * run.seconds)]
    options += ["--rate", str(run.rate), "--connections", str(CONNECTIONS)]
    options += ["--out", str(run.folder / "out"), "--status", str(status)]
    cpu_s = used([str(program), *options], run, commands="measure\ndrained\n", ended_by=status)
    load = json.loads((run.folder / "out" / "trial.json").read_text())["load"]
    endpoint, starts = load["endpoints"][0], load["starts"]
    answered, at = endpoint["outcomes"].get("right", 0), endpoint["response"]
    late_p99_ms = starts["late"]["p99_ns"] / 1e6
    return Seen(answered, at["median_ns"] / 1e6, at["p99_ns"] / 1e6, cpu_s, starts["missed"], late_p99_ms)


def oha(program: Path, run: Run) -> Seen:
    """oha, with its correction for coordinated omission."""
    options = ["-q", str(run.rate), "-z", f"{run.seconds}s", "-c", str(CONNECTIONS), "--latency-correction"]
    cpu_s = used([str(program), "--no-tui", "--output-format", "json", *options, run.url], run)
    said = json.loads((run.folder / "stdout").read_text())
    at = said["latencyPercentiles"]
    return Seen(said["statusCodeDistribution"].get("200", 0), at["p50"] * 1e3, at["p99"] * 1e3, cpu_s)


def k6(program: Path, run: Run) -> Seen:
    """k6, with an open model: constant-arrival-rate."""
    script, out = run.folder / "script.js", run.folder / "summary.json"
    script.write_text(K6_SCRIPT)
    values = {"RATE": run.rate, "SECONDS": run.seconds, "CONNECTIONS": CONNECTIONS, "URL": run.url, "OUT": out}
    options = [word for name, value in values.items() for word in ("-e", f"{name}={value}")]
    cpu_s = used([str(program), "run", "--quiet", "--no-usage-report", *options, str(script)], run)
    metrics = json.loads(out.read_text())["metrics"]
    at = metrics["http_req_duration"]["values"]
    return Seen(metrics["iterations"]["values"]["count"], at["med"], at["p(99)"], cpu_s)


def vegeta(program: Path, run: Run) -> Seen:
    """vegeta; its report is made afterwards, and its CPU is not counted."""
    results = run.folder / "results.bin"
    options = [f"-rate={run.rate}/s", f"-duration={run.seconds}s", f"-connections={CONNECTIONS}"]
    options += [f"-workers={CONNECTIONS}", f"-max-workers={CONNECTIONS}", f"-output={results}"]
    cpu_s = used([str(program), "attack", *options], run, commands=f"GET {run.url}\n")
    report: dict[str, Any] = json.loads(subprocess.check_output([program, "report", "-type=json", results]))
    at = report["latencies"]
    return Seen(report["status_codes"].get("200", 0), at["50th"] / 1e6, at["99th"] / 1e6, cpu_s)


class Service:
    """A running service with a known delay. Use as a context manager."""

    def __init__(self, program: Path, delay_ms: float) -> None:
        """Start it."""
        self._process = subprocess.Popen(
            [program, f"--delay={delay_ms}ms"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.url = f"http://127.0.0.1:{self._answer()['port']}/"

    def _answer(self) -> dict[str, int]:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def stand_still(self, seconds: float) -> None:
        """Stop the process for a while."""
        self._process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self._process.send_signal(signal.SIGCONT)

    def end(self) -> Truth:
        """End it; what it says of the answers it gave."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return Truth(**self._answer())

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()


def generators(folder: Path) -> tuple[dict[str, Generator], Path]:
    """Ours, built here, and those of the others that this machine has; and the service's program."""
    for program, package in (("load", "."), ("known-delay", "./cmd/known-delay")):
        command = ["go", "build", "-buildvcs=false", "-trimpath", "-o", str(folder / program), package]
        subprocess.run(command, cwd=ROOT / "load", check=True)
    places = os.pathsep.join((os.environ.get("PATH", ""), *(str(Path.home() / at) for at in ("go/bin", ".cargo/bin"))))
    found: dict[str, Generator] = {"load/": partial(ours, folder / "load")}
    others: tuple[tuple[str, Callable[[Path, Run], Seen]], ...] = (("oha", oha), ("k6", k6), ("vegeta", vegeta))
    for name, run_it in others:
        if at := shutil.which(name, path=places):
            found[name] = partial(run_it, Path(at))
        else:
            print(f"{name} is not here and is left out")
    return found, folder / "known-delay"


def once(generate: Generator, service: Service, rate: int, seconds: int) -> Seen:
    """One run, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="tracetax-load-") as folder:
        return generate(Run(service.url, rate, seconds, Path(folder)))


def compare(found: Mapping[str, Generator], service: Path, options: argparse.Namespace, chance: random.Random) -> None:
    """Print CPU, missed starts and errors of all generators at all rates, medians over rounds."""
    cells = [(rate, delay, name) for rate in options.rates for delay in options.delays for name in found]
    rows: dict[tuple[int, float, str], list[Row]] = {}
    for _ in range(options.rounds):
        for rate, delay, name in chance.sample(cells, len(cells)):
            with Service(service, delay) as running:
                short = once(found[name], running, rate, options.short)
            with Service(service, delay) as running:
                seen = once(found[name], running, rate, options.seconds)
                truth = running.end()
            row = Row(
                cpu_us=(seen.cpu_s - short.cpu_s) / (rate * (options.seconds - options.short)) * 1e6,
                not_sent=rate * options.seconds - seen.answered,
                late=seen.late,
                late_p99_ms=seen.late_p99_ms,
                p50_ms=seen.p50_ms - truth.median_ns / 1e6,
                p99_ms=seen.p99_ms - truth.p99_ns / 1e6,
            )
            rows.setdefault((rate, delay, name), []).append(row)
    heads = (("CPU, µs", 9), ("not sent", 10), ("late", 8), ("its p99", 9), ("p50 +ms", 9), ("p99 +ms", 9))
    print(f"{'rate':>6}{'delay':>9}  {'':8}" + "".join(f"{head:>{width}}" for head, width in heads))
    for (rate, delay, name), rounds in sorted(rows.items()):
        row = medians(rounds)
        late = f"{'–':>8}{'–':>9}" if math.isnan(row.late) else f"{row.late:>8.0f}{row.late_p99_ms:>9.3f}"
        told = f"{row.cpu_us:>9.0f}{row.not_sent:>10.0f}{late}{row.p50_ms:>9.3f}{row.p99_ms:>9.3f}"
        print(f"{rate:>6}{delay:>6g} ms  {name:8}{told}")


def medians(rounds: Sequence[Row]) -> Row:
    """The median of each column."""
    return Row(**{name: statistics.median(getattr(row, name) for row in rounds) for name in Row.__struct_fields__})


def stop(found: Mapping[str, Generator], service: Path, options: argparse.Namespace) -> None:
    """Print what each generator says of a service that stood still for a while."""
    true_ms = options.stop - 0.01 * options.seconds * 1e3
    print(f"\nstopped for {options.stop} ms at {STOP_RATE}/s, of {options.seconds} s: true p99 {true_ms:.0f} ms")
    for name, generate in found.items():
        with Service(service, 0) as running:
            timer = threading.Timer(options.seconds / 2, running.stand_still, (options.stop / 1e3,))
            timer.start()
            seen = once(generate, running, STOP_RATE, options.seconds)
            timer.join()
        print(f"  {name:8} p99 {seen.p99_ms:8.1f} ms, not sent {STOP_RATE * options.seconds - seen.answered}")


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--short", type=int, default=2, help="seconds of the run that is subtracted")
    parser.add_argument("--rates", type=lambda text: [int(one) for one in text.split(",")], default=[500, 1000, 2000])
    parser.add_argument("--delays", type=lambda text: [float(one) for one in text.split(",")], default=[0.0, 10.0])
    parser.add_argument("--stop", type=int, default=400, help="milliseconds")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tracetax-load-") as folder:
        found, service = generators(Path(folder))
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}, medians of {options.rounds} rounds")
        compare(found, service, options, random.Random(options.seed))
        stop(found, service, options)


if __name__ == "__main__":
    main()
