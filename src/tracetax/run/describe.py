"""A plan in words, before anything is started."""

from collections.abc import Iterator, Mapping

from tracetax.kinds import declaration_of
from tracetax.model import Agent, Experiment, Part, Search, Settings, heap_of, settings_key
from tracetax.program import Runtime
from tracetax.results.records import BASELINES, Cell
from tracetax.run.plan import cells, configuration, expected_seconds, memory_cells
from tracetax.run.progress import between_words, duration_words
from tracetax.schedule import Schedule
from tracetax.words import listed_words, plural

VARIANTS = {
    "fast": "The shorter version, as [fast] in its file says; without --fast it is measured in full.",
    "as-published": "As many calls and starts as were published, as [as-published] in its file says.",
}


def estimated_seconds(experiment: Experiment, agents: dict[str, Agent]) -> tuple[float, float]:
    """A first guess at the length of the run: with the fewest and with the most blocks, bounded by the budget."""
    parts = {part.name: part for part in experiment.parts}
    every = cells(experiment, agents)

    def seconds(of: list[Cell]) -> float:
        return sum(_seconds(cell, parts[cell.part], agents) for cell in of)

    block, memory = seconds(every), seconds(memory_cells(every)) if experiment.schedule.memory else 0.0
    wanted = experiment.schedule.starts_wanted

    def further(blocks: int) -> float:
        baselines, others = (
            [cell for cell in every if (cell.role == role)] for role in (BASELINES[0], "configuration")
        )
        return max(0, wanted - blocks) * seconds(others) + max(0, wanted - 2 * blocks) * seconds(baselines)

    budget = max(block, experiment.schedule.budget_ns / 1e9)
    return (
        min(budget, block * experiment.schedule.min_blocks + memory + further(experiment.schedule.min_blocks)),
        min(budget, block * experiment.schedule.max_blocks + memory + further(experiment.schedule.max_blocks)),
    )


def _seconds(cell: Cell, part: Part, agents: dict[str, Agent]) -> float:
    """A first guess at a trial's length."""
    return expected_seconds(cell, part, configuration(agents, cell.use, part))


def estimate_words(experiment: Experiment, agents: dict[str, Agent]) -> str:
    """How long a run takes, in words."""
    return f"about {between_words(*estimated_seconds(experiment, agents))}"


def plan_lines(
    experiment: Experiment, agents: dict[str, Agent], seed: int, runtime: Runtime, others: Mapping[str, Runtime] = {}
) -> Iterator[str]:
    """The plan of an experiment, line by line.

    ``runtime`` runs its workload; where there are several, ``others`` has those of all, by the workload.
    """
    schedule = experiment.schedule
    every = cells(experiment, agents)
    yield f"{experiment.key}: {experiment.title}"
    if experiment.paper:
        yield f"After {experiment.paper}."
    if experiment.variant:
        yield VARIANTS[experiment.variant]
    if not experiment.result:
        yield "Only checks that everything works; its numbers are no result."
    settings = list({settings_key(part.settings): part.settings for part in experiment.parts}.values())
    differ = len(settings) > 1 or len(others) > 1
    for part in experiment.parts:
        yield ""
        own = others.get(part.workload, runtime)
        own_settings = f"; {settings_words(part.settings, own)}" if differ else ""
        yield f"{part.title}: {part_words(part)}{own_settings}"
        for cell in (cell for cell in every if cell.part == part.name):
            own = cell.heap_bytes != heap_of(part.settings)
            heap = f", heap {cell.heap_bytes / 2**20:,.0f} MiB" if own else ""
            yield f"  {_cell_words(cell, part, agents)}{heap}"
    yield ""
    yield (
        f"A block is each of these {len(every)} trials once, in fresh processes, in random order (seed {seed}). "
        f"{_count(schedule.min_blocks, schedule.max_blocks)}."
    )
    bounds = [f"{schedule.half_width_ratio * 100:g} % of the ratio"] if schedule.half_width_ratio else []
    bounds += [f"{schedule.half_width_ns:g} ns per call"] if schedule.half_width_ns else []
    if schedule.min_blocks == schedule.max_blocks:
        bounds = []
    yield (
        "A part stops "
        + (f"when every 95 % interval has a half-width of at most {' or '.join(bounds)}, " if bounds else "")
        + f"after its last block, or when the budget of {duration_words(schedule.budget_ns / 1e9)} is spent."
    )
    grows = any(others.get(part.workload, runtime).grows for part in experiment.parts)
    yield from _beside_blocks(schedule, memory=schedule.memory and grows)
    common = "as named above" if differ else settings_words(settings[0], runtime)
    own_heap = ", except where a configuration has its own heap" if any(map(heap_of, settings)) else ""
    heading = listed_words([one.heading for one in others.values()]) if len(others) > 1 else runtime.heading
    yield f"{heading}: {common}, the same for baseline and agents of a part{own_heap}."
    for key, agent in agents.items():
        if agent.builds:
            first, second = agent.builds
            yield f"Two builds of {key} are compared, paired in each block: {first} and {second}."
        for artifact in (artifact for artifact in agent.artifacts.values() if artifact.file):
            yield f"{key}.{artifact.name} is {artifact.file}."
    if experiment.published:
        platforms = ", ".join(dict.fromkeys(row.platform for row in experiment.published))
        count = len({row.use for row in experiment.published})
        yield f"Published values of {plural(count, 'configuration')}, baseline included, stand beside: {platforms}."
    if experiment.published_lines:
        count = len({line.use for line in experiment.published_lines})
        platforms = ", ".join(dict.fromkeys(line.platform for line in experiment.published_lines))
        lines = f"{plural(count, 'published line')} {'stands' if count == 1 else 'stand'}"
        yield f"{lines} beside: {platforms}."
    yield f"Estimated time: {estimate_words(experiment, agents)}."
    if short := budget_words(experiment, agents):
        yield short


def search_lines(experiment: Experiment, search: Search) -> Iterator[str]:
    """The plan of an experiment that searches for rates, line by line."""
    yield f"{experiment.key}: {experiment.title}"
    if experiment.paper:
        yield f"After {experiment.paper}."
    yield ""
    for part in experiment.parts:
        yield f"{part.title}"
    yield ""
    yield (
        f"Of each, {search.words} is searched for by trials of {search.seconds:g} s in fresh processes, in rounds: one "
        f"of each, and again. Where a trial comes near, {search.further} further ones are made at its rate."
    )
    yield f"No trial begins that would not end within {duration_words(experiment.schedule.budget_ns / 1e9)}."


def budget_words(experiment: Experiment, agents: dict[str, Agent]) -> str:
    """A sentence where the budget is expected to end before the fewest blocks are made; else empty."""
    parts = {part.name: part for part in experiment.parts}
    every = cells(experiment, agents)
    block = sum(_seconds(cell, parts[cell.part], agents) for cell in every)
    budget = experiment.schedule.budget_ns / 1e9
    if block * experiment.schedule.min_blocks <= budget:
        return ""
    least = experiment.schedule.min_blocks
    words = f"The budget of {duration_words(budget)} is too small for {plural(least, 'block')}"
    if block > budget:
        return (
            f"{words}: one block alone takes about {duration_words(block)}. That one is made all the same, and one "
            "block has no interval."
        )
    count = int(budget // block)
    return (
        f"{words}: {plural(count, 'block')} {'fits' if count == 1 else 'fit'}, at about {duration_words(block)} each."
    )


def _beside_blocks(schedule: Schedule, *, memory: bool) -> Iterator[str]:
    """What else a schedule asks for."""
    if schedule.min_calls or schedule.max_calls:
        least = f", at least {schedule.min_calls:,}" if schedule.min_calls else ""
        most = f", at most {schedule.max_calls:,}" if schedule.max_calls else ""
        yield (
            "After three blocks the calls of each configuration's starts are chosen anew where that saves time"
            f"{least}{most}. Those blocks do not count for it then."
        )
    if memory:
        yield "After its last block, one more trial of each measures memory: with a heap that begins small and grows."
    if schedule.starts_wanted:
        yield (
            f"Then each is started alone until {schedule.starts_wanted} starts of it are known, as far as the budget "
            "lasts: where one is slow, more blocks follow."
        )


def settings_words(settings: Settings, runtime: Runtime) -> str:
    """The settings of a part's runtime, in words, in the order of its file."""
    words: list[str] = [] if runtime.find else ["built by the one that is found first"]
    for name, setting in runtime.settings.items():
        value = settings.get(name, 0)
        if setting.kind == "release":
            words.append(runtime.called(int(value)) if value else f"the {runtime.noun} that is found first")
        elif setting.kind == "size" and value:
            words.append(f"{name} {int(value) / 2**20:,.0f} MiB")
        elif value:
            words.append(str(value))
    return ", ".join(words) or f"the {runtime.noun} that is found first"


def part_words(part: Part) -> str:
    """What one trial of a part calls, in words."""
    return declaration_of(part.parameters).words(part.parameters)


def _cell_words(cell: Cell, part: Part, agents: dict[str, Agent]) -> str:
    config = configuration(agents, cell.use, part)
    name = f"baseline ({cell.role[-1]} of 2)" if cell.role != "configuration" else f"{cell.use}: {config.title}"
    return f"{name}, promises {config.delivery}" if cell.role == "configuration" else name


def _count(least: int, most: int) -> str:
    return plural(least, "block") if least == most else f"{least} to {most} blocks"
