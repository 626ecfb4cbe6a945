"""A small host of functions, which behaves as a variable says: an example of what can go wrong is a word each.

What an agent would send, it sends itself, as OTLP in JSON: ``SPANS`` spans of an invocation, at once or (``BATCH``)
half a second after it.
"""

import os
import time

BEGAN = time.monotonic_ns()

import importlib  # noqa: E402
import json  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer  # noqa: E402
from typing import Any  # noqa: E402

export: Any = importlib.import_module("tracetax_spans").export
BEHAVIOUR = os.environ.get("BEHAVIOUR", "")
AFTER = int(os.environ.get("AFTER", "250"))
SPANS = int(os.environ.get("SPANS", "0"))
BATCH_SECONDS = 0.5
served = 0


def mark(name: str, at_ns: int | None = None) -> None:
    """Tell a moment of the start."""
    with open(os.environ["TRACETAX_MARKS"], "a") as marks:  # noqa: PTH123 pathlib would be one import more
        marks.write(f"{name} {time.monotonic_ns() if at_ns is None else at_ns}\n")


class Handler(BaseHTTPRequestHandler):
    """Answers POST with the sum of the numbers of the event."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Invoke the function once."""
        global served
        served += 1
        if served == 1:
            mark("first-begin")
        event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if BEHAVIOUR == "dies" and served > AFTER:
            os._exit(3)
        if BEHAVIOUR == "hangs" and served > AFTER:
            time.sleep(900)
        if BEHAVIOUR == "memory" and served > AFTER:
            kept.append(bytearray(b"x" * (64 << 20)))
        begin = time.perf_counter_ns()
        total = sum(event["numbers"])
        if BEHAVIOUR == "wrong" and served > AFTER:
            total += 1
        inside = time.perf_counter_ns() - begin
        throws = BEHAVIOUR == "throws" or (BEHAVIOUR == "throws-later" and served > AFTER)
        body = json.dumps({"result": {"sum": total}, "inside_ns": inside, "function": os.environ["FUNCTION"]}).encode()
        self.send_response(500 if throws else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not os.environ.get("BATCH"):
            export(SPANS)
        self.wfile.write(body)
        if os.environ.get("BATCH"):
            threading.Timer(BATCH_SECONDS, export, (SPANS,)).start()
        if served == 1:
            mark("first-end")
        if BEHAVIOUR == "killed" and served == AFTER:
            self.wfile.flush()
            os.kill(os.getpid(), signal.SIGKILL)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed for an invocation."""


kept: list[bytearray] = []


def main() -> None:
    """Serve until TERM."""
    mark("runtime", BEGAN)
    if os.environ.get("AGENT"):
        time.sleep(0.05)
        mark("agent")
    if BEHAVIOUR == "never-answers":
        time.sleep(900)
    time.sleep(0.05)
    mark("imported")
    host, _, port = os.environ["LISTEN"].rpartition(":")
    ThreadingHTTPServer.request_queue_size = 128
    server = ThreadingHTTPServer((host, int(port)), Handler)
    server.daemon_threads = True

    def end(*_: object) -> None:
        threading.Thread(target=server.shutdown).start()

    signal.signal(signal.SIGTERM, end)
    server.serve_forever()
    sys.exit(0)


main()
