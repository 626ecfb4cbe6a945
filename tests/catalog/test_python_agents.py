"""What agents are given in Python: files that trace the method before the program begins, and locks of packages."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "agents").glob("*/python/files/requirements.lock"))
PRODUCTS = [lock.parts[-4] for lock in LOCKS]
LIMIT_S = 60
PROGRAM = "import sys; from shop.cart import Monitored; print('result', Monitored().pay(0, int(sys.argv[1])))"
MONITORED = """
class Monitored:
    def pay(self, time_ns, depth):
        return self.pay(time_ns, depth - 1) if depth > 1 else 42
"""
TELLS = """
from contextlib import contextmanager
@contextmanager
def telling(name):
    print("begin", name)
    yield
    print("end", name)
def told(name):
    return type(name, (), {"__init__": lambda self, *a, **k: print(name, *a, *k.values())})
"""
OPENTELEMETRY = {
    "telling.py": TELLS,
    "opentelemetry/__init__.py": "from opentelemetry import trace",
    "opentelemetry/trace.py": """
from telling import telling
class Tracer:
    def start_as_current_span(self, name):
        return telling(name)
def get_tracer(name):
    return Tracer()
def set_tracer_provider(provider):
    print("provider is set")
""",
    "opentelemetry/instrumentation/auto_instrumentation.py": """
def initialize(*, swallow_exceptions):
    print("initialize", swallow_exceptions)
""",
    "opentelemetry/sdk/resources.py": "def Resource(attributes): return attributes",
    "opentelemetry/sdk/trace/__init__.py": """
class TracerProvider:
    def __init__(self, resource=None): print("provider", resource)
    def add_span_processor(self, processor): pass
""",
    "opentelemetry/sdk/trace/export.py": """
from telling import told
SimpleSpanProcessor, BatchSpanProcessor = told("simple"), told("batch")
""",
    "opentelemetry/exporter/otlp/proto/http/trace_exporter.py": "OTLPSpanExporter = lambda: 'OTLP'",
    "opentelemetry/exporter/zipkin/json.py": "ZipkinExporter = lambda endpoint: endpoint",
}
ELASTIC = {
    "telling.py": TELLS,
    "elasticapm.py": """
from telling import telling as capture_span
class Client:
    def __init__(self): print("client")
    def begin_transaction(self, kind): print("transaction", kind)
    def end_transaction(self, name, result): print("ended", name, result)
""",
}
DATADOG = {
    "telling.py": TELLS,
    "ddtrace/__init__.py": "",
    "ddtrace/auto.py": "print('auto')",
    "ddtrace/trace.py": """
from telling import telling
class tracer:
    wrap = lambda resource: telling(resource)
""",
}
KIEKER = {
    "monitoring/writer_controller.py": "class WriterController: pass",
    "monitoring/controller.py": """
from monitoring.controller import WriterController
def MonitoringController(file):
    print(WriterController.__name__, file.rpartition("/")[2])
""",
    "tools/aspect.py": """
def _telling(kind, function):
    def traced(*arguments):
        print("begin", kind, function.__qualname__)
        result = function(*arguments)
        print("end", kind, function.__qualname__)
        return result
    return traced
instrument = lambda function: _telling("full", function)
def decorate_members(module, empty):
    module.Monitored.pay = _telling("empty" if empty else "full", module.Monitored.pay)
""",
    "tools/importhookast.py": """
from importlib.util import spec_from_file_location
class InstrumentOnImportFinder:
    def __init__(self, empty): self.empty = empty
    def find_spec(self, name, path):
        file = f"{path[0]}/{name.rpartition('.')[2]}.py"
        return spec_from_file_location(name, file, loader=Loader(file))
class Loader:
    def __init__(self, file): self.file = file
    def create_module(self, spec): return None
    def exec_module(self, module):
        from tools.aspect import instrument
        exec(open(self.file).read(), vars(module))
        module.Monitored.pay = instrument(module.Monitored.pay)
""",
}
NAME = "Monitored.pay"
"""The record's name in most agents."""


def nested(name: str) -> list[str]:
    """What is told of a call of depth 3."""
    return [*[f"begin {name}"] * 3, *[f"end {name}"] * 3]


WAYS: dict[tuple[str, ...], tuple[dict[str, str], list[str]]] = {
    ("opentelemetry", "distribution"): (OPENTELEMETRY, ["initialize False", *nested(NAME)]),
    ("opentelemetry", "simple"): (
        OPENTELEMETRY,
        ["provider None", "simple OTLP", "provider is set", *nested(NAME)],
    ),
    ("opentelemetry", "moobench"): (
        OPENTELEMETRY,
        [
            "provider {'service.name': 'moobench-python'}",
            "batch http://here",
            "provider is set",
            *nested("monitored_method"),
        ],
    ),
    ("elastic", "transaction"): (
        ELASTIC,
        ["client", "transaction call", *[f"begin {NAME}"] * 2, *[f"end {NAME}"] * 2, f"ended {NAME} success"],
    ),
    ("datadog", "wrap"): (DATADOG, ["auto", *nested(NAME)]),
    ("kieker", "decorated", "set-up"): (KIEKER, ["WriterController monitoring.ini", *nested(f"full {NAME}")]),
    ("kieker", "syntax-tree", "set-up"): (KIEKER, ["WriterController monitoring.ini", *nested(f"full {NAME}")]),
}
"""Packages that only tell what they are asked, and what they tell of a call of depth 3, by product and folders."""


def run(way: tuple[str, ...], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """One call of depth 3, traced by the agent's own files with packages that only tell."""
    product, *folders = way
    for name, source in {"shop/cart.py": MONITORED, **WAYS[way][0]}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(source)
    files = ROOT / "agents" / product / "python" / "files"
    said = {
        "PYTHONPATH": ":".join([*(str(files / name) for name in folders), str(folder)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TRACETAX_CLASS": "shop.cart.Monitored",
        "TRACETAX_METHOD": "pay",
        "TRACETAX_DIR": str(folder),
        "TRACETAX_EMPTY": "False",
        "TRACETAX_MODE": "tcp",
        "TRACETAX_HOST": "127.0.0.1",
        "TRACETAX_PORT": "5678",
        "OTEL_TRACES_EXPORTER": "zipkin",
        "OTEL_EXPORTER_ZIPKIN_ENDPOINT": "http://here",
    }
    command = [sys.executable, "-c", PROGRAM, "3"]
    return subprocess.run(command, env=said | environment, capture_output=True, text=True, timeout=LIMIT_S, cwd=folder)


def test_every_way_of_instrumenting_is_tried() -> None:
    files = {(file.parts[-5], file.parts[-2]) for file in ROOT.glob("agents/*/python/files/*/sitecustomize.py")}
    assert files == {way[:2] for way in WAYS}


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_each_invocation_is_traced_inside_the_one_that_makes_it(way: tuple[str, ...], tmp_path: Path) -> None:
    done = run(way, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [*WAYS[way][1], "result 42"]


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_a_class_that_is_not_there_ends_the_program_before_it_begins(way: tuple[str, ...], tmp_path: Path) -> None:
    done = run(way, tmp_path, TRACETAX_CLASS="misspelt.Monitored")
    assert done.returncode == 1
    assert "misspelt" in done.stderr
    assert "could not be set up." in done.stderr
    assert "result" not in done.stdout


def test_moobench_without_an_exporter_has_no_processor(tmp_path: Path) -> None:
    done = run(("opentelemetry", "moobench"), tmp_path, OTEL_TRACES_EXPORTER="none")
    assert done.returncode == 0
    assert "batch" not in done.stdout


def test_a_call_that_fails_is_an_elastic_transaction_that_failed_and_the_next_one_begins_anew(tmp_path: Path) -> None:
    way = ("elastic", "transaction")
    run(way, tmp_path)
    failing = MONITORED.replace("return", "if depth > 2: raise ValueError\n        return")
    (tmp_path / "shop/cart.py").write_text(failing)
    program = "from shop.cart import Monitored\ntry: Monitored().pay(0, 3)\nexcept ValueError: Monitored().pay(0, 1)\n"
    files = ROOT / "agents/elastic/python/files/transaction"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={
            "PYTHONPATH": f"{files}:{tmp_path}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TRACETAX_CLASS": "shop.cart.Monitored",
            "TRACETAX_METHOD": "pay",
        },
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.stdout.splitlines() == [
        "client",
        "transaction call",
        f"ended {NAME} failure",
        "transaction call",
        f"ended {NAME} success",
    ]


def test_kiekers_probe_may_do_nothing(tmp_path: Path) -> None:
    done = run(("kieker", "decorated", "set-up"), tmp_path, TRACETAX_EMPTY="True")
    assert f"begin empty {NAME}" in done.stdout


def test_kieker_is_told_in_a_file_where_to_write(tmp_path: Path) -> None:
    run(("kieker", "decorated", "set-up"), tmp_path)
    assert (tmp_path / "monitoring.ini").read_text().splitlines() == [
        "[General]",
        "multiple_Connections = False",
        "[Main]",
        "mode = tcp",
        "[Tcp]",
        "host = 127.0.0.1",
        "port = 5678",
        "connection_timeout = 10",
        "[FileWriter]",
        f"file_path = {tmp_path}/kieker-0.dat",
    ]


@pytest.mark.parametrize("lock", LOCKS, ids=PRODUCTS)
def test_a_lock_has_a_hash_for_every_package_and_no_address(lock: Path) -> None:
    text = lock.read_text()
    pins = re.split(r"\n(?=\S)", text.strip())
    assert pins
    assert not [pin for pin in pins if not re.match(r"[a-z0-9-]+==\S+ .*\\\n +--hash=sha256:[0-9a-f]{64}", pin + " ")]
    assert "://" not in text


@pytest.mark.parametrize("lock", LOCKS, ids=PRODUCTS)
def test_a_lock_holds_what_is_asked_for(lock: Path) -> None:
    asked = lock.with_name("requirements.in").read_text().split()
    pinned = re.findall(r"^[a-z0-9-]+==\S+", lock.read_text(), re.MULTILINE)
    assert asked
    assert set(asked) <= set(pinned)
