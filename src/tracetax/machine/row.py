"""One line of the doctor."""

from typing import Literal

from msgspec import Struct

Group = Literal["toolchain", "machine"]
State = Literal["ok", "warn", "missing", "unseen"]
"""``unseen``: the machine does not show it, so that nothing is said about it."""


class Row(Struct, frozen=True):
    """What was looked at, what was found, and what that means."""

    group: Group
    name: str
    state: State
    value: str
    advice: str = ""
    """What to do about it; empty where nothing is to be done."""
