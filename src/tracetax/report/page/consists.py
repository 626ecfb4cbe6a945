"""What the cost consists of: CPU per invocation by group of threads, as stacked bars beside their numbers."""

from msgspec import Struct

from tracetax.report import numbers
from tracetax.report.page import axis as axes
from tracetax.report.page.axis import Axis
from tracetax.report.page.html import (
    BEHIND,
    Child,
    Markup,
    caption,
    h,
    pattern_of,
    plus_minus,
    scrolling,
    section,
    swatch,
    who,
)
from tracetax.report.views import (
    PartView,
    caveat,
    errors,
    half_width,
    measure,
    per_unit,
    rows_id,
    title_of,
    unit_of,
    workload_words,
)
from tracetax.results.findings import ConfigurationFinding, Measure, MeasureName
from tracetax.results.runtime import RuntimeFinding

PARTS: dict[str, tuple[MeasureName, str]] = {
    "caller": ("cpu_caller", "caller"),
    "agent": ("cpu_agent", "agent's threads"),
    "jit": ("cpu_jit", "compiling (JIT)"),
    "gc": ("cpu_gc", "garbage collection"),
}
BAR = 14
READING = "Bars add up to the tick; what lies left of zero is CPU of which the baseline used more."
MORE = (
    "CPU of all threads from the first call until the last record had arrived, per {unit}, less the "
    "baseline's of the same block, by who used it. A negative part is subtracted, not cut off; the whisker on the "
    "tick is the 95 % interval of the sum. {compiling}Every row is per {unit}, so that those that drop can be "
    "compared; per delivered record stands beside it. Other: {other}."
)
COMPILING = (
    "Compiling happens once and is spread over the calls of this run; a service that runs for days hardly pays it. "
)


class Split(Struct, frozen=True):
    """One row's sum and its parts, ns per unit of its calls; ``other`` is what the sum has beyond the parts."""

    row: ConfigurationFinding
    total: Measure
    parts: dict[str, Measure]

    @property
    def other(self) -> float:
        """The rest: further threads of the runtime, and threads that had ended."""
        return self.total.estimate - sum(part.estimate for part in self.parts.values())

    @property
    def lengths(self) -> dict[str, float]:
        """Every segment of the bar."""
        return {name: part.estimate for name, part in self.parts.items()} | {"other": self.other}


def consists(parts: list[PartView]) -> Markup | None:
    """The section with one table per part; None where CPU was not measured."""
    by_part = [(view, splits) for view in parts if (splits := _splits(view))]
    if not by_part:
        return None
    runtimes = {view.runtime.key: view.runtime for view, _ in by_part if view.runtime}
    words = _words([split for _, splits in by_part for split in splits], list(runtimes.values()))
    tables = [_part(view, splits, words) for view, splits in by_part]
    process = _own_threads(list(runtimes.values()))
    named = [*words.items(), ("other", f"the {process}'s other threads" if process else "threads that had ended")]
    key = [h("span", swatch(name), text) for name, text in named]
    further = f"the {process}'s further threads, and threads that had ended" if process else "threads that had ended"
    more = MORE.format(unit=unit_of(by_part[0][0].part), compiling=COMPILING if "jit" in words else "", other=further)
    return section(
        "consists",
        "What the cost consists of",
        caption(READING, "findings.json", "measures.parquet", BEHIND, more=more),
        h("p", key, class_="key caption"),
        tables,
        folded=True,
    )


def _words(splits: list[Split], runtimes: list[RuntimeFinding]) -> dict[str, str]:
    """The groups of threads that are told of any row, in words.

    Where a runtime's own threads cannot be told from the agent's, both are the threads beside the callers.
    """
    words = {key: text for key, (_, text) in PARTS.items() if any(key in split.parts for split in splits)}
    told = runtimes and all("own" in runtime.threads for runtime in runtimes)
    return words if told or "agent" not in words else words | {"agent": "other threads"}


def _own_threads(runtimes: list[RuntimeFinding]) -> str:
    """What a process is called whose runtime's own threads are told from the agent's; empty where none are."""
    told = [runtime.process for runtime in runtimes if "own" in runtime.threads]
    return told[0] if told and len(runtimes) == 1 else "runtime" if told else ""


def _splits(view: PartView) -> list[Split]:
    splits: list[Split] = []
    for row in view.rows:
        total = per_unit(row, "cpu")
        if total is not None and not errors(row):
            parts = {key: of for key, (name, _) in PARTS.items() if (of := per_unit(row, name))}
            splits += [Split(row, total, parts)] if parts else []
    return splits


def _part(view: PartView, splits: list[Split], words: dict[str, str]) -> Markup:
    axis = axes.linear([value for split in splits for value in _extent(split)], axes.NARROW)
    names = [*words.values(), "other"]
    headings = [
        h("th", "Agent and configuration", class_="name", scope="col"),
        h("th", f"CPU per {unit_of(view.part)}", class_="plot", scope="col"),
        h("th", "all threads, ns ± 95 %", class_="number wide-number", scope="col"),
        *(h("th", name, class_="number", scope="col") for name in names),
        h("th", "per delivered record, ns", class_="number wide-number", scope="col"),
    ]
    scale = h("td", axes.tick_labels(axis), class_="plot")
    foot = h("tr", h("td"), scale, [h("td") for _ in range(len(names) + 2)])
    table = h(
        "table",
        h(
            "caption",
            view.part.title,
            " ",
            h("span", f"{workload_words(view.part.parameters)} · CPU per {unit_of(view.part)}, ns", class_="muted"),
        ),
        h("thead", h("tr", headings)),
        h("tbody", [_row(split, axis, words) for split in splits]),
        h("tfoot", foot, aria_hidden="true"),
        class_="wide strips splits",
    )
    return scrolling(f"{view.part.title}: what the cost consists of", table)


def _extent(split: Split) -> list[float]:
    lengths = split.lengths.values()
    above, below = sum(value for value in lengths if value > 0), sum(value for value in lengths if value < 0)
    return [above, below, *(split.total.ci95 or ())]


def _row(split: Split, axis: Axis, words: dict[str, str]) -> Markup:
    per_record = measure(split.row, "cpu", "record")
    values: list[tuple[str, Child]] = [(text, _value(split.parts.get(key))) for key, text in words.items()]
    values.append(("other", _rounded_like(split.other, split.total)))
    return h(
        "tr",
        h(
            "th",
            who(split.row.agent_name, title_of(split.row), rows_id(split.row), caveat(split.row)),
            class_="name",
            scope="row",
        ),
        h("td", _bar(split, axis), class_="plot"),
        h("td", _value(split.total), class_="number wide-number", data_label="all threads"),
        [h("td", value, class_="number", data_label=name) for name, value in values],
        h("td", _value(per_record), class_="number wide-number", data_label="per delivered record"),
    )


def _value(of: Measure | None) -> Child:
    return plus_minus(*numbers.measured(of.estimate, half_width(of))) if of else "–"


def _rounded_like(value: float, like: Measure) -> str:
    return numbers.rounded(value, numbers.decimals_for(half_width(like), like.estimate))


def _bar(split: Split, axis: Axis) -> Markup:
    """Parts that cost to the right of zero, parts that the baseline had more of to the left, the sum as a tick."""
    segments: list[Markup] = []
    right = left = 0.0
    for name, length in split.lengths.items():
        if length >= 0:
            low, high = right, right + length
            right = high
        else:
            low, high = left + length, left
            left = low
        width = (axis.share(high) - axis.share(low)) * 100
        if width > 0.05:
            x, y = axis.at(low), "50%"
            segments += [
                h("rect", x=x, y=y, width=f"{width:.2f}%", height=str(BAR), **pattern_of(name), class_=f"part {name}")
            ]
    of = split.total
    low, high = of.ci95 or (of.estimate, of.estimate)
    tick = h("line", x1=axis.at(of.estimate), x2=axis.at(of.estimate), y1="15%", y2="85%", class_="median")
    spread = h("line", x1=axis.at(low), x2=axis.at(high), y1="50%", y2="50%", class_="whisker")
    return h("svg", axes.grid(axis), segments, spread, tick, class_="strip bar", aria_hidden="true", focusable="false")
