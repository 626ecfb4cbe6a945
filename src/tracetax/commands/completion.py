"""Completion in a shell: what may follow what was typed, and the script that asks for it.

The script calls ``./tracetax complete LINE`` at each Tab, so that agents, configurations, experiments and runs are
those that there are.
"""

import contextlib
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from tracetax.catalog import every_agent, experiment_names
from tracetax.catalog.backends import load_backends
from tracetax.catalog.command_line import WORKLOAD
from tracetax.catalog.experiment_file import workloads_of
from tracetax.catalog.workload_file import load_workload, workload_names
from tracetax.commands.listings import FOLDER, KINDS
from tracetax.errors import ExitCode, UserError
from tracetax.model import Agent
from tracetax.program import Runtime
from tracetax.report.exports import formats

Options = Mapping[str, Mapping[str, bool]]
"""Of each command its options, and whether a value follows each."""
SEVERAL = frozenset({"--agent", "--configuration", "--workload", "--jdk", "--collector", "--set"})
"""Options that take names with commas between."""
SCRIPTS = {
    "bash": """\
_tracetax() {
  local line=${COMP_LINE:0:COMP_POINT} word found
  word=${line##* }
  mapfile -t found < <("${1/#\\~/$HOME}" complete "$line" 2>/dev/null)
  COMPREPLY=("${found[@]#"${word%"${word##*[=:]}"}"}")
}
complete -o default -F _tracetax tracetax
""",
    "zsh": """\
autoload -Uz compinit && compinit
_tracetax() {
  local -a found
  found=("${(@f)$(${~words[1]} complete "${LBUFFER}" 2>/dev/null)}")
  if [[ -n $found ]]; then compadd -- $found; else _files; fi
}
compdef _tracetax tracetax
""",
    "fish": """\
function __tracetax
  set -l typed (commandline -cp)
  set -l program (commandline -opc)[1]
  set -l found ($program complete "$typed" 2>/dev/null)
  if set -q found[1]; string join \\n $found; else; __fish_complete_path (commandline -ct); end
end
complete -c tracetax -f -a '(__tracetax)'
""",
}
"""By shell: it asks for what may follow, and offers files where that is nothing."""


def completion(shell: str | None = None, /) -> int:
    """Print what makes a shell complete agents, configurations, experiments, runs and options of ./tracetax at Tab.

    Parameters
    ----------
    shell
        bash, zsh or fish. Default: the one that SHELL names.
    """
    print(script(shell), end="")
    return ExitCode.OK


def complete(line: Annotated[str, Parameter(allow_leading_hyphen=True)], /) -> int:
    """Print what may stand where a line ends that is being typed, one word a line: what `completion` asks for."""
    from tracetax.cli import ROOT, app

    for word in candidates(line, options_of_commands(app), ROOT):
        print(word)
    return ExitCode.OK


def options_of_commands(app: App) -> Options:
    """Of each command that ``--help`` shows its options, and whether a value follows each."""
    shown = {name: app[name] for name in app if not name.startswith("-")}
    return {
        name: {
            option: argument.hint is not bool
            for argument in command.assemble_argument_collection()
            for option in argument.names
            if argument.parse and option.startswith("--")
        }
        for name, command in shown.items()
        if command.show
    }


def script(shell: str | None) -> str:
    """What a shell has to read once. Default: the shell that SHELL names. Raises UserError for any other."""
    name = shell or Path(os.environ.get("SHELL", "bash")).name
    if name not in SCRIPTS:
        raise UserError(
            f"There is no completion for {name}; there is for {', '.join(SCRIPTS)}: ./tracetax completion bash"
        )
    return SCRIPTS[name]


def candidates(line: str, options: Options, root: Path) -> list[str]:
    """Words that may stand where ``line`` ends, each whole; none where a file is due, or nothing is known."""
    words = _words(line)
    *before, word = words[1:] or [""]
    if not before:
        return _beginning(word, options)
    command, *typed = before
    known = options.get(command)
    if known is None:
        return []
    if word.startswith("-"):
        return _beginning(word, (name for name in known if name not in typed or known[name]))
    option = typed[-1] if typed and known.get(typed[-1]) else ""
    with contextlib.suppress(UserError):  # a mistake in a file is told by the command itself
        if option:
            return _beginning(word, _values(command, option, word, typed, root))
        return _beginning(word, _positional(command, _positionals(typed, known), typed, root))
    return []


def _words(line: str) -> list[str]:
    """A line's words, the last one being that which is typed: empty where the line ends in a space."""
    try:
        words = shlex.split(line)
    except ValueError:  # an open quotation mark
        words = line.split()
    return [*words, ""] if line.endswith(" ") else words


def _beginning(word: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(word)]


def _positionals(typed: Sequence[str], known: Mapping[str, bool]) -> list[str]:
    """The words that are neither options nor their values."""
    return [word for before, word in pairwise(["", *typed]) if not word.startswith("-") and not known.get(before)]


def _positional(command: str, given: Sequence[str], typed: Sequence[str], root: Path) -> Iterable[str]:
    """Names for the next word of a command that is no option."""
    place = len(given)
    if command == "run" and place == 0:
        return experiment_names(root)
    if (command == "report" and place == 0) or (command == "compare" and place < 2):
        return _runs()
    if command == "list" and place == 0:
        return KINDS
    if command == "completion" and place == 0:
        return SCRIPTS
    if command in ("check-agent", "list") and (command == "check-agent" or given[0] == "configurations"):
        names = given if command == "check-agent" else given[1:]
        agents = _agents(typed, root)
        if not names:
            return agents
        if len(names) == 1 and command == "check-agent" and names[0] in agents:
            return agents[names[0]].configurations
    return ()


def _values(command: str, option: str, word: str, typed: Sequence[str], root: Path) -> Iterable[str]:
    """Values of an option; of one that takes several, what was typed before the last comma stands before each."""
    before = word[: word.rfind(",") + 1] if option in SEVERAL else ""
    names: Iterable[str] = ()
    if option == "--agent":
        names = (key for key in _agents(typed, root) if key not in before.split(","))
    elif option == "--configuration":
        agents = _agents(typed, root)
        chosen = _given(typed, "--agent").split(",")
        names = (name for key in chosen if key in agents for name in agents[key].configurations)
    elif option == "--artifact":
        names = (f"{key}.{name}=" for key, agent in _agents(typed, root).items() for name in agent.artifacts)
    elif option == "--backend":
        names = load_backends(root)
    elif option == "--workload":
        names = (name for name in workload_names(root) if name not in before.split(","))
    elif option == "--collector":
        names = _choices(_runtimes(command, typed, root), option.removeprefix("--"))
    elif option == "--set":
        names = _levels(_runtimes(command, typed, root), word, several=bool(before))
    elif option == "--export":
        names = formats()
    elif option == "--resume":
        names = _runs()
    elif option == "--fail-if":
        names = ("slower",)
    return (before + name for name in names)


def _agents(typed: Sequence[str], root: Path) -> Mapping[str, Agent]:
    """All agents, each with what it has in any language."""
    own = [Path(word) for option, word in pairwise(typed) if option == "--agents-dir"]
    return every_agent(root, own).of("").agents


def _levels(runtimes: Sequence[Runtime], word: str, *, several: bool) -> Iterable[str]:
    """What may follow ``--set``: ``KEY=``, after that the choices that there are; after a comma these alone."""
    name, equals, _ = word.partition("=")
    if several:
        return _choices(runtimes, name)
    return (
        [f"{name}={choice}" for choice in _choices(runtimes, name)]
        if equals
        else [f"{key}=" for runtime in runtimes for key in runtime.settings]
    )


def _choices(runtimes: Sequence[Runtime], name: str) -> tuple[str, ...]:
    """The choices of a setting; none where it is no choice."""
    setting = next((runtime.settings[name] for runtime in runtimes if name in runtime.settings), None)
    return setting.choices if setting else ()


def _runtimes(command: str, typed: Sequence[str], root: Path) -> list[Runtime]:
    """What runs the workloads: those that were typed, or those of the experiment that was. Raises UserError."""
    workloads = [name for name in _given(typed, "--workload").split(",") if name]
    if command == "run" and not workloads and typed and not typed[0].startswith("-"):
        workloads = workloads_of(typed[0], root)
    runtimes = (load_workload(name, root)[1] for name in workloads or [WORKLOAD])
    return list({runtime.key: runtime for runtime in runtimes}.values())


def _given(typed: Sequence[str], wanted: str) -> str:
    return next((word for option, word in pairwise(typed) if option == wanted), "")


def _runs() -> list[str]:
    return sorted(str(path.parent) for path in FOLDER.glob("*/manifest.json"))
