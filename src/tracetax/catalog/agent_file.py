"""Reads the agents' folders: ``agents/<name>/agent.toml``."""

from pathlib import Path

from tracetax.catalog.agent_checks import check_said, check_together
from tracetax.catalog.agent_shape import AgentShape, ConfigurationShape, SetupShape
from tracetax.catalog.inheritance import ancestry, merged
from tracetax.catalog.problems import Report, join
from tracetax.catalog.shape import read_file
from tracetax.model import BASELINE, Agent, Artifact, Configuration, Delivery, Memory, Runtimes


def read_agents(root: Path) -> tuple[dict[str, Agent], list[Report]]:
    """Read every agent's folder. An agent in whose file something is wrong is in its report only."""
    agents: dict[str, Agent] = {}
    reports: list[Report] = []
    for folder in sorted((root / "agents").iterdir()):
        if not folder.is_dir() or folder.name.startswith("."):
            continue
        report = Report(f"agents/{folder.name}/agent.toml")
        agent = _read_agent(folder, report)
        reports.append(report)
        if agent is not None and not report.problems:
            agents[folder.name] = agent
    return agents, reports


def _read_agent(folder: Path, report: Report) -> Agent | None:
    shape = read_file(folder / "agent.toml", AgentShape, report)
    if shape is None:
        return None
    check_said(shape, report)
    if "agent" not in shape.artifacts and folder.name != BASELINE.agent:
        report.add("artifacts.agent", "is missing: it is the agent itself, whose version stands in every row")
    if not shape.configurations:
        report.add("configurations", "is empty: an agent needs at least one")
    return Agent(
        key=folder.name,
        name=shape.name,
        homepage=shape.homepage,
        licence=shape.licence,
        language=shape.language,
        java=Runtimes(shape.java.min, shape.java.tested),
        instrumentation=shape.instrumentation,
        artifacts={name: Artifact(name, artifact.maven, artifact.sha256) for name, artifact in shape.artifacts.items()},
        configurations=_configurations(folder.name, shape, report),
    )


def _configurations(agent: str, shape: AgentShape, report: Report) -> dict[str, Configuration]:
    """All configurations in the order of the file; checked are those first that others extend."""
    found = {name: ancestry(name, shape.configurations, report) for name in shape.configurations}
    chains = {name: chain for name, chain in found.items() if chain is not None}
    held = {
        name: merged(shape.common, tuple(shape.configurations[link] for link in chain))
        for name, chain in chains.items()
    }
    configurations = {name: _built(agent, name, shape.configurations[name], held[name]) for name in chains}
    for name, chain in sorted(chains.items(), key=lambda item: len(item[1])):
        inherited = [join("configurations", link) for link in chain[:-1]]
        check_together(configurations[name], shape.configurations[name], inherited, held[name], report)
    return configurations


def _built(agent: str, name: str, own: ConfigurationShape, held: SetupShape) -> Configuration:
    """The configuration as the rest of Tracetax knows it; where nothing is promised, nothing is waited for."""
    promises = held.delivery is not Delivery.NONE
    return Configuration(
        agent=agent,
        name=name,
        title=own.title,
        layers=held.layers or (),
        delivery=held.delivery or Delivery.NONE,
        profile=own.profile,
        protocol=held.protocol if promises else None,
        records_per_invocation=held.records_per_invocation or 1,
        record_name=held.record_name,
        queue=held.queue if promises else None,
        held_back=(held.held_back or 0) if promises else 0,
        flush_interval_ns=(held.flush_interval or 0) if promises else 0,
        drop_log=held.drop_log if promises else None,
        deletes_oldest=bool(held.deletes_oldest) and promises,
        jvm=held.jvm,
        environment=held.environment,
        memory=Memory(held.memory.base, held.memory.per_record) if held.memory else None,
        published=own.published,
    )
