"""The start of ``./tracetax test``: the launcher runs this folder, with what follows ``test``."""

import sys
from pathlib import Path

CLONE = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run the checks; Ctrl-C ends them with a word."""
    sys.path[0] = str(CLONE / "scripts")  # Python has put the folder of this file there, in which no package lies
    from checks.running import run_checks

    try:
        return run_checks(CLONE, sys.argv[1:])
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
