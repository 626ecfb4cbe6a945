"""``python -m tracetax``."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a Ctrl-C during the imports is no stack trace

from tracetax.installed import main

main()
