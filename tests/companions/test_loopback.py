import socket
from pathlib import Path

import pytest

from tracetax.companions import loopback
from tracetax.companions.loopback import free_port


def test_a_free_port_is_none_that_the_kernel_gives_to_others() -> None:
    first_given = int(loopback.PORTS_GIVEN.read_text().split()[0])
    ports = {free_port() for _ in range(20)}
    assert len(ports) > 1
    if first_given > loopback.FIRST_FREE:
        assert all(loopback.FIRST_FREE <= port < first_given for port in ports)


def test_a_port_on_which_somebody_listens_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        given = tmp_path / "range"
        given.write_text(f"{port + 1}\t60999\n")
        monkeypatch.setattr(loopback, "PORTS_GIVEN", given)
        monkeypatch.setattr(loopback, "FIRST_FREE", port)
        assert free_port() != port
