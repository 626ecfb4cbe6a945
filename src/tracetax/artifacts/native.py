"""``cc`` of a prepared folder: a shared library in C or C++, built by the system's compiler."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from tracetax.artifacts.compiling import javac
from tracetax.artifacts.tools import ToolFailed, run_tool
from tracetax.errors import UserError
from tracetax.preparation import NativeBuild
from tracetax.process import clean_environment
from tracetax.words import listed_words

COMPILER = "c++"
"""Compiles both languages: gcc's and clang's are called so."""
COMPILERS_PACKAGE = "g++"
LANGUAGES = {".c": "c", ".cc": "c++", ".cpp": "c++"}
"""The language of a source by the end of its name; other files beside it are headers."""
OPTIONS = ("-O2", "-fPIC", "-shared", "-pthread", "-Wall", "-Wl,--no-undefined")
SECONDS = 300.0
VERSION_SECONDS = 60.0


def lacking(build: NativeBuild, cache: Path) -> str:
    """What this machine lacks to build a library, with the way out; empty where it has all. Raises ToolFailed."""
    lacks: list[str] = []
    if shutil.which(COMPILER) is None:
        lacks.append(f"a C++ compiler ({COMPILER})")
    else:
        lacks += [f"lib{name} with its headers" for name in build.links if not _library(name, cache).is_absolute()]
    if not lacks:
        return ""
    packages = " ".join((COMPILERS_PACKAGE, *build.packages))
    return (
        f"This machine lacks {listed_words(lacks)}, which {build.library} is built with.\n"
        f"Type: apt-get install {packages}, or what your system calls them. ./tracetax --yes run … does that too."
    )


def compiler_key(build: NativeBuild, cache: Path) -> str:
    """The compiler's version and the files that are linked. Raises ToolFailed where one is missing."""
    if lacks := lacking(build, cache):
        raise ToolFailed(lacks)
    version = _asked("--version", cache)
    return "\n".join((version, *OPTIONS, *(_library(name, cache).resolve().name for name in build.links)))


def jdk_include() -> Path:
    """The folder of the headers of the Java Native Interface, which the JDK that compiles has.

    Raises ToolFailed where there is none.
    """
    return javac().resolve().parents[1] / "include"


def build_library(
    sources: Path,
    library: Path,
    *,
    include: Sequence[Path],
    links: Sequence[str],
    log: Path,
    what: str,
    advice: str,
) -> None:
    """Build a shared library of every C and C++ source below a folder. Raises UserError, beginning with ``what``."""
    files = sorted(path for path in sources.rglob("*") if path.suffix in LANGUAGES)
    if not files:
        raise UserError(f"{what}: there is no .c, .cc or .cpp below {sources}. {advice}")
    library.parent.mkdir(parents=True, exist_ok=True)
    run_tool(
        what,
        [
            COMPILER,
            *OPTIONS,
            *(f"-I{folder}" for folder in (sources, *include)),
            *(word for file in files for word in ("-x", LANGUAGES[file.suffix], str(file))),
            *("-x", "none"),
            *(f"-l{name}" for name in links),
            *("-o", str(library)),
        ],
        log=log,
        advice=advice,
        seconds=SECONDS,
        environment=clean_environment(os.environ, {}),
    )


def _library(name: str, cache: Path) -> Path:
    """Where the compiler finds a library that it can link with; its bare name where it finds none."""
    return Path(_asked(f"-print-file-name=lib{name}.so", cache))


def _asked(question: str, cache: Path) -> str:
    log, environment = cache / "logs" / "compiler", clean_environment(os.environ, {})
    command = [COMPILER, question]
    what = f"{COMPILER} does not work"
    return run_tool(what, command, log=log, seconds=VERSION_SECONDS, environment=environment).strip()
