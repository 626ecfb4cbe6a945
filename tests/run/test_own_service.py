"""How an agent gets into a service of the user's: by its environment, and by nothing else."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import configuration, fake_equipment, part
from tracetax.catalog.own.service import for_service, service_runtime, service_workload
from tracetax.catalog.runtime_file import sound_runtimes
from tracetax.kinds.requests import RequestParameters, Weighted
from tracetax.model import AS_BUILT, Configuration
from tracetax.place import data_folder
from tracetax.results.records import Cell
from tracetax.run.equipment import Equipment
from tracetax.run.launch import command_line, whole_environment
from tracetax.run.plan import TrialPlan, Turn
from tracetax.service import OwnService, Sent

SERVICE = OwnService(
    start=("run", "--at={listen.port}", '{"json": "{flags}"}'),
    directory="/shop",
    language="java",
    program="/usr/bin/java",
    endpoints={"one": Sent("/")},
    weights={"one": 1},
    ready_path="/",
    ready_within_ns=10**9,
)
PARAMETERS = RequestParameters(calls=10, mix=(Weighted("one", 1),), learned=())


def equipped(language: str, config: Configuration, service: OwnService = SERVICE) -> Equipment:
    """What trials of the service in a language are set up with, with one agent."""
    own = replace(service, language=language)
    runtime = service_runtime(own, sound_runtimes(data_folder()))
    equipment = fake_equipment(Path("sink"), config)
    agents = {
        key: replace(for_service(agent, own), environment_prefixes=("OTEL_",))
        for key, agent in equipment.agents.items()
    }
    workload = service_workload(own, runtime, Path("/files"))
    return replace(equipment, workload=workload, runtime=runtime, agents=agents)


def started(
    equipment: Equipment, config: Configuration, folder: Path, source: dict[str, str]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The command of a trial, and all that its program finds in its environment."""
    own = replace(part(config), parameters=PARAMETERS, settings={})
    (use,) = own.uses
    config = equipment.configuration(use.agent, use.configuration)
    plan = TrialPlan(1, Turn(1, 1, Cell(part=own.name, use=use, heap_bytes=0)), own, config)
    ports = {"listen": 4711, "otlp-http": 4318}
    command, environment = command_line(plan, equipment, ports, folder, folder, folder)
    return command, whole_environment(equipment, environment, source)


@pytest.mark.parametrize(
    ("language", "variable", "kept"),
    [("java", "JAVA_TOOL_OPTIONS", "-Xmx1g -Dfake=complete"), ("node", "NODE_OPTIONS", "-Xmx1g -Dfake=complete")],
)
def test_flags_go_into_a_variable_behind_the_users_own(tmp_path: Path, language: str, variable: str, kept: str) -> None:
    config = configuration("complete")
    command, environment = started(equipped(language, config), config, tmp_path, {variable: "-Xmx1g"})
    assert command == ("run", "--at=4711", '{"json": "{flags}"}')
    assert environment[variable].startswith(kept)


def test_packages_go_behind_the_services_own(tmp_path: Path) -> None:
    config = replace(configuration("complete"), flags=(), search_path=("{agent.files}/site", "{workload.built}"))
    _, environment = started(equipped("python", config), config, tmp_path, {"PYTHONPATH": "/mine"})
    assert environment["PYTHONPATH"] == "/files:/mine"
    assert environment["TRACETAX_SEARCH_PATH"].endswith("/files/site")


def test_a_service_may_have_a_search_path_of_its_own(tmp_path: Path) -> None:
    config = replace(configuration("complete"), flags=(), own_search_path=("{agent.files}/every",))
    _, environment = started(equipped("python", config), config, tmp_path, {})
    assert environment["TRACETAX_SEARCH_PATH"].endswith("/files/every")


def test_without_an_agent_no_variable_is_set_that_would_attach_one(tmp_path: Path) -> None:
    config = replace(configuration("complete"), flags=(), search_path=AS_BUILT)
    _, environment = started(equipped("java", config), config, tmp_path, {})
    assert "JAVA_TOOL_OPTIONS" not in environment


def test_the_users_environment_is_kept_but_for_agents_variables(tmp_path: Path) -> None:
    config = configuration("complete")
    source = {"DATABASE": "x", "OTEL_SERVICE_NAME": "mine", "LD_LIBRARY_PATH": "/lib", "NODE_ENV": "production"}
    _, environment = started(equipped("node", config), config, tmp_path, source)
    assert {"DATABASE", "LD_LIBRARY_PATH", "NODE_ENV"} <= environment.keys()
    assert "OTEL_SERVICE_NAME" not in environment


def test_where_an_agent_is_built_in_another_program_is_started(tmp_path: Path) -> None:
    config = replace(configuration("complete"), environment={"TO": "{sink.otlp_http}"})
    service = replace(SERVICE, with_agent={"fake": ("run-traced", "{listen.port}")})
    command, environment = started(equipped("go", config, service), config, tmp_path, {})
    assert command == ("run-traced", "4711")
    assert environment["TO"] == "http://127.0.0.1:4318"
