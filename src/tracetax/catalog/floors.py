"""The floor beside what an experiment measures: ``--floor``."""

from collections.abc import Mapping

from msgspec.structs import replace

from tracetax.errors import UserError
from tracetax.model import Agent, Experiment, Part, Use


def with_floor(experiment: Experiment, agents: Mapping[str, Agent]) -> Experiment:
    """The experiment with a floor in each part whose programs one can trace.

    Raises UserError where there is none for any part.
    """
    parts = tuple(_beside_floor(part, agents) for part in experiment.parts)
    if all(_floor_of(part, agents) is None for part in experiment.parts):
        raise UserError(
            "--floor: of the agents for these programs, none says what a complete tracer must cost.\n"
            "The key floor in an agent's file does (docs/agent-file.md)."
        )
    return replace(experiment, parts=parts)


def _beside_floor(part: Part, agents: Mapping[str, Agent]) -> Part:
    floor = _floor_of(part, agents)
    return part if floor is None or floor in part.uses else replace(part, uses=(*part.uses, floor))


def _floor_of(part: Part, agents: Mapping[str, Agent]) -> Use | None:
    """The agent that says what a complete tracer must cost, of those for a part's program."""
    named = (agent for agent in agents.values() if agent.floor and agents.get(part.agent_key(agent.key)) is agent)
    return next((Use(agent.key, agent.floor) for agent in named), None)
