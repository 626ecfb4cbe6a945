"""A repository with a service of the tests as its workload ``requests/python``, and with an agent for it."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEY = "requests/python"
WORKLOAD = """
title = "a service of the tests"
runtime = "python"
start = ["{wrapper}", "{runtime}", "{shared}", "{flags}", "{workload.built}/service.py"]
environment = { LISTEN = "127.0.0.1:{listen.port}" }
endpoints = { json = "/json", rows = "/rows?queries={queries}", work = "/work" }
ready = { path = "/json", within = "5 s" }
warm_up = { least_requests = 600 }
"""
AGENT = """
name = "Fake"
homepage = "https://example.org"
licence = "MIT"
language = "python"
kinds = ["requests"]
version = "1"
runtime = { min = 11, tested = [11] }
instrumentation = "none"
[common]
record_name = "*"
[configurations.quiet]
title = "nothing is sent"
layers = ["I"]
delivery = "none"
[configurations.sent]
title = "spans are sent at once"
layers = ["I", "C", "W"]
delivery = "complete"
protocol = "otlp-http"
records_per_call = { json = 1, work = 2, rows = { fixed = 1, per_query = 1 } }
environment = { SENT_TO = "{sink.otlp_http}", SPANS = '{"/json": 1, "/work": 2, "/rows": 1}' }
"""


def repository(folder: Path, stores: Sequence[str] = ()) -> Path:
    """Make it below ``folder``: what comes with Tracetax is linked, but for workloads and agents.

    Of each of its ``stores`` the service finds the address in a variable: ``STORE_0``.
    """
    root = folder / "repository"
    root.mkdir()
    for name in ("runtimes", "sink", "load", "backends", "stores", "experiments", "published"):
        (root / name).symlink_to(ROOT / name)
    agents = root / "agents"
    agents.mkdir()
    (agents / "none").symlink_to(ROOT / "agents" / "none")
    (agents / "fake" / "python").mkdir(parents=True)
    (agents / "fake" / "python" / "agent.toml").write_text(AGENT)
    workload = root / "workloads" / KEY
    workload.mkdir(parents=True)
    urls = "".join(f', STORE_{index} = "{{stores.{name}.url}}"' for index, name in enumerate(stores))
    text = WORKLOAD.replace('{listen.port}" }', f'{{listen.port}}"{urls} }}')
    (workload / "workload.toml").write_text(text + (f"stores = {json.dumps(list(stores))}\n" if stores else ""))
    shutil.copyfile(Path(__file__).with_name("service.py"), workload / "service.py")
    return root
