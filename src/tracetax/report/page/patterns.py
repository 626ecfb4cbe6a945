"""The patterns of stacked bars: their segments are told apart without colour, on paper too."""

from tracetax.report.page.html import Markup, h

SOLID = ("caller", "received")
HATCHES = {
    "agent": "M0 6 6 0M-1 1 1-1M5 7 7 5",
    "jit": "M0 1.5H6M0 4.5H6",
    "gc": "M1.5 0V6M4.5 0V6",
    "other": "M0 3H6M3 0V6",
    "dropped": "M0 6 6 0M-1 1 1-1M5 7 7 5",
    "deleted": "M0 3H6",
    "kernel": "M3 0V6",
    "silent": "M0 0 6 6M0 6 6 0",
}
"""A path on a tile of 6 × 6."""


def fill(name: str) -> dict[str, str]:
    """A segment's pattern; none for what is solid."""
    return {} if name in SOLID else {"fill": f"url(#pattern-{name})"}


def swatch(name: str) -> Markup:
    """The key's sample of a pattern."""
    rect = h("rect", width="100%", height="100%", **fill(name), class_=f"part {name}")
    return h("svg", rect, class_="swatch", aria_hidden="true", focusable="false")


def patterns() -> Markup:
    """The patterns that segments are filled with, once per page."""
    tiles = [
        h(
            "pattern",
            h("rect", width="6", height="6", class_=f"tile {name}"),
            h("path", d=path, class_=f"hatch {name}"),
            id=f"pattern-{name}",
            width="6",
            height="6",
            patternUnits="userSpaceOnUse",
        )
        for name, path in HATCHES.items()
    ]
    return h("svg", h("defs", tiles), class_="visually-hidden", aria_hidden="true", focusable="false")
