"""The commands, thin: each reads what was typed and calls the floor below."""

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from tracetax import __version__
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
    3    the machine lacks something: a JDK, disk space, a download
    4    another run is measuring on this machine
    5    --fail-if: something is slower, by its whole interval
    130  interrupted; every finished trial is kept
"""

AgentsDirs = Annotated[list[Path] | None, Parameter(negative="")]

app = App(name="tracetax", help=HELP, help_format="plaintext", version=__version__, version_flags=["--version"])


@app.command
def run(
    experiment: str | None = None,
    /,
    *,
    agent: str | None = None,
    configuration: str | None = None,
    rate: str | None = None,
    depth: int | None = None,
    calls: int | None = None,
    threads: int | None = None,
    jdk: str | None = None,
    collector: str | None = None,
    heap: str | None = None,
    blocks: int | None = None,
    half_width: str | None = None,
    budget: str | None = None,
    seed: int | None = None,
    out: Path | None = None,
    resume: Path | None = None,
    artifact: Annotated[list[str] | None, Parameter(negative="")] = None,
    backend: Annotated[list[str] | None, Parameter(negative="")] = None,
    agents_dir: AgentsDirs = None,
    fast: Annotated[bool, Parameter(negative="")] = False,
    as_published: Annotated[bool, Parameter(negative="")] = False,
    fail_if: str | None = None,
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
    configuration
        With --agent: these configurations of theirs instead, separated by commas.
    rate
        Without an experiment: calls per second, such as 1000/s, or full (back to back).
    depth
        Without an experiment: monitored invocations per call.
    calls
        Without an experiment: measured calls per trial.
    threads
        Without an experiment: calling threads; the rate is their sum.
    jdk
        Feature releases of Java to measure on, such as 21 or 17,21,25, in place of the experiment's. One that is not on
        this machine is fetched as a wheel, if it is 17, 21 or 25. Default: the JDK that is found first.
    collector
        Serial, Parallel, G1, Z or Shenandoah, or several with commas between, in place of the experiment's.
    heap
        The heap, such as "2 GiB", or several with commas between, in place of the experiment's.
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
    backend
        A real backend, such as zipkin-server: every configuration whose records it takes is measured twice in each
        block, at the sink and at the backend in its place (docs/backends.md). May be given more than once.
    agents_dir
        A folder with agents of your own, each a folder with an agent.toml (docs/add-an-agent.md), or one such folder.
        May be given more than once.
    fast
        Measure the shorter version that [fast] in the experiment's file describes, such as `run icpe26-table2 --fast`.
    as_published
        Measure as many calls and starts as the paper that the experiment follows, as [as-published] in its file says.
    fail_if
        With two builds: "slower" exits with status 5 where NEW is slower by its whole 95 % interval, "slower by 2 %"
        where it is by more than that (docs/in-ci.md).
    dry_run
        Print the plan in words and its estimated time, and measure nothing.
    """
    from tracetax.commands.request import Request
    from tracetax.commands.run import run_command

    request = Request(
        experiment=experiment,
        agents=_names(agent),
        configurations=_names(configuration),
        rate=rate,
        depth=depth,
        calls=calls,
        threads=threads,
        jdk=jdk,
        collector=collector,
        heap=heap,
        blocks=blocks,
        half_width=half_width,
        budget=budget,
        seed=seed,
        out=out,
        resume=resume,
        artifacts=tuple(artifact or ()),
        backends=tuple(backend or ()),
        agents_dirs=tuple(agents_dir or ()),
        fast=fast,
        as_published=as_published,
        fail_if=fail_if,
        dry_run=dry_run,
    )
    return run_command(request, ROOT, tuple(sys.argv[1:]))


@app.command
def capacity(
    *,
    agent: str | None = None,
    configuration: str | None = None,
    depth: int | None = None,
    threads: int | None = None,
    jdk: str | None = None,
    collector: str | None = None,
    heap: str | None = None,
    seconds: str | None = None,
    lowest: str | None = None,
    further: int | None = None,
    artifact: Annotated[list[str] | None, Parameter(negative="")] = None,
    agents_dir: AgentsDirs = None,
    budget: str | None = None,
    out: Path | None = None,
    resume: Path | None = None,
) -> int:
    """Search for the highest rate up to which configurations deliver every record.

    Examples: `./tracetax capacity --agent opentelemetry` ·
    `./tracetax capacity --agent kieker,elastic --budget 20min` ·
    `./tracetax capacity --agent opentelemetry --configuration otlp,zipkin --depth 5`

    Parameters
    ----------
    agent
        Agents, separated by commas.
    configuration
        Configurations of theirs, separated by commas. Default: those of profile stock that deliver records.
    depth
        Monitored invocations per call. Default: 10.
    threads
        Calling threads; the rate is their sum. Default: 1.
    jdk
        The feature release of Java, such as 21; several, with commas between, are searched one after the other.
    collector
        Serial, Parallel, G1, Z or Shenandoah.
    heap
        The heap, such as "2 GiB". Default: 1 GiB.
    seconds
        How long a trial calls, such as 10s. Default: 5s.
    lowest
        The lowest rate that is tried, in calls per second. Default: 10/s.
    further
        Trials at each of the two rates of the answer, beyond the one that found it. Default: 6.
    artifact
        AGENT.ARTIFACT=FILE: a file of yours in place of an artifact. May be given once for each artifact.
    agents_dir
        A folder with agents of your own. May be given more than once.
    budget
        Begin no trial that is not expected to end within this time; each configuration gets an equal share of what is
        left. Default: 20min.
    out
        The run's folder. Default: runs/<date>-capacity-<tag>. It must be empty or absent.
    resume
        Go on with this search; only --budget may differ.
    """
    from tracetax.commands.capacity import CapacityRequest, capacity_command

    request = CapacityRequest(
        agents=_names(agent),
        configurations=_names(configuration),
        depth=depth,
        threads=threads,
        jdk=jdk,
        collector=collector,
        heap=heap,
        seconds=seconds,
        lowest=lowest,
        further=further,
        artifacts=tuple(artifact or ()),
        agents_dirs=tuple(agents_dir or ()),
        budget=budget,
        out=out,
        resume=resume,
    )
    return capacity_command(request, ROOT, tuple(sys.argv[1:]))


def _names(text: str | None) -> tuple[str, ...] | None:
    """What was typed with commas between; None where nothing was."""
    return None if text is None else tuple(name.strip() for name in text.split(","))


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
    what: Literal["agents", "backends", "configurations", "experiments", "runs"],
    agent: str | None = None,
    /,
    *,
    agents_dir: AgentsDirs = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """List what there is. Names are never wrapped; in a pipe each row is one line.

    Parameters
    ----------
    what
        agents, backends, configurations, experiments or runs.
    agent
        With configurations: only this agent's.
    agents_dir
        With agents and configurations: a folder with agents of your own.
    as_json
        For programs: an array with an object for each row.
    """
    from tracetax.commands.listings import show_list

    show_list(what, ROOT, agents_dir or (), agent, as_json=as_json)
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
    raise UserError(
        "The command test checks the project's own code. The launcher of a clone starts it, and nothing else does:\n"
        f"get a clone, and give its launcher the words: {' '.join(('test', *pytest))}"
    )


IN_THEIR_FILES = {
    "check-agent": """Try an agent's file in one trial of 20 seconds, and say what to mend.

Looked at are: woven, counted, structure, loss, drain, exit. Examples: `./tracetax check-agent kieker` ·
`./tracetax check-agent mine otlp --agents-dir ~/agents`""",
    "compare": """Compare two runs: what differs in how they were made, then their rows by name.

Examples: `./tracetax compare runs/A runs/B` · `./tracetax compare runs/A runs/B --markdown` ·
`./tracetax compare runs/A runs/B --fail-if "slower by 5 %"`""",
    "completion": """Print what makes a shell complete names at Tab: agents, configurations, experiments, runs, options.

For this shell: `source <(./tracetax completion)`. For every one: `./tracetax completion >> ~/.bashrc`, or the like.""",
    "complete": "",
}
"""Commands whose functions stand in ``commands/``, with what ``--help`` says; where that is nothing, it is silent."""
for name, words in IN_THEIR_FILES.items():
    place = "completion" if name == "complete" else name.replace("-", "_")
    app.command(f"tracetax.commands.{place}:{name.replace('-', '_')}", name=name, help=words or None, show=bool(words))


def main() -> None:
    """Run the command that was typed; a user's mistake is a sentence, never a stack trace."""
    from tracetax.commands.ending import end, tell

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
