"""Options that were typed arrive in the request of their command, and ``--help`` has words for each."""

import shlex
from pathlib import Path

import pytest

from tracetax.cli import app
from tracetax.commands.options import typed_as
from tracetax.commands.request import CapacityRequest, CheckRequest, Request, refuse_fixed
from tracetax.errors import UserError

RUN = """run --agent a,b --configuration c --rate 1000/s --depth 2 --calls 3 --threads 4 --jdk 17,21 --collector G1
--heap "2 GiB" --workload calltree/python --set a=1,2 --set b=c --blocks 5 --half-width "1 %" --budget 6min --seed 7
--out o --resume r --artifact a.b=x --artifact a.c=y,z --backend s --backend t --agents-dir p --agents-dir q --fast
--as-published --fail-if slower --dry-run"""
CAPACITY = """capacity --agent a --configuration c --depth 2 --threads 4 --jdk 21 --collector Z --heap 1GiB --workload w
--set a=1 --seconds 8s --lowest 9/s --further 10 --budget 6min --artifact a.b=x --agents-dir p --out o --resume r"""
CHECK = "check-agent mine otlp --agents-dir p --artifact a.b=x --jdk 21 --workload w --set a=1 --out o --pin"


def typed(words: str) -> object:
    """The request that a command is called with."""
    return app.parse_args(shlex.split(words), print_error=False, exit_on_error=False)[1].arguments["request"]


def test_every_option_of_run_arrives() -> None:
    assert typed(RUN) == Request(
        agent="a,b",
        configuration="c",
        rate="1000/s",
        depth=2,
        calls=3,
        threads=4,
        jdk="17,21",
        collector="G1",
        heap="2 GiB",
        workload="calltree/python",
        settings=("a=1,2", "b=c"),
        blocks=5,
        half_width="1 %",
        budget="6min",
        seed=7,
        out=Path("o"),
        resume=Path("r"),
        artifacts=("a.b=x", "a.c=y,z"),
        backends=("s", "t"),
        agents_dirs=(Path("p"), Path("q")),
        fast=True,
        as_published=True,
        fail_if="slower",
        dry_run=True,
    )


def test_every_option_of_capacity_and_of_check_agent_arrives() -> None:
    assert typed(CAPACITY) == CapacityRequest(
        agent="a",
        configuration="c",
        depth=2,
        threads=4,
        jdk="21",
        collector="Z",
        heap="1GiB",
        workload="w",
        settings=("a=1",),
        seconds="8s",
        lowest="9/s",
        further=10,
        budget="6min",
        artifacts=("a.b=x",),
        agents_dirs=(Path("p"),),
        out=Path("o"),
        resume=Path("r"),
    )
    assert typed(CHECK) == CheckRequest(
        agents_dirs=(Path("p"),),
        artifacts=("a.b=x",),
        workload="w",
        settings=("a=1",),
        jdk=21,
        out=Path("o"),
        pin=True,
    )


@pytest.mark.parametrize("command", ["run", "capacity", "check-agent"])
def test_help_has_words_for_every_option(command: str) -> None:
    options = [
        argument
        for argument in app[command].assemble_argument_collection(parse_docstring=True)
        if argument.parse and not argument.children
    ]
    assert options
    assert [argument.name for argument in options if not argument.parameter.help] == []


def test_a_field_is_called_as_it_is_typed() -> None:
    assert typed_as(Request, "agents_dirs") == "--agents-dir"
    assert typed_as(Request, "half_width") == "--half-width"
    assert typed_as(Request, "experiment") == "EXPERIMENT"


def test_a_resume_names_an_experiment_as_it_was_typed() -> None:
    with pytest.raises(UserError, match="EXPERIMENT, --seed: a run goes on as it began"):
        refuse_fixed(Request(experiment="quick", seed=1))
