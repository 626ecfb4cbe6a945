"""The command line of a trial: the words of the workload's file, filled from runtime, agent and experiment."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import configuration, fake_equipment, part
from tests.settings import java_settings
from tracetax.kinds.calltree import TreeParameters
from tracetax.model import Configuration
from tracetax.program import GoPackage
from tracetax.results.records import Cell, Role
from tracetax.run.equipment import Equipment
from tracetax.run.launch import command_line
from tracetax.run.plan import TrialPlan, Turn

FLAT = replace(configuration("flat"), flags=("-javaagent:a.jar", "-Dto={sink.otlp_http.port}"), environment={"A": "b"})
SHARED = ["-XX:ActiveProcessorCount=2", "-Xshare:auto", "-XX:-UsePerfData", "-XX:+ExitOnOutOfMemoryError"]
HEAP = 64 << 20


@pytest.fixture
def equipment(tmp_path: Path) -> Equipment:
    return fake_equipment(tmp_path / "sink", FLAT)


def plan(config: Configuration = FLAT, role: Role = "configuration", collector: str = "G1") -> TrialPlan:
    of = replace(part(FLAT), settings=java_settings(HEAP, collector))
    return TrialPlan(1, Turn(1, 1, Cell("p", of.uses[0], HEAP, role)), of, config)


def command(of: TrialPlan, equipment: Equipment, tmp_path: Path) -> list[str]:
    tmp_path.mkdir(exist_ok=True)
    words, _ = command_line(of, equipment, {"otlp-http": 4318}, tmp_path, tmp_path / "logs", tmp_path / "records")
    return list(words)


def test_a_jvm_gets_the_settings_then_what_all_share_then_the_agents_flags(
    equipment: Equipment, tmp_path: Path
) -> None:
    java, *words = command(plan(), equipment, tmp_path)
    assert java == str(equipment.interpreters[0].program)
    assert words == [
        *(f"-Xms{HEAP}", f"-Xmx{HEAP}", "-XX:+UseG1GC", "-XX:+AlwaysPreTouch", *SHARED),
        *(f"-XX:ErrorFile={tmp_path}/logs/hs_err.log", "-javaagent:a.jar", "-Dto=4318"),
        *("-cp", "classes", "tracetax.calltree.Main"),
        *("--calls", "200", "--depth", "3", "--method-time-ns", "0", "--threads", "1", "--rate", "full"),
        *("--wait", "spin", "--out", f"{tmp_path}/workload", "--status", f"{tmp_path}/logs/status.txt"),
    ]


def test_where_memory_is_measured_the_heap_begins_small_and_nothing_is_touched(
    equipment: Equipment, tmp_path: Path
) -> None:
    words = command(plan(role="memory"), equipment, tmp_path)[1:9]
    assert words[:4] == [f"-Xms{32 << 20}", f"-Xmx{HEAP}", "-XX:+UseG1GC", SHARED[0]]


def test_a_heap_smaller_than_what_it_begins_with_begins_with_all_of_it(equipment: Equipment, tmp_path: Path) -> None:
    of = plan(role="memory")
    small = replace(of, turn=replace(of.turn, cell=replace(of.cell, heap_bytes=16 << 20)))
    assert command(small, equipment, tmp_path)[1:3] == [f"-Xms{16 << 20}", f"-Xmx{16 << 20}"]


def test_what_is_called_at_the_start_is_the_class_that_the_workload_names(equipment: Equipment, tmp_path: Path) -> None:
    of = plan()
    methods = replace(of.part, parameters=TreeParameters(calls=1, depth=1, start_up_methods=2))
    words = command(replace(of, part=methods), equipment, tmp_path)
    assert words[words.index("--start-up") + 1] == "tracetax.generated.StartUp"


def in_another_language(equipment: Equipment, *start: str, **variables: str) -> Equipment:
    """The equipment, with a runtime without settings and a workload that is started so."""
    runtime = replace(equipment.runtime, settings={}, shared_flags=("-I",), timed_flags=())
    workload = replace(equipment.workload, start=start, main="", environment=variables)
    return replace(equipment, workload=workload, runtime=runtime)


def test_another_language_is_started_by_the_words_of_its_own_file(equipment: Equipment, tmp_path: Path) -> None:
    start = ("{runtime}", "{shared}", "-W", "ignore", "{flags}", "{search_path}/main.py", "{arguments}")
    words = command(plan(), in_another_language(equipment, *start), tmp_path)
    assert words[1:7] == ["-I", "-W", "ignore", "-javaagent:a.jar", "-Dto=4318", "classes/main.py"]
    assert words[7] == "--calls"


def test_a_search_path_may_go_into_the_environment_where_an_agents_own_go_before(
    equipment: Equipment, tmp_path: Path
) -> None:
    other = in_another_language(
        equipment, "{runtime}", "{arguments}", PLACES="{search_path}", A="a", C="{workload.built}"
    )
    config = replace(FLAT, search_path=("{agent.files}/first", "{workload.built}"))
    _, environment = command_line(plan(config), other, {"otlp-http": 4318}, tmp_path, tmp_path, tmp_path)
    files = equipment.agent_folder("fake") / "files"
    assert environment == {"PLACES": f"{files}/first:classes", "A": "b", "C": "classes"}


def test_what_wraps_a_program_stands_before_it(equipment: Equipment, tmp_path: Path) -> None:
    config = replace(FLAT, wrapper=("{agent.files}/wrap", "--port={sink.otlp_http.port}"))
    words = command(plan(config), equipment, tmp_path)
    files = equipment.agent_folder("fake") / "files"
    assert words[:3] == [f"{files}/wrap", "--port=4318", str(equipment.interpreters[0].program)]


def test_a_program_that_was_built_is_started_by_itself_unless_an_agent_brings_its_own(
    equipment: Equipment, tmp_path: Path
) -> None:
    other = in_another_language(equipment, "{wrapper}", "{program}", "{arguments}")
    other = replace(other, workload=replace(other.workload, go=GoPackage("./cmd/calltree", "calltree")))
    assert command(plan(), other, tmp_path)[:2] == ["classes/calltree", "--calls"]
    config = replace(FLAT, program="{agent.files}/calltree")
    files = equipment.agent_folder("fake") / "files"
    assert command(plan(config), other, tmp_path / "other")[:2] == [f"{files}/calltree", "--calls"]
