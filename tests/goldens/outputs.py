"""What the commands print and write, as text, in a place that looks the same on every machine."""

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from unittest.mock import patch

import polars as pl

from tests.goldens.launches import ROOT, launches, plenty_of_memory
from tracetax.cli import app
from tracetax.errors import UserError

RUNS = Path(__file__).with_name("runs")
COLUMNS = 100
DIGITS = 10
"""To so many significant digits numbers are compared: the last few depend on processor and Python."""
LONG_NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
LAST_BLOCK = 3
"""Of the stored run ``agents``."""
ESTIMATE = re.compile(r"^(Estimated time: .*?\d min) \d\d s", re.MULTILINE)
"""From a minute on, an estimate is compared without its seconds: sums of half seconds depend on Python."""
LONG_CURVE = re.compile(r' d="([^"]{300,})"')
COMMANDS = ("run", "capacity", "report", "compare", "check-agent", "list", "doctor", "test", "completion")
LISTED = ("agents", "backends", "configurations", "experiments", "runs", "workloads")
AD_HOC = {
    "two-agents": "--agent kieker,opentelemetry --rate 1000/s --depth 10 --budget 5min",
    "factors": "--agent kieker --configuration binary-tcp --calls 5000 --threads 2 --jdk 17,21 --collector G1,Z",
    "backend": "real-backends --backend zipkin-server --blocks 7 --half-width 1%",
    "languages": "--agent opentelemetry --workload calltree/python,calltree/go --rate 100/s",
}
PYTHON = """\
#!/bin/sh
case "$*" in
  *--version) echo "Python 3.11.7" ;;
  *_base_executable*) echo "$0" ;;
  *) echo CPython ;;
esac
"""
"""Stands in for the Python on PATH."""

Outputs = dict[str, str]
"""By the golden's name below its group."""


@contextlib.contextmanager
def neutral(folder: Path) -> Generator[None]:
    """In this folder, with an environment that has no Java, no colours and a terminal of a fixed width."""
    (folder / "empty").mkdir(exist_ok=True)
    environment = {
        "COLUMNS": str(COLUMNS),
        "HOME": "/home/user",
        "LC_ALL": "C.UTF-8",
        "PATH": str(folder / "empty"),
        "SHELL": "/bin/bash",
        "TRACETAX_LOCK": str(folder / "lock"),
    }
    with patch.dict(os.environ, environment, clear=True), contextlib.chdir(folder), plenty_of_memory():
        yield


def typed(*words: str) -> str:
    """What a command prints; below it the exit status, where that is not 0."""
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        patch.object(sys, "argv", ["tracetax", *words]),
    ):
        try:
            status = app(words, result_action="return_value")
        except UserError as error:
            printed.write(f"{error}\n")
            status = int(error.exit_code)
        except SystemExit as ending:
            status = ending.code
    text = printed.getvalue()
    return rounded(f"{text}(exit status {status})\n" if status else text)


def rounded(text: str) -> str:
    """The text with every number of more than ``DIGITS`` digits rounded to so many."""

    def shorter(found: re.Match[str]) -> str:
        digits = re.sub(r"e.*|\D", "", found[0]).lstrip("0")
        return found[0] if len(digits) <= DIGITS else repr(float(f"{float(found[0]):.{DIGITS}g}"))

    return LONG_NUMBER.sub(shorter, text)


def by_element(page: str) -> str:
    """The page with a line for each element, so that a difference can be read; long curves as their checksum."""

    def checksum(curve: re.Match[str]) -> str:
        return f' d="{len(curve[1])} characters, sha256 {hashlib.sha256(curve[1].encode()).hexdigest()[:16]}"'

    return LONG_CURVE.sub(checksum, page.replace("><", ">\n<"))


def run_outputs(name: str, folder: Path) -> Outputs:
    """All that ``report`` makes of a stored run."""
    run = _copied(name, folder)
    path = str(run.relative_to(folder))
    with neutral(folder):
        outputs = {"terminal.txt": typed("report", path)}
        if (run / "capacity.json").is_file():
            return outputs | {"capacity.json": rounded((run / "capacity.json").read_text(encoding="utf-8"))}
        for form, ending in (("csv", "csv"), ("markdown", "md"), ("lines", "lines.csv")):
            outputs[f"export.{ending}"] = typed("report", path, "--export", form)
    outputs["findings.json"] = rounded((run / "findings.json").read_text(encoding="utf-8"))
    outputs["report.html.txt"] = by_element((run / "report.html").read_text(encoding="utf-8"))
    measures = pl.read_parquet(run / "measures.parquet")
    outputs["measures.csv"] = rounded(measures.pivot("trial", index="measure", values="value").write_csv())
    return outputs


def comparisons(folder: Path) -> Outputs:
    """``compare`` of a stored run with the same run cut short by a block."""
    shorter = _copied("agents", folder).rename(folder / "runs" / "two-blocks")
    for trial in (shorter / "trials").iterdir():
        if json.loads((trial / "record.json").read_text(encoding="utf-8"))["block"] == LAST_BLOCK:
            shutil.rmtree(trial)
    _copied("agents", folder)
    with neutral(folder):
        words = ("compare", "runs/two-blocks", "runs/agents")
        return {
            "terminal.txt": typed(*words, "--fail-if", "slower"),
            "markdown.md": typed(*words, "--markdown"),
            "comparison.json": typed(*words, "--json"),
        }


def plans(folder: Path) -> Outputs:
    """The plan of every experiment, of each of its versions, and of what is typed without one."""
    outputs: Outputs = {}
    with neutral(folder):
        (folder / "empty" / "python3").write_text(PYTHON, encoding="utf-8")
        (folder / "empty" / "python3").chmod(0o755)
        for file in sorted((ROOT / "experiments").glob("*.toml")):
            text = file.read_text(encoding="utf-8")
            tables = re.findall(r"^\[(fast|as-published)\]", text, re.MULTILINE)
            seed = () if "\n[search]\n" in text else SEED
            for version in ("", *tables):
                option = (f"--{version}",) if version else ()
                name = f"{file.stem}.{version}.txt" if version else f"{file.stem}.txt"
                outputs[name] = planned(file.stem, *option, *seed)
        for name, words in AD_HOC.items():
            outputs[f"typed.{name}.txt"] = planned(*words.split(), *SEED)
    return outputs


SEED = ("--seed", "1")
"""Decides the order of the trials in a block; searches have none."""


def planned(*words: str) -> str:
    """What ``run`` says that it would do."""
    return ESTIMATE.sub(r"\1", typed("run", *words, "--dry-run"))


def listings(folder: Path) -> Outputs:
    """Every listing, as a table and for programs."""
    for place, name in enumerate(stored_runs()):
        manifest = _copied(name, folder) / "manifest.json"
        os.utime(manifest, (1_000_000 + place, 1_000_000 + place))  # runs are listed by age
    outputs: Outputs = {}
    with neutral(folder):
        for kind in LISTED:
            outputs[f"{kind}.txt"] = typed("list", kind)
            outputs[f"{kind}.json"] = typed("list", kind, "--json")
        outputs["configurations.kieker.txt"] = typed("list", "configurations", "kieker")
    return outputs


def helps(folder: Path) -> Outputs:
    """What ``--help`` says of every command, and what completion is made by."""
    with neutral(folder):
        outputs = {f"{command}.txt": typed(command, "--help") for command in COMMANDS}
        outputs["tracetax.txt"] = typed("--help")
        outputs["completion.bash"] = typed("completion", "bash")
    return outputs


def launched(folder: Path) -> Outputs:
    """The command lines and environments of all processes that a trial starts."""
    del folder
    return launches()


def stored_runs() -> Sequence[str]:
    """The names of the stored runs."""
    return sorted(path.name for path in RUNS.iterdir() if path.is_dir())


def groups() -> dict[str, Callable[[Path], Outputs]]:
    """By its name each group of goldens, made in a folder that is empty."""
    return {
        "compare": comparisons,
        "help": helps,
        "launch": launched,
        "list": listings,
        "plan": plans,
        **{f"run-{name}": partial(run_outputs, name) for name in stored_runs()},
    }


def _copied(name: str, folder: Path) -> Path:
    """A stored run below a folder, to be written to."""
    return Path(shutil.copytree(RUNS / name, folder / "runs" / name))
