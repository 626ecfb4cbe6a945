"""Builds what takes part in the comparison, each once per content, in the tool's own cache."""

import json
import os
from pathlib import Path

from msgspec import Struct

from tracetax.artifacts import build_sink, build_workload, fetch, find_tool
from tracetax.artifacts.builds import GO_ENVIRONMENT, UNSTAMPED
from tracetax.artifacts.cache import BUILT, built, key_of
from tracetax.artifacts.tools import run_tool
from tracetax.catalog.workload_file import load_workload
from tracetax.model import Agent

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORKLOAD, _ = load_workload("calltree/java", ROOT)
BUILDER = "go.opentelemetry.io/collector/cmd/builder@v0.155.0"
SECONDS = 1800.0


class Programs(Struct, frozen=True):
    """What the comparison starts."""

    sink: Path
    receiver: Path
    collector: Path | None
    classes: Path
    agent_jar: Path


def build_all(agent: Agent, cache: Path, *, collector: bool = True) -> Programs:
    """Everything, built or cached, the Collector only if wanted. Raises UserError where something cannot be had."""
    return Programs(
        sink=build_sink(ROOT, cache, say),
        receiver=build_receiver(cache),
        collector=build_collector(cache) if collector else None,
        classes=build_workload(ROOT, WORKLOAD, cache, say),
        agent_jar=fetch(agent.artifacts["agent"], cache, say),
    )


def say(sentence: str) -> None:
    """Say what is being done."""
    print(f"  {sentence}", flush=True)


def build_receiver(cache: Path) -> Path:
    """The receiver that unmarshals, which records and replays too."""
    source = HERE / "receiver"
    go = str(find_tool("go", "to build the receiver", beside_python=True))

    def build(folder: Path) -> None:
        say("building the receiver that unmarshals")
        run_tool(
            "The receiver could not be built",
            [go, "build", "-o", str(folder / "receiver"), "."],
            log=cache / "logs" / "receiver",
            seconds=SECONDS,
            environment={**os.environ, **GO_ENVIRONMENT},
            directory=source,
        )

    key = key_of(source, [*source.glob("*.go"), source / "go.mod", source / "go.sum"])
    return built(cache / BUILT / f"receiver-{key}", cache, build, say) / "receiver"


def build_on_library(cache: Path) -> Path:
    """The sink on grpc-go: this clone's, with the file that speaks OTLP over gRPC replaced."""
    source = ROOT / "sink"
    replaced, replacement = source / "internal" / "receiver" / "otlp" / "grpc.go", HERE / "grpcgo" / "grpc.go"
    go = str(find_tool("go", "to build the sink", beside_python=True))

    def build(folder: Path) -> None:
        say("building the sink on grpc-go")
        overlay = folder / "overlay.json"
        overlay.write_text(json.dumps({"Replace": {str(replaced): str(replacement)}}), encoding="utf-8")
        run_tool(
            "The sink on grpc-go could not be built",
            [go, "build", "-overlay", str(overlay), "-o", str(folder / "sink"), "."],
            log=cache / "logs" / "sink-on-grpc-go",
            seconds=SECONDS,
            environment={**os.environ, **GO_ENVIRONMENT},
            directory=source,
        )

    key = key_of(ROOT, [*source.rglob("*.go"), source / "go.mod", source / "go.sum", replacement])
    return built(cache / BUILT / f"sink-on-grpc-go-{key}", cache, build, say) / "sink"


def build_collector(cache: Path) -> Path:
    """The OpenTelemetry Collector, by its own builder, with one receiver and the exporter that does nothing."""
    definition = HERE / "collector" / "builder.yaml"
    go = find_tool("go", "to build the Collector", beside_python=True)

    def build(folder: Path) -> None:
        say("building the OpenTelemetry Collector: about 4 minutes, once")
        environment = {
            **{"GOTOOLCHAIN": "local", "GOFLAGS": UNSTAMPED, "CGO_ENABLED": "0", "GOBIN": str(folder / "tools")},
            # The builder calls it by its name.
            "PATH": f"{go.parent}:{os.environ['PATH']}",
        }
        steps = {
            "builder": [str(go), "install", BUILDER],
            "collector": [str(folder / "tools" / "builder"), f"--config={definition}"],
        }
        for label, command in steps.items():
            run_tool(
                "The Collector could not be built",
                command,
                log=cache / "logs" / label,
                seconds=SECONDS,
                environment={**os.environ, **environment},
                directory=folder,
            )

    key = key_of(definition.parent, [definition], BUILDER)
    return built(cache / BUILT / f"otelcol-{key}", cache, build, say) / "otelcol"
