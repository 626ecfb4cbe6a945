"""Injects every fault again and again at random moments, and judges what it left.

    PYTHONPATH=src .venv/bin/python benchmarks/faults.py [--only FAULT … | --new | --old]
        [--times 20] [--jobs 2] [--seed 1] [--list] [--to FILE]

Each injection harms a run of its own: real JVM, real agent, real sink, two blocks of 2,000 calls, with the watchdog's
limits shortened to seconds (on a busy machine: TRACETAX_FAULTS_PATIENCE=4). After it: every trial that was finished
before is there to the byte, no process is left, no row of the findings is wrong without a verdict, and the run,
resumed where it has to be, has all rows and measures.
A line is appended to docs/results/faults.csv as each is judged; lines that are there are not made again, so the
script goes on where it stopped. Told to end (INT, in the background too, TERM or HUP) it ends the runs under way and
takes back what it did to the machine. Moment and kind of each injection depend on the seed, the fault and its number
alone.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from faultlib import around_the_run as around
from faultlib import hostile
from faultlib import in_the_run as inside
from faultlib.judge import complete, wrong_rows
from faultlib.runs import Missed, Scene, Skipped, Unharmed, await_none_of, finished_trials, lost_trials
from faultlib.tools import ROOT, go_on, heed_endings, stop
from kept import append, read

FAULTS: dict[str, Callable[[Scene], None]] = {
    "jvm-aborts": inside.jvm_aborts,
    "hangs-before-main": inside.hangs_before_main,
    "jvm-does-not-end": inside.jvm_does_not_end,
    "sink-killed": inside.sink_killed,
    "tool-killed": inside.tool_killed,
    "disk-full": around.disk_full,
    "corrupted-cache": around.corrupted_cache,
    "registry-unreachable": around.registry_unreachable,
    "ports-taken": inside.ports_taken,
    "garbled-input": inside.garbled_input,
    "out-of-memory": inside.out_of_memory,
    "clock-stepped": around.clock_stepped,
    "second-run": inside.second_run,
    "read-only": around.read_only,
    "half-written-output": around.half_written_output,
    "half-written-record": around.half_written_record,
    "truncated-manifest": around.truncated_manifest,
    "told-at-a-start": inside.told_at_a_start,
    "third-interrupt": inside.third_interrupt,
    "no-utf8": inside.no_utf8,
    "output-flood": inside.output_flood,
    "cause-in-other-stream": inside.cause_in_other_stream,
    "java-options": inside.java_options,
    "second-run-elsewhere": inside.second_run_elsewhere,
    "samples-too-many": inside.samples_too_many,
    "idle-connections": hostile.idle_connections,
    "wrong-http": hostile.wrong_http,
    "absurd-record": hostile.absurd_record,
}
FIRST_NEW = "told-at-a-start"
"""The faults from here on were added after the others had been injected 20 times each: see ``--new`` and ``--old``."""
COLUMNS: tuple[str, ...] = (
    "fault", "number", "seed", "moment_s", "finished_before", "finished_after", "lost", "processes_left",
    "wrong_rows", "missing", "exit_statuses", "seconds", "otherwise", "remark",
)  # fmt: skip
TRIES = 20


def inject(fault: str, number: int, seed: int, unharmed: Unharmed, place: Path) -> dict[str, object]:
    """Inject a fault once, at another moment where the run was over before; returns the line for the CSV."""
    for attempt in range(TRIES):
        go_on()
        folder = place / f"{fault}-{number}-{attempt}"
        scene = Scene(folder, random.Random(f"{seed}/{fault}/{number}/{attempt}"), unharmed)
        begun = time.monotonic()
        try:
            FAULTS[fault](scene)
        except Missed:
            continue
        finally:
            scene.clean_up()
        go_on()
        after = finished_trials(scene.run)
        before = {name: checksum for name, checksum in scene.before.items() if name not in scene.damaged}
        concluded = (scene.run / "findings.json").is_file()
        line: dict[str, object] = {
            "fault": fault,
            "number": number,
            "seed": seed,
            "moment_s": f"{scene.moment:.2f}",
            "finished_before": len(scene.before),
            "finished_after": len(after),
            "lost": len(lost_trials(before, after)),
            "processes_left": len(scene.left),
            "wrong_rows": "; ".join(wrong_rows(scene.run, unharmed.findings)) if concluded else "",
            "missing": "; ".join(complete(scene.run, unharmed.findings)) if concluded else "findings",
            "exit_statuses": " ".join(map(str, scene.statuses)),
            "seconds": f"{time.monotonic() - begun:.1f}",
            "otherwise": "; ".join(scene.wrong),
            "remark": scene.remark,
        }
        if not held(line):
            print(scene.log.read_text(errors="replace")[-3000:], *scene.left, sep="\n", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        return line
    raise SystemExit(f"{fault}: the run was over before the fault could be injected, {TRIES} times")


def held(line: Mapping[str, object]) -> bool:
    """Whether nothing was lost, left, wrong or missing."""
    return str(line["lost"]) == str(line["processes_left"]) == "0" and not (
        line["wrong_rows"] or line["missing"] or line["otherwise"]
    )


def summary(lines: list[dict[str, str]]) -> bool:
    """Print what the lines come to; returns whether all held."""
    words = ("lost", "left", "wrong", "missing", "else", "s each")
    print(f"\n{'fault':22} times", *(f"{word:>8}" for word in words))
    for fault in FAULTS:
        own = [line for line in lines if line["fault"] == fault]
        if own:
            seconds = sum(float(str(line["seconds"])) for line in own) / len(own)
            counts = [sum(int(str(line[name])) for line in own) for name in ("lost", "processes_left")]
            texts = [sum(bool(line[name]) for line in own) for name in ("wrong_rows", "missing", "otherwise")]
            print(f"{fault:22} {len(own):5}", *(f"{one:8}" for one in (*counts, *texts)), f"{seconds:7.1f}")
    return all(held(line) for line in lines)


def main() -> int:
    """Inject what is not in the CSV yet; the exit status says whether everything held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = list(FAULTS)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--only", nargs="+", choices=names, default=names, metavar="FAULT")
    new = names.index(FIRST_NEW)
    which.add_argument("--new", dest="only", action="store_const", const=names[new:], help="those added last")
    which.add_argument("--old", dest="only", action="store_const", const=names[:new], help="all the others")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2, help="runs at once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "results" / "faults.csv")
    parser.add_argument("--list", action="store_true", help="name the faults and end")
    options = parser.parse_args()
    if options.list:
        for name, fault in FAULTS.items():
            print(f"{name:22} {fault.__doc__}")
        return 0
    made = {(line["fault"], int(str(line["number"])), int(str(line["seed"]))) for line in read(options.to)}
    wanted = [(fault, number) for number in range(1, options.times + 1) for fault in options.only]
    wanted = [(fault, number) for fault, number in wanted if (fault, number, options.seed) not in made]
    skipped: set[str] = set()

    def one(fault: str, number: int) -> tuple[str, dict[str, object] | None]:
        if fault in skipped:
            return "", None
        try:
            return f"{fault:22}", inject(fault, number, options.seed, unharmed, place)
        except Skipped as reason:
            skipped.add(fault)
            return f"{fault:22} skipped: {reason}", None

    if wanted:
        heed_endings()
        with (
            tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as folder,
            ThreadPoolExecutor(options.jobs) as workers,
        ):
            place = Path(folder)
            try:
                unharmed = Unharmed(place)
                for done in as_completed([workers.submit(one, *each) for each in wanted]):
                    text, line = done.result()
                    if line:
                        append(options.to, COLUMNS, [line])
                        said = "held" if held(line) else "DID NOT HOLD"
                        text += f" {line['number']:2} {said:12} {line['seconds']:>5} s  {line['remark']}"
                    if text:
                        print(text, flush=True)
            except BaseException:
                stop()
                workers.shutdown(cancel_futures=True)
                await_none_of(place)
                raise
    return 0 if summary(read(options.to)) and not skipped else 1


if __name__ == "__main__":
    sys.exit(main())
