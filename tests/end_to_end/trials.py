"""One trial of each configuration of an experiment, without baselines and blocks: enough to see what is counted."""

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from tests.end_to_end.command import ROOT
from tracetax.artifacts import cache_dir
from tracetax.commands.request import Request, asked
from tracetax.ledger import Ledger
from tracetax.machine.isolation import isolation_here
from tracetax.results.folder import RunFolder
from tracetax.results.manifest import MANIFEST_VERSION, Invocation, Manifest
from tracetax.results.records import Cell, TrialRecord
from tracetax.run.equipment import Limits
from tracetax.run.plan import TrialPlan, Turn, heap_for
from tracetax.run.prepare import prepare
from tracetax.run.trial import run_trial

PATIENT = Limits(start=240.0, quiet=3.0)
"""For a machine that does much else at the same time."""
BRIEF = replace(PATIENT, warm_up=3.0)
"""For what is counted alone, which does not depend on how warm it is."""
DISTURBANCES = {"disturbed", "throttled", "swapped", "not-warm", "still-compiling"}
"""Verdicts on the machine, which is not what these tests are about."""
EXPERIMENT = """
title = "{agent}"
workload = "calltree/java"
result = false
[parameters]
calls = {calls}
depth = {depth}
rate = "{rate}"
threads = {threads}
[jvm]
heap = "256 MiB"
{jdk}
[[configurations]]
agent = "{agent}"
use = {use}
technologies = {technologies}
"""


def measure_agent(
    folder: Path,
    agent: str,
    use: Sequence[str],
    *,
    calls: int,
    depth: int = 10,
    rate: str = "full",
    threads: int = 1,
    jdk: int = 0,
    technologies: Sequence[str] = (),
    root: Path = ROOT,
) -> dict[str, TrialRecord]:
    """One brief trial of each configuration of an agent by its name, kept in the new run ``folder/run``."""
    text = EXPERIMENT.format(
        agent=agent,
        calls=calls,
        depth=depth,
        rate=rate,
        threads=threads,
        jdk=f"jdk = {jdk}" if jdk else "",
        use=list(use),
        technologies=list(technologies),
    )
    file = folder / f"{agent}.toml"
    file.write_text(text if technologies else text.replace("technologies = []\n", ""))
    return measure_each(file, root, folder / "run", BRIEF)


def whole(trial: TrialRecord, calls: int, depth: int = 10) -> Ledger:
    """The account of a trial, in which every record of so many calls arrived in its tree, and nothing else."""
    ledger = trial.ledger
    assert ledger
    assert ledger.expected == ledger.received == depth * calls
    assert ledger.complete_trees == ledger.expected_trees == calls
    assert ledger.malformed == ledger.duplicates == ledger.orphans == ledger.unexpected_names == ledger.cut_off == 0
    return ledger


def sampled(trial: TrialRecord, calls: int, depth: int = 10) -> Ledger:
    """The account of a trial that promised none of its records: some whole trees arrived, and not all."""
    ledger = trial.ledger
    assert ledger
    assert (ledger.expected, ledger.missing) == (0, 0)
    assert 0 < ledger.received == depth * ledger.complete_trees < depth * calls
    return ledger


def measure_each(
    experiment: Path,
    root: Path,
    folder: Path,
    limits: Limits = PATIENT,
    artifacts: tuple[str, ...] = (),
    backends: tuple[str, ...] = (),
) -> dict[str, TrialRecord]:
    """The trials by the names of their configurations, kept in the new run ``folder``.

    ``artifacts`` are options as of ``--artifact``, ``backends`` as of ``--backend``; with one of these, the name of a
    trial goes on with it, as in ``zipkin → zipkin-server``.
    """
    request = asked(Request(experiment=str(experiment), artifacts=artifacts, backends=backends), root)
    what = request.experiment
    isolation, cache = isolation_here(), cache_dir(os.environ)
    equipment = prepare(what, request.agents, root, cache, isolation, lambda _: None, request.backends)
    equipment = replace(equipment, limits=limits)
    invocation = Invocation(command=("pytest",), started_at="2026-01-01T00:00:00", experiment=what)
    manifest = Manifest(
        version=MANIFEST_VERSION,
        tool_version="0",
        seed=1,
        hashes={},
        machine={"cores": equipment.cores},
        agents=equipment.agents,
        invocations=(invocation,),
    )
    run = RunFolder.create(folder, manifest)
    records: dict[str, TrialRecord] = {}
    (part,) = what.parts
    for number, use in enumerate(part.uses, 1):
        config = equipment.configuration(use.agent, use.configuration)
        cell = Cell(part=part.name, use=use, heap_bytes=heap_for(config, part))
        plan = TrialPlan(number=number, turn=Turn(block=1, block_size=1, cell=cell), part=part, config=config)
        name = f"{use.configuration} → {use.backend}" if use.backend else use.configuration
        records[name] = run_trial(plan, equipment, run, lambda _: None)
    return records


def verdicts(record: TrialRecord) -> dict[str, str]:
    """Severity by code, without those on the machine."""
    return {verdict.code: verdict.severity for verdict in record.verdicts if verdict.code not in DISTURBANCES}
