"""Faults injected again and again: one injection's verdict, a CSV of all, and how many held."""

import argparse
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import psutil
from msgspec import Struct

from faultlib.runs import processes_of
from kept import append, read

COLUMNS = ("fault", "number", "seconds", "status", "told", "processes_left", "otherwise")
MARK = "FAULT_MARK"
LONGEST_SECONDS = 600


class Injection(Struct):
    """One injection, with its folder and the mark that its processes have in their environment."""

    fault: str
    number: int
    folder: Path

    @property
    def mark(self) -> str:
        """What no other injection's processes have."""
        return f"{self.fault}-{self.number}-{os.getpid()}"


Inject = Callable[[Injection], tuple[int, str]]
"""Injects a fault once; returns the exit status of Tracetax and what it printed."""


def run_tool(
    command: Sequence[str | Path], injection: Injection, beside: Callable[[psutil.Process], None] | None = None
) -> tuple[int, str]:
    """Status and output of a command of Tracetax; ``beside`` does something to it while it runs."""
    log = injection.folder / "printed.txt"
    own = {MARK: injection.mark, "TRACETAX_LOCK": str(injection.folder / "lock"), "COLUMNS": "400", "TRACETAX_YES": "1"}
    with log.open("wb") as stream:
        tool = subprocess.Popen(
            [*map(str, command)], stdout=stream, stderr=subprocess.STDOUT, env={**os.environ, **own}
        )
        if beside:
            beside(psutil.Process(tool.pid))
        status = tool.wait(LONGEST_SECONDS)
    return status, log.read_text(errors="replace")


def when_loaded(tool: psutil.Process, seconds: float) -> dict[psutil.Process, list[str]]:
    """What Tracetax has started, by which words, so long after its load began; nothing where it has ended before."""
    while tool.is_running() and tool.status() != psutil.STATUS_ZOMBIE:
        if any(said and said[0].endswith("/load") for said in _started_by(tool).values()):
            time.sleep(seconds)
            return _started_by(tool)
        time.sleep(0.05)
    return {}


def _started_by(tool: psutil.Process) -> dict[psutil.Process, list[str]]:
    words: dict[psutil.Process, list[str]] = {}
    for child in tool.children(recursive=True):
        try:
            words[child] = child.cmdline()
        except psutil.NoSuchProcess:
            continue
    return words


def judged(injection: Injection, due: tuple[int, str], inject: Inject) -> dict[str, object]:
    """Inject once; returns the line for the CSV. The folder of an injection that held is removed.

    It holds where the exit status is due, the sentence that helps is printed, no stack trace of Tracetax's is, and no
    process is left that has the mark in its environment, or the folder in its command.
    """
    injection.folder.mkdir(parents=True)
    wanted, says = due
    begun = time.monotonic()
    status, printed = inject(injection)
    left = {*map(str, _marked(injection.mark)), *processes_of(injection.folder)}
    otherwise: list[str] = []
    if status != wanted:
        otherwise.append(f"status {status} where {wanted} is due")
    if says not in printed:
        otherwise.append("the sentence is missing")
    if re.search("^Traceback", printed, re.MULTILINE):  # one of the program's is quoted, and so indented
        otherwise.append("a stack trace")
    if otherwise or left:
        print(printed, flush=True)
    else:
        shutil.rmtree(injection.folder)
    return {
        "fault": injection.fault,
        "number": injection.number,
        "seconds": f"{time.monotonic() - begun:.1f}",
        "status": status,
        "told": says if says in printed else "",
        "processes_left": len(left),
        "otherwise": "; ".join(otherwise),
    }


def _marked(mark: str) -> list[int]:
    found: list[int] = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if re.search(rf"(^|\0){MARK}={mark}(\0|$)", environment.read_text(errors="replace")):
                found.append(int(environment.parent.name))
        except OSError:
            continue
    return found


def held(line: Mapping[str, object]) -> bool:
    """Whether an injection held."""
    return not line["otherwise"] and str(line["processes_left"]) == "0"


def campaign(doc: str, faults: Mapping[str, tuple[int, str]], inject: Inject, results: Path) -> int:
    """Make what is missing of the words that were typed, and say how many held of each fault.

    ``faults`` says of each the exit status that is due, and a part of the sentence that helps.
    """
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=faults, default=list(faults))
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--to", type=Path, default=results)
    said = parser.parse_args()
    if said.list:
        print("\n".join(faults))
        return 0
    there = {(line["fault"], int(line["number"])) for line in read(said.to)}
    place = Path(tempfile.mkdtemp(prefix="faults-"))
    wanted = [
        Injection(fault, number, place / f"{fault}-{number:03}")
        for number in range(1, said.times + 1)
        for fault in said.only
        if (fault, number) not in there
    ]
    with ThreadPoolExecutor(said.jobs) as pool:
        under_way = [pool.submit(judged, one, faults[one.fault], inject) for one in wanted]
        for future in as_completed(under_way):
            line = future.result()
            append(said.to, COLUMNS, [line])
            verdict = "held" if held(line) else f"DID NOT HOLD: {line['otherwise']} {line['processes_left']} left"
            print(f"{line['fault']:20} {line['number']:>3} {verdict}  {line['seconds']} s", flush=True)
    lines = [line for line in read(said.to) if line["fault"] in said.only]
    for fault in said.only:
        own = [line for line in lines if line["fault"] == fault]
        print(f"{fault:20} {sum(map(held, own)):>3} of {len(own)} held")
    return 0 if all(map(held, lines)) else 1
