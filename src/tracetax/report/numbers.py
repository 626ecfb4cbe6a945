"""Numbers as a reader wants them: as many digits as the interval supports, units that fit, minus signs that align."""

import math
import re

MINUS = "−"
SPACE = "\u00a0"
SEPARATOR = f"{SPACE}· "
"""Between facts in a row; a line may end behind it, not before it."""
TORN = re.compile(r"(?<=\d) (?=± ?\d)|(?<=±) (?=\d)|(?<=\d) (?=(?:%|[nµm]?s)(?!\w))")
NANOSECOND_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def decimals_for(half_width: float | None, estimate: float) -> int:
    """Decimal places that a half-width supports; negative is left of the point.

    A half-width keeps two significant digits, below 1 only one; without it the estimate keeps three.
    """
    if half_width and math.isfinite(half_width):
        magnitude = math.floor(math.log10(half_width))
        return min(2, 1 - magnitude if half_width >= 1 else -magnitude)
    if estimate and math.isfinite(estimate):
        return min(2, 2 - math.floor(math.log10(abs(estimate))))
    return 0


def rounded(value: float, decimals: int) -> str:
    """A number with thousands separated, rounded to ``decimals`` places, a typographic minus before negatives."""
    if not math.isfinite(value):
        return "–"
    number = round(value, decimals) + 0.0
    text = f"{abs(number):,.{max(0, decimals)}f}"
    return f"{MINUS}{text}" if number < 0 else text


def measured(estimate: float, half_width: float | None) -> tuple[str, str]:
    """An estimate and its half-width, both to the digit that the half-width decides; empty where there is none."""
    decimals = decimals_for(half_width, estimate)
    return rounded(estimate, decimals), "" if half_width is None else rounded(half_width, decimals)


def significant(value: float, digits: int = 2) -> str:
    """A number rounded to significant digits, thousands separated."""
    if not value or not math.isfinite(value):
        return rounded(value, 0)
    value = float(f"{value:.{digits - 1}e}")
    return rounded(value, digits - 1 - math.floor(math.log10(abs(value))))


def count(value: int) -> str:
    """An exact count with thousands separated."""
    return f"{value:,}"


def in_words(value: int) -> str:
    """A count of things in a sentence: in words up to twelve."""
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    return words[value] if value < len(words) else count(value)


def large(value: float) -> str:
    """A large number to two digits, in words above a million: ``33,000``, ``3.3 million``."""
    for scale, word in ((1e9, "billion"), (1e6, "million")):
        if value >= scale * 0.9995:
            return f"{significant(value / scale)} {word}"
    return significant(value)


def per_second(values: list[float], unit: str = "") -> str:
    """A rate, ``3.3 million records/s``, ``33,000/s``; of several rows from lowest to highest: ``33,000–41,000/s``."""
    low, high = large(min(values)), large(max(values))
    word = high.partition(" ")[2]
    if low != high:
        low = low.removesuffix(f" {word}") if word else low
        high = f"{low}–{high}"
    return f"{high} {unit}/s" if unit else f"{high}/s"


def percent(share: float) -> str:
    """A share as per cent, never rounded up to ``100 %`` nor down to ``0 %``."""
    if share >= 1 or share <= 0:
        return f"{share * 100:.0f} %"
    if share < 0.5:
        return f"{significant(share * 100)} %"
    decimals = max(0, math.ceil(-math.log10(1 - share) - 1e-9) - 2)
    scale = 10**decimals
    return f"{math.floor(share * 100 * scale + 1e-9) / scale:.{decimals}f} %"


def size(amount: float) -> str:
    """Bytes with a binary unit."""
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if amount >= 1024**power:
            value = amount / 1024**power
            return f"{value:.0f} {unit}" if value >= 10 or value == int(value) else f"{value:.1f} {unit}"
    return f"{amount:.0f} B"


def duration(nanoseconds: float, digits: int = 3) -> str:
    """A time with the unit that fits: ``412 ns``, ``5.3 ms``."""
    for scale, unit in NANOSECOND_UNITS:
        if abs(nanoseconds) >= scale * 0.9995:
            return f"{significant(nanoseconds / scale, digits)} {unit}"
    return f"{significant(nanoseconds, digits)} ns"


def measured_duration(nanoseconds: float, half_width: float | None, largest: float = 0.0) -> tuple[str, str, str]:
    """A time, its half-width and the unit that fits the larger of the two: ``("18.4", "1.5", "µs")``.

    ``largest`` is that of several times which share a unit.
    """
    own = max(abs(nanoseconds), half_width if half_width and math.isfinite(half_width) else 0.0)
    fitting = (unit for unit in NANOSECOND_UNITS if max(own, largest) >= unit[0] * 0.9995)
    scale, unit = next(fitting, NANOSECOND_UNITS[-1])
    estimate, width = nanoseconds / scale, None if half_width is None else half_width / scale
    decimals = decimals_for(width, estimate)
    if width and math.isfinite(width) and scale > 1:
        decimals = min(3 if largest else 2, 1 - math.floor(math.log10(width)))
    return rounded(estimate, decimals), "" if width is None else rounded(width, decimals), unit


def spanned_duration(nanoseconds: float, low: float, high: float) -> tuple[str, str, str]:
    """A time, its lopsided interval and the unit that fits the time: ``("3.0", "0.22 – 42", "ms")``."""
    scale, unit = next((unit for unit in NANOSECOND_UNITS if abs(nanoseconds) >= unit[0] * 0.9995), (1.0, "ns"))
    ends = f"{significant(low / scale)}{SPACE}–{SPACE}{significant(high / scale)}"
    return significant(nanoseconds / scale), ends, unit


def alone(estimate: float, half_width: float | None, finest: int = 2) -> str:
    """An estimate that is shown without its half-width: no digit that it does not support, but one at least.

    ``finest`` bounds its decimal places.
    """
    if not estimate or not math.isfinite(estimate):
        return rounded(estimate, 0)
    decimals = max(decimals_for(half_width, estimate), -math.floor(math.log10(abs(estimate))))
    return rounded(estimate, min(decimals, finest))


def fine(estimate: float, half_width: float | None) -> tuple[str, str]:
    """An estimate and its half-width to the half-width's second digit, however small both are."""
    if not half_width or not math.isfinite(half_width):
        return significant(estimate, 3), "" if half_width is None else rounded(half_width, 0)
    decimals = 1 - math.floor(math.log10(half_width))
    return rounded(estimate, decimals), rounded(half_width, decimals)


def measured_size(amount: float, half_width: float | None) -> tuple[str, str, str]:
    """Bytes, their half-width and the binary unit that fits: ``("38.4", "1.2", "MiB")``."""
    power, unit = next(
        ((1024.0**k, unit) for k, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")) if abs(amount) >= 1024**k), (1.0, "B")
    )
    return *measured(amount / power, None if half_width is None else half_width / power), unit


def unbroken(text: str) -> str:
    """Text in which no line ends between a number, its half-width and its unit: those spaces do not break."""
    return TORN.sub(SPACE, text)
