"""What must hold in an agent's file beyond the type of each value, and of what its trials run on.

Artifacts, ``[[prepare]]`` and placeholders are checked for backends too.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import asdict

from tracetax.catalog.agent_shape import (
    AgentShape,
    ArtifactShape,
    ConfigurationShape,
    PrepareShape,
    ReleaseShape,
    SamplingShape,
    SetupShape,
)
from tracetax.catalog.placeholders import (
    ANY_NAMED,
    FILES,
    FORMER,
    MONITORED,
    PREPARED,
    PROTOCOLS,
    known,
    known_before_trials,
    known_in_steps,
    names_in,
    sink_protocols,
    unsaid_ports,
    way_to,
)
from tracetax.catalog.reading import Report, did_you_mean, join, one_of
from tracetax.errors import UserError
from tracetax.model import BASELINE, SCRAPED, Agent, Configuration, Delivery, Profile
from tracetax.program import Runtime
from tracetax.words import listed_words

SOURCES = {
    "maven": 'maven = "group:artifact:version"',
    "url": 'url = "https://…"',
    "given": 'given = "what file it is"',
}
"""Where an artifact may come from, and how that is said."""
NEEDED = {
    "maven": {"sha256": "of the file that was really fetched"},
    "url": {"sha256": "of the file that was really fetched", "version": "which stands in every row"},
    "given": {},
}
"""By source: keys that must stand beside it, and why."""
UNWANTED = {
    "maven": {"version": "the coordinate says it"},
    "url": {},
    "given": {"sha256": "the file that is given is known by its own"},
}
"""By source: keys that must not stand beside it, and why."""
ANY_NAME = "*"
"""In the place of a record's name: every record counts."""
SAMPLING = ({"one_in", "by"}, {"at_most", "per"})
"""Keys of ``sampling``: either the ones or the others, and all of them."""
WORK = ("unzip", "copy", "compile", "go", "cc", "pip", "npm", "run")
"""Keys of a ``[[prepare]]``, of which it needs one at least."""


def check_said(shape: AgentShape, refused_flags: Sequence[str], report: Report) -> None:
    """Check every value where it is said, so that one in ``[common]`` is reported once.

    ``refused_flags`` are regular expressions for flags that a run sets, or that would start something else.
    """
    for name, artifact in shape.artifacts.items():
        check_artifact(join("artifacts", name), artifact, report)
    check_steps(shape.prepare, shape.artifacts, report)
    if said := shape.instrumentations:
        check_one_group("instrumentations.scope", said.scope, "the name of an instrumentation", report)
        if "{NAME}" not in said.variable and "{name}" not in said.value:
            report.add("instrumentations", "says no name: {NAME} in the variable, or {name} in its value")
    if shape.reference is not None and shape.reference not in shape.configurations:
        hint = did_you_mean(shape.reference, shape.configurations)
        report.add("reference", f'"{shape.reference}" is no configuration of it{hint}')
    _check_technology(shape, report)
    for name, own in shape.configurations.items():
        other = own.if_nothing_arrives
        if other is not None and (other == name or other not in shape.configurations):
            hint = did_you_mean(other, shape.configurations)
            key = join(join("configurations", name), "if_nothing_arrives")
            report.add(key, f'"{other}" is no other configuration of this file{hint}')
    prepared = [step.name for step in shape.prepare]
    sections: dict[str, SetupShape] = {"common": shape.common}
    sections |= {join("technologies", name): setup for name, setup in shape.technologies.items()}
    sections |= {join("configurations", name): setup for name, setup in shape.configurations.items()}
    for name, configuration in shape.configurations.items():
        if configuration.release is not None:
            _check_release(f"configurations.{name}.release", configuration.release, shape, report)
    for path, setup in sections.items():
        _check_flags(path, setup.flags, refused_flags, report)
        _check_placeholders(path, setup, known(shape.artifacts, prepared), report)
        if setup.search_path == ():
            report.add(join(path, "search_path"), "is an empty list: the program itself must be on it")
        places = dict(_numbered(join(path, "search_path"), setup.search_path or ()))
        places |= dict(_numbered(join(path, "own_search_path"), setup.own_search_path or ()))
        places |= {join(path, "program"): setup.program} if setup.program else {}
        for key, entry in places.items():
            check_names(key, entry, known_before_trials(shape.artifacts, prepared), report)
            if not entry.startswith("{"):
                report.add(key, f'"{entry}" must begin with a placeholder, as in "{{agent.files}}/{entry}"')
        if setup.protocol is not None and setup.protocol not in PROTOCOLS:
            hint = did_you_mean(setup.protocol, PROTOCOLS)
            report.add(join(path, "protocol"), f'"{setup.protocol}" is none of the sink\'s: {one_of(PROTOCOLS)}{hint}')
        if setup.sampling and not _says_how(setup.sampling) and not report.concerns(join(path, "sampling")):
            text = 'says either { one_in = 20, by = "count" }, or "chance", or { at_most = 60, per = "3 s" }'
            report.add(join(path, "sampling"), text)
        if setup.drop_log is not None:
            check_one_group(join(path, "drop_log"), setup.drop_log, "the number of dropped records", report)


def _says_how(sampling: SamplingShape) -> bool:
    """Whether it says what a sampler needs, and nothing else."""
    return {name for name, value in asdict(sampling).items() if value} in SAMPLING


def check_version(shape: AgentShape, product: str, report: Report) -> None:
    """Report a version that is said twice, or nowhere."""
    if "agent" in shape.artifacts:
        if shape.version is not None:
            report.add("version", "must not stand beside artifacts.agent, whose version stands in every row")
    elif shape.version is None and product != BASELINE.agent:
        text = "is missing: it is the agent itself, whose version stands in every row"
        if any(step.pip or step.npm or step.go for step in shape.prepare):
            report.add("version", "is missing: of what [[prepare]] installs or builds; it stands in every row")
        else:
            report.add("artifacts.agent", text)


def _check_release(path: str, release: ReleaseShape, shape: AgentShape, report: Report) -> None:
    """Report a release that is no artifact of the file, or whose day is not known."""
    artifact = shape.artifacts.get(release.artifact)
    if artifact is None:
        hint = did_you_mean(release.artifact, shape.artifacts)
        report.add(join(path, "artifact"), f'"{release.artifact}" is no artifact of this file{hint}')
    elif artifact.released is None:
        key = join("artifacts", release.artifact)
        report.add(f"{key}.released", f"is missing: {path} stands on a line over the days of releases")


def check_together(
    configuration: Configuration, own: ConfigurationShape, inherited: Iterable[str], setup: SetupShape, report: Report
) -> None:
    """Check what the values of one configuration mean together.

    ``own`` is what its table says; ``setup`` is that with all that it takes from ``inherited`` sections.
    """
    name, _, technology = configuration.name.partition(":")
    where = f' (with the technology "{technology}")' if technology else ""
    path = join("configurations", name)
    sections = ("common", *inherited, path)

    def add(key: str, text: str, *because_of: str) -> None:
        """Add a problem, unless one of the values that it follows from is wrong itself."""
        if not any(report.concerns(join(section, name)) for name in (key, *because_of) for section in sections):
            report.add(join(path, key), text + where)

    for key in ("layers", "delivery"):
        if not getattr(setup, key):
            add(key, "is missing, here, in what it extends and in [common]")
    if own.profile is Profile.LOSSLESS and setup.delivery is not Delivery.COMPLETE:
        add("profile", 'is "lossless", so delivery must be "complete"', "delivery")
    if own.sampling is not None and setup.delivery not in (None, Delivery.SAMPLED):
        add("sampling", f'is given, but delivery = "{setup.delivery}" does not sample', "delivery")
    if setup.delivery in (None, Delivery.NONE):
        if own.protocol is not None:
            add("protocol", 'is given, but delivery = "none" promises no records', "delivery")
        return
    for key in ("protocol", "record_name"):
        if getattr(setup, key) is None:
            add(key, f'is missing: delivery = "{configuration.delivery}" promises records')
    if setup.protocol in PROTOCOLS and setup.protocol not in sink_protocols(configuration):
        missing = "where its files go" if configuration.writes_files else "where the sink listens for that"
        if setup.protocol == SCRAPED:
            missing = "where it shall serve its metrics"
        text = f'is "{setup.protocol}", but no flag says {missing}, as "{{{way_to(setup.protocol)}}}" would'
        add("protocol", text, "flags", "environment", "wrapper")
    for port in unsaid_ports(configuration, setup.protocol or ""):
        text = f'is "{setup.protocol}", which needs two ports, but no flag says the second, as "{{{port}}}" would'
        add("protocol", text, "flags", "environment", "wrapper")
    if setup.record_name == ANY_NAME and setup.protocol in PROTOCOLS and setup.protocol not in ANY_NAMED:
        text = f'is "{ANY_NAME}", which is any name of {listed_words(ANY_NAMED)} alone'
        add("record_name", text, "protocol")
    if setup.protocol == SCRAPED and setup.scrape is None:
        add("scrape", f'is missing: protocol = "{SCRAPED}" needs to know what to ask for', "protocol")
    if setup.scrape is not None and setup.protocol != SCRAPED:
        add("scrape", f'is given, but protocol is not "{SCRAPED}"', "protocol")
    if (setup.protocol == SCRAPED) != (setup.delivery is Delivery.AGGREGATED):
        add("delivery", f'must be "aggregated" where protocol = "{SCRAPED}", and only there', "protocol")
    if setup.deletes_oldest and setup.protocol in PROTOCOLS and not configuration.writes_files:
        add("deletes_oldest", f'is true, but "{setup.protocol}" writes no files', "protocol")
    if setup.deletes_oldest and setup.delivery is Delivery.COMPLETE:
        add("deletes_oldest", 'is true, but delivery = "complete" promises to keep every record', "delivery")


def check_artifact(path: str, artifact: ArtifactShape, report: Report) -> None:
    """Report a missing or second source, and what is missing or too much beside it."""
    if report.concerns(path):
        return
    sources = [source for source in SOURCES if getattr(artifact, source) is not None]
    if not sources:
        report.add(path, f"has no source: {', '.join(SOURCES.values())}")
        return
    first, *others = sources
    for source in others:
        report.add(join(path, source), f"is a second source beside {first}: an artifact has one")
    if others:
        return
    for key, what in NEEDED[first].items():
        if getattr(artifact, key) is None:
            report.add(join(path, key), f"is missing: {what}")
    for key, why in UNWANTED[first].items():
        if getattr(artifact, key) is not None:
            report.add(join(path, key), f"must not stand beside {first}: {why}")


def check_steps(
    steps: Sequence[PrepareShape], artifacts: Collection[str], report: Report, *, files: str = FILES
) -> None:
    """Report names that are not there, steps without work, and circles.

    ``files`` is the placeholder of the folder that the file lies in: an agent's, or a backend's.
    """
    names = [step.name for step in steps]
    for index, step in enumerate(steps):
        path = f"prepare[{index}]"
        if report.concerns(join(path, "name")):
            continue
        if step.name in names[:index]:
            report.add(join(path, "name"), f'there are two steps by the name of "{step.name}"')
        if not any(getattr(step, key) for key in WORK) and not report.concerns(path):
            report.add(path, f"does nothing: give {', '.join(WORK[:-1])} or {WORK[-1]}")
        if step.strip is not None and not step.unzip:
            report.add(join(path, "strip"), "is given, but nothing is unpacked")
        others = [name for name in names if name != step.name]
        for key, text in _texts(path, step):
            check_names(key, text, known_in_steps(artifacts, others, files), report)
            if not text.startswith("{") and not key.startswith((f"{path}.run.jvm", f"{path}.run.arguments")):
                report.add(key, f'"{text}" must begin with a placeholder, as in "{{{files}}}/{text}"')
        circle = _circle(step.name, {other.name: other for other in steps})
        if circle and index == min(map(names.index, circle)):
            report.add(path, f"goes in a circle: {' → '.join(circle)}")


def check_names(key: str, template: str, names: tuple[str, ...], report: Report) -> None:
    """Report a placeholder in a text that is none of ``names``."""
    wrong = [name for name in names_in(template) if name not in names]
    if wrong and FORMER.get(wrong[0]) in names:
        report.add(key, f'"{{{wrong[0]}}}" is called "{{{FORMER[wrong[0]]}}}" now')
    elif wrong:
        hint = did_you_mean(wrong[0], names) or f". Known: {', '.join(names)}"
        report.add(key, f'there is no placeholder "{{{wrong[0]}}}"{hint}')


def check_releases(agents: Mapping[int, Iterable[Agent]], runtime: Runtime) -> None:
    """Raise UserError, with every agent that needs a newer release of its runtime than it would be measured on.

    ``agents`` are those that are measured on each release.
    """
    lacking = [(agent, release) for release, on_it in agents.items() for agent in on_it if release < agent.runtime.min]
    if lacking:
        needs = "".join(
            f"{_who(agent)} needs {runtime.called(agent.runtime.min)} or newer, "
            f"and would run on {runtime.called(release)}.\n"
            for agent, release in lacking
        )
        newest = max(agent.runtime.min for agent, _ in lacking)
        setting = next((key for key, setting in runtime.settings.items() if setting.kind == "release"), "")
        asked = f" (--set {setting}={newest}, or {setting} under [runtime.{runtime.key}])" if setting else ""
        raise UserError(
            f"{needs}Ask for {runtime.called(newest)} or newer{asked}, or let one be found first: ./tracetax doctor\n"
            "Or take what needs it out of the experiment."
        )


def untested_releases(agents: Iterable[Agent], release: int, runtime: Runtime) -> list[str]:
    """A sentence for each agent that runs on a ``release`` as far as it says, but was not tried on it."""
    return [
        f"{_who(agent)} was not tried on {runtime.called(release)}"
        + (f", but on {_listed(agent.runtime.tested, runtime)}." if agent.runtime.tested else " or any other.")
        for agent in agents
        if agent.runtime.min <= release and release not in agent.runtime.tested
    ]


def _check_technology(shape: AgentShape, report: Report) -> None:
    if shape.technology is None and shape.technologies:
        report.add("technology", f"is missing: which of {one_of(shape.technologies)} holds where none is named")
    elif shape.technology is not None and shape.technology not in shape.technologies:
        hint = did_you_mean(shape.technology, shape.technologies)
        text = f'"{shape.technology}" is no technology of this file, as [technologies.{shape.technology}] would be'
        report.add("technology", text + hint)


def _check_placeholders(path: str, setup: SetupShape, names: tuple[str, ...], report: Report) -> None:
    templates = dict(_numbered(join(path, "flags"), setup.flags))
    templates |= dict(_numbered(join(path, "wrapper"), setup.wrapper or ()))
    templates |= {join(join(path, "environment"), name): value for name, value in setup.environment.items()}
    for key, template in templates.items():
        check_names(key, template, names, report)
    check_names(join(path, "record_name"), setup.record_name or "", MONITORED, report)


def _check_flags(path: str, flags: tuple[str, ...], refused: Sequence[str], report: Report) -> None:
    for index, flag in enumerate(flags):
        if any(re.fullmatch(pattern, flag.strip()) for pattern in refused):
            why = "the experiment sets it, the same for baseline and agents, or it would start something else"
            report.add(f"{join(path, 'flags')}[{index}]", f'"{flag}" must not stand here: {why}')


def check_one_group(key: str, pattern: str, what: str, report: Report) -> None:
    """Report a pattern that is no regular expression, or has not exactly one group, which stands for ``what``."""
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        report.add(key, f"is no regular expression: {error}")
        return
    if groups != 1:
        report.add(key, f"must have exactly one group, which is {what}; it has {groups}")


def _texts(path: str, step: PrepareShape) -> Iterator[tuple[str, str]]:
    """Every text in which placeholders may stand, with its key."""
    yield from _numbered(join(path, "unzip"), step.unzip)
    yield from ((join(join(path, "copy"), target), source) for target, source in step.copy.items())
    if step.compile:
        yield f"{path}.compile.sources", step.compile.sources
        yield from _numbered(f"{path}.compile.class_path", step.compile.class_path)
    if step.go:
        yield f"{path}.go.sources", step.go.sources
        replaced = f"{path}.go.replace"
        yield from ((join(replaced, module), folder) for module, folder in step.go.replace.items())
    if step.cc:
        yield f"{path}.cc.sources", step.cc.sources
        yield from _numbered(f"{path}.cc.include", step.cc.include)
    for key in ("pip", "npm"):
        if packages := getattr(step, key):
            yield f"{path}.{key}.lock", packages.lock
    if step.run:
        for key in ("class_path", "jvm", "arguments"):
            yield from _numbered(f"{path}.run.{key}", getattr(step.run, key))


def _numbered(key: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    return ((f"{key}[{index}]", text) for index, text in enumerate(texts))


def _circle(name: str, steps: Mapping[str, PrepareShape]) -> list[str]:
    """The way from a step back to itself; empty where there is none."""
    ways = [[name]]
    seen: set[str] = set()
    while ways:
        way = ways.pop()
        for _, text in _texts("", steps[way[-1]]):
            for other in (used.removeprefix(PREPARED) for used in names_in(text) if used.startswith(PREPARED)):
                if other == name:
                    return [*way, name]
                if other in steps and other not in seen:
                    seen.add(other)
                    ways.append([*way, other])
    return []


def _who(agent: Agent) -> str:
    return "The baseline" if agent.key == BASELINE.agent else f"{agent.key} {agent.version}"


def _listed(releases: Iterable[int], runtime: Runtime) -> str:
    *others, last = map(runtime.number, releases)
    return f"{', '.join(others)} and {last}" if others else last
