"""The goldens on disk: read, written, and compared with what is made now."""

import shutil
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

from tests.goldens.outputs import Outputs

EXPECTED = Path(__file__).with_name("expected")
FILES = 5
"""Whose differences are shown; of the others only the names."""
LINES = 12
"""Of a difference that are shown for each file."""
WIDTH = 160
"""Characters that are shown of a line."""
NEAR = 200
"""Lines from the first difference on that are looked at: of whole long files, a comparison would take minutes."""
BEFORE = 40
"""Characters that are shown before the first difference of a longer line."""


def stored(group: str, root: Path = EXPECTED) -> Outputs:
    """The goldens of a group by name; none where it has no folder."""
    folder = root / group
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes().decode() for path in files}


def store(group: str, outputs: Outputs, root: Path = EXPECTED) -> list[str]:
    """Replace the goldens of a group; returns the paths of those that changed, appeared or went."""
    before = stored(group, root)
    shutil.rmtree(root / group, ignore_errors=True)
    for name, text in outputs.items():
        path = root / group / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return [f"{group}/{name}" for name in sorted(before | outputs) if before.get(name) != outputs.get(name)]


def differences(expected: Outputs, made: Outputs) -> list[str]:
    """What differs: names of goldens, of the first few with the first lines that do."""
    found = [f"{name}: is not made any more" for name in sorted(expected.keys() - made.keys())]
    found += [f"{name}: is made, and is no golden yet" for name in sorted(made.keys() - expected.keys())]
    changed = [name for name in sorted(expected.keys() & made.keys()) if expected[name] != made[name]]
    for name in changed[:FILES]:
        found.append("\n".join((f"{name}: - golden, + now", *_first_lines(expected[name], made[name]))))
    return [*found, *([f"and {', '.join(changed[FILES:])}"] if changed[FILES:] else [])]


def _first_lines(expected: str, made: str) -> list[str]:
    """The first lines that differ, each cut to what is around the first difference."""
    before, after = expected.splitlines(keepends=True), made.splitlines(keepends=True)
    line = _first_difference(before, after)
    near = slice(max(0, line - 1), line + NEAR)
    compared = list(unified_diff(before[near], after[near], n=1))[2:]
    marked = [text for text in compared if not text.startswith("@@")]
    one, two = ("".join(lines[line : line + 1]) for lines in (before, after))
    start = max(0, _first_difference(one, two) - BEFORE) if max(len(one), len(two)) > WIDTH else 0
    shown = [f"  {text[0]}{'…' if start else ' '}{text[1:].rstrip()[start : start + WIDTH]}" for text in marked[:LINES]]
    return [f"  line {line + 1}", *shown, *(["  …"] if len(marked) > LINES else [])]


def _first_difference(one: Sequence[str], two: Sequence[str]) -> int:
    """The first place at which two lists of lines, or two lines, differ."""
    places = (place for place, (left, right) in enumerate(zip(one, two, strict=False)) if left != right)
    return next(places, min(len(one), len(two)))
