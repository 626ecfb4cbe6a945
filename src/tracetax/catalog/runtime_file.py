"""Reads ``runtimes/<runtime>/runtime.toml``, and looks at the locks beside it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from tracetax.catalog.agent_checks import check_names
from tracetax.catalog.agent_shape import Inside, VariableName
from tracetax.catalog.reading import Name, Positive, Report, Text, did_you_mean, join, one_of, read_file
from tracetax.catalog.units import Size
from tracetax.program import Further, Runtime, Setting, ThreadNames, Wheel

FILE = "runtime.toml"
FOLDER = "runtimes"
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


class SettingShape(Struct, frozen=True, kw_only=True):
    """``[settings.<name>]``."""

    kind: Literal["release", "size", "choice"]
    choices: tuple[Text, ...] = ()
    flags: tuple[Text, ...] = ()
    further: tuple[FurtherShape, ...] = ()
    begin: Size | None = None


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
    folders: tuple[Text, ...] = ()
    not_inherited: tuple[VariableName, ...] = ()
    refused_flags: tuple[Text, ...] = ()
    wheel: WheelShape | None = None
    settings: dict[SettingName, SettingShape] = {}
    shared: SharedShape = SharedShape()
    threads: ThreadsShape = ThreadsShape()


def runtime_names(root: Path) -> tuple[str, ...]:
    """The names of all runtimes."""
    return tuple(sorted(path.parent.name for path in (root / FOLDER).glob(f"*/{FILE}")))


def read_runtimes(root: Path) -> tuple[dict[str, Runtime], list[Report]]:
    """Every runtime by the name of its folder, and what is wrong with their files."""
    found = {key: read_runtime(key, root) for key in runtime_names(root)}
    runtimes = {key: runtime for key, (runtime, _) in found.items() if runtime is not None}
    return runtimes, [report for _, report in found.values()]


def jdk_folders(root: Path) -> tuple[str, ...]:
    """Where installers put JDKs; nowhere where the runtime's file is missing or broken, which a run reports."""
    java = read_runtimes(root)[0].get("java")
    return java.folders if java else ()


def read_runtime(key: str, root: Path) -> tuple[Runtime | None, Report]:
    """A runtime, and what is wrong with its file and its locks; None where the file cannot be parsed."""
    folder = root / FOLDER / key
    report = Report(f"{FOLDER}/{key}/{FILE}")
    said = read_file(folder / FILE, RuntimeShape, report)
    if said is None:
        return None, report
    for name, setting in said.settings.items():
        _check_setting(name, setting, report)
    _check_shared(said.shared, report)
    for index, pattern in enumerate(said.refused_flags):
        try:
            re.compile(pattern)
        except re.error as error:
            report.add(f"refused_flags[{index}]", f"is no regular expression: {error}")
    _check_locks(key, said, folder, report)
    return _built(key, said), report


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
    if said.begin is not None and said.kind != "size":
        report.add(f"{path}.begin", 'must not stand where kind is not "size"')
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
        folders=said.folders,
        not_inherited=said.not_inherited,
        refused_flags=said.refused_flags,
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
            )
            for name, setting in said.settings.items()
        },
        shared_flags=said.shared.flags,
        timed_flags=said.shared.timed,
        threads=ThreadNames(jit=said.threads.jit, gc=said.threads.gc, own=said.threads.own),
    )
