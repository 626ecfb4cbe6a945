"""The commands, thin: each reads what was typed and calls the floor below."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from tracetax import __version__
from tracetax.errors import ExitCode, UserError

ROOT = Path(__file__).resolve().parents[2]
"""The checkout: agents, experiments, workloads and the sink's source lie in it."""

HELP = """\
Tracetax measures what tracing costs, and whether the records arrived.

It runs a workload with and without tracing agents on this machine, in fresh processes and randomised blocks, \
counts every record at a sink of its own, and shows the overhead of each configuration with its 95 % interval.

    ./tracetax run                      the quick experiment: about 5 minutes
    ./tracetax run --dry-run            what it would do, in words
    ./tracetax list configurations      what can be measured
    ./tracetax doctor                   whether this machine is fit to measure

--yes, anywhere, lets the first start install a missing JDK and Maven without asking (as root, by apt-get).

Exit codes:
    0    all well
    1    a trial failed, even if its repetition made it good, or a check of the project did
    2    something typed, or written in a file, is wrong
    3    the machine lacks something: a JDK, disk space, a download
    4    another run is measuring on this machine
    130  interrupted; every finished trial is kept
"""

app = App(name="tracetax", help=HELP, help_format="plaintext", version=__version__, version_flags=["--version"])


@app.command
def run(
    experiment: str | None = None,
    /,
    *,
    agent: str | None = None,
    rate: str | None = None,
    depth: int | None = None,
    calls: int | None = None,
    threads: int | None = None,
    blocks: int | None = None,
    half_width: str | None = None,
    budget: str | None = None,
    seed: int | None = None,
    out: Path | None = None,
    resume: Path | None = None,
    artifact: Annotated[list[str] | None, Parameter(negative="")] = None,
    fast: Annotated[bool, Parameter(negative="")] = False,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Measure an experiment and show what it found.

    Examples: `./tracetax run` · `./tracetax run experiments/smoke.toml --out DIR` ·
    `./tracetax run --agent kieker,opentelemetry --rate 1000/s --depth 10 --budget 5min --seed 1` ·
    `./tracetax run kieker-writers --artifact kieker.agent=old.jar,new.jar`

    Parameters
    ----------
    experiment
        A name from `./tracetax list experiments`, or the path of a TOML file. Default: quick.
    agent
        Without an experiment: agents to measure as they are shipped, separated by commas.
    rate
        Without an experiment: calls per second, such as 1000/s, or full (back to back).
    depth
        Without an experiment: monitored invocations per call.
    calls
        Without an experiment: measured calls per trial.
    threads
        Without an experiment: calling threads; the rate is their sum.
    blocks
        Measure exactly so many blocks, unless the budget ends before.
    half_width
        Stop when every interval is this narrow: "1 %" of the ratio, or "2 ns" per call.
    budget
        Stop when this much time is spent, such as 20min.
    seed
        Decides the order of the trials in each block. Default: drawn, and recorded.
    out
        The run's folder. Default: runs/<date>-<experiment>-<tag>. It must be empty or absent.
    resume
        Go on with this run; only --blocks, --half-width and --budget may differ.
    artifact
        AGENT.ARTIFACT=FILE measures a file of yours in place of Maven's, such as kieker.agent=build/kieker.jar.
        With two, =OLD,NEW, both builds are measured in every block, and the run says whether NEW is slower,
        faster or the same. May be given once for each artifact.
    fast
        Measure the shorter version that [fast] in the experiment's file describes, such as `run icpe26-table2 --fast`.
    dry_run
        Print the plan in words and its estimated time, and measure nothing.
    """
    from tracetax.commands.request import Request
    from tracetax.commands.run import run_command

    request = Request(
        experiment=experiment,
        agents=tuple(name.strip() for name in agent.split(",")) if agent is not None else None,
        rate=rate,
        depth=depth,
        calls=calls,
        threads=threads,
        blocks=blocks,
        half_width=half_width,
        budget=budget,
        seed=seed,
        out=out,
        resume=resume,
        artifacts=tuple(artifact or ()),
        fast=fast,
        dry_run=dry_run,
    )
    return run_command(request, ROOT, tuple(sys.argv[1:]))


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
def list_command(what: Literal["agents", "configurations", "experiments", "runs"], agent: str | None = None, /) -> int:
    """List what there is.

    Parameters
    ----------
    what
        agents, configurations, experiments or runs.
    agent
        With configurations: only this agent's.
    """
    from tracetax.commands import listings

    show: dict[str, Callable[[], None]] = {
        "agents": lambda: listings.agents(ROOT),
        "configurations": lambda: listings.configurations(ROOT, agent),
        "experiments": lambda: listings.experiments(ROOT),
        "runs": lambda: listings.runs(Path("runs")),
    }
    show[what]()
    return ExitCode.OK


@app.command
def doctor(*, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False) -> int:
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
    from tracetax.checks import run_checks

    return run_checks(ROOT, pytest)


app.register_install_completion_command(add_to_startup=False)  # pyright: ignore[reportUnknownMemberType]


def main() -> None:
    """Run the command that was typed; a user's mistake is a sentence, never a stack trace."""
    try:
        status = app(print_error=True, exit_on_error=True, result_action="return_value")
    except UserError as error:
        print(error, file=sys.stderr)
        status = error.exit_code
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        status = ExitCode.INTERRUPTED
    except BrokenPipeError:
        status = ExitCode.OK
    except OSError as error:
        print(f"The system refuses: {error}. Every trial that had finished is kept.", file=sys.stderr)
        status = ExitCode.ENVIRONMENT
    sys.exit(int(status) if isinstance(status, int) else 0)
