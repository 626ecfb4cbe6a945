"""What an experiment may set of its workload's runtime: the shape of ``[runtime.<runtime>]``, made from its file.

A setting's kind says what may stand there. A release is a whole number, a size is text with a unit, and a choice is one
of the names that the runtime's file lists. A list of them makes a factor. What is typed is read by the same shape.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar, cast

from cyclopts import Parameter
from msgspec import Meta, Struct, defstruct

from tracetax.catalog import units
from tracetax.catalog.reading import COMMAND_LINE, Report, did_you_mean, join, read
from tracetax.program import Runtime, Setting
from tracetax.words import listed_words

KINDS = ("release", "choice", "size")
"""The order in which settings stand in the names of parts."""
OLDER = {"java": "jvm"}
"""What the table ``[runtime.<runtime>]`` of a runtime was called before there were others."""
Said: TypeAlias = dict[str, tuple[Any, ...]]
"""The levels of every key that a table gives."""
T = TypeVar("T")


class SettingsShape(Struct, frozen=True, kw_only=True):
    """``[runtime.<runtime>]``: with a key for each of its settings; None where the key is not given."""


class RuntimesShape(Struct, frozen=True, kw_only=True):
    """``[runtime]``: with a table for the workload's runtime."""

    ELSEWHERE: ClassVar[Mapping[str, str]] = {}


SetOptions: TypeAlias = Annotated[tuple[str, ...], Parameter(name="--set", negative="", show_default=False)]
"""``--set KEY=VALUE``, once for each key."""


def option(default: T, words: str) -> T:
    """A field of a dataclass that a command takes its options from; ``--help`` shows the ``words``."""
    return field(default=default, metadata={"help": words})


@dataclass(frozen=True, kw_only=True)
class TypedSettings:
    """Settings of the runtime, each one value or several with commas between."""

    settings: SetOptions = option(
        (),
        "KEY=VALUE,…: a setting of what runs the workload, as [runtime.<runtime>] in an experiment has it, such as "
        "node=20,24 of Node or heap=2GiB of Java. Several values are measured beside each other. May be given once for "
        "each key.",
    )
    jdk: str | None = option(
        None,
        "--set jdk=…: feature releases of Java to measure on, such as 21 or 17,21,25. One that is not on this machine "
        "is fetched as a wheel, if it is 17, 21 or 25. Default: the JDK that is found first.",
    )
    collector: str | None = option(
        None,
        "--set collector=…: Serial, Parallel, G1, Z or Shenandoah, or several with commas between. Default: G1.",
    )
    heap: str | None = option(
        None, '--set heap=…: the heap, such as "2 GiB", or several with commas between. Default: 1 GiB.'
    )


SHORTHANDS = ("jdk", "collector", "heap")
"""Settings that have options of their own, which are so called."""


def ordered(runtime: Runtime) -> list[Setting]:
    """A runtime's settings in the order in which they stand in the names of parts."""
    return sorted(runtime.settings.values(), key=lambda setting: KINDS.index(setting.kind))


def settings_shape(runtime: Runtime) -> type[SettingsShape]:
    """The shape of a table of its settings."""
    fields: list[Any] = []
    for setting in ordered(runtime):
        levels: Any = Annotated[tuple[_level(setting, runtime), ...], Meta(extra={"factor": True})]
        fields.append((setting.name, levels | None, None))
    shape = defstruct("SettingsShape", fields, bases=(SettingsShape,), frozen=True, kw_only=True)
    return cast("type[SettingsShape]", shape)


def _level(setting: Setting, runtime: Runtime) -> Any:
    """The type of one value of a setting."""
    if setting.kind == "release":
        return Annotated[int, Meta(ge=setting.least or 1, le=setting.most or None)]
    if setting.kind == "size":
        return Annotated[int, Meta(extra={"read": units.size_from(setting.least, runtime.process)})]
    choices: Any = setting.choices
    return Literal[choices]


def runtime_tables(
    workloads: Sequence[str], here: Iterable[Runtime], others: Iterable[str]
) -> tuple[list[Any], dict[str, str]]:
    """Tables for the settings of the runtimes that are ``here``, as fields of a shape, and keys that have no place.

    ``here`` are the workloads' runtimes alone; where a workload is not known, it is every one. ``others`` are the names
    of those that a table stands for in vain.
    """
    shapes = {runtime.key: settings_shape(runtime) for runtime in here}
    elsewhere = {key: _misplaced(workloads, shapes) for key in others if key not in shapes}
    runtimes = defstruct(
        "RuntimesShape",
        [(_field(key), shape | None, None) for key, shape in shapes.items()],
        bases=(RuntimesShape,),
        rename={_field(key): key for key in shapes},
        namespace={"ELSEWHERE": elsewhere},
        frozen=True,
        kw_only=True,
    )
    older = [(OLDER[key], shape | None, None) for key, shape in shapes.items() if key in OLDER]
    misplaced = {
        OLDER[key]: f"is the older name of runtime.{key}, which {elsewhere[key]}" for key in OLDER if key in elsewhere
    }
    return [("runtime", runtimes, runtimes()), *older], misplaced


def _field(key: str) -> str:
    return key.replace("-", "_")


def _misplaced(workloads: Sequence[str], shapes: Mapping[str, type[SettingsShape]]) -> str:
    """Why a table for another runtime than those of the workloads has no place."""
    does, runs = ("does", "it runs") if len(workloads) == 1 else ("do", "they run")
    own = ", ".join(f"[runtime.{name}]" for name, shape in shapes.items() if shape.__struct_fields__)
    way = f"what can be set of it stands in {own}" if own else "nothing can be set of it"
    return f"sets what {', '.join(workloads)} {does} not run on: {runs} on {', '.join(shapes)}, and {way}"


def said_in(path: str, table: Any, runtime: Runtime | None, report: Report) -> Said:
    """What a table of a file says of the runtime's settings, nothing where the runtime is not known.

    ``path`` is where the table stands. What is wrong is told from then on under the name that the file has for it.
    """
    if runtime is None:
        return {}
    own, older = getattr(table.runtime, _field(runtime.key)), OLDER.get(runtime.key, "")
    former = getattr(table, older) if older else None
    if former is not None and own is not None:
        text = f"stands beside runtime.{runtime.key}, of which it is the older name: leave one of them"
        report.add(join(path, older), text)
    if former is not None or (older and report.concerns(join(path, older))):
        report.rename(settings_path(path, runtime), join(path, older))
    return {**_said(former), **_said(own)}


def settings_path(path: str, runtime: Runtime) -> str:
    """Where the settings of the table at ``path`` stand."""
    return join(join(path, "runtime"), runtime.key)


def _said(table: Struct | None) -> Said:
    names = table.__struct_fields__ if table is not None else ()
    return {name: levels for name in names if (levels := getattr(table, name)) is not None}


def completed(said: Said, runtime: Runtime, *, typed: bool = False) -> Said:
    """What was said, in the order of the settings, with the default of what was not.

    ``typed``: there is no file, so what files must say has its default too.
    """
    return {
        setting.name: said.get(setting.name) or (setting.default,)
        for setting in ordered(runtime)
        if setting.name in said or (setting.default and (typed or not setting.required))
    }


class Typed(Struct, frozen=True):
    """Settings as they were typed."""

    texts: dict[str, tuple[str, str]]
    """By the setting: the option by which it was typed, and what followed."""
    report: Report
    """Takes every problem, named by its option."""

    def read(self, runtime: Runtime, beside: Iterable[Runtime] = ()) -> Said:
        """The levels that were typed, as a file of the runtime would say them; every problem goes to the report.

        ``beside`` are all runtimes of the experiment, where there are several: what another has is for that one.
        """
        runtimes = list({other.key: other for other in (*beside, runtime)}.values())
        of_file = Report("")
        lists: dict[str, list[object]] = {}
        for name, (typed_as, text) in self.texts.items():
            if name in runtime.settings:
                lists[name] = [_number(item.strip()) for item in text.split(",")]
            elif not any(name in other.settings for other in runtimes):
                known = [setting for other in runtimes for setting in other.settings]
                it, has = ("It", "has") if len(runtimes) == 1 else ("They", "have")
                hint = did_you_mean(name, known) or (f". {it} {has} {', '.join(known)}" if known else "")
                names = listed_words([other.name for other in runtimes])
                self.report.add(typed_as, f'{names} {has} no setting "{name}"{hint}')
        said = _said(read(lists, settings_shape(runtime), of_file))
        for problem in of_file.problems:
            self.report.add(self.texts[problem.key.partition("[")[0]][0], problem.text)
        for name, levels in said.items():
            if len(set(levels)) < len(levels):
                self.report.add(self.texts[name][0], "names the same value twice")
        return said


def typed_settings(typed: TypedSettings) -> Typed:
    """What was typed, by the settings' names; which settings there are depends on the runtime."""
    report = Report(COMMAND_LINE)
    texts = {name: (f"--{name}", text) for name in SHORTHANDS if (text := getattr(typed, name)) is not None}
    for given in typed.settings:
        name, equals, text = given.partition("=")
        typed_as = f"--set {name}"
        if not equals:
            report.add(typed_as, "must have a value: --set KEY=VALUE, or --set KEY=VALUE,VALUE")
        elif name in texts:
            before = texts[name][0]
            report.add(typed_as, "is given twice" if before == typed_as else f"says the same as {before}: leave one")
        else:
            texts[name] = (typed_as, text)
    return Typed(texts, report)


def _number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() else text
