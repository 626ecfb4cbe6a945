"""Stands in for a real backend: takes OTLP over HTTP, counts the spans in it, and serves its counters.

What it does wrong is said by its last argument: ``ends`` at once, ``is-deaf`` (never listens), ``everywhere`` (listens
on all addresses), ``drops`` every second span, ``refuses`` every second request, ``dies`` at the first span,
``babbles`` instead of its counters, ``raves`` of infinitely many spans.
"""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

NAME = b"MonitoredClass.monitoredMethod"
port, form, fault = int(sys.argv[1]), sys.argv[2], sys.argv[3]
counters = {"received": 0, "dropped": 0, "refused": 0}
Path(os.environ["TMPDIR"], "left-over").write_text("its own")


class Handler(BaseHTTPRequestHandler):
    """Takes spans by POST, tells its counters by GET."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        spans = body.count(NAME)
        if fault == "dies" and spans:
            os._exit(3)
        if fault == "refuses" and spans > 1:
            counters["refused"] += spans // 2
            spans -= spans // 2
        counters["received"] += spans
        counters["dropped"] += spans // 2 if fault == "drops" else 0
        self.answer(200, "")

    def do_GET(self) -> None:
        if self.path == "/health":
            self.answer(200, "up")
        elif fault == "babbles":
            self.answer(200, "<html>")
        elif fault == "raves":
            self.answer(200, '{"spans.total": {"received": Infinity}}')
        elif form == "json":
            self.answer(200, json.dumps({"spans.total": counters, "other": 7}))
        else:
            lines = [f'spans{{kind="{kind}",by="http"}} {count}.0' for kind, count in counters.items()]
            self.answer(200, "# TYPE spans counter\n" + "\n".join(lines) + '\nspans_bytes{kind="received"} 99\n')

    def answer(self, code: int, text: str) -> None:
        self.send_response(code)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None: ...


if fault == "ends":
    print("no licence found", flush=True)
    sys.exit(7)
if fault == "is-deaf":
    time.sleep(600)
ThreadingHTTPServer(("0.0.0.0" if fault == "everywhere" else "127.0.0.1", port), Handler).serve_forever()
