"""A small HTTP service, which behaves as the first word says: an example of what can go wrong is a word each.

It is started by Python alone, without packages. What an agent would send, it sends itself: as many spans for a request
as ``SPANS`` says of its path, as OTLP in JSON, in one message each.
"""

import json
import os
import resource
import signal
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BEHAVIOUR = os.environ.get("BEHAVIOUR", "")
SPANS: dict[str, int] = json.loads(os.environ.get("SPANS", "{}"))
SENT_TO = os.environ.get("SENT_TO", "")
LEAKED: list[int] = []
served = 0


class Handler(BaseHTTPRequestHandler):
    """Answers ``/json`` and ``/rows?queries=N``; ``/work`` takes CPU."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answer one request."""
        global served
        served += 1
        path, _, query = self.path.partition("?")
        if BEHAVIOUR == "dies" and served > 1_100:
            os._exit(3)
        if BEHAVIOUR == "stalls" and served == 2_150:
            time.sleep(0.3)
        status = 500 if BEHAVIOUR == "fails" and served > 1_100 and served % 50 == 0 else 200
        if BEHAVIOUR == "leaks" and served > 1_100:
            LEAKED.append(os.open(os.devnull, os.O_RDONLY))
        if path == "/work":
            sum(range(20_000))
        body = json.dumps({"path": path, "query": query}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        queries = int(query.removeprefix("queries=") or 0) if query else 0
        export(SPANS.get(path, 0) + (queries if path == "/rows" and SPANS else 0))

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed for a request."""


def export(count: int) -> None:
    """Send so many spans of one trace."""
    if not count or not SENT_TO:
        return
    trace = os.urandom(16).hex()
    ids = [os.urandom(8).hex() for _ in range(count)]
    spans = [
        {"traceId": trace, "spanId": own, "parentSpanId": "" if own == ids[0] else ids[0], "name": f"span {place}"}
        | {"startTimeUnixNano": "1", "endTimeUnixNano": "2"}
        for place, own in enumerate(ids)
    ]
    message = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    request = urllib.request.Request(
        f"{SENT_TO}/v1/traces", json.dumps(message).encode(), {"Content-Type": "application/json"}
    )
    urllib.request.urlopen(request, timeout=5).close()


def main() -> None:
    """Serve until TERM."""
    if BEHAVIOUR == "leaks":
        resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
    if BEHAVIOUR == "never-ready":
        time.sleep(60)
    host, _, port = os.environ["LISTEN"].rpartition(":")
    ThreadingHTTPServer.request_queue_size = 128
    server = ThreadingHTTPServer((host, int(port)), Handler)
    server.daemon_threads = True
    if BEHAVIOUR == "ignores-term":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:

        def end(*_: object) -> None:
            threading.Thread(target=server.shutdown).start()

        signal.signal(signal.SIGTERM, end)
    server.serve_forever()
    sys.exit(0)


main()
