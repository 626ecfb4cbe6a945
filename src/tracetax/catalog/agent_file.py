"""Reads the agents' folders, ``agents/<name>/<language>/agent.toml``: which agents there are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tracetax.catalog.agent_checks import check_said, check_together, check_version
from tracetax.catalog.agent_shape import (
    CALL_TREE,
    AgentShape,
    ConfigurationShape,
    SetupShape,
    ancestry,
    artifact_of,
    instrumentations_of,
    merged,
    release_of,
    step_of,
)
from tracetax.catalog.reading import Report, did_you_mean, join, raise_problems, read_file
from tracetax.catalog.runtime_file import by_language, read_runtimes
from tracetax.kinds import KINDS
from tracetax.model import (
    AS_BUILT,
    BASELINE,
    MOST_OUTPUT_BYTES,
    Agent,
    Configuration,
    Delivery,
    Memory,
    Profile,
    Runtimes,
    Scrape,
    Technology,
)
from tracetax.program import Runtime

UNPROMISED_NAME = "{monitored.simple_class}.{monitored.method}"
"""What the sink takes for a record of the monitored method where none is promised and the file names none."""
FILE = "agent.toml"


class Known(Struct, frozen=True):
    """The agents that an experiment, or a command, can name: those for programs in one language."""

    agents: Mapping[str, Agent]
    unreadable: frozenset[str] = frozenset()
    """Agents whose own files have problems, which are reported there."""
    language: str = ""
    kind: str = ""
    elsewhere: Mapping[str, Sequence[str]] = {}
    """The languages that other agents are there for, by the agent."""


class EveryAgent(Struct, frozen=True):
    """All agents: products, each with a folder for every language that it is there for."""

    products: Mapping[str, Mapping[str, Agent]]
    """By product, and by the folder of its file below its product's: ``go``, or ``go/requests`` for one kind alone."""
    unreadable: frozenset[tuple[str, str]] = frozenset()
    """Product and language of those whose files have problems."""

    def of(self, language: str, kind: str = CALL_TREE) -> Known:
        """Those for programs in a language, and for a kind of workload.

        Where the language is not known (empty), a product stands for its agents in every language.
        """
        if not language:
            agents = {product: _joined(tuple(agents.values())) for product, agents in self.products.items()}
            return Known(agents, frozenset(product for product, _ in self.unreadable))
        agents: dict[str, Agent] = {}
        for product, folders in self.products.items():
            agent = folders.get(f"{language}/{kind}") or folders.get(language)
            if agent and kind in agent.kinds:
                agents[product] = agent
        return Known(
            agents=agents,
            unreadable=frozenset(product for product, of in self.unreadable if of in (language, "")),
            language=language,
            kind=kind,
            elsewhere={
                product: tuple(dict.fromkeys(agent.language for agent in folders.values()))
                for product, folders in self.products.items()
                if product not in agents
            },
        )

    @property
    def single(self) -> list[Agent]:
        """Each agent for each language."""
        return [agent for agents in self.products.values() for agent in agents.values()]


def load_agents(root: Path, language: str, own: Sequence[Path] = ()) -> dict[str, Agent]:
    """The agents for programs in a language, by the names of their products. Raises CatalogError."""
    return dict(every_agent(root, own).of(language).agents)


def every_agent(root: Path, own: Sequence[Path] = ()) -> EveryAgent:
    """All agents of ``root/agents``, and in ``own`` folders of the user's. Raises CatalogError."""
    agents, reports = read_agents(root, own)
    raise_problems(*reports)
    return agents


def read_agents(root: Path, own: Sequence[Path] = ()) -> tuple[EveryAgent, list[Report]]:
    """Read every agent's folders: those of ``root/agents``, and in ``own`` folders of the user's.

    An agent in whose file something is wrong is in its report only. The reports of the runtimes come first.
    """
    products: dict[str, dict[str, Agent]] = {}
    unreadable: set[tuple[str, str]] = set()
    runtimes, reports = read_runtimes(root)
    for place in (root / "agents", *own):
        shipped = place == root / "agents"
        folders = _agent_folders(place, shipped=shipped)
        if not shipped and not folders:
            report = Report(str(place))
            lacks = "holds no agent: each is a folder of its own, with an agent.toml in it"
            report.add("folder", lacks if place.is_dir() else "does not exist")
            reports.append(report)
        for folder in folders:
            path = folder.path / FILE
            report = Report(path.relative_to(root).as_posix() if shipped else str(path))
            agent = _read_agent(folder, by_language(runtimes), report)
            reports.append(report)
            product, language = folder.product, folder.language or (agent.language if agent else "")
            place = "/".join(filter(None, (language, folder.below)))
            if place in products.get(product, {}):
                text = f'there is an agent by the name of "{product}" for {language} already: rename the folder'
                report.add("folder", text)
            if agent is None or report.problems:
                unreadable.add((product, language))
            else:
                own_folder = "" if shipped and folder.language else str(folder.path)
                products.setdefault(product, {})[place] = replace(agent, folder=own_folder)
    return EveryAgent(products, frozenset(unreadable)), reports


def configured(agent: Agent, name: str, technology: str = "") -> str:
    """What a configuration is called in a technology: ``NAME:TECHNOLOGY``, or ``NAME`` in its agent's default one."""
    name, _, own = name.partition(":")
    technology = technology or own
    return f"{name}:{technology}" if technology and technology != agent.technology else name


def stock_of(agent: Agent) -> list[str]:
    """The configurations of profile stock that deliver records: what is measured where none is named."""
    return [
        config.name
        for config in agent.configurations.values()
        if config.profile is Profile.STOCK and config.delivery is not Delivery.NONE
    ]


def unknown_agent(name: str, known: Known) -> str:
    """The sentence about an agent that does not exist, or not for the language that is measured."""
    if languages := known.elsewhere.get(name):
        if known.language in languages:
            folder = f"agents/{name}/{known.language}"
            return (
                f"{name} is not set up for the kind {known.kind} in {known.language}. "
                f"Write {folder}/{known.kind}/{FILE}, or name the kind in {folder}/{FILE} if one file will do "
                "(docs/add-an-agent.md)"
            )
        file = f"agents/{name}/{known.language}/{FILE}"
        way = f"Write {file} (docs/add-an-agent.md), or measure a workload in one of these"
        return f"{name} has no folder for {known.language}: it has {', '.join(languages)}. {way}"
    hint = did_you_mean(name, (key for key in known.agents if key != BASELINE.agent))
    return f'"{name}" is no agent{hint}   {listed("agents", known.agents.values())}'


def listed(what: str, agents: Iterable[Agent]) -> str:
    """The command that lists ``what``, with the folders of those of the ``agents`` that are the user's own."""
    own = "".join(f" --agents-dir {agent.folder}" for agent in agents if agent.folder)
    return f"(./tracetax list {what}{own})"


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


class Folder(Struct, frozen=True):
    """A folder that an agent's file should lie in."""

    path: Path
    product: str
    language: str = ""
    """That of a folder in its product's; empty for a folder that is an agent by itself, whose file says it."""
    below: str = ""
    """The one kind of workload that its file is for, where it lies in a folder of that name below its language's."""


def _agent_folders(place: Path, *, shipped: bool) -> list[Folder]:
    """The agents' folders in a place: ``<product>/<language>``, or in the user's own places ``<product>`` itself.

    Such a place may also be the product's folder, or the folder of an agent.
    """
    if shipped:
        return [folder for product in _folders(place) for folder in _of_product(product)]
    place = place.resolve()
    if (place / FILE).is_file():
        return [_own_folder(place)]
    return [
        folder
        for child in _folders(place)
        for folder in ([_own_folder(child)] if (child / FILE).is_file() else _of_product(child))
    ]


def _own_folder(path: Path) -> Folder:
    """A folder with an agent's file in a place of the user's.

    It is the one of a product for a language where its name is what the file says as its language.
    """
    shape = read_file(path / FILE, AgentShape, Report(""))
    if shape is not None and shape.language == path.name:
        return Folder(path, path.parent.name, path.name)
    return Folder(path, path.name)


def _of_product(product: Path) -> list[Folder]:
    """The folders of a product, by language; where none has an agent's file, its own, which lacks it."""
    folders = _folders(product)
    if not any((folder / FILE).is_file() for folder in folders):
        return [Folder(product, product.name)]
    return [
        Folder(path, product.name, folder.name, "" if path == folder else path.name)
        for folder in folders
        for path in (folder, *(below for below in _folders(folder) if (below / FILE).is_file()))
        if path == folder or path.name in KINDS
    ]


def _folders(place: Path) -> list[Path]:
    folders = sorted(place.iterdir()) if place.is_dir() else []
    return [folder for folder in folders if folder.is_dir() and not folder.name.startswith(".")]


def _joined(agents: Sequence[Agent]) -> Agent:
    """A product in all of its languages, for a reader who asks for names only."""
    return replace(
        agents[0],
        artifacts={name: artifact for agent in agents for name, artifact in agent.artifacts.items()},
        configurations={name: config for agent in agents for name, config in agent.configurations.items()},
        technologies={name: technology for agent in agents for name, technology in agent.technologies.items()},
    )


def _read_agent(folder: Folder, runtimes: Mapping[str, Runtime], report: Report) -> Agent | None:
    if not (folder.path / FILE).exists():
        lacks = "there is no such file" + ("" if folder.language else ", and none in the folder of a language below it")
        report.add("file", lacks)
        return None
    shape = read_file(folder.path / FILE, AgentShape, report)
    if shape is None:
        return None
    runtime = runtimes.get(shape.language)
    check_said(shape, runtime.refused_flags if runtime else (), report)
    if folder.language and shape.language != folder.language:
        report.add("language", f'"{shape.language}" must be the name of its folder, "{folder.language}"')
    for index, kind in enumerate(shape.kinds):
        if kind not in KINDS:
            report.add(f"kinds[{index}]", f'"{kind}" is no kind of workload{did_you_mean(kind, KINDS)}')
    if folder.below and shape.kinds != (folder.below,):
        report.add("kinds", f'must be ["{folder.below}"], the name of its folder')
    check_version(shape, folder.product, report)
    if not shape.configurations:
        report.add("configurations", "is empty: an agent needs at least one")
    return Agent(
        key=folder.product,
        name=shape.name,
        homepage=shape.homepage,
        licence=shape.licence,
        language=shape.language,
        runtime=Runtimes(shape.runtime.min, shape.runtime.tested),
        instrumentation=shape.instrumentation,
        instrumentations=instrumentations_of(shape.instrumentations),
        reference=shape.reference or "",
        artifacts={name: artifact_of(name, artifact) for name, artifact in shape.artifacts.items()},
        configurations=_configurations(folder.product, shape, report),
        prepare=tuple(map(step_of, shape.prepare)),
        technology=shape.technology or "",
        environment_prefixes=shape.environment_prefixes,
        technologies={
            name: Technology(name, technology.title, technology.published_as or "")
            for name, technology in shape.technologies.items()
        },
        version_named=shape.version or "",
        kinds=shape.kinds,
        below=folder.below,
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
        records_per_call=setup.records_per_call or {},
        record_name=setup.record_name or (None if promises else UNPROMISED_NAME),
        queue=setup.queue if promises else None,
        queue_trees=setup.queue_trees if promises else None,
        held_back=(setup.held_back or 0) if promises else 0,
        flush_interval_ns=(setup.flush_interval or 0) if promises else 0,
        pause_ns=(setup.pause or 0) if promises else 0,
        drop_log=setup.drop_log if promises else None,
        deletes_oldest=bool(setup.deletes_oldest) and promises,
        most_output_bytes=setup.most_output or MOST_OUTPUT_BYTES,
        wrapper=setup.wrapper or (),
        program=setup.program or "",
        flags=setup.flags,
        environment=setup.environment,
        memory=Memory(setup.memory.base, setup.memory.per_record) if setup.memory else None,
        published=own.published,
        release=release_of(own.release),
        search_path=AS_BUILT if setup.search_path is None else setup.search_path,
        own_search_path=setup.own_search_path or (),
        tree_limit=setup.tree_limit,
        technology=combined.technology,
        if_nothing_arrives=own.if_nothing_arrives or "",
        sampling=setup.sampling.sampler if setup.sampling and setup.delivery is Delivery.SAMPLED else None,
        scrape=Scrape(setup.scrape.path, setup.scrape.interval, setup.scrape.metric or "")
        if setup.scrape and promises
        else None,
    )
