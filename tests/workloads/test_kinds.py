"""The kind of a workload is found by the name of its folder."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import WORKLOAD
from tracetax.errors import UserError
from tracetax.kinds.calltree import TreeParameters
from tracetax.workloads import calltree
from tracetax.workloads.kinds import DriverFiles, kind_of


def test_it_is_the_module_of_that_name() -> None:
    assert kind_of(WORKLOAD) is calltree
    assert kind_of(replace(WORKLOAD, key="calltree/another")) is calltree


@pytest.mark.parametrize("key", ["calltrees/java", "heap/java", "driver/java"])
def test_a_kind_that_is_not_there_is_told_with_its_module(key: str) -> None:
    with pytest.raises(UserError, match=f'{key} is of the kind ".*", which Tracetax does not know'):
        kind_of(replace(WORKLOAD, key=key))


def test_a_call_tree_is_told_its_parameters() -> None:
    parameters = TreeParameters(calls=7, depth=3, rate=2.5, threads=2, wait="park", start_up_methods=1)
    said = calltree.arguments(parameters, DriverFiles(Path("/out"), Path("/status")), WORKLOAD)
    assert dict(zip(said[::2], said[1::2], strict=True)) == {
        "--calls": "7",
        "--depth": "3",
        "--method-time-ns": "0",
        "--threads": "2",
        "--rate": "2.5",
        "--wait": "park",
        "--start-up": "tracetax.generated.StartUp",
        "--out": "/out",
        "--status": "/status",
    }
