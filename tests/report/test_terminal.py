import io
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console

from tracetax.report.exports import markdown
from tracetax.report.terminal import render
from tracetax.results.findings import Findings, StartsFinding
from tracetax.results.records import Verdict

from .sample_findings import NOTHING_RECORDED, many_samples, sample_findings, with_row
from .variants import with_building, with_builds, with_lines, with_printed_lines, with_published

RUN = Path("runs/2026-11-20-quick-7f3a")


def printed(findings: Findings, width: int = 100) -> str:
    file = io.StringIO()
    render(findings, Console(file=file, width=width), RUN / "report.html", RUN)
    return file.getvalue()


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", [80, 100, 140])
def test_every_configuration_appears(width: int) -> None:
    findings = sample_findings()
    text = printed(findings, width)
    for row in findings.configurations:
        if row.agent != "none":
            assert row.title.split()[0] in text


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_is_wider_than_the_console_but_the_commands(width: int) -> None:
    lines = [line for line in printed(sample_findings(), width).splitlines() if "runs/" not in line]
    assert max(cell_len(line) for line in lines) <= width


def test_a_row_shows_rank_agent_title_overhead_p99_cpu_and_records() -> None:
    assert "1 Kieker binary TCP 199.2 ± 2.6 147.2 ± 2.1 3,480 100 %" in words(printed(sample_findings()))


@pytest.mark.parametrize("width", [60, 80, 140])
def test_lines_over_depth_stand_below_the_tables(width: int) -> None:
    printed_lines = printed(with_lines(sample_findings(samples=many_samples(2))), width)
    assert max(cell_len(line) for line in printed_lines.splitlines() if "runs/" not in line) <= width
    text = words(printed_lines)
    assert "A line through overhead of a call, over invocations per call, 10 to 30" in text
    assert "Kieker writer 1 200.0 ± 8.0 ns 1.23 ± 0.03 µs 0.9999" in text
    if width > 80:
        assert "OpenTelemetry writer 0 (bent, records missing) 300.0 ± 8.0 ns" in text


def test_what_recorded_nothing_is_not_ranked_and_says_why() -> None:
    text = words(printed(with_row(sample_findings(), verdicts=(NOTHING_RECORDED,), title="broken", rank=1)))
    assert words(NOTHING_RECORDED.text) in text
    assert re.search(r"✗ Kieker broken Promised", text)
    assert "1 Kieker broken" not in text


def test_what_drops_stands_apart_from_what_delivers_with_both_rates() -> None:
    text = printed(sample_findings())
    drops = text.index("drops by policy (offered 3.4 million records/s; carries about 67,000/s here)")
    assert text.rindex("delivers everything\n") < drops < text.rindex("289.4 ± 4.0")


def test_what_lost_records_that_it_promises_says_how_many_in_how_many_blocks_and_at_what_rate() -> None:
    findings = sample_findings()
    records = next(row.records for row in findings.configurations if row.part == "full-speed" and row.agent == "kieker")
    lost = replace(records, received=records.expected - 3, blocks_incomplete=1)
    text = words(printed(with_row(findings, records=lost, rank=None), 140))
    assert "3 of 25,000,000 records missing in 1 of 5 blocks, at 6.5 million records/s" in text


def test_warnings_of_a_row_are_told_under_the_row() -> None:
    warning = Verdict("disturbed", "warning", "2 of 5 trials: other work on the machine")
    lines = printed(with_row(sample_findings(), verdicts=(warning,), title="noisy", rank=3), 140).splitlines()
    (place,) = (number for number, line in enumerate(lines) if "noisy" in line)
    assert lines[place].split()[:4] == ["3", "Kieker", "noisy", "199.2"]
    assert lines[place + 1].strip() == "⚠ 2 of 5 trials: other work on the machine"


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_labels_are_never_torn_apart(width: int) -> None:
    lines = printed(sample_findings(), width).splitlines()
    for label in ("deferred", "two regimes", "not settled", "within the A/A band"):
        assert any(label in line for line in lines), label


def test_labels_without_room_for_a_column_stand_in_one_line_below_their_row() -> None:
    row = next(one for one in sample_findings().configurations if one.part == "full-speed" and one.agent == "kieker")
    labels = ("two-regimes", "not-settled", "no-steady-state")
    noted = tuple(replace(one, labels=labels) if one.name == "overhead" else one for one in row.measures)
    lines = printed(with_row(sample_findings(), measures=noted, title="restless"), 80).splitlines()
    place = next(number for number, line in enumerate(lines) if "restless" in line)
    assert lines[place + 1].strip() == "two regimes, not settled, no steady state"


def test_a_baseline_that_never_became_steady_is_labelled_beside_its_time() -> None:
    baseline, *others = sample_findings().configurations
    times = tuple(replace(one, labels=("no-steady-state",)) for one in baseline.measures)
    findings = replace(sample_findings(), configurations=(replace(baseline, measures=times), *others))
    assert "a call takes 142.0 ± 6.0 ns (no steady state)" in words(printed(findings))


def test_notes_of_a_row_are_left_to_the_page() -> None:
    note = Verdict("no-steady-state", "note", "2 of 5 trials never became steady")
    assert note.text not in words(printed(with_row(sample_findings(), verdicts=(note,))))


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_ends_inside_a_number_with_its_half_width_and_unit(width: int) -> None:
    for line in printed(sample_findings(), width).splitlines():
        assert not re.search(r"(±|\d ±)\s*$", line)
        assert not re.match(r" {0,6}(±|ns |µs |%)", line)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_heads_of_the_columns_end_where_their_numbers_end(width: int) -> None:
    lines = printed(sample_findings(), width).splitlines()
    head = next(line for line in lines if line.rstrip().endswith("records"))
    row = next(line for line in lines if "1  Kieker" in line and "100 %" in line)
    assert row.index("100 %") + len("100 %") == len(head.rstrip())
    assert head.index("record, ns") + len("record, ns") >= row.index("±")


def test_an_indicative_run_says_so_and_how_to_get_ten_blocks() -> None:
    text = printed(sample_findings(blocks=5))
    assert "5 blocks, indicative" in text
    assert f"./tracetax run --resume {RUN} --blocks 10" in text
    assert "indicative" not in printed(sample_findings(blocks=10))


def test_an_experiment_that_is_no_result_is_marked_before_its_numbers() -> None:
    text = printed(sample_findings(result=False))
    assert text.index("No result: a check that everything works") < text.index("412")
    assert "--blocks" not in text


def test_nothing_but_text_is_printed_where_there_is_no_terminal() -> None:
    hostile = Verdict("x", "warning", "the log says \x1b[31mred\x1b[0m [bold]not markup[/bold] \x07")
    text = printed(replace(sample_findings(), verdicts=(hostile,)))
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    assert "[bold]not markup[/bold]" in text


def test_a_run_in_which_everything_failed_still_has_an_answer() -> None:
    findings = sample_findings()
    rows = tuple(replace(row, measures=(), verdicts=(NOTHING_RECORDED,), rank=None) for row in findings.configurations)
    text = words(printed(replace(findings, configurations=rows, aa=(), statements=())))
    assert text.count("✗") == len([row for row in rows if row.agent != "none"])


def test_a_single_block_has_numbers_without_intervals() -> None:
    findings = sample_findings(blocks=1)
    rows = tuple(
        replace(row, measures=tuple(replace(measure, ci95=None, sd=None) for measure in row.measures))
        for row in findings.configurations
    )
    assert "1 Kieker binary TCP 199 147 3,480 100 %" in words(printed(replace(findings, configurations=rows)))


def test_below_eighty_columns_what_does_not_rank_stands_under_its_row_with_what_it_is_per() -> None:
    text = words(printed(sample_findings(), 60))
    assert "Kieker binary TCP 199.2 ± 2.6 100 % overhead 147.2 ± 2.1 ns per invocation" in text
    by_overhead = replace(sample_findings().experiment, rank_by="overhead")
    text = words(printed(replace(sample_findings(), experiment=by_overhead), 60))
    assert "Kieker binary TCP 147.2 ± 2.1 100 % CPU 199.2 ± 2.6 ns per record" in text
    assert "CPU 86.6 ± 1.5 ns per invocation" in text


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("by", ["cpu", "overhead"])
def test_what_ranks_is_the_first_column_of_numbers_and_marked(width: int, by: Any) -> None:
    findings = sample_findings()
    lines = printed(replace(findings, experiment=replace(findings.experiment, rank_by=by)), width).splitlines()
    place = next(number for number, line in enumerate(lines) if line.strip() == "ranked by")
    heads = lines[place : place + 4]
    end = len(heads[0].rstrip())
    assert heads[1][:end].strip() == ("CPU of all" if by == "cpu" else "overhead per")


def test_the_verdict_and_what_a_choice_hangs_on_come_before_the_tables() -> None:
    text = words(printed(sample_findings(), 80))
    assert text.startswith("At 1,000 calls/s, Kieker costs less than OpenTelemetry: CPU 0.56 against 1.2 µs")
    table = "CPU added, of a core (sets rank) ✓ 0.558 ± 0.013 % 1.179 ± 0.023 %"
    assert table in text
    assert "Records delivered at full speed ✓ 100 % 2.0 % of 3.4 million/s" in text
    assert text.index("Records delivered at full speed") < text.index("At a service's rate: 1,000 calls/s")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_of_many_configurations_only_those_stand_side_by_side_for_which_there_is_room(width: int) -> None:
    text = printed(sample_findings(samples=many_samples(25)), width)
    assert max(cell_len(line) for line in text.splitlines() if "runs/" not in line) <= width
    assert re.search(r"more\s+in\s+the\s+table\s+below", text)


def test_what_promises_no_record_is_told_to_have_its_cpu_per_invocation() -> None:
    assert "delivers nothing, by design: CPU per invocation" in printed(sample_findings())


def test_a_run_without_cpu_has_no_column_for_it() -> None:
    findings = sample_findings()
    rows = tuple(
        replace(row, measures=tuple(of for of in row.measures if not of.name.startswith("cpu")))
        for row in findings.configurations
    )
    text = printed(replace(findings, configurations=rows))
    assert "CPU" not in text
    assert "1 Kieker binary TCP 147.2 ± 2.1 3,480 100 %" in words(text)


def test_p99_has_a_column_only_where_a_trial_had_enough_calls_for_it() -> None:
    findings = sample_findings()
    assert "p99 of a call" in markdown.export(findings)
    rows = tuple(
        replace(row, measures=tuple(of for of in row.measures if of.name != "service_time_p99"))
        for row in findings.configurations
    )
    without = replace(findings, configurations=rows)
    assert "p99 of" not in printed(without)
    assert "1 Kieker binary TCP 199.2 ± 2.6 147.2 ± 2.1 100 %" in words(printed(without))
    assert "p99 of a call" not in markdown.export(without)


def test_how_two_builds_compare_comes_first() -> None:
    text = words(printed(with_builds(sample_findings())))
    assert text.startswith("At full speed, kieker binary-tcp: new.jar is 3.1 % slower than old.jar")
    assert "binary TCP [old.jar]" in text


@pytest.mark.parametrize("width", [80, 100])
def test_published_values_stand_beside_ours(width: int) -> None:
    text = words(printed(with_published(sample_findings()), width))
    assert "1,536 ± 21 1,537.0 ± 1.6 1,229.0 ± 3.2 3,226.0 ± 3.2" in text


@pytest.mark.parametrize("width", [80, 100])
def test_a_printed_line_stands_below_ours(width: int) -> None:
    text = words(printed(with_printed_lines(sample_findings(samples=many_samples(2))), width))
    assert "as printed, a machine 133.9 ns 13.06 µs 0.9985" in text
    assert "through time of a call" not in words(printed(with_lines(sample_findings(samples=many_samples(2)))))


def test_what_the_run_has_a_verdict_on_is_not_repeated_for_each_row() -> None:
    warning = Verdict("disturbed", "warning", "2 of 5 trials: other work on the machine")
    findings = with_row(sample_findings(), verdicts=(warning,), title="noisy", rank=3)
    of_run = Verdict("disturbed", "warning", "2 of 85 trials were disturbed.")
    text = printed(replace(findings, verdicts=(of_run,)))
    assert of_run.text in text
    assert warning.text not in text


def test_where_trials_build_their_program_each_row_says_what_it_added() -> None:
    findings = with_building(sample_findings())
    text = words(printed(findings))
    assert text.count("building the program takes 1.20 ± 0.03 s, 2.40 ± 0.03 s of CPU") == 2
    assert "added to the build: 400 ± 30 ms, 800 ± 30 ms of CPU" in text
    assert "build" not in printed(sample_findings())


def test_names_of_others_are_neither_markup_nor_escape_sequences() -> None:
    text = printed(with_row(sample_findings(), agent_name="[bold]\x1b[2Jx", title="[red]a\u202e"))
    assert "[bold] [2Jx" in text
    assert "[red]a" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_terminal_with_thirty_columns_shows_every_row_within_them() -> None:
    lines = printed(sample_findings(), width=30).splitlines()
    assert max(len(line) for line in lines if "/" not in line and "tracetax" not in line) <= 30


def test_slow_starts_are_bounded_in_words_where_no_row_had_one() -> None:
    findings = sample_findings()
    quiet = StartsFinding(slow=0, starts=36, upper=0.0798, outside_blocks=26)
    rows = tuple(replace(row, starts=quiet) for row in findings.configurations)
    assert "none of 36 starts was slow: that rules out, at 95 % confidence, only that over 8 % are" in words(
        printed(replace(findings, configurations=rows))
    )
    slow = tuple(replace(row, starts=replace(quiet, slow=3)) for row in findings.configurations)
    assert "starts was slow" not in words(printed(replace(findings, configurations=slow)))
