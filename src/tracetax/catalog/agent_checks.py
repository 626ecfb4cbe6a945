"""What must hold in an agent's file beyond the type of each value."""

import re
from collections.abc import Iterable, Sequence

from tracetax.catalog.agent_shape import AgentShape, ConfigurationShape, SetupShape
from tracetax.catalog.artifact_checks import check_artifact
from tracetax.catalog.names import did_you_mean, one_of
from tracetax.catalog.placeholders import (
    MONITORED,
    PROTOCOLS,
    known,
    known_on_class_path,
    names_in,
    sink_protocols,
    way_to,
)
from tracetax.catalog.prepare_checks import check_steps
from tracetax.catalog.problems import Report, join
from tracetax.model import SCRAPED, Configuration, Delivery, Profile


def check_said(shape: AgentShape, refused_flags: Sequence[str], report: Report) -> None:
    """Check every value where it is said, so that one in ``[common]`` is reported once.

    ``refused_flags`` are regular expressions for flags that a run sets, or that would start something else.
    """
    for name, artifact in shape.artifacts.items():
        check_artifact(join("artifacts", name), artifact, report)
    check_steps(shape.prepare, shape.artifacts, check_names, report)
    _check_technology(shape, report)
    prepared = [step.name for step in shape.prepare]
    sections: dict[str, SetupShape] = {"common": shape.common}
    sections |= {join("technologies", name): setup for name, setup in shape.technologies.items()}
    sections |= {join("configurations", name): setup for name, setup in shape.configurations.items()}
    for path, setup in sections.items():
        _check_flags(path, setup.jvm, refused_flags, report)
        _check_placeholders(path, setup, known(shape.artifacts, prepared), report)
        if setup.class_path == ():
            report.add(join(path, "class_path"), "is an empty list: the program's own classes must be on it")
        for index, entry in enumerate(setup.class_path or ()):
            names = known_on_class_path(shape.artifacts, prepared)
            key = f"{join(path, 'class_path')}[{index}]"
            check_names(key, entry, names, report)
            if not entry.startswith("{"):
                report.add(key, f'"{entry}" must begin with a placeholder, as in "{{agent.files}}/{entry}"')
        if setup.protocol is not None and setup.protocol not in PROTOCOLS:
            hint = did_you_mean(setup.protocol, PROTOCOLS)
            report.add(join(path, "protocol"), f'"{setup.protocol}" is none of the sink\'s: {one_of(PROTOCOLS)}{hint}')
        if setup.drop_log is not None:
            _check_drop_log(join(path, "drop_log"), setup.drop_log, report)


def check_together(
    configuration: Configuration, own: ConfigurationShape, inherited: Iterable[str], held: SetupShape, report: Report
) -> None:
    """Check what the values of one configuration mean together, with all that it takes from ``inherited`` sections."""
    name, _, technology = configuration.name.partition(":")
    where = f' (with the technology "{technology}")' if technology else ""
    path = join("configurations", name)
    sections = ("common", *inherited, path)

    def add(key: str, text: str, *because_of: str) -> None:
        """Add a problem, unless one of the values that it follows from is wrong itself."""
        if not any(report.concerns(join(section, name)) for name in (key, *because_of) for section in sections):
            report.add(join(path, key), text + where)

    for key in ("layers", "delivery"):
        if not getattr(held, key):
            add(key, "is missing, here, in what it extends and in [common]")
    if own.profile is Profile.LOSSLESS and held.delivery is not Delivery.COMPLETE:
        add("profile", 'is "lossless", so delivery must be "complete"', "delivery")
    if own.sampling is not None and held.delivery not in (None, Delivery.SAMPLED):
        add("sampling", f'is given, but delivery = "{held.delivery}" does not sample', "delivery")
    if held.delivery in (None, Delivery.NONE):
        if own.protocol is not None:
            add("protocol", 'is given, but delivery = "none" promises no records', "delivery")
        return
    for key in ("protocol", "record_name"):
        if getattr(held, key) is None:
            add(key, f'is missing: delivery = "{configuration.delivery}" promises records')
    if held.protocol in PROTOCOLS and held.protocol not in sink_protocols(configuration):
        missing = "where its files go" if configuration.writes_files else "where the sink listens for that"
        if held.protocol == SCRAPED:
            missing = "where it shall serve its metrics"
        text = f'is "{held.protocol}", but no flag says {missing}, as "{{{way_to(held.protocol)}}}" would'
        add("protocol", text, "jvm", "environment")
    if held.protocol == SCRAPED and held.scrape is None:
        add("scrape", f'is missing: protocol = "{SCRAPED}" needs to know what to ask for', "protocol")
    if held.scrape is not None and held.protocol != SCRAPED:
        add("scrape", f'is given, but protocol is not "{SCRAPED}"', "protocol")
    if (held.protocol == SCRAPED) != (held.delivery is Delivery.AGGREGATED):
        add("delivery", f'must be "aggregated" where protocol = "{SCRAPED}", and only there', "protocol")
    if held.deletes_oldest and held.protocol in PROTOCOLS and not configuration.writes_files:
        add("deletes_oldest", f'is true, but "{held.protocol}" writes no files', "protocol")
    if held.deletes_oldest and held.delivery is Delivery.COMPLETE:
        add("deletes_oldest", 'is true, but delivery = "complete" promises to keep every record', "delivery")


def _check_technology(shape: AgentShape, report: Report) -> None:
    if shape.technology is None and shape.technologies:
        report.add("technology", f"is missing: which of {one_of(shape.technologies)} holds where none is named")
    elif shape.technology is not None and shape.technology not in shape.technologies:
        hint = did_you_mean(shape.technology, shape.technologies)
        text = f'"{shape.technology}" is no technology of this file, as [technologies.{shape.technology}] would be'
        report.add("technology", text + hint)


def _check_placeholders(path: str, setup: SetupShape, names: tuple[str, ...], report: Report) -> None:
    templates = {f"{join(path, 'jvm')}[{index}]": flag for index, flag in enumerate(setup.jvm)}
    templates |= {join(join(path, "environment"), name): value for name, value in setup.environment.items()}
    for key, template in templates.items():
        check_names(key, template, names, report)
    check_names(join(path, "record_name"), setup.record_name or "", MONITORED, report)


def _check_flags(path: str, flags: tuple[str, ...], refused: Sequence[str], report: Report) -> None:
    for index, flag in enumerate(flags):
        if any(re.fullmatch(pattern, flag.strip()) for pattern in refused):
            why = "the experiment sets it, the same for baseline and agents"
            report.add(f"{join(path, 'jvm')}[{index}]", f'"{flag}" must not stand here: {why}')


def check_names(key: str, template: str, names: tuple[str, ...], report: Report) -> None:
    """Report a placeholder in a text that is none of ``names``."""
    wrong = [name for name in names_in(template) if name not in names]
    if wrong:
        hint = did_you_mean(wrong[0], names) or f". Known: {', '.join(names)}"
        report.add(key, f'there is no placeholder "{{{wrong[0]}}}"{hint}')


def _check_drop_log(key: str, pattern: str, report: Report) -> None:
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        report.add(key, f"is no regular expression: {error}")
        return
    if groups != 1:
        report.add(key, f"must have exactly one group, which is the number of dropped records; it has {groups}")
