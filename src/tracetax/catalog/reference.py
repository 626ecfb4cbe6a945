"""The reference beside what an experiment measures: ``--floor``."""

from collections.abc import Mapping

from msgspec.structs import replace

from tracetax.errors import UserError
from tracetax.model import Agent, Experiment, Part, Use


def with_reference(experiment: Experiment, agents: Mapping[str, Agent]) -> Experiment:
    """The experiment with a reference in each part whose programs one can trace.

    Raises UserError where there is none for any part.
    """
    parts = tuple(_beside_reference(part, agents) for part in experiment.parts)
    if all(_reference_of(part, agents) is None for part in experiment.parts):
        raise UserError(
            "--floor: of the agents for these programs, none says what a complete tracer must cost.\n"
            "The key reference in an agent's file does (docs/agent-file.md)."
        )
    return replace(experiment, parts=parts)


def _beside_reference(part: Part, agents: Mapping[str, Agent]) -> Part:
    reference = _reference_of(part, agents)
    return part if reference is None or reference in part.uses else replace(part, uses=(*part.uses, reference))


def _reference_of(part: Part, agents: Mapping[str, Agent]) -> Use | None:
    """The agent that says what a complete tracer must cost, of those for a part's program."""
    named = (agent for agent in agents.values() if agent.reference and agents.get(part.agent_key(agent.key)) is agent)
    return next((Use(agent.key, agent.reference) for agent in named), None)
