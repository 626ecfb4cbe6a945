"""Stands before the real java: hands everything on to it, but does to one trial what $TMPDIR/orders/next says.

The order is JSON, taken once: ``hang`` never reaches main and does not listen to TERM, ``replace`` is a list of
[pattern, replacement] for the command's words, ``agent`` passes over the baseline. ``$TMPDIR/orders/preload``, if it
is there, names a library that is loaded before all others.
"""

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

REAL = Path(__file__).absolute().with_name("java.real")


def main() -> None:
    """Follow the order, if there is one, and become the JVM."""
    words = sys.argv[1:]
    orders = Path(os.environ.get("TMPDIR", "/tmp")) / "orders"
    preload = orders / "preload"
    if preload.exists():
        os.environ["LD_PRELOAD"] = preload.read_text()
    following = orders / "next"
    if "--status" in words and following.exists():
        order = json.loads(following.read_text())
        if not order.get("agent") or any(word.startswith("-javaagent") for word in words):
            following.rename(orders / "taken")
            if order.get("hang"):
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                signal.signal(signal.SIGQUIT, signal.SIG_IGN)
                time.sleep(600)
            for pattern, replacement in order.get("replace", []):
                words = [re.sub(pattern, replacement, word) for word in words]
    os.execv(REAL, [str(REAL), *words])


if __name__ == "__main__":
    main()
