"""The stand-in for a backend, as a backend's file would describe it."""

import sys
from pathlib import Path

from tracetax.backend import Backend, Counters, Ready, Start
from tracetax.companions.backend import Supplied

PROGRAM = Path(__file__).with_name("backend.py")


def fake_backend(fault: str = "none", form: str = "json", within: float = 10.0) -> Supplied:
    """A backend that takes OTLP over HTTP and does wrong what ``fault`` says."""
    keys = {kind: f"spans.total.{kind}" if form == "json" else f'spans{{kind="{kind}"}}' for kind in KINDS}
    return Supplied(
        backend=Backend(
            key="fake-server",
            name="Fake server",
            homepage="",
            licence="",
            accepts=("otlp-http",),
            version_named="1.0",
            start=Start(program=sys.executable, arguments=(str(PROGRAM), "{port.otlp_http}", form, fault)),
            ready=Ready("otlp_http", "/health", round(within * 1e9)),
            counters=Counters(
                port="otlp_http",
                path="/counters",
                format="json" if form == "json" else "prometheus",
                received=(keys["received"],),
                dropped=(keys["dropped"],),
                refused=(keys["refused"],),
            ),
        ),
        runner=None,
        values={},
    )


KINDS = ("received", "dropped", "refused")
