"""The start of Tracetax: where pip has installed it, with what the launcher ``./tracetax`` does for a clone."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO, cast

from tracetax import cli
from tracetax.place import INSTALLED, PROGRAM

CALLERS_OWN = (
    *("PYTHONHOME", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV", "GOROOT"),
    *("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_NO_COMPILE", "PIP_NO_BINARY", "PIP_CONSTRAINT"),
    *("PIP_PYTHON", "PIP_DRY_RUN"),
)
"""A caller's Python, pip and Go settings are for the caller's projects. Mirrors, proxies and certificates stay."""
NEED_JAVA = frozenset({"run", "capacity", "check-agent", "doctor"})
_LAUNCHER = re.compile(r"(?<![/~.])\./tracetax\b(?![/-])")
"""How sentences name the program: as somebody types it in a clone."""


def main() -> None:
    """Run the command that was typed."""
    if INSTALLED:
        arguments, yes = without_yes(sys.argv[1:])
        sys.argv[1:] = arguments
        environment = launched(os.environ, Path(sys.executable).parent, yes=yes)
        if NEED_JAVA & set(arguments):
            environment = with_jdk(environment)
        os.environ.clear()
        os.environ.update(environment)
        sys.stdout, sys.stderr = (cast(TextIO, Renaming(stream)) for stream in (sys.stdout, sys.stderr))
    cli.main()


def without_yes(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """The arguments without each ``--yes`` before a ``--``, and whether there was one."""
    own = list(arguments).index("--") if "--" in arguments else len(arguments)
    kept = [argument for argument in arguments[:own] if argument != "--yes"]
    return [*kept, *arguments[own:]], len(kept) < own


def launched(environment: Mapping[str, str], programs: Path, *, yes: bool) -> dict[str, str]:
    """The environment that the launcher would hand on; ``programs`` is where pip puts ``go``, beside Python."""
    kept = {name: value for name, value in environment.items() if name not in CALLERS_OWN}
    kept["GOTOOLCHAIN"] = "local"
    if (programs / "go").is_file():
        kept["PATH"] = f"{programs}{os.pathsep}{environment.get('PATH', os.defpath)}"
    if yes or environment.get("CI") in ("true", "1"):
        kept["TRACETAX_YES"] = "1"
    return kept


def with_jdk(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment with the first JDK that will do as its Java; without JAVA_HOME where there is none."""
    from tracetax.catalog.runtime_file import sound_runtimes
    from tracetax.machine.toolchain import find_interpreters

    java = sound_runtimes(cli.ROOT).get("java")
    for jdk in find_interpreters(java, environment) if java else ():
        if jdk.compiler and java and java.find and jdk.release >= java.find.least:
            path = f"{jdk.home / 'bin'}{os.pathsep}{environment.get('PATH', os.defpath)}"
            return {**environment, "JAVA_HOME": str(jdk.home), "PATH": path}
    return {name: value for name, value in environment.items() if name != "JAVA_HOME"}


def renamed(text: str) -> str:
    """A text with the installed program in place of a clone's launcher."""
    return _LAUNCHER.sub(PROGRAM, text)


class Renaming:
    """A stream whose sentences name the program as it is typed here; all else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text as ``renamed`` makes it."""
        self._stream.write(renamed(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
