"""What a trial's program is started with: its command, and what its environment gets beyond the clean one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from tracetax.catalog import fill
from tracetax.catalog.placeholders import ARTIFACT, FILES, PREPARED, SCRAPE_PORT, names_in
from tracetax.companions.loopback import free_port, is_taken
from tracetax.errors import UserError
from tracetax.model import SCRAPED, WORKLOAD_BUILT
from tracetax.process import clean_environment
from tracetax.program import Service
from tracetax.run.equipment import Equipment
from tracetax.run.hosted import of_host
from tracetax.run.plan import TrialPlan, records_made
from tracetax.run.runtimes import setting_flags
from tracetax.run.stores import variable
from tracetax.workloads.kinds import DriverFiles, kind_of

FLAGS = "{flags}"
"""Stands in a variable that takes an agent's flags; others take paths."""
LISTEN = "listen"
"""Under which the port stands that a service is to listen on."""
LISTEN_PORT = "listen.port"


def command_line(
    plan: TrialPlan,
    equipment: Equipment,
    ports: dict[str, int],
    scratch: Path,
    logs: Path,
    records: Path,
    built: Sequence[Path] = (),
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The program's command and what its environment gets beyond the clean one.

    ``ports`` are the sink's by protocol, and under ``listen`` the one that a service is to listen on. ``built`` are
    folders of this trial alone, with what the program calls at its start.
    """
    config, workload = plan.config, equipment.workload
    output = scratch / "workload"
    output.mkdir()
    expected = records_made(config, plan.part)
    values = {
        **workload.monitored.placeholders,
        **{f"{ARTIFACT}{name}": str(path) for name, path in equipment.files(plan.use).items()},
        **{f"{PREPARED}{name}": str(path) for name, path in equipment.folders(plan.use).items()},
        **sink_placeholders(ports),
        "expected.records": str(expected),
        "expected.records.next_power_of_two": str(1 << max(0, expected - 1).bit_length()),
        "expected.calls": str(plan.part.parameters.calls),
        FILES: str(equipment.agent_folder(config.agent) / "files"),
        WORKLOAD_BUILT: "" if workload.own else equipment.workload_built(plan.part.parameters, built),
        "trial.dir": str(scratch),
        "records.dir": str(records),
    }
    files = DriverFiles(output, logs / "status.txt")
    flags = tuple(fill(flag, values) for flag in config.flags)
    words = {
        "wrapper": tuple(fill(word, values) for word in config.wrapper),
        "shared": shared_flags(plan, equipment, logs / "hs_err.log"),
        "flags": flags,
        "arguments": () if workload.service else driver_arguments(plan, equipment, files),
    }
    texts = {
        "runtime": str(equipment.interpreter(plan.part.settings).program),
        "program": fill(config.program, values) or str(equipment.program or ""),
        "search_path": ":".join(filter(None, (fill(entry, values) for entry in config.search_path))),
        "flags": " ".join(f'"{flag}"' if " " in flag else flag for flag in flags),
        "main": workload.main,
        WORKLOAD_BUILT: values[WORKLOAD_BUILT],
        LISTEN_PORT: str(ports.get(LISTEN, "")),
        **{f"stores.{name}.url": str(url) for name, url in equipment.stores.items()},
        **of_host(equipment, scratch),
    }
    own = {name: fill(value, values) for name, value in config.environment.items()}
    environment = {name: fill(value, texts) for name, value in workload.environment.items()}
    if workload.own:  # braces in the user's words are no placeholders, but for that of the port
        port = f"{{{LISTEN_PORT}}}"
        start = workload.started_with.get(config.agent, workload.start)
        set_variables = {name: value for name, value in environment.items() if value}
        return tuple(word.replace(port, texts[LISTEN_PORT]) for word in start), set_variables | own
    return tuple(_filled(workload.start, words, texts)), environment | own


def whole_environment(equipment: Equipment, added: Mapping[str, str], source: Mapping[str, str]) -> dict[str, str]:
    """All that a trial's program finds in its environment.

    A service of the user's keeps the user's own, but what would change an agent; what agents come by goes before it.
    """
    if not equipment.workload.own:
        return clean_environment(source, added)
    attach = equipment.runtime.attach
    prefixes = [name for agent in equipment.agents.values() for name in agent.environment_prefixes]
    kept = {name: value for name, value in source.items() if not name.startswith(tuple(prefixes))}
    joined = {
        name: f"{kept[name]} {value}" if FLAGS in attach[name] else f"{value}:{kept[name]}"
        for name, value in added.items()
        if name in attach and kept.get(name)
    }
    return {**kept, **added, **joined}


def listening(service: Service | None) -> dict[str, int]:
    """The port that a service is to listen on, as ports are called; none where the program is no service.

    Raises UserError where somebody else listens on the only one that it takes.
    """
    if service is None:
        return {}
    if service.port and is_taken(service.port):
        raise UserError(
            f"Port {service.port} is in use: the service could not listen on it.\n"
            "End what listens there, or let the service take any port: {port} in --service and --url."
        )
    return {LISTEN: service.port or free_port()}


def driver_arguments(plan: TrialPlan, equipment: Equipment, files: DriverFiles) -> tuple[str, ...]:
    """What the driver is told to do."""
    return kind_of(equipment.workload).arguments(plan.part.parameters, files, equipment.workload)


def shared_flags(plan: TrialPlan, equipment: Equipment, error_file: Path) -> tuple[str, ...]:
    """Flags that the baseline and every agent share: those of the settings, in order, and those of every trial.

    In a trial that measures memory the heap begins small, up to the same limit, and nothing is touched beforehand.
    """
    runtime, cell = equipment.runtime, plan.cell
    memory = cell.role == "memory"
    release = equipment.interpreter(plan.part.settings).release
    sizes = {name: cell.heap_bytes for name, setting in runtime.settings.items() if setting.kind == "size"}
    chosen = plan.part.settings | (sizes if cell.heap_bytes else {})
    settings = [runtime.settings[name] for name in runtime.settings if name in chosen]
    every = {"cores": str(equipment.cores), "error_file": str(error_file)}
    return (
        *(flag for one in settings for flag in setting_flags(one, chosen[one.name], release, growing=memory)),
        *(fill(flag, every) for flag in (() if memory else runtime.timed_flags)),
        *(fill(flag, every) for flag in runtime.shared_flags),
    )


def _filled(start: Sequence[str], words: Mapping[str, Sequence[str]], texts: Mapping[str, str]) -> Iterator[str]:
    """The words of a command line; a placeholder of ``words`` is a word by itself and stands for all of them."""
    for word in start:
        names = names_in(word)
        if names and names[0] in words:
            yield from words[names[0]]
        else:
            yield fill(word, texts)


def by_hand(
    plan: TrialPlan,
    command: Sequence[str],
    environment: Mapping[str, str],
    ports: Mapping[str, int],
    own: Sequence[Path],
    stores: Mapping[str, str] = MappingProxyType({}),
    directory: str = "",
) -> str:
    """A shell script that starts a trial's workload again as it was started, for a debugger or a profiler.

    ``own`` are the trial's own folders: in their place the script makes one of its own. The sink has ended by then, so
    its port is a variable that can be set. A program of the user's is started in its ``directory``, and finds the
    environment of whoever starts the script. Addresses of ``stores`` hold passwords: they must be given as variables.
    """
    port = ports.get(plan.config.protocol or "")
    values = {str(folder): "$work" for folder in own}
    addresses = {url: variable(name) for name, url in stores.items()}

    def escaped(text: str) -> str:
        return re.sub(r'([\\"$`])', r"\\\1", text)

    def quoted(text: str) -> str:
        inside = escaped(text)
        for folder, place in sorted(values.items(), key=lambda one: -len(one[0])):
            inside = inside.replace(folder, place)
        for url, name in addresses.items():
            inside = inside.replace(escaped(url), f"${name}")
        if port:
            inside = re.sub(rf"(?<!\d){port}(?!\d)", "${port}", inside)
        return f'"{inside}"'

    use = plan.use
    needs = "It needs no sink: nothing leaves the process."
    if port:
        needs = f"Its records go to port {port}, where the sink was. Something that listens: PORT=4318 bash command.sh"
    ends = '# It reads commands from standard input: "warm-up 1000", "measure", "drained"; Ctrl-D ends it.'
    if LISTEN in ports:
        ends = f"# It answers on port {ports[LISTEN]} of 127.0.0.1, if that is free, until Ctrl-C ends it."
    variables = " \\\n  ".join(f"{name}={quoted(value)}" for name, value in environment.items())
    return "\n".join(
        (
            "#!/usr/bin/env bash",
            f"# Starts the workload of trial {plan.number}, {use}, by hand. It is no measurement.",
            f"# {needs}",
            ends,
            "# The agent's files lie in the cache: where they are gone, a run fetches them again.",
            "set -euo pipefail",
            *([f"port=${{PORT:-{port}}}"] if port else []),
            *(f': "${{{name}:?the address of a store, which has ended by now}}"' for name in addresses.values()),
            "work=$(mktemp -d)",
            'mkdir -p "$work/workload" "$work/records"',
            f"cd {quoted(directory)}" if directory else 'cd "$work"',
            'echo "its output, status.txt and logs: $work" >&2',
            f"exec env{'' if directory else ' -i'} \\\n  {variables} \\\n  " + " \\\n  ".join(map(quoted, command)),
            "",
        )
    )


def sink_placeholders(ports: dict[str, int]) -> dict[str, str]:
    """``sink.<protocol>`` as an address and ``sink.<protocol>.port``, for every protocol that the sink speaks.

    Where the sink asks, it is ``scrape.port``, on which the agent shall answer.
    """
    values = {"sink.host": "127.0.0.1", SCRAPE_PORT: str(ports.get(SCRAPED, ""))}
    for protocol, port in ports.items():
        name = protocol.replace("-", "_")
        values[f"sink.{name}"] = f"http://127.0.0.1:{port}"
        values[f"sink.{name}.port"] = str(port)
    return values
