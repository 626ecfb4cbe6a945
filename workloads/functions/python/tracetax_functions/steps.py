"""The steps of a function. Who traces by hand makes a span of each: ``trace_by`` says how. Else they cost a call."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Trace = Callable[[str, dict[str, object]], AbstractContextManager[object]]
"""Makes a span of a step, by its name and attributes."""

_UNTRACED = nullcontext()


def _untraced(_name: str, _attributes: dict[str, object]) -> AbstractContextManager[object]:
    return _UNTRACED


def _nothing() -> None:
    pass


_trace: Trace = _untraced
_flush: Callable[[], object] = _nothing


def trace_by(trace: Trace) -> None:
    """Make spans of all steps from now on."""
    global _trace
    _trace = trace


def flush_by(flush: Callable[[], object]) -> None:
    """Have this called at the end of every invocation, before it is answered."""
    global _flush
    _flush = flush


def step(name: str, **attributes: object) -> AbstractContextManager[object]:
    """Stand around a step of a function."""
    return _trace(name, attributes)


def flush() -> None:
    """Send what was recorded, where somebody has asked for that."""
    _flush()
