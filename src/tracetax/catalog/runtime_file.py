"""Reads ``runtimes/<runtime>/runtime.toml``, and looks at the locks beside it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from tracetax.catalog.agent_checks import check_names, check_one_group
from tracetax.catalog.agent_shape import Inside, VariableName
from tracetax.catalog.placeholders import names_in
from tracetax.catalog.reading import Name, Positive, Report, Text, did_you_mean, join, one_of, read_file, read_one
from tracetax.catalog.units import Size, size_from
from tracetax.program import PROCESS, Find, Further, Question, Runtime, Setting, ThreadNames, Wheel

FILE = "runtime.toml"
FOLDER = "runtimes"
ATTACHED = ("flags", "search_path", "runtime.files")
"""Placeholders of ``attach``: an agent's flags and search path, and the folder ``files`` beside the runtime's file."""
SHARED = ("cores", "error_file")
"""Placeholders of flags that every trial has."""
SettingName: TypeAlias = Annotated[
    str, Meta(pattern="[a-z][a-z_]{0,30}", extra={"means": "a name of lower-case letters and underscores"})
]
ThreadName: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"[^*]{1,15}|[^*]{1,15}\*",
        extra={"means": "the name of a thread: at most the 15 bytes that Linux keeps, with * for any end"},
    ),
]
_PIN = re.compile(r"^([\w-]+) *(?:==(\S+)|@)", re.MULTILINE)


class QuestionShape(Struct, frozen=True, kw_only=True):
    """``version = { words = ["-version"], pattern = '…' }``."""

    words: tuple[Text, ...]
    pattern: Text
    key: Text | None = None


class FindShape(Struct, frozen=True, kw_only=True):
    """``[find]``."""

    program: Inside
    on_path: Text
    version: QuestionShape
    release: Text = r"(\d+)"
    least: Positive = 1
    install: Text | None = None
    home: VariableName | None = None
    real: QuestionShape | None = None
    vendor: QuestionShape | None = None
    facts: Inside | None = None
    compiler: Inside | None = None
    called: Text | None = None
    archives: tuple[Inside, ...] = ()


class WheelShape(Struct, frozen=True, kw_only=True):
    """``[wheel]``."""

    package: Name
    home: Inside
    platforms: Text


class FurtherShape(Struct, frozen=True, kw_only=True):
    """``[[settings.<name>.further]]``."""

    choice: Text
    since: Positive
    until: Positive
    flags: tuple[Text, ...]


class BoundsShape(Struct, frozen=True, kw_only=True):
    """``releases = { min = 8, max = 99 }``."""

    min: Positive
    max: Positive


class SettingShape(Struct, frozen=True, kw_only=True):
    """``[settings.<name>]``."""

    kind: Literal["release", "size", "choice"]
    choices: tuple[Text, ...] = ()
    flags: tuple[Text, ...] = ()
    further: tuple[FurtherShape, ...] = ()
    begin: Size | None = None
    releases: BoundsShape | None = None
    least: Size | None = None
    default: Text | None = None
    required: bool = False
    title: Text | None = None


class SharedShape(Struct, frozen=True, kw_only=True):
    """``[shared]``."""

    timed: tuple[Text, ...] = ()
    flags: tuple[Text, ...] = ()


class ThreadsShape(Struct, frozen=True, kw_only=True):
    """``[threads]``."""

    jit: tuple[ThreadName, ...] = ()
    gc: tuple[ThreadName, ...] = ()
    own: tuple[ThreadName, ...] = ()


class RuntimeShape(Struct, frozen=True, kw_only=True):
    """The whole file."""

    name: Text
    languages: tuple[Text, ...] = ()
    written: Text = "{release}"
    find: FindShape | None = None
    folders: tuple[Text, ...] = ()
    not_inherited: tuple[VariableName, ...] = ()
    refused_flags: tuple[Text, ...] = ()
    wheel: WheelShape | None = None
    settings: dict[SettingName, SettingShape] = {}
    shared: SharedShape = SharedShape()
    threads: ThreadsShape = ThreadsShape()
    process: Text = PROCESS
    prints_threads_on: Literal["QUIT", "ABRT"] | None = None
    attach: dict[VariableName, Text] = {}
    recognized_by: Text | None = None


def runtime_names(root: Path) -> tuple[str, ...]:
    """The names of all runtimes."""
    return tuple(sorted(path.parent.name for path in (root / FOLDER).glob(f"*/{FILE}")))


def read_runtimes(root: Path) -> tuple[dict[str, Runtime], list[Report]]:
    """Every runtime by the name of its folder, and what is wrong with their files."""
    found = {key: read_runtime(key, root) for key in runtime_names(root)}
    runtimes = {key: runtime for key, (runtime, _) in found.items() if runtime is not None}
    return runtimes, [report for _, report in found.values()]


def sound_runtimes(root: Path) -> dict[str, Runtime]:
    """Every runtime whose file has no mistake; a run reports those that have."""
    found = {key: read_runtime(key, root) for key in runtime_names(root)}
    return {key: runtime for key, (runtime, report) in found.items() if runtime is not None and not report.problems}


def by_language(runtimes: Mapping[str, Runtime]) -> dict[str, Runtime]:
    """What runs programs of each language: a runtime names its languages, or else it is called like its only one."""
    return {language: runtime for runtime in runtimes.values() for language in runtime.languages}


def read_runtime(key: str, root: Path) -> tuple[Runtime | None, Report]:
    """A runtime, and what is wrong with its file and its locks; None where the file cannot be parsed."""
    folder = root / FOLDER / key
    report = Report(f"{FOLDER}/{key}/{FILE}")
    said = read_file(folder / FILE, RuntimeShape, report)
    if said is None:
        return None, report
    if names_in(said.written) != ("release",):
        report.add("written", f'"{said.written}" must have "{{release}}" once, and no other placeholder')
    if said.find:
        _check_find(said.find, report)
    _check_findable(said, report)
    for name, setting in said.settings.items():
        _check_setting(name, setting, report)
    _check_kinds(said.settings, report)
    _check_shared(said.shared, report)
    for index, pattern in enumerate(said.refused_flags):
        try:
            re.compile(pattern)
        except re.error as error:
            report.add(f"refused_flags[{index}]", f"is no regular expression: {error}")
    for name, value in said.attach.items():
        check_names(join("attach", name), value, ATTACHED, report)
    _check_locks(key, said, folder, report)
    return _built(key, said), report


def _check_find(said: FindShape, report: Report) -> None:
    """Report expressions that cannot be used, and keys that mean something only beside another."""
    patterns = {"release": said.release}
    questions = {"version": said.version, "real": said.real, "vendor": said.vendor}
    patterns |= {f"{name}.pattern": question.pattern for name, question in questions.items() if question}
    for key, pattern in patterns.items():
        if not report.concerns(f"find.{key}"):
            check_one_group(f"find.{key}", pattern, "what is asked for", report)
    for name, question in questions.items():
        if question and question.key and said.facts is None:
            report.add(f"find.{name}.key", "must not stand without facts, the file that it is a line of")
    if (said.compiler is None) != (said.called is None):
        report.add("find.called", "must be given where compiler is, and only there: what is one that has it called?")


def _check_findable(said: RuntimeShape, report: Report) -> None:
    """Report what only a runtime that can be found may say."""
    if said.find is not None or report.concerns("find"):
        return
    for key in ("folders", "wheel"):
        if getattr(said, key):
            report.add(key, "must not stand without [find]: there is nothing to be found")
    for name, setting in said.settings.items():
        if setting.kind == "release":
            report.add(f"{join('settings', name)}.kind", 'must not be "release" without [find]')


def _check_kinds(said: Mapping[str, SettingShape], report: Report) -> None:
    """Report a second setting of a kind of which there can be one."""
    for kind in ("release", "size"):
        names = [name for name, setting in said.items() if setting.kind == kind]
        for name in names[1:]:
            report.add(f"{join('settings', name)}.kind", f'is "{kind}", as that of {names[0]}: there can be one')


def _check_setting(name: str, said: SettingShape, report: Report) -> None:
    path = join("settings", name)
    if report.concerns(path):
        return
    if said.kind == "release" and said.flags:
        report.add(f"{path}.flags", "must not stand beside a release, which is not set by flags but by what is started")
    if said.kind != "release" and not said.flags:
        report.add(f"{path}.flags", "is missing: what sets it?")
    if (said.kind == "choice") != bool(said.choices):
        report.add(f"{path}.choices", 'must be given where kind = "choice", and only there')
    for key in ("begin", "least"):
        if getattr(said, key) is not None and said.kind != "size":
            report.add(f"{path}.{key}", 'must not stand where kind is not "size"')
    if said.releases is not None and said.kind != "release":
        report.add(f"{path}.releases", 'must not stand where kind is not "release"')
    if said.releases is not None and said.releases.min > said.releases.max:
        report.add(f"{path}.releases.min", f"{said.releases.min} is more than max, {said.releases.max}")
    _check_default(path, said, report)
    known = (name, *((f"{name}.begin",) if said.begin is not None else ()))
    for index, flag in enumerate(said.flags):
        check_names(f"{path}.flags[{index}]", flag, known, report)
    for index, further in enumerate(said.further):
        key = f"{path}.further[{index}]"
        if further.choice not in said.choices:
            hint = did_you_mean(further.choice, said.choices) or f". There is {one_of(said.choices)}"
            report.add(f"{key}.choice", f'"{further.choice}" is no choice{hint}')
        if further.since > further.until:
            report.add(f"{key}.since", f"{further.since} is more than until, {further.until}")
        for place, flag in enumerate(further.flags):
            check_names(f"{key}.flags[{place}]", flag, known, report)


def _check_default(path: str, said: SettingShape, report: Report) -> None:
    """Report a default that an experiment could not say, and one that is lacking."""
    if said.default is None:
        if said.required:
            report.add(f"{path}.default", "is missing: a run without an experiment's file needs one too")
        return
    if said.kind == "release":
        report.add(f"{path}.default", "must not stand beside a release: without one, what is found first is taken")
    elif said.kind == "choice" and said.default not in said.choices:
        hint = did_you_mean(said.default, said.choices) or f". There is {one_of(said.choices)}"
        report.add(f"{path}.default", f'"{said.default}" is no choice{hint}')
    elif said.kind == "size":
        kind = Annotated[int, Meta(extra={"read": size_from(said.least or 0, "default")})]
        read_one(said.default, kind, f"{path}.default", report)


def _check_shared(said: SharedShape, report: Report) -> None:
    for key, flags in (("timed", said.timed), ("flags", said.flags)):
        for index, flag in enumerate(flags):
            check_names(f"shared.{key}[{index}]", flag, SHARED, report)


def _check_locks(key: str, said: RuntimeShape, folder: Path, report: Report) -> None:
    """Report a lock that pins something else than its name says."""
    locks: Mapping[str, Path] = {path.name: path for path in sorted(folder.glob("*.lock"))}
    if said.wheel is None:
        for name in locks:
            report.add(name, "pins a wheel, and [wheel] does not say of what")
        return
    for name, path in locks.items():
        named = re.fullmatch(rf"{re.escape(key)}-(\d+)\.lock", name)
        if named is None:
            report.add(name, f"must be called {key}-RELEASE.lock")
            continue
        pins = _PIN.findall(path.read_text(encoding="utf-8", errors="replace"))
        if [package for package, _ in pins] != [said.wheel.package]:
            report.add(name, f"must pin {said.wheel.package} and nothing else, as [wheel] says")
        elif (version := pins[0][1]) and version.partition(".")[0] != named[1]:
            report.add(name, f"pins {said.wheel.package} {version}, which is not release {named[1]}")


def _built(key: str, said: RuntimeShape) -> Runtime:
    return Runtime(
        key=key,
        name=said.name,
        languages=said.languages or (key,),
        written=said.written,
        find=_find(said.find) if said.find else None,
        folders=said.folders,
        not_inherited=said.not_inherited,
        refused_flags=said.refused_flags,
        attach=said.attach,
        recognized_by=said.recognized_by or "",
        wheel=Wheel(said.wheel.package, said.wheel.home, said.wheel.platforms) if said.wheel else None,
        settings={
            name: Setting(
                name=name,
                kind=setting.kind,
                choices=setting.choices,
                flags=setting.flags,
                further=tuple(
                    Further(further.choice, further.since, further.until, further.flags) for further in setting.further
                ),
                begin_bytes=setting.begin or 0,
                least=setting.releases.min if setting.releases else setting.least or 0,
                most=setting.releases.max if setting.releases else 0,
                default=_default(setting),
                required=setting.required,
                title=setting.title or "",
            )
            for name, setting in said.settings.items()
        },
        shared_flags=said.shared.flags,
        timed_flags=said.shared.timed,
        threads=ThreadNames(jit=said.threads.jit, gc=said.threads.gc, own=said.threads.own),
        process=said.process,
        prints_threads_on=said.prints_threads_on or "",
    )


def _default(said: SettingShape) -> int | str:
    """The default as an experiment's file would be read; 0 where there is none, or it cannot be read."""
    if said.default is None or said.kind != "size":
        return said.default or 0
    return read_one(said.default, Size, "default", Report("")) or 0


def _find(said: FindShape) -> Find:
    return Find(
        program=said.program,
        on_path=said.on_path,
        version=_question(said.version),
        release=said.release,
        least=said.least,
        install=said.install or "",
        home=said.home or "",
        real=_question(said.real) if said.real else None,
        vendor=_question(said.vendor) if said.vendor else None,
        facts=said.facts or "",
        compiler=said.compiler or "",
        called=said.called or "",
        archives=said.archives,
    )


def _question(said: QuestionShape) -> Question:
    return Question(said.words, said.pattern, said.key or "")
