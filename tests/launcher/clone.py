"""A clone with a one-package lock, a PATH of its own, and stand-ins for apt-get, JDK and Maven."""

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PROGRAMS = (
    "bash",
    "cat",
    "chmod",
    "cmp",
    "cp",
    "cut",
    "env",
    "flock",
    "ln",
    "mkdir",
    "readlink",
    "rm",
    "sed",
    "sleep",
    "tail",
)

CLI = """\
import json, os, sys
import tiny
names = ("JAVA_HOME", "HOME", "TRACETAX_CACHE", "PATH", "PYTHONPATH")
print(json.dumps({"arguments": sys.argv[1:], "pid": os.getpid(), **{name: os.environ.get(name) for name in names}}))
sys.exit(7 if "fail" in sys.argv else 0)
"""
APT_GET = """\
#!/bin/bash
echo "apt-get $*" >>"$STAND_INS/apt.calls"
[[ $1 == update ]] && exit
[[ -e $STAND_INS/slow ]] && sleep 60
[[ -e $STAND_INS/broken ]] && { echo "E: Unable to fetch some archives"; exit 100; }
mkdir -p "$STAND_INS/jvm"
cp -r "$STAND_INS/jdk-17" "$STAND_INS/jvm/java-17"
cp "$STAND_INS/mvn" "$STAND_INS/bin/mvn"
for package; do : >"$STAND_INS/$package.installed"; done
[[ -e $STAND_INS/g++.installed ]] && cp "$STAND_INS/mvn" "$STAND_INS/bin/c++"
exit 0
"""
DPKG = """\
#!/bin/bash
[[ -e $STAND_INS/$2.installed ]]
"""
APT_CACHE = """\
#!/bin/bash
[[ $2 == openjdk-17-jdk-headless ]] && echo "  Candidate: 17.0.15+6-1"
"""


@dataclass
class Clone:
    """A clone, and the machine around it."""

    root: Path
    stand_ins: Path
    environment: dict[str, str]

    def start(self, *arguments: str, **added: str | None) -> subprocess.CompletedProcess[str]:
        """Run the launcher without a terminal; ``added`` sets variables, None removes them."""
        merged = {**self.environment, **added}
        return subprocess.run(
            (str(self.root / "tracetax"), *arguments),
            env={name: value for name, value in merged.items() if value is not None},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def add_jdk(self, version: str, folder: str) -> Path:
        """Put a JDK of that version where the launcher looks for JDKs."""
        return write_jdk(self.stand_ins / "jvm" / folder, version)

    def add_maven(self) -> None:
        shutil.copy(self.stand_ins / "mvn", self.stand_ins / "bin" / "mvn")

    def add_compiler(self) -> None:
        write_program(self.stand_ins / "bin" / "gcc", "#!/bin/bash\n")

    def apt_calls(self) -> list[str]:
        calls = self.stand_ins / "apt.calls"
        return calls.read_text().splitlines() if calls.exists() else []


def said(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What the CLI's stand-in saw."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write_jdk(home: Path, version: str) -> Path:
    for name in ("java", "javac"):
        write_program(home / "bin" / name, "#!/bin/bash\n")
    (home / "release").write_text(f'IMPLEMENTOR="Test"\nJAVA_VERSION="{version}"\n')
    return home


def write_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def write_wheel(folder: Path, content: str = "", program: str = "tiny/program") -> str:
    """Write the package ``tiny`` 1.0, which holds a module and a ``program``; returns the lock that pins it."""
    wheel = folder / "tiny-1.0-py3-none-any.whl"
    info = "tiny-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", content)
        executable = zipfile.ZipInfo(program)
        executable.external_attr = 0o100755 << 16
        archive.writestr(executable, "#!/bin/sh\n")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(
            f"{info}/RECORD", f"tiny.py,,\n{program},,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n"
        )
    return f"tiny==1.0 \\\n    --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"


def make_clone(base: Path, environment_from: Path | None = None) -> Clone:
    root, stand_ins = base / "a clone", base / "stand-ins"
    package = root / "src" / "tracetax"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(CLI)
    (root / "scripts" / "checks").mkdir(parents=True)
    (root / "scripts" / "checks" / "__main__.py").write_text(CLI.replace('"arguments"', '"checks"'))
    shutil.copy(ROOT / "tracetax", root)
    for script in ("setup.bash", "jdk.bash", "native.bash"):
        text = (ROOT / "scripts" / script).read_text()
        changed = text.replace("EUID", "FAKE_EUID").replace("/usr/lib/jvm", f'"{stand_ins}/jvm"')
        (root / "scripts" / script).write_text(changed)

    wheels = base / "wheels"
    wheels.mkdir()
    lock = write_wheel(wheels)
    if environment_from:
        shutil.copytree(environment_from / "a clone" / ".venv", root / ".venv", symlinks=True)
        shutil.copytree(environment_from / "wheels", wheels, dirs_exist_ok=True)
        lock = (environment_from / "a clone" / "requirements.lock").read_text()
    for name in ("requirements.lock", "requirements-test.lock"):
        (root / name).write_text(lock)

    programs = stand_ins / "bin"
    programs.mkdir(parents=True)
    for program in PROGRAMS:
        (programs / program).symlink_to(shutil.which(program) or f"/bin/{program}")
    (programs / "python3").symlink_to(Path(sys.executable).resolve())
    write_program(programs / "apt-get", APT_GET)
    write_program(programs / "apt-cache", APT_CACHE)
    write_program(programs / "dpkg", DPKG)
    write_program(stand_ins / "mvn", "#!/bin/bash\n")
    write_jdk(stand_ins / "jdk-17", "17.0.15")
    home = base / "home"
    home.mkdir()
    environment = {
        "PATH": str(programs),
        "HOME": str(home),
        "STAND_INS": str(stand_ins),
        "FAKE_EUID": "0",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
    }
    return Clone(root, stand_ins, environment)
