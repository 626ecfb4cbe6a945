"""``python -m tracetax``."""

from tracetax.installed import main

main()
