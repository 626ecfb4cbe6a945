"""Reads the agents' folders: ``agents/<name>/agent.toml``."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tracetax.catalog.agent_checks import check_said, check_together
from tracetax.catalog.agent_shape import AgentShape, ArtifactShape, ConfigurationShape, PrepareShape, SetupShape
from tracetax.catalog.inheritance import ancestry, merged
from tracetax.catalog.problems import Report, join
from tracetax.catalog.runtime_file import read_runtimes
from tracetax.catalog.shape import read_file
from tracetax.ledger import Sampling
from tracetax.model import (
    AS_COMPILED,
    BASELINE,
    MOST_OUTPUT_BYTES,
    Agent,
    Artifact,
    Configuration,
    Delivery,
    Memory,
    Profile,
    Runtimes,
    Scrape,
    Technology,
)
from tracetax.preparation import Compilation, GoBuild, PrepareStep, Program
from tracetax.program import Runtime

UNPROMISED_NAME = "{monitored.simple_class}.{monitored.method}"
"""What the sink takes for a record of the monitored method where none is promised and the file names none."""


def read_agents(root: Path, own: Sequence[Path] = ()) -> tuple[dict[str, Agent], list[Report]]:
    """Read every agent's folder: those of ``root/agents``, and in ``own`` folders of the user's.

    An agent in whose file something is wrong is in its report only. The reports of the runtimes come first.
    """
    agents: dict[str, Agent] = {}
    runtimes, reports = read_runtimes(root)
    for place in (root / "agents", *own):
        shipped = place == root / "agents"
        folders = _agent_folders(place)
        if not shipped and not folders:
            report = Report(str(place))
            lacks = "holds no agent: each is a folder of its own, with an agent.toml in it"
            report.add("folder", lacks if place.is_dir() else "does not exist")
            reports.append(report)
        for folder in folders:
            report = Report(f"agents/{folder.name}/agent.toml" if shipped else str(folder / "agent.toml"))
            agent = _read_agent(folder, runtimes, report)
            if not shipped and (root / "agents" / folder.name).is_dir():
                report.add("folder", f'there is an agent by the name of "{folder.name}" already: rename the folder')
            reports.append(report)
            if agent is not None and not report.problems:
                agents[folder.name] = agent if shipped else replace(agent, folder=str(folder.resolve()))
    return agents, reports


def _agent_folders(place: Path) -> list[Path]:
    """The agents' folders in a place; the place itself, if it is one."""
    if (place / "agent.toml").is_file():
        return [place.resolve()]
    if not place.is_dir():
        return []
    return [folder for folder in sorted(place.iterdir()) if folder.is_dir() and not folder.name.startswith(".")]


def _read_agent(folder: Path, runtimes: Mapping[str, Runtime], report: Report) -> Agent | None:
    shape = read_file(folder / "agent.toml", AgentShape, report)
    if shape is None:
        return None
    runtime = runtimes.get(shape.language)
    check_said(shape, runtime.refused_flags if runtime else (), report)
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
        artifacts={name: artifact_of(name, artifact) for name, artifact in shape.artifacts.items()},
        configurations=_configurations(folder.name, shape, report),
        prepare=tuple(map(step_of, shape.prepare)),
        technology=shape.technology or "",
        environment_prefixes=shape.environment_prefixes,
        technologies={
            name: Technology(name, technology.title, technology.published_as or "")
            for name, technology in shape.technologies.items()
        },
    )


def artifact_of(name: str, said: ArtifactShape) -> Artifact:
    """The artifact as the rest of Tracetax knows it."""
    return Artifact(
        name=name,
        maven=said.maven or "",
        sha256=said.sha256 or "",
        url=said.url or "",
        given=said.given or "",
        version_named=said.version or "",
    )


def step_of(said: PrepareShape) -> PrepareStep:
    """The step as the rest of Tracetax knows it."""
    compilation, program = said.compile, said.run
    return PrepareStep(
        name=said.name,
        unzip=said.unzip,
        strip=said.strip or 0,
        copy=said.copy,
        compile=Compilation(compilation.sources, compilation.class_path, compilation.release, compilation.jar or "")
        if compilation
        else None,
        run=Program(program.main, program.class_path, program.jvm, program.arguments) if program else None,
        go=GoBuild(said.go.sources, said.go.program) if said.go else None,
    )


class Held(Struct, frozen=True):
    """A configuration in one technology, with everything that it takes from elsewhere."""

    name: str
    own: ConfigurationShape
    held: SetupShape
    inherited: tuple[str, ...]
    """Sections that it takes from, beside its own and ``[common]``."""
    technology: str
    title: str
    by_default: bool


def _configurations(agent: str, shape: AgentShape, report: Report) -> dict[str, Configuration]:
    """All configurations in the order of the file, each in every technology.

    Checked are those first that others extend, and the technology first that holds where none is named.
    """
    found = {name: ancestry(name, shape.configurations, report) for name in shape.configurations}
    chains = {name: chain for name, chain in found.items() if chain is not None}
    every = [held for name, chain in chains.items() for held in _in_technologies(name, chain, shape)]
    configurations = {held.name: _built(agent, held) for held in every}
    for held in sorted(every, key=lambda held: (not held.by_default, len(held.inherited))):
        check_together(configurations[held.name], held.own, held.inherited, held.held, report)
    return configurations


def _in_technologies(name: str, chain: tuple[str, ...], shape: AgentShape) -> Iterator[Held]:
    """A configuration in the technology that needs no name, then in each of the others."""
    own = shape.configurations[name]
    setups = tuple(shape.configurations[link] for link in chain)
    extended = tuple(join("configurations", link) for link in chain[:-1])
    default = shape.technology if shape.technology in shape.technologies else None
    others = [technology for technology in shape.technologies if technology != default]
    for technology in (default, *others):
        if technology is None:
            yield Held(name, own, merged(shape.common, *setups), extended, "", own.title, by_default=True)
            continue
        said = shape.technologies[technology]
        by_default = technology == default
        yield Held(
            name=name if by_default else f"{name}:{technology}",
            own=own,
            held=merged(shape.common, said, *setups),
            inherited=(join("technologies", technology), *extended),
            technology=technology,
            title=own.title if by_default else f"{own.title}, {said.title}",
            by_default=by_default,
        )


def _built(agent: str, of: Held) -> Configuration:
    """The configuration as the rest of Tracetax knows it; where nothing is promised, nothing is waited for."""
    own, held = of.own, of.held
    promises = held.delivery is not Delivery.NONE
    shipped = own.profile is not Profile.STOCK or of.by_default
    return Configuration(
        agent=agent,
        name=of.name,
        title=of.title,
        layers=held.layers or (),
        delivery=held.delivery or Delivery.NONE,
        profile=own.profile if shipped else None,
        protocol=held.protocol if promises else None,
        records_per_invocation=held.records_per_invocation or 1,
        record_name=held.record_name or (None if promises else UNPROMISED_NAME),
        queue=held.queue if promises else None,
        queue_trees=held.queue_trees if promises else None,
        held_back=(held.held_back or 0) if promises else 0,
        flush_interval_ns=(held.flush_interval or 0) if promises else 0,
        pause_ns=(held.pause or 0) if promises else 0,
        drop_log=held.drop_log if promises else None,
        deletes_oldest=bool(held.deletes_oldest) and promises,
        most_output_bytes=held.most_output or MOST_OUTPUT_BYTES,
        jvm=held.jvm,
        environment=held.environment,
        memory=Memory(held.memory.base, held.memory.per_record) if held.memory else None,
        published=own.published,
        class_path=AS_COMPILED if held.class_path is None else held.class_path,
        tree_limit=held.tree_limit,
        technology=of.technology,
        sampling=Sampling(held.sampling.one_in, held.sampling.by)
        if held.sampling and held.delivery is Delivery.SAMPLED
        else None,
        scrape=Scrape(held.scrape.path, held.scrape.interval, held.scrape.metric or "")
        if held.scrape and promises
        else None,
    )
