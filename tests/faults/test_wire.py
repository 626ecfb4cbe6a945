"""Whoever sends rubbish to the sink in mid-run, or without an end, changes no result unsaid and fills no memory."""

import contextlib
import random
import socket
import time
from pathlib import Path

import psutil
import pytest

from tests.faults.scene import Harm, children, is_complete, measured, row
from tests.run.stand_ins import configuration
from tracetax.machine.threads import peak_rss_bytes

HEADS = {
    "noise": (b"", "stray-input"),
    "a message without an end": (
        b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n",
        "cut-off",
    ),
    "a message far too long": (
        b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"
        b"Content-Length: 9000000000\r\n\r\n",
        "malformed-input",
    ),
    "an empty HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", "stray-input"),
    "gRPC, also to the port for HTTP": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", "wrong-http"),
    "HTTP/1, also to the port for gRPC": (b"POST /v1/traces HTTP/1.1\r\nHost: x\r\n\r\n", "wrong-http"),
}
"""What begins the rubbish, and the verdict that tells of it. On Kieker's port, all of it is stray."""
MEMORY = 256 << 20
THREE_PORTS = configuration("flat", flags=("-Dmore={sink.kieker_tcp.port},{sink.otlp_grpc.port}",))
"""The sink opens those ports that the flags name."""


class Rubbish:
    def __init__(self, head: bytes) -> None:
        self.head = head
        self.peak = 0
        self.kept: list[socket.socket] = []

    def send(self) -> None:
        """Send 16 MiB at most to each port of the sink, and keep the connections open until the end of the run."""
        sink = next(psutil.Process(pid) for pid, words in children().items() if "--record-name" in words)
        body = random.Random(1).randbytes(1 << 16)
        for one in sink.net_connections("tcp"):
            if one.status == psutil.CONN_LISTEN:
                connection = socket.create_connection(("127.0.0.1", one.laddr.port))
                self.kept.append(connection)
                connection.settimeout(0.1)
                with contextlib.suppress(OSError):
                    connection.sendall(self.head)
                    for _ in range(256):
                        connection.sendall(body)
        time.sleep(0.05)
        self.peak = peak_rss_bytes(sink.pid)

    def close(self) -> None:
        for connection in self.kept:
            connection.close()


@pytest.mark.parametrize(("head", "stage"), [(head, "calling") for head in HEADS] + [("noise", "ending")])
def test_a_trial_with_rubbish_in_it_has_a_verdict_and_the_run_its_result(
    tmp_path: Path, sink_binary: Path, head: str, stage: str
) -> None:
    begins, code = HEADS[head]
    with contextlib.closing(Rubbish(begins)) as rubbish:
        harm = Harm(stage, rubbish.send)
        _, folder = measured(tmp_path / "run", sink_binary, harm, THREE_PORTS, blocks=1)
    assert harm.done_to == 1
    assert len(rubbish.kept) == 3
    assert 0 < rubbish.peak < MEMORY
    assert is_complete(folder, blocks=1)
    found = row(folder)
    assert found.records.received == found.records.expected
    assert code in {verdict.code for verdict in found.verdicts}
    assert children() == {}
