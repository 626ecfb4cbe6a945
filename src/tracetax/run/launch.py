"""What a trial's JVM is started with: its command, and what its environment gets beyond the clean one."""

from collections.abc import Sequence
from pathlib import Path

from tracetax.catalog import fill
from tracetax.catalog.placeholders import ARTIFACT, FILES, PREPARED, SCRAPE_PORT
from tracetax.model import SCRAPED, WORKLOAD_CLASSES
from tracetax.run.bench import Bench
from tracetax.run.plan import records_made
from tracetax.run.stages import Plan
from tracetax.workloads import calltree


def command_line(
    plan: Plan,
    bench: Bench,
    ports: dict[str, int],
    scratch: Path,
    logs: Path,
    records: Path,
    built: Sequence[Path] = (),
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The JVM's command and what its environment gets beyond the clean one; ``built``: classes of this trial alone."""
    agent = bench.agents[plan.config.agent]
    output = scratch / "workload"
    output.mkdir()
    expected = records_made(plan.config, plan.part)
    values = {
        **calltree.placeholders(),
        **{f"{ARTIFACT}{name}": str(path) for name, path in bench.files(plan.slot.cell.use).items()},
        **{f"{PREPARED}{name}": str(path) for name, path in bench.folders(plan.slot.cell.use).items()},
        **sink_placeholders(ports),
        "expected.records": str(expected),
        "expected.records.next_power_of_two": str(1 << max(0, expected - 1).bit_length()),
        "expected.calls": str(plan.part.parameters.calls),
        FILES: str(bench.agent_folder(agent.key) / "files"),
        WORKLOAD_CLASSES: bench.class_path(plan.part.parameters, built),
        "trial.dir": str(scratch),
        "records.dir": str(records),
    }
    command = (
        str(bench.java(plan.part.jvm)),
        *calltree.jvm_flags(
            plan.part.jvm,
            bench.jdks[plan.part.jvm.jdk].release,
            plan.slot.cell.heap_bytes,
            bench.cores,
            logs / "hs_err.log",
            growing=plan.slot.cell.role == "memory",
        ),
        *(fill(flag, values) for flag in plan.config.jvm),
        *("-cp", ":".join(fill(entry, values) for entry in plan.config.class_path)),
        calltree.MAIN_CLASS,
        *calltree.arguments(plan.part.parameters, output, logs / "status.txt"),
    )
    return command, {name: fill(value, values) for name, value in plan.config.environment.items()}


def sink_placeholders(ports: dict[str, int]) -> dict[str, str]:
    """``sink.<protocol>`` as an address and ``sink.<protocol>.port``, for every protocol that the sink speaks.

    Where the sink asks, it is ``scrape.port``, on which the agent shall answer.
    """
    values = {"sink.host": "127.0.0.1", SCRAPE_PORT: str(ports.get(SCRAPED, ""))}
    for protocol, port in ports.items():
        name = protocol.replace("-", "_")
        values[f"sink.{name}"] = f"http://127.0.0.1:{port}"
        values[f"sink.{name}.port"] = str(port)
    return values
