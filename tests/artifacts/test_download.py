"""An artifact from an address: whole, with its checksum, or not at all; from a server on the loopback interface."""

import hashlib
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from msgspec.structs import replace

from tracetax.artifacts import download, obtain
from tracetax.artifacts.download import file_name
from tracetax.errors import ExitCode, UserError
from tracetax.model import Artifact

CONTENT = b"the right content" * 100_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server:
    """Answers each request with the next of ``answers``, and the last one again after that."""

    def __init__(self) -> None:
        self.answers: list[str] = ["whole"]
        self.requests: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requests.append(self.path)
                answer = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                if answer.isdigit():
                    self.send_error(int(answer))
                elif answer == "hang up":
                    self.connection.close()
                elif answer == "moved":
                    self.send_response(302)
                    self.send_header("Location", "/elsewhere/tracer.tar.gz")
                    self.end_headers()
                elif answer == "steering":
                    self.send_response(404, "gone \x1b[2J")
                    self.end_headers()
                else:
                    self.send_response(200)
                    if answer != "without a length":
                        self.send_header("Content-Length", str(len(CONTENT)))
                    self.end_headers()
                    body = {"half": CONTENT[: len(CONTENT) // 2], "other": b"?" * len(CONTENT)}.get(answer, CONTENT)
                    self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Generator[Server]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    running = Server()
    yield running
    running.close()


def artifact(server: Server, path: str = "/releases/tracer.tar.gz") -> Artifact:
    return Artifact("agent", url=server.address + path, sha256=SHA256, version_named="1")


def test_a_file_is_stored_under_its_checksum_and_fetched_once(server: Server, cache: Path) -> None:
    path = obtain(artifact(server), cache)
    assert path == cache / "artifacts" / SHA256 / "tracer.tar.gz"
    assert path.read_bytes() == CONTENT
    assert obtain(artifact(server), cache) == path
    assert server.requests == ["/releases/tracer.tar.gz"]
    assert not list((cache / "staging").iterdir())


def test_a_damaged_file_in_the_cache_is_fetched_again(server: Server, cache: Path) -> None:
    obtain(artifact(server), cache).write_bytes(b"damaged")
    said: list[str] = []
    assert obtain(artifact(server), cache, said.append).read_bytes() == CONTENT
    assert "damaged" in said[0]


@pytest.mark.parametrize("first", ["half", "hang up", "other", "503"])
def test_what_failed_once_is_tried_once_more(server: Server, cache: Path, first: str) -> None:
    server.answers = [first, "whole"]
    said: list[str] = []
    assert obtain(artifact(server), cache, said.append).read_bytes() == CONTENT
    assert said[-1].endswith("trying once more")


def test_a_redirection_is_followed(server: Server, cache: Path) -> None:
    server.answers = ["moved", "whole"]
    assert obtain(artifact(server), cache).name == "tracer.tar.gz"
    assert server.requests[-1] == "/elsewhere/tracer.tar.gz"


@pytest.mark.parametrize(
    ("answer", "tries", "said"),
    [
        ("404", 1, "the server answered 404"),
        ("500", 2, "the server answered 500"),
        ("half", 2, f"the connection ended after {len(CONTENT) // 2:,} of {len(CONTENT):,} bytes"),
        ("hang up", 2, "the connection broke off after 0 bytes"),
        ("other", 2, "does not have the checksum that its agent's file pins"),
    ],
)
def test_what_cannot_be_fetched_says_why_and_the_way_out_and_leaves_nothing(
    server: Server, cache: Path, answer: str, tries: int, said: str
) -> None:
    server.answers = [answer]
    with pytest.raises(UserError) as caught:
        obtain(artifact(server), cache)
    message = str(caught.value)
    assert said in message
    assert server.address in message
    assert "./tracetax run --artifact AGENT.agent=FILE" in message
    assert caught.value.exit_code is ExitCode.ENVIRONMENT
    assert len(server.requests) == tries
    assert not (cache / "artifacts").exists()


def test_a_wrong_checksum_is_told_with_both_sums(server: Server, cache: Path) -> None:
    server.answers = ["other"]
    with pytest.raises(UserError) as caught:
        obtain(artifact(server), cache)
    assert SHA256 in str(caught.value)
    assert hashlib.sha256(b"?" * len(CONTENT)).hexdigest() in str(caught.value)


def test_what_is_not_pinned_yet_is_told_with_its_checksum(server: Server, cache: Path) -> None:
    with pytest.raises(UserError, match="is not pinned yet") as caught:
        obtain(replace(artifact(server), sha256="0" * 64), cache)
    assert SHA256 in str(caught.value)
    assert not (cache / "artifacts").exists()


def test_where_nobody_listens_that_is_said(server: Server, cache: Path) -> None:
    nobody = artifact(server)
    server.close()
    with pytest.raises(UserError, match=r"it could not be reached: .*refused"):
        obtain(nobody, cache)


def test_the_proxy_of_the_environment_is_asked(server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", server.address)
    away = Artifact("agent", url="http://tracer.invalid/tracer.tar.gz", sha256=SHA256, version_named="1")
    assert obtain(away, cache).read_bytes() == CONTENT
    assert server.requests == ["http://tracer.invalid/tracer.tar.gz"]
    monkeypatch.setenv("no_proxy", "tracer.invalid")
    with pytest.raises(UserError, match="it could not be reached"):
        obtain(away, cache.with_name("another"))


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.org/a/tracer-1.0.jar", "tracer-1.0.jar"),
        ("https://example.org/tracer.tar.gz?download=1#x", "tracer.tar.gz"),
        ("https://example.org/a%20b.jar", "download"),
        ("https://example.org/..", "download"),
        ("https://example.org/%2e%2e%2fpasswd", "download"),
        ("https://example.org/", "download"),
    ],
)
def test_a_file_is_called_by_the_end_of_its_address(url: str, name: str) -> None:
    assert file_name(url) == name


def test_a_file_that_only_its_owner_has_is_asked_for(cache: Path) -> None:
    with pytest.raises(UserError, match="agent has to be given: the jar of the vendor"):
        obtain(Artifact("agent", given="the jar of the vendor"), cache)


@pytest.mark.parametrize(("answer", "said"), [("whole", f"it has {len(CONTENT):,}"), ("without a length", "more came")])
def test_a_file_beyond_the_limit_is_refused_with_limit_address_key_and_way_out(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch, answer: str, said: str
) -> None:
    monkeypatch.setattr(download, "MOST_BYTES", 100_000)
    monkeypatch.setattr(download, "CHUNK", 10_000)
    server.answers = [answer]
    with pytest.raises(UserError) as caught:
        obtain(artifact(server), cache)
    message = str(caught.value)
    assert "no file of more than 100,000 bytes is taken" in message
    assert said in message
    assert f"{server.address}/releases/tracer.tar.gz ([artifacts.agent], url)" in message
    assert "--artifact AGENT.agent=FILE" in message
    assert len(server.requests) == 1
    assert not list((cache / "staging").iterdir())


def test_a_servers_reason_steers_no_terminal(server: Server, cache: Path) -> None:
    server.answers = ["steering"]
    with pytest.raises(UserError) as caught:
        obtain(artifact(server), cache)
    assert "404 gone" in str(caught.value)
    assert "\x1b" not in str(caught.value)
