"""Deliberate errors in the statistics, one at a time: each must be caught by a test.

    PYTHONPATH=src .venv/bin/python benchmarks/mutations.py [--only WORD] [--jobs 2]

Every error is made in a copy of the package, and tests/statistics runs against that copy until its first failure. A
survivor is an error that no test has noticed; the exit status is 1 if there is one, or if a line to be changed is no
longer in the source.
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
TESTS = ROOT / "tests" / "statistics"


@dataclass(frozen=True)
class Mutant:
    """One error: in ``file``, ``right`` (which occurs once) becomes ``wrong``."""

    what: str
    file: str
    right: str
    wrong: str


MUTANTS = (
    Mutant("t at 90 % instead of 95 %", "intervals", "CONFIDENCE = 0.95", "CONFIDENCE = 0.90"),
    Mutant("t one-sided", "intervals", "(1 + confidence) / 2", "confidence"),
    Mutant("t with n degrees of freedom", "intervals", "half = t_critical(n - 1)", "half = t_critical(n)"),
    Mutant("standard deviation over n", "intervals", "sample.std(ddof=1)", "sample.std()"),
    Mutant("standard error without the root", "intervals", "* sd / n**0.5", "* sd / n"),
    Mutant("p value of one side", "intervals", "return 2 * _evaluate", "return _evaluate"),
    Mutant("upper limit of the spread", "intervals",
           "degrees_of_freedom, 1 - confidence)", "degrees_of_freedom, confidence)"),
    Mutant("half-width is the width", "intervals", "(self.ci95[1] - self.ci95[0]) / 2", "self.ci95[1] - self.ci95[0]"),
    Mutant("infinity is let through", "intervals", "if not np.isfinite(array).all()", "if np.isnan(array).any()"),
    Mutant("only the first baseline", "overhead",
           "return c_ - (a1_ + a2_) / 2\n\n\ndef log", "return c_ - a1_\n\n\ndef log"),
    Mutant("sign of the difference", "overhead", "return c_ - (a1_ + a2_) / 2\n\n\ndef log",
           "return (a1_ + a2_) / 2 - c_\n\n\ndef log"),
    Mutant("ratio against the first baseline", "overhead", "return c_ - (a1_ + a2_) / 2\n\n\ndef paired_d",
           "return c_ - a1_\n\n\ndef paired_d"),
    Mutant("logarithms forgotten", "overhead", "    return np.log(values)", "    return values"),
    Mutant("logarithms to the base of 10", "overhead", "    return np.log(values)", "    return np.log10(values)"),
    Mutant("limits of a ratio swapped", "overhead", "(float(np.exp(limits[0])), float(np.exp(limits[1])))",
           "(float(np.exp(limits[1])), float(np.exp(limits[0])))"),
    Mutant("second − first", "overhead", "a - b if scale", "b - a if scale"),
    Mutant("scales swapped", "overhead", 'if scale == "difference"', 'if scale != "difference"'),
    Mutant("band of A1 − A2 itself", "overhead", "0.75 * np.mean", "1.0 * np.mean"),
    Mutant("band with n − 1 degrees of freedom", "overhead",
           "t_critical(n) * np.sqrt", "t_critical(max(1, n - 1)) * np.sqrt"),
    Mutant("band around the mean of A1 − A2", "overhead", "np.mean(pair_differences**2)", "np.var(pair_differences)"),
    Mutant("Holm begins one too low", "multiplicity", "np.arange(p.size, 0, -1)", "np.arange(p.size - 1, -1, -1)"),
    Mutant("Bonferroni for Holm", "multiplicity", "np.arange(p.size, 0, -1)", "p.size"),
    Mutant("Holm not monotonic", "multiplicity", "np.maximum.accumulate(steps)", "steps"),
    Mutant("adjusted p above 1", "multiplicity",
           "np.minimum(np.maximum.accumulate(steps), 1.0)", "np.maximum.accumulate(steps)"),
    Mutant("ranks by the raw p", "multiplicity", "pair.p_holm for pair in pairs", "pair.p for pair in pairs"),
    Mutant("largest first", "multiplicity", "np.argsort(means", "np.argsort(-means"),
    Mutant("tied with the neighbour, not the leader", "multiplicity",
           "            ranks[column] = ranks[leader]",
           "            ranks[column] = ranks[leader]\n            leader = column"),
    Mutant("no rank is skipped after a tie", "multiplicity",
           "ranks[column] = place + 1", "ranks[column] = max(ranks) + 1"),
    Mutant("α doubled", "multiplicity", "alpha: float = 0.05", "alpha: float = 0.10"),
    Mutant("penalty 3 ln n", "change_points", "15 * np.log(n) if", "3 * np.log(n) if"),
    Mutant("penalty 50 ln n", "change_points", "15 * np.log(n) if", "50 * np.log(n) if"),
    Mutant("the given penalty ignored", "change_points", "if penalty is None else penalty", ""),
    Mutant("variance without the mean", "change_points", " - means * means", ""),
    Mutant("pruned too early", "change_points", "keep = ~(doomed | lost[0])", "keep = ~(doomed | lost.any(axis=0))"),
    Mutant("segments one shorter", "change_points",
           "np.where(lengths >= min_segment,", "np.where(lengths >= min_segment - 1,"),
    Mutant("band of outliers of one range", "change_points", "band = 3 * (high", "band = 1 * (high"),
    Mutant("warm-up is an outlier", "change_points", "outlier[:first] &= isolated[:first]", "pass"),
    Mutant("equivalent within 10 %", "steady", "EQUIVALENCE = 0.05", "EQUIVALENCE = 0.10"),
    Mutant("steady if it begins before the last half", "steady", "LAST_PART = 0.25", "LAST_PART = 0.5"),
    Mutant("a stall of a fifth", "steady", "STALL = 0.05", "STALL = 0.2"),
    Mutant("warm-up and slow-down swapped", "steady", "if min(before) < 0", "if min(before) > 0"),
    Mutant("no last half stands in", "steady", "y.size // 2\n", "first_bin\n"),
    Mutant("errors of means ignored", "steady", "max(equivalence * abs(float(last.mean())), 2 * error)",
           "equivalence * abs(float(last.mean()))"),
    Mutant("outliers not set aside", "steady", "calm = without_outliers(y)", "calm = y"),
    Mutant("tick ignored", "quantiles", "np.minimum(tick / 2,", "np.minimum(0.0 * tick,"),
    Mutant("a tick on both sides", "quantiles", "np.minimum(tick / 2,", "np.minimum(tick,"),
    Mutant("no interpolation", "quantiles", "lower[cell] + inside *", "lower[cell] + 0.5 + 0 * inside *"),
    Mutant("border belongs to the lower cell", "quantiles", "(upper[cell] + lower[following]) / 2", "upper[cell]"),
    Mutant("counts ignored", "quantiles", "weights=all_counts[counted]", "weights=np.ones(counted.sum())"),
    Mutant("interval not widened to the tick", "quantiles", "estimate.ci95[0] >= tick:", "estimate.ci95[0] >= 0:"),
    Mutant("ratio and difference must both be narrow", "stopping",
           "r <= half_width_ratio or d <=", "r <= half_width_ratio and d <="),
    Mutant("only the ratio counts", "stopping",
           "(r <= half_width_ratio or d <= half_width_ns)", "r <= half_width_ratio"),
    Mutant("fewest blocks ignored", "stopping", "early = blocks_done < rule.min_blocks", "early = False"),
    Mutant("most blocks ignored", "stopping", "elif blocks_done >= rule.max_blocks:", "elif False:"),
    Mutant("budget ignored", "stopping", "elif blocks_affordable <= 0:", "elif False:"),
    Mutant("one settled is enough", "stopping", 'if statuses == {"settled"}:', 'if "settled" in statuses:'),
    Mutant("significance stops", "stopping", "if narrow_enough(r, d,", "if r.ci95[0] > 0 or narrow_enough(r, d,"),
    Mutant("given up by the seen spread", "stopping", "spread_lower_factor(n - 1)", "1.0"),
    Mutant("projection one block short", "stopping",
           "t_critical(middle - 1) * sd / middle**0.5", "t_critical(middle) * sd / middle**0.5"),
    Mutant("projection of the harder of the two", "stopping",
           "    return min(\n        projected", "    return max(\n        projected"),
    Mutant("slower and faster swapped", "equivalence", "if ratio.ci95[0] > 0:", "if ratio.ci95[1] < 0:"),
    Mutant("same within half the margin", "equivalence", "margin = 2 * asked", "margin = 1 * asked"),
    Mutant("same by the 95 % interval", "equivalence",
           "EQUIVALENCE_CONFIDENCE = 0.90", "EQUIVALENCE_CONFIDENCE = 0.95"),
    Mutant("same where nothing was found", "equivalence", "elif max(abs(limit) for limit in ci90) <= margin:", "else:"),
    Mutant("significance stops a comparison", "equivalence", "BEYOND_DOUBT = 0.001", "BEYOND_DOUBT = 0.05"),
    Mutant("two regimes at half the gap", "regimes", "critical = CRITICAL[", "critical = 0.5 * CRITICAL["),
    Mutant("two regimes at twice the gap", "regimes", "critical = CRITICAL[", "critical = 2 * CRITICAL["),
    Mutant("regimes 0.2 % apart", "regimes", "MIN_RATIO = 1.02", "MIN_RATIO = 1.002"),
    Mutant("regimes of values, not logarithms", "regimes", "np.sort(np.log(sample))", "np.sort(sample)"),
    Mutant("regimes of the agent only", "regimes", "for values in (c, a1, a2)", "for values in (c,)"),
)  # fmt: skip


def outcome(mutant: Mutant, place: Path) -> tuple[str, str]:
    """Make the error in a copy and run the tests; returns what became of it and the first test that failed."""
    copy = place / "src"
    shutil.copytree(ROOT / "src" / "tracetax", copy / "tracetax", ignore=shutil.ignore_patterns("__pycache__"))
    source = copy / "tracetax" / "statistics" / f"{mutant.file}.py"
    text = source.read_text()
    if text.count(mutant.right) != 1:
        return "NOT FOUND", f"{text.count(mutant.right)} times in {mutant.file}.py: {mutant.right!r}"
    source.write_text(text.replace(mutant.right, mutant.wrong))
    passed, first = tests(copy, mutant.file)
    shutil.rmtree(copy)
    return ("SURVIVED", "") if passed else ("caught", first)


def tests(package: Path, module: str = "") -> tuple[bool, str]:
    """Run the tests against a package, those of ``module`` first; returns whether all passed, and what did not."""
    own, last = f"test_{module}", "test_coverage"
    files = sorted(TESTS.glob("test_*.py"), key=lambda file: (file.stem == last, file.stem != own))
    command = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-o", f"pythonpath={package}")
    # under CI hypothesis chooses its examples by no chance, and has no deadlines
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1", "CI": "true"}
    done = subprocess.run(
        (*command, *map(str, files)), cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1, 2):
        raise SystemExit(done.stdout + done.stderr)
    failed = [line.split("::")[-1].split(" - ")[0] for line in done.stdout.splitlines() if line.startswith("FAILED")]
    return done.returncode == 0, failed[0] if failed else "its import"


def main() -> int:
    """Make every error and print what became of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="errors whose description or file contains this")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    begun = time.monotonic()
    passed, first = tests(ROOT / "src")
    if not passed:
        raise SystemExit(f"The tests fail without any error made: {first}")
    chosen = [one for one in MUTANTS if options.only in f"{one.file}: {one.what}"]
    results: list[str] = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as workers:
        places = [Path(folder) / str(number) for number in range(len(chosen))]
        for mutant, (result, by) in zip(chosen, workers.map(outcome, chosen, places), strict=True):
            results.append(result)
            print(f"{result:9} {mutant.file}: {mutant.what}    {by}", flush=True)
    caught = results.count("caught")
    print(f"\n{caught} of {len(chosen)} errors caught, {time.monotonic() - begun:.0f} s")
    return 0 if caught == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
