"""Runs the tool as a person does."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def tracetax(
    *words: str, directory: Path = ROOT, seconds: float = 600, environment: dict[str, str] | None = None
) -> tuple[int, str]:
    """Run a command; returns its exit status and all that it printed."""
    done = subprocess.run(
        (sys.executable, "-m", "tracetax", *words),
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "100", **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    return done.returncode, done.stdout


def processes_naming(folder: Path) -> list[str]:
    """Command lines of living processes that name a folder."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in command:
            found.append(command)
    return found
