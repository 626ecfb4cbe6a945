"""``python -m tracetax``."""

from tracetax.cli import main

main()
