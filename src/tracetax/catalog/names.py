"""The right name for a wrong one."""

from collections.abc import Iterable
from difflib import get_close_matches


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
