"""A service of the user's is tried before anything is measured: whether it answers, and what runs it."""

import json
import os
import socket
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from tracetax.catalog.runtime_file import sound_runtimes
from tracetax.companions.loopback import free_port
from tracetax.errors import UserError
from tracetax.place import data_folder
from tracetax.program import Service
from tracetax.run.launch import listening
from tracetax.run.trying import try_service
from tracetax.service import OwnService, Sent

SERVICE = """
import http.server, os, sys, time
print("here I am", flush=True)
class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path
        self.send_response(500 if path == "/broken" else 302 if path == "/away" else 200)
        if path == "/away":
            self.send_header("Location", "http://example.com/")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    do_POST = do_GET
{before}
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answers).serve_forever()
"""


def service(folder: Path, *, before: str = "", path: str = "/", ready: str = "/", seconds: float = 20.0) -> OwnService:
    file = folder / "service.py"
    file.write_text(SERVICE.replace("{before}", before))
    return OwnService(
        start=(sys.executable, str(file), "{listen.port}"),
        directory=str(folder),
        language="",
        program="",
        endpoints={"one": Sent(path)},
        weights={"one": 1},
        ready_path=ready,
        ready_within_ns=round(seconds * 1e9),
    )


def refused(own: OwnService) -> str:
    with pytest.raises(UserError) as caught:
        try_service(own, sound_runtimes(data_folder()))
    return str(caught.value)


def test_the_language_is_that_of_what_listens(tmp_path: Path) -> None:
    tried = try_service(service(tmp_path), sound_runtimes(data_folder())).service
    assert tried.language == "python"
    assert Path(tried.program) == Path(sys.executable).resolve()


def test_a_shell_before_it_changes_nothing(tmp_path: Path) -> None:
    own = service(tmp_path)
    by_shell = ("sh", "-c", f"{sys.executable} {tmp_path}/service.py {{listen.port}}; true")
    tried = try_service(replace(own, start=by_shell), sound_runtimes(data_folder())).service
    assert tried.language == "python"


def test_one_that_ends_is_told_with_what_it_printed(tmp_path: Path) -> None:
    text = refused(service(tmp_path, before="sys.exit('no configuration')"))
    assert "ended with status 1 before it answered" in text
    assert "no configuration" in text
    assert "background" not in text


def test_one_that_goes_to_the_background_is_told(tmp_path: Path) -> None:
    text = refused(service(tmp_path, before="if os.fork(): os._exit(0)\nos.setsid()"))
    assert "it must stay in the foreground" in text


def test_one_that_never_gets_ready_is_told_with_its_last_answer(tmp_path: Path) -> None:
    text = refused(service(tmp_path, ready="/broken", seconds=2.0))
    assert "its last answer had the status 500" in text
    assert "--ready" in text


def test_one_that_does_not_listen_is_told(tmp_path: Path) -> None:
    assert "Connection refused" in refused(service(tmp_path, before="time.sleep(60)", seconds=1.0))


def test_one_that_listens_elsewhere_is_told_where(tmp_path: Path) -> None:
    other = free_port()
    text = refused(service(tmp_path, before=f"sys.argv[1] = '{other}'", seconds=2.0))
    assert f"It listens on port {other} instead" in text


def test_a_wrong_answer_is_told_before_anything_is_measured(tmp_path: Path) -> None:
    text = refused(service(tmp_path, path="/broken"))
    assert "GET /broken (one) was answered with status 500 where 200 is expected" in text


def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    text = refused(service(tmp_path, path="/away"))
    assert "leads to http://example.com/: redirects are not followed" in text


def test_one_that_leads_to_another_machine_is_refused_at_once(tmp_path: Path) -> None:
    text = refused(service(tmp_path, ready="/away", seconds=60.0))
    assert "leads to http://example.com/: redirects are not followed" in text
    assert "example.com is not this machine" in text


def test_what_cannot_be_started_is_told(tmp_path: Path) -> None:
    own = replace(service(tmp_path), start=("no-such-program", "{listen.port}"))
    assert "no-such-program cannot be started" in refused(own)


def test_nothing_is_left_of_one_that_ignores_term(tmp_path: Path) -> None:
    before = (
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "import json; open('pid.json', 'w').write(json.dumps(os.getpid()))"
    )
    try_service(service(tmp_path, before=before), sound_runtimes(data_folder()))
    pid = json.loads((tmp_path / "pid.json").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_port_in_use_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"Port {port} is in use"):
            listening(Service({}, "/", 1, port=port))
