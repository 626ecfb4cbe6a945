"""Trials of the functions of the tests."""

from pathlib import Path

from msgspec.structs import replace

from tests.functions.repository import KEY, repository
from tests.run.stand_ins import QUICK
from tests.services.trials import equipped, folder, planned
from tracetax.kinds.functions import FunctionParameters
from tracetax.kinds.requests import Weighted
from tracetax.model import FULL, Use
from tracetax.results.records import TrialRecord
from tracetax.run.trial import run_trial

QUIET, SENT, BATCHED = Use("fake", "quiet"), Use("fake", "sent"), Use("fake", "batched")
WARM = FunctionParameters(calls=300, rate=300.0, mix=(Weighted("sum", 1),), connections=8, host="plain")
COLD = FunctionParameters(calls=1, rate=FULL, mix=(Weighted("sum", 1),), connections=1, host="plain", cold=True)
FEW = replace(QUICK, start=10.0, end=2.0)


def trial(
    tmp_path: Path, use: Use, parameters: FunctionParameters, *, behaviour: str = "", first: bool = True
) -> TrialRecord:
    """One trial of a function of the tests; ``behaviour`` is what its host does wrong."""
    equipment, part = equipped(repository(tmp_path), KEY, use, parameters)
    config = equipment.configuration(use.agent, use.configuration)
    environment = config.environment | ({"BEHAVIOUR": behaviour} if behaviour else {})
    plan = planned(part, use, replace(config, environment=environment), first=first)
    return run_trial(plan, replace(equipment, limits=FEW), folder(tmp_path / "run", part, equipment), lambda _: None)
