"""Tries a service of the user's once, without an agent: whether it answers, and what runs it."""

import contextlib
import os
import tempfile
import time
from collections.abc import Generator, Mapping
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from tracetax.companions.loopback import is_loopback, listener, listens_elsewhere, ports_of
from tracetax.errors import ExitCode, UserError
from tracetax.machine.processes import ProcessTree
from tracetax.printable import printable_lines
from tracetax.process import Process
from tracetax.program import Runtime, Service
from tracetax.run.around import BEFORE, around
from tracetax.run.launch import LISTEN, LISTEN_PORT, listening
from tracetax.run.output import STREAMS, last_lines
from tracetax.service import OwnService, Sent
from tracetax.workloads.driver import WorkloadFailed

ASK_AGAIN_SECONDS = 0.1
ANSWER_SECONDS = 10.0
END_SECONDS = 5.0
BODY_SHOWN = 120
ANOTHER_PATH = "Where another path tells that it is ready, name it: --ready /health"
READ_AT_ONCE = 1 << 20


class Tried(Struct, frozen=True):
    """What came of it."""

    service: OwnService
    """With its language, and what runs it."""
    sentences: tuple[str, ...]
    """What the user should know."""


def try_service(service: OwnService, runtimes: Mapping[str, Runtime], port: int = 0) -> Tried:
    """Start it, ask each of its endpoints once, find what listens, and end it.

    Raises UserError, with the last lines that it printed, where it does not get ready, answers otherwise than it
    should, or where nobody knows what runs it.
    """
    port = port or listening_port(service)
    complaints: list[str] = []
    words = [word.replace(f"{{{LISTEN_PORT}}}", str(port)) for word in service.start]
    with tempfile.TemporaryDirectory(prefix="tracetax-try-") as folder:
        logs = Path(folder)
        with (
            _around(service, port, logs, complaints),
            Process(
                words,
                environment=dict(os.environ),
                stdout=logs / "stdout.txt",
                stderr=logs / "stderr.txt",
                directory=Path(service.directory),
            ) as process,
            ProcessTree(process.pid, follow=True) as tree,
        ):
            try:
                _await_ready(service, process, port)
                for name, sent in service.endpoints.items():
                    _ask(name, sent, port)
            except UserError as error:
                tail = "It printed nothing."
                if any((logs / name).stat().st_size for name in STREAMS):
                    tail = _without(logs, last_lines(logs, STREAMS))
                raise UserError(f"{error}{_elsewhere(tree, port)}\n{tail}".rstrip(), error.exit_code) from None
            tree.look(search=True)
            pid = listener(port, (tree.root, *tree.others))
            if pid is None:
                raise UserError(
                    f"{service.words} answers, and the process that listens on port {port} is none that it has started."
                    "\nDoes it go to the background? It must stay in the foreground.",
                    ExitCode.ENVIRONMENT,
                )
            program = str(Path(f"/proc/{pid}/exe").readlink())
            elsewhere = [own for own in listens_elsewhere(pid) if own == f"port {port}"]
            process.end_by("TERM", END_SECONDS)
    language = service.language or _language(program, runtimes)
    sentences = tuple(_without(logs, complaint) for complaint in complaints)
    if elsewhere:
        sentences += ("The service listens on other addresses than this machine's own: others can reach it meanwhile.",)
    return Tried(replace(service, language=language, program=program), sentences)


@contextlib.contextmanager
def _around(service: OwnService, port: int, logs: Path, complaints: list[str]) -> Generator[None]:
    """What the user wants run around a start. Raises UserError where the command before it fails."""
    try:
        with around(service, port, logs, complaints.append):
            yield
    except WorkloadFailed as failure:
        raise UserError(f"{failure}\n{_without(logs, last_lines(logs, (BEFORE,)))}", ExitCode.ENVIRONMENT) from None


def _without(folder: Path, lines: str) -> str:
    """The lines without those that name a folder that will be gone."""
    return printable_lines("\n".join(line for line in lines.splitlines() if str(folder) not in line))


def _elsewhere(tree: ProcessTree, port: int) -> str:
    """A sentence where it listens on another port than it was told; else empty."""
    with contextlib.suppress(OSError):
        tree.look(search=True)
        ports = set[int]().union(*map(ports_of, (tree.root, *tree.others)))
        if ports and port not in ports:
            listed = " and ".join(map(str, sorted(ports)))
            return f"\nIt listens on port {listed} instead: does the command take {{port}} where --service says it?"
    return ""


def listening_port(service: OwnService) -> int:
    """The port that it is tried on."""
    return listening(Service(service.endpoints, service.ready_path, service.ready_within_ns, port=service.port))[LISTEN]


def _await_ready(service: OwnService, process: Process, port: int) -> None:
    """Wait until it answers. Raises UserError where it ends before, or takes too long."""
    seconds = service.ready_within_ns / 1e9
    deadline, last = time.monotonic() + seconds, "nothing listened on the port"
    while time.monotonic() < deadline:
        if ending := process.poll():
            away = "\nA service that goes to the background cannot be measured: it must stay in the foreground."
            raise UserError(
                f"{service.words} {ending.description} before it answered on port {port}."
                f"{'' if ending.status else away}",
                ExitCode.ENVIRONMENT,
            )
        try:
            status, place, _ = _answer(Sent(service.ready_path), port, 1.0)
        except (OSError, HTTPException) as error:
            last = f"the last try: {error}"
        else:
            if 200 <= status < 300:
                return
            last = f"its last answer had the status {status}{_leads(place)}"
            if (host := urlsplit(place).hostname) and not is_loopback(host):
                raise UserError(
                    f"{service.words} answers {service.ready_path} with the status {status}{_leads(place)}.\n"
                    f"{host} is not this machine. {ANOTHER_PATH}",
                    ExitCode.ENVIRONMENT,
                )
        time.sleep(ASK_AGAIN_SECONDS)
    raise UserError(
        f"{service.words} did not answer {service.ready_path} on port {port} with 200 to 299 within {seconds:.0f} s: "
        f"{last}.\n{ANOTHER_PATH}",
        ExitCode.ENVIRONMENT,
    )


def _ask(name: str, sent: Sent, port: int) -> None:
    """Ask once. Raises UserError where the answer is not what it should be."""
    try:
        status, place, body = _answer(sent, port, ANSWER_SECONDS)
    except (OSError, HTTPException) as error:
        raise UserError(f"{sent.method} {sent.path} ({name}) was not answered: {error}", ExitCode.ENVIRONMENT) from None
    if status == sent.status:
        return
    raise UserError(
        f"{sent.method} {sent.path} ({name}) was answered with status {status} where {sent.status} is expected"
        f"{_leads(place)}."
        f"\nIt begins: {body[:BODY_SHOWN]!r}\nWhere another status is right, say so in a file: --requests FILE",
        ExitCode.ENVIRONMENT,
    )


def _leads(place: str) -> str:
    """The end of a sentence about an answer that leads to another place; else empty."""
    return f", and leads to {place}: redirects are not followed, so name where it leads" if place else ""


def _answer(sent: Sent, port: int, seconds: float) -> tuple[int, str, str]:
    """Status, where it leads, and the beginning of what is answered."""
    connection = HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request(sent.method, sent.path, sent.body or None, sent.headers)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Location", ""), answer.read(BODY_SHOWN).decode(errors="replace")
    finally:
        connection.close()


def _language(program: str, runtimes: Mapping[str, Runtime]) -> str:
    """The language of what a program runs. Raises UserError where it is none that is known."""
    name = Path(program).name.removesuffix(" (deleted)")
    for runtime in runtimes.values():
        find = runtime.find
        if find and name.startswith(find.on_path) and not name[len(find.on_path) :].strip(".0123456789"):
            return runtime.languages[0]
    for runtime in runtimes.values():
        if runtime.recognized_by and _contains(Path(program), runtime.recognized_by.encode()):
            return runtime.languages[0]
    known = ", ".join(language for runtime in runtimes.values() for language in runtime.languages)
    raise UserError(
        f"{program} listens, and nobody knows which language it runs. Say it: --language, one of {known}",
        ExitCode.ENVIRONMENT,
    )


def _contains(program: Path, mark: bytes) -> bool:
    """Whether a file has some bytes anywhere."""
    rest = b""
    try:
        with program.open("rb") as stream:
            while data := stream.read(READ_AT_ONCE):
                if mark in rest + data:
                    return True
                rest = data[-len(mark) :]
    except OSError:
        pass
    return False
