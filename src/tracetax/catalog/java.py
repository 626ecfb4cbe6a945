"""Whether agents run on the Java that a run will use, and whether they were ever tried on it."""

from collections.abc import Iterable, Mapping

from tracetax.errors import UserError
from tracetax.model import BASELINE, Agent


def check_java(agents: Mapping[int, Iterable[Agent]]) -> None:
    """Raise UserError, with every agent that needs a newer Java than a feature release on which it would be measured.

    ``agents`` are those that are measured on each release.
    """
    lacking = [(agent, release) for release, on_it in agents.items() for agent in on_it if release < agent.java.min]
    if lacking:
        needs = "".join(
            f"{_who(agent)} needs Java {agent.java.min} or newer, and would run on Java {release}.\n"
            for agent, release in lacking
        )
        newest = max(agent.java.min for agent, _ in lacking)
        raise UserError(
            f"{needs}Ask for a JDK of at least {newest}: --jdk {newest}, or JAVA_HOME=… ./tracetax run\n"
            "Or take what needs it out of the experiment."
        )


def untested_java(agents: Iterable[Agent], release: int) -> list[str]:
    """A sentence for each agent that runs on feature release ``release`` as far as it says, but was not tried on it."""
    return [
        f"{_who(agent)} was not tried on Java {release}"
        + (f", but on {_listed(agent.java.tested)}." if agent.java.tested else " or any other.")
        for agent in agents
        if agent.java.min <= release and release not in agent.java.tested
    ]


def _who(agent: Agent) -> str:
    return "The baseline" if agent.key == BASELINE.agent else f"{agent.key} {agent.version}"


def _listed(releases: tuple[int, ...]) -> str:
    *others, last = map(str, releases)
    return f"{', '.join(others)} and {last}" if others else last
