"""A workload's packages are pinned: pip and npm install them beside its sources, Maven fetches them for its classes."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.artifacts.conftest import FakeTool
from tests.artifacts.test_packages import NODE, needs_npm, wheel
from tracetax.artifacts import build_workload
from tracetax.artifacts.cache import BUILT
from tracetax.errors import UserError
from tracetax.machine.toolchain import Interpreter
from tracetax.program import LockedPackages, Monitored, Offers, Workload

IN_PYTHON = Workload(
    key="requests/python",
    title="service",
    runtime="python",
    start=("{runtime}",),
    monitored=Monitored("a.B", "B", "m"),
    least_warm_up_calls=1,
    offers=Offers(1, ("spin",)),
    packages=LockedPackages("pip", "requirements.lock"),
)
IN_NODE = replace(IN_PYTHON, key="requests/node", packages=LockedPackages("npm", "package-lock.json"))
IN_JAVA = replace(
    IN_PYTHON, key="requests/java", sources="src", compile_release=17, packages=LockedPackages("maven", "lib.lock")
)
PYTHON = Interpreter(program=Path(sys.executable), home=Path(sys.prefix), version="3.11.7", release=11, name="Python")
MAVEN = """
for option in "$@"; do case "$option" in
  -DoutputDirectory=*) folder="${{option#*=}}" ;;
esac; done
echo "$@" >> {calls}
mkdir -p "$folder"
{delivers}
"""
JAVAC = """
if [ "$1" = -version ]; then echo "javac 17"; exit 0; fi
while [ $# -gt 0 ]; do
  case "$1" in -d) folder="$2" ;; -cp) class_path="$2" ;; esac
  shift
done
echo "$class_path" > "$folder/Main.class"
"""
JAR = "a jar"
SUM = hashlib.sha256(JAR.encode()).hexdigest()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "repository"


def sources(root: Path, workload: Workload, **files: str) -> Path:
    """Write the files of a workload, in whose names ``__`` is a dot."""
    folder = root / "workloads" / workload.key
    for name, text in {"README.md": "", "workload.toml": "", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def in_python(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    package = wheel(tmp_path)
    pin = f"own @ {package.as_uri()} --hash=sha256:{hashlib.sha256(package.read_bytes()).hexdigest()}\n"
    return sources(root, IN_PYTHON, **{"requirements.lock": pin, "app/main.py": "import own\nprint(own.ANSWER)\n"})


def test_sources_in_python_lie_beside_their_packages(root: Path, cache: Path, in_python: Path) -> None:
    said: list[str] = []
    folder = build_workload(root, IN_PYTHON, cache, said.append, PYTHON)
    command = (sys.executable, "-B", str(folder / "app/main.py"))
    environment = {"PYTHONPATH": str(folder)}
    assert subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout == "42\n"
    assert not {"README.md", "workload.toml"} & names(folder)
    assert build_workload(root, IN_PYTHON, cache, said.append, PYTHON) == folder
    assert said == ["installing packages of the workload requests/python by pip"]


@pytest.mark.parametrize(
    ("name", "again"),
    [("app/main.py", True), ("README.md", False), ("workload.toml", False), ("node_modules/x.js", False)],
)
def test_another_source_makes_another_folder(root: Path, cache: Path, in_python: Path, name: str, again: bool) -> None:
    first = build_workload(root, IN_PYTHON, cache, interpreter=PYTHON)
    sources(root, IN_PYTHON, **{name: "# changed\n"})
    assert (build_workload(root, IN_PYTHON, cache, interpreter=PYTHON) != first) is again


def test_another_lock_or_another_python_makes_another_folder(root: Path, cache: Path, in_python: Path) -> None:
    first = build_workload(root, IN_PYTHON, cache, interpreter=PYTHON)
    other = replace(PYTHON, version="3.12.1")
    assert build_workload(root, IN_PYTHON, cache, interpreter=other) != first
    lock = in_python / "requirements.lock"
    lock.write_text(f"# the same\n{lock.read_text()}")
    assert build_workload(root, IN_PYTHON, cache, interpreter=PYTHON) != first


def test_packages_that_are_not_the_pinned_ones_are_refused_by_the_name_of_the_workload(
    root: Path, cache: Path, in_python: Path
) -> None:
    lock = in_python / "requirements.lock"
    lock.write_text(lock.read_text()[:-65] + "0" * 64)
    with pytest.raises(UserError) as caught:
        build_workload(root, IN_PYTHON, cache, interpreter=PYTHON)
    message = str(caught.value)
    assert message.startswith("The packages of the workload requests/python could not be installed")
    assert "What came is not what the lock pins: the lock is wrong, or the package was changed. " in message
    assert f"The lock is {lock}." in message
    assert not (cache / BUILT).exists()


@needs_npm
def test_sources_in_node_lie_beside_their_packages(root: Path, cache: Path) -> None:
    project = {"name": "service", "version": "0.0.0"}
    lock = {**project, "lockfileVersion": 3, "requires": True, "packages": {"": project}}
    texts = {"package.json": json.dumps(project), "package-lock.json": json.dumps(lock), "main.js": "console.log(42)"}
    sources(root, IN_NODE, **texts)
    node = Interpreter(program=Path(str(NODE)), home=Path("/"), version="20.20.2", release=20, name="Node")
    folder = build_workload(root, IN_NODE, cache, interpreter=node)
    assert {"main.js", "package.json", "package-lock.json"} <= names(folder)


@pytest.fixture
def in_java(root: Path, fake_tool: FakeTool) -> Path:
    fake_tool("javac", JAVAC)
    pins = f"org.example:own:1.0 sha256:{SUM}\n"
    return sources(root, IN_JAVA, **{"lib.lock": pins, "pom.xml": "<project/>", "src/Main.java": "class Main {}"})


def maven(tmp_path: Path, *jars: str) -> str:
    delivers = "\n".join(f"printf '{JAR}' > \"$folder/{jar}\"" for jar in jars)
    return MAVEN.format(calls=tmp_path / "calls", delivers=delivers)


def test_classes_are_compiled_with_the_pinned_jars(
    root: Path, cache: Path, tmp_path: Path, in_java: Path, fake_tool: FakeTool
) -> None:
    fake_tool("mvn", maven(tmp_path, "own-1.0.jar"))
    said: list[str] = []
    folder = build_workload(root, IN_JAVA, cache, said.append)
    assert {"Main.class", "lib/own-1.0.jar"} <= names(folder)
    assert (folder / "Main.class").read_text().rstrip().endswith("/lib/*")
    assert build_workload(root, IN_JAVA, cache, said.append) == folder
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 1
    assert f"-f {in_java / 'pom.xml'} dependency:copy-dependencies" in calls[0]
    assert said == [
        "fetching the libraries of the workload requests/java",
        "compiling the workload requests/java",
    ]


@pytest.mark.parametrize("name", ["lib.lock", "pom.xml"])
def test_another_lock_or_project_makes_other_classes(
    root: Path, cache: Path, tmp_path: Path, in_java: Path, fake_tool: FakeTool, name: str
) -> None:
    fake_tool("mvn", maven(tmp_path, "own-1.0.jar", "more-1.0.jar"))
    more = f"org.example:more:1.0 sha256:{SUM}\n"
    (in_java / "lib.lock").write_text((in_java / "lib.lock").read_text() + more)
    first = build_workload(root, IN_JAVA, cache)
    if name == "lib.lock":
        (in_java / name).write_text(more + f"org.example:own:1.0 sha256:{SUM}\n")
    else:
        (in_java / name).write_text("<project></project>")
    assert build_workload(root, IN_JAVA, cache) != first


@pytest.mark.parametrize(
    ("pins", "jars", "told"),
    [
        ("own:1.0 sha256:" + "0" * 64, ["own-1.0.jar"], f"own-1.0.jar: pinned {'0' * 64}, received {SUM}"),
        (f"own:1.0 sha256:{SUM}", ["own-1.0.jar", "new-2.jar"], f"new-2.jar: pinned not at all, received {SUM}"),
        (f"own:1.0 sha256:{SUM}", [], f"own-1.0.jar: pinned {SUM}, received not at all"),
    ],
)
def test_jars_that_are_not_the_pinned_ones_are_refused(
    root: Path, cache: Path, tmp_path: Path, in_java: Path, fake_tool: FakeTool, pins: str, jars: list[str], told: str
) -> None:
    fake_tool("mvn", maven(tmp_path, *jars))
    (in_java / "lib.lock").write_text(f"org.example:{pins}\n")
    with pytest.raises(UserError) as caught:
        build_workload(root, IN_JAVA, cache)
    message = str(caught.value)
    assert message.startswith("The libraries of the workload requests/java could not be fetched: what Maven delivered")
    assert told in message
    assert f"scripts/lock-jars {in_java}" in message
    assert not (cache / BUILT).exists()


@pytest.mark.parametrize("line", ["org.example:own sha256:00", f"org.example:own:1.0 {SUM}", "", f"own:1 sha256:{SUM}"])
def test_a_line_that_pins_nothing_is_named(
    root: Path, cache: Path, tmp_path: Path, in_java: Path, fake_tool: FakeTool, line: str
) -> None:
    fake_tool("mvn", maven(tmp_path, "own-1.0.jar"))
    (in_java / "lib.lock").write_text(f"{line}\n")
    with pytest.raises(UserError) as caught:
        build_workload(root, IN_JAVA, cache)
    assert f'lib.lock: "{line}" is not "group:artifact:version sha256:…"' in str(caught.value)


def test_without_a_network_maven_says_so(root: Path, cache: Path, in_java: Path, fake_tool: FakeTool) -> None:
    fake_tool("mvn", 'echo "[ERROR] repo.example: Name or service not known"; exit 1')
    with pytest.raises(UserError, match=r"(?s)could not be fetched.*Is there a network\? Maven's own settings hold"):
        build_workload(root, IN_JAVA, cache)
