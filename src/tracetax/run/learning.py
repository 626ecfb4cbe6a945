"""Learns how many records a call makes, before anything is measured, where no file can declare it.

Calls of each sort are made one by one in a trial of each configuration, and their records are counted. A trial that
cannot be made here could not be made later either: its configuration is left out, with the reason. Where each
instrumentation is to be switched off by itself, those that made a record become configurations of their own here.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from tracetax.agent import without_name
from tracetax.errors import ExitCode, UserError
from tracetax.kinds import declaration_of
from tracetax.model import Agent, Configuration, Delivery, Experiment, Part, Use, heap_of
from tracetax.program import Workload
from tracetax.results.folder import RunFolder
from tracetax.results.records import Cell, SingleCalls, TrialRecord
from tracetax.run.calibration import CALLS
from tracetax.run.equipment import Equipment
from tracetax.run.plan import TrialPlan, Turn
from tracetax.run.trial import run_trial
from tracetax.words import listed_words, one, plural

WARM_UP_CALLS = 100
"""What it does for the first time is over by then, such as opening connections."""


class SwitchedOff(Struct, frozen=True):
    """A configuration in which one instrumentation is off."""

    agent: str
    configuration: str
    """The one that it is made of."""
    name: str
    """The instrumentation."""


class LearnedExperiment(Struct, frozen=True):
    """An experiment with what single calls have shown."""

    experiment: Experiment
    switched: tuple[SwitchedOff, ...] = ()
    """Configurations that were added for it."""

    def agents(self, agents: Mapping[str, Agent]) -> dict[str, Agent]:
        """The agents with the configurations that were added."""
        known = dict(agents)
        for off in self.switched:
            known[off.agent] = known[off.agent].switched_off(off.configuration, off.name)
        return known


class _Learning(Struct):
    """One part, while it is learned from."""

    part: Part
    own: Equipment
    """With what it calls warm after few calls."""
    uses: list[Use]
    counted: list[tuple[Configuration, dict[str, int]]]
    singles: dict[str, tuple[SingleCalls, ...]]
    """Of each configuration of an agent, by their names with a slash between."""
    switched: list[SwitchedOff]


def learn(
    experiment: Experiment,
    equipment: Equipment,
    folder: RunFolder,
    watch: Callable[[str], None],
    say: Callable[[str], None],
) -> LearnedExperiment:
    """The experiment with what was learned of every configuration that promises records.

    ``watch`` is told what is going on, ``say`` what was learned. Raises UserError where nothing can be measured.
    """
    parts: list[Part] = []
    switched: list[SwitchedOff] = []
    each = experiment.service is not None and experiment.service.each_instrumentation
    for part in experiment.parts:
        kind = declaration_of(part.parameters)
        own = replace(equipment.of(part), workload=_quickly_warm(equipment.of(part)))
        state = _Learning(part, own, [], [], {}, [])
        pending = [use for use in part.uses if not state.own.configuration(use.agent, use.configuration).without]
        while pending:
            use = pending.pop(0)
            record = _learned_from(state, use, folder, watch, say)
            if record and each:
                pending[:0] = _each_off(state, use, record, say)
        if not state.uses:
            raise UserError(
                f"Nothing is left to be measured: no agent can be. The logs: {folder.path}/logs", ExitCode.FAILED
            )
        parts.append(
            replace(part, uses=tuple(state.uses), parameters=kind.with_learned(part.parameters, state.counted))
        )
        switched += state.switched
    return LearnedExperiment(replace(experiment, parts=tuple(parts)), tuple(switched))


def _learned_from(
    state: _Learning, use: Use, folder: RunFolder, watch: Callable[[str], None], say: Callable[[str], None]
) -> TrialRecord | None:
    """Learn from one configuration; the trial, or None where there was none, or it failed."""
    part, own = state.part, state.own
    kind = declaration_of(part.parameters)
    config = own.configuration(use.agent, use.configuration)
    name = f"{own.agents[use.agent].name} ({config.title})"
    if config.delivery not in (Delivery.COMPLETE, Delivery.LOSSY):
        state.uses.append(use)
        return None
    watch(f"{name}: counting the records of single {kind.noun}s")
    small = replace(part, parameters=kind.to_learn_from(part.parameters))
    turn = Turn(block=0, block_size=1, cell=Cell(part.name, use, heap_of(part.settings), role="calibration"))
    plan = TrialPlan(folder.next_number(), turn, small, config, first=True)
    record = run_trial(plan, own, folder, lambda text: watch(f"{name}: {text}"))
    if record.status == "failed":
        why = next(verdict.text for verdict in record.verdicts if verdict.severity == "error")
        say(f"{name} is left out: {why.strip()}")
        return None
    state.singles[f"{use.agent}/{use.configuration}"] = record.singles
    if config.without and _records(record.singles) == _records(state.singles[_origin(use, config)]):
        say(f"{name} is left out: it makes as many records.")
        return None
    state.uses.append(use)
    other = own.agents[use.agent].configurations.get(config.if_nothing_arrives)
    known, text = told(record, kind.noun, other)
    if config.without and not _records(record.singles):
        known, text = {single.sort: 0 for single in record.singles}, "no record is left"
    state.counted.append((config, known))
    say(f"{name}: {text}")
    return record


def _each_off(state: _Learning, use: Use, record: TrialRecord, say: Callable[[str], None]) -> list[Use]:
    """Uses of a configuration without each instrumentation that made a record in ``record``."""
    agent = state.own.agents[use.agent]
    config = agent.configurations[use.configuration]
    if config.without:
        return []
    if agent.instrumentations is None:
        say(f"{agent.name}: its instrumentations cannot be switched off one by one.")
        return []
    scopes = {scope for single in record.singles for scope, records in single.scopes.items() if records}
    names = sorted({name for scope in scopes if (name := agent.instrumentations.named(scope))})
    if unknown := sorted(scope for scope in scopes if not agent.instrumentations.named(scope)):
        say(f"{agent.name}: nobody knows the switch of {listed_words(unknown)}.")
    for name in names:
        agent = agent.switched_off(use.configuration, name)
        state.switched.append(SwitchedOff(use.agent, use.configuration, name))
    state.own = replace(state.own, agents=state.own.agents | {use.agent: agent})
    return [replace(use, configuration=without_name(use.configuration, name)) for name in names]


def _origin(use: Use, config: Configuration) -> str:
    """Under which the calls of the configuration are known that one without an instrumentation is made of."""
    return f"{use.agent}/{use.configuration.removesuffix(without_name('', config.without))}"


def _records(singles: Sequence[SingleCalls]) -> int:
    return sum(single.records for single in singles)


def _quickly_warm(equipment: Equipment) -> Workload:
    """The workload, which counts as warm after few calls: nothing is timed."""
    return replace(equipment.workload, least_warm_up_calls=WARM_UP_CALLS)


def told(record: TrialRecord, noun: str, other: Configuration | None = None) -> tuple[dict[str, int], str]:
    """Records of a call by its sort, as far as they are known, and a sentence about them.

    ``other`` is the agent's configuration that may see more, where nothing arrives.
    """
    known = {single.sort: single.records // CALLS for single in record.singles if single.records % CALLS == 0}
    if not any(single.records for single in record.singles):
        made = sum(single.calls for single in record.singles)
        text = f"no spans arrived of {plural(made, noun)}. Is the service's framework instrumented? "
        if other:
            text += f"Another of its configurations may see it: --configuration {other.name} ({other.title}). "
        return {}, text + "What the agent costs all the same is measured; of delivery nothing can be said."
    varying = [single for single in record.singles if single.sort not in known]
    words = [f"{plural(records, 'record')} of {one(noun)} to {sort}" for sort, records in known.items()]
    words += [
        f"{plural(single.records, 'record')} of {plural(single.calls, noun)} to {single.sort}" for single in varying
    ]
    text = ", ".join(words)
    if varying:
        text += ": their number varies, so how many are delivered cannot be told"
    return known, text
