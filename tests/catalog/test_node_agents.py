"""What agents are given in Node: the file that Node requires before the program, and the lock of its packages."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(folder for folder in (ROOT / "agents").glob("*/node/files") if (folder / "trace.js").exists())
PRODUCTS = [folder.parts[-3] for folder in FOLDERS]
LIMIT_S = 60
PROGRAM = "new (require('./monitored.js').Monitored)().monitoredMethod(0, Number(process.argv[2]));"
PACKAGES = {
    "@opentelemetry/api": """
        const tracer = { startActiveSpan(name, inside) {
          console.log('begin', name);
          return inside({ end: () => console.log('end', name) });
        } };
        module.exports = { trace: { getTracer: () => tracer } };""",
    "@opentelemetry/sdk-node": """
        class NodeSDK {
          constructor(options) { console.log('processors', options.spanProcessors?.length ?? 'of the SDK'); }
          start() { console.log('start'); }
          async shutdown() { console.log('shutdown'); }
        }
        module.exports = { NodeSDK, tracing: { SimpleSpanProcessor: Object, NoopSpanProcessor: Object } };""",
    "@opentelemetry/exporter-trace-otlp-proto": "module.exports = { OTLPTraceExporter: Object };",
    "elastic-apm-node": """
        const open = [];
        const event = (kind) => (name, type) => {
          console.log(kind, name, type);
          open.push(name);
          return { end: () => console.log('end', open.pop()) };
        };
        module.exports = { start() {
          console.log('start');
          return process.env.OFF ? { startTransaction: () => null } : {
            get currentTransaction() { return open[0]; },
            startTransaction: event('transaction'),
            startSpan: event('span'),
          };
        } };""",
    "dd-trace": """
        module.exports = {
          init: (options) => console.log('start', JSON.stringify(options)),
          wrap: (name, { resource }, method) => function (...args) {
            console.log('begin', name, resource);
            try { return method.apply(this, args); } finally { console.log('end', resource); }
          },
        };""",
}
"""Packages that tell what they are asked, in the place of the real ones."""

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")


def run(product: str, folder: Path, depth: int, **environment: str) -> subprocess.CompletedProcess[str]:
    """One call of the monitored method, traced by the agent's own file with packages that only tell."""
    for name, source in PACKAGES.items():
        package = folder / "node_modules" / name
        package.mkdir(parents=True)
        (package / "index.js").write_text(source)
    shutil.copytree(ROOT / "workloads/calltree/node", folder / "program")
    (folder / "program/main.js").write_text(PROGRAM)
    names = {"TRACETAX_CLASS": "Monitored", "TRACETAX_METHOD": "monitoredMethod"}
    return subprocess.run(
        ["node", f"--require={ROOT}/agents/{product}/node/files/trace.js", folder / "program/main.js", str(depth)],
        env={"PATH": "/usr/bin:/bin", "NODE_PATH": str(folder / "node_modules")} | names | environment,
        executable=shutil.which("node"),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )


NAME = "Monitored.monitoredMethod"
TOLD = {
    "datadog": ["start {}", *[f"begin calltree {NAME}"] * 3, *[f"end {NAME}"] * 3],
    "elastic": ["start", f"transaction {NAME} custom", *[f"span {NAME} custom"] * 2, *[f"end {NAME}"] * 3],
    "opentelemetry": [
        "processors of the SDK",
        "start",
        *[f"begin {NAME}"] * 3,
        *[f"end {NAME}"] * 3,
        "shutdown",
    ],
}
"""What the packages are asked in a call of depth 3, by product."""


@needs_node
@pytest.mark.parametrize("product", PRODUCTS)
def test_each_invocation_is_traced_inside_the_one_that_makes_it(product: str, tmp_path: Path) -> None:
    done = run(product, tmp_path, 3)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == TOLD[product]


@needs_node
@pytest.mark.parametrize("product", PRODUCTS)
def test_a_method_that_is_not_there_ends_the_program(product: str, tmp_path: Path) -> None:
    done = run(product, tmp_path, 1, TRACETAX_METHOD="misspelled")
    assert done.returncode == 1
    assert "Monitored has no method misspelled" in done.stderr


@needs_node
@pytest.mark.parametrize("processor", ["simple", "none"])
def test_opentelemetry_gets_a_processor_that_no_variable_offers(processor: str, tmp_path: Path) -> None:
    done = run("opentelemetry", tmp_path, 1, TRACETAX_PROCESSOR=processor)
    assert done.returncode == 0
    assert done.stdout.startswith("processors 1\n")


@needs_node
def test_datadog_gets_a_rule_that_discards_what_it_does_not_keep(tmp_path: Path) -> None:
    done = run("datadog", tmp_path, 1, TRACETAX_KEPT="0")
    assert done.returncode == 0
    assert done.stdout.startswith('start {"samplingRules":[{"sampleRate":0,"discard":true}]}\n')


@needs_node
def test_a_method_runs_without_events_where_elastic_is_off(tmp_path: Path) -> None:
    done = run("elastic", tmp_path, 3, OFF="1")
    assert (done.returncode, done.stdout) == (0, "start\n")


@pytest.mark.parametrize("folder", FOLDERS, ids=PRODUCTS)
def test_a_lock_has_a_hash_for_every_package_and_no_address(folder: Path) -> None:
    lock = json.loads((folder / "package-lock.json").read_text())
    packages = {path: package for path, package in lock["packages"].items() if path}
    assert lock["lockfileVersion"] == 3
    assert packages
    assert not [path for path, package in packages.items() if not package.get("integrity", "").startswith("sha512-")]
    assert not [path for path, package in packages.items() if "resolved" in package or package.get("link")]


@pytest.mark.parametrize("folder", FOLDERS, ids=PRODUCTS)
def test_a_lock_holds_the_versions_that_its_package_asks_for(folder: Path) -> None:
    asked = json.loads((folder / "package.json").read_text())["dependencies"]
    locked = json.loads((folder / "package-lock.json").read_text())["packages"]
    assert asked == {name: locked[f"node_modules/{name}"]["version"] for name in asked}
