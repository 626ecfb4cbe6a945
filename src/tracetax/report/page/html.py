"""Writing HTML and SVG from data: everything is escaped unless it is markup already, everything is well-formed."""

import html
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

from tracetax.report.numbers import SEPARATOR

BEHIND = "#trials-behind"
VOID = frozenset({"meta", "br", "hr", "line", "circle", "rect", "path", "col"})
NOT_ALLOWED = re.compile(r"[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


SOLID = ("caller", "received", "program")
"""Segments of stacked bars that have no pattern."""
HATCHES = {
    "agent": "M0 6 6 0M-1 1 1-1M5 7 7 5",
    "jit": "M0 1.5H6M0 4.5H6",
    "gc": "M1.5 0V6M4.5 0V6",
    "other": "M0 3H6M3 0V6",
    "dropped": "M0 6 6 0M-1 1 1-1M5 7 7 5",
    "deleted": "M0 3H6",
    "kernel": "M3 0V6",
    "silent": "M0 0 6 6M0 6 6 0",
    "stores": "M0 1.5H6M0 4.5H6",
    "load": "M1.5 0V6M4.5 0V6",
    "receiver": "M0 6 6 0M-1 1 1-1M5 7 7 5",
}
"""Patterns by which segments of a stacked bar are told apart without colour: a path on a tile of 6 × 6."""


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"


def h(name: str, /, *children: Child, **attributes: str | float | None) -> Markup:
    """An element. Attribute names lose a trailing ``_`` and turn ``_`` into ``-``; None leaves one out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = joined(children)
    return Markup(f"<{name}{written}/>" if not inside and name in VOID else f"<{name}{written}>{inside}</{name}>")


def joined(children: Child) -> Markup:
    """Children one after the other, text escaped."""
    if children is None:
        return Markup("")
    if isinstance(children, Markup):
        return children
    if isinstance(children, str | int):
        return Markup(escape(str(children)))
    return Markup("".join(joined(child) for child in children))


@lru_cache(maxsize=4096)
def escape(text: str) -> str:
    """Text safe in content and in quoted attributes. Characters that XML does not allow become ``\\ufffd``."""
    return html.escape(NOT_ALLOWED.sub("\ufffd", text))


def section(key: str, title: str, *children: Child, folded: bool = False) -> Markup:
    """A section of the page with a heading that can be linked to; ``folded`` it opens on demand."""
    heading = h("h3", title, id=key)
    body: Child = h("details", h("summary", heading), *children) if folded else [heading, *children]
    return h("section", body, aria_labelledby=key)


def chapter(key: str, title: str, lead: str, sections: Sequence[Markup], unfolded: bool) -> Markup:
    """Several sections under one heading, which opens and closes them; a link to ``key`` opens it."""
    summary = h("summary", h("h2", title), " ", h("span", lead, class_="muted"))
    return h("details", summary, h("div", sections, id=key), class_="chapter", open="open" if unfolded else None)


def caption(text: Child, *sources: str, more: str = "") -> list[Markup]:
    """How to read what follows, and links to the rows behind it: files, or ``BEHIND`` for the list of trials.

    ``more`` is what only some readers ask for: it is folded.
    """
    named = ((name, "trials behind each row" if name == BEHIND else name) for name in sources)
    links = [
        [SEPARATOR if number else " Rows: ", h("a", shown, href=name)] for number, (name, shown) in enumerate(named)
    ]
    read = h("p", text, links, "." if links else None, class_="caption")
    folded = h("details", h("summary", "How it is counted"), h("p", more), class_="caption more")
    return [read, folded] if more else [read]


def scrolling(label: str, table: Markup) -> Markup:
    """A wide table that scrolls sideways by itself, reachable by keyboard."""
    return h("div", table, class_="scroll", role="region", aria_label=label, tabindex=0)


def who(agent: str, title: str, rows: str | None = None, note: str = "") -> list[Child]:
    """An agent and its configuration, the agent standing out; ``rows`` is the id of the trials behind it."""
    name = h("a", title, href=f"#{rows}", class_="title") if rows else h("span", title, class_="title")
    return [h("span", agent, class_="agent"), " ", name, [" ", h("span", note, class_="label")] if note else None]


def plus_minus(value: str, margin: str, unit: str = "") -> Markup:
    """A number, its half-width a little quieter, and its unit."""
    return h(
        "span", h("b", value), h("i", f"\u00a0± {margin}") if margin else None, f" {unit}" if unit else "", class_="pm"
    )


def pattern_of(name: str) -> dict[str, str]:
    """A segment's pattern; none for what is solid."""
    return {} if name in SOLID else {"fill": f"url(#pattern-{name})"}


def swatch(name: str) -> Markup:
    """The key's sample of a pattern."""
    rect = h("rect", width="100%", height="100%", **pattern_of(name), class_=f"part {name}")
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
