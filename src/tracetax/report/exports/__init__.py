"""A run in other people's formats: one file per format, named as the format is, with a function ``export``."""

import importlib
import pkgutil
from collections.abc import Callable

from tracetax.errors import UserError
from tracetax.results.findings import Findings


def formats() -> list[str]:
    """The formats that there are: the files of this folder."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def export(findings: Findings, name: str) -> str:
    """The findings as text in a format. Raises UserError where there is no such format."""
    if name not in formats():
        raise UserError(f'--export: "{name}" is no format. There are: {", ".join(formats())}')
    write: Callable[[Findings], str] = importlib.import_module(f"{__name__}.{name}").export
    return write(findings)
