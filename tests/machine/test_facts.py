"""Facts read from /proc and /sys, real and written by the test."""

from pathlib import Path

import msgspec
import pytest

from tracetax.machine.facts import Machine, machine_facts
from tracetax.machine.limits import MachineLimits, cgroup_version, memory_available, read_limits, usable_cores


def four(_pid: int) -> set[int]:
    return {0, 1, 2, 3}


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_this_machine_can_be_read_and_kept_as_json(tmp_path: Path) -> None:
    machine = machine_facts(tmp_path)
    assert machine.cores >= 1
    assert machine.memory_bytes > 0
    assert machine.disk_free_bytes > 0
    assert msgspec.json.decode(msgspec.json.encode(machine), type=Machine) == machine


def test_what_cannot_be_seen_is_none(tmp_path: Path) -> None:
    machine = machine_facts(tmp_path, root=tmp_path)
    assert (machine.governor, machine.turbo, machine.smt, machine.clock_source, machine.virtualised) == (None,) * 5
    assert machine.cpu == machine.architecture
    assert machine.mitigations == {}
    assert machine.limits == MachineLimits(cpus=None, memory_bytes=None)


def test_governors_that_differ_are_all_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", four)
    governors = ("performance", "powersave", "performance", "powersave")
    files = {
        f"sys/devices/system/cpu/cpu{number}/cpufreq/scaling_governor": name for number, name in enumerate(governors)
    }
    assert machine_facts(tmp_path, write(tmp_path, files)).governor == "performance, powersave"


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({}, None),
        ({"proc/self/cgroup": "0::/\n"}, None),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.stat": "usage_usec 1\n"}, "v2"),
        ({"proc/self/cgroup": "1:cpu:/\n0::/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n"}, "v1"),
    ],
)
def test_the_version_of_control_groups_is_told(tmp_path: Path, files: dict[str, str], version: str | None) -> None:
    assert cgroup_version(write(tmp_path, files)) == version


def test_a_server_is_described(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "proc/cpuinfo": "processor : 0\nmodel name\t: Big Chip 9000\nflags\t\t: fpu tsc\n",
            "proc/meminfo": "MemTotal:       1024 kB\nSwapTotal:        512 kB\n",
            "etc/os-release": 'NAME="X"\nPRETTY_NAME="X Linux 12"\n',
            "sys/devices/system/cpu/smt/active": "1\n",
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
            "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "powersave\n",
            "sys/devices/system/cpu/intel_pstate/no_turbo": "0\n",
            "sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
            "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
            "sys/devices/system/cpu/vulnerabilities/meltdown": "Not affected\n",
            "sys/devices/system/cpu/vulnerabilities/spectre_v2": "Mitigation: Retpolines\n",
            "sys/devices/system/node/node0/cpulist": "0\n",
            "sys/devices/system/node/node1/cpulist": "1\n",
        },
    )
    machine = machine_facts(tmp_path, root)
    assert machine.cpu == "Big Chip 9000"
    assert (machine.memory_bytes, machine.swap_bytes) == (1024 * 1024, 512 * 1024)
    assert machine.os == "X Linux 12"
    assert (machine.smt, machine.governor, machine.turbo) == (True, "powersave", True)
    assert machine.turbo_switch == "/sys/devices/system/cpu/intel_pstate/no_turbo"
    assert (machine.clock_source, machine.transparent_huge_pages) == ("hpet", "madvise")
    assert machine.mitigations == {"spectre_v2": "Mitigation: Retpolines"}
    assert machine.numa_nodes == 2
    assert machine.virtualised is None


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"proc/cpuinfo": "flags : fpu hypervisor\n"}, "unnamed hypervisor"),
        ({"proc/cpuinfo": "flags : hypervisor\n", "sys/class/dmi/id/product_name": "KVM\n"}, "KVM"),
        ({"sys/hypervisor/type": "xen\n"}, "xen"),
        ({"proc/cpuinfo": "flags : fpu\n", "sys/class/dmi/id/product_name": "PowerEdge\n"}, None),
    ],
)
def test_a_virtual_machine_is_recognised(tmp_path: Path, files: dict[str, str], name: str | None) -> None:
    assert machine_facts(tmp_path, write(tmp_path, files)).virtualised == name


def test_limits_of_version_2_are_the_tightest_of_all_ancestors(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/a/b\n",
            "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
            "sys/fs/cgroup/a/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/a/b/memory.max": "2000\n",
            "sys/fs/cgroup/a/memory.max": "1000\n",
        },
    )
    assert read_limits(tmp_path) == MachineLimits(cpus=1.5, memory_bytes=1000)


def test_limits_of_version_1_are_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/x\n1:cpu:/\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "3000\n",
        },
    )
    assert read_limits(tmp_path) == MachineLimits(cpus=2.0, memory_bytes=3000)


def test_no_limit_is_none(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/\n1:cpu:/\n0::/\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/cpu.max": "max 100000\n",
            "sys/fs/cgroup/memory.max": "max\n",
        },
    )
    assert read_limits(tmp_path) == MachineLimits(cpus=None, memory_bytes=None)


@pytest.mark.parametrize(("quota", "cores"), [("max", 4), ("800000", 4), ("250000", 3), ("100000", 1), ("5000", 1)])
def test_usable_are_the_cores_of_the_affinity_or_fewer_by_quota(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, cores: int
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", four)
    write(tmp_path, {"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": f"{quota} 100000\n"})
    assert usable_cores(tmp_path) == cores
    assert machine_facts(tmp_path, tmp_path).cores == cores


MEMORY = {"proc/meminfo": "MemTotal: 64 kB\nMemAvailable:   32 kB\n"}


def test_without_a_limit_the_machines_free_memory_is_available(tmp_path: Path) -> None:
    files = {"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}
    assert memory_available(write(tmp_path, MEMORY | files)) == 32 * 1024


def test_a_limit_leaves_what_its_group_has_not_used(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/a/b\n",
        "sys/fs/cgroup/a/memory.max": "10000\n",
        "sys/fs/cgroup/a/memory.current": "8000\n",
        "sys/fs/cgroup/a/memory.stat": "anon 7000\ninactive_file 1000\n",
        "sys/fs/cgroup/a/b/memory.max": "9000\n",
        "sys/fs/cgroup/a/b/memory.current": "500\n",
    }
    assert memory_available(write(tmp_path, MEMORY | files)) == 10000 - (8000 - 1000)


def test_a_limit_of_version_1_leaves_what_its_group_has_not_used(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "4:memory:/x\n",
        "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "10000\n",
        "sys/fs/cgroup/memory/x/memory.usage_in_bytes": "8000\n",
        "sys/fs/cgroup/memory/x/memory.stat": "inactive_file 1\ntotal_inactive_file 1000\n",
    }
    assert memory_available(write(tmp_path, MEMORY | files)) == 10000 - (8000 - 1000)


def test_a_group_over_its_limit_has_nothing_left(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/\n",
        "sys/fs/cgroup/memory.max": "1000\n",
        "sys/fs/cgroup/memory.current": "2000\n",
    }
    assert memory_available(write(tmp_path, MEMORY | files)) == 0
