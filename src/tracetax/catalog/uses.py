"""Checks the configurations that an experiment names against the agents there are."""

from collections.abc import Mapping

from msgspec import Struct

from tracetax.catalog.experiment_shape import UsesShape
from tracetax.catalog.names import did_you_mean
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
        if agent.key == BASELINE.agent:
            report.add(f"{key}.agent", "is the baseline, which every block contains twice without being named")
            continue
        if language and agent.language != language:
            report.add(f"{key}.agent", f"{agent.key} traces {agent.language}, the workload is in {language}")
        for index, name in enumerate(group.use):
            use = Use(agent.key, name)
            if name not in agent.configurations:
                hint = did_you_mean(name, agent.configurations)
                command = f"(./tracetax list configurations {agent.key})"
                report.add(f"{key}.use[{index}]", f'"{name}" is no configuration of {agent.key}{hint}   {command}')
            elif use in uses.values():
                report.add(f"{key}.use[{index}]", f"{use} is named twice")
            else:
                uses[f"{key}.use[{index}]"] = use
    return uses


def unknown_agent(name: str, known: Known) -> str:
    """The sentence about an agent that does not exist."""
    hint = did_you_mean(name, (key for key in known.agents if key != BASELINE.agent))
    return f'"{name}" is no agent{hint}   (./tracetax list agents)'
