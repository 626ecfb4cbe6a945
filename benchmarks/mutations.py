"""Deliberate errors in the statistics and on the measuring path, one at a time: each must be caught by a test.

    PYTHONPATH=src .venv/bin/python benchmarks/mutations.py [--only WORD] [--jobs N]

Every error is made in a copy of the package, and the tests named with it run against that copy until their first
failure. Before that they must pass in a copy without an error, which also tells how long they may take. What becomes of
an error:

    caught     a test failed; it is named, so that one that failed for another reason is seen
    hung       the tests did not end in several times their usual time; counts as caught
    SURVIVED   no test has noticed it
    BROKEN     it cannot be compiled, or the tests could not begin: it shows nothing, and needs another wording
    NOT FOUND  the text to be changed is not, or more than once, in the source

The exit status is 1 unless all are caught. Tests of the measuring path start processes and have limits of time, so by
default one error is tried after the other.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "tracetax"
TESTS = ROOT / "tests"
LONGER = 5.0
"""How many times as long as without an error, and a minute, tests may take before they count as hung."""

INTERVALS = "statistics/intervals.py"
OVERHEAD = "statistics/overhead.py"
MULTIPLICITY = "statistics/multiplicity.py"
CHANGE_POINTS = "statistics/change_points.py"
STEADY = "statistics/steady.py"
QUANTILES = "statistics/quantiles.py"
STOPPING = "statistics/stopping.py"
EQUIVALENCE = "statistics/equivalence.py"
REGIMES = "statistics/regimes.py"
THRESHOLD = "statistics/threshold.py"
REGRESSION = "statistics/regression.py"
COST = "analysis/cost.py"
CHARGED = "results/blocks.py"
GROWTH = "analysis/growth.py"
LEDGER = "ledger.py"

BY_DESIGN = ("run/test_by_design.py", "analysis/test_by_design.py")
BACKENDS = ("run/test_backends.py",)
CAPACITY = ("run/test_capacity.py",)
CPU = ("run/test_cpu_account.py",)
DRAIN = ("run/test_drain.py",)
HEAPS = ("run/test_by_design.py", "run/test_memory_trials.py")
REPETITION = ("run/test_repetition.py",)
TREE = "machine/processes.py"
TREE_FILES = "machine/process_files.py"
TREES = ("machine/test_processes.py", "machine/test_disturbance.py")
TRIAL = ("run/test_trial.py",)
VERDICTS = ("run/test_account_verdicts.py",)
WARM_UP = ("run/test_warm_up.py",)
ANALYSIS = ("analysis",)


@dataclass(frozen=True)
class Mutant:
    """One error: in ``file``, a path below src/tracetax, ``right`` (which occurs once) becomes ``wrong``.

    ``tests`` are files and folders below tests, in the order in which they are run; a file ``test_X.py`` among them
    comes first where ``X.py`` is changed.
    """

    what: str
    file: str
    right: str
    wrong: str
    tests: tuple[str, ...] = ("statistics",)


MUTANTS = (
    Mutant("t at 90 % instead of 95 %", INTERVALS, "CONFIDENCE = 0.95", "CONFIDENCE = 0.90"),
    Mutant("t one-sided", INTERVALS, "(1 + confidence) / 2", "confidence"),
    Mutant("t with n degrees of freedom", INTERVALS, "half = t_critical(n - 1)", "half = t_critical(n)"),
    Mutant("standard deviation over n", INTERVALS, "sample.std(ddof=1)", "sample.std()"),
    Mutant("standard error without the root", INTERVALS, "* sd / n**0.5", "* sd / n"),
    Mutant("p value of one side", INTERVALS, "return 2 * _evaluate", "return _evaluate"),
    Mutant("the interval leans the other way", INTERVALS, "1 + skewness * (quantile", "1 - skewness * (quantile"),
    Mutant("half-width is the width", INTERVALS, "(self.ci95[1] - self.ci95[0]) / 2", "self.ci95[1] - self.ci95[0]"),
    Mutant("infinity is let through", INTERVALS, "if not np.isfinite(array).all()", "if np.isnan(array).any()"),
    Mutant("only the first baseline", OVERHEAD,
           "return c_ - (a1_ + a2_) / 2\n\n\ndef log", "return c_ - a1_\n\n\ndef log"),
    Mutant("sign of the difference", OVERHEAD, "return c_ - (a1_ + a2_) / 2\n\n\ndef log",
           "return (a1_ + a2_) / 2 - c_\n\n\ndef log"),
    Mutant("ratio against the first baseline", OVERHEAD, "return c_ - (a1_ + a2_) / 2\n\n\ndef paired_d",
           "return c_ - a1_\n\n\ndef paired_d"),
    Mutant("logarithms forgotten", OVERHEAD, "    return np.log(values)", "    return values"),
    Mutant("logarithms to the base of 10", OVERHEAD, "    return np.log(values)", "    return np.log10(values)"),
    Mutant("limits of a ratio swapped", OVERHEAD, "(float(np.exp(limits[0])), float(np.exp(limits[1])))",
           "(float(np.exp(limits[1])), float(np.exp(limits[0])))"),
    Mutant("second − first", OVERHEAD, "a - b if scale", "b - a if scale"),
    Mutant("scales swapped", OVERHEAD, 'if scale == "difference"', 'if scale != "difference"'),
    Mutant("band of A1 − A2 itself", OVERHEAD, "0.75 * np.mean", "1.0 * np.mean"),
    Mutant("band with n − 1 degrees of freedom", OVERHEAD,
           "t_critical(n) * np.sqrt", "t_critical(max(1, n - 1)) * np.sqrt"),
    Mutant("band around the mean of A1 − A2", OVERHEAD, "np.mean(pair_differences**2)", "np.var(pair_differences)"),
    Mutant("Holm begins one too low", MULTIPLICITY, "np.arange(p.size, 0, -1)", "np.arange(p.size - 1, -1, -1)"),
    Mutant("Bonferroni for Holm", MULTIPLICITY, "np.arange(p.size, 0, -1)", "p.size"),
    Mutant("Holm not monotonic", MULTIPLICITY, "np.maximum.accumulate(steps)", "steps"),
    Mutant("adjusted p above 1", MULTIPLICITY,
           "np.minimum(np.maximum.accumulate(steps), 1.0)", "np.maximum.accumulate(steps)"),
    Mutant("ranks by the raw p", MULTIPLICITY, "pair.p_holm for pair in pairs", "pair.p for pair in pairs"),
    Mutant("largest first", MULTIPLICITY, "np.argsort(means", "np.argsort(-means"),
    Mutant("tied with the neighbour, not the leader", MULTIPLICITY,
           "            ranks[column] = ranks[leader]",
           "            ranks[column] = ranks[leader]\n            leader = column"),
    Mutant("no rank is skipped after a tie", MULTIPLICITY,
           "ranks[column] = place + 1", "ranks[column] = max(ranks) + 1"),
    Mutant("α doubled", MULTIPLICITY, "alpha: float = 0.05", "alpha: float = 0.10"),
    Mutant("penalty 3 ln n", CHANGE_POINTS, "15 * np.log(n) if", "3 * np.log(n) if"),
    Mutant("penalty 50 ln n", CHANGE_POINTS, "15 * np.log(n) if", "50 * np.log(n) if"),
    Mutant("the given penalty ignored", CHANGE_POINTS, "if penalty is None else penalty", ""),
    Mutant("variance without the mean", CHANGE_POINTS, " - means * means", ""),
    Mutant("pruned too early", CHANGE_POINTS, "keep = ~(doomed | lost[0])", "keep = ~(doomed | lost.any(axis=0))"),
    Mutant("segments one shorter", CHANGE_POINTS,
           "np.where(lengths >= min_segment,", "np.where(lengths >= min_segment - 1,"),
    Mutant("band of outliers of one range", CHANGE_POINTS, "band = 3 * (high", "band = 1 * (high"),
    Mutant("warm-up is an outlier", CHANGE_POINTS, "outlier[:first] &= isolated[:first]", "pass"),
    Mutant("equivalent within 10 %", STEADY, "EQUIVALENCE = 0.05", "EQUIVALENCE = 0.10"),
    Mutant("steady if it begins before the last half", STEADY, "LAST_PART = 0.25", "LAST_PART = 0.5"),
    Mutant("a stall of a fifth", STEADY, "STALL = 0.05", "STALL = 0.2"),
    Mutant("warm-up and slow-down swapped", STEADY, "if differences.min() < 0", "if differences.min() > 0"),
    Mutant("no last half stands in", STEADY, "y.size // 2\n", "first\n"),
    Mutant("errors of means ignored", STEADY, "np.maximum(equivalence * np.abs(after[0]), allowed)",
           "equivalence * np.abs(after[0])"),
    Mutant("outliers not set aside", STEADY, "calm = without_outliers(y)", "calm = y"),
    Mutant("bins taken as independent", STEADY, "BATCHES = (0.001, 0.01, 0.04, 0.08)", "BATCHES = (0.001,)"),
    Mutant("long-run variance without the half", STEADY, ".mean()) / 2)", ".mean()))"),
    Mutant("an early change hides later ones", STEADY, "long_run_variance(y[first:], lengths)",
           "long_run_variance(y, lengths)"),
    Mutant("band of every tenth bin", CHANGE_POINTS, ".clip(0, y.size - width)", ".clip(0, y.size - width) // 10 * 10"),
    Mutant("tick ignored", QUANTILES, "np.minimum(tick / 2,", "np.minimum(0.0 * tick,"),
    Mutant("a tick on both sides", QUANTILES, "np.minimum(tick / 2,", "np.minimum(tick,"),
    Mutant("no interpolation", QUANTILES, "lower[cell] + inside *", "lower[cell] + 0.5 + 0 * inside *"),
    Mutant("border belongs to the lower cell", QUANTILES, "(upper[cell] + lower[following]) / 2", "upper[cell]"),
    Mutant("counts ignored", QUANTILES, "weights=all_counts[counted]", "weights=np.ones(counted.sum())"),
    Mutant("interval not widened to the tick", QUANTILES, "max(high, mean + tick / 2)", "high"),
    Mutant("all intervals widened to the tick", QUANTILES, "np.ptp(np.asarray(values))) < tick", "0 * tick) < tick"),
    Mutant("interval of a quantile as of a mean", QUANTILES, "ci95=(mean / factor, mean * factor)",
           "ci95=estimate.ci95"),
    Mutant("calls beyond a quantile in per cent", QUANTILES, "(1000 - per_mille) / 1000", "(1000 - per_mille) / 100"),
    Mutant("ratio and difference must both be narrow", STOPPING,
           "r <= half_width_ratio or d <=", "r <= half_width_ratio and d <="),
    Mutant("only the ratio counts", STOPPING,
           "(r <= half_width_ratio or d <= half_width_ns)", "r <= half_width_ratio"),
    Mutant("fewest blocks ignored", STOPPING, "early = blocks_done < rule.min_blocks", "early = False"),
    Mutant("most blocks ignored", STOPPING, "not settled and n < rule.max_blocks)", "not settled)"),
    Mutant("budget ignored", STOPPING, "elif blocks_affordable <= 0:", "elif False:"),
    Mutant("one settled is enough", STOPPING, 'if {sample.status for sample in standings.values()} == {"settled"}:',
           'if "settled" in {sample.status for sample in standings.values()}:'),
    Mutant("significance stops", STOPPING,
           "narrow = narrow_enough(r, d,", "narrow = r.ci95[0] > 0 or narrow_enough(r, d,"),
    Mutant("what ranks is not looked at", STOPPING,
           "narrow = narrow and cpu_narrow_enough", "narrow = narrow or cpu_narrow_enough"),
    Mutant("projection one block short", STOPPING,
           "t_critical(middle - 1) * sd / middle**0.5", "t_critical(middle) * sd / middle**0.5"),
    Mutant("projection of the harder of the two", STOPPING,
           "needed = min(by_ratio", "needed = max(by_ratio"),
    Mutant("slower and faster swapped", EQUIVALENCE, "if ratio.ci95[0] > 0:", "if ratio.ci95[1] < 0:"),
    Mutant("same within half the margin", EQUIVALENCE, "margin = 2 * asked", "margin = 1 * asked"),
    Mutant("same by the 95 % interval", EQUIVALENCE,
           "EQUIVALENCE_CONFIDENCE = 0.90", "EQUIVALENCE_CONFIDENCE = 0.95"),
    Mutant("same where nothing was found", EQUIVALENCE, "elif max(abs(limit) for limit in ci90) <= margin:", "else:"),
    Mutant("significance stops a comparison", EQUIVALENCE, "BEYOND_DOUBT = 0.001", "BEYOND_DOUBT = 0.05"),
    Mutant("two regimes at half the gap", REGIMES, "critical = CRITICAL[", "critical = 0.5 * CRITICAL["),
    Mutant("two regimes at twice the gap", REGIMES, "critical = CRITICAL[", "critical = 2 * CRITICAL["),
    Mutant("regimes 0.2 % apart", REGIMES, "MIN_RATIO = 1.02", "MIN_RATIO = 1.002"),
    Mutant("regimes of values, not logarithms", REGIMES, "np.sort(np.log(sample))", "np.sort(sample)"),
    Mutant("regimes of the agent only", OVERHEAD,
           "self.own.two or self.baseline.two or self.paired.two", "self.own.two"),
    Mutant("slow starts bounded at 90 %", REGIMES,
           "share_below(slow: int, starts: int, confidence: float = 0.95)",
           "share_below(slow: int, starts: int, confidence: float = 0.90)"),
    Mutant("the interval leans where both sides are slow", OVERHEAD,
           "(self.own.two or self.paired.two) != self.baseline.two", "self.two"),
    Mutant("a slow start asks for nothing", STOPPING, "if not rule.starts or not regimes.two:", "if True:"),
    Mutant("further starts of the blocks only", OVERHEAD, "two_regimes([*finite(c), *further.own])", "two_regimes(c)"),
    Mutant("starts that differ are made long", "statistics/allocation.py",
           "(self.between + self.within / calls)", "(self.between * calls + self.within)"),
    Mutant("a rate that held and failed is a lower end", THRESHOLD, "look.rate < high", "look.rate <= high"),
    Mutant("bound of the loss at 90 %", THRESHOLD, "CONFIDENCE = 0.95", "CONFIDENCE = 0.90"),
    Mutant("error of the claim not spent over candidates", THRESHOLD, "(candidate * (candidate + 1))", "2"),
    Mutant("bound of the loss of both sides", THRESHOLD, "(1.0 - CONFIDENCE)", "((1.0 - CONFIDENCE) / 2)"),
    Mutant("slope and intercept swapped", REGRESSION, "slopes, intercepts = _fitted", "intercepts, slopes = _fitted"),
    Mutant("the bend of the linear term", REGRESSION, "values, 2)[0]", "values, 2)[1]"),
    Mutant("bent below, straight above", REGRESSION, "quadratic.ci95[0] > 0 or", "quadratic.ci95[0] < 0 or"),
    Mutant("rounding is a bend", REGRESSION, "ROUNDING = 1e-9", "ROUNDING = -1.0"),
    Mutant("R² of the first block", REGRESSION, "means = values.mean(axis=0)\n", "means = values[0]\n"),
    Mutant("parts on another Java in one family", GROWTH,
           "return (part.workload, settings_key(part.settings), ", "return (part.workload, (), ", ANALYSIS),
    Mutant("blocks that lack a point", GROWTH, "set[int].intersection(", "set[int].union(", ANALYSIS),
    Mutant("response without the lateness", "workloads/driver_output.py", "[a + b for", "[b for",
           ("workloads/test_results.py",)),
    Mutant("a disturbed trial is not repeated", "run/session.py",
           " or (record.disturbance and record.disturbance.disturbed)", "", REPETITION),
    Mutant("disturbed again and again", "results/capacity.py", " and rate not in disturbed", "", CAPACITY),
    Mutant("complete at a rate that was not made", "results/capacity.py",
           " and (rate == FULL or offered(record) >= MADE * rate)", "", CAPACITY),
    Mutant("the heap that is needed ignored", "run/plan.py",
           "    return -(-need // step) * step", "    return heap_of(part.settings)", HEAPS),
    Mutant("memory beside a backend", "run/plan.py", " and not cell.use.backend", "", BACKENDS),
    Mutant("a child that was waited for counts twice", TREE,
           "due.pop(pid, 0) - grown)", "due.pop(pid, 0))", TREES),
    Mutant("a child that nobody waits for is lost", TREE, "self._kept_ns += sum(due.values())", "", TREES),
    Mutant("what an account lacks goes to nobody above it", TREE,
           "due[stat.parent] += member.owed_ns - _CUT_NS", "self._kept_ns += member.owed_ns - _CUT_NS", TREES),
    Mutant("one that ends in the middle of a look", TREE, "if len(stats) == len(here) and not", "if not", TREES),
    Mutant("one that is leaving is there", TREE,
           " and not any(stat.leaving for stat in stats.values())", "", TREES),
    Mutant("a new one that is leaving is admitted", TREE, "stat is None or stat.leaving or", "stat is None or", TREES),
    Mutant("one that is being taken down has used nothing", TREE_FILES, ' or fields[2] == b"-1"', "", TREES),
    Mutant("whoever has the number is the member", TREE,
           "stat if stat and stat.start == member.stat.start else None", "stat", TREES),
    Mutant("an error of opening means gone", TREE_FILES,
           "except GONE:\n        return None", "except OSError:\n        return None", TREES),
    Mutant("children of the first thread alone", TREE_FILES,
           "{thread.path}/children", "{PROC}/{pid}/task/{pid}/children", TREES),
    Mutant("one search is enough", TREE, "self._unchanged < 2", "self._unchanged < 1", TREES),
    Mutant("older orphans belong", TREE, " or stat.start < self._root_start", "", TREES),
    Mutant("processes that were started here are orphans", TREE, "if pid not in known:", "if True:", TREES),
    Mutant("orphans of unknown sessions belong to all", TREE, "return self._orphans or", "return True or", TREES),
    Mutant("new processes are others'", "machine/disturbance.py", "program.look(search=True)", "program.look()", TREES),
    Mutant("callers by the sampler", "run/outcome.py",
           "account_with_callers(outcome.cpu, result.callers_cpu_ns, threads) if", "outcome.cpu if", CPU),
    Mutant("CPU of the drain lost", "run/stages.py", "sampler.account(calls.first_ns, calls.last_ns, drained.at_ns)",
           "sampler.account(calls.first_ns, calls.last_ns, calls.last_ns)", CPU),
    Mutant("too many records pass", "run/verdicts.py", "if ledger.received > ledger.expected:", "if False:", VERDICTS),
    Mutant("too many drops pass", "run/verdicts.py",
           "if surplus <= 0:", "if True:", VERDICTS),
    Mutant("the limit of the drain is not told", "run/drain.py",
           "Drained(at_ns, within,", "Drained(at_ns, True,", DRAIN),
    Mutant("records of the warm-up end the drain", "run/drain.py",
           " if counts.phase == awaited.phase else 0", "", DRAIN),
    Mutant("whoever may drop is waited for as well", "run/drain.py",
           "outstanding if config.delivery is Delivery.COMPLETE else 0", "outstanding", DRAIN),
    Mutant("a warm-up of 7,000 calls", "run/warm_up.py", ">= context.least_warm_up_calls", ">= 7_000", WARM_UP),
    Mutant("the environment is inherited", "run/launch.py",
           "return clean_environment(source, added)", "return {**source, **added}", TRIAL),
    Mutant("charged until the last call", CHARGED, "times = cpu.to_drained", "times = cpu.to_last_call", ANALYSIS),
    Mutant("the JVM's own threads until drained", CHARGED, "cpu.to_last_call.jvm", "times.jvm", ANALYSIS),
    Mutant("threads that ended are left out", CHARGED, " + times.ended", "", ANALYSIS),
    Mutant("spinning callers always had a core", CHARGED, " * _had_a_core(trial, times.caller)", "", ANALYSIS),
    Mutant("a parked caller is charged as one that spins", "kinds/calltree.py", ' and parameters.wait == "spin"', "",
           ANALYSIS),
    Mutant("per record expected, not arrived", COST,
           "return trial.ledger.received /", "return trial.ledger.expected /", ANALYSIS),
    Mutant("what was dropped is missing", LEDGER, "received - self.dropped_reported)", "received)", BY_DESIGN),
    Mutant("less than nothing is missing", LEDGER, "max(0, self.expected - self.received - self.dropped_reported)",
           "self.expected - self.received - self.dropped_reported", VERDICTS),
    Mutant("what was cut is dropped", LEDGER,
           "max(0, count.limited_records - truncated)", "count.limited_records", BY_DESIGN),
    Mutant("fewer than no drops", LEDGER,
           "max(0, count.limited_records - truncated)", "(count.limited_records - truncated)", BY_DESIGN),
)  # fmt: skip


def copied(place: Path) -> Path:
    """A copy of the package below ``place``, with what it reads of the clone; returns the folder to import it from."""
    shutil.copytree(PACKAGE, place / "src" / "tracetax", ignore=shutil.ignore_patterns("__pycache__"))
    (place / "sink").symlink_to(ROOT / "sink")
    return place / "src"


def files_of(mutant: Mutant) -> tuple[Path, ...]:
    """The files of its tests in the order in which they are run; the slowest of the statistics is the last."""
    found: list[Path] = []
    for name in mutant.tests:
        found += [TESTS / name] if name.endswith(".py") else sorted((TESTS / name).glob("test_*.py"))
    own, last = f"test_{Path(mutant.file).stem}", "test_coverage"
    return tuple(sorted(dict.fromkeys(found), key=lambda file: (file.stem == last, file.stem != own)))


def run_tests(package: Path, files: tuple[Path, ...], limit: float | None = None) -> tuple[int | None, str]:
    """Run tests against a package until the first failure; returns pytest's status, None for a hang, and what failed.

    ``limit`` is in seconds. What tests have started dies with them.
    """
    command = (sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "-o", f"pythonpath={package}")
    # under CI hypothesis chooses its examples by no chance, and has no deadlines
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1", "CI": "true"}
    try:
        done = subprocess.run(
            (*command, *map(str, files)),
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, f"no end after {limit:.0f} s"
    lines = done.stdout.splitlines()
    failed = [line.split(" - ")[0] for line in lines if line.startswith(("FAILED", "ERROR"))]
    said = failed[-1].split(maxsplit=1)[-1] if failed else (done.stderr.splitlines() or lines or [""])[-1]
    return done.returncode, said.split("::")[-1]


def unharmed(sets: set[frozenset[Path]]) -> dict[frozenset[Path], float]:
    """Run each set of tests in a copy without an error; returns how long it may take with one, seconds."""
    limits: dict[frozenset[Path], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        package = copied(Path(folder))
        for files in sets:
            begun = time.monotonic()
            status, said = run_tests(package, tuple(sorted(files)))
            if status != 0:
                raise SystemExit(f"The tests fail without any error made, with status {status}: {said}")
            limits[files] = LONGER * (time.monotonic() - begun) + 60
    return limits


def outcome(mutant: Mutant, place: Path, limit: float) -> tuple[str, str]:
    """Make the error in a copy and run its tests; returns what became of it, and by what."""
    text = (PACKAGE / mutant.file).read_text(encoding="utf-8")
    if text.count(mutant.right) != 1:
        return "NOT FOUND", f"{text.count(mutant.right)} times: {mutant.right!r}"
    text = text.replace(mutant.right, mutant.wrong)
    try:
        compile(text, mutant.file, "exec")
    except SyntaxError as error:
        return "BROKEN", str(error)
    package = copied(place)
    (package / "tracetax" / mutant.file).write_text(text, encoding="utf-8")
    status, said = run_tests(package, files_of(mutant), limit)
    shutil.rmtree(place)
    match status:
        case None:
            return "hung", said
        case 0:
            return "SURVIVED", ""
        case 1:
            return "caught", said
        case _:
            return "BROKEN", f"pytest ended with status {status}: {said}"


def main() -> int:
    """Make every error and print what became of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="errors whose description or file contains this")
    parser.add_argument("--jobs", type=int, default=1, help="how many errors are tried at a time")
    options = parser.parse_args()
    begun = time.monotonic()
    chosen = [one for one in MUTANTS if options.only in f"{one.file}: {one.what}"]
    sets = [frozenset(files_of(one)) for one in chosen]
    usual = unharmed(set(sets))
    limits = [usual[files] for files in sets]
    results: list[str] = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as workers:
        places = [Path(folder) / str(number) for number in range(len(chosen))]
        for mutant, (result, by) in zip(chosen, workers.map(outcome, chosen, places, limits), strict=True):
            results.append(result)
            print(f"{result:9} {mutant.file}: {mutant.what}    {by}", flush=True)
    hung = results.count("hung")
    caught = results.count("caught") + hung
    seconds = time.monotonic() - begun
    print(f"\n{caught} of {len(chosen)} errors caught, {hung} of them by a hang, {seconds:.0f} s")
    return 0 if caught == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
