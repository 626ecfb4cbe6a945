"""Reads TOML into msgspec Structs, strictly, and gathers every problem of a file instead of only the first.

What a field accepts is said by its type, with three marks in ``Meta(extra=…)``. ``read`` is a function that turns what
stood in the file into the value, or raises UserError with a sentence. ``factor`` lets one value stand for a list of
one. ``means`` puts a ``pattern`` into words. A value that cannot be used is replaced by its default or by an empty
stand-in, so that the checks after this one still find what else is wrong; what is returned then never leaves the
catalog.

A Struct may have a mapping ``FORMER``: what its keys were called before. Who writes an older name is told the new one.
It may have a mapping ``ELSEWHERE``: keys that have no place in it, and why.
"""

import re
import tomllib
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar, cast

from msgspec import NODEFAULT, Meta, Struct, inspect

from tracetax.errors import UserError
from tracetax.printable import printable

COMMAND_LINE = "the command line"
"""What stands in a report in place of a file where options were typed."""
SHOWN_LETTERS = 100
"""Of a value that is quoted in a problem."""
Text: TypeAlias = Annotated[str, Meta(min_length=1)]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[int, Meta(ge=1)]
Name: TypeAlias = Annotated[
    str,
    Meta(
        pattern="(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*",
        extra={"means": "a name of at most 64 lower-case letters and digits, with hyphens between"},
    ),
]
Shape = TypeVar("Shape", bound=Struct)
_SYNTAX_PLACE = re.compile(r"(.*) \((?:at )?(line \d+|end of document)[^)]*\)", re.DOTALL)


class Problem(Struct, frozen=True):
    """One thing that is wrong in a file, and how to mend it."""

    key: str
    """Path of the key, for example ``configurations[1].use[0]``; ``line 3`` for an error of syntax."""
    text: str


class Report:
    """The problems of one file, in the order in which they were found.

    There is at most one per key: what follows from a value that is already known to be wrong is no news.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self._settled: set[str] = set()
        self._renamed: dict[str, str] = {}

    def rename(self, table: str, name: str) -> None:
        """From now on, tell what is wrong in a table under the name that this file has for it."""
        self._renamed[table] = name

    def add(self, key: str, text: str) -> None:
        """Add a problem, unless there is one for the key or for a table that it is in."""
        key = self._named(key)
        if not any(_is_in(key, settled) for settled in self._settled):
            self._settled.add(key)
            self.problems.append(Problem(key, text))

    def excuse(self, key: str) -> None:
        """Let no further problem be added for a key: another problem explains it."""
        self._settled.add(self._named(key))

    def concerns(self, key: str) -> bool:
        """Whether there is a problem at the key, below it, or in a table that it is in."""
        key = self._named(key)
        return any(_is_in(settled, key) or _is_in(key, settled) for settled in self._settled)

    def _named(self, key: str) -> str:
        tables = (table for table in self._renamed if _is_in(key, table))
        return next((self._renamed[table] + key[len(table) :] for table in tables), key)


class CatalogError(UserError):
    """Files that cannot be used, with all their problems."""

    def __init__(self, reports: Iterable[Report]) -> None:
        self.reports = tuple(report for report in reports if report.problems)
        super().__init__("\n".join(_lines(report) for report in self.reports))


def raise_problems(*reports: Report) -> None:
    """Raise CatalogError if there is a problem in any of the files."""
    if any(report.problems for report in reports):
        raise CatalogError(reports)


def join(path: str, key: str) -> str:
    """The path of a key inside the table at ``path``; a key that TOML would quote is quoted."""
    bare = key.replace("-", "").replace("_", "")
    name = key if bare.isascii() and bare.isalnum() else f'"{key}"'
    return f"{path}.{name}" if path else name


def nearest(wrong: str, names: Iterable[str]) -> str | None:
    """The name most like ``wrong``, or None where none is near."""
    spelled = {name.casefold(): name for name in names}
    matches = get_close_matches(wrong.casefold(), spelled, n=1, cutoff=0.6)
    return spelled[matches[0]] if matches else None


def did_you_mean(wrong: str, names: Iterable[str]) -> str:
    """The hint to put behind an error, beginning with its full stop; empty where no name is near."""
    name = nearest(wrong, names)
    return f'. Did you mean "{name}"?' if name else ""


def one_of(names: Iterable[str]) -> str:
    """All names for a short list of them, quoted."""
    return ", ".join(f'"{name}"' for name in names)


def read_file(path: Path, shape: type[Shape], report: Report) -> Shape | None:
    """Read a TOML file into ``shape``, or None where it could not be parsed at all."""
    document = parsed(path, report)
    return None if document is None else read(document, shape, report)


def parsed(path: Path, report: Report) -> dict[str, Any] | None:
    """What a TOML file says, as it says it; None where it could not be parsed at all."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        report.add("file", "there is no such file")
    except OSError as error:
        report.add("file", f"cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        report.add(f"byte {error.start}", "is not UTF-8, which TOML must be")
    except tomllib.TOMLDecodeError as error:
        match = _SYNTAX_PLACE.fullmatch(str(error))
        text, place = match.groups() if match else (str(error), "syntax")
        report.add(place, f"{text[0].lower()}{text[1:]}")
    return None


def read(document: object, shape: type[Shape], report: Report) -> Shape:
    """Read a parsed document into ``shape``; every problem goes to ``report``."""
    value = _value(document, inspect.type_info(shape), "", report)
    return cast(Shape, _stand_in(inspect.type_info(shape)) if value is NODEFAULT else value)


def read_one(value: object, kind: Any, key: str, report: Report) -> Any:
    """Read one value as the annotated type ``kind`` of a field; None after a problem was reported under ``key``."""
    result = _value(value, inspect.type_info(kind), key, report)
    return None if result is NODEFAULT else result


def _value(value: object, kind: inspect.Type, path: str, report: Report) -> Any:
    """The value as the type wants it; NODEFAULT after a problem was reported."""
    extra: dict[str, Any] = {}
    if isinstance(kind, inspect.UnionType):
        kind = next(option for option in kind.types if not isinstance(option, inspect.NoneType))
    while isinstance(kind, inspect.Metadata):
        extra |= cast("dict[str, Any]", kind.extra or {})  # pyright: ignore[reportUnknownMemberType]
        kind = kind.type
    if "read" in extra:
        try:
            return cast("Callable[[object], Any]", extra["read"])(value)
        except UserError as error:
            return _wrong(path, str(error), report)
    match kind:
        case inspect.StructType():
            return _struct(value, kind, path, report)
        case inspect.DictType():
            return _dictionary(value, kind, path, report)
        case inspect.VarTupleType():
            if not isinstance(value, list):
                if not extra.get("factor"):
                    return _wrong(path, f"must be a list, not {_named(value)}", report)
                single = _value(value, kind.item_type, path, report)
                return NODEFAULT if single is NODEFAULT else (single,)
            items = cast("list[object]", value)
            if extra.get("factor") and not items:
                return _wrong(path, "is an empty list: give at least one value", report)
            return tuple(_item(item, kind, f"{path}[{index}]", report) for index, item in enumerate(items))
        case inspect.EnumType():
            return _enumeration(value, kind.cls, [member.value for member in kind.cls], path, report)
        case inspect.LiteralType():
            return _enumeration(value, lambda choice: choice, list(kind.values), path, report)
        case inspect.StrType():
            return _text(value, kind, extra.get("means", ""), path, report)
        case inspect.BoolType():
            right = isinstance(value, bool)
            return value if right else _wrong(path, f"must be true or false, not {_named(value)}", report)
        case inspect.IntType():
            return _integer(value, kind, path, report)
        case _:
            raise TypeError(f"no rule for {kind}")


def _struct(value: object, kind: inspect.StructType, path: str, report: Report) -> Any:
    if not isinstance(value, dict):
        return _wrong(path, f"must be a table, not {_named(value)}", report)
    table = cast("dict[str, object]", value)
    fields = {field.encode_name: field for field in kind.fields}
    former: dict[str, str] = getattr(kind.cls, "FORMER", {})
    elsewhere: dict[str, str] = getattr(kind.cls, "ELSEWHERE", {})
    for key in (key for key in table if key not in fields):
        if key in elsewhere:
            report.add(join(path, key), elsewhere[key])
            continue
        if key in former:
            report.add(join(path, key), f'is called "{former[key]}" now')
            report.excuse(join(path, former[key]))
            continue
        missing = nearest(key, [name for name in fields if name not in table])
        meant = missing or nearest(key, fields)
        hint = f'. Did you mean "{meant}"?' if meant else f". Known here: {', '.join(fields) or 'none'}"
        report.add(join(path, key), f"there is no such key{hint}")
        if missing:
            report.excuse(join(path, missing))
    values: dict[str, Any] = {}
    for key, field in fields.items():
        where = join(path, key)
        if key in table:
            values[field.name] = _value(table[key], field.type, where, report)
        elif field.required:
            report.add(where, "is missing")
        if values.get(field.name, NODEFAULT) is NODEFAULT:
            values.pop(field.name, None)
            if field.required:
                values[field.name] = _stand_in(field.type)
    return kind.cls(**values)


def _item(value: object, kind: inspect.VarTupleType, path: str, report: Report) -> Any:
    item = _value(value, kind.item_type, path, report)
    return _stand_in(kind.item_type) if item is NODEFAULT else item


def _dictionary(value: object, kind: inspect.DictType, path: str, report: Report) -> Any:
    if not isinstance(value, dict):
        return _wrong(path, f"must be a table, not {_named(value)}", report)
    elements: dict[str, Any] = {}
    for key, item in cast("dict[str, object]", value).items():
        _value(key, kind.key_type, join(path, key), report)
        element = _value(item, kind.value_type, join(path, key), report)
        elements[key] = _stand_in(kind.value_type) if element is NODEFAULT else element
    return elements


def _enumeration(value: object, make: Callable[[Any], Any], choices: list[Any], path: str, report: Report) -> Any:
    if value in choices:
        return make(value)
    shown = f'"{value}"' if isinstance(value, str) else _named(value)
    hint = did_you_mean(value, choices) if isinstance(value, str) else ""
    return _wrong(path, f"must be one of {one_of(choices)}, not {shown}{hint}", report)


def _text(value: object, kind: inspect.StrType, means: str, path: str, report: Report) -> Any:
    if not isinstance(value, str):
        return _wrong(path, f"must be text, not {_named(value)}", report)
    if kind.min_length and len(value.strip()) < kind.min_length:
        return _wrong(path, "must not be empty", report)
    if any(not letter.isprintable() and letter not in "\n\t" for letter in value):
        return _wrong(
            path, f'"{printable(value)}" holds control characters, which would steer a reader\'s terminal', report
        )
    if kind.pattern and not re.fullmatch(kind.pattern, value):
        shown = value if len(value) <= SHOWN_LETTERS else f"{value[:SHOWN_LETTERS]}…"
        return _wrong(path, f'"{shown}" is not {means}', report)
    return value


def _integer(value: object, kind: inspect.IntType, path: str, report: Report) -> Any:
    if not isinstance(value, int) or isinstance(value, bool):
        return _wrong(path, f"must be a whole number, not {_named(value)}", report)
    if (kind.ge is not None and value < kind.ge) or (kind.le is not None and value > kind.le):
        bounds = f"at least {kind.ge:,}" if kind.le is None else f"between {kind.ge:,} and {kind.le:,}"
        return _wrong(path, f"must be {bounds}, not {value:,}", report)
    return value


def _wrong(path: str, text: str, report: Report) -> Any:
    report.add(path or "file", text)
    return NODEFAULT


def _named(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'the text "{value}"'
        case dict():
            return "a table"
        case list():
            return "a list"
        case _:
            return str(value)


def _stand_in(kind: inspect.Type) -> Any:
    """An empty value of the type, for a required one that could not be read."""
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    match kind:
        case inspect.StructType():
            required = {field.name: _stand_in(field.type) for field in kind.fields if field.required}
            return kind.cls(**required)
        case inspect.DictType():
            return {}
        case inspect.VarTupleType():
            return ()
        case inspect.StrType():
            return ""
        case _:
            return 0


def _lines(report: Report) -> str:
    count = len(report.problems)
    head = f"{report.file} has {count} problem{'' if count == 1 else 's'}:"
    return "\n".join([head, *(f"  {problem.key}: {problem.text}" for problem in report.problems)])


def _is_in(key: str, table: str) -> bool:
    return key == table or key.startswith((table + ".", table + "["))
