"""Which configurations an experiment's file names, of the agents that there are for a program."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec.structs import replace

from tracetax.catalog.agent_file import configured, listed, stock_of, unknown_agent
from tracetax.catalog.experiment_shape import ExperimentShape, PartShape, UsesShape
from tracetax.catalog.reading import Report, did_you_mean, join, one_of
from tracetax.catalog.workload_file import Lack, MeasuredProgram
from tracetax.model import BASELINE, Agent, Part, Use


def uses_of(path: str, part: PartShape, shape: ExperimentShape) -> tuple[tuple[UsesShape, ...], str]:
    """A part's own configurations, or else the experiment's, with the key under which they stand."""
    if part.configurations:
        return part.configurations, join(path, "configurations")
    return shape.configurations, "configurations"


def read_uses(
    groups: tuple[UsesShape, ...], path: str, program: MeasuredProgram, lacks: list[Lack], report: Report
) -> dict[str, Use]:
    """The configurations named by ``groups``, by the key that names each; ``path`` is the key of the list.

    What a program's language does not have is appended to ``lacks``.
    """
    uses: dict[str, Use] = {}
    known = program.known
    for position, group in enumerate(groups):
        key = f"{path}[{position}]"
        agent = known.agents.get(group.agent)
        if group.use is not None and not group.use:
            report.add(f"{key}.use", "is an empty list: name at least one configuration")
        if agent is None:
            if group.agent not in known.unreadable:
                lacks.append(Lack(f"{key}.agent", group.agent, unknown_agent(group.agent, known), program.key))
                lacks += [Lack(where, what, "", program.key) for where, what in _asked(group, key)]
            continue
        names = stock_of(agent) if group.use is None else group.use
        if not names and group.use is None:
            text = f"is missing: {agent.key} has no stock configuration that delivers records"
            lacks.append(Lack(f"{key}.use", f"{agent.key} as shipped", text, program.key))
        technologies, unknown = _technologies(agent, group, key, report)
        lacks += [Lack(where, what, text, program.key) for where, what, text in unknown]
        for technology in technologies:
            for index, name in enumerate(names):
                where = f"{key}.use[{index}]"
                use = Use(agent.key, configured(agent, name, technology))
                if use == BASELINE:
                    report.add(where, "is the baseline, which every block contains twice without being named")
                elif use.configuration not in agent.configurations:
                    hint = did_you_mean(name, agent.configurations)
                    command = listed(f"configurations {agent.key}", [agent])
                    text = f'"{name}" is no configuration of {agent.key}{hint}   {command}'
                    lacks.append(Lack(where, f"{agent.key} {name}", text, program.key))
                elif use in uses.values():
                    report.add(where, f"{use} is named twice")
                else:
                    uses[f"{where}:{technology}" if technology else where] = use
    return uses


def _asked(group: UsesShape, key: str) -> Iterator[tuple[str, str]]:
    """What a group asks for of its agent: the key of each, and what it is."""
    if group.use is None:
        yield f"{key}.use", f"{group.agent} as shipped"
    for index, name in enumerate(group.use or ()):
        yield f"{key}.use[{index}]", f"{group.agent} {name}"
    for index, technology in enumerate(group.technologies or ()):
        yield f"{key}.technologies[{index}]", f"{group.agent} by {technology}"


def _technologies(
    agent: Agent, group: UsesShape, key: str, report: Report
) -> tuple[tuple[str, ...], list[tuple[str, str, str]]]:
    """Those that a group names, or an empty name where it names none; none after a problem was reported.

    Beside them what the agent does not have: its key, what it is, and the problem.
    """
    unknown: list[tuple[str, str, str]] = []
    if group.technologies is None:
        return ("",), unknown
    if not group.technologies:
        report.add(f"{key}.technologies", "is an empty list: name at least one technology, or leave it out")
    technologies: list[str] = []
    for index, technology in enumerate(group.technologies):
        where = f"{key}.technologies[{index}]"
        if technology not in agent.technologies:
            known = f". It has {one_of(agent.technologies)}" if agent.technologies else ", which has only one way"
            hint = did_you_mean(technology, agent.technologies) or known
            text = f'"{technology}" is no technology of {agent.key}{hint}'
            unknown.append((where, f"{agent.key} by {technology}", text))
        elif technology in technologies:
            report.add(where, f"{technology} is named twice")
        else:
            technologies.append(technology)
    if any(":" in name for name in group.use or ()):
        report.add(f"{key}.technologies", "stands beside names that say a technology themselves: leave one of the two")
        return (), unknown
    return tuple(technologies), unknown


def uses_if_given(groups: tuple[UsesShape, ...], path: str, uses: Mapping[str, Use]) -> tuple[Use, ...]:
    """Those of ``uses``, as ``_read_uses`` gave them, whose group may be left out."""
    optional = tuple(f"{path}[{position}]" for position, group in enumerate(groups) if group.if_given)
    return tuple(use for key, use in uses.items() if key.startswith(optional))


def searched_parts(parts: Iterable[Part], agents: Callable[[Part], Mapping[str, Agent]]) -> tuple[Part, ...]:
    """A part for the baseline and each configuration of ``parts``, as searches have them; ``agents`` are a part's."""
    return tuple(
        replace(
            part,
            name=f"{part.name}-{use.agent}-{use.configuration}".replace(":", "-"),
            title=f"{part.title}: {searched_title(use, agents(part))}",
            uses=(use,),
        )
        for part in parts
        for use in (BASELINE, *part.uses)
    )


def searched_title(use: Use, agents: Mapping[str, Agent]) -> str:
    """Whose rate is searched for, in words."""
    if use == BASELINE:
        return "No agent"
    return f"{agents[use.agent].name} ({agents[use.agent].configurations[use.configuration].title})"
