"""Calls per second at full speed, in the columns of Waller et al. (2014), Tables 1 to 5: mean, interval and quartiles.

A bin is a thousandth of a start's calls. Its rate is that of its calls back to back: 1 s ÷ their mean service time, the
sum over threads. Only bins of the steady part count.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tracetax.analysis.measures import make_measure
from tracetax.results.findings import Measure, MeasureName
from tracetax.results.records import TrialRecord
from tracetax.statistics.intervals import Estimate, t_interval

SECOND_NS = 1e9
QUARTILES: dict[MeasureName, float] = {"throughput_q1": 0.25, "throughput_median": 0.5, "throughput_q3": 0.75}
BinMeans = Mapping[int, NDArray[np.float64]]
"""By trial: mean service times of its bins, ns, shape (threads, bins)."""


def throughput(by_block: Sequence[Sequence[TrialRecord]], bins: BinMeans) -> list[Measure]:
    """What every row at full speed has; nothing where a run kept no bins.

    The value of a start is its calls ÷ the time that they took, so its interval over blocks is one of throughput, not
    of the mean rate of bins, which a few fast bins would raise. Quartiles are over the bins of all starts, pooled.
    """
    steady = [
        [bins[trial.number][:, trial.steady.first_bin :] for trial in block if trial.number in bins and trial.steady]
        for block in by_block
    ]
    steady = [[found for found in block if found.size] for block in steady]
    starts = [[float((SECOND_NS / found.mean(axis=1)).sum()) for found in block] for block in steady if block]
    if not starts:
        return []
    over_blocks = t_interval([sum(block) / len(block) for block in starts])
    rates = np.concatenate([(SECOND_NS / found).sum(axis=0) for block in steady for found in block])
    result = [make_measure("throughput", "1/s", "call", over_blocks, ())]
    for name, share in QUARTILES.items():
        value = float(np.quantile(rates, share))
        result.append(make_measure(name, "1/s", "call", Estimate(value, None, None, over_blocks.n), ()))
    return result
