"""Ports: on which addresses a process listens, from the kernel's tables, and one that is free."""

import contextlib
import ipaddress
import random
import re
import socket
from collections.abc import Iterable
from pathlib import Path

PORTS_GIVEN = Path("/proc/sys/net/ipv4/ip_local_port_range")
FIRST_FREE = 10_000
TRIES = 50

_LISTENING = "0A"
_LOOPBACK = re.compile(
    r"[0-9A-F]{6}7F"  # 127.x.x.x, whose bytes stand in the machine's order
    r"|0{24}01000000"  # ::1
    r"|0{16}FFFF0000[0-9A-F]{6}7F"  # 127.x.x.x behind an IPv6 socket
)


def listens_elsewhere(pid: int) -> list[str]:
    """Ports on which a process listens for TCP on any other address than loopback, as ``port 9411``."""
    own = _sockets(pid)
    ports: set[int] = set()
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                address, _, port = fields[1].partition(":")
                if fields[3] == _LISTENING and fields[9] in own and not _LOOPBACK.fullmatch(address):
                    ports.add(int(port, 16))
    return [f"port {port}" for port in sorted(ports)]


def _sockets(pid: int) -> set[str]:
    """The inodes of a process's sockets."""
    inodes: set[str] = set()
    with contextlib.suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                target = str(link.readlink())
                if target.startswith("socket:["):
                    inodes.add(target[8:-1])
    return inodes


def is_taken(port: int) -> bool:
    """Whether somebody listens on a port of the loopback address."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def ports_of(pid: int) -> set[int]:
    """The ports on which a process listens for TCP, on whichever address."""
    own, ports = _sockets(pid), set[int]()
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENING and fields[9] in own:
                    ports.add(int(fields[1].rpartition(":")[2], 16))
    return ports


def listener(port: int, among: Iterable[int]) -> int | None:
    """Of some processes the one that listens on a port; None where none of them does."""
    return next((pid for pid in among if port in ports_of(pid)), None)


def free_port() -> int:
    """A port of the loopback address on which nobody listens. Raises OSError where there is none.

    It lies below those that the kernel gives to whoever asks for any, so nobody gets it by chance before it is used.
    """
    first_given = int(PORTS_GIVEN.read_text(encoding="ascii").split()[0])
    below = range(FIRST_FREE, first_given)
    for port in random.sample(below, min(TRIES, len(below))):
        with contextlib.suppress(OSError):
            return _bound(port)
    return _bound(0)


def _bound(port: int) -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", port))
        return probe.getsockname()[1]


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is this machine's own, which nobody else reaches."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
