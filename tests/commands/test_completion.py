"""Completion offers what there is, in the place where it may stand; bash takes it as it is."""

import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.command import ROOT
from tracetax.cli import app
from tracetax.commands.completion import candidates, options_of_commands, script
from tracetax.errors import UserError


def offered(line: str) -> list[str]:
    return candidates(line, options_of_commands(app), ROOT)


def test_commands_and_options() -> None:
    assert offered("./tracetax ca") == ["capacity"]
    assert {"run", "list", "completion"} <= set(offered("./tracetax "))
    assert "complete" not in offered("./tracetax ")
    assert offered("./tracetax run --dry") == ["--dry-run"]
    assert offered("./tracetax run --dry-run --dry") == []
    assert offered("./tracetax run --exp") == []


def test_experiments_agents_and_configurations() -> None:
    assert offered("./tracetax run kieker-w") == ["kieker-writers"]
    assert offered("./tracetax run --agent op") == ["opentelemetry"]
    assert offered("./tracetax run --agent kieker,op") == ["kieker,opentelemetry"]
    assert "kieker,kieker" not in offered("./tracetax run --agent kieker,")
    found = offered("./tracetax run --agent inspectit --configuration otlp,otlp-in")
    assert found == ["otlp,otlp-in-background"]
    assert "otlp-in-background" in offered("./tracetax check-agent inspectit ")
    assert offered("./tracetax list configurations insp") == ["inspectit"]
    assert offered("./tracetax run --artifact inspectit.ag") == ["inspectit.agent="]


def test_workloads_and_the_settings_of_what_runs_them() -> None:
    assert offered("./tracetax run --agent none --workload calltree/py") == ["calltree/python"]
    assert offered("./tracetax run --set ") == ["jdk=", "heap=", "collector="]
    assert offered("./tracetax run quick --set collector=G1,S") == ["collector=G1,Serial", "collector=G1,Shenandoah"]
    assert offered("./tracetax run --set collector=P") == ["collector=Parallel"]
    assert offered("./tracetax capacity --workload calltree/node --set ") == ["node="]
    assert offered("./tracetax check-agent kieker --set collector=Se") == ["collector=Serial"]
    assert offered("./tracetax run --collector Se") == ["Serial"]
    assert offered("./tracetax run --workload calltree/python --set ") == []
    assert offered("./tracetax run --workload calltree/node,calltree/py") == ["calltree/node,calltree/python"]
    assert "calltree/node,calltree/node" not in offered("./tracetax run --workload calltree/node,")
    assert offered("./tracetax run --workload calltree/node,calltree/java --set n") == ["node="]
    assert offered("./tracetax run languages --set ") == ["jdk=", "heap=", "collector=", "node="]
    assert offered("./tracetax list work") == ["workloads"]


def test_lists_formats_and_backends() -> None:
    assert offered("./tracetax list exp") == ["experiments"]
    assert offered("./tracetax report runs/a --export mark") == ["markdown"]
    assert offered("./tracetax run --backend zip") == ["zipkin-server"]


def test_runs_are_those_of_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    (tmp_path / "runs" / "a" / "manifest.json").touch()
    monkeypatch.chdir(tmp_path)
    assert offered("./tracetax report ") == ["runs/a"]
    assert offered("./tracetax run --resume runs/") == ["runs/a"]


@pytest.mark.parametrize(
    "line", ["./tracetax run --out ", "./tracetax nonsense ", './tracetax run "', "./tracetax run x y"]
)
def test_where_nothing_is_known_the_shell_offers_files(line: str) -> None:
    assert offered(line) == []


def test_own_agents_are_offered_and_a_broken_file_offers_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "agent.toml").write_text("name = ")
    assert offered(f"./tracetax run --agents-dir {tmp_path} --agent ") == []


def pressed(line: str) -> list[str]:
    """What bash offers when Tab is pressed at the end of a line."""
    words = line.split(" ")
    program = 'source <("$1" completion bash); COMP_LINE=$2; COMP_POINT=${#2}; _tracetax "$1"; echo "${COMPREPLY[@]}"'
    done = subprocess.run(
        ("bash", "-c", program, "bash", words[0], line), capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout.split()


def test_bash_offers_them_through_the_launcher() -> None:
    assert pressed("./tracetax run --agent kieker,op") == ["kieker,opentelemetry"]
    # bash breaks words at colons and equals signs: what stands before them must not come twice
    assert pressed("./tracetax check-agent kieker binary-tcp:aspectj-l") == ["aspectj-load-time"]
    assert pressed("./tracetax run --artifact kieker.agent=bu") == []


def test_a_shell_without_completion_is_named() -> None:
    with pytest.raises(UserError, match="no completion for tcsh"):
        script("tcsh")
