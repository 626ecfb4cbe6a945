"""What the processes of a trial are started with, under dummy paths.

The one file of the goldens that calls inner functions: where those move or change their shape, this file follows.
"""

import contextlib
import tempfile
from collections.abc import Generator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

from msgspec.structs import replace

from tests.settings import java_settings
from tracetax.artifacts.compiling import compile_command
from tracetax.artifacts.prepared import program_command
from tracetax.backend import Backend
from tracetax.catalog import fill
from tracetax.catalog.agent_file import every_agent
from tracetax.catalog.backends import load_backends
from tracetax.catalog.workload_file import load_workload, workload_names
from tracetax.commands import opening
from tracetax.companions import backend as backend_companion
from tracetax.companions import sink as sink_companion
from tracetax.companions.backend import BackendServer, Supplied
from tracetax.kinds import AnyParameters
from tracetax.kinds.calltree import TreeParameters
from tracetax.kinds.functions import FunctionParameters
from tracetax.kinds.requests import RequestParameters, Weighted
from tracetax.machine.toolchain import Interpreter
from tracetax.model import BASELINE, SCRAPED, Part, Settings, Use, kind_name, language_of
from tracetax.process import clean_environment
from tracetax.results.records import Cell, Role
from tracetax.run.backends import receiver
from tracetax.run.equipment import Equipment
from tracetax.run.hosted import hosted
from tracetax.run.launch import LISTEN, by_hand, command_line
from tracetax.run.plan import TrialPlan, Turn, heap_for

ROOT = Path(__file__).resolve().parents[2]
JAVA = "calltree/java"
USUAL = TreeParameters(calls=1_000, depth=10)
FUNCTION = FunctionParameters(calls=1_000, mix=(Weighted("uploader", 1),), rate=10.0, host="")
REQUESTS = RequestParameters(calls=1_000, mix=(Weighted("db", 1),), rate=100.0)
USUAL_SETTINGS = java_settings(1 << 30)
LOGS, RECORDS = Path("/logs"), Path("/records")
STARTING_PORT = 10_001
RELEASES = {0: (17, "17.0.15"), 17: (17, "17.0.15"), 21: (21, "21.0.4"), 25: (25, "25")}
INHERITED = {"PATH": "/usr/bin:/bin", "HOME": "/home/user", "TZ": "UTC", "JAVA_TOOL_OPTIONS": "-Xint", "EDITOR": "ed"}
"""An environment, of which a process of a trial gets a part."""
WORKLOAD: dict[str, tuple[TreeParameters, Settings, Role]] = {
    "the baseline": (USUAL, USUAL_SETTINGS, "baseline-1"),
    "the baseline where memory is measured": (USUAL, USUAL_SETTINGS, "memory"),
    "at a rate, by two threads that park": (
        TreeParameters(calls=500, depth=3, rate=1_500.0, method_time_ns=250, threads=2, wait="park"),
        USUAL_SETTINGS,
        "baseline-1",
    ),
    "a start that calls generated methods": (
        TreeParameters(calls=500, depth=3, start_up_methods=20, start_up_monitored=7),
        USUAL_SETTINGS,
        "baseline-1",
    ),
    "Java 17, Z": (USUAL, java_settings(1 << 30, "Z", 17), "baseline-1"),
    "Java 21, Z": (USUAL, java_settings(1 << 30, "Z", 21), "baseline-1"),
    "Java 25, Shenandoah, 2 GiB": (USUAL, java_settings(2 << 30, "Shenandoah", 25), "baseline-1"),
}
BY_HAND = (Use("none", "baseline"), Use("opentelemetry", "otlp"))


class Started(Exception):
    """Raised in place of starting a process."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        super().__init__()
        self.command = tuple(command)
        self.environment = dict(environment)


def not_started(command: Sequence[str], *, environment: Mapping[str, str], **_: Any) -> NoReturn:
    """Stands in for ``Process``."""
    raise Started(command, environment)


@contextlib.contextmanager
def plenty_of_memory() -> Generator[None]:
    """On no machine is a plan refused for want of memory."""
    with patch.object(opening, "memory_available", lambda: 1 << 40):
        yield


def launches() -> dict[str, str]:
    """By the name of the golden: command, environment and sink of every configuration, and what else is started."""
    return {
        **{f"agents/{agent}.txt": _agent(agent) for agent in _bench().agents},
        **{
            f"{workload.removeprefix('calltree/')}/{agent}.txt": _of_workload(workload, agent)
            for workload in workload_names(ROOT)
            if workload != JAVA
            for agent in _bench(workload).agents
        },
        "workload.txt": "\n".join(_workload()),
        "steps.txt": "\n".join(_steps()),
        "backends.txt": "\n".join(_backend(backend) for backend in load_backends(ROOT).values()),
        **{f"by-hand/{use.agent}.sh": _by_hand(use) for use in BY_HAND},
    }


def _agent(key: str) -> str:
    """Every configuration of an agent. What its command shares with the baseline's, begin and end, is one line."""
    equipment = _bench()
    command, _ = _command(_trial(equipment, BASELINE, USUAL, USUAL_SETTINGS, "baseline-1"), equipment)
    path = command.index("-cp")
    begin, end = command[:path], command[path + 2 :]
    blocks: list[str] = []
    for name in equipment.agents[key].configurations:
        trial = _trial(equipment, Use(key, name), USUAL, USUAL_SETTINGS, "configuration")
        words, environment = _command(trial, equipment)
        if words[: len(begin)] == begin:
            words = ("{as the baseline}", *words[len(begin) :])
        if words[-len(end) :] == end:
            words = (*words[: -len(end)], "{as the baseline}")
        blocks.append(
            _listed(f"{key} {name}", environment, words) + f"sink: {' '.join(_sink(trial, equipment).command)}\n"
        )
    return "\n".join(blocks)


def _of_workload(workload: str, key: str) -> str:
    """Every configuration of an agent for another workload than the call tree in Java; of settings only Java's."""
    bench = _bench(workload)
    parameters = REQUESTS if bench.workload.service else USUAL
    benches: list[tuple[str, Equipment, AnyParameters]] = [("", bench, parameters)]
    if hosts := bench.workload.hosts:
        served = {host: replace(FUNCTION, host=host) for host in hosts}
        benches = [(f" by {host}", hosted(bench, own), own) for host, own in served.items()]
    settings = USUAL_SETTINGS if bench.runtime.key == "java" else {}
    blocks: list[str] = []
    for suffix, equipment, own in benches:
        for name in equipment.agents[key].configurations:
            trial = _trial(equipment, Use(key, name), own, settings, "configuration")
            words, environment = _command(trial, equipment)
            sink = f"sink: {' '.join(_sink(trial, equipment).command)}\n"
            blocks.append(_listed(f"{key} {name}{suffix}", environment, words) + sink)
    return "\n".join(blocks)


def _workload() -> Generator[str]:
    """The baseline under parameters and settings of all kinds; then what the sink gets of the environment."""
    equipment = _bench()
    for title, (parameters, settings, role) in WORKLOAD.items():
        command, environment = _command(_trial(equipment, BASELINE, parameters, settings, role), equipment)
        yield _listed(title, environment, command)
    trial = _trial(equipment, BASELINE, USUAL, USUAL_SETTINGS, "baseline-1")
    built = [Path("/built/one"), Path("/built/two")]
    command, environment = _command(trial, equipment, built)
    yield _listed("classes that the trial has built", environment, command)
    started = _sink(trial, equipment)
    yield _listed("the sink", started.environment, started.command)


def _steps() -> Generator[str]:
    """Every process that makes a folder of an agent. The files that are compiled stand as the folder they lie in."""
    equipment = _bench()
    with _tools("java", "javac") as tools:
        for agent in equipment.agents.values():
            values = {
                **equipment.workload.monitored.placeholders,
                **{f"artifacts.{name}": str(path) for name, path in equipment.artifacts[agent.key].items()},
                **{f"prepared.{name}": str(path) for name, path in equipment.prepared[agent.key][""].items()},
                "agent.files": f"/agents/{agent.key}/files",
                "workload.built": "/classes",
                "workload.sources": "/sources",
                "out": "/out",
            }
            for step in agent.prepare:
                commands: dict[str, list[str]] = {}
                if made := step.compile:
                    path = ":".join(fill(entry, values) for entry in made.class_path)
                    sources = [fill(made.sources, values)]
                    commands["compile"] = compile_command(sources, Path("/out"), class_path=path, release=made.release)
                if step.run:
                    commands["run"] = program_command(step.run, values)
                for way, command in commands.items():
                    words = [word.replace(str(tools), "/jdk/bin") for word in command]
                    yield _listed(f"{agent.key} {step.name}: {way}", {}, words)


@contextlib.contextmanager
def _tools(*names: str) -> Generator[Path]:
    """A folder with programs of these names, where programs are found."""
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            Path(folder, name).touch(mode=0o755)
        with patch.dict("os.environ", {"PATH": folder}, clear=True):
            yield Path(folder)


def _backend(backend: Backend) -> str:
    """How a real backend is started in the sink's place."""
    values = {
        **{f"artifacts.{name}": f"/artifacts/{name}" for name in backend.artifacts},
        **{f"prepared.{step.name}": f"/prepared/{step.name}" for step in backend.prepare},
        "backend.files": f"/backends/{backend.key}/files",
    }
    ports = iter(range(STARTING_PORT, STARTING_PORT + 1_000))
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(backend_companion, "Process", not_started),
        patch.object(backend_companion, "free_port", lambda: next(ports)),
        patch.dict("os.environ", INHERITED, clear=True),
    ):
        try:
            BackendServer(
                Supplied(backend, Path("/jdk/bin/java"), values),
                backend.accepts[0],
                charged="measured",
                folder=Path(folder),
                log=LOGS / "backend.txt",
            )
        except Started as started:
            text = _listed(backend.key, started.environment, started.command)
            return text.replace(folder, "/trial")
    raise AssertionError(f"{backend.key} starts no process")


def _by_hand(use: Use) -> str:
    equipment = _bench()
    trial = _trial(equipment, use, USUAL, USUAL_SETTINGS, "configuration")
    command, environment = _command(trial, equipment)
    whole = clean_environment(INHERITED, environment)
    return by_hand(trial, command, whole, _ports(), (Path("/trial"), LOGS, RECORDS))


@cache
def _bench(key: str = JAVA) -> Equipment:
    """What every trial of a workload shares, under paths that are nowhere."""
    agents = {
        name: replace(agent, folder=f"/agents/{name}")
        for name, agent in every_agent(ROOT).of(language_of(key), kind_name(key)).agents.items()
    }
    workload, runtime = load_workload(key, ROOT)
    jdks = {
        asked: Interpreter(Path(f"/jdk-{asked}/bin/java"), Path(f"/jdk-{asked}"), version, release, name="JDK")
        for asked, (release, version) in RELEASES.items()
    }
    home = Path("/", runtime.key)
    other = {0: Interpreter(home / "bin" / runtime.key, home, "1.2", 2, name=runtime.name)}
    return Equipment(
        workload=workload,
        runtime=runtime,
        interpreters=jdks if runtime.key == "java" else other,
        cores=2,
        sink=Path("/sink"),
        built=Path("/classes"),
        agents=agents,
        agents_root=Path("/agents"),
        artifacts={
            key: {name: Path(f"/artifacts/{name}") for name in agent.artifacts} for key, agent in agents.items()
        },
        prepared={
            key: {"": {step.name: Path(f"/prepared/{step.name}") for step in agent.prepare}}
            for key, agent in agents.items()
        },
        start_up={(20, 7): Path("/start-up")},
        host_programs={name: Path("/hosts") / name for name, host in workload.hosts.items() if host.go},
        stores={name: f"{name}://there" for name in (workload.service.stores if workload.service else ())},
    )


def _trial(equipment: Equipment, use: Use, parameters: AnyParameters, settings: Settings, role: Role) -> TrialPlan:
    part = Part("part", "Part", parameters, (use,), settings)
    config = equipment.configuration(use.agent, use.configuration)
    cell = Cell(part.name, use, heap_for(config, part), role)
    return TrialPlan(1, Turn(block=1, block_size=3, cell=cell), part, config)


def _command(
    trial: TrialPlan, equipment: Equipment, built: Sequence[Path] = ()
) -> tuple[tuple[str, ...], dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        ports = _ports() | {LISTEN: STARTING_PORT - 1}
        command, environment = command_line(trial, equipment, ports, Path(folder), LOGS, RECORDS, built)
    return (
        tuple(word.replace(folder, "/trial") for word in command),
        {name: value.replace(folder, "/trial") for name, value in environment.items()},
    )


def _sink(trial: TrialPlan, equipment: Equipment) -> Started:
    """What the trial's sink is started with."""
    with patch.object(sink_companion, "Process", not_started), patch.dict("os.environ", INHERITED, clear=True):
        try:
            with receiver(trial, equipment, Path("/trial"), LOGS):
                pass
        except Started as started:
            return started
    raise AssertionError("a trial starts no sink")


def _ports() -> dict[str, int]:
    """A port for every protocol of the sink, in the order of its list, and then for second ports."""
    protocols = (ROOT / "sink" / "protocols.txt").read_text(encoding="utf-8").split()
    listening = [protocol for protocol in protocols if not protocol.endswith("-file")]
    listening += (ROOT / "sink" / "second-ports.txt").read_text(encoding="utf-8").split()
    assert SCRAPED in listening
    return {protocol: STARTING_PORT + place for place, protocol in enumerate(listening)}


def _listed(title: str, environment: Mapping[str, str], command: Sequence[str]) -> str:
    """A heading, a line for each variable, a line for each word."""
    variables = [f"  {name}={value}" for name, value in environment.items()]
    return "\n".join((f"== {title}", *variables, *(f"  {word}" for word in command), ""))
