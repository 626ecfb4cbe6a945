"""What a configuration takes beside CPU: memory, start-up, bytes, and the time until the last record is there."""

from tracetax.report import numbers
from tracetax.report.page.html import BEHIND, Child, Markup, caption, h, plus_minus, scrolling, section, who
from tracetax.report.views import (
    PartView,
    baseline_title,
    caveat,
    errors,
    half_width,
    measure,
    rows_id,
    title_of,
    workload_words,
)
from tracetax.results.findings import ConfigurationFinding, Measure, MeasureName

COLUMNS: tuple[tuple[MeasureName, str, str | None], ...] = (
    ("heap_live", "Heap live after draining", None),
    ("rss_peak", "Peak memory (RSS)", None),
    ("allocation", "Allocated per call", "call"),
    ("heap_used_cv", "Used heap, variation", None),
    ("collections", "Collections", None),
    ("collection_pause", "Their pauses", None),
    ("collection_pause_longest", "Longest pause", None),
    ("startup_main", "Start to main", None),
    ("startup_first_call", "Start to first call", None),
    ("startup_first_call_added", "Start, added", None),
    ("build_time", "Build", None),
    ("build_time_added", "Build, added", None),
    ("build_cpu", "Build's CPU", None),
    ("build_cpu_added", "Build's CPU, added", None),
    ("bytes", "Bytes per record", "record"),
    ("drain_time", "Last call to last record", None),
    ("cpu_waiting", "Cores while waiting", None),
    ("receiver_cpu", "Receiver's CPU per record", "record"),
)
EXACT = 1e-4
"""Half-width, as a share of the estimate, below which a number that is much the same in every block has none."""
READING = "Absolute values, the baseline on top; nothing is subtracted, except where it says added."
EXTRA = " Memory is from one extra trial and has no interval."
"""Of a runtime whose heap may begin small and grow in a trial of its own."""
MORE = (
    "{memory} "
    "columns are means over blocks with their 95 % intervals; what is added is the difference to the baselines of the "
    "same block. Start counts from the start of the process. A build is that of a trial's program: compiling it, and "
    "weaving it by a technology that weaves before a run. Bytes are those on the wire or on disk. {archive}Cores while "
    "waiting: what the process uses when "
    "nothing is left to deliver. The receiver's CPU is that of the sink, or of the backend in its place, all threads, "
    "from the first call until the last record had arrived.{heap}"
)
APART = "Memory is measured in a trial of its own with a small heap of which nothing is touched beforehand. The other"
ARCHIVE = "A {name} without class-data archive starts more slowly, with an agent and without. "
OF_HEAP = (
    " The used heap's variation is its standard deviation over "
    "time ÷ its mean; collections and their pauses are those of one trial between its first and last call, the longest "
    "pause a mean over trials of each one's longest. The {process} tells pauses in whole milliseconds."
)
"""Of a runtime whose collector's threads are known, and whose collections are told."""


def footprint(parts: list[PartView]) -> Markup | None:
    """The section with one table per part; None where nothing of it was measured."""
    tables = [table for view in parts if (table := _part(view))]
    if not tables:
        return None
    told = READING + (EXTRA if _apart(parts) else "")
    reading = caption(told, "findings.json", "measures.parquet", BEHIND, more=_more(parts))
    return section("footprint", "Memory, start-up, bytes and draining", reading, tables)


def _apart(parts: list[PartView]) -> bool:
    """Whether memory is measured in trials of its own: only a heap with a bound may begin small and grow up to it."""
    return any(row.heap_bytes for view in parts for row in (*view.baselines, *view.rows))


def _more(parts: list[PartView]) -> str:
    """How the columns came to be, as far as this run's runtime has them."""
    collecting = (view.runtime for view in parts if view.runtime and "gc" in view.runtime.threads)
    runtime = next(collecting, parts[0].runtime)
    told = runtime and "gc" in runtime.threads
    archives = runtime and any(part.part.ran_on and part.part.ran_on.archive is not None for part in parts)
    return MORE.format(
        memory=APART if _apart(parts) else "All",
        archive=ARCHIVE.format(name=runtime.name) if runtime and archives else "",
        heap=OF_HEAP.format(process=runtime.process) if runtime and told else "",
    )


def _part(view: PartView) -> Markup | None:
    rows = [row for row in (*view.baselines, *view.rows) if not errors(row)]
    columns = [column for column in COLUMNS if any(measure(row, column[0], column[2]) for row in rows)]
    if not {name for name, _, _ in columns} - {"allocation"}:
        return None
    headings = [h("th", "Agent and configuration", class_="name", scope="col")]
    headings += [h("th", heading, class_="number", scope="col") for _, heading, _ in columns]
    table = h(
        "table",
        h("caption", view.part.title, " ", h("span", workload_words(view.part.parameters), class_="muted")),
        h("thead", h("tr", headings)),
        h("tbody", [_row(row, columns) for row in rows]),
        class_="wide account",
    )
    return scrolling(f"{view.part.title}: memory, start-up, bytes and draining", table)


def _row(row: ConfigurationFinding, columns: list[tuple[MeasureName, str, str | None]]) -> Markup:
    title = baseline_title(row) if row.is_baseline else title_of(row)
    cells = [
        h("td", h("span", value(measure(row, name, per))), class_="number", data_label=heading)
        for name, heading, per in columns
    ]
    return h("tr", h("th", who(row.agent_name, title, rows_id(row), caveat(row)), class_="name", scope="row"), cells)


def value(of: Measure | None) -> Child:
    """A measure in the unit that fits it."""
    if of is None:
        return h("span", "–", class_="muted")
    margin = half_width(of)
    if margin is not None and margin <= abs(of.estimate) * EXACT:
        margin = None
    if of.unit == "bytes":
        return plus_minus(*numbers.measured_size(of.estimate, margin))
    if of.unit == "ns":
        return plus_minus(*numbers.measured_duration(of.estimate, margin))
    return plus_minus(*numbers.fine(of.estimate, margin))
