"""Which JDK, Maven and Go this process would use: those that ``./tracetax`` put first on PATH."""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

OLDEST_JDK = 17


class Jdk(Struct, frozen=True):
    """A JDK, or a JRE where ``javac`` is None."""

    home: Path
    version: str
    vendor: str
    javac: Path | None

    @property
    def release(self) -> int:
        """The feature release: 17 of 17.0.15, 8 of 1.8.0."""
        parts = re.split(r"[._+-]", self.version.removeprefix("1."))
        return int(parts[0]) if parts[0].isdigit() else 0

    def __str__(self) -> str:
        return f"JDK {self.version}" + (f" ({self.vendor})" if self.vendor else "")


def find_jdk(environment: Mapping[str, str]) -> Jdk | None:
    """The JDK of JAVA_HOME, else the one whose ``java`` is first on PATH; None where neither has a ``java``.

    Its paths are absolute, since JVMs are started in other folders.
    """
    in_home = Path(environment["JAVA_HOME"]).absolute() / "bin/java" if environment.get("JAVA_HOME") else None
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    java = in_home if in_home and in_home.is_file() else Path(on_path).resolve() if on_path else None
    if java is None:
        return None
    home = java.parent.parent
    release = _release(home / "release")
    javac = java.with_name("javac")
    return Jdk(
        home=home,
        version=release.get("JAVA_VERSION") or _version_of([str(java), "-version"], r'version "([^"]+)"'),
        vendor=release.get("IMPLEMENTOR", ""),
        javac=javac if javac.is_file() else None,
    )


def maven_version() -> str | None:
    """The version of the ``mvn`` on PATH; None where there is none."""
    return _version_of(["mvn", "--version"], r"Apache Maven ([\w.-]+)") if shutil.which("mvn") else None


def go_version() -> str | None:
    """The version of the ``go`` on PATH; None where there is none."""
    return _version_of(["go", "version"], r"go version go([\w.-]+)") if shutil.which("go") else None


def _release(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return {}
    return {key: value.strip('"') for key, _, value in (line.partition("=") for line in lines)}


def _version_of(command: Sequence[str], pattern: str) -> str:
    """What a program says about itself; "unknown" where it says nothing that is understood."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    found = re.search(pattern, done.stdout + done.stderr)
    return found.group(1) if found else "unknown"
