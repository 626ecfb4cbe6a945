"""Learns how many records a call makes, before anything is measured, where no file can declare it.

Calls of each sort are made one by one in a trial of each configuration, and their records are counted. A trial that
cannot be made here could not be made later either: its configuration is left out, with the reason.
"""

from collections.abc import Callable

from msgspec.structs import replace

from tracetax.errors import ExitCode, UserError
from tracetax.kinds import declaration_of
from tracetax.model import Configuration, Delivery, Experiment, Part, Use, heap_of
from tracetax.program import Workload
from tracetax.results.folder import RunFolder
from tracetax.results.records import Cell, TrialRecord
from tracetax.run.calibration import CALLS
from tracetax.run.equipment import Equipment
from tracetax.run.plan import TrialPlan, Turn
from tracetax.run.trial import run_trial
from tracetax.words import plural

WARM_UP_CALLS = 100
"""What it does for the first time is over by then, such as opening connections."""


def learn(
    experiment: Experiment,
    equipment: Equipment,
    folder: RunFolder,
    watch: Callable[[str], None],
    say: Callable[[str], None],
) -> Experiment:
    """The experiment with what was learned of every configuration that promises records.

    ``watch`` is told what is going on, ``say`` what was learned. Raises UserError where nothing can be measured.
    """
    parts: list[Part] = []
    for part in experiment.parts:
        kind, uses = declaration_of(part.parameters), list[Use]()
        counted: list[tuple[Configuration, dict[str, int]]] = []
        own = replace(equipment.of(part), workload=_quickly_warm(equipment.of(part)))
        for use in part.uses:
            config = own.configuration(use.agent, use.configuration)
            name = f"{own.agents[use.agent].name} ({config.title})"
            if config.delivery not in (Delivery.COMPLETE, Delivery.LOSSY):
                uses.append(use)
                continue
            watch(f"{name}: counting the records of single {kind.noun}s")
            small = replace(part, parameters=kind.to_learn_from(part.parameters))
            turn = Turn(block=0, block_size=1, cell=Cell(part.name, use, heap_of(part.settings), role="calibration"))
            plan = TrialPlan(folder.next_number(), turn, small, config, first=True)
            record = run_trial(plan, own, folder, lambda text, name=name: watch(f"{name}: {text}"))
            if record.status == "failed":
                why = next(verdict.text for verdict in record.verdicts if verdict.severity == "error")
                say(f"{name} is left out: {why.strip()}")
                continue
            uses.append(use)
            known, text = told(record, kind.noun)
            counted.append((config, known))
            say(f"{name}: {text}")
        if not uses:
            raise UserError(
                f"Nothing is left to be measured: no agent can be. The logs: {folder.path}/logs", ExitCode.FAILED
            )
        parts.append(replace(part, uses=tuple(uses), parameters=kind.with_learned(part.parameters, counted)))
    return replace(experiment, parts=tuple(parts))


def _quickly_warm(equipment: Equipment) -> Workload:
    """The workload, which counts as warm after few calls: nothing is timed."""
    return replace(equipment.workload, least_warm_up_calls=WARM_UP_CALLS)


def told(record: TrialRecord, noun: str) -> tuple[dict[str, int], str]:
    """Records of a call by its sort, as far as they are known, and a sentence about them."""
    known = {single.sort: single.records // CALLS for single in record.singles if single.records % CALLS == 0}
    if not any(single.records for single in record.singles):
        made = sum(single.calls for single in record.singles)
        text = f"no spans arrived of {plural(made, noun)}. Is the service's framework instrumented? "
        return {}, text + "What the agent costs all the same is measured; of delivery nothing can be said."
    varying = [single for single in record.singles if single.sort not in known]
    words = [f"{plural(records, 'record')} of a {noun} to {sort}" for sort, records in known.items()]
    words += [
        f"{plural(single.records, 'record')} of {plural(single.calls, noun)} to {single.sort}" for single in varying
    ]
    text = ", ".join(words)
    if varying:
        text += ": their number varies, so how many are delivered cannot be told"
    return known, text
