"""What runs programs on this machine, as the runtimes' files say how to find it; which Maven and Go there are."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from tracetax.process import clean_environment
from tracetax.program import Find, Question, Runtime, RuntimeVersion

GO_VERSION = r"go version go([\w.-]+)"
UNKNOWN = "unknown"
"""A version that a program does not tell in words that are understood."""


class Interpreter(Struct, frozen=True):
    """What runs programs of a language: a JDK, a Python, a Node. Where nothing runs them, what has built them."""

    program: Path
    """Absolute, since it is started in other folders."""
    home: Path
    version: str
    release: int
    """The feature release; 0 where the version does not say one."""
    name: str
    """What it is called."""
    vendor: str = ""
    compiler: Path | None = None
    """Of one that has its own."""
    archive: bool | None = None
    """Whether it has its archive of classes, without which it takes longer to start; None where it knows none."""

    @property
    def described(self) -> RuntimeVersion:
        """What manifest and findings say of it."""
        return RuntimeVersion(self.name, self.version, self.vendor, str(self.home), self.archive)

    def __str__(self) -> str:
        return str(self.described)


def find_interpreter(runtime: Runtime, environment: Mapping[str, str]) -> Interpreter | None:
    """The one in the home that ``environment`` names, else the first on PATH; None where there is neither."""
    find = runtime.find
    program = next(_programs(find, environment, ()), None) if find else None
    return interpreter(runtime, program) if program else None


def find_interpreters(runtime: Runtime, environment: Mapping[str, str]) -> list[Interpreter]:
    """All of this machine, each once: those of ``environment``, then what lies in the runtime's folders, by name."""
    by_real_path: dict[Path, Path] = {}
    for program in _programs(runtime.find, environment, runtime.folders) if runtime.find else ():
        by_real_path.setdefault(program.resolve(), program)
    return [interpreter(runtime, program) for program in by_real_path.values()]


def interpreter_at(runtime: Runtime, home: Path) -> Interpreter:
    """The one in a folder."""
    assert runtime.find
    return interpreter(runtime, home / runtime.find.program)


def interpreter(runtime: Runtime, program: Path) -> Interpreter:
    """What a program of a runtime is: as its file of facts says; what that lacks, the program is asked."""
    find = runtime.find
    assert find
    home = program.parents[min(len(Path(find.program).parts), len(program.parents)) - 1]
    facts = _facts(home / find.facts) if find.facts else {}
    version = facts.get(find.version.key) or _answer(program, find.version)
    vendor = "" if find.vendor is None else facts.get(find.vendor.key) or _answer(program, find.vendor)
    compiler = home / find.compiler if find.compiler and (home / find.compiler).is_file() else None
    name = find.called if compiler else f"{runtime.name} runtime" if find.compiler else runtime.name
    return Interpreter(
        program=program,
        home=home,
        version=version,
        release=find.release_of(version),
        name=name,
        vendor="" if vendor == UNKNOWN else vendor.strip(),
        compiler=compiler,
        archive=any(path for place in find.archives for path in home.glob(place)) if find.archives else None,
    )


def maven_version() -> str | None:
    """The version of the ``mvn`` on PATH; None where there is none."""
    return _asked(["mvn", "--version"], r"Apache Maven ([\w.-]+)") if shutil.which("mvn") else None


def go_version() -> str | None:
    """The version of the ``go`` on PATH; None where there is none."""
    return _asked(["go", "version"], GO_VERSION) if shutil.which("go") else None


def go_at(program: Path) -> Interpreter:
    """A Go, by its program; its feature release is 26 of 1.26.8."""
    version = _asked([str(program), "version"], GO_VERSION)
    release = re.match(r"1\.(\d+)", version)
    return Interpreter(program, program.parent.parent, version, int(release[1]) if release else 0, name="Go")


def _programs(find: Find, environment: Mapping[str, str], folders: Sequence[str]) -> Iterator[Path]:
    """Absolute paths of the programs that are there, in the order in which they are preferred."""
    if named := environment.get(find.home) if find.home else None:
        program = Path(named).absolute() / find.program
        if program.is_file():
            yield program
    if on_path := shutil.which(find.on_path, path=environment.get("PATH", "")):
        yield _real(Path(on_path).absolute(), find)
    for folder in folders:
        for home in sorted(Path(folder).expanduser().glob("*")):
            if (home / find.program).is_file():
                yield home / find.program


def _real(program: Path, find: Find) -> Path:
    """The program that the one on PATH starts: it may be a link, or a script that chooses between several."""
    if find.real is None:
        return program.resolve()
    answer = Path(_answer(program, find.real).strip())
    return answer if answer.is_absolute() and answer.is_file() else program.resolve()


def _facts(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return {}
    return {key: value.strip('"') for key, _, value in (line.partition("=") for line in lines)}


def _answer(program: Path, question: Question) -> str:
    return _asked([str(program), *question.words], question.pattern)


def _asked(command: Sequence[str], pattern: str) -> str:
    """What a program says about itself; ``UNKNOWN`` where it says nothing that is understood.

    It is asked in the environment of a trial, with JAVA_HOME for Maven, and Go fetches no other Go: what would change
    every process of a runtime, such as JAVA_TOOL_OPTIONS, changes no trial either.
    """
    home = {"JAVA_HOME": os.environ["JAVA_HOME"]} if "JAVA_HOME" in os.environ else {}
    environment = clean_environment(os.environ, home | {"GOTOOLCHAIN": "local"})
    try:
        done = subprocess.run(
            command, capture_output=True, env=environment, text=True, errors="replace", timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return UNKNOWN
    answer = re.search(pattern, done.stdout + done.stderr)
    return answer.group(1) if answer else UNKNOWN
