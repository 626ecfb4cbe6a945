"""Stands before the real java: hands everything on to it, but does to one trial what $TMPDIR/orders/next says.

The order is JSON, taken once: ``hang`` never reaches main and does not listen to TERM, ``replace`` is a list of
[pattern, replacement] for the command's words, ``agent`` passes over the baseline. ``garble`` writes bytes that are no
UTF-8 into status file and logs, ``flood`` prints without an end, ``fails`` tells the cause on standard output alone.
``$TMPDIR/orders/preload``, if it
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
            if order.get("garble"):
                with Path(words[words.index("--status") + 1]).open("ab") as status:
                    status.write(b"\xff\xfe \xc3( \xe2\x82\n")
                os.write(1, b"\xff\xfe\n")
                os.write(2, b"\xff\xfe\n")
            if order.get("flood"):
                line = b"DEBUG of an agent\n" * 4096
                while True:
                    os.write(1, line)
            if order.get("fails"):
                os.write(1, b"Caused by: the fault was injected\n")
                os.write(2, b"WARNING: something else\n")
                sys.exit(1)
            for pattern, replacement in order.get("replace", []):
                words = [re.sub(pattern, replacement, word) for word in words]
    os.execv(REAL, [str(REAL), *words])


if __name__ == "__main__":
    main()
