"""Build ``findings.json`` from the finished trials of a run."""

from typing import Any, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from tracetax import __version__
from tracetax.analysis import cost, delivery, measures
from tracetax.analysis.builds import comparisons
from tracetax.analysis.growth import growth, overhead_by_block, use_of
from tracetax.analysis.once import once_measures
from tracetax.analysis.published import published_values
from tracetax.analysis.receivers import receivers
from tracetax.analysis.starts import calls_chosen, slow_starts, starts_of, starts_of_baseline
from tracetax.analysis.statements import statements
from tracetax.analysis.throughput import BinMeans, throughput
from tracetax.machine.isolation import FEW_CORES
from tracetax.model import BASELINE, FULL, Agent, Configuration, Delivery, Experiment, Part, Use
from tracetax.results import blocks as arranged
from tracetax.results.blocks import Blocks, CellKey, service_mean
from tracetax.results.findings import (
    SCHEMA_VERSION,
    AABand,
    ConfigurationFinding,
    ExperimentFinding,
    Findings,
    Measure,
    PartFinding,
    find_measure,
)
from tracetax.results.folder import RunFolder
from tracetax.results.manifest import Manifest
from tracetax.results.records import TrialRecord, Verdict
from tracetax.statistics.multiplicity import rank_with_ties
from tracetax.statistics.overhead import Band, aa_band
from tracetax.words import plural, share, was

RESTLESS_FROM = 0.25
"""Share of trials without a steady state from which the row's numbers are labelled; fewer are noted only."""


class Inputs(Struct, frozen=True):
    """What findings are made from."""

    manifest: Manifest
    records: list[TrialRecord]
    """Of all blocks, whole or not."""
    memory: list[TrialRecord]
    """Of the extra trials in which memory was measured."""
    run: str
    bins: BinMeans
    """Of the trials at full speed: mean service times of their bins."""

    @property
    def agents(self) -> dict[str, Agent]:
        """The agents as they were measured."""
        return self.manifest.agents

    @property
    def experiment(self) -> Experiment:
        """The experiment under its latest schedule."""
        return self.manifest.experiment


def build(folder: RunFolder) -> Findings:
    """Compute the findings of a run folder; nothing is written."""
    records = folder.records()
    inputs = Inputs(
        manifest=folder.manifest,
        records=[record for record in records if record.role != "memory"],
        memory=[record for record in records if record.role == "memory"],
        run=str(folder.path),
        bins=_bins(folder, records),
    )
    blocks = arranged.whole_blocks(inputs.records)
    bands = [band for part in inputs.experiment.parts for band in _bands(part, blocks)]
    unranked = [
        (part, _baselines(part, blocks, inputs) + _configurations(part, blocks, inputs))
        for part in inputs.experiment.parts
    ]
    by = _ranked_by(inputs.experiment, [row for _, rows in unranked for row in rows])
    configurations = tuple(row for part, rows in unranked for row in _ranked(rows, part, blocks, by))
    parts = tuple(_part(part, blocks, inputs.manifest) for part in inputs.experiment.parts)
    first = inputs.manifest.invocations[0]
    findings = Findings(
        schema_version=SCHEMA_VERSION,
        tool_version=__version__,
        experiment=ExperimentFinding(
            key=inputs.experiment.key,
            title=inputs.experiment.title,
            workload=inputs.experiment.workload,
            paper=inputs.experiment.paper,
            result=inputs.experiment.result,
            seed=inputs.manifest.seed,
            run=inputs.run,
            command=first.command,
            started_at=first.started_at,
            parts=parts,
            rank_by=by,
        ),
        machine=inputs.manifest.machine,
        aa=tuple(bands),
        configurations=configurations,
        statements=(),
        verdicts=_run_verdicts(inputs, parts),
        comparisons=comparisons(inputs.manifest, blocks, bands),
        growth=growth(inputs.experiment, parts, configurations, blocks),
    )
    return replace(findings, statements=(*statements(findings), *receivers(findings)))


def _bins(folder: RunFolder, records: list[TrialRecord]) -> BinMeans:
    numbers = [record.number for record in records if record.status == "ok" and record.parameters.rate == FULL]
    return {number: means for number in numbers if (means := folder.bin_means(number)) is not None}


def _bands(part: Part, blocks: Blocks) -> list[AABand]:
    heaps = _heaps(part, blocks) or [part.jvm.heap_bytes]
    bands = {heap: _band(part, heap, blocks) for heap in heaps}
    return [
        AABand(
            part=part.name,
            heap_bytes=heap,
            n_blocks=band.n_blocks if band else 0,
            overhead_ns_per_call=band.difference if band else None,
            ratio=band.log_ratio if band else None,
        )
        for heap, band in bands.items()
    ]


def _heaps(part: Part, blocks: Blocks) -> list[int]:
    return sorted({key[4] for block in blocks.values() for key in block if key[0] == part.name})


def _band(part: Part, heap: int, blocks: Blocks) -> Band | None:
    first, second = arranged.baseline_pairs(blocks, part.name, heap, service_mean)
    return aa_band(first, second) if len(first) >= 1 else None


def _baselines(part: Part, blocks: Blocks, inputs: Inputs) -> list[ConfigurationFinding]:
    return [
        _row(part, BASELINE, heap, arranged.pairs(blocks, part.name, heap), blocks, inputs, [])
        for heap in _heaps(part, blocks)
    ]


def _configurations(part: Part, blocks: Blocks, inputs: Inputs) -> list[ConfigurationFinding]:
    rows: list[ConfigurationFinding] = []
    measured = dict(arranged.uses(blocks, part.name))
    for use in part.uses:
        heap = measured.get(use, part.jvm.heap_bytes)
        trials = arranged.trials(blocks, part.name, use, "configuration", heap)
        beside = arranged.paired(blocks, part.name, use, heap, service_mean)
        band = _band(part, heap, blocks)
        further = arranged.further_starts(inputs.records, part.name, use, heap)
        compared = measures.overhead(beside, part.parameters.depth, band, inputs.experiment.schedule, further)
        compared += cost.cpu_measures(blocks, part, use, heap)
        compared += once_measures(blocks, part, use, heap)
        rows.append(_row(part, use, heap, [(trial,) for trial in trials], blocks, inputs, compared))
    return rows


def _row(
    part: Part,
    use: Use,
    heap: int,
    by_block: list[tuple[TrialRecord, ...]],
    blocks: Blocks,
    inputs: Inputs,
    compared: list[Measure],
) -> ConfigurationFinding:
    """One row; ``by_block`` holds its good trials, those of one block together."""
    agent = inputs.agents[use.agent].built(use.build)
    config = agent.configurations[use.configuration]
    artifact = agent.artifacts.get("agent")
    trials = [trial for block in by_block for trial in block]
    unsteady = sum(trial.steady is not None and trial.steady.kind == "no-steady-state" for trial in trials)
    verdicts = _verdicts(part, use, heap, inputs.records, blocks)
    restless = unsteady > 0 and unsteady >= len(trials) * RESTLESS_FROM
    if unsteady:
        text = f"{share(unsteady, len(trials), 'trial')} did not become steady; the mean of the last half was taken"
        verdicts.append(Verdict(code="no-steady-state", severity="note", text=text))
    further = arranged.further_starts(inputs.records, part.name, use, heap)
    if use == BASELINE:
        starts = starts_of_baseline(trials, further)
    else:
        starts = starts_of(arranged.paired(blocks, part.name, use, heap, service_mean), further)
    verdicts += slow_starts(starts)
    verdicts += calls_chosen(inputs.manifest.chosen_calls, part.name, use)
    in_memory = arranged.memory_trials(inputs.memory, part.name, use, heap) if trials else []
    if in_memory and all(trial.status == "failed" for trial in in_memory):
        times = "once" if len(in_memory) == 1 else f"{len(in_memory)} times"
        text = f"its memory was not measured: the extra trial for it failed {times}"
        verdicts.append(Verdict(code="no-memory-trial", severity="note", text=text))
    if not trials and not any(verdict.severity == "error" for verdict in verdicts):
        verdicts.append(Verdict(code="not-measured", severity="error", text="no whole block of it was measured"))
    if trials and use != BASELINE and not compared:
        text = "it was measured, but no block has both baselines beside it"
        verdicts.append(Verdict(code="no-baseline", severity="error", text=text))
    return ConfigurationFinding(
        agent=use.agent,
        agent_name=agent.name,
        version=agent.version,
        artifact_sha256=artifact.sha256 if artifact else "",
        configuration=use.configuration,
        title=_title(config, agent, part),
        profile=config.profile,
        delivery=config.delivery,
        layers=tuple(config.layers),
        part=part.name,
        parameters=trials[-1].parameters if trials else part.parameters,
        heap_bytes=heap,
        records=delivery.total(trials, len(by_block)),
        verdicts=tuple(verdicts),
        measures=tuple(
            measures.labelled(
                [
                    *(*compared, *measures.of_blocks(by_block), *throughput(by_block, inputs.bins)),
                    *measures.of_memory(in_memory),
                ],
                unsteady=restless,
            )
        ),
        rank=None,
        deferred=config.delivery not in (Delivery.NONE, Delivery.AGGREGATED) and delivery.deferred(trials),
        published=published_values(inputs.experiment, use),
        build=use.build,
        backend=use.backend,
        backend_name=inputs.manifest.backends[use.backend].title if use.backend else "",
        technology=config.technology,
        java=inputs.manifest.java.get(part.name),
        collector=part.jvm.collector,
        starts=starts,
    )


def _title(config: Configuration, agent: Agent, part: Part) -> str:
    """Also of the technology that needs no name, where others of the agent stand beside it."""
    mine = (agent.configurations[use.configuration] for use in part.uses if use.agent == agent.key)
    if len({other.technology for other in mine}) <= 1 or config.technology != agent.technology:
        return config.title
    return f"{config.title}, {agent.technologies[config.technology].title}"


def _verdicts(
    part: Part,
    use: Use,
    heap: int,
    records: list[TrialRecord],
    blocks: Blocks,
) -> list[Verdict]:
    """Verdicts of all its trials, each kind once with how often and an example; failures of repeated trials too."""

    def mine(key: CellKey) -> bool:
        wanted = (use.agent, use.configuration, heap, use.build, use.backend)
        return (key[0], *key[1:3], *key[4:]) == (part.name, *wanted)

    trials = [record for record in records if mine(arranged.cell_key(record))]
    given_up = any(mine(key) and trial.status == "failed" for block in blocks.values() for key, trial in block.items())
    found: dict[str, list[tuple[TrialRecord, Verdict]]] = {}
    for record in trials:
        for verdict in record.verdicts:
            found.setdefault(verdict.code, []).append((record, verdict))
    result: list[Verdict] = []
    for cases in found.values():
        record, verdict = cases[0]
        which = f"trial {record.number}" if len(cases) == 1 else share(len(cases), len(trials), "trial")
        # a failed trial that its repetition made good is no failure of the configuration
        severity = "warning" if verdict.severity == "error" and not given_up else verdict.severity
        sentence, *more = verdict.text.splitlines()
        log = f" ({more[-1].strip()})" if more else ""
        result.append(Verdict(code=verdict.code, severity=severity, text=f"{which}: {sentence}{log}"))
    return result


def _eligible(row: ConfigurationFinding) -> bool:
    """Whether a row is ranked: it delivers everything, and what that cost is known."""
    unknown = any(verdict.severity == "error" or verdict.code == "after-drain" for verdict in row.verdicts)
    return (
        delivery.delivers_everything(row.records)
        and any(measure.paired_with for measure in row.measures)
        and not unknown
    )


def _ranked_by(experiment: Experiment, rows: list[ConfigurationFinding]) -> Literal["cpu", "overhead"]:
    """What the whole run is ranked by: as the experiment says, or by overhead where CPU is not known of all."""
    known = all(find_measure(row, "cpu", "record") for row in rows if _eligible(row))
    return experiment.rank_by if known else "overhead"


def _ranked(
    rows: list[ConfigurationFinding],
    part: Part,
    blocks: Blocks,
    rank_by: Literal["cpu", "overhead"],
) -> list[ConfigurationFinding]:
    """Rank by CPU per record and by the overhead of a call; those that cannot be told apart share a rank."""
    eligible = [row for row in rows if _eligible(row)]
    if not eligible:
        return rows
    costs = {"overhead": [overhead_by_block(blocks, part, use_of(row), row.heap_bytes) for row in eligible]}
    if all(find_measure(row, "cpu", "record") for row in eligible):
        costs["cpu"] = [_cpu_by_block(row, part, blocks) for row in eligible]
    numbers = sorted(blocks)
    ranks: dict[int, dict[Any, int]] = {id(row): {} for row in eligible}
    for by, columns in costs.items():
        table = np.array([[column.get(number, np.nan) for column in columns] for number in numbers])
        for row, rank in zip(eligible, rank_with_ties(table).ranks, strict=True):
            ranks[id(row)][by] = rank
    return [
        replace(row, rank=ranks[id(row)][rank_by], ranks=ranks[id(row)]) if id(row) in ranks else row for row in rows
    ]


def _cpu_by_block(row: ConfigurationFinding, part: Part, blocks: Blocks) -> dict[int, float]:
    found = cost.added(blocks, part, use_of(row), row.heap_bytes)
    values = zip(found.blocks, found.per_record, strict=True)
    return {number: float(value) for number, value in values if not np.isnan(value)}


def _part(part: Part, blocks: Blocks, manifest: Manifest) -> PartFinding:
    count = sum(1 for block in blocks.values() if any(key[0] == part.name for key in block))
    ending: Any = manifest.part_endings.get(part.name, "interrupted")
    return PartFinding(
        name=part.name,
        title=part.title,
        parameters=part.parameters,
        blocks=count,
        stopped=ending,
        indicative=count < measures.INDICATIVE_BELOW,
        jvm=part.jvm,
        java=manifest.java.get(part.name),
        levels=part.levels,
    )


def _run_verdicts(inputs: Inputs, parts: tuple[PartFinding, ...]) -> tuple[Verdict, ...]:
    result: list[Verdict] = []
    if not inputs.experiment.result:
        text = "This experiment only checks that everything works. Its numbers are no result."
        result.append(Verdict(code="no-result", severity="note", text=text))
    cores = int(inputs.manifest.machine.get("cores", FEW_CORES))
    if cores < FEW_CORES:
        text = (
            f"{plural(cores, 'core')}: the agent's threads and the sink compete with the caller; "
            "the numbers are a demonstration."
        )
        result.append(Verdict(code="few-cores", severity="warning", text=text))
    if any(part.stopped == "interrupted" for part in parts):
        text = "The run was interrupted; what had been measured is shown."
        result.append(Verdict(code="interrupted", severity="warning", text=text))
    archives = {part.java.archive for part in parts if part.java}
    if len(archives) > 1:
        without = ", ".join(dict.fromkeys(str(part.java) for part in parts if part.java and not part.java.archive))
        text = (
            f"{without}: without a class-data archive a JVM starts more slowly. Start-up times are not comparable with "
            "those on a JDK that has one; all other numbers are."
        )
        result.append(Verdict(code="start-up-apart", severity="warning", text=text))
    if inputs.manifest.inherited:
        text = f"Set in the environment and not passed on: {', '.join(inputs.manifest.inherited)}"
        result.append(Verdict(code="environment", severity="note", text=text))
    disturbed = sum(any(v.code == "disturbed" for v in record.verdicts) for record in inputs.records)
    if disturbed:
        text = f"{share(disturbed, len(inputs.records), 'trial')} {was(disturbed)} disturbed: "
        text += "cores were stolen or used by others."
        result.append(Verdict(code="disturbed", severity="warning", text=text))
    return tuple(result)
