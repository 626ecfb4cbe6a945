"""Results that a study keeps line by line as they come, so that it can go on where it stopped."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path


def read(file: Path) -> list[dict[str, str]]:
    """The lines of a CSV; none where it is not there."""
    if not file.is_file():
        return []
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def append(file: Path, columns: tuple[str, ...], lines: Iterable[Mapping[str, object]]) -> None:
    """Add lines to a CSV, which is begun where there is none."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = not file.exists()
    with file.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(lines)
