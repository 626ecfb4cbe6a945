"""What a trial's JVM is started with: its command, and what its environment gets beyond the clean one."""

from pathlib import Path

from tracetax.catalog import fill
from tracetax.run.bench import Bench
from tracetax.run.plan import records_made
from tracetax.run.stages import Plan
from tracetax.workloads import calltree


def command_line(
    plan: Plan, bench: Bench, ports: dict[str, int], scratch: Path, logs: Path, records: Path
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The JVM's command and what its environment gets beyond the clean one."""
    agent = bench.agents[plan.config.agent]
    output = scratch / "workload"
    output.mkdir()
    expected = records_made(plan.config, plan.part)
    values = {
        **calltree.placeholders(),
        **{f"artifacts.{name}": str(path) for name, path in bench.files(plan.slot.cell.use).items()},
        **sink_placeholders(ports),
        "expected.records": str(expected),
        "expected.records.next_power_of_two": str(1 << max(0, expected - 1).bit_length()),
        "agent.files": str(bench.agents_root / agent.key / "files"),
        "trial.dir": str(scratch),
        "records.dir": str(records),
    }
    command = (
        str(bench.java),
        *calltree.jvm_flags(
            bench.jvm,
            plan.slot.cell.heap_bytes,
            bench.cores,
            logs / "hs_err.log",
            growing=plan.slot.cell.role == "memory",
        ),
        *(fill(flag, values) for flag in plan.config.jvm),
        *("-cp", str(bench.classes)),
        calltree.MAIN_CLASS,
        *calltree.arguments(plan.part.parameters, output, logs / "status.txt"),
    )
    return command, {name: fill(value, values) for name, value in plan.config.environment.items()}


def sink_placeholders(ports: dict[str, int]) -> dict[str, str]:
    """``sink.<protocol>`` as an address and ``sink.<protocol>.port``, for every protocol that the sink speaks."""
    values = {"sink.host": "127.0.0.1"}
    for protocol, port in ports.items():
        name = protocol.replace("-", "_")
        values[f"sink.{name}"] = f"http://127.0.0.1:{port}"
        values[f"sink.{name}.port"] = str(port)
    return values
