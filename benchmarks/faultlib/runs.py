"""A run of the tool in a folder of its own, to which something is done at a random moment."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from faultlib.tools import end, go_on, pause, start

HERE = Path(__file__).resolve().parent
IMPATIENT = (sys.executable, str(HERE / "impatient.py"))
BLOCKS = 2
EXPERIMENT = f"""
title = "Faults"
workload = "calltree/java"
result = false
[parameters]
calls = 2_000
depth = 10
[jvm]
heap = "64 MiB"
[[configurations]]
agent = "kieker"
use = ["binary-tcp"]
[schedule]
blocks = {{ min = {BLOCKS}, max = {BLOCKS} }}
budget = "1h"
memory = false
"""
END_SECONDS = 90.0
GONE_SECONDS = 10.0


class Missed(Exception):
    """The run was over before the fault could be injected; another moment is tried."""


class Skipped(Exception):
    """This machine cannot have this fault; the message says why."""


def finished_trials(run: Path) -> dict[str, str]:
    """Each finished trial with the checksum of all that it holds."""
    found: dict[str, str] = {}
    for folder in sorted((run / "trials").glob("[0-9]*")):
        digest = hashlib.sha256()
        for file in sorted(folder.iterdir()):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
        found[folder.name] = digest.hexdigest()
    return found


def lost_trials(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Finished trials that are gone or changed."""
    return [name for name, checksum in before.items() if after.get(name) != checksum]


def processes_of(folder: Path) -> list[str]:
    """Command lines of living processes that name a folder or hold a file in it open."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            links = [str(link.readlink()) for link in (path / "fd").iterdir()]
        except OSError:
            continue
        if (str(folder) in command or any(str(folder) in link for link in links)) and path.name != str(os.getpid()):
            found.append(command[:120])
    return found


def await_none_of(folder: Path) -> None:
    """Wait until no process has to do with a folder, 10 s at most: killed ones take a moment."""
    until = time.monotonic() + GONE_SECONDS
    while processes_of(folder) and time.monotonic() < until:
        time.sleep(0.05)


def wrapped_jdk(place: Path) -> Path:
    """A JDK's home whose java follows orders: see java.py."""
    found = os.environ.get("JAVA_HOME") or shutil.which("java")
    if found is None:
        raise SystemExit("There is no JDK.   (./tracetax doctor)")
    real = Path(found).resolve()
    home = real if real.is_dir() else real.parent.parent
    programs = place / "bin"
    programs.mkdir(parents=True)
    for name in ("release", "lib", "conf"):
        if (home / name).exists():
            (place / name).symlink_to(home / name)
    (programs / "javac").symlink_to(home / "bin/javac")
    (programs / "java.real").symlink_to(home / "bin/java")
    (programs / "java").write_text(f"#!{sys.executable} -IS\n" + (HERE / "java.py").read_text())
    (programs / "java").chmod(0o755)
    return place


class Unharmed:
    """A run to which nothing was done: what complete findings look like, and how long a run takes."""

    def __init__(self, place: Path) -> None:
        """Make it in ``place``."""
        self.jdk = wrapped_jdk(place / "jdk")
        self.experiment = place / "faults.toml"
        self.experiment.write_text(EXPERIMENT)
        scene = Scene(place / "unharmed", random.Random(0), self)
        scene.start()
        while not scene.exists and scene.running[-1].poll() is None:
            pause(0.02)
        begun = time.monotonic()
        scene.end(0)
        self.seconds = time.monotonic() - begun
        self.run = scene.run
        if scene.wrong:
            raise SystemExit(f"The run without a fault failed: {'; '.join(scene.wrong)}\n{scene.printed}")

    @property
    def findings(self) -> dict[str, Any]:
        """Its findings."""
        return json.loads((self.run / "findings.json").read_text())


class Scene:
    """One run to be harmed. What is not as it should be is noted in ``wrong``."""

    def __init__(self, folder: Path, rng: random.Random, unharmed: Unharmed) -> None:
        """Make the folder; nothing runs yet."""
        self.folder = folder
        self.rng = rng
        self.unharmed = unharmed
        self.run = folder / "run"
        self.log = folder / "printed.txt"
        self.orders = folder / "tmp" / "orders"
        self.orders.mkdir(parents=True)
        self.seed = str(rng.randrange(1 << 30))
        self.moment = 0.0
        self.before: dict[str, str] = {}
        self.damaged: set[str] = set()
        """Finished trials that the fault itself has spoilt."""
        self.statuses: list[int] = []
        self.left: list[str] = []
        self.wrong: list[str] = []
        self.remark = ""
        self.added = {"TRACETAX_FAULTS_UNDISTURBED": "1"}
        self.around: tuple[str, ...] = ()
        """A command that the tool is started by."""
        self.running: list[subprocess.Popen[bytes]] = []

    def tool(self, *words: str, **added: str) -> subprocess.Popen[bytes]:
        """Start the tool with these words after ``./tracetax``."""
        own = {
            "TMPDIR": str(self.folder / "tmp"),
            "TRACETAX_FAULTS_LOCK": str(self.folder / "tracetax.lock"),
            "JAVA_HOME": str(self.unharmed.jdk),
        }
        begun = start(words, self.log, (*self.around, *IMPATIENT), **{**own, **self.added, **added})
        self.running.append(begun)
        return begun

    def start(self, **added: str) -> None:
        """Start the run, or go on with it if it is there."""
        if self.exists:
            self.tool("run", "--resume", str(self.run), **added)
        else:
            self.tool("run", str(self.unharmed.experiment), "--out", str(self.run), "--seed", self.seed, **added)

    def resume(self, *words: str, **added: str) -> None:
        """Go on with the run."""
        self.tool("run", "--resume", str(self.run), *words, **added)

    def take_finished(self) -> None:
        """Take a copy of the finished run instead of making one; it is resumed for one more block."""
        shutil.copytree(self.unharmed.run, self.run)
        self.before = finished_trials(self.run)

    @property
    def exists(self) -> bool:
        """Whether there is a run folder."""
        return (self.run / "manifest.json").exists()

    @property
    def printed(self) -> str:
        """What the tool has printed so far."""
        return " ".join(self.log.read_text(errors="replace").split())

    def random_moment(self, until: float = 1.0) -> None:
        """Wait for a random moment in this share of the run; remember what was finished then."""
        self.moment = self.rng.uniform(0.0, until * self.unharmed.seconds)
        while not self.exists:
            self.must_run()
            time.sleep(0.01)
        pause(self.moment)
        self.must_run()
        self.before = finished_trials(self.run)

    def must_run(self) -> None:
        """Raise Missed where the run is over, Stopped where the script is."""
        go_on()
        if self.running[-1].poll() is not None:
            raise Missed

    def child(self, option: str) -> psutil.Process:
        """The tool's living child with this option: the JVM has ``--status``, the sink ``--record-name``."""
        while True:
            self.must_run()
            try:
                for process in psutil.Process(self.running[-1].pid).children():
                    if option in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                        return process
            except psutil.Error:
                pass
            time.sleep(0.01)

    def jvm(self) -> psutil.Process:
        """The JVM of the trial that runs, or of the next one."""
        return self.child("--status")

    def sink(self) -> psutil.Process:
        """The sink of the trial that runs, or of the next one."""
        return self.child("--record-name")

    def order(self, **what: object) -> None:
        """Have this done to the JVM of the next trial."""
        part = self.orders / "part"
        part.write_text(json.dumps(what))
        part.rename(self.orders / "next")

    def order_taken(self) -> None:
        """Wait until a trial has taken the order; Missed where none has."""
        while not (self.orders / "taken").exists():
            self.must_run()
            time.sleep(0.01)

    def end(self, *expected: int, says: str = "") -> None:
        """Wait for the tool's end: its status must be one of ``expected``, and nothing of it may be left."""
        tool = self.running[-1]
        try:
            status = tool.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            tool.send_signal(signal.SIGABRT)
            tool.kill()
            status = tool.wait()
            self.wrong.append(f"did not end within {END_SECONDS:.0f} s")
        go_on()
        self.statuses.append(status)
        if expected and status not in expected:
            self.wrong.append(f"exit status {status}, not {' or '.join(map(str, expected))}")
        printed = self.printed
        if "Traceback" in printed:
            self.wrong.append("a stack trace")
        if says and says not in printed:
            self.wrong.append(f"does not say {says!r}")
        self.look_for_processes()

    def look_for_processes(self) -> None:
        """Note processes that are left half a second after the tool's end."""
        time.sleep(0.2)
        self.left += [one for one in processes_of(self.folder) if "tracetax.lock" not in one]

    def clean_up(self) -> None:
        """End what still runs."""
        for tool in self.running:
            end(tool)
            tool.wait()
