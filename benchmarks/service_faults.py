"""Injects every fault of a service of the user's again and again, and judges what is told and what is left.

    PYTHONPATH=src .venv/bin/python benchmarks/service_faults.py
        [--only FAULT …] [--times 20] [--jobs 2] [--list] [--to FILE]

Each injection is a `./tracetax run --service` of its own, with a small HTTP service in Python that misbehaves in one
way. Of *database-dies* it is a run of the service in Go that comes with Tracetax, and PostgreSQL is killed beside it.
It holds where the exit status is the one that is due, the sentence that helps is printed, no stack trace of Tracetax's
is, and no process is left that had the run's mark in its environment, or its folder in its command. A line is
appended to docs/results/service-faults.csv as each is judged; lines that are there are not made again.
"""

import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil

from faultlib.campaign import Injection, campaign, run_tool, when_loaded

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs/results/service-faults.csv"
SERVICE = """
import http.server, os, resource, signal, socket, subprocess, sys, threading, time
port, fault, after = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
answered, lock = 0, threading.Lock()
if fault == "ignores-term":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if fault == "goes-to-background" and os.fork():
    os._exit(0)
if fault == "leaves-children":
    for _ in range(3):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(900)"], start_new_session=True)
if fault == "leaks-connections":
    resource.setrlimit(resource.RLIMIT_NOFILE, (after, after))
    other, leaked = socket.create_server(("127.0.0.1", 0), backlog=4096), []
class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        global answered
        with lock:
            answered += 1
            late = answered > after
        if fault == "dies" and late:
            os._exit(3)
        if fault == "leaks-connections":
            leaked.append(socket.create_connection(other.getsockname()))
        if fault == "stops-answering" and late:
            time.sleep(900)
        if fault == "too-slow" and self.path != "/up":
            with lock:
                time.sleep(0.02)
        wrong = fault == "never-ready" or (fault == "answers-500-later" and late)
        wrong = wrong or (fault == "answers-500" and self.path != "/up")
        self.send_response(500 if wrong else 302 if fault == "leads-away" else 200)
        if fault == "leads-away":
            self.send_header("Location", "http://example.com/")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *_):
        pass
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True
Server(("127.0.0.1", port), Answers).serve_forever()
"""
AGENT = """
name = "Faulty"
homepage = "https://example.org"
licence = "MIT"
language = "python"
kinds = ["requests"]
version = "1"
runtime = { min = 11, tested = [11] }
instrumentation = "none"
[common]
record_name = "*"
search_path = ["{agent.files}"]
[configurations.quiet]
title = "quiet"
layers = ["I"]
delivery = "none"
[configurations.breaks]
title = "breaks the program"
layers = ["I", "C", "W"]
delivery = "lossy"
protocol = "otlp-http"
environment = { FAULTY = "breaks", TO = "{sink.otlp_http}" }
[configurations.blocks]
title = "never lets it begin"
layers = ["I", "C", "W"]
delivery = "lossy"
protocol = "otlp-http"
environment = { FAULTY = "blocks", TO = "{sink.otlp_http}" }
[configurations.breaks-requests]
title = "breaks each request"
layers = ["I", "C", "W"]
delivery = "lossy"
protocol = "otlp-http"
environment = { FAULTY = "breaks-requests", TO = "{sink.otlp_http}" }
"""
SITE = """
import os, time
if os.environ.get("FAULTY") == "blocks":
    time.sleep(900)
if os.environ.get("FAULTY") == "breaks":
    print("RuntimeError: the agent could not weave", flush=True)
    os._exit(7)
if os.environ.get("FAULTY") == "breaks-requests":
    from http.server import BaseHTTPRequestHandler as Handler
    def wrapped(self, *words, answer=Handler.send_response):
        if self.path != "/up":
            raise RuntimeError("the agent could not wrap a request")
        answer(self, *words)
    Handler.send_response = wrapped
"""
WITH_DATABASE = """
title = "A service whose database dies"
workload = "requests/go"
[parameters]
endpoint = "db"
rate = "200/s"
requests = 600
[[configurations]]
agent = "opentelemetry"
[schedule]
blocks = { min = 1, max = 1 }
budget = "5min"
memory = false
"""

FAULTS: dict[str, tuple[int, str]] = {
    "never-ready": (3, "its last answer had the status 500"),
    "answers-500": (3, "was answered with status 500 where 200 is expected"),
    "answers-500-later": (1, "status 500 where 200 is expected"),
    "goes-to-background": (3, "it must stay in the foreground"),
    "ignores-term": (0, "quiet"),
    "leaves-children": (0, "quiet"),
    "stops-answering": (1, "no whole answer within"),
    "dies": (1, "ended with status 3"),
    "leads-away": (3, "redirects are not followed"),
    "too-slow": (1, "in time"),
    "port-taken": (2, "is in use"),
    "another-machine": (2, "is not this machine"),
    "agent-breaks": (1, "is left out"),
    "agent-blocks": (1, "is left out"),
    "agent-breaks-requests": (1, "RuntimeError: the agent could not wrap a request"),
    "leaks-connections": (1, "OSError: [Errno 24] Too many open files"),
    "database-dies": (1, "is gone and was ended by signal SIGKILL"),
}
"""By fault: the exit status that is due, and a part of the sentence that helps."""


def inject(injection: Injection) -> tuple[int, str]:
    """Inject a fault once; returns the exit status of Tracetax and what it printed."""
    folder, fault, number = injection.folder, injection.fault, injection.number
    (folder / "agents/faulty/python/files").mkdir(parents=True)
    (folder / "agents/faulty/python/agent.toml").write_text(AGENT)
    (folder / "agents/faulty/python/files/sitecustomize.py").write_text(SITE)
    (folder / "service.py").write_text(SERVICE)
    (folder / "database.toml").write_text(WITH_DATABASE)
    beside: Callable[[psutil.Process], None] | None = None
    with socket.socket() as taken:
        port = "{port}"
        if fault == "port-taken":
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = str(taken.getsockname()[1])
        words = own_service(fault, number, folder, port)
        if fault == "database-dies":
            words, beside = ("run", folder / "database.toml"), partial(kill_database, seconds=number / 10)
        return run_tool((ROOT / "tracetax", *words, "--out", folder / "run"), injection, beside)


def own_service(fault: str, number: int, folder: Path, port: str) -> tuple[str | Path, ...]:
    """The words of the run of a service that misbehaves."""
    host = "example.com" if fault == "another-machine" else "127.0.0.1"
    after = 0
    if fault in ("dies", "answers-500-later", "stops-answering", "leaks-connections"):
        after = 2_300 + 30 * number  # the warm-up's requests are 2,000, and the measured ones 1,000
    ready = ("--ready", "/" if fault in ("never-ready", "leads-away") else "/up", "--ready-within", "4s")
    return (
        *("run", "--service", f"{sys.executable} {folder}/service.py {port} {fault} {after}"),
        *("--url", f"http://{host}:{port}/", "--agents-dir", folder / "agents", "--agent", "faulty"),
        *("--configuration", fault.removeprefix("agent-") if fault.startswith("agent-") else "quiet"),
        *("--rate", "3000/s" if fault == "too-slow" else "500/s", "--calls", "1000", "--connections", "16"),
        *("--blocks", "1", *ready),
    )


def kill_database(tool: psutil.Process, seconds: float) -> None:
    """Kill the PostgreSQL of the first trial, once a service has been called for so long. Ends where the run does."""
    started = when_loaded(tool, seconds)
    if started:
        next(child for child, said in started.items() if "listen_addresses=127.0.0.1" in said).kill()


if __name__ == "__main__":
    sys.exit(campaign(__doc__ or "", FAULTS, inject, RESULTS))
