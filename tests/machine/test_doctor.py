"""What the doctor says about tools and machines that the test invents."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from tracetax.catalog.runtime_file import sound_runtimes
from tracetax.errors import ExitCode
from tracetax.machine.disturbance import Load
from tracetax.machine.doctor import Diagnosis, RuntimeHere, Tools, cache_row, diagnose, tool_rows
from tracetax.machine.facts import Machine
from tracetax.machine.fitness import Row, fitness_rows
from tracetax.machine.isolation import FEW_CORES, Isolation
from tracetax.machine.limits import MachineLimits
from tracetax.machine.observed import Observed, observe
from tracetax.machine.toolchain import Interpreter

ROOT = Path("/clone")
RUNTIMES = sound_runtimes(Path(__file__).resolve().parents[2])
JDK = Interpreter(
    program=Path("/jdk/bin/java"),
    home=Path("/jdk"),
    version="17.0.15",
    release=17,
    name="JDK",
    vendor="Somebody",
    compiler=Path("/jdk/bin/javac"),
)
NODE = Interpreter(Path("/node/bin/node"), Path("/node"), "24.19.0", 24, "Node")
JAVA_HERE, NODE_HERE = RuntimeHere(RUNTIMES["java"], JDK, (JDK,)), RuntimeHere(RUNTIMES["node"], NODE, (NODE,))
TOOLS = Tools(python="3.12.1", environment=ROOT / ".venv", go="1.26.6", maven="3.8.7", runtimes=(JAVA_HERE, NODE_HERE))


def with_first(first: Interpreter | None) -> Tools:
    """The tools, with this as the first Java."""
    return replace(TOOLS, runtimes=(replace(JAVA_HERE, first=first), NODE_HERE))


SERVER = Machine(
    cpu="Big Chip 9000",
    architecture="x86_64",
    cores=16,
    smt=True,
    numa_nodes=1,
    isolation=Isolation(workload=(1, 2, 3), companions=(0,), allowed=tuple(range(16)), words="shared out"),
    memory_bytes=64 << 30,
    swap_bytes=0,
    kernel="Linux 6.18",
    os="X Linux 12",
    virtualised=None,
    container=False,
    governor="performance",
    turbo=False,
    turbo_switch="/sys/devices/system/cpu/cpufreq/boost",
    clock_source="tsc",
    transparent_huge_pages="madvise",
    mitigations={},
    load=(0.0, 0.0, 0.0),
    limits=MachineLimits(cpus=None, memory_bytes=None),
    disk_free_bytes=100 << 30,
    python="3.12.1",
    java="JDK 17.0.15",
)
QUIET = Observed(
    load=Load(steal=0.0, other=0.02, seconds=1.0),
    clock_read_ns=20.0,
    memory_available_bytes=32 << 30,
    swap_used_bytes=0,
    cgroup="v2",
    throttled_ns=None,
    other_run=None,
    root=False,
    receive_buffer_bytes=16 << 20,
)
NEEDED = 3 << 30
UNPINNED = Isolation(allowed=(0, 1, 2, 3), processors=4)


def states(found: list[Row]) -> dict[str, str]:
    return {row.name: row.state for row in found}


def rows(machine: Machine = SERVER, observed: Observed = QUIET) -> list[Row]:
    return fitness_rows(machine, observed, NEEDED)


def test_a_complete_toolchain_on_a_quiet_server_is_all_well() -> None:
    found = [*tool_rows(TOOLS, ROOT), *rows()]
    assert set(states(found).values()) == {"ok"}
    assert not any(row.advice for row in found)


@pytest.mark.parametrize(
    ("tools", "missing"),
    [
        (replace(TOOLS, go=None), {"Go"}),
        (replace(TOOLS, maven=None), {"Maven"}),
        (with_first(None), {"java", "javac"}),
        (with_first(replace(JDK, compiler=None)), {"javac"}),
        (with_first(replace(JDK, version="11.0.21", release=11)), {"java"}),
    ],
)
def test_a_missing_tool_is_named_with_the_way_to_get_it(tools: Tools, missing: set[str]) -> None:
    found = [row for row in tool_rows(tools, ROOT) if row.state == "missing"]
    assert {row.name for row in found} == missing
    assert all("./tracetax" in row.advice for row in found)


def test_every_further_java_is_named_with_its_place() -> None:
    others = [
        Interpreter(Path(f"/jvm/{release}/bin/java"), Path(f"/jvm/{release}"), str(release), release, "Java runtime")
        for release in (21, 25)
    ]
    tools = replace(TOOLS, runtimes=(replace(JAVA_HERE, every=(JDK, *others)),))
    (row,) = (row for row in tool_rows(tools, ROOT) if row.name == "further Java")
    assert row.value == "Java runtime 21, /jvm/21; Java runtime 25, /jvm/25"


@pytest.mark.parametrize("first", [None, replace(NODE, version="18.1.0", release=18)])
def test_what_only_other_workloads_need_is_warned_of_with_what_a_run_does_about_it(first: Interpreter | None) -> None:
    tools = replace(TOOLS, runtimes=(JAVA_HERE, replace(NODE_HERE, first=first, every=())))
    (row,) = (row for row in tool_rows(tools, ROOT) if row.name == "node")
    assert (row.state, row.advice) == ("warn", "A run fetches a Node. Or: apt-get install nodejs (a Node 20 or newer)")


def test_another_python_environment_is_warned_of() -> None:
    assert states(tool_rows(replace(TOOLS, environment=Path("/usr")), ROOT))["environment"] == "warn"


@pytest.mark.parametrize(
    ("machine", "observed", "warned"),
    [
        (replace(SERVER, cores=FEW_CORES - 1), QUIET, "cores"),
        (replace(SERVER, smt=False, isolation=UNPINNED), QUIET, "isolation"),
        (replace(SERVER, cores=2, isolation=UNPINNED), QUIET, "SMT"),
        (replace(SERVER, cores=2, smt=False, numa_nodes=2, isolation=UNPINNED), QUIET, "NUMA"),
        (replace(SERVER, numa_nodes=2, isolation=replace(SERVER.isolation, nodes=2)), QUIET, "NUMA"),
        (replace(SERVER, limits=MachineLimits(cpus=4.0, memory_bytes=None)), QUIET, "limits"),
        (replace(SERVER, governor="powersave"), QUIET, "governor"),
        (replace(SERVER, governor="performance, powersave"), QUIET, "governor"),
        (replace(SERVER, turbo=True), QUIET, "turbo"),
        (SERVER, replace(QUIET, clock_read_ns=900.0), "clock"),
        (replace(SERVER, transparent_huge_pages="always"), QUIET, "huge pages"),
        (replace(SERVER, disk_free_bytes=1 << 30), QUIET, "disk"),
        (SERVER, replace(QUIET, memory_available_bytes=NEEDED - 1), "memory"),
        (SERVER, replace(QUIET, load=replace(QUIET.load, swapped_bytes=4096)), "swap"),
        (SERVER, replace(QUIET, load=replace(QUIET.load, steal=0.2)), "steal"),
        (SERVER, replace(QUIET, load=replace(QUIET.load, other=0.8)), "load"),
        (SERVER, replace(QUIET, other_run="4711"), "other run"),
        (SERVER, replace(QUIET, receive_buffer_bytes=208 << 10), "datagrams"),
    ],
)
def test_what_makes_a_machine_uneven_is_warned_of_with_advice(
    machine: Machine, observed: Observed, warned: str
) -> None:
    found = [row for row in rows(machine, observed) if row.state != "ok"]
    assert warned in {row.name for row in found}
    assert {row.name for row in found} <= {warned, "cores", "SMT", "isolation"}
    assert all(row.advice for row in found)


@pytest.mark.parametrize(
    ("machine", "observed", "name"),
    [
        (replace(SERVER, governor=None), QUIET, "governor"),
        (replace(SERVER, turbo=None), QUIET, "turbo"),
        (replace(SERVER, smt=None), QUIET, "SMT"),
        (replace(SERVER, transparent_huge_pages=None), QUIET, "huge pages"),
        (SERVER, replace(QUIET, cgroup=None), "limits"),
        (SERVER, replace(QUIET, load=replace(QUIET.load, seen=False)), "load"),
        (SERVER, replace(QUIET, load=replace(QUIET.load, seen=False)), "steal"),
        (SERVER, replace(QUIET, memory_available_bytes=0), "memory"),
    ],
)
def test_what_the_machine_does_not_show_is_not_guessed(machine: Machine, observed: Observed, name: str) -> None:
    found = {row.name: row for row in rows(machine, observed)}[name]
    assert (found.state, found.value.split(":")[0], found.advice) == ("unseen", "not visible", "")


def test_four_cores_are_enough() -> None:
    assert states(rows(replace(SERVER, cores=FEW_CORES)))["cores"] == "ok"


def test_a_clock_is_judged_by_what_it_costs_and_not_by_its_name() -> None:
    assert states(rows(replace(SERVER, clock_source="kvm-clock")))["clock"] == "ok"


def test_swap_that_holds_something_and_rests_is_well() -> None:
    found = {
        row.name: row for row in rows(replace(SERVER, swap_bytes=2 << 30), replace(QUIET, swap_used_bytes=1 << 30))
    }
    assert (found["swap"].state, found["swap"].value) == ("ok", "1.0 of 2.0 GiB used, nothing moves")


def test_a_quota_tells_for_how_long_it_has_stopped_processes() -> None:
    found = rows(
        replace(SERVER, limits=MachineLimits(cpus=1.5, memory_bytes=None)), replace(QUIET, throttled_ns=2_500_000_000)
    )
    limits = {row.name: row.value for row in found}["limits"]
    assert limits == "1.5 cores' time (cgroup v2), stopped for 2.5 s in all"


def test_the_turbos_own_switch_is_named() -> None:
    no_turbo = "/sys/devices/system/cpu/intel_pstate/no_turbo"
    found = {row.name: row.advice for row in rows(replace(SERVER, turbo=True, turbo_switch=no_turbo))}
    assert found["turbo"].endswith(f"echo 1 > {no_turbo}")
    found = {row.name: row.advice for row in rows(replace(SERVER, turbo=True))}
    assert found["turbo"].endswith("echo 0 > /sys/devices/system/cpu/cpufreq/boost")


def test_a_cache_that_does_not_exist_yet_is_well(tmp_path: Path) -> None:
    assert cache_row(tmp_path / "not" / "yet").state == "ok"


def test_a_cache_below_a_file_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert cache_row(tmp_path / "file" / "cache").state == "missing"


def test_every_row_appears_once_for_this_machine(tmp_path: Path) -> None:
    runtimes = [RUNTIMES["java"], *(runtime for key, runtime in RUNTIMES.items() if key != "java")]
    found = diagnose(tmp_path, tmp_path, tmp_path, NEEDED, runtimes, seconds=0.05)
    names = [row.name for row in found.rows]
    assert len(names) == len(set(names)) == 29
    assert msgspec.json.decode(msgspec.json.encode(found), type=Diagnosis) == found


def test_a_machine_that_shows_nothing_is_looked_at_without_an_error(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    seen = observe(Isolation(), 0.01, tmp_path)
    assert (seen.load.seen, seen.cgroup, seen.throttled_ns) == (False, None, None)
    assert 0 <= seen.clock_read_ns < 100_000


def test_programs_get_the_same_rows_as_json() -> None:
    done = subprocess.run(
        (sys.executable, "-m", "tracetax", "doctor", "--json"), capture_output=True, text=True, check=False
    )
    found = msgspec.json.decode(done.stdout, type=Diagnosis)
    assert {"cores", "isolation", "clock", "other run"} <= {row.name for row in found.rows}
    missing = any(row.state == "missing" for row in found.rows)
    assert done.returncode == (ExitCode.ENVIRONMENT if missing else ExitCode.OK)
