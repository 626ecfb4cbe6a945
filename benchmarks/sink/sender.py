"""What the receivers are sent: the spans of the real agent, once directly and once recorded and replayed."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

from sink.programs import WORKLOAD, Programs
from sink.receivers import Receiver
from tracetax.catalog import fill
from tracetax.model import Configuration

HEAP = "2560m"
LIMIT_SECONDS = 600.0
STEP_SECONDS = 0.05
QUIET_SECONDS = 6.0
QUIET_NS = 5_000_000


def replay(programs: Programs, messages: Path, to: Receiver) -> None:
    """Send the recorded messages, one call after the other."""
    subprocess.run([str(programs.receiver), "replay", str(messages), to.address], check=True, timeout=LIMIT_SECONDS)


def send_unread(programs: Programs, messages: Path, to: Receiver) -> None:
    """Send them to the service for metrics: what the sink takes there, it does not look at."""
    subprocess.run([str(programs.receiver), "unread", str(messages), to.address], check=True, timeout=LIMIT_SECONDS)


def run_agent(programs: Programs, configuration: Configuration, to: Receiver, calls: int, depth: int) -> None:
    """Let the workload make its calls under the agent, and end its JVM when all spans have been sent."""
    values = {
        **WORKLOAD.monitored.placeholders,
        "artifacts.agent": str(programs.agent_jar),
        "sink.otlp_grpc": f"http://{to.address}",
        # Metrics and logs would go there: they go the way of the spans.
        "sink.otlp_http": f"http://{to.address}",
        "expected.records.next_power_of_two": str(1 << (calls * depth - 1).bit_length()),
    }
    with tempfile.TemporaryDirectory(prefix="tracetax-benchmark-") as folder:
        out, status, log = (Path(folder) / name for name in ("out", "status", "log"))
        out.mkdir()
        status.touch()
        command = [
            *("java", f"-Xms{HEAP}", f"-Xmx{HEAP}"),
            *(fill(flag, values) for flag in configuration.flags),
            *("-cp", str(programs.classes), WORKLOAD.main),
            *("--calls", str(calls), "--depth", str(depth), "--out", str(out), "--status", str(status)),
        ]
        with (
            log.open("w") as said,
            subprocess.Popen(command, stdin=subprocess.PIPE, text=True, stderr=said, env=environment()) as java,
        ):
            try:
                assert java.stdin is not None
                java.stdin.write("measure\n")
                java.stdin.flush()
                deadline = time.monotonic() + LIMIT_SECONDS
                while "last-call" not in status.read_text():
                    if java.poll() is not None or time.monotonic() > deadline:
                        raise RuntimeError(f"the workload did not make its calls: {log.read_text()[-2000:]}")
                    time.sleep(STEP_SECONDS)
                # At its end the JVM waits for the export no longer than some seconds.
                wait_until_quiet(to)
                java.stdin.write("drained\n")
                java.stdin.close()
                java.wait(LIMIT_SECONDS)
            finally:
                java.kill()


def wait_until_quiet(to: Receiver) -> None:
    """Wait until the receiver does nothing for longer than the agent keeps a part of a batch back."""
    worked = to.cpu_ns()
    since = time.monotonic()
    while time.monotonic() - since < QUIET_SECONDS:
        time.sleep(STEP_SECONDS)
        if to.cpu_ns() - worked > QUIET_NS:
            worked = to.cpu_ns()
            since = time.monotonic()


def environment() -> dict[str, str]:
    """The user's, without what would change the agent or the JVM."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OTEL_", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"))
    }
