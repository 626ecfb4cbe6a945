"""What a configuration takes from ``[common]``, from a technology and from the configuration that it extends."""

from collections.abc import Mapping
from typing import Any

from tracetax.catalog.agent_shape import ConfigurationShape, SetupShape
from tracetax.catalog.names import did_you_mean
from tracetax.catalog.problems import Report, join


def ancestry(name: str, configurations: Mapping[str, ConfigurationShape], report: Report) -> tuple[str, ...] | None:
    """A configuration and those it extends, the farthest first; None, with a problem, where that leads nowhere."""
    chain = [name]
    while (parent := configurations[chain[-1]].extends) is not None:
        key = join(join("configurations", chain[-1]), "extends")
        if parent not in configurations:
            hint = did_you_mean(parent, (other for other in configurations if other != chain[-1]))
            report.add(key, f'"{parent}" is no configuration of this file{hint}')
            return None
        if parent in chain:
            if parent == name:
                report.add(key, f"goes in a circle: {' → '.join([*chain, parent])}")
            return None
        chain.append(parent)
    return tuple(reversed(chain))


def merged(*setups: SetupShape) -> SetupShape:
    """What holds for the last of ``setups``, which takes from those before it, the nearest first.

    Flags are put one behind the other, where a system property given again replaces the earlier one; environment
    variables are merged by name; of everything else the last one said counts.
    """
    held: dict[str, Any] = {"jvm": (), "environment": {}}
    for setup in setups:
        for key in SetupShape.__struct_fields__:
            said = getattr(setup, key)
            match key:
                case "jvm":
                    held[key] = _flags(held[key], said)
                case "environment":
                    held[key] = {**held[key], **said}
                case _ if said is not None:
                    held[key] = said
                case _:
                    pass
    return SetupShape(**held)


def _flags(earlier: tuple[str, ...], later: tuple[str, ...]) -> tuple[str, ...]:
    replaced = {_property(flag) for flag in later} - {None}
    return (*(flag for flag in earlier if _property(flag) not in replaced), *later)


def _property(flag: str) -> str | None:
    return flag.partition("=")[0] if flag.startswith("-D") else None
