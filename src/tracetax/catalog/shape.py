"""Reads TOML into msgspec Structs, strictly, and reports every difference from the Struct instead of only the first.

What a field accepts is said by its type, with three marks in ``Meta(extra=…)``: ``read`` is a function from
``units`` that turns text into the value, ``factor`` lets one value stand for a list of one, and ``means`` puts a
``pattern`` into words. A value that cannot be used is replaced by its default or by an empty stand-in, so that the
checks after this one still find what else is wrong; what is returned then never leaves the catalog.
"""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from msgspec import NODEFAULT, Struct, inspect

from tracetax.catalog.names import did_you_mean, nearest, one_of
from tracetax.catalog.problems import Report, join
from tracetax.catalog.units import UnitError
from tracetax.printable import printable

SHOWN_LETTERS = 100
"""Of a value that is quoted in a problem."""
Shape = TypeVar("Shape", bound=Struct)
_SYNTAX_PLACE = re.compile(r"(.*) \((?:at )?(line \d+|end of document)[^)]*\)", re.DOTALL)


def read_file(path: Path, shape: type[Shape], report: Report) -> Shape | None:
    """Read a TOML file into ``shape``, or None where it could not be parsed at all."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
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
    else:
        return read(document, shape, report)
    return None


def read(document: object, shape: type[Shape], report: Report) -> Shape:
    """Read a parsed document into ``shape``; every problem goes to ``report``."""
    value = _value(document, inspect.type_info(shape), "", report)
    return cast(Shape, _stand_in(inspect.type_info(shape)) if value is NODEFAULT else value)


def read_one(value: object, kind: Any, key: str, report: Report) -> Any:
    """Read one value as the annotated type ``kind`` of a field; None after a problem was reported under ``key``."""
    found = _value(value, inspect.type_info(kind), key, report)
    return None if found is NODEFAULT else found


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
        except UnitError as error:
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
    for key in (key for key in table if key not in fields):
        missing = nearest(key, [name for name in fields if name not in table])
        meant = missing or nearest(key, fields)
        hint = f'. Did you mean "{meant}"?' if meant else f". Known here: {', '.join(fields)}"
        report.add(join(path, key), f"there is no such key{hint}")
        if missing:
            report.excuse(join(path, missing))
    found: dict[str, Any] = {}
    for key, field in fields.items():
        where = join(path, key)
        if key in table:
            found[field.name] = _value(table[key], field.type, where, report)
        elif field.required:
            report.add(where, "is missing")
        if found.get(field.name, NODEFAULT) is NODEFAULT:
            found.pop(field.name, None)
            if field.required:
                found[field.name] = _stand_in(field.type)
    return kind.cls(**found)


def _item(value: object, kind: inspect.VarTupleType, path: str, report: Report) -> Any:
    item = _value(value, kind.item_type, path, report)
    return _stand_in(kind.item_type) if item is NODEFAULT else item


def _dictionary(value: object, kind: inspect.DictType, path: str, report: Report) -> Any:
    if not isinstance(value, dict):
        return _wrong(path, f"must be a table, not {_named(value)}", report)
    found: dict[str, Any] = {}
    for key, item in cast("dict[str, object]", value).items():
        _value(key, kind.key_type, join(path, key), report)
        element = _value(item, kind.value_type, join(path, key), report)
        found[key] = _stand_in(kind.value_type) if element is NODEFAULT else element
    return found


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
