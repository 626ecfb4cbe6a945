"""Faults of what comes in from outside: idle connections, the wrong HTTP, a record whose numbers are absurd."""

import contextlib
import re
import resource
import shutil
import socket

from faultlib.around_the_run import MORE
from faultlib.in_the_run import ports_of
from faultlib.runs import Missed, Scene

IDLE = 10_000
HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"
HTTP1 = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nrest"
CONNECT_SECONDS = 2.0
ABSURD = ("-7", "99999999999999999999999", "1e300")


def idle_connections(scene: Scene) -> None:
    """Thousands of connections to the sink that never say anything, from a random moment to the end of its trial."""
    scene.start()
    scene.random_moment()
    ports = ports_of(scene.sink())
    if not ports:
        raise Missed
    most = min(IDLE, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 3)
    with contextlib.ExitStack() as held:
        opened = 0
        with contextlib.suppress(OSError):  # the trial, and its sink, may end meanwhile
            for number in range(most):
                port = ports[number % len(ports)]
                held.enter_context(socket.create_connection(("127.0.0.1", port), CONNECT_SECONDS))
                opened += 1
        scene.remark = f"{opened:,} connections"
        scene.end(0, 1)


def wrong_http(scene: Scene) -> None:
    """gRPC and HTTP/1 to every port of the sink at a random moment: each is turned away, the run goes on."""
    scene.start()
    scene.random_moment()
    ports = ports_of(scene.sink())
    if not ports:
        raise Missed
    for port in ports:
        for greeting in (HTTP2, HTTP1):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), CONNECT_SECONDS) as client:
                client.sendall(greeting)
    scene.end(0, 1)


def absurd_record(scene: Scene) -> None:
    """A number in a finished trial's record is absurd: the resume names the file and the way out, which helps."""
    scene.take_finished()
    victim = scene.rng.choice(sorted((scene.run / "trials").glob("[0-9]*/record.json")))
    absurd = scene.rng.choice(ABSURD)
    victim.write_text(re.sub(r'"block":\d+', f'"block":{absurd}', victim.read_text(), count=1))
    scene.damaged.add(victim.parent.name)
    scene.remark = f"{victim.parent.name}: block {absurd}"
    scene.resume(*MORE)
    scene.end(2, says=f"Remove {victim.parent}")
    shutil.rmtree(victim.parent)
    scene.resume(*MORE)
    scene.end(0)
