"""Trials of the service of the tests."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from tests.run.stand_ins import OF_THE_MACHINE, QUICK
from tests.services.repository import KEY, repository
from tracetax.artifacts import cache_dir
from tracetax.catalog.agent_file import every_agent
from tracetax.kinds.requests import RequestParameters, Weighted
from tracetax.machine.isolation import Isolation
from tracetax.model import BASELINE, Configuration, Experiment, Part, Schedule, Use, kind_name, language_of
from tracetax.results.folder import RunFolder
from tracetax.results.manifest import MANIFEST_VERSION, Invocation, Manifest
from tracetax.results.records import Cell, TrialRecord
from tracetax.run.equipment import Equipment
from tracetax.run.plan import TrialPlan, Turn
from tracetax.run.prepare import prepare
from tracetax.run.trial import run_trial

MIX = (Weighted("json", 1), Weighted("rows", 2))
PARAMETERS = RequestParameters(calls=300, rate=300.0, mix=MIX, queries=4, connections=8)
QUIET, SENT = Use("fake", "quiet"), Use("fake", "sent")
FEW = replace(QUICK, start=10.0, end=2.0)


def trial(
    tmp_path: Path,
    use: Use,
    *,
    parameters: RequestParameters = PARAMETERS,
    behaviour: str = "",
    spans: str = "",
    first: bool = True,
    stores: Sequence[str] = (),
    watch: Callable[[str], None] = lambda _: None,
) -> TrialRecord:
    """One trial of the service of the tests; ``behaviour`` is what it does wrong, ``stores`` what it keeps data in."""
    equipment, part = equipped(repository(tmp_path, stores), KEY, use, parameters)
    config = equipment.configuration(use.agent, use.configuration)
    environment = (
        config.environment | ({"BEHAVIOUR": behaviour} if behaviour else {}) | ({"SPANS": spans} if spans else {})
    )
    plan = planned(part, use, replace(config, environment=environment), first=first)
    return run_trial(plan, replace(equipment, limits=FEW), folder(tmp_path / "run", part, equipment), watch)


def planned(part: Part, use: Use, config: Configuration, *, first: bool = True) -> TrialPlan:
    turn = Turn(block=1, block_size=1, cell=Cell(part=part.name, use=use, heap_bytes=0))
    return TrialPlan(number=1, turn=turn, part=part, config=config, first=first)


def equipped(root: Path, key: str, use: Use, parameters: RequestParameters) -> tuple[Equipment, Part]:
    """What trials of a service are set up with, and the part that they belong to."""
    agents = dict(every_agent(root).of(language_of(key), kind_name(key)).agents)
    part = Part(name="p", title="P", parameters=parameters, uses=(use,), settings={})
    what = Experiment(key="e", title="E", workload=key, parts=(part,), schedule=Schedule())
    used = {key: agents[key] for key in {BASELINE.agent, use.agent}}
    return prepare(what, used, root, cache_dir(os.environ), Isolation(), lambda _: None), part


def folder(path: Path, part: Part, equipment: Equipment) -> RunFolder:
    what = Experiment(key="e", title="E", workload=KEY, parts=(part,), schedule=Schedule())
    invocation = Invocation(command=("./tracetax", "run"), started_at="2026-01-01T00:00:00", experiment=what)
    manifest = Manifest(
        version=MANIFEST_VERSION, tool_version="0", seed=1, hashes={}, machine={}, agents=equipment.agents,
        invocations=(invocation,),
    )  # fmt: skip
    return RunFolder.create(path, manifest)


def codes(record: TrialRecord) -> set[str]:
    return {verdict.code for verdict in record.verdicts} - OF_THE_MACHINE - {"load-late", "load-busy"}


def text_of(record: TrialRecord, code: str) -> str:
    return next(verdict.text for verdict in record.verdicts if verdict.code == code)
