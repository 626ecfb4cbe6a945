"""Writes the goldens anew: ``scripts/goldens``."""

import tempfile
from pathlib import Path

from tests.goldens.outputs import groups
from tests.goldens.stored import EXPECTED, store


def main() -> None:
    """Make every group and say which of its goldens have changed."""
    made = groups()
    changed = [f"{path.name}/" for path in sorted(EXPECTED.glob("*")) if path.name not in made]
    for name in changed:
        print(f"{EXPECTED / name} belongs to no group: remove it")
    for group, outputs in made.items():
        with tempfile.TemporaryDirectory() as folder:
            changed += store(group, outputs(Path(folder)))
    print("\n".join(changed) if changed else "No golden has changed.")


if __name__ == "__main__":
    main()
