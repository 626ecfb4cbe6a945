"""Runs javac and puts classes into a jar, the same bytes from the same classes."""

import os
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tracetax.artifacts.cache import CONTENTS
from tracetax.artifacts.tools import find_tool, run_tool
from tracetax.errors import UserError
from tracetax.process import clean_environment

OPTIONS = ("-encoding", "UTF-8", "-Xlint:-options", "-proc:none")
"""Without annotation processors: an agent's jar on the class path may bring some."""
SECONDS = 300.0
VERSION_SECONDS = 60.0
RELEASE = 11
"""The release of Java that a program which a trial builds is compiled for where no step says another."""
MANIFEST = "META-INF/MANIFEST.MF"
_EARLIEST = (1980, 1, 1, 0, 0, 0)


def compile_folder(
    sources: Path, target: Path, *, class_path: str, release: int, log: Path, what: str, advice: str
) -> None:
    """Compile every ``.java`` below ``sources`` into ``target``; other files there are resources and go along.

    Raises UserError: ``what`` begins its message, ``advice`` is in it.
    """
    files = sorted(path for path in sources.rglob("*") if path.is_file())
    programs = [str(path) for path in files if path.suffix == ".java"]
    if not programs:
        raise UserError(f"{what}: there is no .java below {sources}. {advice}")
    target.mkdir(parents=True, exist_ok=True)
    run_tool(
        what,
        compile_command(programs, target, class_path=class_path, release=release),
        log=log,
        advice=advice,
        seconds=SECONDS,
        environment=clean_environment(os.environ, {}),
    )
    for path in files:
        if path.suffix != ".java" and path != sources / CONTENTS:  # of a prepared folder, which has that itself
            place = target / path.relative_to(sources)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)


def program_sources(folder: Path) -> dict[Path, Path]:
    """The sources below a folder that can be compiled, by where in it they lie."""
    return {path.relative_to(folder): path for path in sorted(folder.rglob("*.java"))}


def compile_command(files: Sequence[str], target: Path, *, class_path: str, release: int = RELEASE) -> list[str]:
    """What compiles ``files`` into ``target``. Raises ToolFailed where there is no compiler."""
    where = ("-cp", class_path) if class_path else ()
    return [str(javac()), "--release", str(release), *OPTIONS, *where, "-d", str(target), *files]


def javac() -> Path:
    """The compiler. Raises ToolFailed where there is none."""
    return find_tool("javac", "to prepare an agent's folder: a JDK of at least 17")


def javac_version(cache: Path) -> str:
    """What the compiler says about itself. Raises ToolFailed."""
    log, environment = cache / "logs" / "javac-version", clean_environment(os.environ, {})
    command = [str(javac()), "-version"]
    return run_tool("javac does not work", command, log=log, seconds=VERSION_SECONDS, environment=environment).strip()


def pack(classes: Path, jar: Path) -> None:
    """Put a folder into a jar: its manifest first, where it has one, as Java wants it."""
    names = sorted(path.relative_to(classes).as_posix() for path in classes.rglob("*") if path.is_file())
    jar.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(jar, "w") as archive:
        for name in sorted(names, key=lambda name: name != MANIFEST):
            entry = zipfile.ZipInfo(name, _EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, (classes / name).read_bytes())
