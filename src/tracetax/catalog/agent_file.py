"""Reads the agents' folders, ``agents/<name>/agent.toml``, and says which agents there are and what they run on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tracetax.catalog.agent_checks import check_said, check_together
from tracetax.catalog.agent_shape import (
    AgentShape,
    ArtifactShape,
    ConfigurationShape,
    PrepareShape,
    SetupShape,
    ancestry,
    merged,
)
from tracetax.catalog.reading import Report, did_you_mean, join, raise_problems, read_file
from tracetax.catalog.runtime_file import read_runtimes
from tracetax.errors import UserError
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


class Known(Struct, frozen=True):
    """The agents that an experiment, or a command, can name."""

    agents: Mapping[str, Agent]
    unreadable: frozenset[str] = frozenset()
    """Agents whose own files have problems, which are reported there."""


def load_agents(root: Path, own: Sequence[Path] = ()) -> dict[str, Agent]:
    """All agents of ``root/agents``, and in ``own`` folders of the user's, by the name of their folder.

    Raises CatalogError.
    """
    agents, reports = read_agents(root, own)
    raise_problems(*reports)
    return agents


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


def configured(agent: Agent, name: str, technology: str = "") -> str:
    """What a configuration is called in a technology: ``NAME:TECHNOLOGY``, or ``NAME`` in its agent's default one."""
    name, _, own = name.partition(":")
    technology = technology or own
    return f"{name}:{technology}" if technology and technology != agent.technology else name


def unknown_agent(name: str, known: Known) -> str:
    """The sentence about an agent that does not exist."""
    hint = did_you_mean(name, (key for key in known.agents if key != BASELINE.agent))
    return f'"{name}" is no agent{hint}   {listed("agents", known.agents.values())}'


def listed(what: str, agents: Iterable[Agent]) -> str:
    """The command that lists ``what``, with the folders of those of the ``agents`` that are the user's own."""
    own = "".join(f" --agents-dir {agent.folder}" for agent in agents if agent.folder)
    return f"(./tracetax list {what}{own})"


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


def artifact_of(name: str, said: ArtifactShape) -> Artifact:
    """``[artifacts.<name>]`` as the rest of Tracetax knows it."""
    return Artifact(
        name=name,
        maven=said.maven or "",
        sha256=said.sha256 or "",
        url=said.url or "",
        given=said.given or "",
        version_named=said.version or "",
    )


def step_of(said: PrepareShape) -> PrepareStep:
    """``[[prepare]]`` as the rest of Tracetax knows it."""
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


class Combined(Struct, frozen=True):
    """A configuration in one technology, with everything that it takes from other tables of its agent's file."""

    name: str
    own: ConfigurationShape
    """What its own table says."""
    setup: SetupShape
    """What holds for it: its own table, and all that it takes from others."""
    inherited: tuple[str, ...]
    """Tables that it takes from, beside its own and ``[common]``."""
    technology: str
    title: str
    by_default: bool


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


def _configurations(agent: str, shape: AgentShape, report: Report) -> dict[str, Configuration]:
    """All configurations in the order of the file, each in every technology.

    Checked are those first that others extend, and the technology first that holds where none is named.
    """
    chains = {name: ancestry(name, shape.configurations, report) for name in shape.configurations}
    every = [
        combined
        for name, chain in chains.items()
        if chain is not None
        for combined in _in_technologies(name, chain, shape)
    ]
    configurations = {combined.name: _built(agent, combined) for combined in every}
    for combined in sorted(every, key=lambda combined: (not combined.by_default, len(combined.inherited))):
        check_together(configurations[combined.name], combined.own, combined.inherited, combined.setup, report)
    return configurations


def _in_technologies(name: str, chain: tuple[str, ...], shape: AgentShape) -> Iterator[Combined]:
    """A configuration in the technology that needs no name, then in each of the others."""
    own = shape.configurations[name]
    setups = tuple(shape.configurations[link] for link in chain)
    extended = tuple(join("configurations", link) for link in chain[:-1])
    default = shape.technology if shape.technology in shape.technologies else None
    others = [technology for technology in shape.technologies if technology != default]
    for technology in (default, *others):
        if technology is None:
            yield Combined(name, own, merged(shape.common, *setups), extended, "", own.title, by_default=True)
            continue
        said = shape.technologies[technology]
        by_default = technology == default
        yield Combined(
            name=name if by_default else f"{name}:{technology}",
            own=own,
            setup=merged(shape.common, said, *setups),
            inherited=(join("technologies", technology), *extended),
            technology=technology,
            title=own.title if by_default else f"{own.title}, {said.title}",
            by_default=by_default,
        )


def _built(agent: str, combined: Combined) -> Configuration:
    """The configuration as the rest of Tracetax knows it; where nothing is promised, nothing is waited for."""
    own, setup = combined.own, combined.setup
    promises = setup.delivery is not Delivery.NONE
    shipped = own.profile is not Profile.STOCK or combined.by_default
    return Configuration(
        agent=agent,
        name=combined.name,
        title=combined.title,
        layers=setup.layers or (),
        delivery=setup.delivery or Delivery.NONE,
        profile=own.profile if shipped else None,
        protocol=setup.protocol if promises else None,
        records_per_invocation=setup.records_per_invocation or 1,
        record_name=setup.record_name or (None if promises else UNPROMISED_NAME),
        queue=setup.queue if promises else None,
        queue_trees=setup.queue_trees if promises else None,
        held_back=(setup.held_back or 0) if promises else 0,
        flush_interval_ns=(setup.flush_interval or 0) if promises else 0,
        pause_ns=(setup.pause or 0) if promises else 0,
        drop_log=setup.drop_log if promises else None,
        deletes_oldest=bool(setup.deletes_oldest) and promises,
        most_output_bytes=setup.most_output or MOST_OUTPUT_BYTES,
        jvm=setup.jvm,
        environment=setup.environment,
        memory=Memory(setup.memory.base, setup.memory.per_record) if setup.memory else None,
        published=own.published,
        class_path=AS_COMPILED if setup.class_path is None else setup.class_path,
        tree_limit=setup.tree_limit,
        technology=combined.technology,
        sampling=Sampling(setup.sampling.one_in, setup.sampling.by)
        if setup.sampling and setup.delivery is Delivery.SAMPLED
        else None,
        scrape=Scrape(setup.scrape.path, setup.scrape.interval, setup.scrape.metric or "")
        if setup.scrape and promises
        else None,
    )


def _who(agent: Agent) -> str:
    return "The baseline" if agent.key == BASELINE.agent else f"{agent.key} {agent.version}"


def _listed(releases: tuple[int, ...]) -> str:
    *others, last = map(str, releases)
    return f"{', '.join(others)} and {last}" if others else last
