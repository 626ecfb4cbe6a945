"""What the doctor says about tools and machines that the test invents."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tracetax.machine.disturbance import Load
from tracetax.machine.doctor import Row, Tools, cache_row, disk_row, doctor_rows, machine_rows, tool_rows
from tracetax.machine.facts import FEW_CORES, Machine
from tracetax.machine.limits import Limits
from tracetax.machine.toolchain import Jdk

ROOT = Path("/clone")
JDK = Jdk(home=Path("/jdk"), version="17.0.15", vendor="Somebody", javac=Path("/jdk/bin/javac"))
TOOLS = Tools(python="3.12.1", environment=ROOT / ".venv", go="1.26.6", jdk=JDK, maven="3.8.7")
SERVER = Machine(
    cpu="Big Chip 9000",
    architecture="x86_64",
    cores=16,
    smt=True,
    numa_nodes=1,
    memory_bytes=64 << 30,
    swap_bytes=0,
    kernel="Linux 6.18",
    os="X Linux 12",
    virtualised=None,
    container=False,
    governor="performance",
    turbo=False,
    clock_source="tsc",
    transparent_huge_pages="madvise",
    mitigations={},
    load=(0.0, 0.0, 0.0),
    limits=Limits(cpus=None, memory_bytes=None),
    disk_free_bytes=100 << 30,
    python="3.12.1",
    java="JDK 17.0.15",
)
QUIET = Load(steal=0.0, other=0.02, seconds=1.0)


def states(rows: list[Row]) -> dict[str, str]:
    return {row.name: row.state for row in rows}


def test_a_complete_toolchain_on_a_quiet_server_is_all_well() -> None:
    rows = [*tool_rows(TOOLS, ROOT), disk_row(SERVER), *machine_rows(SERVER, QUIET)]
    assert set(states(rows).values()) == {"ok"}
    assert not any(row.advice for row in rows)


@pytest.mark.parametrize(
    ("tools", "missing"),
    [
        (replace(TOOLS, go=None), {"Go"}),
        (replace(TOOLS, maven=None), {"Maven"}),
        (replace(TOOLS, jdk=None), {"java", "javac"}),
        (replace(TOOLS, jdk=replace(JDK, javac=None)), {"javac"}),
        (replace(TOOLS, jdk=replace(JDK, version="11.0.21")), {"java"}),
    ],
)
def test_a_missing_tool_is_named_with_the_way_to_get_it(tools: Tools, missing: set[str]) -> None:
    rows = [row for row in tool_rows(tools, ROOT) if row.state == "missing"]
    assert {row.name for row in rows} == missing
    assert all("./tracetax" in row.advice for row in rows)


def test_another_python_environment_is_warned_of() -> None:
    assert states(tool_rows(replace(TOOLS, environment=Path("/usr")), ROOT))["environment"] == "warn"


@pytest.mark.parametrize(
    ("machine", "load", "warned"),
    [
        (replace(SERVER, cores=FEW_CORES - 1), QUIET, "cores"),
        (replace(SERVER, governor="powersave"), QUIET, "governor"),
        (replace(SERVER, governor=None), QUIET, "governor"),
        (replace(SERVER, clock_source="hpet"), QUIET, "clock source"),
        (SERVER, Load(steal=0.2, other=0.0, seconds=1.0), "steal"),
        (SERVER, Load(steal=0.0, other=0.8, seconds=1.0), "load"),
    ],
)
def test_what_makes_a_machine_uneven_is_warned_of_with_advice(machine: Machine, load: Load, warned: str) -> None:
    rows = [row for row in machine_rows(machine, load) if row.state != "ok"]
    assert [row.name for row in rows] == [warned]
    assert rows[0].advice


def test_four_cores_are_enough() -> None:
    assert states(machine_rows(replace(SERVER, cores=FEW_CORES), QUIET))["cores"] == "ok"


def test_a_full_disk_is_warned_of() -> None:
    assert disk_row(replace(SERVER, disk_free_bytes=1 << 30)).state == "warn"


def test_a_cache_that_does_not_exist_yet_is_well(tmp_path: Path) -> None:
    assert cache_row(tmp_path / "not" / "yet").state == "ok"


def test_a_cache_below_a_file_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert cache_row(tmp_path / "file" / "cache").state == "missing"


def test_every_row_appears_once_for_this_machine(tmp_path: Path) -> None:
    names = [row.name for row in doctor_rows(tmp_path, tmp_path, seconds=0.05)]
    assert len(names) == len(set(names)) == 13
