"""Checks the configurations that an experiment names against the agents there are."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from tracetax.catalog.experiment_shape import UsesShape
from tracetax.catalog.names import did_you_mean, one_of
from tracetax.catalog.problems import Report
from tracetax.model import BASELINE, Agent, Use


class Known(Struct, frozen=True):
    """The agents that an experiment can name."""

    agents: Mapping[str, Agent]
    unreadable: frozenset[str] = frozenset()
    """Agents whose own files have problems, which are reported there."""


def read_uses(groups: tuple[UsesShape, ...], path: str, language: str, known: Known, report: Report) -> dict[str, Use]:
    """The configurations named by ``groups``, by the key that names each.

    ``path`` is the key of the list; ``language`` is the workload's, empty where it is not known.
    """
    uses: dict[str, Use] = {}
    for position, group in enumerate(groups):
        key = f"{path}[{position}]"
        agent = known.agents.get(group.agent)
        if not group.use:
            report.add(f"{key}.use", "is an empty list: name at least one configuration")
        if agent is None:
            if group.agent not in known.unreadable:
                report.add(f"{key}.agent", unknown_agent(group.agent, known))
            continue
        if language and agent.language != language:
            report.add(f"{key}.agent", f"{agent.key} traces {agent.language}, the workload is in {language}")
        for technology in _technologies(agent, group, key, report):
            for index, name in enumerate(group.use):
                where = f"{key}.use[{index}]"
                use = Use(agent.key, configured(agent, name, technology))
                if use == BASELINE:
                    report.add(where, "is the baseline, which every block contains twice without being named")
                elif use.configuration not in agent.configurations:
                    hint = did_you_mean(name, agent.configurations)
                    command = listed(f"configurations {agent.key}", [agent])
                    report.add(where, f'"{name}" is no configuration of {agent.key}{hint}   {command}')
                elif use in uses.values():
                    report.add(where, f"{use} is named twice")
                else:
                    uses[f"{where}:{technology}" if technology else where] = use
    return uses


def uses_if_given(groups: tuple[UsesShape, ...], path: str, uses: Mapping[str, Use]) -> tuple[Use, ...]:
    """Those of ``uses``, as ``read_uses`` gave them, whose group may be left out."""
    optional = tuple(f"{path}[{position}]" for position, group in enumerate(groups) if group.if_given)
    return tuple(use for key, use in uses.items() if key.startswith(optional))


def configured(agent: Agent, name: str, technology: str = "") -> str:
    """What a configuration is called in a technology; the one that holds anyway needs no name."""
    name, _, own = name.partition(":")
    technology = technology or own
    return f"{name}:{technology}" if technology and technology != agent.technology else name


def _technologies(agent: Agent, group: UsesShape, key: str, report: Report) -> tuple[str, ...]:
    """Those that a group names, or an empty name where it names none; none after a problem was reported."""
    if group.technologies is None:
        return ("",)
    if not group.technologies:
        report.add(f"{key}.technologies", "is an empty list: name at least one technology, or leave it out")
    found: list[str] = []
    for index, technology in enumerate(group.technologies):
        where = f"{key}.technologies[{index}]"
        if technology not in agent.technologies:
            known = f". It has {one_of(agent.technologies)}" if agent.technologies else ", which has only one way"
            hint = did_you_mean(technology, agent.technologies) or known
            report.add(where, f'"{technology}" is no technology of {agent.key}{hint}')
        elif technology in found:
            report.add(where, f"{technology} is named twice")
        else:
            found.append(technology)
    if any(":" in name for name in group.use):
        report.add(f"{key}.technologies", "stands beside names that say a technology themselves: leave one of the two")
        return ()
    return tuple(found)


def unknown_agent(name: str, known: Known) -> str:
    """The sentence about an agent that does not exist."""
    hint = did_you_mean(name, (key for key in known.agents if key != BASELINE.agent))
    return f'"{name}" is no agent{hint}   {listed("agents", known.agents.values())}'


def listed(what: str, agents: Iterable[Agent]) -> str:
    """The command that lists ``what``, with the folders of those of the ``agents`` that are the user's own."""
    own = "".join(f" --agents-dir {agent.folder}" for agent in agents if agent.folder)
    return f"(./tracetax list {what}{own})"
