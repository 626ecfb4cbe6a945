"""``--floor``: the agent whose file says that it is the floor is measured in each part beside the others."""

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import agents, configuration, experiment
from tracetax.catalog.floors import with_floor
from tracetax.errors import UserError
from tracetax.model import Use

LIMIT, FLAT = configuration("limit"), configuration("flat")
KNOWN = agents(LIMIT, FLAT)
WITH_FLOOR = KNOWN | {"fake": replace(KNOWN["fake"], floor="limit")}
FLOOR = Use("fake", "limit")


def test_the_floor_comes_last_in_each_part() -> None:
    (part,) = with_floor(experiment(FLAT), WITH_FLOOR).parts
    assert part.uses[-1] == FLOOR
    assert part.uses[:-1] == experiment(FLAT).parts[0].uses


def test_a_floor_that_is_measured_already_is_not_measured_twice() -> None:
    assert with_floor(experiment(FLAT, LIMIT), WITH_FLOOR) == experiment(FLAT, LIMIT)


def test_where_no_agent_is_a_floor_that_is_said() -> None:
    with pytest.raises(UserError, match="none says what a complete tracer must cost"):
        with_floor(experiment(FLAT), KNOWN)
