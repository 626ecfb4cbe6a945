"""``./tracetax test``: every check of this project's own code, then its tests.

All checks run, whatever fails before; each tells how long it took, a failing one what it found. The last line is
pytest's own summary.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from tracetax.artifacts import cache_dir, fetch
from tracetax.artifacts.builds import unstamped
from tracetax.errors import ExitCode, UserError
from tracetax.machine.limits import usable_cores
from tracetax.machine.toolchain import go_version
from tracetax.model import Artifact

STATICCHECK = "honnef.co/go/tools/cmd/staticcheck@v0.7.0"
JAVA_FORMAT = Artifact(
    name="google-java-format",
    maven="com.google.googlejavaformat:google-java-format:1.28.0:jar:all-deps",
    sha256="32342e7c1b4600f80df3471da46aee8012d3e1445d5ea1be1fb71289b07cc735",
)
JAVA_FOLDERS = ("workloads", "agents", "tests", "benchmarks")
PYTHON_MODULE = (sys.executable, "-I", "-m")
AT_ONCE = 4
"""Files of tests that run side by side at most, on as many cores: a trial takes up to 2 GiB of memory."""


class Check(Struct, frozen=True):
    """A command that passes with status 0; where ``silent``, it must print nothing as well."""

    name: str
    folder: Path
    command: Callable[[], Sequence[str]]
    """Prepares what the check needs and gives its command; may raise UserError."""
    silent: bool = False


class Outcome(Struct, frozen=True):
    """What came of a check."""

    name: str
    passed: bool
    seconds: float
    output: str


def run_checks(root: Path, arguments: Sequence[str]) -> ExitCode:
    """Run every check on the clone ``root``, then pytest with ``arguments``; tells all on standard output."""
    outcomes: list[Outcome] = []
    for check in checks(root, cache_dir(os.environ)):
        outcomes.append(run_check(check))
        print(describe(outcomes[-1]), flush=True)
    start = time.monotonic()
    status, summary = run_pytest(root, arguments)
    outcomes.append(Outcome("pytest", status == 0, time.monotonic() - start, ""))
    print(describe(outcomes[-1]))
    if failed := [outcome.name for outcome in outcomes if not outcome.passed]:
        print(f"{len(failed)} of {len(outcomes)} checks failed: {', '.join(failed)}")
    print(summary, flush=True)
    return ExitCode.FAILED if failed else ExitCode.OK


def checks(root: Path, cache: Path) -> Iterator[Check]:
    """The checks of Python, of every Go module and of all Java files; ``cache`` keeps the checkers of the last two."""
    pyright = (*PYTHON_MODULE, "pyright", "--pythonpath", sys.executable)
    yield Check("ruff check", root, lambda: (*PYTHON_MODULE, "ruff", "check"))
    yield Check("ruff format", root, lambda: (*PYTHON_MODULE, "ruff", "format", "--check"))
    yield Check("pyright", root, lambda: pyright)
    for module in sorted(root.glob("*/go.mod")):
        folder = module.parent
        yield Check(f"gofmt {folder.name}", folder, lambda: ("gofmt", "-l", "-d", "."), silent=True)
        yield Check(f"go vet {folder.name}", folder, lambda: ("go", "vet", "./..."))
        yield Check(f"staticcheck {folder.name}", folder, lambda: (str(staticcheck(cache)), "./..."))
        yield Check(f"go test {folder.name}", folder, lambda: ("go", "test", "./..."))
    files = sorted(str(file) for name in JAVA_FOLDERS for file in (root / name).rglob("*.java"))
    if files:
        yield Check("google-java-format", root, lambda: java_format(cache, files))


def run_check(check: Check) -> Outcome:
    """Run one check to its end; a tool that is missing or cannot be made fails it, with the reason as output."""
    start = time.monotonic()
    passed = False
    try:
        done = subprocess.run(
            check.command(),
            cwd=check.folder,
            env={**unstamped(os.environ), "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError as error:
        output = f"{error.filename} is not there. Start the checks by ./tracetax test, which sets it up."
    except UserError as error:
        output = str(error)
    else:
        output = done.stdout.strip()
        passed = done.returncode == 0 and not (check.silent and output)
        output = output or f"ended with status {done.returncode} and said nothing"
    return Outcome(check.name, passed, time.monotonic() - start, "" if passed else output)


def describe(outcome: Outcome) -> str:
    """One line, and below it what a failing check said."""
    line = f"{'ok' if outcome.passed else 'FAILED':<7}{outcome.name:<20}{outcome.seconds:>7.1f} s"
    return f"{line}\n{outcome.output}" if outcome.output else line


def run_pytest(root: Path, arguments: Sequence[str]) -> tuple[int, str]:
    """Run the tests on all cores, up to four; their output is passed on as it comes, the last line held back.

    Returns the status and that line. A later option of ``arguments`` wins: ``-n 0`` runs one test after the other.
    The tests of a file stay together, for they share what they set up.
    """
    side_by_side = (f"--numprocesses={min(AT_ONCE, usable_cores())}", "--dist=loadfile")
    held = ""
    with subprocess.Popen(
        (sys.executable, "-m", "pytest", *side_by_side, *arguments),
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as pytest:
        assert pytest.stdout is not None
        for line in pytest.stdout:
            if held:
                print(held, flush=True)
            held = line.rstrip()
    return pytest.returncode, held


def staticcheck(cache: Path) -> Path:
    """The staticcheck program, built on first use; Go verifies its source by the checksum database."""
    folder = cache / "tools" / f"{STATICCHECK.rpartition('/')[2]}-go{go_version()}"
    program = folder / "staticcheck"
    if program.is_file():
        return program
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as building:
        done = subprocess.run(
            ("go", "install", STATICCHECK),
            env={**unstamped(os.environ), "GOBIN": building},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode != 0:
            raise UserError(f"go install {STATICCHECK} failed:\n{done.stdout.strip()}", ExitCode.ENVIRONMENT)
        (Path(building) / "staticcheck").replace(program)
    return program


def java_format(cache: Path, files: Sequence[str]) -> Sequence[str]:
    """The command that names the Java files that google-java-format would change."""
    jar = fetch(JAVA_FORMAT, cache)
    return ("java", "-jar", str(jar), "--dry-run", "--set-exit-if-changed", *files)
