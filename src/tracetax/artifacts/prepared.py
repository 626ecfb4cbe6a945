"""``[[prepare]]``: makes the folders that an agent's configurations refer to, each once per content."""

import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tracetax.artifacts.archives import ArchiveError, unpack
from tracetax.artifacts.builds import GoModule, build_by_go, go_version
from tracetax.artifacts.cache import BUILT, CONTENTS, Say, built, key_of, sha256_of, silent, staging
from tracetax.artifacts.compiling import compile_folder, javac_version, pack
from tracetax.artifacts.native import build_library, compiler_key, jdk_include
from tracetax.artifacts.packages import MANIFEST, Installed, install_by_npm, install_by_pip, npm_key, pip_key
from tracetax.artifacts.tools import find_tool, run_tool
from tracetax.catalog.placeholders import (
    ARTIFACT,
    FILES,
    JDK_INCLUDE,
    OUT,
    PREPARED,
    WORKLOAD_SOURCES,
    fill,
    names_in,
    paths_of,
    texts_of,
)
from tracetax.errors import ExitCode, UserError
from tracetax.model import WORKLOAD_BUILT
from tracetax.preparation import Compilation, GoBuild, NativeBuild, Packages, PrepareStep, Program
from tracetax.process import clean_environment

WAY = "1"
"""Changes when the same definition would make another folder."""
PROGRAM_SECONDS = 900.0


class Workplace(Struct, frozen=True):
    """What the steps of one agent, or of one backend, may refer to, and where things are kept."""

    agent: str
    folder: Path
    """``agents/<name>/<language>`` or ``backends/<name>``."""
    artifacts: Mapping[str, Path]
    classes: Path
    """The workload as it was built."""
    sources: Path
    monitored: Mapping[str, str]
    cache: Path
    files: str = FILES
    """The placeholder of its folder ``files``."""
    definition: str = "agent.toml"
    """The file in ``folder`` that says what is prepared."""
    interpreter: Path | None = None
    """What the workload runs on; None where nothing runs it, or where it is not known."""
    runs_on: str = ""
    """The interpreter's version."""

    def with_artifacts(self, artifacts: Mapping[str, Path]) -> "Workplace":
        """The same place with these files."""
        return replace(self, artifacts=artifacts)

    @property
    def values(self) -> dict[str, str]:
        """What placeholders are filled with that do not depend on other steps."""
        return {
            **self.monitored,
            **{f"{ARTIFACT}{name}": str(path) for name, path in self.artifacts.items()},
            self.files: str(self.folder / "files"),
            WORKLOAD_BUILT: str(self.classes),
            WORKLOAD_SOURCES: str(self.sources),
        }


class PrepareFailed(UserError):
    """A step that could not be done; the message names agent, step and the way out."""


def prepared(steps: Iterable[PrepareStep], place: Workplace, say: Say = silent) -> dict[str, Path]:
    """The folders of ``steps``, which come after those that they need, by name.

    Each lies in the cache under a key of its definition and all that goes into it. Raises UserError.
    """
    folders: dict[str, Path] = {}
    for step in steps:
        values = place.values | {f"{PREPARED}{name}": str(folder) for name, folder in folders.items()}
        if any(JDK_INCLUDE in names_in(text) for text in texts_of(step)):
            values[JDK_INCLUDE] = str(jdk_include())
        target = place.cache / BUILT / f"{place.agent}-{step.name}-{_key(step, values, place)}"
        folders[step.name] = built(target, place.cache, _Making(step, values, place, say), say)
    return folders


def _key(step: PrepareStep, values: Mapping[str, str], place: Workplace) -> str:
    """What changes whenever the folder would become another one."""
    digest = hashlib.sha256(f"{WAY}\n".encode())
    digest.update(msgspec.json.encode(step, order="deterministic"))
    words = (*step.run.jvm, *step.run.arguments) if step.run else ()
    within = {f"{{{name}}}" for word in words for name in names_in(word)}
    for text in sorted({*paths_of(step), *within}):
        if OUT not in names_in(text):
            digest.update(f"\n{text} {_content(fill(text, values), place)}".encode())
    if step.compile or step.run:
        digest.update(f"\n{javac_version(place.cache)}".encode())
    if step.go:
        digest.update(f"\n{go_version(place.cache)}".encode())
    if step.cc:
        digest.update(f"\n{compiler_key(step.cc, place.cache)}".encode())
    if step.pip:
        digest.update(f"\n{pip_key(place.runs_on)}".encode())
    if step.npm and place.interpreter:
        lock = Path(fill(step.npm.lock, values))
        log = place.cache / "logs" / "npm-version"
        digest.update(f"\n{npm_key(lock, place.interpreter, place.runs_on, log)}".encode())
    return digest.hexdigest()[:32]


def _content(value: str, place: Workplace) -> str:
    """What a text stands for, by content where it is a file or a folder."""
    if value in place.monitored.values():
        return value
    path = Path(value)
    if path.is_file():
        return f"{sha256_of(path)} {path.name}"
    if path.parent == place.cache / BUILT:
        return path.name  # which is a key of its content
    return key_of(path, (file for file in path.rglob("*") if file.is_file()))


class _Making:
    """Makes one folder: unpacks, copies, compiles, builds, installs, and runs a program, in this order."""

    def __init__(self, step: PrepareStep, values: Mapping[str, str], place: Workplace, say: Say) -> None:
        self._step = step
        self._values = values
        self._place = place
        self._say = say

    def __call__(self, folder: Path) -> None:
        """Make it in ``folder``, which is empty. Raises PrepareFailed or ToolFailed."""
        step, values = self._step, {**self._values, OUT: str(folder)}
        self._say(f"preparing {step.name} of {self._place.agent}")
        for text in step.unzip:
            self._unpack(text, Path(fill(text, values)), folder)
        for target, text in step.copy.items():
            self._copy(text, Path(fill(text, values)), folder / target)
        if step.compile:
            self._compile(step.compile, values, folder)
        if step.go:
            self._go(step.go, values, folder)
        if step.cc:
            self._cc(step.cc, values, folder)
        if step.pip:
            self._install("pip", step.pip, values, folder)
        if step.npm:
            self._install("npm", step.npm, values, folder)
        if step.run:
            self._run(step.run, values)
        if not any(path.is_file() for path in folder.rglob("*")):
            raise self._failed(f"there is nothing in the folder{' after strip' if step.strip else ''}")

    def _unpack(self, text: str, archive: Path, folder: Path) -> None:
        self._expect(text, archive.is_file(), archive)
        try:
            unpack(archive, folder, self._step.strip)
        except ArchiveError as error:
            raise self._failed(f"{archive} {error}") from error

    def _copy(self, text: str, source: Path, target: Path) -> None:
        self._expect(text, source.exists(), source)
        try:
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(CONTENTS))
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        except (FileExistsError, IsADirectoryError, NotADirectoryError) as error:
            raise self._failed(f"{source} cannot be copied to {error.filename}: {error.strerror}") from error

    def _compile(self, what: Compilation, values: Mapping[str, str], folder: Path) -> None:
        sources = Path(fill(what.sources, values))
        self._expect(what.sources, sources.is_dir(), sources)
        with staging(self._place.cache) as stage:
            classes = stage / "classes" if what.jar else folder
            compile_folder(
                sources,
                classes,
                class_path=":".join(fill(entry, values) for entry in what.class_path),
                release=what.release,
                log=self._log,
                what=f"{self._named} could not be compiled",
                advice=self._advice,
            )
            if what.jar:
                pack(classes, folder / what.jar)

    def _go(self, what: GoBuild, values: Mapping[str, str], folder: Path) -> None:
        sources = Path(fill(what.sources, values))
        self._expect(what.sources, sources.is_dir(), sources)
        replaced = {module: Path(fill(text, values)) for module, text in what.replace.items()}
        for module, place in replaced.items():
            self._expect(what.replace[module], (place / "go.mod").is_file(), place / "go.mod")
        self._say(f"building {what.program} of {self._place.agent} by Go: minutes, once")
        with staging(self._place.cache) as scratch:
            build_by_go(
                GoModule(sources, what.package, replaced),
                folder / what.program,
                log=self._log,
                what=f"{self._named} could not be built",
                advice=self._advice,
                scratch=scratch,
            )

    def _cc(self, what: NativeBuild, values: Mapping[str, str], folder: Path) -> None:
        sources, *include = (Path(fill(text, values)) for text in (what.sources, *what.include))
        for text, path in zip((what.sources, *what.include), (sources, *include), strict=True):
            self._expect(text, path.is_dir(), path)
        build_library(
            sources,
            folder / what.library,
            include=include,
            links=what.links,
            log=self._log,
            what=f"{self._named} could not be built",
            advice=self._advice,
        )

    def _install(self, tool: str, what: Packages, values: Mapping[str, str], folder: Path) -> None:
        lock = Path(fill(what.lock, values))
        self._expect(what.lock, lock.is_file(), lock)
        interpreter = self._place.interpreter
        if interpreter is None:
            raise self._failed(f"{tool} installs for what the workload runs on, and nothing runs this one")
        if tool == "npm" and not (lock.parent / MANIFEST).is_file():
            raise self._failed(f"{MANIFEST} is missing beside the lock: {lock.parent / MANIFEST}")
        to = Installed(
            folder=folder,
            interpreter=interpreter,
            runs_on=self._place.runs_on,
            log=self._log,
            what=f"{self._named} could not be made",
            advice=self._advice,
        )
        self._say(f"installing packages of {self._place.agent} by {tool}")
        install = install_by_pip if tool == "pip" else install_by_npm
        install(lock, to)

    def _run(self, program: Program, values: Mapping[str, str]) -> None:
        with staging(self._place.cache) as stage:  # what it leaves where it was started belongs to nothing
            run_tool(
                f"{self._named} could not be made: {program.main} failed",
                program_command(program, values),
                log=self._log,
                advice=self._advice,
                seconds=PROGRAM_SECONDS,
                environment=clean_environment(os.environ, {}),
                directory=stage,
            )

    def _expect(self, text: str, there: bool, path: Path) -> None:
        if not there:
            raise self._failed(f'"{text}" is not there ({path})')

    def _failed(self, why: str) -> PrepareFailed:
        return PrepareFailed(f"{self._named} could not be prepared: {why}\n{self._advice}", ExitCode.ENVIRONMENT)

    @property
    def _named(self) -> str:
        return f'The folder "{self._step.name}" of {self._place.agent}'

    @property
    def _log(self) -> Path:
        return self._place.cache / "logs" / f"{self._place.agent}-{self._step.name}"

    @property
    def _advice(self) -> str:
        return f"What it is made of stands in {self._place.folder / self._place.definition}, [[prepare]]."


def program_command(program: Program, values: Mapping[str, str]) -> list[str]:
    """What runs a step's program. Raises ToolFailed where there is no Java."""
    return [
        str(find_tool("java", "to prepare an agent's folder")),
        *(fill(flag, values) for flag in program.jvm),
        *("-cp", ":".join(fill(entry, values) for entry in program.class_path)),
        program.main,
        *(fill(argument, values) for argument in program.arguments),
    ]


def class_files(class_name: str, class_path: Iterable[Path]) -> Iterator[Path]:
    """The entries of a class path that have a class, in order."""
    name = f"{class_name.replace('.', '/')}.class"
    for entry in class_path:
        if entry.is_dir():
            if (entry / name).is_file():
                yield entry
        elif entry.is_file() and _holds(entry, name):
            yield entry


def _holds(jar: Path, name: str) -> bool:
    try:
        with zipfile.ZipFile(jar) as archive:
            return name in archive.namelist()
    except zipfile.BadZipFile:
        return False
