"""The checkers that do not come as Python packages: each is fetched or built on first use, and kept in the cache."""

import os
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from tracetax.artifacts import fetch
from tracetax.artifacts.builds import unstamped
from tracetax.errors import ExitCode, UserError
from tracetax.machine.toolchain import go_version
from tracetax.model import Artifact

STATICCHECK = "honnef.co/go/tools/cmd/staticcheck@v0.7.0"
JAVA_FORMAT = Artifact(
    name="google-java-format",
    maven="com.google.googlejavaformat:google-java-format:1.28.0:jar:all-deps",
    sha256="32342e7c1b4600f80df3471da46aee8012d3e1445d5ea1be1fb71289b07cc735",
)

_one_builds = threading.Lock()
"""Several modules are checked at once, and one of them builds for all."""


def staticcheck(cache: Path) -> Path:
    """The staticcheck program, built on first use; Go verifies its source by the checksum database."""
    with _one_builds:
        return _staticcheck(cache)


def _staticcheck(cache: Path) -> Path:
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
