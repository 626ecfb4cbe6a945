"""``pip`` and ``npm`` in ``[[prepare]]``: what a lock pins is installed by the real clients, and failures say why."""

import base64
import functools
import hashlib
import http.server
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Generator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tracetax.artifacts import Workplace, packages, prepared
from tracetax.artifacts.cache import BUILT
from tracetax.errors import UserError
from tracetax.preparation import Packages, PrepareStep

NODE = shutil.which("node")
needs_npm = pytest.mark.skipif(NODE is None or shutil.which("npm") is None, reason="needs Node and npm")
PIP = PrepareStep("packages", pip=Packages("{agent.files}/requirements.lock"))
NPM = PrepareStep("packages", npm=Packages("{agent.files}/package-lock.json"))
PACKAGE = {"name": "own", "version": "1.0.0", "main": "own.js", "scripts": {"postinstall": "touch it-ran"}}


@pytest.fixture
def place(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """An agent's folder for the Python of the tests, on a machine without a network but itself."""
    folder = tmp_path / "agents" / "tracer" / "python"
    (folder / "files").mkdir(parents=True)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_FIND_LINKS": "",
        "PIP_RETRIES": "1",
        "npm_config_userconfig": os.devnull,
        "npm_config_registry": "http://127.0.0.1:9/",
        "npm_config_cache": str(tmp_path / "npm-cache"),
        "npm_config_fetch_retries": "0",
        "no_proxy": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    return Workplace(
        agent="tracer",
        folder=folder,
        artifacts={},
        classes=tmp_path,
        sources=tmp_path,
        monitored={},
        cache=cache,
        interpreter=Path(sys.executable),
        runs_on="3.11.7",
    )


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def failure(step: PrepareStep, place: Workplace) -> str:
    with pytest.raises(UserError) as caught:
        prepared([step], place)
    assert not list((place.cache / BUILT).glob("tracer-*"))
    message = str(caught.value)
    assert message.startswith('The folder "packages" of tracer could not be ')
    assert f"{place.folder / 'agent.toml'}, [[prepare]]" in message
    return message


def wheel(folder: Path, tag: str = "py3-none-any", text: str = "ANSWER = 42\n") -> Path:
    """A wheel of the module ``own`` 1.0."""
    path = folder / f"own-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("own.py", text)
        archive.writestr("own-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
        archive.writestr("own-1.0.dist-info/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr("own-1.0.dist-info/RECORD", "own.py,,\n")
    return path


def pin(place: Workplace, requirement: str, sha256: str = "0" * 64) -> Path:
    """Write the lock."""
    lock = place.folder / "files" / "requirements.lock"
    lock.write_text(f"{requirement} --hash=sha256:{sha256}\n" if sha256 else f"{requirement}\n")
    return lock


def pinned(place: Workplace, path: Path) -> Path:
    """Write the lock that pins a wheel."""
    return pin(place, f"own @ {path.as_uri()}", hashlib.sha256(path.read_bytes()).hexdigest())


def test_a_pinned_wheel_is_installed_once_and_compiled(place: Workplace, tmp_path: Path) -> None:
    pinned(place, wheel(tmp_path))
    said: list[str] = []
    folder = prepared([PIP], place, said.append)["packages"]
    assert {"own.py", "own-1.0.dist-info/METADATA"} <= files(folder)
    assert any(name.startswith("__pycache__/own.") for name in files(folder))
    code = "import own; print(own.ANSWER)"
    environment = {"PYTHONPATH": str(folder)}
    done = subprocess.run((sys.executable, "-c", code), env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "42\n"
    assert prepared([PIP], place, said.append)["packages"] == folder  # nothing was written into it
    assert said == ["preparing packages of tracer", "installing packages of tracer by pip"]


def test_another_lock_or_another_python_makes_another_folder(place: Workplace, tmp_path: Path) -> None:
    pinned(place, wheel(tmp_path))
    first = prepared([PIP], place)["packages"]
    assert prepared([PIP], replace(place, runs_on="3.12.1"))["packages"] != first
    pinned(place, wheel(tmp_path, text="ANSWER = 43\n"))
    assert prepared([PIP], place)["packages"] != first


def test_a_wheel_that_is_not_the_pinned_one_is_refused(place: Workplace, tmp_path: Path) -> None:
    lock = pin(place, f"own @ {wheel(tmp_path).as_uri()}")
    message = failure(PIP, place)
    assert "What came is not what the lock pins" in message
    assert f"The lock is {lock}." in message
    assert Path(message.rpartition("whole output: ")[2]).is_file()


def test_a_lock_without_checksums_is_refused(place: Workplace, tmp_path: Path) -> None:
    pin(place, f"own @ {wheel(tmp_path).as_uri()}", "")
    assert "The lock must pin every package" in failure(PIP, place)


def test_without_a_network_pip_says_so(place: Workplace) -> None:
    pin(place, "own==1.0")
    assert "Is there a network?" in failure(PIP, place)


def test_a_package_without_a_wheel_for_this_python_is_told(
    place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel(tmp_path, tag="cp27-cp27mu-any").parent))
    pin(place, "own==1.0")
    assert "There is no wheel of it for Python 3.11.7, " in failure(PIP, place)


def test_a_client_that_takes_too_long_is_ended(
    place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "SECONDS", 0.01)
    pinned(place, wheel(tmp_path))
    assert "was ended after 0 s without a result" in failure(PIP, place)


@pytest.mark.parametrize("step", [PIP, NPM])
def test_a_lock_that_is_not_there_is_named(place: Workplace, step: PrepareStep) -> None:
    assert "is not there" in failure(step, place)


def test_where_nothing_runs_the_workload_nothing_can_be_installed(place: Workplace, tmp_path: Path) -> None:
    pinned(place, wheel(tmp_path))
    message = failure(PIP, replace(place, interpreter=None))
    assert "pip installs for what the workload runs on, and nothing runs this one" in message


class Registry(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and writes nothing about it."""

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    """A registry of this machine with one package; yields that package's integrity."""
    folder = tmp_path / "registry"
    folder.mkdir()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in {"package.json": json.dumps(PACKAGE), "own.js": "module.exports = 42\n"}.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    (folder / "own-1.0.0.tgz").write_bytes(packed.getvalue())
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(packed.getvalue()).digest()).decode()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Registry, directory=folder)) as server:
        address = f"http://127.0.0.1:{server.server_port}"
        version = {**PACKAGE, "dist": {"tarball": f"{address}/own-1.0.0.tgz", "integrity": integrity}}
        versions = {number: {**version, "version": number} for number in ("1.0.0", "2.0.0")}
        listing = {"name": "own", "dist-tags": {"latest": "1.0.0"}, "versions": versions}
        (folder / "own").write_text(json.dumps(listing))
        monkeypatch.setenv("npm_config_registry", f"{address}/")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield integrity
        server.shutdown()
        thread.join()


@pytest.fixture
def node(place: Workplace) -> Workplace:
    return replace(place, interpreter=Path(str(NODE)), runs_on="20.20.2")


def write_lock(place: Workplace, integrity: str, asked: str = "1.0.0") -> None:
    """The lock of one package without an address, as ``--omit-lockfile-registry-resolved`` writes it."""
    project = {"name": "agent", "version": "0.0.0"}
    lock = {
        **project,
        "lockfileVersion": 3,
        "requires": True,
        "packages": {
            "": {**project, "dependencies": {"own": "1.0.0"}},
            "node_modules/own": {"version": "1.0.0", "integrity": integrity, "hasInstallScript": True},
        },
    }
    folder = place.folder / "files"
    (folder / "package-lock.json").write_text(json.dumps(lock))
    (folder / "package.json").write_text(json.dumps({**project, "dependencies": {"own": asked}}))


@needs_npm
def test_a_locked_package_is_installed_once_and_its_scripts_are_not_run(node: Workplace, registry: str) -> None:
    write_lock(node, registry)
    said: list[str] = []
    folder = prepared([NPM], node, said.append)["packages"]
    installed = {name for name in files(folder) if name.startswith("node_modules/own/")}
    assert installed == {"node_modules/own/package.json", "node_modules/own/own.js"}
    environment = {"NODE_PATH": str(folder / "node_modules")}
    words = (str(NODE), "-p", "require('own')")
    assert subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout == "42\n"
    assert prepared([NPM], node, said.append)["packages"] == folder
    assert said == ["preparing packages of tracer", "installing packages of tracer by npm"]
    assert prepared([NPM], replace(node, runs_on="24.19.0"))["packages"] != folder


@needs_npm
def test_a_package_that_is_not_the_locked_one_is_refused(node: Workplace, registry: str) -> None:
    write_lock(node, "sha512-" + base64.b64encode(bytes(64)).decode())
    assert "What came is not what the lock pins" in failure(NPM, node)


@needs_npm
def test_a_lock_that_does_not_go_with_its_package_json_is_refused(node: Workplace, registry: str) -> None:
    write_lock(node, registry, asked="2.0.0")
    message = failure(NPM, node)
    assert "The lock does not go with package.json beside it" in message
    assert f"The lock is {node.folder / 'files' / 'package-lock.json'}." in message


@needs_npm
def test_without_a_network_npm_says_so(node: Workplace) -> None:
    write_lock(node, "sha512-" + base64.b64encode(bytes(64)).decode())
    assert "Is there a network?" in failure(NPM, node)


@needs_npm
def test_a_lock_without_its_package_json_is_refused(node: Workplace) -> None:
    (node.folder / "files" / "package-lock.json").write_text("{}")
    assert "package.json is missing beside the lock" in failure(NPM, node)


def test_without_npm_the_way_to_it_is_told(place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (place.folder / "files" / "package-lock.json").write_text("{}")
    with pytest.raises(UserError, match=r"npm is missing.*apt-get install npm"):
        prepared([NPM], replace(place, interpreter=tmp_path / "bin" / "node"))
