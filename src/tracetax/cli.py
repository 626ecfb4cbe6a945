"""Which commands there are, and what ``--help`` says about them; what they do stands in ``commands/``."""

import signal
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from tracetax import __version__
from tracetax.commands.options import AsJson
from tracetax.errors import ExitCode, UserError, refused_by_system
from tracetax.place import INSTALLED, data_folder
from tracetax.printable import printable_lines

ROOT = data_folder()
"""Agents, experiments, workloads and the sink's source lie in it."""

FIRST = "" if INSTALLED else "the first start installs a missing JDK and Maven (as root, by apt-get), and\n"
HELP = f"""\
Tracetax measures what tracing costs, and whether the records arrived.

It runs a workload with and without tracing agents on this machine, in fresh processes and randomised blocks, \
counts every record at a sink of its own, and shows the overhead of each configuration with its 95 % interval.

    ./tracetax run                      the quick experiment: about 6 minutes
    ./tracetax run --dry-run            what it would do, in words
    ./tracetax compare runs/A runs/B    what changed between two runs
    ./tracetax list configurations      what can be measured
    ./tracetax capacity --agent kieker  up to which rate nothing is lost
    ./tracetax check-agent mine --agents-dir DIR   whether an agent's file is right
    ./tracetax doctor                   whether this machine is fit to measure

--yes, anywhere, answers every question: {FIRST}a run begins on a busy machine.

Exit codes:
    0    all well
    1    a trial failed, even if its repetition made it good, or a check of the project did
    2    something typed, or written in a file, is wrong
    3    nothing could be measured: the machine lacks something (a JDK,
         disk space, a download), or a service failed when it was tried
    4    another run is measuring on this machine
    5    --fail-if: something is slower, by its whole interval
    130  interrupted; every finished trial is kept
"""

app = App(
    name="tracetax",
    help=HELP,
    help_format="plaintext",
    version=__version__,
    version_flags=["--version"],
    suppress_keyboard_interrupt=False,  # main says that it was interrupted, and ends in order
)

COMMANDS = {
    "request:run": """Measure an experiment and show what it found.

Examples: `./tracetax run` · `./tracetax run experiments/smoke.toml --out DIR` ·
`./tracetax run --agent kieker,opentelemetry --rate 1000/s --depth 10 --budget 5min --seed 1` ·
`./tracetax run kieker-writers --artifact kieker.agent=old.jar,new.jar`""",
    "request:capacity": """Search for the highest rate up to which configurations deliver every record.

Examples: `./tracetax capacity --agent opentelemetry` ·
`./tracetax capacity --agent kieker,elastic --budget 20min` ·
`./tracetax capacity --agent opentelemetry --configuration otlp,zipkin --depth 5`""",
    "request:check_agent": """Try an agent's file in one trial of 20 seconds, and say what to mend.

Looked at are: woven, counted, structure, loss, drain, exit. Examples: `./tracetax check-agent kieker` ·
`./tracetax check-agent mine otlp --agents-dir ~/agents`""",
    "compare:compare": """Compare two runs: what differs in how they were made, then their rows by name.

Examples: `./tracetax compare runs/A runs/B` · `./tracetax compare runs/A runs/B --markdown` ·
`./tracetax compare runs/A runs/B --fail-if "slower by 5 %"`""",
    "completion:completion": """\
Print what makes a shell complete names at Tab: agents, configurations, experiments, runs, options.

For this shell: `source <(./tracetax completion)`. For every one: `./tracetax completion >> ~/.bashrc`, or the like.""",
    "completion:complete": "",
}
"""Functions in ``commands/`` that are commands, with what ``--help`` says; where that is nothing, it is silent."""
for place, words in COMMANDS.items():
    name = place.partition(":")[2].replace("_", "-")
    app.command(f"tracetax.commands.{place}", name=name, help=words or None, show=bool(words))


@app.command
def report(run: Path, *, export: str | None = None, to: Path | None = None) -> int:
    """Show a finished run again and rewrite its findings and its page, or write it in another format.

    Examples: `./tracetax report runs/DIR` · `./tracetax report runs/DIR --export markdown` ·
    `./tracetax report runs/DIR --export csv --to rows.csv`

    Parameters
    ----------
    run
        The run's folder; `./tracetax list runs` shows them.
    export
        csv (a row per configuration and measure) or markdown (a table to paste into a pull request).
    to
        With --export: the file to write. Default: standard output, with nothing else on it.
    """
    from tracetax.commands.report import export_run, show_run

    if export is not None:
        return export_run(run, export, to)
    if to is not None:
        raise UserError("--to goes with --export: ./tracetax report RUN --export csv --to FILE")
    return show_run(run)


@app.command(name="list")
def list_command(
    what: Literal["agents", "backends", "configurations", "experiments", "runs", "workloads"],
    agent: str | None = None,
    /,
    *,
    agents_dir: Annotated[list[Path] | None, Parameter(negative="")] = None,
    as_json: AsJson = False,
) -> int:
    """List what there is. Names are never wrapped; in a pipe each row is one line.

    Parameters
    ----------
    what
        agents, backends, configurations, experiments, runs or workloads.
    agent
        With configurations: only this agent's.
    agents_dir
        With agents, configurations and workloads: a folder with agents of your own.
    as_json
        For programs: an array with an object for each row.
    """
    from tracetax.commands.listings import show_list

    show_list(what, ROOT, agents_dir or (), agent, as_json=as_json)
    return ExitCode.OK


@app.command
def doctor(*, as_json: AsJson = False) -> int:
    """Show the toolchain and the machine: what is there, what is missing, and what to do about it.

    Parameters
    ----------
    as_json
        For programs: the rows, and everything that is known about the machine.
    """
    from tracetax.commands import listings

    return listings.doctor(ROOT, as_json=as_json)


@app.command
def test(*pytest: Annotated[str, Parameter(allow_leading_hyphen=True)]) -> int:
    """Check the project itself: formatting, types, Go, Java, all tests.

    Parameters
    ----------
    pytest
        Passed on to pytest, for example `-k sink`.
    """
    raise UserError(
        "The command test checks the project's own code. The launcher of a clone starts it, and nothing else does:\n"
        f"get a clone, and give its launcher the words: {' '.join(('test', *pytest))}"
    )


def main() -> None:
    """Run the command that was typed; a user's mistake is a sentence, never a stack trace."""
    from tracetax.commands.ending import end, tell

    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        status = app(print_error=True, exit_on_error=True, result_action="return_value")
    except UserError as error:
        tell(printable_lines(str(error)))
        status = error.exit_code
    except KeyboardInterrupt:
        tell("Interrupted.")
        status = ExitCode.INTERRUPTED
    except BrokenPipeError:
        status = ExitCode.OK
    except OSError as error:
        refusal = refused_by_system(error)
        tell(str(refusal))
        status = refusal.exit_code
    end(int(status) if isinstance(status, int) else 0)
