"""Injects every fault of a function and its host again and again, and judges what is told and what is left.

    PYTHONPATH=src:. .venv/bin/python benchmarks/function_faults.py
        [--only FAULT …] [--times 20] [--jobs 2] [--list] [--to FILE]

Each injection is a run of Tracetax of its own, in which a small host of functions (tests/functions/host.py) misbehaves
in one way once it has an agent; the baselines beside it do not. Of *store-…* it is a run of the uploader that comes
with Tracetax, and something happens to its object storage while it is used. faultlib/campaign.py says when an injection
holds. A line is appended to docs/results/function-faults.csv as each is judged; lines that are there are not made
again.
"""

import resource
import sys
from functools import partial
from pathlib import Path

import psutil
from tests.functions.repository import AGENT, repository

from faultlib.campaign import Injection, campaign, run_tool, when_loaded

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs/results/function-faults.csv"
ELSEWHERE = "import sys, tracetax.cli as cli; from pathlib import Path; cli.ROOT = Path(sys.argv.pop(1)); cli.main()"
"""Runs Tracetax on another repository."""
BEHAVING = """
[configurations.misbehaves]
title = "{behaviour}"
layers = ["I"]
delivery = "none"
environment = {{ BEHAVIOUR = "{behaviour}", AFTER = "{after}" }}
"""
EXPERIMENT = """
title = "A function that misbehaves"
workload = "functions/python"
[parameters]
function = "{function}"
host = "{host}"
rate = "200/s"
invocations = 600
concurrent = 8
{more}
[[configurations]]
agent = "{agent}"
use = ["{use}"]
[schedule]
blocks = {{ min = 1, max = 1 }}
budget = "10min"
memory = false
"""
COLD = 'mode = "cold"'

FAULTS: dict[str, tuple[int, str]] = {
    "never-answers": (1, "was not ready within 5s"),
    "throws": (1, "its last answer had status 500"),
    "throws-later": (1, "status 500 where 200 is expected"),
    "wrong": (1, 'does not match "sum": 6'),
    "hangs": (1, "not answered in time"),
    "memory": (1, "of memory that the program may have were spent"),
    "dies": (1, "ended with status 3"),
    "killed": (1, "was ended by signal SIGKILL"),
    "store-dies": (1, "is gone and was ended by signal SIGKILL"),
    "store-full": (1, "status 500"),
}
"""By fault: the exit status that is due, and a part of the sentence that helps."""


def inject(injection: Injection) -> tuple[int, str]:
    """Inject a fault once; returns the exit status of Tracetax and what it printed."""
    folder, fault, number = injection.folder, injection.fault, injection.number
    experiment = folder / "faulty.toml"
    if fault.startswith("store-"):
        values = {"function": "uploader", "host": "functions-framework", "agent": "opentelemetry", "use": "by-hand"}
        experiment.write_text(EXPERIMENT.format(**values, more=""))
        command = (ROOT / "tracetax", "run", experiment, "--out", folder / "run")
        return run_tool(command, injection, partial(harm_store, seconds=number / 10, full=fault == "store-full"))
    root = repository(folder)
    behaving = BEHAVING.format(behaviour=fault, after=250 + 10 * number)
    (root / "agents/fake/python/agent.toml").write_text(AGENT + behaving)
    values = {"function": "sum", "host": "plain", "agent": "fake", "use": "misbehaves"}
    more = {"memory": 'memory = "128 MiB"'}.get(fault, COLD if fault == "never-answers" else "")
    experiment.write_text(EXPERIMENT.format(**values, more=more))
    return run_tool((sys.executable, "-c", ELSEWHERE, root, "run", experiment, "--out", folder / "run"), injection)


def harm_store(tool: psutil.Process, seconds: float, full: bool) -> None:
    """Kill the object storage that is used, or let none of its files grow: so much it has room for."""
    for child, said in when_loaded(tool, seconds).items():
        if said and Path(said[0]).name == "versitygw":
            if full:
                child.rlimit(resource.RLIMIT_FSIZE, (0, 0))
            else:
                child.kill()
            return


if __name__ == "__main__":
    sys.exit(campaign(__doc__ or "", FAULTS, inject, RESULTS))
