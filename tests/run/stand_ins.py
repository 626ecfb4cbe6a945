"""Equipment whose JVM is a stand-in, and experiments over its configurations."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tests.settings import java_settings
from tracetax.catalog.workload_file import load_workload
from tracetax.kinds.calltree import TreeParameters
from tracetax.machine.toolchain import Interpreter
from tracetax.model import (
    BASELINE,
    Agent,
    Configuration,
    Delivery,
    Experiment,
    Layer,
    Part,
    Runtimes,
    Schedule,
    Technology,
    Use,
)
from tracetax.results.folder import RunFolder
from tracetax.results.manifest import MANIFEST_VERSION, Invocation, Manifest
from tracetax.run.equipment import Equipment, Limits

ROOT = Path(__file__).resolve().parents[2]
FAKE = Path(__file__).resolve().parents[1] / "fakes" / "bin" / "java"
WORKLOAD, RUNTIME = load_workload("calltree/java", ROOT)
HEAP = 64 << 20
OF_THE_MACHINE = {"disturbed", "throttled", "swapped"}
"""Verdicts on what else the machine did meanwhile."""
QUICK = Limits(
    start=30.0,
    burst=30.0,
    warm_up=1.0,
    calls_base=30.0,
    drain_base=2.0,
    write=30.0,
    end=20.0,
    term=0.5,
    quiet=0.2,
    connect=0.2,
)

SHORT: dict[str, dict[str, float]] = {
    "hang-before-main": {"start": 5.0},
    "hangs-in-calls": {"calls_base": 5.0},
    "does-not-end": {"end": 3.0},
}
"""What is not waited for as long, of stand-ins that never get there."""


def configuration(name: str, delivery: Delivery = Delivery.COMPLETE, flags: tuple[str, ...] = ()) -> Configuration:
    """A configuration of the agent ``fake`` whose stand-in behaves as ``name`` says."""
    return Configuration(
        agent="fake",
        name=name,
        title=name,
        layers=(Layer.INSTRUMENTATION, Layer.COLLECTING, Layer.WRITING),
        delivery=delivery,
        protocol="otlp-http",
        record_name="MonitoredClass.monitoredMethod",
        drop_log=r"dropped (\d+) span",
        flags=(f"-Dfake={name}", "-Dport={sink.otlp_http.port}", *flags),
    )


def agents(*configurations: Configuration) -> dict[str, Agent]:
    """The baseline and the agent ``fake``, of whose technologies the first one met needs no name."""
    none = Configuration(
        agent="none",
        name=BASELINE.configuration,
        title="baseline",
        layers=(Layer.METHOD,),
        delivery=Delivery.NONE,
        record_name="x",
    )
    return {
        "none": _agent("none", {none.name: none}),
        "fake": _agent("fake", {config.name: config for config in configurations}),
    }


def _agent(key: str, configurations: dict[str, Configuration]) -> Agent:
    technologies = list(dict.fromkeys(config.technology for config in configurations.values()))
    return Agent(
        key=key,
        name=key.capitalize(),
        homepage="",
        licence="",
        language="java",
        runtime=Runtimes(min=8, tested=(17,)),
        instrumentation="",
        artifacts={},
        configurations=configurations,
        technology=technologies[0] if technologies else "",
        technologies={name: Technology(name, f"by {name}") for name in technologies if name},
    )


def fake_equipment(sink: Path, *configurations: Configuration, limits: Limits = QUICK, **_: Any) -> Equipment:
    """Equipment whose JVM is the stand-in; those that never get somewhere are not waited for as long as others."""
    for config in configurations:
        limits = replace(limits, **SHORT.get(config.name, {}))
    return Equipment(
        workload=WORKLOAD,
        runtime=RUNTIME,
        interpreters={0: Interpreter(FAKE, FAKE.parent.parent, version="17", release=17, name="Java runtime")},
        cores=2,
        sink=sink,
        built=Path("classes"),
        agents=agents(*configurations),
        agents_root=Path("agents"),
        artifacts={},
        limits=limits,
    )


def part(*configurations: Configuration, calls: int = 200, depth: int = 3) -> Part:
    """A part that measures these configurations."""
    uses = tuple(Use(agent="fake", configuration=config.name) for config in configurations)
    parameters = TreeParameters(calls=calls, depth=depth)
    return Part(name="p", title="P", parameters=parameters, uses=uses, settings=java_settings(HEAP))


def experiment(
    *configurations: Configuration, blocks: int = 2, budget_s: float = 120.0, memory: bool = False
) -> Experiment:
    """An experiment of one part."""
    schedule = Schedule(min_blocks=blocks, max_blocks=blocks, budget_ns=round(budget_s * 1e9), memory=memory)
    return Experiment(
        key="fake",
        title="Fake",
        workload="calltree/java",
        parts=(part(*configurations),),
        schedule=schedule,
    )


def new_run(path: Path, what: Experiment, *configurations: Configuration, seed: int = 1) -> RunFolder:
    """An empty run folder for an experiment that measures these configurations."""
    invocation = Invocation(command=("./tracetax", "run"), started_at="2026-01-01T00:00:00", experiment=what)
    return RunFolder.create(
        path,
        Manifest(
            version=MANIFEST_VERSION,
            tool_version="0",
            seed=seed,
            hashes={},
            machine={"cores": 2},
            agents=agents(*configurations),
            invocations=(invocation,),
        ),
    )


def with_schedule(what: Experiment, blocks: int) -> Experiment:
    """The experiment with another number of blocks."""
    return replace(what, schedule=replace(what.schedule, min_blocks=blocks, max_blocks=blocks))
