"""The configurations that ``--agent`` and ``--configuration`` name."""

from collections.abc import Sequence

from tracetax.catalog.names import did_you_mean
from tracetax.catalog.problems import Report
from tracetax.catalog.uses import Known, configured, listed, unknown_agent
from tracetax.model import BASELINE, Agent, Delivery, Profile, Use


def typed_uses(agent_keys: Sequence[str], names: Sequence[str] | None, known: Known, report: Report) -> tuple[Use, ...]:
    """The configurations of these names, of every agent that has one of them; without names, the stock ones."""
    if not agent_keys:
        report.add("--agent", f"names no agent   {listed('agents', known.agents.values())}")
    agents = [agent for key in agent_keys if (agent := _named_agent(key, names, known, report))]
    return _stock(agents, report) if names is None else _named(agents, names, report)


def _named_agent(key: str, names: Sequence[str] | None, known: Known, report: Report) -> Agent | None:
    agent = known.agents.get(key)
    if agent is None:
        report.add("--agent", unknown_agent(key, known))
    elif key == BASELINE.agent and (names is None or BASELINE.configuration in names):
        others = ", ".join(name for name in agent.configurations if name != BASELINE.configuration)
        hint = f"; its other forms can be named: {others}   (--configuration)" if others else ""
        text = f'"{key}" is the baseline: it delivers no records, and is in every block without being named{hint}'
        report.add("--agent", text)
        return None
    return agent


def _stock(agents: list[Agent], report: Report) -> tuple[Use, ...]:
    """The configurations of profile stock that deliver records."""
    uses: dict[Use, None] = {}
    for agent in agents:
        stock = [
            Use(agent.key, configuration.name)
            for configuration in agent.configurations.values()
            if configuration.profile is Profile.STOCK and configuration.delivery is not Delivery.NONE
        ]
        if not stock:
            text = f"{agent.key} has no stock configuration that delivers records; name one by --configuration"
            report.add("--agent", text)
        uses |= dict.fromkeys(stock)
    return tuple(uses)


def _named(agents: list[Agent], names: Sequence[str], report: Report) -> tuple[Use, ...]:
    uses: dict[Use, None] = {}
    for name in names:
        having = [
            use
            for agent in agents
            if (use := Use(agent.key, configured(agent, name))).configuration in agent.configurations
        ]
        if not having and agents:
            hint = did_you_mean(name, [one for agent in agents for one in agent.configurations])
            owners = ", ".join(agent.key for agent in agents)
            report.add("--configuration", f'"{name}" is no configuration of {owners}{hint}')
        uses |= dict.fromkeys(having)
    return tuple(uses)
