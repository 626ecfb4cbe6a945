"""Packages that a lock pins by their checksums, installed by pip, npm and Maven: nothing else is installed, or run.

All fetch with their user's own settings (index, registry, mirror, proxy), so a lock names no server.
"""

import importlib.metadata
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from tracetax.artifacts.cache import sha256_of
from tracetax.artifacts.maven import file_name
from tracetax.artifacts.tools import ToolFailed, find_tool, run_tool

SECONDS = 900.0
VERSION_SECONDS = 60.0
MANIFEST = "package.json"
"""What npm needs beside its lock, which must go with it."""
LOCK = "package-lock.json"
"""What npm calls its lock, whatever it is called in an agent's folder."""
PROJECT = "pom.xml"
"""What Maven needs beside a lock of jars, and what that is made from."""
NPM_OF_HOME = "lib/node_modules/npm/bin/npm-cli.js"
"""Where the npm lies that comes with a Node, below its home."""
NO_NETWORK = (
    r"NewConnectionError|NameResolutionError|[Nn]ame or service not known|name resolution|Connection (refused|reset)"
    r"|Network is unreachable|ConnectTimeout|Read timed out|ENOTFOUND|EAI_AGAIN|ECONNRE|ETIMEDOUT|ENETUNREACH"
    r"|no such host|dial tcp|proxyconnect|i/o timeout"
)
OFFLINE = "Is there a network? Its own settings hold: its index or registry, and the proxy."
PIP_CAUSES = {
    r"DO NOT MATCH THE HASHES": "What came is not what the lock pins: the lock is wrong, or the package was changed. "
    "Make the lock anew only from a source that you trust.",
    r"--require-hashes|hashes are required|must have their versions pinned": (
        'The lock must pin every package, as "name==1.2 --hash=sha256:…".'
    ),
    NO_NETWORK: OFFLINE,
    r"Could not find a version|No matching distribution": "There is no wheel of it for {what}: "
    "pin a version that has one, or measure with another release.",
    r"No module named pip": "./tracetax doctor says how to get the environment that it belongs to.",
}
NPM_CAUSES = {
    r"EUSAGE|in sync": f"The lock does not go with {MANIFEST} beside it: make it anew, by npm install "
    "--package-lock-only --omit-lockfile-registry-resolved.",
    r"EINTEGRITY": "What came is not what the lock pins: the lock is wrong, or the package was changed. "
    "Make the lock anew only from a source that you trust.",
    NO_NETWORK: OFFLINE,
    r"ETARGET|E404": "The registry that npm asks has no such version.",
    r"EBADPLATFORM|EBADENGINE": "A package of it is not for {what}.",
}
MAVEN_CAUSES = {
    rf"{NO_NETWORK}|Unknown host": "Is there a network? Maven's own settings hold: mirror and proxy.",
    r"Could not find artifact|was not found in": "The repository that Maven asks has no such version.",
}
GO_CAUSES = {
    r"missing go\.sum entry|updates to go\.mod needed|go mod tidy|checksum mismatch|SECURITY ERROR": (
        "Its go.mod and go.sum do not go together: go mod tidy, in its folder, mends them."
    ),
    NO_NETWORK: OFFLINE,
}
"""What a client's output shows, as a regular expression, and the way out."""


class Installed(Struct, frozen=True):
    """Who installs where, and what its failure says."""

    folder: Path
    interpreter: Path
    """What the workload runs on: the packages are chosen for it."""
    runs_on: str
    """The interpreter's version."""
    log: Path
    what: str
    """How a message begins, such as: The folder "packages" of an agent could not be made."""
    advice: str
    """How a message ends."""


def explained(causes: Mapping[str, str], advice: str, what: str = "") -> Callable[[str], str]:
    """The advice about a client's failure: the way out of the first cause that its output shows, then ``advice``."""

    def of(output: str) -> str:
        way = next((way for pattern, way in causes.items() if re.search(pattern, output)), "")
        return f"{way.replace('{what}', what)} {advice}".strip()

    return of


def install_by_pip(lock: Path, to: Installed) -> None:
    """Install the wheels that a file of requirements pins, for the run's Python, and compile them.

    They are compiled here, so that no start of a trial is the first, and writes into the folder. Raises ToolFailed.
    """
    run_tool(
        to.what,
        [
            *(sys.executable, "-I", "-m", "pip", "--python", str(to.interpreter), "install"),
            *("--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--no-deps"),
            *("--only-binary", ":all:", "--require-hashes", "--target", str(to.folder), "-r", str(lock)),
        ],
        log=to.log,
        advice=explained(PIP_CAUSES, f"The lock is {lock}. {to.advice}", f"Python {to.runs_on}, {platform.machine()}"),
        seconds=SECONDS,
    )


def install_by_npm(lock: Path, to: Installed) -> None:
    """Install the packages that a lock pins into ``node_modules``; scripts of theirs are not run. Raises ToolFailed."""
    shutil.copyfile(lock, to.folder / LOCK)
    shutil.copyfile(lock.parent / MANIFEST, to.folder / MANIFEST)
    run_tool(
        to.what,
        [
            *(*_npm(to.interpreter), "ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"),
            *("--no-update-notifier", "--no-progress"),
        ],
        log=to.log,
        advice=explained(NPM_CAUSES, f"The lock is {lock}. {to.advice}", f"Node {to.runs_on}, {platform.machine()}"),
        seconds=SECONDS,
        environment=_with_node(to.interpreter),
        directory=to.folder,
    )


def install_by_maven(lock: Path, folder: Path, *, log: Path, what: str) -> None:
    """Copy the jars that a lock pins into a folder: those that ``pom.xml`` beside it needs at run time.

    A line of the lock is ``group:artifact:version sha256:…``. Raises ToolFailed, beginning with ``what``, where Maven
    fails or delivers anything else than is pinned.
    """
    pinned = dict(_jar(line, lock) for line in lock.read_text(encoding="utf-8").splitlines())
    run_tool(
        what,
        [
            *(str(find_tool("mvn", f"to fetch what {lock} pins")), "-q", "-B", "-f", str(lock.parent / PROJECT)),
            *("dependency:copy-dependencies", "-DincludeScope=runtime", "-Dmdep.useBaseVersion=true"),
            f"-DoutputDirectory={folder}",
        ],
        log=log,
        advice=explained(MAVEN_CAUSES, f"The lock is {lock}."),
        seconds=SECONDS,
    )
    received = {path.name: sha256_of(path) for path in folder.iterdir()}
    if wrong := sorted(name for name in pinned.keys() | received.keys() if pinned.get(name) != received.get(name)):
        listed = "".join(
            f"\n  {name}: pinned {pinned.get(name, 'not at all')}, received {received.get(name, 'not at all')}"
            for name in wrong
        )
        raise ToolFailed(
            f"{what}: what Maven delivered is not what {lock} pins.{listed}\nWhere a sum differs, delete Maven's copy, "
            f"usually in ~/.m2/repository, and try again. Where a file is missing on one side, {PROJECT} has changed: "
            f"scripts/lock-jars {lock.parent} makes the lock anew."
        )


def _jar(line: str, lock: Path) -> tuple[str, str]:
    """The file name and the checksum that a line of a lock of jars pins."""
    match = re.fullmatch(r"([^\s:]+(?::[^\s:]+){2,4}) sha256:([0-9a-f]{64})", line)
    if match is None:
        raise ToolFailed(f'{lock}: "{line}" is not "group:artifact:version sha256:…"')
    return file_name(match[1]), match[2]


def pip_key(runs_on: str) -> str:
    """What decides, beside the lock, what pip installs. Raises ToolFailed where there is no pip."""
    try:
        version = importlib.metadata.version("pip")
    except importlib.metadata.PackageNotFoundError:
        raise ToolFailed(
            f"pip is missing beside {sys.executable}; it is needed to install packages. "
            "./tracetax doctor says how to get the environment that it belongs to."
        ) from None
    return f"pip {version} {runs_on} {platform.machine()}"


def npm_key(lock: Path, interpreter: Path, runs_on: str, log: Path) -> str:
    """What decides, beside the lock, what npm installs. Raises ToolFailed where there is no npm."""
    command = [*_npm(interpreter), "--version"]
    environment = _with_node(interpreter)
    version = run_tool("npm does not work", command, log=log, seconds=VERSION_SECONDS, environment=environment)
    manifest = lock.parent / MANIFEST
    content = sha256_of(manifest) if manifest.is_file() else ""
    return f"npm {version.strip()} {runs_on} {platform.machine()} {content}"


def _npm(interpreter: Path) -> tuple[str, ...]:
    """The npm that comes with the run's Node, or else the one on PATH. Raises ToolFailed."""
    own = interpreter.resolve().parent.parent / NPM_OF_HOME
    if own.is_file():
        return (str(interpreter), str(own))
    found = shutil.which("npm")
    if found is None:
        raise ToolFailed(
            f"npm is missing: it is needed to install packages, and {interpreter} has none of its own. "
            "It comes with most distributions of Node: apt-get install npm"
        )
    return (found,)


def _with_node(interpreter: Path) -> dict[str, str]:
    """The user's own environment, in which ``node`` is the run's."""
    return {**os.environ, "PATH": f"{interpreter.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
