"""A repository with a host of the tests as its workload ``functions/python``, and with an agent for it."""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEY = "functions/python"
WORKLOAD = """
title = "functions of the tests"
runtime = "python"
processes = "tree"
[environment]
LISTEN = "127.0.0.1:{listen.port}"
FUNCTION = "{function}"
TRACETAX_MARKS = "{marks}"
PYTHONPATH = "{workload.built}/shared"
STORE = "{stores.postgresql.url}"
[functions.sum]
event = '{"numbers": [1, 2, 3]}'
expects = '"sum": 6'
[functions.keep]
event = '{"numbers": [4]}'
expects = '"sum": 4'
stores = ["postgresql"]
"""
HOST = """
title = "host of the tests"
start = ["{wrapper}", "{runtime}", "{shared}", "{flags}", "{host.dir}/host.py"]
ready = "5 s"
"""
AGENT = """
name = "Fake"
homepage = "https://example.org"
licence = "MIT"
language = "python"
kinds = ["functions"]
version = "1"
runtime = { min = 11, tested = [11] }
instrumentation = "none"
[common]
record_name = "*"
environment = { AGENT = "1" }
[configurations.quiet]
title = "nothing is sent"
layers = ["I"]
delivery = "none"
[configurations.sent]
title = "spans are sent at once"
profile = "stock"
layers = ["I", "C", "W"]
delivery = "complete"
protocol = "otlp-http"
records_per_call = { sum = 2, keep = 2 }
environment = { SENT_TO = "{sink.otlp_http}", SPANS = "2" }
[configurations.batched]
extends = "sent"
title = "spans are sent later"
delivery = "lossy"
queue = 4_096
held_back = 100
flush_interval = "600 ms"
environment = { BATCH = "1" }
"""


def repository(folder: Path) -> Path:
    """Make it below ``folder``: what comes with Tracetax is linked, but for workloads and agents."""
    root = folder / "repository"
    root.mkdir()
    for name in ("runtimes", "sink", "load", "backends", "stores", "published"):
        (root / name).symlink_to(ROOT / name)
    (root / "experiments").mkdir()
    agents = root / "agents"
    agents.mkdir()
    (agents / "none").symlink_to(ROOT / "agents" / "none")
    (agents / "fake" / "python").mkdir(parents=True)
    (agents / "fake" / "python" / "agent.toml").write_text(AGENT)
    workload = root / "workloads" / KEY
    for name in ("plain", "other"):
        host = workload / "hosts" / name
        host.mkdir(parents=True)
        (host / "host.toml").write_text(HOST)
        shutil.copyfile(Path(__file__).with_name("host.py"), host / "host.py")
    (workload / "workload.toml").write_text(WORKLOAD)
    (workload / "shared").mkdir()
    text = (ROOT / "tests" / "services" / "service.py").read_text()
    begin, end = text.index("def export("), text.index("def main(")
    imports = 'import json\nimport os\nimport urllib.request\n\nSENT_TO = os.environ.get("SENT_TO", "")\n\n\n'
    (workload / "shared" / "tracetax_spans.py").write_text(imports + text[begin:end])
    return root
