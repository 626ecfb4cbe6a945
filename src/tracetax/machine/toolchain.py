"""Which JDKs there are, and which JDK, Maven and Go this process would use: those that ``./tracetax`` put first."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from tracetax.model import Java
from tracetax.process import clean_environment

OLDEST_JDK = 17
ARCHIVES = ("lib/server/classes*.jsa", "lib/*/server/classes*.jsa", "jre/lib/*/server/classes*.jsa")
"""Class-data archives of today's JDKs, and of releases before 9."""


class Jdk(Struct, frozen=True):
    """A JDK, or a JRE where ``javac`` is None."""

    home: Path
    version: str
    vendor: str
    javac: Path | None
    archive: bool = True
    """Whether the JDK has a class-data archive."""

    @property
    def java(self) -> Path:
        """The JDK's program ``java``."""
        return self.home / "bin" / "java"

    @property
    def described(self) -> Java:
        """What manifest and findings say of the JDK."""
        kind = "JDK" if self.javac else "runtime"
        return Java(version=self.version, vendor=self.vendor, kind=kind, archive=self.archive, home=str(self.home))

    @property
    def release(self) -> int:
        """The feature release: 17 of 17.0.15, 8 of 1.8.0."""
        parts = re.split(r"[._+-]", self.version.removeprefix("1."))
        return int(parts[0]) if parts[0].isdigit() else 0

    def __str__(self) -> str:
        return str(self.described)


def find_jdk(environment: Mapping[str, str]) -> Jdk | None:
    """The JDK of JAVA_HOME, else the one whose ``java`` is first on PATH; None where neither has a ``java``.

    Its paths are absolute, since JVMs are started in other folders.
    """
    in_home = Path(environment["JAVA_HOME"]).absolute() / "bin/java" if environment.get("JAVA_HOME") else None
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    java = in_home if in_home and in_home.is_file() else Path(on_path).resolve() if on_path else None
    return None if java is None else jdk_at(java.parent.parent)


def find_jdks(environment: Mapping[str, str], folders: Sequence[str]) -> list[Jdk]:
    """Every Java of this machine, each once: those of JAVA_HOME and PATH, then what lies in ``folders``, by name."""
    homes = [Path(environment["JAVA_HOME"]).absolute()] if environment.get("JAVA_HOME") else []
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    homes += [Path(on_path).resolve().parent.parent] if on_path else []
    for folder in folders:
        homes += sorted(Path(folder).expanduser().glob("*"))
    by_real_path: dict[Path, Path] = {}
    for home in homes:
        if (home / "bin" / "java").is_file():
            by_real_path.setdefault(home.resolve(), home)
    return [jdk_at(home) for home in by_real_path.values()]


def jdk_at(home: Path) -> Jdk:
    """The JDK in a folder, as its ``release`` file describes it; what that lacks, as the vendor, ``java`` is asked."""
    release = _release(home / "release")
    java, javac = home / "bin" / "java", home / "bin" / "javac"
    return Jdk(
        home=home,
        version=release.get("JAVA_VERSION") or _version_of([str(java), "-version"], r'version "([^"]+)"'),
        vendor=release.get("IMPLEMENTOR") or _vendor_of(java),
        javac=javac if javac.is_file() else None,
        archive=any(path for place in ARCHIVES for path in home.glob(place)),
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


def _vendor_of(java: Path) -> str:
    vendor = _version_of([str(java), "-XshowSettings:properties", "-version"], r"java\.vendor = (.+)")
    return "" if vendor == "unknown" else vendor.strip()


def _version_of(command: Sequence[str], pattern: str) -> str:
    """What a program says about itself; "unknown" where it says nothing that is understood.

    It is asked in the environment of a trial, with JAVA_HOME for Maven: what would change every JVM of the caller's,
    such as JAVA_TOOL_OPTIONS, changes no trial either.
    """
    home = {"JAVA_HOME": os.environ["JAVA_HOME"]} if "JAVA_HOME" in os.environ else {}
    environment = clean_environment(os.environ, home)
    try:
        done = subprocess.run(
            command, capture_output=True, env=environment, text=True, errors="replace", timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    version = re.search(pattern, done.stdout + done.stderr)
    return version.group(1) if version else "unknown"
