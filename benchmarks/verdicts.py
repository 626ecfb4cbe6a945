"""A paper's statements, decided by rules: confirmed, refuted, undecided or not comparable, and why."""

from collections.abc import Iterable
from typing import TextIO

from msgspec import Struct


class Verdict(Struct, frozen=True):
    """A statement of a paper, decided."""

    finding: str
    """What it is called, such as MF3.1."""
    says: str
    decided: str
    because: str


def write_verdicts(verdicts: Iterable[Verdict], to: TextIO, what: str = "finding") -> None:
    """Write them as a Markdown table; ``what`` is what the paper calls them."""
    print(f"\n| {what} | it says | here | because |\n| --- | --- | --- | --- |", file=to)
    for one in verdicts:
        print(f"| {one.finding} | {one.says} | *{one.decided}* | {one.because} |", file=to)
