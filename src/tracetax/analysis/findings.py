"""Build ``findings.json`` from the finished trials of a run."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tracetax import __version__
from tracetax.analysis import delivery, measures
from tracetax.analysis.builds import build_comparisons
from tracetax.analysis.cost import cpu_measures, once_measures, response_measures
from tracetax.analysis.functions import function_added, function_measures
from tracetax.analysis.growth import growth_lines
from tracetax.analysis.measures import BinMeans
from tracetax.analysis.ranking import ranked, ranked_by
from tracetax.analysis.reference import beside_reference, reference_among, reference_statements
from tracetax.analysis.responses import response_statements
from tracetax.analysis.starts import calls_chosen, slow_starts, starts_of, starts_of_baseline
from tracetax.analysis.statements import receiver_statements, statements
from tracetax.analysis.switched import switch_findings, switch_statements
from tracetax.kinds import declaration_of
from tracetax.machine.isolation import FEW_CORES
from tracetax.model import BASELINE, FULL, Agent, Configuration, Delivery, Experiment, Part, Use, heap_of
from tracetax.results import blocks as arranged
from tracetax.results.blocks import Blocks, service_mean
from tracetax.results.earlier import older_java, older_settings
from tracetax.results.findings import (
    SCHEMA_VERSION,
    AABand,
    ConfigurationFinding,
    ExperimentFinding,
    Findings,
    Measure,
    PartFinding,
    PublishedValue,
    ReleaseFinding,
    StartsFinding,
)
from tracetax.results.folder import RunFolder
from tracetax.results.manifest import Manifest
from tracetax.results.records import Cell, TrialRecord, Verdict
from tracetax.results.runtime import told_of
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


def _yardstick(part: Part, rows: list[ConfigurationFinding], agents: Mapping[str, Agent]) -> str | None:
    reference = reference_among(part, rows, agents)
    return reference.agent if reference else None


def build(folder: RunFolder) -> Findings:
    """Compute the findings of a run folder; nothing is written."""
    records = folder.records()
    inputs = Inputs(
        manifest=folder.manifest,
        records=[record for record in records if record.cell.role not in ("memory", "calibration")],
        memory=[record for record in records if record.cell.role == "memory"],
        run=str(folder.path),
        bins=_bins(folder, records),
    )
    blocks = arranged.whole_blocks(inputs.records)
    bands = [band for part in inputs.experiment.parts for band in _bands(part, blocks)]
    unranked = [
        beside_reference(
            part, _baselines(part, blocks, inputs) + _configurations(part, blocks, inputs), inputs.agents, blocks
        )
        for part in inputs.experiment.parts
    ]
    by = ranked_by(inputs.experiment, [row for rows in unranked for row in rows])
    configurations = tuple(
        row
        for part, rows in zip(inputs.experiment.parts, unranked, strict=True)
        for row in ranked(rows, blocks, by, yardstick=_yardstick(part, rows, inputs.agents))
    )
    parts = tuple(_part(part, blocks, inputs) for part in inputs.experiment.parts)
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
            runtime=told_of(inputs.manifest.runtime) if inputs.manifest.runtime else None,
            runtimes={key: told_of(runtime) for key, runtime in inputs.manifest.runtimes.items()},
            service=inputs.experiment.service.words if inputs.experiment.service else "",
            objective=inputs.experiment.service.objective if inputs.experiment.service else None,
        ),
        machine=inputs.manifest.machine,
        aa=tuple(bands),
        configurations=configurations,
        statements=(),
        verdicts=_run_verdicts(inputs, parts),
        comparisons=build_comparisons(inputs.manifest, blocks, bands),
        growth=growth_lines(inputs.experiment, parts, configurations, blocks),
        switches=switch_findings(inputs.manifest, configurations, blocks),
    )
    off = switch_statements(findings.switches, configurations)
    references = reference_statements(parts, configurations)
    told = (*response_statements(findings), *off, *references, *statements(findings), *receiver_statements(findings))
    return replace(findings, statements=told)


def _bins(folder: RunFolder, records: list[TrialRecord]) -> BinMeans:
    numbers = [record.number for record in records if record.status == "ok" and record.parameters.rate == FULL]
    return {number: means for number in numbers if (means := folder.bin_means(number)) is not None}


def _bands(part: Part, blocks: Blocks) -> list[AABand]:
    baselines = _baseline_cells(part, blocks) or [Cell(part.name, BASELINE, heap_of(part.settings))]
    bands = {cell.heap_bytes: _band(cell, blocks) for cell in baselines}
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


def _baseline_cells(part: Part, blocks: Blocks) -> list[Cell]:
    """The cells of the baselines' rows: one for each heap that the part was measured with."""
    heaps = {cell.heap_bytes for block in blocks.values() for cell in block if cell.part == part.name}
    return [Cell(part.name, BASELINE, heap) for heap in sorted(heaps)]


def _band(cell: Cell, blocks: Blocks) -> Band | None:
    first, second = arranged.baseline_pairs(blocks, cell, service_mean)
    return aa_band(first, second) if len(first) >= 1 else None


def _baselines(part: Part, blocks: Blocks, inputs: Inputs) -> list[ConfigurationFinding]:
    return [
        _row(part, cell, arranged.pairs(blocks, cell), blocks, inputs, []) for cell in _baseline_cells(part, blocks)
    ]


def _configurations(part: Part, blocks: Blocks, inputs: Inputs) -> list[ConfigurationFinding]:
    rows: list[ConfigurationFinding] = []
    cells = arranged.configuration_cells(blocks, part.name)
    parameters, schedule = part.parameters, inputs.experiment.schedule
    for use in part.uses:
        cell = cells.get(use, Cell(part.name, use, heap_of(part.settings)))
        beside = arranged.paired(blocks, cell, service_mean)
        further = arranged.further_starts(inputs.records, cell)
        compared = measures.overhead_measures(beside, parameters, _band(cell, blocks), schedule, further)
        compared += cpu_measures(blocks, cell, parameters, inputs.manifest.runtime_of(part))
        compared += once_measures(blocks, cell) + response_measures(blocks, cell, parameters)
        compared += function_added(blocks, cell)
        by_block = [(trial,) for trial in arranged.trials(blocks, cell)]
        rows.append(_row(part, cell, by_block, blocks, inputs, compared))
    return rows


def _row(
    part: Part,
    cell: Cell,
    by_block: list[tuple[TrialRecord, ...]],
    blocks: Blocks,
    inputs: Inputs,
    compared: list[Measure],
) -> ConfigurationFinding:
    """One row; ``by_block`` holds its good trials, those of one block together."""
    ran_on = inputs.manifest.ran_on.get(part.name)
    use, trials = cell.use, [trial for block in by_block for trial in block]
    agent = inputs.agents[part.agent_key(use.agent)].built(use.build)
    config = agent.configurations[use.configuration]
    artifact = agent.itself(use.configuration)
    unsteady = sum(trial.steady is not None and trial.steady.kind == "no-steady-state" for trial in trials)
    in_memory = arranged.memory_trials(inputs.memory, cell) if trials else []
    starts = _starts(cell, trials, blocks, inputs)
    verdicts = _verdicts(cell, inputs.records, blocks)
    verdicts += _unsteady(unsteady, len(trials))
    verdicts += slow_starts(starts)
    verdicts += calls_chosen(inputs.manifest.chosen_calls, part.name, use)
    verdicts += _without_memory(in_memory)
    if not trials and not any(verdict.severity == "error" for verdict in verdicts):
        verdicts.append(Verdict(code="not-measured", severity="error", text="no whole block of it was measured"))
    if trials and not cell.is_baseline and not compared:
        text = "it was measured, but no block has both baselines beside it"
        verdicts.append(Verdict(code="no-baseline", severity="error", text=text))
    own = [*compared, *measures.of_blocks(by_block), *measures.throughput(by_block, inputs.bins)]
    own += function_measures(by_block)
    runtime = inputs.manifest.runtime_of(part)
    grows = runtime is None or runtime.grows
    own += measures.of_memory(in_memory) if grows else measures.resident(by_block)
    restless = unsteady > 0 and unsteady >= len(trials) * RESTLESS_FROM
    return ConfigurationFinding(
        agent=use.agent,
        agent_name=agent.name,
        version=agent.version_in(use.configuration),
        artifact_sha256=artifact.sha256 if artifact else "",
        configuration=use.configuration,
        title=_title(config, agent, part),
        profile=config.profile,
        delivery=config.delivery,
        layers=tuple(config.layers),
        part=part.name,
        parameters=trials[-1].parameters if trials else part.parameters,
        heap_bytes=cell.heap_bytes,
        records=delivery.total(trials, len(by_block)),
        verdicts=tuple(verdicts),
        measures=tuple(measures.labelled(own, unsteady=restless)),
        rank=None,
        deferred=config.delivery not in (Delivery.NONE, Delivery.AGGREGATED) and delivery.deferred(trials),
        published=_published(inputs.experiment, use),
        build=use.build,
        backend=use.backend,
        backend_name=inputs.manifest.backends[use.backend].title if use.backend else "",
        technology=config.technology,
        java=older_java(ran_on),
        collector=str(part.settings.get("collector", "")),
        starts=starts,
        ran_on=ran_on,
        release=ReleaseFinding(config.release.line, artifact.released) if config.release and artifact else None,
    )


def _title(config: Configuration, agent: Agent, part: Part) -> str:
    """Also of the technology that needs no name, where others of the agent stand beside it."""
    mine = (agent.configurations[use.configuration] for use in part.uses if use.agent == agent.key)
    if len({other.technology for other in mine}) <= 1 or config.technology != agent.technology:
        return config.title
    return f"{config.title}, {agent.technologies[config.technology].title}"


def _published(experiment: Experiment, use: Use) -> tuple[PublishedValue, ...]:
    """What the publication printed for a configuration, one value per platform; both of two builds have the same."""
    return tuple(
        PublishedValue(row.platform, row.estimate, row.sd, unit="ns", per="call", source=row.source)
        for row in experiment.published
        if (row.use.agent, row.use.configuration) == (use.agent, use.configuration)
    )


def _starts(cell: Cell, trials: list[TrialRecord], blocks: Blocks, inputs: Inputs) -> StartsFinding | None:
    """How many starts of a row were slow, those outside the blocks included."""
    further = arranged.further_starts(inputs.records, cell)
    if cell.is_baseline:
        return starts_of_baseline(trials, further)
    return starts_of(arranged.paired(blocks, cell, service_mean), further)


def _unsteady(unsteady: int, trials: int) -> list[Verdict]:
    """The note of a row of whose trials so many did not become steady."""
    if not unsteady:
        return []
    text = f"{share(unsteady, trials, 'trial')} did not become steady; the mean of the last half was taken"
    return [Verdict(code="no-steady-state", severity="note", text=text)]


def _without_memory(tries: list[TrialRecord]) -> list[Verdict]:
    """The note of a row whose extra trials for its memory all failed; none where there was none."""
    if not tries or any(trial.status != "failed" for trial in tries):
        return []
    times = "once" if len(tries) == 1 else f"{len(tries)} times"
    text = f"its memory was not measured: the extra trial for it failed {times}"
    return [Verdict(code="no-memory-trial", severity="note", text=text)]


def _verdicts(row: Cell, records: list[TrialRecord], blocks: Blocks) -> list[Verdict]:
    """Verdicts of all its trials, each kind once with how often and an example; failures of repeated trials too."""
    trials = [record for record in records if record.cell.row == row]
    given_up = any(
        trial.status == "failed" for block in blocks.values() for cell, trial in block.items() if cell.row == row
    )
    by_code: dict[str, list[tuple[TrialRecord, Verdict]]] = {}
    for record in trials:
        for verdict in record.verdicts:
            by_code.setdefault(verdict.code, []).append((record, verdict))
    result: list[Verdict] = []
    for cases in by_code.values():
        record, verdict = cases[0]
        which = f"trial {record.number}" if len(cases) == 1 else share(len(cases), len(trials), "trial")
        # a failed trial that its repetition made good is no failure of the configuration
        severity = "warning" if verdict.severity == "error" and not given_up else verdict.severity
        sentence, *more = verdict.text.splitlines()
        log = f" ({more[-1].strip()})" if more else ""
        result.append(Verdict(code=verdict.code, severity=severity, text=f"{which}: {sentence}{log}"))
    return result


def _part(part: Part, blocks: Blocks, inputs: Inputs) -> PartFinding:
    manifest = inputs.manifest
    count = sum(1 for block in blocks.values() if any(cell.part == part.name for cell in block))
    ran_on = manifest.ran_on.get(part.name)
    ending: Any = manifest.part_endings.get(part.name, "interrupted")
    return PartFinding(
        name=part.name,
        title=part.title,
        parameters=part.parameters,
        blocks=count,
        stopped=ending,
        indicative=count < measures.INDICATIVE_BELOW,
        jvm=older_settings(part.settings),
        java=older_java(ran_on),
        levels=part.levels,
        settings=part.settings,
        ran_on=ran_on,
        workload=part.workload or inputs.experiment.workload,
    )


def _run_verdicts(inputs: Inputs, parts: tuple[PartFinding, ...]) -> tuple[Verdict, ...]:
    result: list[Verdict] = []
    if not inputs.experiment.result:
        text = "This experiment only checks that everything works. Its numbers are no result."
        result.append(Verdict(code="no-result", severity="note", text=text))
    cores = int(inputs.manifest.machine.get("cores", FEW_CORES))
    if cores < FEW_CORES:
        text = f"{plural(cores, 'core')}: "
        if all(declaration_of(part.parameters).calls_itself for part in parts):
            text += "the agent's threads and the sink compete with the caller; the numbers are a demonstration."
        else:
            text += "the service, the load and the sink compete: CPU is the first measure here, latency the second."
        result.append(Verdict(code="few-cores", severity="warning", text=text))
    if any(part.stopped == "interrupted" for part in parts):
        text = "The run was interrupted; what had been measured is shown."
        result.append(Verdict(code="interrupted", severity="warning", text=text))
    versions = [part.ran_on for part in parts if part.ran_on and part.ran_on.archive is not None]
    if len({version.archive for version in versions}) > 1:
        without = ", ".join(dict.fromkeys(str(version) for version in versions if not version.archive))
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
