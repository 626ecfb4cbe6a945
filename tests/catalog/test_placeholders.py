from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import Repository
from tracetax.catalog import fill, load_agents
from tracetax.catalog.placeholders import names_in, sink_protocols

Change = Callable[[Path, str, str], None]


def test_names_in_braces_are_replaced_by_their_values() -> None:
    values = {"sink.host": "127.0.0.1", "sink.kieker_tcp.port": "4711"}
    assert fill("-Dto={sink.host}:{sink.kieker_tcp.port}", values) == "-Dto=127.0.0.1:4711"


def test_an_object_of_json_is_no_placeholder() -> None:
    rules = '[{"rate": 0.1, "of": "{monitored.method}"}, {"rate": 1}]'
    assert names_in(rules) == ("monitored.method",)
    assert fill(rules, {"monitored.method": "m"}) == '[{"rate": 0.1, "of": "m"}, {"rate": 1}]'


def test_a_value_with_braces_is_not_filled_in_again() -> None:
    assert fill("{a}", {"a": "{b}", "b": "wrong"}) == "{b}"


def test_a_name_without_a_value_is_never_left_in_a_flag() -> None:
    with pytest.raises(KeyError):
        fill("-Dto={sink.host}", {})


def test_the_sink_must_speak_every_protocol_that_a_flag_points_at(repository: Repository) -> None:
    configurations = load_agents(repository.root, "java")["tracer"].configurations
    assert sink_protocols(configurations["off"]) == {"otlp-http"}
    assert sink_protocols(load_agents(repository.root, "java")["none"].configurations["baseline"]) == frozenset()


DUAL = """
[configurations.dual]
title = "two ports"
layers = ["I", "C", "W"]
delivery = "complete"
protocol = "kieker-dual-tcp"
flags = ["-Dto={sink.kieker_dual_tcp.port}", "-Dstrings={sink.kieker_dual_tcp_strings.port}"]
"""


def test_a_protocol_with_two_ports_must_be_told_both(repository: Repository, change: Change) -> None:
    change(repository.tracer, "[configurations.off]", f"{DUAL}\n[configurations.off]")
    assert repository.problems() == {}
    dual = load_agents(repository.root, "java")["tracer"].configurations["dual"]
    assert sink_protocols(dual) == {"kieker-dual-tcp", "otlp-http"}
    change(repository.tracer, ', "-Dstrings={sink.kieker_dual_tcp_strings.port}"', "")
    problem = repository.problems()["tracer: configurations.dual.protocol"]
    assert 'which needs two ports, but no flag says the second, as "{sink.kieker_dual_tcp_strings.port}"' in problem
