"""``--floor``: the agent whose file says that it is the reference is measured in each part beside the others."""

import pytest
from msgspec.structs import replace

from tests.catalog.conftest import Repository
from tests.catalog.test_agent_file import Change
from tests.run.stand_ins import agents, configuration, experiment
from tracetax.catalog import CatalogError, load_agents
from tracetax.catalog.reference import with_reference
from tracetax.errors import UserError
from tracetax.model import Use

LIMIT, FLAT = configuration("limit"), configuration("flat")
KNOWN = agents(LIMIT, FLAT)
WITH_REFERENCE = KNOWN | {"fake": replace(KNOWN["fake"], reference="limit")}
REFERENCE = Use("fake", "limit")


def test_the_floor_comes_last_in_each_part() -> None:
    (part,) = with_reference(experiment(FLAT), WITH_REFERENCE).parts
    assert part.uses[-1] == REFERENCE
    assert part.uses[:-1] == experiment(FLAT).parts[0].uses


def test_a_floor_that_is_measured_already_is_not_measured_twice() -> None:
    assert with_reference(experiment(FLAT, LIMIT), WITH_REFERENCE) == experiment(FLAT, LIMIT)


def test_where_no_agent_is_a_floor_that_is_said() -> None:
    with pytest.raises(UserError, match="none says what a complete tracer must cost"):
        with_reference(experiment(FLAT), KNOWN)


def test_a_reference_is_one_of_its_agents_configurations(repository: Repository, change: Change) -> None:
    change(repository.tracer, 'language = "java"', 'language = "java"\nreference = "losless"')
    with pytest.raises(CatalogError, match=r'reference.*"losless" is no configuration of it.*lossless'):
        load_agents(repository.root, "java")
