"""A linear or logarithmic axis in per cent of the plot's width, so that plots follow the page's width unscaled."""

import math
from collections.abc import Iterable

from msgspec import Struct

from tracetax.report import numbers
from tracetax.report.page.html import Markup, h

PADDING = 0.04
EDGE = 0.05
ROOM = 32
"""Letters, gaps included, that have room below the narrowest plot of a table that has one."""
NARROW = 16
"""The same where a table has two."""


class Axis(Struct, frozen=True):
    """From data to per cent of the width."""

    low: float
    high: float
    ticks: tuple[float, ...]
    logarithmic: bool = False

    def at(self, value: float) -> str:
        """The place of a value, as a per cent attribute."""
        return f"{self.share(value) * 100:.2f}%"

    def share(self, value: float) -> float:
        """The place of a value between 0 and 1, values outside at the edge."""
        low, high = (math.log10(self.low), math.log10(self.high)) if self.logarithmic else (self.low, self.high)
        place = math.log10(max(value, self.low)) if self.logarithmic else value
        return min(1.0, max(0.0, (place - low) / (high - low)))


def linear(values: Iterable[float], letters: int = ROOM) -> Axis:
    """An axis that holds all values and zero, with about five round ticks, fewer where these have more ``letters``."""
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(0.0, *finite), max(0.0, *finite)
    if low == high:
        high = 1.0
    room = (high - low) * PADDING
    low, high = low - room, high + room
    ticks: tuple[float, ...] = ()
    for wanted in (5, 4, 3, 2):
        step = _round_step((high - low) / wanted)
        ticks = tuple(step * k for k in range(math.ceil(low / step), math.floor(high / step) + 1))
        if sum(len(numbers.rounded(tick, _decimals(step))) + 2 for tick in ticks) <= letters:
            break
    return Axis(low, high, ticks)


def logarithmic(values: Iterable[float], letters: int = ROOM) -> Axis:
    """An axis that holds all positive values, with a tick at each power of ten, at fewer where there is no room."""
    positive = [value for value in values if value > 0 and math.isfinite(value)] or [1.0, 10.0]
    low, high = math.log10(min(positive)), math.log10(max(positive))
    room = max(high - low, 0.5) * PADDING
    low, high = low - room, high + room
    ticks: tuple[float, ...] = ()
    for step in range(1, 5):
        ticks = tuple(10.0**power for power in range(math.ceil(low), math.floor(high) + 1) if power % step == 0)
        if sum(len(numbers.duration(tick, 1)) + 2 for tick in ticks) <= letters:
            break
    return Axis(10**low, 10**high, ticks, logarithmic=True)


def _round_step(rough: float) -> float:
    magnitude = 10 ** math.floor(math.log10(rough))
    return next(step * magnitude for step in (1, 2, 2.5, 5, 10) if step * magnitude >= rough)


def grid(axis: Axis) -> list[Markup]:
    """Vertical lines at the ticks, over the whole height of a row; zero is stronger."""
    return [
        h("line", x1=axis.at(tick), x2=axis.at(tick), y1="0", y2="100%", class_="zero" if tick == 0 else "grid")
        for tick in axis.ticks
    ]


def tick_labels(axis: Axis, *, as_duration: bool = False) -> Markup:
    """The ticks' numbers, as a row of its own."""
    step = axis.ticks[1] - axis.ticks[0] if len(axis.ticks) > 1 else 1.0
    decimals = _decimals(step)
    texts = [
        h(
            "text",
            numbers.duration(tick, 1) if as_duration else numbers.rounded(tick, decimals),
            x=axis.at(tick),
            y="14",
            text_anchor=_anchor(axis, tick),
        )
        for tick in axis.ticks
    ]
    return h("svg", texts, class_="axis", height="18", aria_hidden="true", focusable="false")


def _anchor(axis: Axis, tick: float) -> str:
    """How a label hangs on its tick: at the edges of a logarithmic plot inwards, so that nothing is cut off."""
    share = axis.share(tick)
    if not axis.logarithmic or EDGE <= share <= 1 - EDGE:
        return "middle"
    return "start" if share < EDGE else "end"


def _decimals(step: float) -> int:
    return max(0, -math.floor(math.log10(step) + 1e-9) + (1 if _is_half(step) else 0))


def _is_half(step: float) -> bool:
    mantissa = step / 10 ** math.floor(math.log10(step))
    return abs(mantissa - 2.5) < 1e-9
